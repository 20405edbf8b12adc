"""Causes in several edges at once: into one layer, or one after the other in the file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from ...formats.ir.edits import Edit
from ...model.edges import Edge
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import DANGLING_EDGE, DUPLICATE_EDGE, MISDIRECTED_EDGE, MISSING_EDGE
from ...rules.links import alike
from ..candidate import Candidate
from ..trials.scene import Scene
from .writing import with_edge, without_element

MAX_INPUTS = 6
"""Of how many inputs at most other orders are looked for."""
MAX_ORDERS = 4
"""How many other orders of the inputs of a layer are tried."""
MAX_LOST = 4
"""How many layers are looked at that edges name and that do not exist."""
_OF_TARGETS = (DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE)


def rewiring_causes(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    """Edges that name a layer which does not exist, or have each other's target port."""
    if finding.rule not in _OF_TARGETS:
        return
    edge = scene.edge_at(finding.offset)
    if edge is not None:
        yield from _of_a_lost_layer(scene, edge, finding)
        yield from _too_many(scene, edge, finding)
    elif finding.rule == MISSING_EDGE:
        links = scene.context.links(scene.body)
        wrong = (*(fault.edge for fault in links.faults), *links.duplicates)
        astray = {edge.to_layer: edge for edge in wrong}
        for each in islice(astray.values(), MAX_LOST):
            yield from _of_a_lost_layer(scene, each, finding)
    if position is not None:
        yield from _with_the_next(scene, [edge] if edge is not None else _around(scene, position))


