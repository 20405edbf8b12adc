"""Edges of two layers that name one id: which are whose is told by ports, shapes and order.

Either two layers have one id, or all edges of a layer were given the id of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...formats.ir.edits import Edit
from ...model.edges import Edge
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import DANGLING_EDGE, DUPLICATE_EDGE, DUPLICATE_ID, MISSING_EDGE
from ..candidate import Candidate
from ..trials.scene import Scene
from .writing import with_attribute, with_edge

MAX_PAIRS = 3
"""How many pairs of layers are tried."""
_RULES = (DANGLING_EDGE, DUPLICATE_EDGE, DUPLICATE_ID, MISSING_EDGE)
_OTHER_SIZES = 10.0
"""How much less likely an edge is whose ends declare different things."""
_AGAINST_ORDER = 4.0
"""The same of one that leads back, or that stands among the edges of other layers."""


class _Split(NamedTuple):
    """What belongs to the second of two layers, and how much speaks for that at least."""

    ends: dict[Edge, dict[str, str]]
    margin: float


def shared_id_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The edges of two layers name one id."""
    if finding.rule not in _RULES:
        return
    if finding.rule == DUPLICATE_ID:
        yield from _with_one_id(scene, position)
    else:
        yield from _without_edges(scene)


def edges_renamed(scene: Scene, position: int, number: str) -> Candidate | None:
    """The edges that name an id which no layer has name a layer that they fit."""
    layer = scene.layers[position]
    outgoing, incoming = scene.edges_from.get(number, []), scene.edges_to.get(number, [])
    edges = sorted({*outgoing, *incoming}, key=lambda edge: edge.offset)
    if len(edges) < 2:
        return None
    edits: list[Edit] = []
    for edge in edges:
        ends = {"from-layer": edge.from_layer, "to-layer": edge.to_layer}
        edits += with_edge(scene, edge, {n: layer.id for n, text in ends.items() if text == number})
    first = edges[0]
    name = "from-layer" if first.from_layer == number else "to-layer"
    return Candidate(
        tuple(edits),
        f"{len(edges)} edges name layer {layer.id}",
        f"{len(edges)} edges name {number}, which no layer has; layer {layer.id} stands in order, "
        "has the ports that they name, and no edge names it",
        scene.source.attribute(first.offset, name),
        layer,
        _around(scene, {position, *_sources(scene, edges)}, edges),
        cost=0.6,
        rule=DANGLING_EDGE,
    )


def _with_one_id(scene: Scene, position: int) -> Iterator[Candidate]:
    """Two layers have one id. The one out of order gets that which is free."""
    number = scene.layers[position].id
    positions = scene.by_id.get(number, [])
    if len(positions) != 2 or not is_number(number):
        return
    for at, other in (positions, positions[::-1]):
        free = _free_before(scene, at)
        if free is None:
            continue
        split = _split(scene, number, other, at, free)
        if split is not None:
            layer = scene.layers[at]
            edits = with_attribute(scene.source, layer.offset, "id", free)
            yield _candidate(
                scene,
                split,
                (at, other),
                edits,
                f'id="{free}", which {_naming(split)} then',
                f"two layers have the id {number}; {free} is free at this place",
                layer.offset,
                1.0,
            )


def _free_before(scene: Scene, position: int) -> str | None:
    """The id that comes behind that of the layer before and before that of the next, if free."""
    layers = scene.layers
    before = layers[position - 1].id if position else "-1"
    behind = layers[position + 1].id if position + 1 < len(layers) else ""
    if is_number(before.removeprefix("-")):
        number = str(int(before) + 1)
    elif is_number(behind):
        number = str(int(behind) - 1)
    else:
        return None
    return None if number in scene.by_id else number


