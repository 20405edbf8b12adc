"""Text where only elements belong: between them, before the document, or behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...formats.ir.edits import Edit
from .format_tables import CHILDREN, KNOWN
from .slip import Slip, cited

_NAMES = "|".join(sorted(KNOWN, key=len, reverse=True)).encode()
_LOST_BRACKET = re.compile(
    rb"(?:&lt;|[\[{(])?(?=(/?(?:%s))(?:\s[^<>&]{0,500}+|/?)(?:>|$))" % _NAMES, re.MULTILINE
)
"""What was a tag and has no `<` any more."""
_BEGIN = re.compile(rb"<\?xml\b|<net\b")
_DECLARATION = re.compile(rb"<\?xml\b.*?\?>", re.DOTALL)
_WHOLE_DECLARATION = re.compile(rb"""<\?xml version=(["'])1\.[01]\1[^<>?]*\?>""")
_PLAIN_DECLARATION = b'<?xml version="1.0"?>\n'
_END = re.compile(rb"</net\s*>")
_GOES_ON = re.compile(rb"</net\s*>(?=\s*<(?:layers|edges|rt_info|meta_data)\b)")
"""The end of the net before what belongs into it."""
_MARK = b"\xef\xbb\xbf"
"""The mark of UTF-8 at the beginning of a file."""


def lost_brackets(text: bytes, start: int, end: int, parent: str) -> Iterator[Slip]:
    """Tags that lack their `<`, in the text between two tags. parent: the element around it."""
    for lost in _LOST_BRACKET.finditer(text, start, end):
        before = text[lost.start() - 1 : lost.start()]
        if parent == "dim" or before.isspace() or before == b">":
            name = lost[1].decode("ascii")
            edit = Edit(lost.start(), lost.end(), b"<")
            cause = f"the tag <{name}> lacks its `<`"
            yield Slip((edit,), f"it becomes <{name}", cause, lost.start())


def text_between(text: bytes, start: int, end: int, parent: str) -> Iterator[Slip]:
    """The text between two tags is removed, where none may be. parent: the element around it."""
    if parent in CHILDREN and parent != "dim" and text[start:end].strip():
        yield without_texts(text, [_stripped(text, start, end)])


def without_texts(text: bytes, spans: Sequence[tuple[int, int]]) -> Slip:
    """Texts between elements are removed, with their lines where they have those for themselves."""
    start, end = spans[0]
    cause = f"the text {cited(text[start:end])} stands between elements"
    if len(spans) > 1:
        cause += f", and {len(spans) - 1} other texts do"
    change = "it is removed" if len(spans) == 1 else "they are removed"
    return Slip(tuple(_removal(text, *span) for span in spans), change, cause, start)


def _stripped(text: bytes, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    begin = start + len(inner) - len(inner.lstrip())
    return begin, begin + len(inner.strip())


def _removal(text: bytes, start: int, end: int) -> Edit:
    line, after = text.rfind(b"\n", 0, start) + 1, text.find(b"\n", end) + 1
    if after and not text[line:start].strip() and not text[end:after].strip():
        return Edit(line, after, b"")
    return Edit(start, end, b"")


def around_the_document(text: bytes) -> Iterator[Slip]:
    """What stands before the document or behind it is removed; its declaration is written anew."""
    end = text.find(b"</net")
    end = len(text) if end < 0 else end
    edits = list(_around(text, end))
    early = _GOES_ON.search(text, end)
    if early is not None:
        end = len(text.rstrip())
        close = b"" if text.endswith(b"</net>", 0, end) else b"\n</net>"
        lead = len(text[: early.start()].rstrip())
        moved = Edit(lead, early.end(), b""), Edit(end, end, close)
        cause = "</net> stands before parts of the net"
        yield Slip(moved, "it stands behind them", cause, early.start())
    elif edits:
        yield _removed_around(text, edits)
    root = text.find(b"<net")
    before = text[: max(root, 0)]
    if b"xml" in before and b"<!" not in before and not _WHOLE_DECLARATION.search(before):
        cause = "the XML declaration is not written as XML has it"
        change = f"it becomes {_PLAIN_DECLARATION.decode().strip()}"
        yield Slip((Edit(0, root, _PLAIN_DECLARATION),), change, cause, 0)


def _removed_around(text: bytes, edits: Sequence[Edit]) -> Slip:
    words = text[edits[0].start : edits[0].end]
    place = "behind" if edits[0].end == len(text) else "before"
    cause = f"the text {cited(words)} stands {place} the document"
    if not words.strip():
        cause = "white space stands before the XML declaration"
    return Slip(tuple(edits), "it is removed", cause, edits[0].start)


def _around(text: bytes, last: int) -> Iterator[Edit]:
    """last: before which the net does not end."""
    begin = _BEGIN.search(text)
    if begin is None:
        return
    kept = len(_MARK) if text.startswith(_MARK) else 0
    before = text[kept : begin.start()]
    if before and b"<!--" not in before:
        yield Edit(kept, begin.start(), b"")
    declared, root = _DECLARATION.match(text, begin.start()), text.find(b"<net", begin.start())
    if declared is not None and text[declared.end() : max(root, 0)].strip():
        between = text[declared.end() : root]
        if b"<" not in between:
            yield Edit(declared.end(), root, b"\n")
    end = _END.search(text, max(begin.start(), last))
    behind = text[end.end() :].strip() if end is not None else b""
    if end is not None and behind and not behind.startswith((b"<!--", b"<?")):
        rest = text[end.end() :]
        yield Edit(end.end() + len(rest) - len(rest.lstrip()), len(text), b"")
