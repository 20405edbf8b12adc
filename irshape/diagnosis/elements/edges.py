"""Causes in edges: one that is missing, doubled, crossed with another, or leads astray."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations, permutations

from ...formats.ir.edits import Edit, element_end
from ...model.edges import Edge
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import CYCLE, DUPLICATE_EDGE, MISDIRECTED_EDGE, MISSING_EDGE
from ...rules.links import alike
from ..candidate import Candidate
from ..trials.scene import Scene
from .likely_sources import (
    MAX_SOURCES,
    feeds_nothing_else,
    ids_around,
    is_as_chosen,
    likely_sources,
    unused_between,
)
from .writing import new_edge, with_edge, without_element

_COUNTED = 0.3
"""How much likelier an output is whose place among the outputs edges name as their port."""
_AGREED = 0.4
"""How much less likely a port is wrong that several edges name."""


def astray_causes(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    """The edge at the place of a finding leads elsewhere; or, of an input without an edge, one does
    that leads nowhere."""
    here = scene.edge_at(finding.offset)
    if here is not None:
        yield from _one_edge(scene, here, finding)
    if finding.rule == MISSING_EDGE and position is not None:
        for fault in scene.context.links(scene.body).faults[:4]:
            yield from _one_edge(scene, fault.edge, finding)


def doubled_edge_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """One of several edges into a port is too many, or was meant for another port."""
    if finding.rule == DUPLICATE_EDGE:
        here = scene.edge_at(finding.offset)
        if here is not None:
            yield from _doubled(scene, here, scene.layers[position], position)


def missing_edge_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """There is no edge into an input."""
    if finding.rule == MISSING_EDGE and finding.port is not None:
        yield from _missing(scene, scene.layers[position], position, finding.port[1])


def crossed_edge_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Two inputs of a layer are fed by each other's producers."""
    if finding.rule.code.startswith(("IR20", "IR4", "IR118")) or finding.rule == CYCLE:
        layer = scene.layers[position]
        incoming = scene.edges_to.get(layer.id, [])[:6]
        for one, other in combinations(incoming, 2):
            yield from _crossed(scene, one, other, layer, position)


def other_source_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The edge into an input comes from another layer than it should."""
    if finding.rule == CYCLE or finding.rule.code.startswith(("IR20", "IR4")):
        for edge in scene.edges_to.get(scene.layers[position].id, [])[:6]:
            if finding.port is None or finding.port in (
                ("input", edge.to_port),
                *_outputs(finding),
            ):
                yield from _from_elsewhere(scene, edge, finding)


def _outputs(finding: Finding) -> list[tuple[str, str]]:
    """The port of a finding if it is an output, which any input may decide."""
    return [finding.port] if finding.port is not None and finding.port[0] == "output" else []


def other_target_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An edge into a layer was meant for another input."""
    if finding.rule.code in ("IR402", "IR110", "IR113"):
        for edge in scene.edges_to.get(scene.layers[position].id, []):
            yield from _to_elsewhere(scene, edge)


def _target(scene: Scene, edge: Edge) -> tuple[int, Port] | None:
    for at in scene.by_id.get(edge.to_layer, []):
        for port in scene.layers[at].inputs:
            if port.id == edge.to_port:
                return at, port
    return None


def _source(scene: Scene, edge: Edge) -> tuple[int, Port] | None:
    for at in scene.by_id.get(edge.from_layer, []):
        for port in scene.layers[at].outputs:
            if port.id == edge.from_port:
                return at, port
    return None


def _ends(edge: Edge, **changes: str) -> dict[str, str]:
    """The ends that change, by attribute."""
    return {
        name.replace("_", "-"): text
        for name, text in changes.items()
        if getattr(edge, name) != text
    }


def _phrase(ends: dict[str, str]) -> str:
    return ", ".join(f'{name}="{text}"' for name, text in ends.items())


def _redirected(
    scene: Scene,
    edge: Edge,
    cause: str,
    touched: tuple[int, ...],
    cost: float,
    needs: tuple[int, ...] = (),
    **changes: str,
) -> Iterator[Candidate]:
    """An edge with other ends."""
    ends = _ends(edge, **changes)
    edits = with_edge(scene, edge, ends) if ends else ()
    if edits:
        name = next(iter(ends))
        yield Candidate(
            edits,
            _phrase(ends),
            cause,
            scene.source.attribute(edge.offset, name),
            scene.layers[touched[0]],
            touched,
            needs,
            cost=cost,
            rule=MISDIRECTED_EDGE,
        )


