"""Slips in single characters and lines, for which a text is not well-formed XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...formats.ir.edits import Edit

_BARE_AMPERSAND = re.compile(rb"&(?!#?\w+;)")
_CURLY = rb"\xe2\x80[\x98-\x9f]"
_CURLY_QUOTES = re.compile(rb"=\s*(%s)[^\"'<>=]*?(%s)" % (_CURLY, _CURLY))
_ODD_BLANK = re.compile(
    rb"\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8b\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf"
)
_IN_TAG = re.compile(rb"""<[A-Za-z][^<>"']*(?:(?:"[^"<>]*"|'[^'<>]*')[^<>"']*)*>""")
_QUOTED = re.compile(rb"""("[^"<>]*"|'[^'<>]*')""")
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w*);")
_BLANKS = ("nbsp", "ensp", "emsp", "thinsp", "zwnj", "zwj", "shy")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r")
_MARKS = (b"<" * 7, b"=" * 7, b">" * 7)
_CONFLICT_MARK = re.compile(rb"^(<{7}|={7}|>{7})( [^\n]*)?\r?\n", re.MULTILINE)
_ENCODING = re.compile(rb"""(<\?xml\b[^>]*?encoding\s*=\s*["'])([^"']*)""")
_DECLARATION = re.compile(rb"<\?xml\b[^<>]*\?>\s*")
FIRST = 8
"""Where the declaration of a document begins at most."""
_TOO_MUCH = re.compile(rb"[<>=&/;,]|(?<=<)[0-9]")
_FOR_BLANK = re.compile(rb'(?<=")([!-~])(?=[a-z_-]+=")')
BESIDE = 6
"""So many bytes around the place where a parser stops one character is looked for."""
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


def edited(text: bytes, edits: Iterable[Edit]) -> bytes:
    """A text with edits that do not overlap."""
    parts: list[bytes] = []
    at = 0
    for start, end, put in sorted(edits):
        parts += (text[at:start], put)
        at = max(at, end)
    return b"".join((*parts, text[at:]))


def in_characters(text: bytes) -> Iterator[Slip]:
    """Characters that XML does not take as they are, and a line that a merge left.

    A bare `&`, quotes of a word processor, control characters, letters of another encoding.
    """
    if b"&" in text:
        yield from _in_references(text)
    yield from _in_declaration(text)
    if not text.isascii():
        yield from _in_other_letters(text)
    control = []
    if len(text.translate(None, _CONTROLS)) < len(text):
        control = [Edit(match.start(), match.end(), b"") for match in _CONTROL.finditer(text)]
    if 0 < len(control) <= FEW:
        cause = f"the text has the control character {text[control[0].start]:#04x}"
        yield Slip(tuple(control), "it is removed", cause, _element(text, control[0]))
    if not any(mark in text for mark in _MARKS):
        return
    marks = list(_CONFLICT_MARK.finditer(text))
    if len(marks) == 1:
        edit = Edit(*marks[0].span(), b"")
        cause = "a mark of a merge was left in the file"
        yield Slip((edit,), "the line is removed", cause, edit.start)


def _in_references(text: bytes) -> Iterator[Slip]:
    """A bare `&`, and entities that XML does not know."""
    bare = [Edit(match.start(), match.end(), b"&amp;") for match in _BARE_AMPERSAND.finditer(text)]
    if bare:
        yield Slip(tuple(bare), "& becomes &amp;", "a text has a bare &", _element(text, bare[0]))
    entities = list(_ENTITY.finditer(text))
    if entities:
        yield _without_entities(text, entities)


def _in_other_letters(text: bytes) -> Iterator[Slip]:
    """Blanks and quotes that are none of XML, and letters of another encoding."""
    blanks = list(_odd_blanks(text)) if _ODD_BLANK.search(text) else []
    if blanks:
        cause = "a blank between attributes is no blank of XML"
        yield Slip(tuple(blanks), "it becomes a blank", cause, _element(text, blanks[0]))
    curly = [
        Edit(*match.span(group), b'"') for match in _CURLY_QUOTES.finditer(text) for group in (1, 2)
    ]
    if curly:
        cause = "a value stands in typographic quotes"
        yield Slip(tuple(curly), "the quotes become straight", cause, _element(text, curly[0]))
    latin = _latin(text)
    if latin:
        letter = text[latin[0].start]
        cause = f"the byte {letter:#04x} is no UTF-8; as Latin-1 it is '{chr(letter)}'"
        yield Slip(tuple(latin), "it is written in UTF-8", cause, _element(text, latin[0]))


