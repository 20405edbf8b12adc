"""Repairs text that is not well-formed, and tests each change by reading the changed text.

Repairs a missing end tag, a repeated attribute, blanks before `<?xml`, and a wrong encoding.
"""

from __future__ import annotations

import re

from ..examination import examine
from ..formats.ir.edits import Edit, with_edits
from ..formats.ir.grammar import CHILDREN, tags
from ..formats.loading import read_source, weights_path
from ..model.graph import NotReadable
from ..rules.settings import PLAIN
from .change import Cause, Change
from .proof import with_text

_ATTRIBUTE = re.compile(rb"""\s+[^\s=<>"']+\s*=\s*(?:"[^"<]*"|'[^'<]*')""")
_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?<\?xml[^>]*encoding=["']([^"']+)["']""")


def cause_of(unreadable: NotReadable) -> Cause | None:
    """Returns the change that makes the text readable; None if there is none.

    The change is safe if the file then has no errors or warnings.
    """
    source, change = unreadable.source, _change(unreadable)
    if change is None:
        return None
    edited = with_text(source, with_edits(source.data, change.edits))
    try:
        model = read_source(edited, weights_path(source.path))
    except NotReadable:
        return None
    findings = examine(model, PLAIN, reasons=False).findings
    safe = all(each.severity == "info" for each in findings)
    return Cause(change, (unreadable.finding,), "safe" if safe else "unsafe")


def _change(unreadable: NotReadable) -> Change | None:
    """Returns the only change that may make the text readable, with the reason in `decided`."""
    data = unreadable.source.data
    declared = _ENCODING.match(data)
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii") and _is_utf8(data):
        edit = Edit(*declared.span(1), b"utf-8")
        named = declared[1].decode("ascii", "replace")
        decided = "the bytes of the file are UTF-8"
        return Change(
            "encoding", (edit,), declared.start(1), None, "encoding", named, "utf-8",
            decided=decided,
        )  # fmt: skip
    blank = len(data) - len(data.lstrip())
    if blank and data.startswith(b"<?xml", blank):
        decided = "XML allows nothing before its declaration"
        return Change(
            "text", (Edit(0, blank, b""),), 0, None, "text", "the blank text", None, decided=decided
        )
    again = _ATTRIBUTE.match(data, unreadable.finding.offset - 1)
    if (
        again
        and again[0].strip() in data[data.rfind(b"<", 0, again.start()) : again.start()].split()
    ):
        shown = again[0].decode("utf-8", "replace").strip()
        return Change(
            "text", (Edit(*again.span(), b""),), again.start() + 1, None, "text", shown, None,
            decided="the same attribute with the same value is before it",
        )  # fmt: skip
    missing = _unclosed(data)
    if missing is None:
        return None
    place, name, opened = missing
    end = len(data[:place].rstrip())
    tag = b"</" + name + b">"
    shown = f"</{name.decode('utf-8', 'replace')}>"
    decided = "an end tag at any other place would put an element into one that cannot contain it"
    line = data.rfind(b"\n", 0, opened) + 1
    blank = data.find(b"\n" + data[line:opened] + b"\n", end, place)
    if blank >= 0:  # the line of the lost tag is still there
        end = blank + 1 + opened - line
    elif line and not data[line:opened].strip() and data.find(b"\n", opened, end) >= 0:
        tag = (b"\r\n" if data[line - 2 : line] == b"\r\n" else b"\n") + data[line:opened] + tag
    edit = Edit(end, end, tag)
    return Change("text", (edit,), opened, None, "text", None, shown, decided=decided)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unclosed(data: bytes) -> tuple[int, bytes, int] | None:
    """Returns the place where an end tag is missing, and the name and start of the open element.

    Returns None for any other fault. An end tag is missing if the next tag ends the outer element,
    or begins an element that the open element cannot contain.
    """
    opened: list[tuple[bytes, int]] = []
    for tag in tags(data):
        name = tag["name"]
        if tag[0].endswith(b"/>"):
            continue
        if tag["close"]:
            if opened and opened[-1][0] == name:
                opened.pop()
            elif len(opened) > 1 and opened[-2][0] == name:
                return tag.start(), *opened[-1]
            else:
                return None
            continue
        if len(opened) > 1:
            outer, inner = (_children(each) for each, _ in opened[-2:])
            text = name.decode("utf-8", "replace")
            fits = outer is None or text in outer or opened[-2][0] == b"net"
            if inner is not None and text not in inner and fits:
                return tag.start(), *opened[-1]
        opened.append((name, tag.start()))
    return None


def _children(name: bytes) -> tuple[str, ...] | None:
    """Returns the names of the elements that an element may contain; None if it may contain any."""
    return CHILDREN.get(name.decode("utf-8", "replace"))
