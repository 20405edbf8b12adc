"""Causes that concern a layer as a whole: several of its ports, all ids of them, what is misplaced.

They come of search and replace in one layer, or of a tool that numbers ports in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import combinations

from ...formats.ir.edits import Edit
from ...model.edges import Edge
from ...model.graph import Finding
from ...model.ids import is_number
from ...model.ports import Port
from ...ops import registry
from ...ops.declaration import Operation
from ...ops.kinds import Malformed
from ...rule_ids import (
    CONTRADICTED_ATTRIBUTE,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    INPUT_COUNT,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    MISSING_EDGE,
    OUTPUT_COUNT,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNKNOWN_LAYER_ATTRIBUTE,
    UNPROVEN_DIMENSION,
)
from ..candidate import Candidate, Change
from ..rule_groups import BETWEEN_PORTS
from ..trials.scene import Scene
from .attributes import is_strange
from .constant_places import Const, lies_in_place
from .ports import as_inferred
from .writing import (
    with_attribute,
    with_edge,
    without_attribute,
)

_OF_PORTS = (
    *(INPUT_MISMATCH, INPUT_TYPE_MISMATCH),
    *(OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH, UNPROVEN_DIMENSION),
)
"""Rules that compare what a port declares with what it is fed, or with what is inferred."""
_OF_IDS = (
    *(DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE, INPUT_COUNT, OUTPUT_COUNT),
    *(INPUT_MISMATCH, INPUT_TYPE_MISMATCH),
)
"""Rules whose findings may follow from ids of ports."""
MAX_ITEMS = 8
"""Among how many attributes two are looked for that were exchanged."""
_NEVER = re.compile(r"(?!)")
_OF_CONST = {
    "element_type": re.compile(r"[a-z]+\d*\w*"),
    "shape": re.compile(r"(\d+(,\s*\d+)*)?"),
    **dict.fromkeys(("offset", "size"), re.compile(r"\d+")),
}
"""What the attributes of a Const look like."""


def shifted_id_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """All ports of a layer are numbered from another number on than the edges number them.

    Writers number the inputs from 0 on, and the outputs behind them.
    """
    layer = scene.layers[position]
    if finding.rule not in _OF_IDS:
        return
    yield from _numbered_as_usual(scene, position)
    for direction, ports, edges in (
        ("input", layer.inputs, scene.edges_to.get(layer.id, [])),
        ("output", layer.outputs, scene.edges_from.get(layer.id, [])),
    ):
        named = [edge.to_port if direction == "input" else edge.from_port for edge in edges]
        ids = [port.id for port in ports]
        if len(ids) < 2 - (direction == "output") or not all(map(is_number, (*ids, *named))):
            continue
        numbers, wanted = sorted(map(int, ids)), sorted(set(map(int, named)))
        if not wanted or numbers == wanted or len(set(numbers)) < len(numbers):
            continue
        by, usual = wanted[0] - numbers[0], 0 if direction == "input" else len(layer.inputs)
        if [number + by for number in numbers] != wanted:
            continue
        if numbers[0] != usual:
            yield _ports_shifted(scene, position, direction, ports, by, wanted[0] == usual)
        if wanted[0] != usual and direction == "input":
            yield _edges_shifted(scene, position, edges, -by, numbers[0] == usual)


def _numbered_as_usual(scene: Scene, position: int) -> Iterator[Candidate]:
    """The ports of a layer get ids in order, inputs first: those that the edges name."""
    layer = scene.layers[position]
    ports = [*layer.inputs, *layer.outputs]
    wrong = [(port, str(at)) for at, port in enumerate(ports) if port.id != str(at)]
    outgoing = scene.edges_from.get(layer.id, [])
    into = {edge.to_port for edge in scene.edges_to.get(layer.id, ())}
    usual = [str(at) for at in range(len(ports))]
    inputs = usual[: len(layer.inputs)]
    if (
        len(wrong) < 2
        or into != set(inputs)
        or not {edge.from_port for edge in outgoing} <= set(usual[len(inputs) :])
        or not any(port.id in inputs or port.id not in usual for port, _ in wrong)
    ):
        return
    edits: list[Edit] = []
    for port, number in wrong:
        edits += with_attribute(scene.source, port.offset, "id", number)
    first = wrong[0][0]
    direction = "input" if first in layer.inputs else "output"
    touched = {position, *(at for e in outgoing for at in scene.by_id.get(e.to_layer, ()))}
    yield Candidate(
        tuple(edits),
        f"the ports get the ids 0 to {usual[-1]}",
        f"the ports have the ids {', '.join(port.id for port in ports)}, but the edges number them "
        "in order, inputs first",
        first.offset,
        layer,
        tuple(sorted(touched)),
        port=(direction, first.id),
        cost=0.7,
        rule=DANGLING_EDGE,
    )


def _ports_shifted(
    scene: Scene, position: int, direction: str, ports: list[Port], by: int, usual: bool
) -> Candidate:
    edits: list[Edit] = []
    for port in ports:
        edits += with_attribute(scene.source, port.offset, "id", str(int(port.id) + by))
    layer, first = scene.layers[position], int(ports[0].id)
    outgoing = scene.edges_from.get(layer.id, ()) if direction == "output" else ()
    consumers = [at for edge in outgoing for at in scene.by_id.get(edge.to_layer, ())]
    return Candidate(
        tuple(edits),
        f"the {direction} ports are numbered from {first + by} on",
        f"the {direction} ports are numbered from {first} on, but the edges number them from "
        f"{first + by} on",
        ports[0].offset,
        layer,
        (position, *dict.fromkeys(consumers)),
        port=(direction, ports[0].id),
        cost=0.6 if usual else 0.9,
        rule=DANGLING_EDGE,
    )


def _edges_shifted(
    scene: Scene, position: int, edges: Sequence[Edge], by: int, usual: bool
) -> Candidate:
    edits: list[Edit] = []
    for edge in edges:
        edits += with_edge(scene, edge, {"to-port": str(int(edge.to_port) + by)})
    layer, first = scene.layers[position], edges[0]
    needs = [at for edge in edges for at in scene.by_id.get(edge.from_layer, ())]
    return Candidate(
        tuple(edits),
        f'to-port="{int(first.to_port) + by}", and so on for {len(edges)} edges',
        f"the {len(edges)} edges into the layer number its input ports from "
        f"{min(int(edge.to_port) for edge in edges)} on, not as it does itself",
        scene.source.attribute(first.offset, "to-port"),
        layer,
        (position,),
        tuple(dict.fromkeys(needs)),
        cost=0.6 if usual else 0.9,
        rule=DANGLING_EDGE,
    )


def replaced_output_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The output ports of a layer are those of another one: ids, types and sizes are wrong."""
    layer, inferred = scene.layers[position], scene.outputs(position)
    rules = (*_OF_IDS, *_OF_PORTS)
    if finding.rule not in rules or not layer.outputs or len(inferred) != len(layer.outputs):
        return
    edges = scene.edges_from.get(layer.id, [])
    named = list(dict.fromkeys(edge.from_port for edge in edges))
    free = [port for port in layer.outputs if port.id not in named]
    wanted = [number for number in named if number not in {port.id for port in layer.outputs}]
    numbers = (*wanted, *(port.id for port in free))
    if not free or len(free) != len(wanted) or not all(map(is_number, numbers)):
        return
    edits: list[Edit] = []
    wrong = False
    for port, tensor in zip(layer.outputs, inferred, strict=True):
        change = as_inferred(scene, port, tensor)
        wrong = wrong or bool(change)
        edits += change
    for port, number in zip(free, sorted(wanted, key=int), strict=True):
        edits += with_attribute(scene.source, port.offset, "id", number)
    if wrong:
        consumers = (at for edge in edges for at in scene.by_id.get(edge.to_layer, ()))
        yield Candidate(
            tuple(edits),
            f"the output ports get the ids that edges name, {', '.join(sorted(wanted, key=int))}, "
            "and declare what is inferred",
            "the output ports have neither the ids that edges name nor the shapes and types that "
            "the layer produces",
            layer.outputs[0].offset,
            layer,
            (position, *dict.fromkeys(consumers)),
            port=("output", layer.outputs[0].id),
            cost=1.3,
            rule=DANGLING_EDGE,
        )


