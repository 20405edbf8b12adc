"""Finds text between elements, which OpenVINO ignores."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .grammar import MARKUP, OPAQUE, WITHOUT_TEXT

_MAY_BE_TEXT = re.compile(rb">\s*+(?!-?[0-9]{1,20}+\s*+</dim\b)[^<\s]")
"""Matches text after a tag, except a number in a `<dim>`. The tag's element may allow the text."""


def texts_between(data: bytes, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the start and end of each text between elements of a well-formed document.

    pieces: the start and end of each part of `data` to examine. A part begins at the start of the
    file or after a tag. The parts, joined, must be well-formed XML.
    """
    if not any(_MAY_BE_TEXT.search(data, max(start - 1, 0), end) for start, end in pieces):
        return []
    spans: list[tuple[int, int]] = []
    opened: list[bool] = []
    """For each open element: whether text is allowed in it or in an element around it."""
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