def reordered_input_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The inputs of a layer are fed in another order than they declare."""
    layer = scene.layers[position]
    if finding.layer is not layer or not finding.rule.code.startswith(("IR20", "IR4")):
        return
    edges = scene.edges_to.get(layer.id, [])
    if not 2 < len(edges) <= MAX_INPUTS:
        return
    ports = {port.id: port for port in layer.inputs}
    outputs = [_output(scene, edge) for edge in edges]
    targets = [ports.get(edge.to_port) for edge in edges]
    if len({edge.to_port for edge in edges}) < len(edges) or None in (*outputs, *targets):
        return
    fits = [[o is not None and p is not None and alike(p, o[1]) for p in targets] for o in outputs]
    straight = all(row[at] for at, row in enumerate(fits))
    orders = _turned(fits) if straight else _orders(fits)
    for index, order in enumerate(islice(orders, MAX_ORDERS)):
        edits: tuple[Edit, ...] = ()
        for at, edge in enumerate(edges):
            if order[at] != at:
                edits += with_edge(scene, edge, {"to-port": edges[order[at]].to_port})
        shown = ", ".join(edges[at].to_port for at in order)
        yield Candidate(
            edits,
            f"the edges lead to the input ports {shown}",
            f"the inputs are fed in another order than they should be; in the order {shown}, each "
            "is fed what " + ("fits" if straight else "it declares"),
            edges[next(at for at, to in enumerate(order) if at != to)].offset,
            layer,
            (position,),
            cost=(1.3 if straight else 0.55) + 0.05 * index,
            rule=MISDIRECTED_EDGE,
            feeds=tuple(
                (
                    layer.inputs.index(port),
                    output[0],
                    scene.layers[output[0]].outputs.index(output[1]),
                )
                for at, output in enumerate(outputs)
                if output is not None and (port := targets[order[at]]) is not None
            ),
        )


def _orders(fits: Sequence[Sequence[bool]]) -> Iterator[tuple[int, ...]]:
    """Which input each edge may lead to so that all fit and more than two change."""
    reverse = tuple(range(len(fits) - 1, -1, -1))
    told = dict.fromkeys(_turned(fits))
    if all(fits[at][to] for at, to in enumerate(reverse)):
        told[reverse] = None
    yield from told
    for order in _assigned(fits, ()):
        if order not in told and sum(at != to for at, to in enumerate(order)) > 2:
            yield order


def _turned(fits: Sequence[Sequence[bool]]) -> Iterator[tuple[int, ...]]:
    """The same, turned round by some places."""
    count = len(fits)
    for step in dict.fromkeys((1, count - 1, *range(2, count - 1))):
        order = tuple((at + step) % count for at in range(count))
        if all(fits[at][order[at]] for at in range(count)):
            yield order


def _assigned(fits: Sequence[Sequence[bool]], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(fits):
        yield chosen
        return
    for to, fit in enumerate(fits[len(chosen)]):
        if fit and to not in chosen:
            yield from _assigned(fits, (*chosen, to))


def _output(scene: Scene, edge: Edge) -> tuple[int, Port] | None:
    for at in scene.by_id.get(edge.from_layer, ()):
        for port in scene.layers[at].outputs:
            if port.id == edge.from_port:
                return at, port
    return None


def _of_a_lost_layer(scene: Scene, edge: Edge, finding: Finding) -> Iterator[Candidate]:
    """Several edges name a layer that does not exist, or that others feed; one that nothing feeds
    has their ports."""
    named = [scene.layers[at] for at in scene.by_id.get(edge.to_layer, ())]
    edges = scene.edges_to.get(edge.to_layer, [])
    if len(edges) < 2 or len(named) > 1:
        return
    fed = named[0].inputs if named else []
    lonely: dict[Layer, int] = {scene.layers[at]: at for at, _ in scene.unfed}
    tried = 0
    for layer, at in lonely.items():
        if scene.edges_to.get(layer.id) or len(layer.inputs) + len(fed) != len(edges):
            continue
        meant = _meant(scene, edges, layer, fed)
        if meant is None or len(meant) < 2 or tried == MAX_LOST:
            continue  # of a single edge other causes are looked for
        edits: tuple[Edit, ...] = ()
        for each in meant:
            edits += with_edge(scene, each, {"to-layer": layer.id})
        sources = [at for each in edges for at in scene.by_id.get(each.from_layer, ())]
        lost = f"layer {edge.to_layer}, which does not exist"
        where = f"{named[0].label}, which other edges feed" if named else lost
        yield Candidate(
            edits,
            f'to-layer="{layer.id}" in {len(meant)} edges',
            f"{len(meant)} edges lead to {where}; nothing feeds "
            f"{layer.label}, which has those input ports",
            scene.source.attribute(meant[0].offset, "to-layer"),
            finding.layer,
            (at, *(scene.position[each] for each in named), *dict.fromkeys(sources)),
            tuple(dict.fromkeys(sources)),
            cost=0.4 + 0.1 * tried,
            rule=finding.rule,
        )
        tried += 1


def _meant(
    scene: Scene, edges: Sequence[Edge], layer: Layer, fed: Sequence[Port]
) -> list[Edge] | None:
    """Those of some edges to one layer that feed all inputs of another, so that the rest feeds all
    of the one; an edge from further ahead leads to the one further ahead."""
    by_port: dict[str, list[Edge]] = {}
    for edge in edges:
        by_port.setdefault(edge.to_port, []).append(edge)
    wanted = {port.id: port for port in layer.inputs}
    others = {port.id: port for port in fed}
    meant: list[Edge] = []
    for number, group in by_port.items():
        ports = [table.get(number) for table in (wanted, others)]
        if len(group) != sum(port is not None for port in ports):
            return None
        if len(group) == 2:
            behind = is_number(layer.id) and is_number(group[0].to_layer)
            behind = behind and int(layer.id) > int(group[0].to_layer)
            group.sort(key=lambda edge: edge.offset, reverse=behind)
            fits = [
                [
                    port is not None and output is not None and alike(port, output[1])
                    for port, output in zip(ports, outputs, strict=True)
                ]
                for one, other in (group, group[::-1])
                for outputs in ((_output(scene, one), _output(scene, other)),)
            ]
            if sum(fits[1]) > sum(fits[0]):
                group.reverse()
        if ports[0] is not None:
            meant.append(group[0])
    return sorted(meant, key=lambda edge: edge.offset)


def _too_many(scene: Scene, edge: Edge, finding: Finding) -> Iterator[Candidate]:
    """An edge to an input that a layer does not have, where all that it has are fed."""
    layers = [scene.layers[at] for at in scene.by_id.get(edge.to_layer, ())]
    if len(layers) != 1 or edge.to_port in {port.id for port in layers[0].inputs}:
        return
    fed = {each.to_port for each in scene.edges_to.get(edge.to_layer, ()) if each is not edge}
    if any(port.id not in fed for port in layers[0].inputs):
        return
    yield Candidate(
        without_element(scene.source, edge.offset),
        f"the edge from layer {edge.from_layer} is removed",
        finding.message,
        edge.offset,
        layers[0],
        (scene.position[layers[0]],),
        tuple(scene.by_id.get(edge.from_layer, ())),
        cost=1.0,
        rule=finding.rule,
    )


def _around(scene: Scene, position: int) -> Sequence[Edge]:
    """The edges into a layer."""
    return scene.edges_to.get(scene.layers[position].id, [])[:MAX_INPUTS]


def _with_the_next(scene: Scene, edges: Sequence[Edge]) -> Iterator[Candidate]:
    """An edge and one beside it in the file have each other's target port."""
    every = scene.body.edges
    pairs: dict[tuple[int, int], None] = {}
    for edge in edges:
        at = bisect_left(scene.edge_offsets, edge.offset)
        for first in (at - 1, at):
            if 0 <= first < len(every) - 1:
                pairs[first, first + 1] = None
    for one, other in ((every[a], every[b]) for a, b in pairs):
        ends = [_end(scene, one, other.to_port), _end(scene, other, one.to_port)]
        outputs = [_output(scene, one), _output(scene, other)]
        if one.to_port == other.to_port or one.to_layer == other.to_layer:
            continue
        if not all(
            end is not None and output is not None and alike(end[1], output[1])
            for end, output in zip(ends, outputs, strict=True)
        ):
            continue
        positions = tuple(end[0] for end in ends if end is not None)
        sources = tuple(output[0] for output in outputs if output is not None)
        yield Candidate(
            (
                *with_edge(scene, one, {"to-port": other.to_port}),
                *with_edge(scene, other, {"to-port": one.to_port}),
            ),
            f'to-port="{other.to_port}", and to-port="{one.to_port}" in the next edge',
            f"this edge and the next, into layers {one.to_layer} and {other.to_layer}, have each "
            "other's to-port",
            scene.source.attribute(one.offset, "to-port"),
            scene.layers[positions[0]],
            (*positions, *sources),
            sources,
            cost=0.5,
            rule=MISDIRECTED_EDGE,
        )


def _end(scene: Scene, edge: Edge, number: str) -> tuple[int, Port] | None:
    """The input of its layer that an edge would lead to."""
    for at in scene.by_id.get(edge.to_layer, ()):
        for port in scene.layers[at].inputs:
            if port.id == number:
                return at, port
    return None