def _one_edge(scene: Scene, edge: Edge, finding: Finding) -> Iterator[Candidate]:
    """An edge that leads nowhere on one side, or does not say where."""
    target, source = _target(scene, edge), _source(scene, edge)
    yield from _turned(scene, edge)
    if target is not None and source is None:
        for cost, other, output in _other_outputs(scene, edge, target):
            ends = {"from_layer": scene.layers[other].id, "from_port": output.id}
            for one in _redirected(
                scene, edge, finding.message, (target[0],), cost, (other,), **ends
            ):
                yield from _as_all_from_there(scene, edge, one, other, output)
                yield one
    if target is None and source is None:
        yield from _reordered_ends(scene, edge)
    others = (other for other in scene.edges_to.get(edge.to_layer, ()) if other is not edge)
    taken = target is None or any(other.to_port == edge.to_port for other in others)
    if taken and (
        source is None
        or (
            edge.to_layer in scene.by_id
            and not any(alike(port, source[1]) for _, port in scene.unfed)
        )
    ):
        yield from _written_anew(scene, edge, finding)
    if target is None:
        yield from _to_elsewhere(scene, edge, finding.message)
        if edge.to_layer not in scene.by_id:
            yield from _left_over(scene, edge, source)
            if source is not None:
                yield from _lost_result(scene, edge, finding, source)


def _other_outputs(
    scene: Scene, edge: Edge, target: tuple[int, Port]
) -> Iterator[tuple[float, int, Port]]:
    """From where an edge that comes from nowhere may come, with the cost: from another port of the
    layer that it names, or from another layer."""
    at, port = target
    for holder_at in scene.by_id.get(edge.from_layer, []):
        holder = scene.layers[holder_at]
        counted = _count_outputs(scene, holder)
        for index, output in enumerate(holder.outputs):
            cost = 0.8 if alike(port, output) else 1.3
            cost += 0.0 if output.id == _usual_id(holder, output) else 0.5
            cost -= _COUNTED if counted and edge.from_port == str(index) else 0.0
            yield cost, holder_at, output
    yield from likely_sources(scene, at, port, edge)


def _as_all_from_there(
    scene: Scene, edge: Edge, one: Candidate, other: int, output: Port
) -> Iterator[Candidate]:
    """All edges that name the same output are changed as one of them is: they come from another."""
    twins = {
        twin: target
        for twin in scene.edges_from.get(edge.from_layer, ())
        if twin.from_port == edge.from_port and (target := _target(scene, twin)) is not None
    }
    targets = twins.values()
    if len(twins) < 2 or not all(alike(each, output) for _, each in targets):
        return
    if scene.in_order and other >= min(at for at, _ in targets):
        return  # it would stand behind one that it feeds
    ends = _ends(edge, from_layer=scene.layers[other].id, from_port=output.id)
    edits = tuple(edit for twin in twins for edit in with_edge(scene, twin, ends))
    touched = tuple(dict.fromkeys((*one.touched, *(at for at, _ in targets))))
    agreed = "from-layer" not in ends and not _count_outputs(
        scene, scene.layers[scene.by_id[edge.from_layer][0]]
    )
    yield one._replace(
        edits=edits,
        change=f"{one.change} in {len(twins)} edges",
        touched=touched,
        cost=one.cost + (_AGREED if agreed else 0.0),
    )


def _count_outputs(scene: Scene, layer: Layer) -> bool:
    """Whether all edges from a layer may name the places of its outputs, not their ids."""
    named = [edge.from_port for edge in scene.edges_from.get(layer.id, ())]
    places = set(map(str, range(len(layer.outputs))))
    return len(named) > 1 and places.issuperset(named)


def _written_anew(scene: Scene, edge: Edge, finding: Finding) -> Iterator[Candidate]:
    """In place of an edge without its ends, what feeds an input that no edge leads to."""
    text = scene.source.data
    start, stop = edge.offset, text.find(b">", edge.offset) + 1
    for at, port in scene.unfed[:MAX_SOURCES]:
        consumer = scene.layers[at]
        for cost, other, output in likely_sources(scene, at, port):
            source = scene.layers[other]
            ends = (
                f'from-layer="{source.id}" from-port="{output.id}" '
                f'to-layer="{consumer.id}" to-port="{port.id}"'
            )
            closed = " />" if text.endswith(b" />", start, stop) else "/>"
            edit = Edit(start, stop, f"<edge {ends}{closed}".encode(scene.source.encoding))
            other_end = 0.0 if edge.from_layer in ("", source.id) else 0.2
            yield Candidate(
                *((edit,), ends, finding.message, start, consumer, (at,), (other,)),
                cost=cost + other_end,
            )


