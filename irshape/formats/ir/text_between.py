"""Text where only elements belong, which no reader of an IR looks at."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.parsers import expat

from .grammar import OPAQUE, WITHOUT_TEXT

MORE_TEXTS = "more such texts follow"
"""What the reader says of many texts, of which it reports the first alone."""
_TEXT = rb"\s*+(?!-?[0-9]{1,20}+\s*+</dim\b)[^<\s]"
_BETWEEN, _FIRST = re.compile(b">" + _TEXT), re.compile(_TEXT)


def may_have_text_between(piece: bytes, *, first: bool) -> bool:
    """Whether a piece of a file may have text between elements. It has none where this is false.

    first: whether the file begins with the piece.
    """
    return _BETWEEN.search(piece) is not None or (not first and _FIRST.match(piece) is not None)


def texts_between(data: bytes, pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Where texts between the elements of a well-formed document begin and end.

    pieces: where the parts to look at begin and end; without the others, it is well-formed too.
    """
    parser = expat.ParserCreate()
    shift = 0
    """How far an offset in the document is past the parser's position."""
    spans: list[tuple[int, int]] = []
    opened: list[str] = []
    outside = [0]
    """How many elements around hold text."""
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