# what is misplaced


def exchanged_value_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Two attributes of a layer have each other's value."""
    layer, source = scene.layers[position], scene.source
    code = finding.rule.code
    if finding.layer is not layer or not code.startswith(("IR3", "IR4", "IR20", "IR50")):
        return
    if finding.rule in BETWEEN_PORTS:
        return
    declaration = registry.declaration_of(layer)
    reads_as = partial(
        _is_read_as,
        declaration,  # type: ignore[arg-type]  # a class is hashable
        layer.is_constant,
    )
    items = list(zip(layer.items[::2], layer.items[1::2], strict=True))[:MAX_ITEMS]
    lies_there = layer.is_constant and lies_in_place(Const(scene, position))
    for (one, text), (other, value) in combinations(items, 2):
        if text == value:
            continue
        fits = reads_as(one, value) and reads_as(other, text)
        if not fits:
            continue
        odd = not (reads_as(one, text) and reads_as(other, value))
        odd = odd or (layer.is_constant and {one, other} == {"offset", "size"} and not lies_there)
        now = is_strange(scene, layer, one, text) + is_strange(scene, layer, other, value)
        then = is_strange(scene, layer, one, value) + is_strange(scene, layer, other, text)
        edits = (
            *with_attribute(source, layer.data_offset, one, value),
            *with_attribute(source, layer.data_offset, other, text),
        )
        yield Candidate(
            edits,
            f'{one}="{value}" and {other}="{text}"',
            f"{one} and {other} have each other's value",
            source.attribute(layer.data_offset, one),
            layer,
            (position,),
            cost=0.4 if odd else 1.4 - 0.5 * (then < now),
            rule=CONTRADICTED_ATTRIBUTE,
            bold=not odd,
            values=(Change("data", one, value), Change("data", other, text)),
        )


