"""Slips in single characters and lines, for which a text is not well-formed XML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ...formats.ir.edits import Edit
from .slip import Slip

_CURLY = rb"\xe2\x80[\x98-\x9f]"
_ODD_BLANK = re.compile(
    rb"\xc2\xa0|\xe1\x9a\x80|\xe2\x80[\x80-\x8b\xaf]|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf"
)
_QUOTED = re.compile(rb""""[^"<>]*"|'[^'<>]*'""")
_BLANKS = ("nbsp", "ensp", "emsp", "thinsp", "zwnj", "zwj", "shy")
_MARKS = (b"<" * 7, b"=" * 7, b">" * 7)
_CONFLICT_MARK = re.compile(rb"^(<{7}|={7}|>{7})( [^\n]*)?\r?\n", re.MULTILINE)
_MODEL = rb"(layer|edge|port|dim|data|input|output)\b"
_HIDDEN = re.compile(
    rb"((?:<!--|<!\[CDATA\[)\s*)(?=</?%s)(?:(?!-->|\]\]>).)*?>(\s*(?:-->|\]\]>))" % _MODEL,
    re.DOTALL,
)
_INSTRUCTION = re.compile(rb"<\?/?%s[^<>]*(\?)>" % _MODEL)
_ENCODING = re.compile(rb"""(<\?xml\b[^>]*?encoding\s*=\s*["'])([^"']*)""")
_DECLARATION = re.compile(rb"<\?xml\b[^<>]*\?>\s*")
FIRST = 8
"""Where the declaration of a document begins at most."""
_TOO_MUCH = re.compile(rb"[<>=&/;,]|(?<=<)[0-9]")
_FOR_BLANK = re.compile(rb'(?<=")([!-~])(?=[a-z_-]+=")')
AT = 64
"""So many bytes around the place where a parser stops something stands at which it does."""
BESIDE = 6
"""So many bytes around the place where a parser stops one character is looked for."""


class _Notation(NamedTuple):
    """How something other than XML writes what is meant."""

    pattern: re.Pattern[bytes]
    put: Callable[[re.Match[bytes]], bytes]
    cause: str
    change: str


def _nothing(match: re.Match[bytes]) -> bytes:
    return b""


def _entity(match: re.Match[bytes]) -> bytes:
    """What an entity of HTML stands for; nothing for a blank that is not between attributes."""
    from html.entities import html5

    name = match[1].decode("ascii", "replace")
    if name not in _BLANKS:
        return html5.get(f"{name};", f"&amp;{name};").encode()
    return b" " if _is_between_attributes(match) else b""


def _is_between_attributes(match: re.Match[bytes]) -> bool:
    tag = match.string[match.string.rfind(b"<", 0, match.start()) : match.start()]
    outside = _QUOTED.sub(b"", tag)
    return outside.startswith(b"<") and not any(mark in outside for mark in (b">", b'"', b"'"))


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " if _is_between_attributes(match) else match[0]


def _in_latin(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] is None else chr(match[1][0]).encode()


def _in_utf16(match: re.Match[bytes]) -> bytes:
    return match[0].decode("utf-16-be" if match[0][0] == 0 else "utf-16-le").encode()


