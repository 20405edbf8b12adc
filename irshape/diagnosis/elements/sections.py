"""What stands in the wrong part of a layer: an attribute of a port, or all ports of one side."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import Edit
from ...model.graph import Finding, Layer
from ...model.ports import Port
from ...rule_ids import OUTPUT_COUNT, REPEATED_ELEMENT, UNKNOWN_ATTRIBUTE, UNKNOWN_LAYER_ATTRIBUTE
from ..candidate import Candidate
from ..trials.parts import named_by_edges
from ..trials.scene import Scene
from .writing import with_attribute, without_attribute

_SECTION = re.compile(rb"</?(input|output)\s*>")
_PORT_ID = re.compile(rb'<port\s+id="([^"]*)"')
_OF_LAYERS = ("id", "name", "type", "version")
_OF_PORTS = ("precision", "names")


def section_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An attribute of a port stands in the layer, or inputs and outputs in each other's place."""
    layer = scene.layers[position]
    if finding.layer is layer:
        yield from _attribute_of_a_port(scene, layer, position)
        yield from _attribute_of_the_layer(scene, layer, position)
    if not layer.bodies:
        yield from _wrong_sections(scene, layer, position)


def _attribute_of_a_port(scene: Scene, layer: Layer, position: int) -> Iterator[Candidate]:
    source = scene.source
    if UNKNOWN_LAYER_ATTRIBUTE not in scene.context.read_under.get(layer, ()) and not any(
        name in _OF_PORTS for name in layer.items[::2]
    ):
        return
    for element, offset in (("layer", layer.offset), ("data", layer.data_offset)):
        for name, at, start, end in source.attributes(offset) if offset >= 0 else ():
            if name not in _OF_PORTS:
                continue
            text = source.data[start:end].decode(source.encoding, "replace")
            for index, (direction, port) in enumerate(_lacking(layer, name)):
                yield Candidate(
                    (
                        *without_attribute(source, offset, name),
                        *with_attribute(source, port.offset, name, text, ("id", "precision")),
                    ),
                    f'{name}="{text}" is moved to {direction} port {port.id}',
                    f"the attribute {name} stands in <{element}>; it belongs in <port>",
                    at,
                    layer,
                    (position,),
                    cost=0.2 + 0.1 * index,
                    rule=UNKNOWN_LAYER_ATTRIBUTE if element == "layer" else UNKNOWN_ATTRIBUTE,
                )


def _attribute_of_the_layer(scene: Scene, layer: Layer, position: int) -> Iterator[Candidate]:
    source = scene.source
    if layer.data_offset < 0 or not any(name in _OF_LAYERS for name in layer.items[::2]):
        return
    own = {name for name, *_ in source.attributes(layer.offset)}
    for name, at, start, end in source.attributes(layer.data_offset):
        if name not in _OF_LAYERS or name in own:
            continue
        text = source.data[start:end].decode(source.encoding, "replace")
        before = _OF_LAYERS[: _OF_LAYERS.index(name)]
        yield Candidate(
            (
                *without_attribute(source, layer.data_offset, name),
                *with_attribute(source, layer.offset, name, text, before),
            ),
            f'{name}="{text}" is moved to <layer>',
            f"the attribute {name} stands in <data>; it belongs in <layer>",
            at,
            layer,
            (position,),
            cost=0.2,
            rule=UNKNOWN_ATTRIBUTE,
        )


def _lacking(layer: Layer, name: str) -> Iterator[tuple[str, Port]]:
    """The ports that lack an attribute, outputs first: inputs may go without."""
    for port in layer.outputs:
        if getattr(port, name) is None:
            yield "output", port
    if name == "precision":
        for port in layer.inputs:
            if port.precision is None:
                yield "input", port


def _wrong_sections(scene: Scene, layer: Layer, position: int) -> Iterator[Candidate]:
    """The ports that edges name are in sections of the other names."""
    source = scene.source
    if scene.soundly_linked:
        return
    start, end = scene.span(position)
    tags = list(_SECTION.finditer(source.data, start, end))
    if len(tags) not in (2, 4):
        return
    pairs = list(zip(tags[::2], tags[1::2], strict=True))
    held = [set(_PORT_ID.findall(source.data, tag.end(), end.start())) for tag, end in pairs]
    from_here = scene.edges_from.get(layer.id, ())
    led = {edge.to_port.encode() for edge in scene.edges_to.get(layer.id, ())}
    coming = {edge.from_port.encode() for edge in from_here}
    written = tuple(opening[1] for opening, _ in pairs)
    meant = [
        names
        for names in ((b"input", b"output"), (b"output", b"input"), (b"input",), (b"output",))
        if len(names) == len(pairs)
        and led <= dict(zip(names, held, strict=True)).get(b"input", set())
        and coming <= dict(zip(names, held, strict=True)).get(b"output", set())
    ]
    if not meant or written in meant:
        return
    exchanged = set(written) == set(meant[0]) and len(pairs) > 1
    # writers put <input> first: where it is, the ids of the ports are likelier to be exchanged
    cost = 1.3 if exchanged and written[0] == b"input" else 0.2
    wrong = [at for at, name in enumerate(meant[0]) if name != written[at]]
    here, there = written[wrong[0]].decode(), meant[0][wrong[0]].decode()
    consumers = [at for edge in from_here for at in scene.by_id.get(edge.to_layer, ())]
    producers = list(named_by_edges(scene, position))
    yield Candidate(
        tuple(Edit(*tag.span(1), meant[0][at]) for at in wrong for tag in pairs[at]),
        "<input> and <output> are exchanged" if exchanged else f"<{here}> becomes <{there}>",
        "<input> and <output> stand in each other's place: edges lead to the output ports, and "
        "come from the input ports"
        if exchanged
        else f"<{here}> holds the {there} ports that edges name",
        pairs[wrong[0]][0].start(),
        layer,
        (position, *dict.fromkeys(consumers)),
        tuple(dict.fromkeys(producers)),
        cost=cost,
        rule=OUTPUT_COUNT if exchanged else REPEATED_ELEMENT,
    )
