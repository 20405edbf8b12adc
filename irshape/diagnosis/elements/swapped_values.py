"""Two attributes of a tag that have each other's value, and layers of a body whose id was changed
where the port map still names the old one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import Edit
from ...model.graph import PORT_MAPS, Body, Finding, Layer, PortMap
from ...model.ids import is_number
from ...ops import registry
from ...rule_ids import (
    CUSTOM_OPERATION,
    DUPLICATE_ID,
    MALFORMED_ID,
    PORT_MAP,
    UNKNOWN_PRECISION,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
)
from ..candidate import Candidate
from ..telling import element_start
from ..trials.scene import Scene
from .bodies import changed_entries
from .writing import with_attribute

_RULES = (CUSTOM_OPERATION, MALFORMED_ID, UNKNOWN_PRECISION, UNKNOWN_TYPE, UNKNOWN_VERSION)
_VERSION = re.compile(r"(opset\d+|extension|experimental)$")
_PRECISION = re.compile(r"(FP|BF|I|U|F|NF)\d+\w*$|BOOL(EAN)?$|STRING$|DYNAMIC$|UNSPECIFIED$")


def swapped_value_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Two attributes of `<layer>` or `<port>` have each other's value."""
    if finding.rule not in _RULES:
        return
    source, layer = scene.source, scene.layers[position]
    element = element_start(source, finding.offset)
    values = {
        name: (source.data[start:end].decode(source.encoding, "replace"), start, end)
        for name, _, start, end in source.attributes(element)
    }
    names = list(values)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            first, second = values[one], values[other]
            if _fits(one, first[0]) and _fits(other, second[0]):
                continue
            if not (_fits(one, second[0]) and _fits(other, first[0])):
                continue
            edits = (
                Edit(*first[1:], source.data[second[1] : second[2]]),
                Edit(*second[1:], source.data[first[1] : first[2]]),
            )
            yield Candidate(
                edits,
                f'{one}="{second[0]}" and {other}="{first[0]}"',
                f"{one} and {other} have each other's value",
                finding.offset,
                layer,
                _touched(scene, position, values["id"][0] if "id" in values else "", second[0]),
                cost=0.1,
                rule=finding.rule,
            )


def _fits(name: str, text: str) -> bool:
    """Whether a text may be the value of an attribute."""
    if name == "id":
        return is_number(text)
    if name == "type":
        return text.lower() in registry.known_types()
    if name == "version":
        return bool(_VERSION.match(text))
    if name == "precision":
        return bool(_PRECISION.match(text.upper()))
    return not is_number(text) or name in ("name", "names")


def _touched(scene: Scene, position: int, *numbers: str) -> tuple[int, ...]:
    """A layer, and those at the edges that name it under one id or another."""
    touched = {position}
    for number in (*numbers, scene.layers[position].id):
        for edge in scene.edges_from.get(number, ()):
            touched.update(scene.by_id.get(edge.to_layer, ()))
        for edge in scene.edges_to.get(number, ()):
            touched.update(scene.by_id.get(edge.from_layer, ()))
    return tuple(sorted(touched))


def mapped_id_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A Parameter or Result of a body, and its edges, have another id than the port map names."""
    layer = scene.layers[position]
    if finding.rule != PORT_MAP or finding.layer is not layer:
        return
    for tag, body in (layer.bodies or {}).items():
        entries = (layer.port_maps or {}).get(PORT_MAPS[tag], [])
        named = [(e.direction, e.attributes.get("internal_layer_id", "")) for e in entries]
        named += [("output", edge.from_layer) for edge in body.back_edges]
        named += [("input", edge.to_layer) for edge in body.back_edges]
        lost = list(dict.fromkeys(row for row in named if row[1] not in body.by_id))
        if len(lost) != 1 or not is_number(lost[0][1]):
            continue
        direction, number = lost[0]
        for at, inner in enumerate(body.layers):
            kind = inner.is_parameter if direction == "input" else inner.is_result
            if kind and (direction, inner.id) not in named and _is_next(body, at, number):
                yield _renumbered(scene, position, body, inner, number)


def _is_next(body: Body, at: int, number: str) -> bool:
    """Whether an id comes behind that of the layer before, and that of the layer does not."""
    before = body.layers[at - 1].id if at else "-1"
    following = str(int(before) + 1) if is_number(before.removeprefix("-")) else ""
    return following == number != body.layers[at].id


def _renumbered(scene: Scene, position: int, body: Body, inner: Layer, number: str) -> Candidate:
    source = scene.source
    edits = [*with_attribute(source, inner.offset, "id", number)]
    for edge in body.edges:
        for name, text in (("from-layer", edge.from_layer), ("to-layer", edge.to_layer)):
            if text == inner.id:
                edits += with_attribute(source, edge.offset, name, number)
    return Candidate(
        tuple(edits),
        f'id="{number}", in its edges, too',
        f"{inner.label} has id {inner.id}, but the port map names {number}, which comes behind the "
        "layer before it",
        inner.offset,
        inner,
        (position,),
        cost=0.3,
        rule=DUPLICATE_ID,
    )


def shifted_entry_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """All entries of a port map name ids that are one more, or one less, than they should."""
    layer = scene.layers[position]
    if finding.rule != PORT_MAP or finding.layer is not layer:
        return
    for tag, body in (layer.bodies or {}).items():
        entries = (layer.port_maps or {}).get(PORT_MAPS[tag], [])
        for name in ("external_port_id", "internal_layer_id"):
            named = [e for e in entries if is_number(e.attributes.get(name, ""))]
            if len(named) < 2 or all(_is_there(layer, body, e, e.attributes[name]) for e in named):
                continue
            for by in (-1, 1):
                moved = {e.offset: {name: str(int(e.attributes[name]) + by)} for e in named}
                after = [e._replace(attributes={**e.attributes, **moved[e.offset]}) for e in named]
                if not all(_is_there(layer, body, e, e.attributes[name], name) for e in after):
                    continue
                edits: list[Edit] = []
                for entry in after:
                    text = entry.attributes[name]
                    edits += with_attribute(scene.source, entry.offset, name, text)
                yield Candidate(
                    tuple(edits),
                    f"{name} {by:+d} in {len(named)} entries",
                    f"the entries of the port map name ids that are {-by:+d} to those of "
                    f"{'the layer' if name.startswith('ext') else 'the body'}",
                    named[0].offset,
                    layer,
                    (position,),
                    cost=0.3,
                    rule=PORT_MAP,
                    holder=changed_entries(layer, entries, moved),
                )


def _is_there(layer: Layer, body: Body, entry: PortMap, number: str, name: str = "") -> bool:
    """Whether an entry names a port of the layer, or a Parameter or Result of the body."""
    incoming = entry.direction == "input"
    ports = {port.id for port in (layer.inputs if incoming else layer.outputs)}
    inner = {e.id for e in body.layers if (e.is_parameter if incoming else e.is_result)}
    if name:
        return number in (ports if name == "external_port_id" else inner)
    return (
        entry.attributes.get("external_port_id") in ports
        and entry.attributes.get("internal_layer_id") in inner
    )