_ENTITIES = (
    _Notation(
        re.compile(rb"&(?!#?\w+;)"),
        lambda match: b"&amp;",
        "a text has a bare &",
        "& becomes &amp;",
    ),
    _Notation(
        re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w*);"),
        _entity,
        "XML knows no entity {old}",
        "{old} {becomes}",
    ),
)
"""Entities that XML does not know."""
_NOT_ASCII = (
    _Notation(
        _ODD_BLANK,
        _blank,
        "a blank between attributes is no blank of XML",
        "it becomes a blank",
    ),
    _Notation(
        re.compile(
            rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|([\x80-\xff])"
        ),
        _in_latin,
        "the byte {code} is no UTF-8; as Latin-1 it is '{new}'",
        "it is written in UTF-8",
    ),
    _Notation(
        re.compile(rb"=\s*%s([^\"'<>=]*?)%s" % (_CURLY, _CURLY)),
        lambda match: b'="%s"' % match[1],
        "a value stands in typographic quotes",
        "the quotes become straight",
    ),
)
"""Characters that are not of ASCII and stand in no XML, or not there: those of XML are plain."""
_CONTROL = (
    _Notation(
        re.compile(rb"(?:[\t\n\r -~]\0){8,}|(?:\0[\t\n\r -~]){8,}"),
        _in_utf16,
        "a part of the text is UTF-16",
        "it becomes UTF-8",
    ),
    _Notation(
        re.compile(rb"\x1b\[[0-9;]*[A-Za-z]"),
        _nothing,
        "the text has codes for the colours of a terminal",
        "they are removed",
    ),
    _Notation(
        re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]+"),
        _nothing,
        "the text has the control character {code}",
        "it is removed",
    ),
)
"""Control characters that stand in no XML."""
_NOT_IN_TAGS = (
    _Notation(
        re.compile(rb"%(2[02CF]|3[CDE])", re.IGNORECASE),
        lambda match: bytes.fromhex(match[1].decode()),
        "characters are written as in a URL: `{old}`",
        "they become what they stand for",
    ),
    _Notation(
        re.compile(rb"=3D|=\r?\n"),
        lambda match: b"=" if match[0] == b"=3D" else b"",
        "lines are written as in a mail: `=3D` for `=`",
        "they become what they stand for",
    ),
    _Notation(
        re.compile(rb"(?<==)(\"[^\"<>]*\"|'[^'<>]*')(?=[A-Za-z_])"),
        lambda match: match[0] + b" ",
        "no blank stands between two attributes",
        "a blank is added",
    ),
    _Notation(
        re.compile(rb"^\"([^\n]*)\"(?=\r?$)", re.MULTILINE),
        lambda match: match[1].replace(b'""', b'"'),
        "a line is quoted as in a table",
        "its quotes become those of XML",
    ),
    _Notation(
        re.compile(
            rb"(?:\[ ?[A-Z]+ ?\]|\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR)\b|\d{4}-\d\d-\d\d[ T])[^\n]*\n"
        ),
        _nothing,
        "a line of a log stands here",
        "it is removed",
    ),
    _Notation(
        re.compile(rb"</?(?:span|mark|font|strong|code|em|[biu])\b[^<>]*>|\*\*|`"),
        _nothing,
        "the markup of another document stands here: `{old}`",
        "it is removed",
    ),
    _Notation(
        re.compile(rb"(?<=[\w\"'/])[ \t]{0,9}<!--[^<>]*-->(?=[^<>]*>)| ?/\*[^<>*]*\*/"),
        _nothing,
        "a comment stands inside a tag",
        "it is removed",
    ),
)
"""What a value may have, so that it is wrong only around the place where a text goes wrong."""


def in_characters(text: bytes, places: Sequence[int], near: tuple[int, int]) -> Iterator[Slip]:
    """Characters that XML does not take as they are, and a line that a merge left.

    places: where a parser may stop, which is at the first of them. near: what is around that.
    """
    for notation in (*_ENTITIES, *_NOT_ASCII, *_CONTROL):
        if any(notation.pattern.search(text, max(0, at - AT), at + AT) for at in places):
            yield from _rewritten(text, notation, 0, len(text))
    yield from _in_declaration(text)
    for notation in _NOT_IN_TAGS:
        for slip in _rewritten(text, notation, *near):
            yield slip._replace(doubtful=True)
    if all(text.find(mark, *near) < 0 for mark in _MARKS):
        return
    marks = list(_CONFLICT_MARK.finditer(text))
    if len(marks) == 1:
        edit = Edit(*marks[0].span(), b"")
        cause = "a mark of a merge was left in the file"
        yield Slip((edit,), "the line is removed", cause, edit.start)


def _rewritten(text: bytes, notation: _Notation, start: int, end: int) -> Iterator[Slip]:
    """What is written in another notation is written as XML has it."""
    matches = notation.pattern.finditer(text, start, end)
    changed = [(match, new) for match in matches if (new := notation.put(match)) != match[0]]
    if not changed:
        return
    edits = tuple(Edit(*match.span(), new) for match, new in changed)
    old, becomes = changed[0][0][0], changed[0][1].decode("utf-8", "replace")
    words = {
        "old": old.decode("utf-8", "replace"),
        "new": becomes,
        "becomes": f"becomes {becomes}".replace("  ", " a blank") if becomes else "is removed",
        "code": f"{old[0]:#04x}",
    }
    cause, change = notation.cause.format(**words), notation.change.format(**words)
    yield Slip(edits, change, cause, element_before(text, edits[0]))


