"""What was meant in the place of some text, and how messages quote a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ...formats.ir.edits import Edit

SHOWN = 60
"""So many characters of a text are quoted."""
_CONTROLS = re.compile("[\x00-\x1f\x7f]+")


class Slip(NamedTuple):
    """A slip, as the edits that take it back."""

    edits: tuple[Edit, ...]
    change: str
    cause: str
    offset: int
    """The element that is wrong."""
    doubtful: bool = False
    """Whether it counts only if each element is then where it belongs."""


def edited(text: bytes, edits: Iterable[Edit]) -> bytes:
    """A text with edits that do not overlap."""
    parts: list[bytes] = []
    at = 0
    for start, end, put in sorted(edits):
        parts += (text[at:start], put)
        at = max(at, end)
    return b"".join((*parts, text[at:]))


def cited(text: bytes) -> str:
    """The beginning of a text as messages quote it, on one line."""
    words = _CONTROLS.sub("…", b" ".join(text.split()).decode("utf-8", "replace"))
    return f"`{words[:SHOWN]}`" + "…" * (len(words) > SHOWN)
