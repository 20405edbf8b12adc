"""Finds the cause of malformed XML, which may be far before the place where a parser stops."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple
from xml.parsers import expat

_DIGIT_NAME = re.compile(rb"</?([0-9][0-9A-Za-z_.-]{0,80})")
_END_TAG = re.compile(rb"</([^\s<>/]+)")


ADVICE = {
    expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE: "remove one attribute; OpenVINO reads the first",
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "remove what follows the root element",
    expat.errors.XML_ERROR_INVALID_TOKEN: (
        "put each value in straight quotes, and write & as &amp; and < as &lt; in it; "
        "nothing past this place was read"
    ),
    expat.errors.XML_ERROR_MISPLACED_XML_PI: "remove the text before `<?xml`",
    expat.errors.XML_ERROR_UNCLOSED_TOKEN: "close the tag or comment that begins here",
    expat.errors.XML_ERROR_UNDEFINED_ENTITY: "write & as &amp;",
}
"""What to do about the most frequent errors that expat reports."""


class Malformation(NamedTuple):
    """The cause of malformed XML: a message, the offset of the fault, and advice."""

    message: str
    offset: int
    help: str


def malformation(
    text: bytes, stopped: int, encoding: str | None, *, mismatched: bool, ended: bool
) -> Malformation | None:
    """Returns why an XML parser stops at an offset; None if the parser's own message is best.

    encoding: the encoding that the parser was given. mismatched: whether the parser stops at an end
    tag that does not close the innermost element. ended: whether it stops at the end of the text.
    """
    known = _merge_conflict(text, stopped) or _digit_name(text, stopped)
    if known is None and mismatched:
        known = _unclosed(text, stopped, encoding)
    if known is None and ended:
        message = "it ends before its elements are closed"
        known = Malformation(message, stopped, "the file is truncated: copy or export it again")
    return known


def _digit_name(text: bytes, stopped: int) -> Malformation | None:
    """Finds an element whose name begins with a digit, which XML does not allow."""
    start = text.rfind(b"<", max(stopped - 2, 0), stopped + 1)
    tag = _DIGIT_NAME.match(text, start) if start >= 0 else None
    if tag is None:
        return None
    name = tag[1].decode()
    return Malformation(
        f"the name of the element <{name}> begins with a digit, which XML forbids; OpenVINO "
        "before 2025.1 wrote such entries into rt_info",
        start,
        f'write <info name="{name}" …> in its place, as newer releases do, or remove the entry',
    )


def _merge_conflict(text: bytes, stopped: int) -> Malformation | None:
    """Finds the first marker of a merge conflict, in the line where the parser stopped."""
    start = text.rfind(b"\n", 0, stopped + 1) + 1
    if not text.startswith(b"<<<<<<<", start):
        return None
    hint = "keep the correct side of the conflict, and delete the other side and the markers"
    return Malformation("a merge conflict was left in the file", start, hint)


def _unclosed(text: bytes, stopped: int, encoding: str | None) -> Malformation | None:
    """Finds an element that is still open when the end tag of an outer element follows, or an end
    tag that closes no element."""
    parser = expat.ParserCreate(encoding)
    opened: list[tuple[str, int]] = []
    parser.StartElementHandler = lambda name, _: opened.append((name, parser.CurrentByteIndex))
    parser.EndElementHandler = lambda _: opened.pop()
    with suppress(expat.ExpatError, ValueError, LookupError):
        parser.Parse(text, True)
    start = text.rfind(b"</", 0, stopped + 1)
    tag = _END_TAG.match(text, start) if start >= 0 else None
    if tag is None or not opened:
        return None
    name, (missing, offset) = tag[1].decode("utf-8", "replace"), opened[-1]
    if name not in {each for each, _ in opened}:
        line = text.count(b"\n", 0, offset) + 1
        message = f"</{name}> closes no open element; the innermost is <{missing}> in line {line}"
        return Malformation(message, start, f"correct one of the two names, or remove </{name}>")
    line = text.count(b"\n", 0, start) + 1
    return Malformation(
        f"<{missing}> is not closed: </{name}> in line {line} comes before </{missing}>",
        offset,
        f"add </{missing}>; nothing past line {line} was read",
    )
