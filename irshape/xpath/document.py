"""Turns a model into an XML document for XPath, and matches into layers and positions.

The document of an IR is the file itself. Single layers and models of other formats are written as
elements of an IR: `<layer>` with `<data>`, `<input>` and `<output>`, and `<edge>`s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from xml.parsers import expat

from ..formats.ir.quoting import quoted
from ..inference.result import Inference
from ..model.graph import Body, Layer, Model
from .evaluator import SelectedNode

Place = tuple[int, Layer | None]
"""Where a match is: a byte offset in the file, and the layer that contains it."""


class Document:
    """The text of a model as XML."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._written: dict[int, Layer] | None = None
        """The layers by the number of their `<layer>`; None if the document is the file itself."""
        if model.format.is_ir and model.kind == "net":
            self.data = model.source.data
            self.encoding = "utf-8" if model.source.encoding == "utf-8-sig" else None
            return
        self._written = {}
        self.encoding = "utf-8"
        self.data = "".join(self._net(model)).encode("utf-8", "replace")

    def places(self, matches: Collection[SelectedNode]) -> list[Place]:
        """Returns the position of each match, in the order of the matches."""
        if self._written is not None:
            return [self._place_of_written(match) for match in matches]
        numbers = {match.element for match in matches} | {
            match.layer for match in matches if match.layer is not None
        }
        offsets = element_offsets(self.data, numbers, self.encoding)
        layers = {layer.offset: layer for layer in self.model.walk()}
        source = self.model.source
        return [
            (
                source.attribute(offsets[match.element], match.attribute)
                if match.attribute
                else offsets[match.element],
                None if match.layer is None else layers.get(offsets[match.layer]),
            )
            for match in matches
        ]

    def _place_of_written(self, match: SelectedNode) -> Place:
        assert self._written is not None
        layer = None if match.layer is None else self._written.get(match.layer)
        if layer is None:
            return 0, None
        element = layer.offset
        if match.attribute and match.element != match.layer and layer.data_offset >= 0:
            element = layer.data_offset
        source = self.model.source
        offset = source.attribute(element, match.attribute) if match.attribute else element
        return offset, layer

    def _net(self, model: Model) -> Iterator[str]:
        self._number = 0
        yield f"<net name={quoted(model.name)} version={quoted(str(model.version))}>"
        yield from self._body(model.net)
        yield "</net>"

    def _element(self, tag: str, *attributes: tuple[str, str | None], end: str = "/>") -> str:
        self._number += 1
        given = "".join(
            f" {name}={quoted(value)}" for name, value in attributes if value is not None
        )
        return f"<{tag}{given}{end}"

    def _body(self, body: Body) -> Iterator[str]:
        yield self._element("layers", end=">")
        for layer in body.layers:
            yield from self._layer(layer)
        yield "</layers>"
        yield self._element("edges", end=">")
        for edge in body.edges:
            yield self._element(
                "edge",
                ("from-layer", edge.from_layer),
                ("from-port", edge.from_port),
                ("to-layer", edge.to_layer),
                ("to-port", edge.to_port),
            )
        yield "</edges>"

    def _layer(self, layer: Layer) -> Iterator[str]:
        assert self._written is not None
        self._written[self._number + 1] = layer
        names = ("id", "name", "type", "version")
        yield self._element("layer", *((name, getattr(layer, name)) for name in names), end=">")
        if layer.items:
            yield self._element("data", *layer.attributes.items())
        for tag, ports in (("input", layer.inputs), ("output", layer.outputs)):
            if not ports:
                continue
            yield self._element(tag, end=">")
            for port in ports:
                attributes = (("id", port.id), ("precision", port.precision), ("names", port.names))
                yield self._element("port", *attributes, end=">")
                for size in port.dims or ():
                    yield f"{self._element('dim', end='>')}{size}</dim>"
                yield "</port>"
            yield f"</{tag}>"
        for tag, body in (layer.bodies or {}).items():
            yield self._element(tag, end=">")
            yield from self._body(body)
            yield f"</{tag}>"
        yield "</layer>"


def element_offsets(
    data: bytes, numbers: Collection[int], encoding: str | None = None
) -> dict[int, int]:
    """Returns the byte offset of each element in `numbers`. The first element is number 0."""
    wanted = set(numbers)
    offsets: dict[int, int] = {}
    number = -1
    parser = expat.ParserCreate(encoding)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal number
        number += 1
        if number in wanted:
            offsets[number] = parser.CurrentByteIndex

    parser.StartElementHandler = start
    parser.Parse(data, True)
    return offsets


def ports(inference: Inference) -> dict[str, list[list[str]]]:
    """Returns the inferred outputs of every layer (port id, element type, shape), by the path and
    id of the layer."""
    known: dict[str, list[list[str]]] = {}
    for result in inference.result.walk():
        for layer, tensors in zip(result.body.layers, result.outputs, strict=True):
            outputs = layer.inputs[:1] if layer.is_result else layer.outputs
            known["/".join((*layer.path, layer.id))] = [
                [port.id, str(tensor.element_type), str(tensor.shape)]
                for port, tensor in zip(outputs, tensors, strict=False)
            ]
    return known