def _left_over(scene: Scene, edge: Edge, source: tuple[int, Port] | None) -> Iterator[Candidate]:
    """An edge to a layer that is gone; a layer of its id is lost where the others have such ids.

    Where an input is not fed, the edge leads astray; where another body has the layer, it stands in
    the wrong one.
    """
    every_layer = scene.context.every_layer
    astray = bool(scene.unfed) or any(each.id == edge.to_layer for each in every_layer)
    if astray or not is_number(edge.to_layer):
        return
    of_the_others = int(edge.to_layer) <= scene.last_id + 1
    known = edge.from_layer in scene.by_id
    cause = f"layer {edge.to_layer}, to which the edge leads, does not exist"
    yield Candidate(
        without_element(scene.source, edge.offset),
        "the edge is removed",
        cause if known else f"neither layer {edge.from_layer} nor layer {edge.to_layer} exists",
        edge.offset,
        None if source is None else scene.layers[source[0]],
        () if source is None else (source[0],),
        cost=1.6 if source is not None and of_the_others else 1.0,
    )


def _lost_result(
    scene: Scene, edge: Edge, finding: Finding, source: tuple[int, Port]
) -> Iterator[Candidate]:
    """The Result to which an edge leads is not there."""
    others = [layer for layer in scene.layers if layer.is_result]
    data, output = scene.source.data, source[1]
    last = others[-1] if others else scene.layers[-1]
    place = element_end(data, last.offset)
    line = data.rfind(b"\n", 0, last.offset)
    indent = data[line : last.offset]
    indent = indent if line >= 0 and not indent.strip() else b""
    step = b"\t" if indent else b""
    dims = b"".join(indent + step * 3 + b"<dim>%d</dim>" % size for size in output.dims or ())
    port = f'<port id="{edge.to_port}" precision="{output.precision}"'.encode()
    port += b">" + dims + indent + step * 2 + b"</port>" if dims else b"/>"
    text = f'<layer id="{edge.to_layer}" name="Result_{edge.to_layer}" type="Result" '.encode()
    text = indent + text + b'version="opset1">' + indent + step + b"<input>"
    text += indent + step * 2 + port + indent + step + b"</input>" + indent + b"</layer>"
    yield Candidate(
        (Edit(place, place, text),),
        f"a Result with id {edge.to_layer} is added",
        finding.message,
        edge.offset,
        scene.layers[source[0]],
        (source[0],),
        cost=1.3,
    )


def _turned(scene: Scene, edge: Edge) -> Iterator[Candidate]:
    """The two ends of an edge, or only their ports, are exchanged."""
    reversed_ends = {
        "from_layer": edge.to_layer,
        "from_port": edge.to_port,
        "to_layer": edge.from_layer,
        "to_port": edge.from_port,
    }
    exchanged_layers = {"from_layer": edge.to_layer, "to_layer": edge.from_layer}
    exchanged_ports = {"from_port": edge.to_port, "to_port": edge.from_port}
    for what, cost, changes in (
        ("the edge is turned round", 0.4, reversed_ends),
        ("the layers of the edge are exchanged", 0.4, exchanged_layers),
        ("the ports of the edge are exchanged", 0.5, exchanged_ports),
    ):
        names = ("from_layer", "from_port", "to_layer", "to_port")
        ends = {name: changes.get(name, getattr(edge, name)) for name in names}
        other = Edge(**ends, offset=edge.offset)
        target, source = _target(scene, other), _source(scene, other)
        if target is None or source is None or target[0] == source[0]:
            continue
        if scene.sources[target[0]][scene.layers[target[0]].inputs.index(target[1])] is not None:
            continue  # something else feeds it
        for candidate in _redirected(
            scene,
            edge,
            what,
            (target[0], source[0]),
            cost if alike(target[1], source[1]) else cost + 0.6,
            (source[0],),
            **changes,
        ):
            yield candidate._replace(
                change=what,
                cause="the edge leads from its target to its source"
                if changes is not exchanged_ports
                else "the edge names the port of its source as that of its target, and the other "
                "way round",
                offset=edge.offset,
            )