def _in_declaration(text: bytes) -> Iterator[Slip]:
    """The declaration names an encoding that the text does not have, or stands there again; or a
    comment has two dashes inside."""
    declared = _ENCODING.match(text)
    if declared is not None and declared[2].lower() not in (b"utf-8", b"us-ascii"):
        shown = declared[2].decode("ascii", "replace")
        edit = Edit(declared.start(2), declared.end(2), b"utf-8")
        cause = f"the declaration says encoding={shown}, but the text is UTF-8"
        yield Slip((edit,), 'encoding="utf-8"', cause, 0)
    section = text.rfind(b"<![CDATA[") if b"!" in text else -1
    if section >= 0 and text.find(b"]]>", section) < 0:
        edit = Edit(section, section + len(b"<![CDATA["), b"")
        yield Slip((edit,), "<![CDATA[ is removed", "a CDATA section is not closed", section)
    question = text.find(b"?", text.find(b">") + 1)  # a single byte is found far faster
    further = text.find(b"<?xml", max(FIRST + 1, question - 1)) >= 0 if question >= 0 else False
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
        yield Slip(tuple(dashes), "it becomes `- -`", cause, element_before(text, dashes[0]))


def hidden(text: bytes, start: int, end: int) -> Iterator[Slip]:
    """Elements in a comment or a CDATA section are parts of the model."""
    for match in _HIDDEN.finditer(text, start, end):
        where = "a comment" if match[1].startswith(b"<!--") else "a CDATA section"
        edits = _unwrapped(text, match)
        cause = f"a <{match[2].decode()}> stands in {where}"
        yield Slip(edits, f"it is taken out of {where}", cause, match.start(), doubtful=True)


def _unwrapped(text: bytes, match: re.Match[bytes]) -> tuple[Edit, Edit]:
    """What is in a comment without its marks: with a mark goes its line, if it stands there alone,
    or else the blanks inside, unless they indent what is commented out."""
    lines = match[1].split(b"\n")
    line = text.rfind(b"\n", 0, match.start()) + 1
    start, stop = match.span(1)
    if len(lines) > 1:
        stop -= len(lines[-1])
        start = start if text[line:start].strip() else line
    elif line == start:
        stop = start + len(match[1].rstrip())
    end = match.start(3)
    own = match[3].rfind(b"\n")
    if own >= 0:
        end += own - match[3].endswith(b"\r", 0, own)
    return Edit(start, stop, b""), Edit(end, match.end(3), b"")


def instructions(text: bytes, start: int, end: int) -> Iterator[Slip]:
    """Elements that are written as instructions."""
    for match in _INSTRUCTION.finditer(text, start, end):
        name = match[1].decode()
        begin = Edit(match.start() + 1, match.start() + 2, b"")
        for close in (b"", b"/"):
            edits = begin, Edit(*match.span(2), close)
            cause = f"<{name}> is written as an instruction"
            yield Slip(edits, "it becomes an element", cause, match.start(), doubtful=True)


def _comments(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the texts of comments begin and end."""
    at = text.find(b"<!--") if b"!" in text else -1
    while at >= 0 and (end := text.find(b"-->", at + 4)) >= 0:
        yield at + 4, end
        at = text.find(b"<!--", end)


def element_before(text: bytes, edit: Edit) -> int:
    """Where the tag before an edit begins; that of the edit itself if that is in another line."""
    start = max(text.rfind(b"<", 0, edit.start), 0)
    return edit.start if b"\n" in text[start : edit.start] else start


def in_one_character(text: bytes, places: Iterable[int]) -> Iterator[Slip]:
    """A character near the place where a parser stops is too much, or stands for a blank."""
    for place in places:
        for match in _TOO_MUCH.finditer(text, max(0, place - BESIDE), place + BESIDE):
            shown = match[0].decode("ascii", "replace")
            cause = f"the character {shown} is too much"
            edit = Edit(*match.span(), b"")
            yield Slip((edit,), "it is removed", cause, element_before(text, edit), doubtful=True)
        for match in _FOR_BLANK.finditer(text, max(0, place - BESIDE), place + BESIDE):
            shown = match[1].decode("ascii", "replace")
            cause = f"the character {shown} stands between two attributes"
            edit = Edit(*match.span(1), b" ")
            yield Slip(
                (edit,), "it becomes a blank", cause, element_before(text, edit), doubtful=True
            )
