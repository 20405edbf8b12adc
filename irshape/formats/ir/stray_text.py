"""Finds text where only elements belong. No reader of an IR looks at it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .grammar import MARKUP, OPAQUE, WITHOUT_TEXT

_MAY_BE_TEXT = re.compile(rb">\s*+(?!-?[0-9]{1,20}+\s*+</dim\b)[^<\s]")
"""Matches all text between elements, and also text inside elements that may contain some."""


def texts_between(data: bytes, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns where the texts between the elements of a well-formed document begin and end.

    pieces: where the parts to examine begin and end, each after a tag. They must be well-formed
    together.
    """
    if not any(_MAY_BE_TEXT.search(data, max(start - 1, 0), end) for start, end in pieces):
        return []
    spans: list[tuple[int, int]] = []
    opened: list[bool] = []
    """Whether each open element, or one around it, may contain text."""
    for start, end in pieces:
        at = start
        for tag in MARKUP.finditer(data, start, end):
            text = data[at : tag.start()].strip()
            if text and opened and not opened[-1]:
                place = data.index(text, at)
                spans.append((place, place + len(text)))
            at = tag.end()
            if tag["close"]:
                opened.pop()
            elif tag["name"] and not tag[0].endswith(b"/>"):
                name = tag["name"].decode("latin-1")
                may = name not in WITHOUT_TEXT or name in OPAQUE
                opened.append(may or (bool(opened) and opened[-1]))
    return spans