def _in_declaration(text: bytes) -> Iterator[Slip]:
    """The declaration names an encoding that the text does not have, or stands there again; or a
    comment has two dashes inside."""
    declared = _ENCODING.match(text)
    if declared is not None and declared[2].lower() not in (b"utf-8", b"us-ascii"):
        shown = declared[2].decode("ascii", "replace")
        edit = Edit(declared.start(2), declared.end(2), b"utf-8")
        cause = f"the declaration says encoding={shown}, but the text is UTF-8"
        yield Slip((edit,), 'encoding="utf-8"', cause, 0)
    section = text.rfind(b"<![CDATA[")
    if section >= 0 and text.find(b"]]>", section) < 0:
        edit = Edit(section, section + len(b"<![CDATA["), b"")
        yield Slip((edit,), "<![CDATA[ is removed", "a CDATA section is not closed", section)
    further = text.find(b"<?xml", FIRST + 1) >= 0
    again = [m for m in _DECLARATION.finditer(text) if m.start() > FIRST] if further else []
    if again and text.startswith(text[: again[-1].start()].strip(), again[-1].start()):
        edit = Edit(0, again[-1].start(), b"")
        cause = "the beginning of the document stands there twice"
        yield Slip((edit,), "the first is removed", cause, again[-1].start())
    elif again:
        edits = tuple(Edit(*match.span(), b"") for match in again)
        cause = "an XML declaration stands inside the document"
        yield Slip(edits, "it is removed", cause, again[0].start())
    dashes = [
        Edit(start + inner.start(), start + inner.end(), b"- -")
        for start, end in _comments(text)
        for inner in re.finditer(rb"--|-$", text[start:end])
    ]
    if dashes:
        cause = "a comment has `--` inside, which XML does not allow"
        yield Slip(tuple(dashes), "it becomes `- -`", cause, _element(text, dashes[0]))


def _comments(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the texts of comments begin and end."""
    at = text.find(b"<!--")
    while at >= 0 and (end := text.find(b"-->", at + 4)) >= 0:
        yield at + 4, end
        at = text.find(b"<!--", end)


def _without_entities(text: bytes, entities: list[re.Match[bytes]]) -> Slip:
    """Entities of HTML, which XML does not know, as what they stand for; blanks are removed."""
    from html.entities import html5

    edits = []
    for match in entities:
        name = match[1].decode("ascii", "replace")
        letter = "" if name in _BLANKS else html5.get(f"{name};", f"&amp;{name};")
        edits.append(Edit(match.start(), match.end(), letter.encode()))
    shown = entities[0][0].decode("ascii", "replace")
    becomes = "is removed" if not edits[0].text else f"becomes {edits[0].text.decode()}"
    cause = f"XML knows no entity {shown}"
    return Slip(tuple(edits), f"{shown} {becomes}", cause, edits[0].start)


def _odd_blanks(text: bytes) -> Iterator[Edit]:
    """Blanks of other kinds between the attributes of a tag."""
    at = 0
    while (odd := _ODD_BLANK.search(text, at)) is not None:
        at = odd.end()
        tag = _IN_TAG.match(text, text.rfind(b"<", 0, odd.start()))
        if tag is None or tag.end() < at:
            continue
        at = tag.start()
        for index, piece in enumerate(_QUOTED.split(tag[0])):
            if index % 2 == 0:
                for blank in _ODD_BLANK.finditer(piece):
                    yield Edit(at + blank.start(), at + blank.end(), b" ")
            at += len(piece)


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


class Lines(NamedTuple):
    """Some lines of a text that follow each other. They are counted from 0 on."""

    first: int
    middle: int
    """That around which they were chosen."""
    starts: list[int]
    """Where each of them begins."""

    def starts_of(self, first: int, last: int) -> list[int]:
        """Where the lines from one to another begin; nothing if not all of them are there."""
        if first < self.first or last >= self.first + len(self.starts):
            return []
        return self.starts[first - self.first : last - self.first + 1]


def lines_around(text: bytes, place: int, around: int) -> Lines:
    """The line of a place, and so many before it and behind it."""
    middle, start = text.count(b"\n", 0, place), text.rfind(b"\n", 0, place) + 1
    starts, at = [start], start
    while at and len(starts) <= around:
        at = text.rfind(b"\n", 0, at - 1) + 1
        starts.append(at)
    first = middle - len(starts) + 1
    starts.reverse()
    at = start
    for _ in range(around):
        at = text.find(b"\n", at) + 1
        if not at:
            break
        starts.append(at)
    return Lines(first, middle, starts)


def in_one_character(text: bytes, places: Iterable[int]) -> Iterator[Slip]:
    """A character near the place where a parser stops is too much, or stands for a blank."""
    for place in places:
        for match in _TOO_MUCH.finditer(text, max(0, place - BESIDE), place + BESIDE):
            shown = match[0].decode("ascii", "replace")
            cause = f"the character {shown} is too much"
            edit = Edit(*match.span(), b"")
            yield Slip((edit,), "it is removed", cause, _element(text, edit), doubtful=True)
        for match in _FOR_BLANK.finditer(text, max(0, place - BESIDE), place + BESIDE):
            shown = match[1].decode("ascii", "replace")
            cause = f"the character {shown} stands between two attributes"
            edit = Edit(*match.span(1), b" ")
            yield Slip((edit,), "it becomes a blank", cause, _element(text, edit), doubtful=True)
