"""Parts of one body that stand in another: edges, entries of a port map, or all layers or edges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...formats.ir.edits import Edit, element_end
from ...model.edges import Edge
from ...model.graph import PORT_MAPS, Body, Finding, Layer, PortMap
from ...model.ids import is_number
from ...rule_ids import DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE, PORT_MAP
from ...rules import Context
from .slip import Slip

SEVERAL = 3
"""So many findings it takes to look for parts of two bodies in each other's place."""
_PARTS = ("layers", "edges")


def in_the_wrong_body(context: Context, graver: Sequence[Finding]) -> Iterator[Slip]:
    """What stands in one body of a model and is missing in another."""
    bodies = {body.path: body for body in context.results}
    if len(bodies) < 2:
        return
    text = context.model.source.data
    for body in bodies.values():
        for layer in body.layers:
            if layer.bodies is not None and len(layer.bodies) > 1:
                yield from _exchanged(text, layer, graver)
                yield from _entries(text, layer, graver)
    yield from _edges(text, bodies, graver)


# edges


def _edges(
    text: bytes, bodies: Mapping[tuple[str, ...], Body], graver: Sequence[Finding]
) -> Iterator[Slip]:
    """An edge that leads astray, or twice into one input, and that is missing in another body."""
    lacking = [
        (bodies[finding.layer.path], finding.layer.id, finding.port[1])
        for finding in graver
        if finding.rule == MISSING_EDGE
        and finding.layer is not None
        and finding.port is not None
        and finding.layer.path in bodies
    ]
    wrong = {
        _start_of(text, finding.offset)
        for finding in graver
        if finding.rule in (DANGLING_EDGE, DUPLICATE_EDGE)
    }
    for body, number, port in lacking:
        for other in bodies.values():
            if other is body:
                continue
            suspects = [
                edge
                for edge in other.edges
                if (edge.to_layer, edge.to_port) == (number, port) and edge.from_layer in body.by_id
            ]
            if any(edge.offset in wrong for edge in suspects):
                for edge in reversed(suspects):
                    yield from _moved_edge(text, edge, other, body)


def _start_of(text: bytes, offset: int) -> int:
    return text.rfind(b"<", 0, offset + 1)


def _moved_edge(text: bytes, edge: Edge, here: Body, there: Body) -> Iterator[Slip]:
    place = _place_of(text, edge, there)
    end = element_end(text, edge.offset)
    if place < 0 or end < 0:
        return
    lead = text.rfind(b">", 0, edge.offset) + 1
    indent = text[text.rfind(b"\n", 0, place) : place]
    start = place if indent.strip() else place - len(indent)
    gap = b"" if indent.strip() else indent
    edits = Edit(lead, end, b""), Edit(start, start, gap + text[edge.offset : end])
    ends = f"{edge.from_layer} to {edge.to_layer}"
    cause = f"the edge from layer {ends} stands in {_named(here)}; it belongs in {_named(there)}"
    yield Slip(tuple(sorted(edits)), f"it stands in {_named(there)}", cause, edge.offset)


def _named(body: Body) -> str:
    return f"`{body.path[-1]}` of layer {body.path[-2]}" if body.path else "the net"


def _place_of(text: bytes, edge: Edge, body: Body) -> int:
    """Where an edge stands in a body: before the first from a later layer, or behind all."""
    later = [
        other.offset
        for other in body.edges
        if is_number(other.from_layer)
        and is_number(edge.from_layer)
        and int(other.from_layer) > int(edge.from_layer)
    ]
    if later:
        return later[0]
    last = body.edges[-1].offset if body.edges else -1
    return text.find(b"</edges", last) if last >= 0 else -1


# port maps


def _entries(text: bytes, layer: Layer, graver: Sequence[Finding]) -> Iterator[Slip]:
    """An entry of a port map that belongs in that of the other body."""
    if not any(finding.rule == PORT_MAP and finding.layer is layer for finding in graver):
        return
    maps = {
        tag: (body, (layer.port_maps or {}).get(PORT_MAPS[tag], []))
        for tag, body in (layer.bodies or {}).items()
    }
    for tag, (body, entries) in maps.items():
        for other, (there, beside) in maps.items():
            if other == tag or not beside:
                continue
            for entry in entries:
                if _is_too_much(entry, entries, body) and _is_wanted(entry, beside, there):
                    yield from _moved_entry(text, entry, beside, PORT_MAPS[other])


