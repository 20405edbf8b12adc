"""Finds text between elements, which OpenVINO ignores."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .grammar import MARKUP, OPAQUE, WITHOUT_TEXT

_MAY_BE_TEXT = re.compile(rb">\s*+(?!-?[0-9]{1,20}+\s*+</dim\b)[^<\s]")
"""Matches all text between elements, and also text in elements that may contain text."""


def texts_between(data: bytes, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the start and end of each text between elements of a well-formed document.

    pieces: the start and end of each part of `data` to examine, each part after a tag. All parts
    together must be well-formed XML.
    """
    if not any(_MAY_BE_TEXT.search(data, max(start - 1, 0), end) for start, end in pieces):
        return []
    spans: list[tuple[int, int]] = []
    opened: list[bool] = []
    """For each open element: whether this element, or an element around it, may contain text."""
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
