"""Entries of port maps, back edges and bodies that have what belongs to another part of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ...formats.ir.edits import Edit
from ...model.graph import PORT_MAPS, Body, Finding, Layer, PortMap
from ...rule_ids import PORT_MAP
from ..candidate import Candidate
from ..trials.scene import Scene
from .bodies import OF_ELEMENTS, OF_OTHERS, changed_entries, with_entries
from .writing import renamed_element, with_attribute

_NUMBERS = ("external_port_id", "internal_layer_id")
_PAIR = ("then_body", "else_body")


def entry_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Two numbers of an entry, its direction, or the ends of a back edge are exchanged."""
    layer = scene.layers[position]
    if finding.rule in OF_OTHERS or finding.rule.code.startswith(OF_ELEMENTS) or not layer.bodies:
        return
    for tag, body in layer.bodies.items():
        entries = (layer.port_maps or {}).get(PORT_MAPS[tag], [])
        for entry in entries:
            yield from _numbers(scene, position, entry, entries, body)
            yield from _direction(scene, position, entry, entries, body)
        yield from _back_edges(scene, position, body, entries)
    if all(name in layer.bodies for name in _PAIR):
        yield from _bodies(scene, position, layer)


def _kinds(body: Body) -> tuple[set[str], set[str]]:
    """The ids of the Parameters and of the Results of a body."""
    return (
        {layer.id for layer in body.layers if layer.is_parameter},
        {layer.id for layer in body.layers if layer.is_result},
    )


def _numbers(
    scene: Scene, position: int, entry: PortMap, entries: list[PortMap], body: Body
) -> Iterator[Candidate]:
    layer = scene.layers[position]
    outer, inner = (entry.attributes.get(name) for name in _NUMBERS)
    ports = layer.inputs if entry.direction == "input" else layer.outputs
    ids = _kinds(body)[entry.direction == "output"]
    if outer is None or inner is None or outer == inner:
        return
    if outer not in ids or inner not in {port.id for port in ports} | {"-1"}:
        return
    yield Candidate(
        (
            *with_attribute(scene.source, entry.offset, _NUMBERS[0], inner),
            *with_attribute(scene.source, entry.offset, _NUMBERS[1], outer),
        ),
        f'external_port_id="{inner}" internal_layer_id="{outer}"',
        "external_port_id and internal_layer_id have each other's value",
        entry.offset,
        layer,
        (position,),
        cost=0.7,
        rule=PORT_MAP,
        holder=changed_entries(
            layer, entries, {entry.offset: dict(zip(_NUMBERS, (inner, outer), strict=True))}
        ),
    )


def _direction(
    scene: Scene, position: int, entry: PortMap, entries: list[PortMap], body: Body
) -> Iterator[Candidate]:
    layer = scene.layers[position]
    incoming = entry.direction == "input"
    other: Literal["input", "output"] = "output" if incoming else "input"
    inner, outer = entry.attributes.get("internal_layer_id"), entry.attributes.get(_NUMBERS[0])
    ports = layer.outputs if incoming else layer.inputs
    if inner not in _kinds(body)[incoming] or outer not in {port.id for port in ports} | {"-1"}:
        return
    after = [
        each._replace(direction=other) if each.offset == entry.offset else each for each in entries
    ]
    start = entry.offset + 1
    yield Candidate(
        (Edit(start, start + len(entry.direction), other.encode()),),
        f"<{entry.direction} …> becomes <{other} …>",
        f"an <{entry.direction}> of the port map names a port and a layer that are an {other}",
        entry.offset,
        layer,
        (position,),
        cost=0.6,
        rule=PORT_MAP,
        holder=with_entries(layer, entries, after),
    )


def _back_edges(
    scene: Scene, position: int, body: Body, entries: list[PortMap]
) -> Iterator[Candidate]:
    """A back edge is turned round, or leads to a Parameter that is fed otherwise."""
    parameters, results = _kinds(body)
    sliced = {
        entry.attributes.get("internal_layer_id") for entry in entries if "axis" in entry.attributes
    }
    taken = {edge.to_layer for edge in body.back_edges}
    mapped = [e.attributes.get("internal_layer_id") for e in entries if e.direction == "input"]
    for edge in body.back_edges:
        changes: list[tuple[dict[str, str], str, float]] = []
        if edge.from_layer in parameters and edge.to_layer in results:
            ends = {"from-layer": edge.to_layer, "to-layer": edge.from_layer}
            changes.append((ends, "the back edge is turned round: it leads to a Result", 0.6))
        elif edge.to_layer in sliced:
            cause = f"the back edge leads to layer {edge.to_layer}, which is fed slices"
            changes += [
                ({"to-layer": number}, cause, 0.8 + 0.1 * index)
                for index, number in enumerate(mapped)
                if number is not None and number not in sliced | taken
            ]
        for ends, cause, cost in changes:
            edits = [
                edit
                for name, text in ends.items()
                for edit in with_attribute(scene.source, edge.offset, name, text)
            ]
            yield Candidate(
                tuple(edits),
                ", ".join(f'{name}="{text}"' for name, text in ends.items()),
                cause,
                edge.offset,
                scene.layers[position],
                (position,),
                cost=cost,
                rule=PORT_MAP,
            )


def _bodies(scene: Scene, position: int, layer: Layer) -> Iterator[Candidate]:
    """The two bodies of an If have each other's name, or their port maps do."""
    data = scene.source.data
    start, end = scene.span(position)
    bodies_first = list(layer.bodies or ()) == list(_PAIR)  # as writers put them
    for tags, cost in (
        (list(_PAIR), 1.2 if bodies_first else 0.9),
        ([PORT_MAPS[name] for name in _PAIR], 0.9 if bodies_first else 1.2),
    ):
        edits: list[Edit] = []
        for name, other in zip(tags, tags[::-1], strict=True):
            at = data.find(f"<{name}>".encode(), start, end)
            edits += renamed_element(scene.source, at, other) if at >= 0 else ()
        if len(edits) == 4:
            yield Candidate(
                tuple(edits),
                f"<{tags[0]}> and <{tags[1]}> are exchanged",
                f"<{tags[0]}> and <{tags[1]}> have each other's name",
                min(edit.start for edit in edits) - 1,
                layer,
                (position,),
                cost=cost,
                rule=PORT_MAP,
            )
