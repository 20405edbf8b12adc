"""Slips in single characters and lines, for which a text is not well-formed XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from ..formats.ir.edits import Edit

_BARE_AMPERSAND = re.compile(rb"&(?!#?\w+;)")
_CURLY = rb"\xe2\x80[\x98-\x9f]"
_CURLY_QUOTES = re.compile(rb"=\s*(%s)[^\"'<>=]*?(%s)" % (_CURLY, _CURLY))
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CONFLICT_MARK = re.compile(rb"^(<{7}|={7}|>{7})( [^\n]*)?\r?\n", re.MULTILINE)
NEAR = 2
"""So many lines around the place where a parser stops are exchanged."""
FEW = 8
"""With more characters than this that are wrong, the file is another one."""


class Slip(NamedTuple):
    """A slip, as the edits that take it back."""

    edits: tuple[Edit, ...]
    change: str
    cause: str
    offset: int
    """The element that is wrong."""
    doubtful: bool = False
    """Whether it counts only if each element is then where it belongs."""


def in_characters(text: bytes) -> Iterator[Slip]:
    """Characters that XML does not take as they are, and a line that a merge left.

    A bare `&`, quotes of a word processor, control characters, letters of another encoding.
    """
    bare = [Edit(match.start(), match.end(), b"&amp;") for match in _BARE_AMPERSAND.finditer(text)]
    if bare:
        yield Slip(tuple(bare), "& becomes &amp;", "a text has a bare &", _element(text, bare[0]))
    curly = [
        Edit(*match.span(group), b'"') for match in _CURLY_QUOTES.finditer(text) for group in (1, 2)
    ]
    if curly:
        cause = "a value stands in typographic quotes"
        yield Slip(tuple(curly), "the quotes become straight", cause, _element(text, curly[0]))
    control = [Edit(match.start(), match.end(), b"") for match in _CONTROL.finditer(text)]
    if 0 < len(control) <= FEW:
        cause = f"the text has the control character {text[control[0].start]:#04x}"
        yield Slip(tuple(control), "it is removed", cause, _element(text, control[0]))
    latin = _latin(text)
    if latin:
        letter = text[latin[0].start]
        cause = f"the byte {letter:#04x} is no UTF-8; as Latin-1 it is '{chr(letter)}'"
        yield Slip(tuple(latin), "it is written in UTF-8", cause, _element(text, latin[0]))
    marks = list(_CONFLICT_MARK.finditer(text))
    if len(marks) == 1:
        edit = Edit(*marks[0].span(), b"")
        cause = "a mark of a merge was left in the file"
        yield Slip((edit,), "the line is removed", cause, edit.start)


def _element(text: bytes, edit: Edit) -> int:
    """Where the tag before an edit begins."""
    return max(text.rfind(b"<", 0, edit.start), 0)


def _latin(text: bytes) -> list[Edit]:
    """The bytes that are no UTF-8, as the letters that they are in Latin-1; none if many are."""
    edits: list[Edit] = []
    at = 0
    while len(edits) <= FEW:
        try:
            text[at:].decode()
        except UnicodeDecodeError as problem:
            start = at + problem.start
            at = start + 1
            edits.append(Edit(start, at, chr(text[start]).encode()))
        else:
            return edits
    return []


def in_lines(text: bytes, stopped: int) -> Iterator[Slip]:
    """Two lines near the place where a parser stops stand in each other's place."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", text))]
    near: dict[int, None] = {}
    for place in (_where_parsing_stops(text), stopped):
        middle = text.count(b"\n", 0, place)
        near |= dict.fromkeys(range(max(0, middle - NEAR - 1), middle + NEAR))
    for at in near:
        if at + 2 >= len(starts):
            continue
        start, between, end = starts[at : at + 3]
        one, other = text[start:between], text[between:end]
        if one.strip() and other.strip() and one.strip() != other.strip():
            yield Slip(
                (Edit(start, end, other + one),),
                f"lines {at + 1} and {at + 2} are exchanged",
                f"lines {at + 1} and {at + 2} stand in each other's place",
                start + len(one) - len(one.lstrip()),
                doubtful=True,
            )


def _where_parsing_stops(text: bytes) -> int:
    parser = expat.ParserCreate()
    try:
        parser.Parse(text, True)
    except expat.ExpatError:
        return max(parser.ErrorByteIndex, 0)
    except (ValueError, LookupError):  # an encoding that nobody knows
        return 0
    return 0
