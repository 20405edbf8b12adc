"""Writes a changed graph by editing the text of the IR from which it was loaded.

Unchanged parts keep their bytes: layers, comments, order, white space. In a layer of which only the
name, types or shapes changed, irshape edits only these. It writes other changed layers anew.
"""

from __future__ import annotations

import re

from ..formats.ir.edits import Edit, element_end, set_attribute, set_dims
from ..formats.ir.quoting import escaped, expressible
from ..formats.ir.writer import edge_line, layer_lines
from ..inference.result import BodyResult
from ..model.graph import Body, Layer, Model
from ..model.ports import PortElsewhere
from ..model.source import Passage, Source, passage_bytes
from .nodes import GraphLayer

_ENDS = {
    tag: re.compile(rb"(?:\s|<!--.*?-->)*+(</%s)" % tag.encode(), re.DOTALL)
    for tag in ("layers", "edges")
}
"""Matches the white space and comments behind the last layer or edge, and the start of the next end
tag."""


class NotSpliceable(Exception):
    """Raised if the text of the IR cannot be edited and has to be rewritten completely."""


class Splicer:
    """Compares the text of an IR with the graph, body by body. model: the graph as it is now."""

    def __init__(self, source: Source, model: Model) -> None:
        self.source = source
        self.model = model
        self.edits: list[Edit] = []

    def rendered(self, body: BodyResult, position: int, depth: int) -> list[str]:
        """Returns the new text of a layer, indented for its depth in the XML."""
        return list(
            layer_lines(self.model, body.body.layers[position], None, body, position, depth)
        )

    def body(
        self, before: Body, nodes: tuple[GraphLayer, ...], result: BodyResult, depth: int
    ) -> None:
        """Edits the net or one body.

        before: the body as it was loaded.
        result: the body as it is now, with its layers in the order of `nodes`.
        """
        kept = {node.origin for node in nodes}
        for layer in before.layers:
            if layer not in kept:
                self._cut(layer.offset)
        added: list[str] = []
        for position, node in enumerate(nodes):
            if node.origin is None:
                added += self.rendered(result, position, depth + 1)
            else:
                self._layer(node, result, position, depth)
        self._append("layers", [layer.offset for layer in before.layers], added)
        wanted = {edge.ends: edge for edge in result.body.edges}
        for edge in before.edges:
            if wanted.pop(edge.ends, None) is None:
                self._cut(edge.offset)
        tab = "\t" * (depth + 1)
        lines = [f"{tab}{edge_line(edge)}" for edge in wanted.values()]
        self._append("edges", [edge.offset for edge in before.edges], lines)

    def _layer(self, node: GraphLayer, result: BodyResult, position: int, depth: int) -> None:
        origin, now = node.origin, result.body.layers[position]
        assert origin is not None
        if now is origin:
            return
        if (
            len(origin.inputs) != len(now.inputs)
            or _frame(origin) != _frame(now)
            or isinstance(now.rt_info_span, Passage)
            or any(isinstance(port, PortElsewhere) for port in now.outputs)
        ):
            text = "\n".join(self.rendered(result, position, depth + 1)).lstrip()
            self.edits.append(Edit(origin.offset, self._end(origin.offset), text.encode()))
            return
        source = self.source
        if now.name != origin.name:
            self.attribute(origin.offset, "name", now.name)
        for port, new in zip(
            (*origin.inputs, *origin.outputs), (*now.inputs, *now.outputs), strict=True
        ):
            if new.dims is not None and port.dims != new.dims:
                self.edits += set_dims(source, port.offset, new.dims)
            same = port.precision in (None, new.precision) or (
                port.element_type is not None and port.element_type is new.element_type
            )
            if new.precision and not same:
                self.attribute(port.offset, "precision", new.precision)
        for tag, inner in result.inner.get(position, {}).items():
            self.body((origin.bodies or {})[tag], node.bodies[tag].layers, inner, depth + 2)

    def _end(self, element: int) -> int:
        """Returns the end of the element `<layer>` or `<edge>` that begins at an offset."""
        end = element_end(self.source.data, element)
        if end < 0:
            raise NotSpliceable
        return end

    def net_info(self, before: tuple[int, int] | None, now: tuple[int, int] | None) -> None:
        """Replaces the rt_info of the net, or adds one at the end of the net."""
        if now == before and not isinstance(now, Passage):
            return
        data = self.source.data
        text = b"" if now is None else passage_bytes(self.source, now)
        if before is not None:
            self.edits.append(Edit(*before, text))
            return
        self._before(data.rindex(b"</net"), ["\t" + text.decode()])

    def attribute(self, element: int, name: str, text: str) -> None:
        """Sets an attribute of the element at an offset, or adds it."""
        text = escaped(expressible(text)).replace('"', "&quot;").replace("'", "&apos;")
        edit = set_attribute(self.source, element, name, text, after="id")
        if edit is None:
            raise NotSpliceable
        self.edits.append(edit)

    def _cut(self, start: int) -> None:
        """Removes the `<layer>` or `<edge>` at an offset, and its line if nothing else is on the
        line."""
        data, end = self.source.data, self._end(start)
        line = data.rfind(b"\n", 0, start) + 1
        after = data.find(b"\n", end)
        if after >= 0 and not data[line:start].strip() and not data[end:after].strip():
            start, end = line, after + 1
        self.edits.append(Edit(start, end, b""))

    def _append(self, tag: str, there: list[int], lines: list[str]) -> None:
        """Inserts lines behind the layers or edges that begin at these offsets."""
        if lines:
            end = _ENDS[tag].match(self.source.data, self._end(there[-1])) if there else None
            if end is None:
                raise NotSpliceable
            self._before(end.start(1), lines)

    def _before(self, end_tag: int, lines: list[str]) -> None:
        """Inserts lines before an end tag, which keeps its own indentation."""
        data = self.source.data
        line = data.rfind(b"\n", 0, end_tag) + 1
        place = line if not data[line:end_tag].strip() else end_tag
        text = "\n".join(lines) + "\n"
        if place == end_tag:
            text = "\n" + text
        self.edits.append(Edit(place, place, text.encode()))


def _frame(layer: Layer) -> tuple[object, ...]:
    """Returns all contents of a layer except its name and the types and shapes of its ports, as a
    key. If the key is unchanged, the layer's text can be edited in place."""
    edges = [
        (tag, [(edge.from_layer, edge.to_layer) for edge in body.back_edges])
        for tag, body in (layer.bodies or {}).items()
    ]
    maps = [
        (tag, [(entry.direction, entry.attributes) for entry in entries])
        for tag, entries in (layer.port_maps or {}).items()
    ]
    names = [port.tensor_names for port in layer.outputs]
    return layer.version, layer.items, layer.output_names, names, edges, maps
