"""What is wrong with a text that is not well-formed XML, and where: not where a parser stumbles."""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(
    rb"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|"""
    rb"""<(?P<close>/?)(?P<name>[^\s<>/="'!?]+)(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""",
    re.DOTALL,
)
_CONFLICT = re.compile(
    rb"^<{7}(?: [^\n]*)?$.*?^={7}$.*?^>{7}(?: [^\n]*)?$", re.DOTALL | re.MULTILINE
)


class Malformation(NamedTuple):
    """A message, the offset of what is wrong, and what to do."""

    message: str
    offset: int
    help: str


def malformation(text: bytes, stopped: int) -> Malformation | None:
    """What makes an XML parser stop at an offset; None where that place is the right one."""
    return _merge_conflict(text) or _unclosed(text, stopped)


def _merge_conflict(text: bytes) -> Malformation | None:
    conflicts = list(_CONFLICT.finditer(text)) if b"\n<<<<<<<" in text else []
    if not conflicts:
        return None
    first = conflicts[0]
    line = text.count(b"\n", 0, first.start()) + 1
    last = text.count(b"\n", 0, first.end()) + 1
    others = f", and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
    return Malformation(
        f"a merge conflict was left in the file, in lines {line} to {last}{others}",
        first.start(),
        "decide which side of the conflict holds, and delete the other and the marks",
    )


def _unclosed(text: bytes, stopped: int) -> Malformation | None:
    """An element that another one's end tag closes: it is the one without an end tag."""
    opened: list[tuple[bytes, int]] = []
    for tag in _TAG.finditer(text):
        name = tag["name"]
        if name is None or tag[0].endswith(b"/>"):
            continue
        if not tag["close"]:
            opened.append((name, tag.start()))
        elif opened and opened[-1][0] == name:
            opened.pop()
        else:
            break
        if tag.start() > stopped:
            return None
    else:
        return None
    if abs(tag.start() - stopped) > len(tag[0]) or name not in {each for each, _ in opened}:
        return None
    missing, offset = opened[-1]
    line = text.count(b"\n", 0, tag.start()) + 1
    shown = missing.decode("utf-8", "replace")
    return Malformation(
        f"<{shown}> is not closed: </{name.decode('utf-8', 'replace')}> in line {line} comes "
        f"before </{shown}>",
        offset,
        f"add </{shown}>; nothing past line {line} was read",
    )