def _joins(entry: PortMap) -> tuple[str, str | None]:
    return entry.direction, entry.attributes.get("external_port_id")


def _is_too_much(entry: PortMap, entries: Sequence[PortMap], body: Body) -> bool:
    """Whether another entry is for the same port, or the body lacks the layer."""
    return Counter(map(_joins, entries))[_joins(entry)] > 1 or not _has(entry, body)


def _has(entry: PortMap, body: Body) -> bool:
    number = entry.attributes.get("internal_layer_id")
    return any(
        each.is_parameter if entry.direction == "input" else each.is_result
        for each in body.layers
        if each.id == number
    )


def _is_wanted(entry: PortMap, entries: Sequence[PortMap], body: Body) -> bool:
    """Whether no entry of a port map is for the port or the layer of an entry."""
    number = entry.attributes.get("internal_layer_id")
    return _has(entry, body) and all(
        _joins(each) != _joins(entry)
        and (each.direction, each.attributes.get("internal_layer_id")) != (entry.direction, number)
        for each in entries
    )


def _moved_entry(
    text: bytes, entry: PortMap, entries: Sequence[PortMap], name: str
) -> Iterator[Slip]:
    before = [each for each in entries if _rank(each) < _rank(entry)]
    end = element_end(text, entry.offset)
    lead = text.rfind(b">", 0, entry.offset) + 1
    near = before[-1].offset if before else entries[0].offset
    gap = text[text.rfind(b">", 0, near) + 1 : near]
    words = text[entry.offset : end]
    if before:
        place = element_end(text, near)
        put = Edit(place, place, gap + words)
    else:
        put = Edit(near, near, words + gap)
    cause = f"an entry of the port map stands in the wrong one; it belongs in `{name}`"
    edits = tuple(sorted((Edit(lead, end, b""), put)))
    yield Slip(edits, f"it stands in `{name}`", cause, entry.offset)


def _rank(entry: PortMap) -> tuple[bool, int]:
    number = entry.attributes.get("external_port_id", "")
    return entry.direction == "output", int(number) if is_number(number) else -1


# all layers, or all edges


def _exchanged(text: bytes, layer: Layer, graver: Sequence[Finding]) -> Iterator[Slip]:
    """Two bodies of a layer have each other's layers, or each other's edges."""
    bodies = list((layer.bodies or {}).values())
    flagged = [
        finding.layer.path[: len(layer.path) + 2]
        for finding in graver
        if finding.layer is not None and finding.layer.path
    ]
    around = flagged.count(bodies[0].path) + flagged.count(bodies[1].path)
    if around < SEVERAL or len(bodies) != 2:
        return
    one, other = bodies
    exchanged = _misfits(one, other) + _misfits(other, one)
    if exchanged and exchanged >= _misfits(one, one) + _misfits(other, other):
        return
    for tag in _PARTS:
        spans = [_part(text, body, tag) for body in bodies]
        if any(start < 0 or end < 0 for start, end in spans):
            continue
        (first, end), (second, stop) = sorted(spans)
        edits = Edit(first, end, text[second:stop]), Edit(second, stop, text[first:end])
        names = " and ".join(f"`{body.path[-1]}`" for body in bodies)
        cause = f"the <{tag}> of {names} of {layer.label} stand in each other's place"
        yield Slip(edits, "they are exchanged", cause, first)


def _misfits(layers: Body, edges: Body) -> int:
    """How many edges of one body lead astray between the layers of another, and how many inputs
    there they leave without one."""
    outputs = {(layer.id, port.id) for layer in layers.layers for port in layer.outputs}
    inputs = {(layer.id, port.id) for layer in layers.layers for port in layer.inputs}
    ends = [((e.from_layer, e.from_port), (e.to_layer, e.to_port)) for e in edges.edges]
    astray = sum(start not in outputs or stop not in inputs for start, stop in ends)
    return astray + len(inputs.difference(stop for _, stop in ends))


def _part(text: bytes, body: Body, tag: str) -> tuple[int, int]:
    """The `<layers>` or `<edges>` of a body."""
    start = body.offset
    if tag == "edges":
        layers = re.compile(rb"<layers\b").search(text, start)
        start = element_end(text, layers.start()) if layers is not None else -1
    match = re.compile(rb"<%s\b" % tag.encode()).search(text, start) if start >= 0 else None
    if match is None:
        return -1, -1
    return match.start(), element_end(text, match.start())
