"""The edits of the text that single changes of an element come to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ...formats.ir.edits import Edit, element_end
from ...model.edges import Edge
from ...model.graph import Layer
from ...model.ids import is_number
from ...model.source import Source
from ..trials.scene import Scene

_SPACE = b" \t\r\n"
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
)  # as `html.escape`; to import that takes as long as to find a cause
_OPENING = re.compile(rb"<layer\b[^<>]*[^/<>]>")
_GAP = re.compile(rb"\s*")
_TAG = re.compile(rb"<[^\s<>/]+")


def encoded(source: Source, text: str) -> bytes:
    """A text as the value of an attribute."""
    encoding = source.encoding.replace("utf-8-sig", "utf-8")
    return text.translate(_ESCAPED).encode(encoding, "xmlcharrefreplace")


def comma_of(scene: Scene, layer: Layer, written: str) -> str:
    """What stands between the items of a list: as in its text, or in layers of the same type."""
    others = scene.siblings.get((layer.type, layer.version), ())
    texts = [written, *(text for other in others for text in other.items[1::2] if "," in text)]
    if any(", " in text for text in texts):
        return ", "
    return "," if len(texts) > 1 or "," in written or layer.is_parameter else ", "


def with_attribute(
    source: Source, element: int, name: str, text: str, after: tuple[str, ...] = ()
) -> tuple[Edit, ...]:
    """An attribute of the element at `element` gets a value.

    It is added behind the last of `after` that the element has, or as the first.
    """
    return attribute_writer(source, element, name, after)(text)


def attribute_writer(
    source: Source, element: int, name: str, after: tuple[str, ...] = ()
) -> Callable[[str], tuple[Edit, ...]]:
    """What gives an attribute one value or another; see `with_attribute`."""
    place, quote = -1, b'"'
    for attribute, _, start, end in source.attributes(element):
        if attribute == name:
            return _Writer(source, (start, end), b"", b"").edits
        if attribute in after:
            place, quote = end + 1, source.data[end : end + 1]
    if place < 0:
        match = _TAG.match(source.data, element)
        place = -1 if match is None else match.end()
    if place < 0 or quote not in (b'"', b"'"):
        return lambda text: ()
    return _Writer(source, (place, place), b" " + name.encode() + b"=" + quote, quote).edits


class _Writer(NamedTuple):
    """Writes a value between two texts in place of a span."""

    source: Source
    span: tuple[int, int]
    before: bytes
    behind: bytes

    def edits(self, text: str) -> tuple[Edit, ...]:
        return (Edit(*self.span, self.before + encoded(self.source, text) + self.behind),)


def with_data(
    source: Source, layer: int, items: Iterable[tuple[str, str]]
) -> tuple[tuple[Edit, ...], str]:
    """The layer at `layer` gets a `<data>` with some attributes; and what that looks like."""
    opening = _OPENING.match(source.data, layer)
    inner = b" ".join(name.encode() + b'="' + encoded(source, text) + b'"' for name, text in items)
    element = b"<data " + inner + b"/>"
    if opening is None:
        return (), element.decode()
    gap = _GAP.match(source.data, opening.end())
    text = (gap[0] if gap is not None else b"") + element
    return (Edit(opening.end(), opening.end(), text),), element.decode()


def with_exchanged(
    source: Source, name: str, one: tuple[int, str], other: tuple[int, str]
) -> tuple[Edit, ...]:
    """Two elements, each with its value of an attribute, get each other's value."""
    (first, text), (second, other_text) = one, other
    return (
        *with_attribute(source, first, name, other_text),
        *with_attribute(source, second, name, text),
    )


def without_attribute(source: Source, element: int, name: str) -> tuple[Edit, ...]:
    """An attribute goes, with the white space before it."""
    for attribute, start, _, end in source.attributes(element):
        if attribute == name:
            return (Edit(_space_before(source.data, start), end + 1, b""),)
    return ()


def without_element(source: Source, start: int) -> tuple[Edit, ...]:
    """An element goes, with the white space before it."""
    data = source.data
    return (Edit(_space_before(data, start), element_end(data, start), b""),)


def _space_before(data: bytes, start: int) -> int:
    """Where the white space before an offset begins."""
    while start and data[start - 1] in _SPACE:
        start -= 1
    return start


def with_edge(scene: Scene, edge: Edge, ends: Mapping[str, str]) -> tuple[Edit, ...]:
    """The ends of an edge that are given, by attribute, get other ids."""
    edits: list[Edit] = []
    order = ("from-layer", "from-port", "to-layer", "to-port")
    for name, text in ends.items():
        before = order[: order.index(name)]
        edits += with_attribute(scene.source, edge.offset, name, text, before)
    return tuple(edits)


def new_edge(
    scene: Scene, from_layer: str, from_port: str, to_layer: str, to_port: str
) -> tuple[Edit, ...]:
    """An edge more, where writers put it: behind the edges from earlier layers."""
    edges, data = scene.body.edges, scene.source.data
    ends = (from_layer, to_layer, to_port)
    if not edges or not all(is_number(text) for text in ends):
        return ()
    numbers = scene.edge_numbers
    if numbers is None:
        return ()
    if scene.edges_by_target:
        place = (int(to_layer), int(to_port))
        before = [edge for edge, row in zip(edges, numbers, strict=True) if row[1:] < place]
    else:
        first = int(from_layer)
        before = [edge for edge, row in zip(edges, numbers, strict=True) if row[0] <= first]
    near = before[-1] if before else edges[0]
    start, end = scene.edge_span(near)
    text = data[start:end]
    for name, value in (
        (b"from-layer", from_layer),
        (b"from-port", from_port),
        (b"to-layer", to_layer),
        (b"to-port", to_port),
    ):
        text = re.sub(name + rb'="[^"]*"', name + b'="' + encoded(scene.source, value) + b'"', text)
    lead = start
    while lead and data[lead - 1] in _SPACE:
        lead -= 1
    if before:
        return (Edit(end, end, data[lead:start] + text),)
    return (Edit(start, start, text + data[lead:start]),)


def renamed_element(source: Source, start: int, name: str) -> tuple[Edit, ...]:
    """An element and its end tag get another name."""
    match = _TAG.match(source.data, start)
    if match is None:
        return ()
    old, data = match[0][1:], source.data
    edits = [Edit(start + 1, match.end(), name.encode())]
    close = re.compile(rb"<(/?)" + re.escape(old) + rb"(?=[\s>/])[^<>]*?(/?)>")
    depth = 0
    for tag in close.finditer(data, start):
        depth += -1 if tag[1] else int(not tag[2])
        if depth <= 0:
            if tag[1]:
                edits.append(Edit(tag.start() + 2, tag.start() + 2 + len(old), name.encode()))
            return tuple(edits)
    return ()
