"""Elements in the wrong place: the one around them ends too early or too late, or they were moved.

Each slip moves an end tag or a whole element, so that a text stays as well-formed as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import Edit, element_end
from .format_tables import CHILDREN, KNOWN, NAME
from .slip import Slip

Opened = tuple[str, int, int]
"""An element that is open: its name, and where its start tag begins and ends."""


def misplaced(name: str, parent: str) -> bool:
    """Whether an element that is known may not stand in another."""
    return name in KNOWN and parent in CHILDREN and name not in CHILDREN[parent]


def out_of_place(text: bytes, tag: re.Match[bytes], opened: list[Opened]) -> Iterator[Slip]:
    """What may be meant where a start tag stands in an element that cannot hold it."""
    yield from _ended_early(text, tag, opened[-1][0])
    yield from _ended_late(text, tag, opened)
    yield from _moved(text, tag, opened)


def closed_at_once(text: bytes, tag: re.Match[bytes]) -> Iterator[Slip]:
    """The element before has a slash in its start tag, and yet its children follow."""
    name, end = tag[2].decode(), _rstripped(text, tag.start())
    start = text.rfind(b"<", 0, end)
    before = NAME.match(text, start) if start >= 0 else None
    holder = before[2].decode("ascii", "replace") if before is not None else ""
    if before is None or name not in CHILDREN.get(holder, ()):
        return
    if before[1]:
        lead = _rstripped(text, start)
        opening = NAME.match(text, text.rfind(b"<", 0, lead)) if lead else None
        if opening is not None and (opening[1], opening[2]) == (b"", before[2]):
            cause = f"<{holder}> is closed at once, and yet <{name}> follows"
            edit = Edit(start, end, b"")
            yield Slip((edit,), f"</{holder}> is removed", cause, start, doubtful=True)
        return
    if not text.endswith(b"/>", start, end):
        return
    slash = Edit(end - 2, end - 1, b"")
    cause = f"<{holder} …/> is closed at once, and yet <{name}> follows"
    change = f"<{holder} …/> becomes <{holder} …>"
    yield Slip((slash,), change, cause, start)


def _ended_early(text: bytes, tag: re.Match[bytes], parent: str) -> Iterator[Slip]:
    """The end tag of the element before stands too early: what follows belongs into it."""
    name, behind = tag[2].decode(), _rstripped(text, tag.start())
    for holder in CHILDREN[parent]:
        close = f"</{holder}>".encode()
        if name in CHILDREN.get(holder, ()) and text.endswith(close, 0, behind):
            lead = _rstripped(text, behind - len(close))
            stop = _end_of_run(text, tag.start(), holder)
            edits = Edit(lead, behind, b""), Edit(stop, stop, text[lead:behind])
            cause = f"</{holder}> stands before a <{name}> that belongs into it"
            at = behind - len(close)
            yield Slip(edits, f"</{holder}> stands behind it", cause, at, doubtful=True)


def _ended_late(text: bytes, tag: re.Match[bytes], opened: list[Opened]) -> Iterator[Slip]:
    """The end tag of the element around stands too late."""
    name = tag[2].decode()
    if len(opened) < 2 or misplaced(name, opened[-2][0]):
        return
    parent, start, _ = opened[-1]
    end = element_end(text, start)
    close = text.rfind(b"<", 0, end)
    lead = _rstripped(text, tag.start())
    if end < 0 or close < tag.start():
        return
    line = text.count(b"\n", 0, end) + 1
    cause = f"<{parent}> is not closed before <{name}>, but in line {line}"
    moved = _rstripped(text, close)
    edits = Edit(lead, lead, text[moved:end]), Edit(moved, end, b"")
    change = f"</{parent}> stands before <{name}>"
    yield Slip(edits, change, cause, start, doubtful=True)


def _moved(text: bytes, tag: re.Match[bytes], opened: list[Opened]) -> Iterator[Slip]:
    """The element stands where it belongs: beside one around it, or in the section beside that."""
    name = tag[2].decode()
    end = element_end(text, tag.start())
    if end < 0:
        return
    lead = _rstripped(text, tag.start())
    whole, gone = text[lead:end], Edit(lead, end, b"")
    parent = opened[-1][0]
    cause = f"<{name}> stands in <{parent}>"
    for depth in range(2, len(opened) + 1):
        outer, (inner, start, _) = opened[-depth][0], opened[-depth + 1]
        if name in CHILDREN.get(outer, ()):
            at = _rstripped(text, start)
            put = Edit(at, at, whole)
            yield Slip(
                (put, gone), f"it stands before <{inner}>", cause, tag.start(), doubtful=True
            )
            stop = element_end(text, start)
            if stop >= 0:
                put = Edit(stop, stop, whole)
                yield Slip(
                    (gone, put), f"it stands behind <{inner}>", cause, tag.start(), doubtful=True
                )
            return
        for section in CHILDREN.get(outer, ()):
            if name in CHILDREN.get(section, ()):
                at = _into_section(text, section, start)
                if at >= 0:
                    change = f"it stands in <{section}>"
                    edits = tuple(sorted((Edit(at, at, whole), gone)))
                    yield Slip(edits, change, cause, tag.start(), doubtful=True)


def _into_section(text: bytes, section: str, start: int) -> int:
    """Where the section ends that is beside the element that begins at an offset; -1 for none."""
    end = element_end(text, start)
    if end < 0:
        return -1
    behind = NAME.match(text, _lead(text, end))
    if behind is not None and behind[2].decode("ascii", "replace") == section:
        stop = element_end(text, behind.start())
        return _rstripped(text, text.rfind(b"<", 0, stop)) if stop >= 0 else -1
    close = f"</{section}>".encode()
    before = _rstripped(text, start)
    if text.endswith(close, 0, before):
        return _rstripped(text, before - len(close))
    return -1


def _end_of_run(text: bytes, start: int, holder: str) -> int:
    """Where the elements end, from an offset on, that another may hold."""
    end = start
    while True:
        at = _lead(text, end)
        tag = NAME.match(text, at)
        if tag is None or tag[1] or tag[2].decode("ascii", "replace") not in CHILDREN[holder]:
            return end
        stop = element_end(text, at)
        if stop < 0:
            return end
        end = stop


def _lead(text: bytes, at: int) -> int:
    """The next offset at which there is no white space."""
    while text[at : at + 1].isspace():
        at += 1
    return at


def _rstripped(text: bytes, at: int) -> int:
    """Where the white space before an offset begins."""
    while at and text[at - 1 : at].isspace():
        at -= 1
    return at
