"""Writes a model as an IR: an .xml in OpenVINO's layout, and a .bin with the constants.

OpenVINO reads them as the same model. The `rt_info` of layers and of the net is copied from the
source without interpreting it.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

from ...inference.result import BodyResult, Inference
from ...model.graph import Body, Edge, Layer, Model
from ...model.ports import Port, PortElsewhere
from ...model.source import Passage, Source
from ...model.weights import Constant, Weights
from ...ops.tensors import Tensor
from ...releases import HEADER_BYTES
from ..atomic import write_together
from .quoting import quoted
from .reader import MAX_BODIES

_INDENT = "\t"


def write(model: Model, path: str | os.PathLike[str], inference: Inference | None = None) -> None:
    """Writes the .xml and, if the model has constants or a .bin, the .bin beside it.

    inference: an inference of the model, whose types and shapes the ports and Parameters shall
    declare. Raises `OSError`; `ValueError` for a file of single layers, a path that does not end in
    .xml, and constants that are malformed or whose bytes are missing.
    """
    if model.kind == "layers":
        raise ValueError("single layers cannot be written as a model")
    target = Path(path)
    if target.suffix != ".xml":
        raise ValueError(f"'{target}': the name of an IR ends in .xml")
    weights = model.weights
    layout = Layout(_needed(model))
    text = "\n".join(document(model, layout, inference)) + "\n"
    files: dict[Path, bytes | Iterator[bytes]] = {target: text.encode()}
    if layout.chunks or (weights is not None and weights.state == "ready"):
        files = {target.with_suffix(".bin"): _data(layout, weights), **files}
    write_together(files)


class Layout:
    """The offsets of constants in a new .bin, which has only the bytes that constants use.

    Constants that share bytes in the old .bin also share them in the new one. needed: the offset
    and size of every constant.
    """

    def __init__(self, needed: Iterable[tuple[int, int]]) -> None:
        self.chunks: dict[tuple[int, int], int] = {}
        """Maps the old offset and size of each byte range to its new offset, in the new order."""
        self._end = 0
        self._chunks: list[tuple[int, int]] = []
        """The offset and size of each needed byte range, in order, with overlapping ranges
        joined."""
        behind = -1
        for offset, size in sorted(needed):
            if offset < behind:
                start = self._chunks[-1][0]
                behind = max(behind, offset + size)
                self._chunks[-1] = start, behind - start
            elif size:
                behind = offset + size
                self._chunks.append((offset, size))

    def place(self, constant: Constant) -> int:
        """Returns the offset of a constant in the new .bin."""
        if not constant.size:
            return self._end
        at = bisect_right(self._chunks, constant.offset, key=itemgetter(0)) - 1
        chunk = self._chunks[at]
        if chunk not in self.chunks:
            self._end = -(-self._end // 64) * 64
            self.chunks[chunk] = self._end
            self._end += chunk[1]
        return self.chunks[chunk] + constant.offset - chunk[0]


def _needed(model: Model) -> Iterator[tuple[int, int]]:
    """Yields the offset and size of every constant. Raises `ValueError` if bytes are missing."""
    for layer in model.walk():
        if layer.is_constant:
            constant = _constant(model, layer)
            place = constant.offset, constant.size
            if constant.size and (model.weights is None or not model.weights.holds(*place)):
                raise ValueError(
                    f"the constant at byte {constant.offset} has no bytes to write: the "
                    ".bin is missing or too short"
                )
            yield place


def _data(layout: Layout, weights: Weights | None) -> Iterator[bytes]:
    """Yields the pieces of the new .bin."""
    end = 0
    for (offset, size), start in layout.chunks.items():
        assert weights is not None
        assert weights.data is not None
        yield bytes(start - end)
        for at in range(offset, offset + size, 1 << 24):
            yield weights.data[at : min(at + (1 << 24), offset + size)]
        end = start + size


def document(model: Model, layout: Layout | None, inference: Inference | None) -> Iterator[str]:
    """Yields the lines of the .xml.

    layout: the new offsets of constants; None keeps the old ones. inference: an inference of the
    model, whose types and shapes the ports shall declare; None keeps the declared ones.
    """
    yield '<?xml version="1.0"?>'
    attributes = [f"name={quoted(model.name)}", f'version="{model.version}"']
    if len(attributes[0].encode()) > HEADER_BYTES // 2:
        attributes.reverse()  # a long name would move the version to where OpenVINO misses it
    yield f"<net {' '.join(attributes)}>"
    yield from _body(model, model.net, layout, inference.result if inference else None, 1)
    if model.rt_info_span:
        yield _INDENT + _raw(model, model.rt_info_span)
    yield "</net>"


def _raw(model: Model, span: tuple[int, int]) -> str:
    source = span.source if isinstance(span, Passage) else model.source
    return source.data[span[0] : span[1]].decode(source.encoding, "replace")


def _body(
    model: Model, body: Body, layout: Layout | None, result: BodyResult | None, depth: int
) -> Iterator[str]:
    if depth > 3 * MAX_BODIES + 1:
        raise ValueError("bodies are nested too deeply")
    tab = _INDENT * depth
    yield f"{tab}<layers>"
    for position, layer in enumerate(body.layers):
        yield from layer_lines(model, layer, layout, result, position, depth + 1)
    yield f"{tab}</layers>"
    yield f"{tab}<edges>"
    for edge in body.edges:
        yield f"{tab}{_INDENT}{edge_line(edge)}"
    yield f"{tab}</edges>"


def edge_line(edge: Edge) -> str:
    """Returns the line with the `<edge>`."""
    names = ("from-layer", "from-port", "to-layer", "to-port")
    return f"<edge {_attributes(zip(names, edge.ends, strict=True))} />"


def _attributes(pairs: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{name}={quoted(value)}" for name, value in pairs)


def layer_lines(
    model: Model,
    layer: Layer,
    layout: Layout | None,
    result: BodyResult | None,
    position: int,
    depth: int,
) -> Iterator[str]:
    tab, inner = _INDENT * depth, _INDENT * (depth + 1)
    head = [(name, getattr(layer, name)) for name in ("id", "name", "type", "version")]
    if layer.output_names is not None:
        head.append(("output_names", layer.output_names))
    yield f"{tab}<layer {_attributes(head)}>"
    values = dict(layer.attributes)
    tensors = result.outputs[position] if result is not None else ()
    if layer.is_constant and layout is not None:
        values["offset"] = str(layout.place(_constant(model, layer)))
    if layer.is_parameter and tensors:
        values["shape"] = tensors[0].shape.text
    if values:
        yield f"{inner}<data {_attributes(values.items())} />"
    if layer.rt_info_span:
        yield inner + _raw(model, layer.rt_info_span)
    yield from _wiring_of_bodies(layer, inner)
    fed = _fed(result, position) if result is not None else {}
    yield from _ports(model, "input", layer.inputs, fed, depth + 1)
    yield from _ports(model, "output", layer.outputs, dict(enumerate(tensors)), depth + 1)
    for tag, body in (layer.bodies or {}).items():
        yield f"{inner}<{tag}>"
        yield from _body(
            model,
            body,
            layout,
            result.inner.get(position, {}).get(tag) if result is not None else None,
            depth + 2,
        )
        yield f"{inner}</{tag}>"
    yield f"{tab}</layer>"


def _wiring_of_bodies(layer: Layer, inner: str) -> Iterator[str]:
    """Yields the lines of port maps and back edges, which OpenVINO writes before the bodies."""
    for tag, entries in (layer.port_maps or {}).items():
        yield f"{inner}<{tag}>"
        yield from (
            f"{inner}{_INDENT}<{entry.direction} {_attributes(entry.attributes.items())} />"
            for entry in entries
        )
        yield f"{inner}</{tag}>"
    back_edges = [edge for body in (layer.bodies or {}).values() for edge in body.back_edges]
    if back_edges:
        yield f"{inner}<back_edges>"
        for edge in back_edges:
            ends = (("from-layer", edge.from_layer), ("to-layer", edge.to_layer))
            yield f"{inner}{_INDENT}<edge {_attributes(ends)} />"
        yield f"{inner}</back_edges>"


def _constant(model: Model, layer: Layer) -> Constant:
    try:
        return Constant.of(layer.items, model.weights)
    except ValueError:
        raise ValueError(
            f"the attributes of the constant '{layer.name}' (id {layer.id}) are missing or "
            "malformed"
        ) from None


def _fed(result: BodyResult, position: int) -> dict[int, Tensor]:
    """Returns the tensor that feeds each input port of a layer, by the index of the port."""
    tensors = {}
    for index, source in enumerate(result.wiring.sources[position]):
        if source is not None and source[1] < len(result.outputs[source[0]]):
            tensors[index] = result.outputs[source[0]][source[1]]
    return tensors


def _ports(
    model: Model, direction: str, ports: list[Port], inferred: dict[int, Tensor], depth: int
) -> Iterator[str]:
    if not ports:
        return
    tab = _INDENT * depth
    yield f"{tab}<{direction}>"
    for index, port in enumerate(ports):
        tensor = inferred.get(index)
        precision = port.precision if tensor is None else tensor.element_type.precision
        head = [("id", port.id)]
        if precision is not None:
            head.append(("precision", precision))
        if port.names is not None:
            head.append(("names", port.names))
        dims = tensor.shape.declared if tensor is not None else port.dims or ()
        info = _rt_info(model, port)
        if dims or info:
            yield f"{tab}{_INDENT}<port {_attributes(head)}>"
            yield from (f"{tab}{_INDENT * 2}<dim>{size}</dim>" for size in dims)
            if info:
                yield f"{tab}{_INDENT * 2}{info}"
            yield f"{tab}{_INDENT}</port>"
        else:
            yield f"{tab}{_INDENT}<port {_attributes(head)} />"
    yield f"{tab}</{direction}>"


_PORT = re.compile(rb"""<port(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>""")


def _rt_info(model: Model, port: Port) -> str:
    """Returns the `rt_info` in a port, such as the layout of a Parameter."""
    span = port_rt_info(model.source, port)
    return "" if span is None else _raw(model, span)


def port_rt_info(source: Source, port: Port) -> tuple[int, int] | None:
    """Returns the start and end of a port's `<rt_info>` in the source; None if it has none."""
    if isinstance(port, PortElsewhere):
        return port.rt_info
    data = source.data
    tag = _PORT.match(data, port.offset) if port.offset >= 0 else None
    if tag is None or tag[0].endswith(b"/>"):
        return None
    end = data.find(b"</port", tag.end())
    start = data.find(b"<rt_info", tag.end(), end)
    if start < 0:
        return None
    stop = data.find(b"</rt_info>", start, end)
    return None if stop < 0 else (start, stop + len(b"</rt_info>"))