@lru_cache(maxsize=4096)
def _is_read_as(
    declaration: type[Operation] | None, is_constant: bool, name: str, text: str
) -> bool:
    """Whether a text may be the value of an attribute."""
    attribute = declaration.attributes.get(name) if declaration is not None else None
    if attribute is None:
        return is_constant and bool(_OF_CONST.get(name, _NEVER).fullmatch(text))
    try:
        attribute.kind.read(text)
    except Malformed:
        return False
    return True


def misplaced_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An attribute of `<data>` stands in `<layer>`."""
    layer, source = scene.layers[position], scene.source
    if UNKNOWN_LAYER_ATTRIBUTE not in scene.context.read_under.get(layer, ()):
        return
    declaration = registry.declaration_of(layer)
    if finding.layer is not layer or declaration is None or layer.data_offset < 0:
        return
    known = {attribute.name for attribute in declaration.attributes.values()}
    if layer.is_constant:
        known |= {"offset", "size", "shape", "element_type"}
    for name, offset, start, end in source.attributes(layer.offset):
        if name in ("id", "name", "type", "version") or name not in known:
            continue
        if layer.attribute(name) is not None:
            continue
        text = source.data[start:end].decode(source.encoding, "replace")
        added = with_attribute(source, layer.data_offset, name, text)
        removed = without_attribute(source, layer.offset, name)
        yield Candidate(
            (*removed, *added),
            f'{name}="{text}" is moved to <data>',
            f"the attribute {name} stands in <layer>; it belongs in <data>",
            offset,
            layer,
            (position,),
            cost=0.2,
            rule=UNKNOWN_LAYER_ATTRIBUTE,
        )
