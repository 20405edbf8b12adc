"""Causes in the port maps of a layer with bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from itertools import combinations
from typing import Literal

from ...formats.ir.edits import Edit
from ...model.graph import PORT_MAPS, PURPOSES, Body, Finding, Layer, PortMap
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import (
    CUSTOM_OPERATION,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    MALFORMED_EDGE,
    MISSING_EDGE,
    MISSING_LAYER_ATTRIBUTE,
    PORT_MAP,
    UNKNOWN_LAYER_ATTRIBUTE,
    UNKNOWN_PORT_ATTRIBUTE,
    UNKNOWN_PRECISION,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
)
from ..candidate import Candidate
from ..trials.scene import Scene
from .writing import with_attribute, with_exchanged, without_attribute

OF_OTHERS = (
    *(DANGLING_EDGE, DUPLICATE_EDGE, DUPLICATE_ID, MALFORMED_EDGE, MISSING_EDGE),
    *(CUSTOM_OPERATION, MISSING_LAYER_ATTRIBUTE, UNKNOWN_TYPE, UNKNOWN_VERSION),
    *(UNKNOWN_LAYER_ATTRIBUTE, UNKNOWN_PORT_ATTRIBUTE, UNKNOWN_PRECISION),
    *(INPUT_MISMATCH, INPUT_TYPE_MISMATCH),
)
"""Rules whose findings no port map decides."""
OF_ELEMENTS = ("IR0", "IR10", "IR3", "IR5")
"""The same by families: elements, ids and dimensions as they are written, attributes, constants."""
MAX_ENTRIES = 400
"""In how large a port map an entry is looked for that is wrong."""
MAX_PAIRS = 8
"""How many pairs of entries, or ends of a back edge, are tried."""


def port_map_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An entry of a port map names another axis, port or layer than it should."""
    layer = scene.layers[position]
    if finding.rule in OF_OTHERS or finding.rule.code.startswith(OF_ELEMENTS):
        return
    for tag, body in (layer.bodies or {}).items():
        entries = (layer.port_maps or {}).get(PORT_MAPS[tag], [])
        if len(entries) > MAX_ENTRIES:
            continue
        told = [entry for entry in entries if _stands_in(scene, finding, entry)]
        at_axis = scene.source.data.startswith(b"axis", finding.offset)
        for entry in entries:
            yield from _ports(scene, finding, position, entry, entries)
            yield from _layers(scene, finding, position, entry, entries, body)
            yield from _purposes(scene, position, entry, entries)
            yield from _parts(scene, position, entry, entries)
            if not told or at_axis:
                yield from _axes(scene, position, entry, entries, body)
            yield from _lost_axis(scene, position, entry, entries, body)
        yield from _repeated(scene, position, entries)
        yield from _missing_entry(scene, finding, position, body, entries)
        yield from _exchanged(scene, position, entries, told, body)
        yield from _back_edges(scene, position, body)


def _stands_in(scene: Scene, finding: Finding, entry: PortMap) -> bool:
    """Whether a finding is at an attribute of an entry."""
    return entry.offset < finding.offset < scene.source.data.find(b">", entry.offset)


def _missing_entry(
    scene: Scene, finding: Finding, position: int, body: Body, entries: list[PortMap]
) -> Iterator[Candidate]:
    """No entry of the port map names a port of the layer, and none a layer of the body."""
    layer = scene.layers[position]
    sides: tuple[tuple[Literal["input", "output"], list[Port]], ...] = (
        ("input", layer.inputs),
        ("output", layer.outputs),
    )
    for direction, ports in sides:
        own = [entry for entry in entries if entry.direction == direction]
        named = {entry.attributes.get("external_port_id") for entry in own}
        mapped = {entry.attributes.get("internal_layer_id") for entry in own}
        free = [port.id for port in ports if port.id not in named and is_number(port.id)]
        if layer.folded_type == "loop":
            free = [number for number in free if direction == "output" or int(number) > 1]
            free += ["-1"] if "-1" not in named else []
        inner = [
            each.id
            for each in body.layers
            if (each.is_parameter if direction == "input" else each.is_result)
        ]
        inner.sort(key=lambda number: number in mapped)
        sliced = "axis" if layer.folded_type in ("loop", "tensoriterator") else ""
        pairs = [(number, other) for number in free[:2] for other in inner[:4]] if entries else []
        for index, (number, other) in enumerate(pairs):
            late = 0.1 * index + 0.3 * (other in mapped) + 0.3 * (len(named) < len(own))
            for step, row in enumerate(_entries_like(direction, own, number, other, sliced)):
                text = _written(direction, row)
                added = PortMap(direction, row, entries[0].offset)
                yield Candidate(
                    (_with_entry(scene, direction, entries, number, text),),
                    f"{text} is added",
                    f"no entry of the port map names {direction} port {number} of the layer"
                    if number != "-1"
                    else "no entry of the port map says which Result is the condition",
                    layer.offset,
                    layer,
                    (position,),
                    cost=1.0 + late + 0.05 * step,
                    rule=PORT_MAP,
                    holder=with_entries(layer, entries, [*entries, added]),
                )