def _reordered_ends(scene: Scene, edge: Edge) -> Iterator[Candidate]:
    """The four numbers of an edge stand in another order."""
    numbers = (edge.from_layer, edge.from_port, edge.to_layer, edge.to_port)
    for row in dict.fromkeys(permutations(numbers)):
        from_layer, from_port, to_layer, to_port = row
        other = Edge(from_layer, from_port, to_layer, to_port, edge.offset)
        target, source = _target(scene, other), _source(scene, other)
        if target is None or source is None or target[0] == source[0]:
            continue
        if scene.sources[target[0]][scene.layers[target[0]].inputs.index(target[1])] is not None:
            continue  # something else feeds it
        ends = dict(zip(("from_layer", "from_port", "to_layer", "to_port"), row, strict=True))
        for candidate in _redirected(
            scene,
            edge,
            "the numbers of the edge stand in another order",
            (target[0], source[0]),
            0.5 if alike(target[1], source[1]) else 1.1,
            (source[0],),
            **ends,
        ):
            yield candidate._replace(offset=edge.offset)


def _usual_id(layer: Layer, output: Port) -> str:
    """The id that writers give an output: they number the ports of a layer, inputs first."""
    return str(len(layer.inputs) + layer.outputs.index(output))


def _to_elsewhere(scene: Scene, edge: Edge, cause: str = "") -> Iterator[Candidate]:
    """The inputs that nothing feeds and an edge may be meant for."""
    source = _source(scene, edge)
    output = source[1] if source is not None else None
    ranked = []
    for at, port in scene.unfed:
        layer = scene.layers[at]
        if any(
            other is not edge and other.to_port == port.id
            for other in scene.edges_to.get(layer.id, ())
        ):
            continue
        own = edge.to_layer == layer.id
        fits = output is None or alike(port, output)
        odd = port.id != str(layer.inputs.index(port))
        cost = 0.8 + (0.0 if own else 0.2) + (0.0 if fits else 0.5) + (0.5 if odd else 0.0)
        ranked.append((cost, at, port))
    ranked.sort(key=lambda entry: entry[:2])
    for cost, at, port in ranked[:MAX_SOURCES]:
        layer = scene.layers[at]
        yield from _redirected(
            scene,
            edge,
            cause
            or f"the edge leads to input port {edge.to_port} of layer {edge.to_layer}, but "
            f"nothing feeds input port {port.id} of {layer.label}",
            (at, *scene.by_id.get(edge.to_layer, ()), *([source[0]] if source else [])),
            cost,
            (source[0],) if source is not None else (),
            to_layer=layer.id,
            to_port=port.id,
        )


def _from_elsewhere(scene: Scene, edge: Edge, finding: Finding) -> Iterator[Candidate]:
    """Another layer that produces what the input that an edge feeds declares."""
    target, source = _target(scene, edge), _source(scene, edge)
    if target is None or source is None:
        return
    at, port = target
    low, high = ids_around(scene, edge)
    disordered = not is_number(edge.from_layer) or not low <= int(edge.from_layer) <= high
    fits = alike(port, source[1]) or (not port.dims and port.precision is None)
    as_declared = finding.rule != CYCLE and fits
    lonely = () if feeds_nothing_else(scene, edge) else unused_between(scene, low, high)
    if as_declared and not disordered and not lonely:
        return
    if is_as_chosen(scene, (source[0], scene.layers[source[0]].outputs.index(source[1]))):
        return
    consumer = scene.layers[at].label
    for cost, other, output in likely_sources(scene, at, port, edge):
        number, outputs = scene.layers[other].id, scene.layers[other].outputs
        in_place = disordered and is_number(number) and low <= int(number) <= high
        if as_declared and not in_place and other not in lonely:
            continue
        if finding.rule == CYCLE and fits:
            why = f"depends on {consumer} itself"
        elif as_declared and not in_place:
            why = f"feeds others too, while {scene.layers[other].label} feeds nothing"
        else:
            why = f"does not produce what input port {port.id} of {consumer} declares"
        feeds = ((scene.layers[at].inputs.index(port), other, outputs.index(output)),)
        for candidate in _redirected(
            scene,
            edge,
            f"the edge comes from {scene.layers[source[0]].label}, which {why}",
            (at, source[0]),
            cost + 0.1 - (0.7 if in_place else 0.0),  # it stands where those from there do
            (other,),
            from_layer=scene.layers[other].id,
            from_port=output.id,
        ):
            yield candidate._replace(feeds=feeds)