def _without_edges(scene: Scene) -> Iterator[Candidate]:
    """A layer that no edge names, beside one that too many name."""
    idle = [
        at
        for at in scene.suspect_ids
        if len(scene.by_id[scene.layers[at].id]) == 1
        and scene.layers[at].id not in scene.edges_to
        and scene.layers[at].id not in scene.edges_from
        and is_number(scene.layers[at].id)
        and scene.layers[at].inputs
    ]
    tried = 0
    for at in idle[:MAX_PAIRS]:
        for number in _too_often_named(scene):
            (other,) = scene.by_id[number]
            tried += 1
            if tried > MAX_PAIRS:
                return
            layer = scene.layers[at]
            split = _split(scene, number, other, at, layer.id)
            if split is None or not split.ends:
                continue
            first, ends = next(iter(split.ends.items()))
            yield _candidate(
                scene,
                split,
                (at, other),
                (),
                f"{_naming(split, '')} layer {layer.id}",
                f"no edge names layer {layer.id}, and {_naming(split)} layer {number}",
                scene.source.attribute(first.offset, next(iter(ends))),
                0.5,
            )


def _naming(split: _Split, of: str = " of it") -> str:
    return f"1 edge{of} names" if len(split.ends) == 1 else f"{len(split.ends)} edges{of} name"


def _too_often_named(scene: Scene) -> list[str]:
    """The ids of layers with an input that two edges lead to, or of which edges name a port that
    the layer does not have."""
    numbers = []
    for number, positions in scene.by_id.items():
        into = [edge.to_port for edge in scene.edges_to.get(number, ())]
        out = {edge.from_port for edge in scene.edges_from.get(number, ())}
        layer = scene.layers[positions[0]]
        if len(positions) == 1 and (
            len(set(into)) < len(into)
            or not {port.id for port in layer.inputs}.issuperset(into)
            or not {port.id for port in layer.outputs} >= out
        ):
            numbers.append(number)
    return numbers


def _split(scene: Scene, number: str, one: int, other: int, own: str) -> _Split | None:
    """Which edges that name an id are of the second of two layers, whose id is `own`.

    None if the ports of both do not take them all.
    """
    pair = (one, other)
    margin = _OTHER_SIZES
    into: dict[Edge, int] = {}
    by_port: dict[str, list[Edge]] = {}
    for edge in scene.edges_to.get(number, ()):
        by_port.setdefault(edge.to_port, []).append(edge)
    for port, edges in by_port.items():
        takers = [at for at in pair if _port(scene.layers[at].inputs, port) is not None]
        if len(edges) != len(takers):
            return None
        if len(takers) == 1:
            into[edges[0]] = takers[0]
            continue
        straight, crossed = (
            sum(_doubt_into(scene, e, at, pair) for e, at in zip(row, takers, strict=True))
            for row in (edges, edges[::-1])
        )
        into.update(zip(edges if straight <= crossed else edges[::-1], takers, strict=True))
        margin = min(margin, abs(straight - crossed))
    out, even = _makers(scene, number, pair, own, into)
    if out is None:
        return None
    margin = min([margin, *even.values()])
    ends: dict[Edge, dict[str, str]] = {}
    for edge in sorted({*into, *out}, key=lambda edge: edge.offset):
        of_other = {
            name: own
            for name, at in (("from-layer", out.get(edge)), ("to-layer", into.get(edge)))
            if at == other
        }
        if of_other:
            ends[edge] = of_other
    return _Split(ends, margin)


def _makers(
    scene: Scene, number: str, pair: tuple[int, int], own: str, into: dict[Edge, int]
) -> tuple[dict[Edge, int] | None, dict[Edge, float]]:
    """Which of two layers each edge from an id comes from, and how much speaks for that where both
    may be; None if an edge comes from neither."""
    out: dict[Edge, int] = {}
    margins: dict[Edge, float] = {}
    for edge in scene.edges_from.get(number, ()):
        makers = [
            at
            for at in pair
            if _port(scene.layers[at].outputs, edge.from_port) is not None and into.get(edge) != at
        ]
        if not makers:
            return None, {}
        doubts = [_doubt_from(scene, edge, at, own if at == pair[1] else number) for at in makers]
        out[edge] = makers[doubts.index(min(doubts))]
        if len(makers) > 1:
            margins[edge] = abs(doubts[0] - doubts[1])
    for at in pair:  # each of them feeds something
        even = [edge for edge, margin in margins.items() if margin < 1.0]
        if even and at not in out.values() and scene.layers[at].outputs:
            edge = even[-1 if at == max(pair) else 0]
            out[edge] = at
            margins[edge] = 1.0 if len(even) == 1 or len(out) == len(even) == len(pair) else 0.0
    return out, margins


