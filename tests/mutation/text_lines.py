"""Where the elements of a document stand, by line, and which of them an edit changes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate

from faults import BODIES, Where

_BLOCK = 1 << 12


class Row(NamedTuple):
    """An element: its first and last line, from 1 on, and the index of its parent, or -1."""

    first: int
    last: int
    name: str
    attributes: dict[str, str]
    parent: int


def rows_of(data: bytes) -> list[Row]:
    """The elements of a text in file order, as far as it is well-formed."""
    stack: list[int] = []
    parser = ParserCreate()
    firsts: list[tuple[int, str, dict[str, str], int]] = []
    lasts: dict[int, int] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        parent = stack[-1] if stack else -1
        stack.append(len(firsts))
        firsts.append((parser.CurrentLineNumber, name, attributes, parent))

    def end(name: str) -> None:
        lasts[stack.pop()] = parser.CurrentLineNumber

    parser.StartElementHandler, parser.EndElementHandler = start, end
    with suppress(ExpatError):
        parser.Parse(data, True)
    return [
        Row(line, lasts.get(index, line), name, attributes, parent)
        for index, (line, name, attributes, parent) in enumerate(firsts)
    ]


class TextLines:
    """The elements of a document, found by line."""

    def __init__(self, data: bytes, rows: list[Row] | None = None) -> None:
        self.data = data
        self.rows = rows_of(data) if rows is None else rows
        self.starts = [0, *accumulate(len(line) + 1 for line in data.split(b"\n"))]
        """Where each line begins."""
        self.by_line: dict[int, list[Row]] = {}
        for row in self.rows:
            self.by_line.setdefault(row.first, []).append(row)
        self.firsts = [row.first for row in self.rows]
        self.ids: dict[str | None, list[Row]] = {}
        """The layers by id, in whatever body."""
        self.edges: dict[str | None, list[Row]] = {}
        """The edges by the ids of their ends."""
        for row in self.rows:
            if row.name == "layer":
                self.ids.setdefault(row.attributes.get("id"), []).append(row)
            elif row.name == "edge":
                for end in {row.attributes.get("from-layer"), row.attributes.get("to-layer")}:
                    self.edges.setdefault(end, []).append(row)

    def line(self, offset: int) -> int:
        """The line of an offset, from 1 on."""
        return bisect_right(self.starts, offset)

    def around(self, line: int, names: tuple[str, ...] = ()) -> Row | None:
        """The innermost element around a line, of some names."""
        at = bisect_right(self.firsts, line) - 1
        while at >= 0:
            row = self.rows[at]
            if row.last >= line and (not names or row.name in names):
                return row
            at = row.parent
        return None

    def elements(self, line: int) -> set[int]:
        """The lines of the elements that begin in a line, of ports for their dimensions.

        Where none begins there, that around the line.
        """
        starting = self.by_line.get(line)
        if starting:
            lines = {line}
            lines.update(self.rows[row.parent].first for row in starting if row.name == "dim")
            return lines
        row = self.around(line)
        return {line if row is None else row.first}

    def layer_at(self, line: int) -> set[int]:
        """The line of the innermost layer around a line."""
        row = self.around(line, ("layer",))
        return set() if row is None else {row.first}

    def path(self, row: Row) -> tuple[str, ...]:
        """The layers and bodies around an element."""
        path: list[str] = []
        while row.parent >= 0:
            row = self.rows[row.parent]
            if row.name in BODIES:
                path[:0] = [self.rows[row.parent].attributes.get("id", ""), row.name]
        return tuple(path)


def common_ends(before: bytes, after: bytes) -> tuple[int, int]:
    """How many bytes two texts have in common at the beginning, and how many behind those."""
    most = min(len(before), len(after))
    head = _same(lambda at, to: before[at:to] == after[at:to], most)
    old, new = len(before), len(after)
    tail = _same(
        lambda at, to: before[old - to : old - at] == after[new - to : new - at], most - head
    )
    return head, tail


def _same(equal: Callable[[int, int], bool], most: int) -> int:
    """How far two texts are equal."""
    at = 0
    while at < most and equal(at, min(at + _BLOCK, most)):
        at = min(at + _BLOCK, most)
    low, high = at, min(at + _BLOCK, most)
    while low < high:
        middle = (low + high + 1) // 2
        if equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def expected_lines(before: TextLines, after: bytes, where: Where | None) -> set[int]:
    """The lines of the elements that an edit changes, where a finding stands rightly.

    Of what is gone, the layer that lacks it counts: with its ports and edges.
    """
    head, _ = common_ends(before.data, after)
    start = before.line(head) - 1
    at = before.starts[start]
    old, new = before.data[at:].split(b"\n"), after[at:].split(b"\n")
    tail = _equal_at_the_end(old, new)
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    changes = _changes(old, new)
    text = _neighbourhood(before, after, start, len(old), len(new))
    lines: set[int] = set()
    for a, b, c, d in changes:
        if c == d:
            lines |= text.elements(start + c) | text.layer_at(start + c)
        for line in range(start + c + 1, start + d + 1):
            lines |= text.elements(line)
        if c < d and b - a > d - c:
            lines |= text.layer_at(start + c + 1)
        if b - a > d - c:
            lines |= _lacking(old[a:b], text, where)
    return lines


def _equal_at_the_end(old: list[bytes], new: list[bytes]) -> int:
    """How many lines behind the first are equal at the end."""
    most = min(len(old), len(new)) - 1
    tail = 0
    while tail < most and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return tail


def _changes(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int, int]]:
    """Which lines become which others."""
    if len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [(at, at + 1, at, at + 1) for at, (one, other) in pairs if one != other]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [opcode[1:] for opcode in matcher.get_opcodes() if opcode[0] != "equal"]


class _Neighbourhood:
    """The elements of an edited document, of which only those around the edit are read anew."""

    def __init__(self, before: TextLines, part: TextLines, first: int, last: int, by: int) -> None:
        self.before = before
        self.part = part
        self.first = first
        """The line before the part."""
        self.last = last
        """The last line of what the part was."""
        self.by = by
        """How many lines were added."""

    def elements(self, line: int) -> set[int]:
        return {self.first + each for each in self.part.elements(line - self.first)}

    def layer_at(self, line: int) -> set[int]:
        return {self.first + each for each in self.part.layer_at(line - self.first)}

    def rows(self, known: list[Row], anew: list[Row]) -> list[tuple[int, int]]:
        """The first and last lines of rows of the old document and of those of the part."""
        spans = [(row.first, row.last) for row in known if row.last <= self.first]
        spans += [(row.first + self.first, row.last + self.first) for row in anew]
        return spans + [
            (row.first + self.by, row.last + self.by) for row in known if row.first > self.last
        ]

    def of_layer(self, number: str | None) -> list[tuple[int, int]]:
        return self.rows(self.before.ids.get(number, []), self.part.ids.get(number, []))

    def of_edges(self, number: str | None) -> list[tuple[int, int]]:
        return self.rows(self.before.edges.get(number, []), self.part.edges.get(number, []))


def _neighbourhood(
    before: TextLines, after: bytes, start: int, old: int, new: int
) -> _Neighbourhood:
    """The elements of an edited document. start: the lines before it; old, new: its lines."""
    units = [_unit(before, line) for line in (start, start + 1, start + old, start + old + 1)]
    whole = [row for row in units if row is not None]
    if len(whole) < len(units):
        return _Neighbourhood(before, TextLines(after), 0, 1 << 40, 0)
    first, last = min(row.first for row in whole) - 1, max(row.last for row in whole)
    begin = before.starts[first]
    behind = len(before.data) - before.starts[last]
    part = b"<part>" + after[begin : len(after) - behind] + b"</part>"
    return _Neighbourhood(before, TextLines(part), first, last, new - old)


def _unit(before: TextLines, line: int) -> Row | None:
    """The outermost layer or edge around a line, if it has its lines for itself."""
    row = before.around(line, ("layer", "edge"))
    while row is not None:
        parent = row.parent
        outer = None
        while parent >= 0:
            above = before.rows[parent]
            if above.name in ("layer", "edge"):
                outer = above
            parent = above.parent
        if outer is None:
            return row
        row = outer
    return None


def _lacking(lost: list[bytes], text: _Neighbourhood, where: Where | None) -> set[int]:
    """The layer from which an edge, or another layer, is gone: its ports and edges count."""
    if not any(b"<edge " in line or b"<layer " in line for line in lost):
        return set()
    target = re.search(rb'<edge [^>]*?to-layer="(.*?)"', b"".join(lost))
    owner = where.id if where is not None else target and target[1].decode()
    number = re.search(rb'<layer [^>]*?id="(.*?)"', lost[0])
    lines: set[int] = set()
    if number is not None:
        lines.update(first for first, _ in text.of_edges(number[1].decode()))
    for first, last in text.of_layer(owner) if owner else ():
        lines.update(range(first, last + 1))
    return lines
