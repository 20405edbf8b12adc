"""Port maps, which connect the ports of an If, Loop or TensorIterator with its bodies."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from typing import Literal, NamedTuple

from ..model.graph import PORT_MAPS, Layer, PortMap
from ..model.ports import Port
from .nodes import GraphLayer, Input, Output
from .structure import Structure

FIXED_INPUTS = {"if": 1, "loop": 2, "tensoriterator": 0}
"""The number of leading inputs that feed no body, such as the condition of an If."""


class Line(NamedTuple):
    """An entry of a port map, e.g. `<input external_port_id="0" internal_layer_id="3"/>`.

    at: the position of the layer's input or output, from 0; None if `external_port_id` is -1.
    attributes: the other attributes of the entry, `internal_layer_id` first.
    """

    direction: Literal["input", "output"]
    at: int | None
    attributes: Mapping[str, str]

    @property
    def inner(self) -> str:
        """The id of the Parameter or Result of the body."""
        return self.attributes.get("internal_layer_id", "")


Lines = dict[str, list[Line]]
"""The port maps of a layer, by the tag of the body."""


def lines_of(raw: Layer) -> Lines:
    """Returns the port map entries of a layer without errors, by the tag of the body."""
    maps = raw.port_maps or {}
    return {tag: _lines(raw, maps.get(element, [])) for tag, element in PORT_MAPS.items()}


def _lines(raw: Layer, entries: list[PortMap]) -> list[Line]:
    ids = [port.id for port in raw.inputs]
    numbers = [int(entry.attributes["external_port_id"]) for entry in entries]
    outputs = sorted(
        {
            number
            for number, entry in zip(numbers, entries, strict=True)
            if entry.direction == "output" and number >= 0
        }
    )
    lines = []
    for number, entry in zip(numbers, entries, strict=True):
        at: int | None = None
        if number >= 0 and entry.direction == "output":
            at = outputs.index(number)
        elif number >= 0:
            at = ids.index(str(number)) if str(number) in ids else number
        rest = {key: text for key, text in entry.attributes.items() if key != "external_port_id"}
        lines.append(Line(entry.direction, at, rest))
    return lines


def mapped(raw: Layer, inputs: int, outputs: int, lines: Lines) -> Layer:
    """Returns a copy of a layer with other port maps. inputs, outputs: the numbers of inputs and
    outputs of the copy. Its ports are numbered in order."""
    raw = copy(raw)
    raw.inputs = numbered(raw.inputs, inputs, 0)
    raw.outputs = numbered(raw.outputs, outputs, inputs)
    raw.port_maps = {
        PORT_MAPS[tag]: [_entry(line, inputs) for line in entries]
        for tag, entries in lines.items()
        if tag in (raw.bodies or {}) or entries
    }
    return raw


def numbered(ports: list[Port], count: int, first: int) -> list[Port]:
    """Returns copies of ports, numbered from `first`. If there are fewer than `count`, adds ports
    without type or shape; if more, drops the last ports."""
    kept = [copy(port) for port in ports[:count]]
    for at, port in enumerate(kept):
        port.id = str(first + at)
    return kept + new_ports(first + len(kept), count - len(kept))


@lru_cache(maxsize=1024)
def new_ports(first: int, count: int) -> list[Port]:
    """Returns ports without type or shape, numbered from `first`. Layers share these objects."""
    return [Port(str(at), None, None, -1) for at in range(first, first + count)]


def _entry(line: Line, inputs: int) -> PortMap:
    shift = inputs if line.direction == "output" else 0
    number = -1 if line.at is None else line.at + shift
    return PortMap(line.direction, {"external_port_id": str(number), **line.attributes}, -1)


def line_of(at: int | None, inner: GraphLayer, **attributes: object) -> Line:
    """Returns a port map entry: from an input to a Parameter, or from a Result to an output."""
    given = {name: str(value) for name, value in attributes.items()}
    direction: Literal["input", "output"] = "input" if inner.raw.is_parameter else "output"
    return Line(direction, at, {"internal_layer_id": inner.id, **given})


def captured(body: Structure, source: Output) -> Output:
    """Returns the Parameter's output that stands for a tensor from outside a body, in every
    iteration. Adds the Parameter if the body has none for this tensor."""
    owner = body.owner
    assert owner is not None
    home = owner.graph
    if source.layer.graph is not home:
        source = captured(home, source)
    lines = lines_of(owner.raw)
    carried = {edge.to_layer for edge in body.back_edges}
    for line in lines[body.tag]:
        if line.direction == "output" or line.at is None:
            continue
        if "axis" in line.attributes or line.inner in carried:
            continue
        if owner._inputs[line.at].source is source:
            return body.content.by_id[line.inner]._outputs[0]
    with body.changes, home.batch():
        output: Output = body.parameter(source.element_type, source.shape)  # type: ignore[attr-defined]
        end = Input(owner, len(owner._inputs), source)
        if owner in home.content.layers:
            home._rank_before(source.layer, owner)
            home.changes.put(source._users, end, home.changes.number())
        home.changes.set(owner, "_inputs", (*owner._inputs, end))
        lines[body.tag].append(line_of(end.index, output.layer))
        raw = mapped(owner.raw, len(owner._inputs), len(owner.raw.outputs), lines)
        home.changes.set(owner, "raw", raw)
        home._settle([owner])
    return output
