"""Reads `rt_info`: what converters and transformations write about a net or a layer."""

from __future__ import annotations

from xml.parsers import expat

from .source import Source, passage_bytes

_MAX_DEPTH = 64


def parse(source: Source, span: tuple[int, int] | None) -> dict[str, object]:
    """Returns the elements in a span of the file, by name, as nested dictionaries.

    If `span` is None, the dictionary is empty. An element with only a `value` becomes the text of
    the value. An `<attribute name=…>` of a layer gets its `name` as the key.
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
