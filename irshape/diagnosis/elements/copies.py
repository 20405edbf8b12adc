"""Causes in copies: a port or a layer that stands in the file twice, or a port too many."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import element_end
from ...model.graph import Finding
from ...model.ids import is_number
from ...rule_ids import (
    DUPLICATE_ID,
    DUPLICATE_PORT,
    INPUT_COUNT,
    MISSING_EDGE,
    OUTPUT_COUNT,
)
from ...rules.links import alike
from ..candidate import Candidate
from ..rule_groups import BETWEEN_PORTS
from ..trials.scene import Scene
from .writing import without_element

MAX_PORTS = 3
"""Among how many ports one is looked for that is too many."""

_BLANK = re.compile(rb">\s+<")
_ID = re.compile(rb"""\bid\s*=\s*["'][^"']*["']""")
_PORT = re.compile(rb"<port\b[^<>]*/>|<port\b[^<>]*>.*?</port\s*>", re.DOTALL)


def copy_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A port or a layer is there twice, and one of the two is too many."""
    if finding.rule == DUPLICATE_PORT:
        yield from _port(scene, finding, position)
    elif finding.rule in (DUPLICATE_ID, MISSING_EDGE):
        yield from _layer(scene, position)
    if finding.rule in (INPUT_COUNT, OUTPUT_COUNT, MISSING_EDGE) and finding.layer is not None:
        yield from _superfluous(scene, finding, position)
    if finding.rule.code.startswith(("IR20", "IR4")) and finding.layer is scene.layers[position]:
        yield from _superfluous_input(scene, finding, position)


def _superfluous_input(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An input too many, with the edge into it: it is fed what another one is."""
    layer, source = scene.layers[position], scene.source
    fed, edges = scene.sources[position], scene.edges_to.get(layer.id, ())
    for index in range(len(layer.inputs) - 1, max(0, len(layer.inputs) - 1 - MAX_PORTS), -1):
        port = layer.inputs[index]
        into = [edge for edge in edges if edge.to_port == port.id]
        twin = index < len(fed) and fed[index] is not None and fed[index] in fed[:index]
        odd = is_number(port.id) and port.id != str(index)
        if finding.rule in BETWEEN_PORTS and finding.port != ("input", port.id):
            continue  # it is about what another one declares
        if len(into) != 1 or not (twin or (odd and finding.rule == INPUT_COUNT)):
            continue
        start = port.offset
        yield Candidate(
            (
                *without_element(source, start),
                *without_element(source, into[0].offset),
            ),
            f"input port {port.id} and the edge into it are removed",
            f"the layer has an input too many: port {port.id}"
            + (" is fed what another one is" if twin else " has no number in line"),
            start,
            layer,
            (position,),
            tuple(scene.by_id.get(into[0].from_layer, ())),
            port=("input", port.id),
            cost=0.7 if twin and odd else 1.1,
            rule=INPUT_COUNT,
        )


def _superfluous(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A port too many: no edge names it."""
    layer = scene.layers[position]
    taken = {
        "input": {edge.to_port for edge in scene.edges_to.get(layer.id, ())},
        "output": {edge.from_port for edge in scene.edges_from.get(layer.id, ())},
    }
    for direction, ports in (("input", layer.inputs), ("output", layer.outputs)):
        if finding.rule == (INPUT_COUNT if direction == "output" else OUTPUT_COUNT):
            continue
        if finding.rule == MISSING_EDGE and finding.port is not None and direction == "output":
            continue
        usual = 0 if direction == "input" else len(layer.inputs)
        ends = layer.is_result if direction == "output" else layer.is_constant or layer.is_parameter
        least = -1 if ends and len(ports) == 1 else 0  # it has none of them
        for index in range(len(ports) - 1, max(least, len(ports) - 1 - MAX_PORTS), -1):
            port = ports[index]
            if port.id in taken[direction]:
                continue
            odd = is_number(port.id) and port.id != str(usual + index)
            same = any(alike(port, other) for other in ports[:index])
            start = port.offset
            section = scene.source.data.rfind(b"<" + direction.encode(), layer.offset, start)
            yield Candidate(
                without_element(scene.source, section if least < 0 else start),
                f"{direction} port {port.id} is removed",
                f"no edge names {direction} port {port.id}, and {layer.type} has no such "
                f"{direction}",
                start,
                layer,
                (position,),
                port=(direction, port.id),
                cost=(0.6 if odd else 0.9)
                + (0.0 if same else 0.2)
                + 0.3 * (len(ports) - 1 - index)
                + (0.4 if finding.rule == MISSING_EDGE else 0.0),
                rule=finding.rule,
            )


def _port(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    layer = scene.layers[position]
    data = scene.source.data
    for direction, ports in (("input", layer.inputs), ("output", layer.outputs)):
        texts: dict[str, bytes] = {}
        for port in ports:
            match = _PORT.match(data, port.offset)
            if match is None:
                continue
            text = _BLANK.sub(b"><", match[0])
            if port.id not in texts:
                texts[port.id] = text
                continue
            consumers = [at for _, at, _ in scene.consumers[position]]
            yield Candidate(
                without_element(scene.source, port.offset),
                f"the second {direction} port {port.id} is removed",
                f"{direction} port {port.id} is declared twice"
                + (", both times alike" if texts[port.id] == text else ""),
                port.offset,
                layer,
                (position, *dict.fromkeys(consumers)),
                port=(direction, port.id),
                cost=0.4 if texts[port.id] == text else 1.0,
            )


def _layer(scene: Scene, position: int) -> Iterator[Candidate]:
    """The layer is a copy of another: but for its id, and nothing leads to it or from it."""
    layer = scene.layers[position]
    own = _content(scene, position)
    for at, other in enumerate(scene.layers):
        if at == position or other.type != layer.type or other.name != layer.name:
            continue
        if _content(scene, at) != own:
            continue
        same_id = other.id == layer.id
        if not same_id and (scene.edges_from.get(layer.id) or scene.edges_to.get(layer.id)):
            continue
        yield Candidate(
            without_element(scene.source, layer.offset),
            "the copy is removed",
            f"the layer is a copy of {other.label}"
            + ("" if same_id else ", and no edge leads to it or from it"),
            layer.offset,
            layer,
            tuple(sorted({position, at, *(c for _, c, _ in scene.consumers[at])})),
            cost=0.3,
        )
        return


def _content(scene: Scene, position: int) -> bytes:
    """The text of a layer without its id and without white space between elements."""
    source, start = scene.source, scene.layers[position].offset
    data = source.data[start : element_end(source.data, start)]
    return _BLANK.sub(b"><", _ID.sub(b"", data, count=1))