def _missing(scene: Scene, layer: Layer, position: int, number: str) -> Iterator[Candidate]:
    """An edge more, from an output that declares what the input does."""
    port = next((port for port in layer.inputs if port.id == number), None)
    if port is None:
        return
    for cost, at, output in likely_sources(scene, position, port):
        source = scene.layers[at]
        edits = new_edge(scene, source.id, output.id, layer.id, number)
        if edits:
            yield Candidate(
                edits,
                f"an edge from {source.label}, port {output.id}",
                f"no edge leads to input port {number}",
                port.offset,
                layer,
                (position,),
                (at,),
                ("input", number),
                cost,
            )


def _doubled(scene: Scene, edge: Edge, layer: Layer, position: int) -> Iterator[Candidate]:
    """One of several edges into a port is too many, or was meant for another port."""
    port = next((port for port in layer.inputs if port.id == edge.to_port), None)
    twins = [other for other in scene.edges_to[layer.id] if other.to_port == edge.to_port]
    same = len({(other.from_layer, other.from_port) for other in twins}) == 1
    for one in twins if not same else ():
        yield from _turned(scene, one)
    for index, one in enumerate(reversed(twins)):
        source = _source(scene, one)
        fits = source is not None and port is not None and alike(port, source[1])
        kept = [
            output[1]
            for other in twins
            if other is not one and (output := _source(scene, other)) is not None
        ]
        rest_fits = bool(kept) and port is not None and alike(port, kept[0])
        low, high = ids_around(scene, one)
        ordered = is_number(one.from_layer) and low <= int(one.from_layer) <= high
        others = len(scene.edges_from.get(one.from_layer, ())) > 1
        cost = 0.9 + (0.3 if fits and not same else 0.0) + (0.0 if rest_fits else 0.4)
        cost += (0.0 if not ordered else 0.05) + (0.0 if others else 0.3)
        yield Candidate(
            without_element(scene.source, one.offset),
            f"the edge from layer {one.from_layer} is removed",
            f"two edges lead to input port {edge.to_port}"
            + (" and come from the same output" if same else ""),
            one.offset,
            layer,
            (position,),
            tuple(scene.by_id.get(one.from_layer, ())),
            cost=cost + (0.01 * index if not same else 0.5 * index),
        )
        yield from _to_elsewhere(scene, one)


def _crossed(
    scene: Scene, one: Edge, other: Edge, layer: Layer, position: int
) -> Iterator[Candidate]:
    """Two inputs of a layer are fed by each other's producers."""
    targets = _target(scene, one), _target(scene, other)
    sources = _source(scene, one), _source(scene, other)
    if None in targets or None in sources:
        return
    ports = [target[1] for target in targets if target is not None]
    outputs = [source[1] for source in sources if source is not None]
    straight = alike(ports[0], outputs[0]) and alike(ports[1], outputs[1])
    if not (alike(ports[0], outputs[1]) and alike(ports[1], outputs[0])):
        return
    places = [scene.by_id[edge.from_layer][0] for edge in (one, other)]
    if straight and not all(scene.layers[at].is_constant for at in places):
        return  # whichever feeds which, all that follows is the same, but for values
    feeds = tuple(
        (layer.inputs.index(port), at, scene.layers[at].outputs.index(output))
        for port, at, output in zip(ports, places[::-1], outputs[::-1], strict=True)
    )
    changes = (
        {"from_layer": other.from_layer, "from_port": other.from_port},
        {"from_layer": one.from_layer, "from_port": one.from_port},
    )
    by_source = with_edge(scene, one, _ends(one, **changes[0])) + with_edge(
        scene, other, _ends(other, **changes[1])
    )
    by_target = with_edge(scene, one, _ends(one, to_port=other.to_port)) + with_edge(
        scene, other, _ends(other, to_port=one.to_port)
    )
    ordered = _in_order(scene, one) and _in_order(scene, other)
    both = " and ".join(sorted((one.to_port, other.to_port), key=lambda number: number.rjust(9)))
    yield Candidate(
        by_target if ordered else by_source,
        f"the edges into ports {both} are exchanged",
        f"inputs {both} are exchanged: each is fed what the other "
        + ("should be" if straight else "declares"),
        one.offset,
        layer,
        (position,),
        cost=0.95 if straight else 0.5,
        rule=MISDIRECTED_EDGE,
        feeds=feeds if straight else (),
    )


def _in_order(scene: Scene, edge: Edge) -> bool:
    """Whether an edge stands where its source belongs, in the order of ids."""
    edges = scene.body.edges
    at = bisect_left(scene.edge_offsets, edge.offset)
    near = [e.from_layer for e in edges[max(0, at - 1) : at + 2]]
    return all(is_number(number) for number in near) and near == sorted(near, key=int)