def _port(ports: list[Port], number: str) -> Port | None:
    return next((port for port in ports if port.id == number), None)


def _differ(one: Port | None, other: Port | None) -> bool:
    return (
        one is None
        or other is None
        or (one.dims, one.precision or other.precision)
        != (other.dims, other.precision or one.precision)
    )


def _doubt_into(scene: Scene, edge: Edge, at: int, pair: tuple[int, int]) -> float:
    """How little an edge fits as one into a layer."""
    port = _port(scene.layers[at].inputs, edge.to_port)
    doubts = [
        _OTHER_SIZES * _differ(_port(scene.layers[source].outputs, edge.from_port), port)
        + _AGAINST_ORDER * (source >= at)
        + abs(at - source) / len(scene.layers)
        for source in scene.by_id.get(edge.from_layer, ())
        if source != at or source not in pair
    ]
    return min(doubts, default=2 * _OTHER_SIZES)


def _doubt_from(scene: Scene, edge: Edge, at: int, number: str) -> float:
    """How little an edge fits as one from a layer, which has an id."""
    port = _port(scene.layers[at].outputs, edge.from_port)
    doubts = [
        _OTHER_SIZES * _differ(port, _port(scene.layers[target].inputs, edge.to_port))
        + _AGAINST_ORDER * (at >= target)
        for target in scene.by_id.get(edge.to_layer, ())
        if target != at
    ]
    return min(doubts, default=0.0) + _AGAINST_ORDER * _misplaced(scene, edge, number)


def _misplaced(scene: Scene, edge: Edge, number: str) -> bool:
    """Whether an edge stands among those of other layers, if it came from one with this id."""
    numbers, edges = scene.edge_numbers, scene.body.edges
    if numbers is None or scene.edges_by_target:
        return False
    at = scene.edge_offsets.index(edge.offset)
    before = next((row[0] for row in numbers[at - 1 :: -1]), 0) if at else 0
    behind = numbers[at + 1][0] if at + 1 < len(edges) else int(number)
    return not before <= int(number) <= behind


def _candidate(
    scene: Scene,
    split: _Split,
    pair: tuple[int, int],
    more: tuple[Edit, ...],
    change: str,
    cause: str,
    offset: int,
    cost: float,
) -> Candidate:
    edits = [*more]
    for edge, ends in split.ends.items():
        edits += with_edge(scene, edge, ends)
    layer: Layer = scene.layers[pair[0]]
    return Candidate(
        tuple(edits),
        change,
        cause,
        offset,
        layer,
        _around(scene, set(pair), list(split.ends)),
        _sources(scene, list(split.ends)),
        cost=cost,
        certain=split.margin >= 1.0,
        rule=DUPLICATE_ID if more else DANGLING_EDGE,
    )


def _around(scene: Scene, positions: set[int], edges: list[Edge]) -> tuple[int, ...]:
    """Some layers and those that edges from them lead to."""
    touched = set(positions)
    for edge in edges:
        touched.update(scene.by_id.get(edge.to_layer, ()))
    for at in positions:
        for edge in scene.edges_from.get(scene.layers[at].id, ()):
            touched.update(scene.by_id.get(edge.to_layer, ()))
    return tuple(sorted(touched))


def _sources(scene: Scene, edges: list[Edge]) -> tuple[int, ...]:
    """The layers that some edges come from."""
    return tuple(sorted({at for e in edges for at in scene.by_id.get(e.from_layer, ())}))