def _entries_like(
    direction: str, entries: list[PortMap], port: str, inner: str, sliced: str
) -> list[dict[str, str]]:
    """Entries for a port and a layer of the body, with what else those beside have."""
    ids = {"external_port_id": port, "internal_layer_id": inner}
    if port == "-1":
        rows = [{**ids, "purpose": PURPOSES[direction]}]
    else:
        rows = [ids]
        rows += [{**entry.attributes, **ids} for entry in entries if "axis" in entry.attributes]
        if sliced:
            steps = {"start": "0", "end": "-1", "stride": "1", "part_size": "1"}
            rows += [{"axis": str(axis), **ids, **steps} for axis in range(3)]
    return [row for index, row in enumerate(rows) if row not in rows[:index]]


def _written(direction: str, row: dict[str, str]) -> str:
    return f"<{direction} " + " ".join(f'{name}="{text}"' for name, text in row.items()) + "/>"


def with_entries(layer: Layer, before: list[PortMap], after: list[PortMap]) -> Layer:
    """A layer with other entries in one of its port maps."""
    other = copy(layer)
    maps = (layer.port_maps or {}).items()
    other.port_maps = {name: after if entries is before else entries for name, entries in maps}
    return other


def changed_entries(
    layer: Layer, entries: list[PortMap], changes: Mapping[int, Mapping[str, str | None]]
) -> Layer:
    """A layer with other attributes of the entries at some offsets; None for an absent one."""
    after = [
        entry._replace(
            attributes={
                name: text
                for name, text in {**entry.attributes, **changes.get(entry.offset, {})}.items()
                if text is not None
            }
        )
        for entry in entries
    ]
    return with_entries(layer, entries, after)


def _with_entry(scene: Scene, direction: str, entries: list[PortMap], port: str, text: str) -> Edit:
    """An entry more: inputs before outputs, each in the order of the ports, conditions last."""
    data = scene.source.data
    later = [
        entry
        for entry in entries
        if _place(entry.direction, _number(entry)) > _place(direction, int(port))
    ]
    near = (later or entries[-1:])[0].offset
    gap = data[data.rfind(b">", 0, near) + 1 : near]
    if later:
        return Edit(near, near, text.encode() + gap)
    end = data.find(b">", near) + 1
    return Edit(end, end, gap + text.encode())


def _place(direction: str, port: int) -> tuple[bool, bool, int]:
    """What decides where writers put an entry."""
    return port < 0, direction == "output", port


def _number(entry: PortMap) -> int:
    text = entry.attributes.get("external_port_id", "")
    return int(text) if is_number(text) else -1  # as a condition has it


def _exchanged(
    scene: Scene, position: int, entries: list[PortMap], told: list[PortMap], body: Body
) -> Iterator[Candidate]:
    """Two entries have each other's layer or port. told: one of them is among these, if any."""
    layer = scene.layers[position]
    pairs = [
        pair
        for pair in combinations(entries, 2)
        if pair[0].direction == pair[1].direction and (not told or any(e in told for e in pair))
    ]
    for one, other in pairs[:MAX_PAIRS]:
        for name in ("internal_layer_id", "external_port_id"):
            texts = one.attributes.get(name), other.attributes.get(name)
            if texts[0] is None or texts[1] is None or texts[0] == texts[1]:
                continue
            changes = {one.offset: {name: texts[1]}, other.offset: {name: texts[0]}}
            holder = changed_entries(layer, entries, changes)
            after = [
                entry
                for entry in (holder.port_maps or {})[PORT_MAPS[body.path[-1]]]
                if entry.offset in changes
            ]
            likely = all(_fits(layer, body, entry) for entry in after) and not all(
                _fits(layer, body, entry) for entry in (one, other)
            )
            yield Candidate(
                with_exchanged(
                    scene.source, name, (one.offset, texts[0]), (other.offset, texts[1])
                ),
                f'{name}="{texts[1]}", and {name}="{texts[0]}" in the other entry',
                f"two entries of the port map have each other's {name}",
                scene.source.attribute(one.offset, name),
                layer,
                (position,),
                cost=0.8 if likely else 1.1,
                rule=PORT_MAP,
                bold=True,
                holder=holder,
            )


