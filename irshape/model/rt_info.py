"""Reads the `rt_info` of a net or a layer, which converters and transformations write."""

from __future__ import annotations

from xml.parsers import expat

from .source import Source, passage_bytes

_MAX_DEPTH = 64


def parse(source: Source, span: tuple[int, int] | None) -> dict[str, object]:
    """Returns the elements in a span of the file, by name, as nested dictionaries; empty without a
    span.

    An element that has only a `value` becomes the text of the value. The key of a layer's
    `<attribute name=…>` is its `name`.
    """
    if span is None:
        return {}
    root: dict[str, object] = {}
    stack: list[dict[str, object]] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _MAX_DEPTH:
            raise ValueError("rt_info is nested too deeply")
        if not stack:
            stack.append(root)
            return
        name = attributes.pop("name", tag) if tag == "attribute" else tag
        held: dict[str, object] = {}
        stack[-1][name] = attributes["value"] if list(attributes) == ["value"] else held
        held.update(attributes)
        stack.append(held)

    def end(tag: str) -> None:
        stack.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(passage_bytes(source, span), True)
    return root
