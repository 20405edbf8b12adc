"""Finds text where only elements belong. No reader of an IR looks at it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.parsers import expat

from .grammar import OPAQUE, WITHOUT_TEXT

MORE_TEXTS = "more texts like this follow"
"""The text that the reader adds if it reports only the first of many texts."""
_TEXT = rb"\s*+(?!-?[0-9]{1,20}+\s*+</dim\b)[^<\s]"
_BETWEEN, _FIRST = re.compile(b">" + _TEXT), re.compile(_TEXT)


def may_have_text_between(piece: bytes, *, first: bool) -> bool:
    """Returns False only if a piece of a file certainly has no text between elements.

    first: whether the file begins with the piece.
    """
    return _BETWEEN.search(piece) is not None or (not first and _FIRST.match(piece) is not None)


def texts_between(data: bytes, pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns where the texts between the elements of a well-formed document begin and end.

    pieces: where the parts to examine begin and end. They must be well-formed together.
    """
    parser = expat.ParserCreate()
    shift = 0
    """How far an offset in the document is ahead of the parser's position."""
    spans: list[tuple[int, int]] = []
    opened: list[str] = []
    outside = [0]
    """How many of the open elements may contain text."""
    begun = [-1]

    def ends() -> None:
        if begun[0] >= 0:
            start, end = begun[0], parser.CurrentByteIndex + shift
            text = data[start:end].rstrip()
            if not text.startswith(b"<![CDATA["):
                spans.append((start, start + len(text)))
            begun[0] = -1

    def start(name: str, _: dict[str, str]) -> None:
        ends()
        opened.append(name)
        outside[0] += name not in WITHOUT_TEXT or name in OPAQUE

    def end(_: str) -> None:
        ends()
        name = opened.pop()
        outside[0] -= name not in WITHOUT_TEXT or name in OPAQUE

    def characters(text: str) -> None:
        if begun[0] < 0 and not outside[0] and not text.isspace():
            lead = len(text) - len(text.lstrip())
            begun[0] = parser.CurrentByteIndex + shift + lead  # white space is one byte each

    def comment(_: str) -> None:
        ends()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.CommentHandler = characters, comment
    done = 0
    try:
        for first, last in pieces:
            shift, done = first - done, done + last - first
            parser.Parse(data[first:last], False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError):
        return []
    return spans