def _fits(layer: Layer, body: Body, entry: PortMap) -> bool:
    """Whether what an entry joins declares the same sizes, but for that along its axis."""
    inside, outside = (
        entry.attributes.get("internal_layer_id"),
        entry.attributes.get("external_port_id"),
    )
    incoming = entry.direction == "input"
    outer = [port for port in (layer.inputs if incoming else layer.outputs) if port.id == outside]
    inner = [
        port
        for each in body.layers
        if each.id == inside
        for port in (each.outputs if incoming else each.inputs)
    ]
    if len(outer) != 1 or len(inner) != 1:
        return False
    here, there = outer[0].dims, inner[0].dims
    axis = entry.attributes.get("axis")
    if axis is None or here is None or there is None:
        return here == there
    at = int(axis) if is_number(axis) else -1
    return len(here) == len(there) and all(
        one == other
        for index, (one, other) in enumerate(zip(here, there, strict=True))
        if index != at
    )


def _back_edges(scene: Scene, position: int, body: Body) -> Iterator[Candidate]:
    """A back edge names a layer that is no Result, or no Parameter, of the body."""
    results = [layer.id for layer in body.layers if layer.is_result]
    parameters = [layer.id for layer in body.layers if layer.is_parameter]
    for edge in body.back_edges:
        for name, own, known, others in (
            ("from-layer", edge.from_layer, results, [e.from_layer for e in body.back_edges]),
            ("to-layer", edge.to_layer, parameters, [e.to_layer for e in body.back_edges]),
        ):
            if own in known:
                continue
            free = [number for number in known if number not in others] or known
            for index, number in enumerate(free[:MAX_PAIRS]):
                yield Candidate(
                    with_attribute(scene.source, edge.offset, name, number),
                    f'{name}="{number}"',
                    f'the back edge says {name}="{own}", which the body does not have; '
                    f'{name}="{number}" fits',
                    scene.source.attribute(edge.offset, name),
                    scene.layers[position],
                    (position,),
                    cost=0.8 + 0.1 * index,
                    rule=PORT_MAP,
                )


_ORDER = (
    *("axis", "external_port_id", "internal_layer_id"),
    *("start", "end", "stride", "part_size", "purpose"),
)
"""The attributes of an entry, as OpenVINO writes them."""


def _candidate(
    scene: Scene,
    position: int,
    entry: PortMap,
    entries: list[PortMap],
    name: str,
    text: str | None,
    cost: float,
) -> Candidate:
    source, layer = scene.source, scene.layers[position]
    before = entry.attributes.get(name)
    if text is None:
        edits, change = without_attribute(source, entry.offset, name), f"no {name}"
    else:
        edits, change = (
            with_attribute(source, entry.offset, name, text, _ORDER[: _ORDER.index(name)]),
            f'{name}="{text}"',
        )
    return Candidate(
        edits,
        change,
        f'the port map says {name}="{before}", which does not fit the ports of the layer; '
        f"{change} does"
        if before is not None
        else f"an entry of the port map has no {name}; {change} fits the ports of the layer",
        source.attribute(entry.offset, name),
        layer,
        (position,),
        cost=cost,
        rule=PORT_MAP,
        holder=changed_entries(layer, entries, {entry.offset: {name: text}}),
    )


def _ports(
    scene: Scene, finding: Finding, position: int, entry: PortMap, entries: list[PortMap]
) -> Iterator[Candidate]:
    layer: Layer = scene.layers[position]
    ports = layer.inputs if entry.direction == "input" else layer.outputs
    named = entry.attributes.get("external_port_id")
    mapped = {
        other.attributes.get("external_port_id")
        for other in entries
        if other.direction == entry.direction and other is not entry
    }
    inside = entry.attributes.get("purpose") in PURPOSES.values() and "-1" not in mapped
    if inside and named not in (None, "-1"):
        yield _candidate(scene, position, entry, entries, "external_port_id", "-1", 0.9)
    if named in {port.id for port in ports} - mapped | {"-1"}:
        return
    free = [port.id for port in ports if port.id not in mapped][:4]
    if named is None:  # what is not mapped may be a condition that stays in the body
        free.insert(0 if "purpose" in entry.attributes else len(free), "-1")
    twice = 0.1 if named in mapped else 0.0
    for index, number in enumerate(free):
        cost = 0.9 + 0.1 * index + twice
        yield _candidate(scene, position, entry, entries, "external_port_id", number, cost)


def _purposes(
    scene: Scene, position: int, entry: PortMap, entries: list[PortMap]
) -> Iterator[Candidate]:
    """What joins no port of the layer has a purpose, and one that fits."""
    attributes, purpose = entry.attributes, PURPOSES[entry.direction]
    if attributes.get("external_port_id") == "-1" and attributes.get("purpose") != purpose:
        yield _candidate(scene, position, entry, entries, "purpose", purpose, 0.9)


def _repeated(scene: Scene, position: int, entries: list[PortMap]) -> Iterator[Candidate]:
    """The same entry stands there twice."""
    source, layer = scene.source, scene.layers[position]
    seen: set[tuple[str, ...]] = set()
    for entry in entries:
        text = (entry.direction, *entry.attributes, *entry.attributes.values())
        if text in seen:
            end = source.data.find(b">", entry.offset) + 1
            yield Candidate(
                (Edit(source.data.rfind(b">", 0, entry.offset) + 1, end, b""),),
                "the second of the two is removed",
                "the port map has this entry twice",
                entry.offset,
                layer,
                (position,),
                cost=0.3,
                rule=PORT_MAP,
                holder=with_entries(layer, entries, [e for e in entries if e is not entry]),
            )
            return
        seen.add(text)


def _parts(
    scene: Scene, position: int, entry: PortMap, entries: list[PortMap]
) -> Iterator[Candidate]:
    """Slices lie as far apart as they are long."""
    stride, size = entry.attributes.get("stride", "1"), entry.attributes.get("part_size", "1")
    sign = "-" if stride.startswith("-") else ""
    length = stride.removeprefix("-")
    if "axis" in entry.attributes and is_number(length) and is_number(size) and length != size:
        parts = [("part_size", length), ("stride", sign + size)]
        parts.sort(key=lambda change: change[1].removeprefix("-") != "1")  # nearly always
        for index, (name, text) in enumerate(parts):
            cost = 0.9 + 0.1 * index
            yield _candidate(scene, position, entry, entries, name, text, cost)


_OF_SLICES = {"start", "end", "stride", "part_size"}


def _layers(
    scene: Scene,
    finding: Finding,
    position: int,
    entry: PortMap,
    entries: list[PortMap],
    body: Body,
) -> Iterator[Candidate]:
    named = entry.attributes.get("internal_layer_id")
    mapped = {
        other.attributes.get("internal_layer_id")
        for other in entries
        if other.direction == entry.direction and other is not entry
    }
    wanted = [
        layer
        for layer in body.layers
        if (layer.is_parameter if entry.direction == "input" else layer.is_result)
    ]
    if named in {layer.id for layer in wanted} - mapped:
        return
    fed = {edge.to_layer for edge in body.back_edges}
    free = [layer for layer in wanted if layer.id not in mapped]
    if named not in mapped:
        free += [layer for layer in wanted if layer.id in mapped]
    for index, layer in enumerate(free[:5]):
        late = 0.0 if layer.id not in mapped else 0.3
        late += 0.05 if layer.id in fed else 0.0
        cost = 0.9 + 0.1 * index + late
        yield _candidate(scene, position, entry, entries, "internal_layer_id", layer.id, cost)


def _axes(
    scene: Scene, position: int, entry: PortMap, entries: list[PortMap], body: Body
) -> Iterator[Candidate]:
    """Another axis that slices have; first of all if they do not have the one that is written."""
    text = entry.attributes.get("axis")
    if text is None or not is_number(text.removeprefix("-")):
        return
    dims = _slice(entry, body)
    rank = len(dims) if dims else None
    outside = rank is not None and not -rank <= int(text) < rank
    others = (int(text) - 1, int(text) + 1, 0, 1, -1, 2)
    likely = [n for n in dict.fromkeys(others) if n >= -1 and (rank is None or n < rank)]
    for index, other in enumerate(likely):
        if str(other) != text:
            cost = (0.6 if outside else 1.0) + 0.1 * index
            yield _candidate(scene, position, entry, entries, "axis", str(other), cost)


def _slice(entry: PortMap, body: Body) -> tuple[int, ...] | None:
    """The dimensions of what an entry joins in the body, as it declares them."""
    inner = body.by_id.get(entry.attributes.get("internal_layer_id", ""))
    ports = [] if inner is None else inner.outputs if inner.is_parameter else inner.inputs
    return ports[0].dims if ports else None


def _lost_axis(
    scene: Scene, position: int, entry: PortMap, entries: list[PortMap], body: Body
) -> Iterator[Candidate]:
    """Slices are described, but not along which axis: the size of a slice is that of the part."""
    if "axis" in entry.attributes or not _OF_SLICES & entry.attributes.keys():
        return
    size = entry.attributes.get("part_size", "1")
    for axis, dim in enumerate(_slice(entry, body) or ()):
        cost = 0.8 + 0.05 * axis + (0.0 if str(dim) == size else 0.3)
        yield _candidate(scene, position, entry, entries, "axis", str(axis), cost)
