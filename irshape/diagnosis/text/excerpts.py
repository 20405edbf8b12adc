"""The lines around the first that stands where writers do not put it, and others in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from ...formats.ir.edits import Edit
from .format_tables import BODIES, KNOWN
from .line_grammar import NEUTRAL, Place, Tag, lines_of, step, tag_of, walk
from .out_of_place import Opened
from .slip import Slip, edited
from .structure import Structure

BEFORE, BEHIND = 24, 40
"""So many lines around the place where the order of lines breaks are looked at."""
LONGEST = 4000
"""An excerpt has no lines longer than this."""
_FREE = ("rt_info", "meta_data")
"""Elements that hold what they like."""
_HELD_BY = {"layer": "layers", "edge": "edges"}
_HOLDERS = ("net", "layers", "layer", "edges", "edge", *BODIES)


def _is_odd(tag: Tag) -> bool:
    """Whether a tag is none of an IR, or lacks what it needs."""
    return tag.name != "net" and (tag.name not in KNOWN or not tag.is_complete)


class Excerpt:
    """The lines around the first one that stands where writers do not put it."""

    def __init__(
        self,
        text: bytes,
        lines: list[bytes],
        starts: list[int],
        begin: Place,
        opened: Sequence[Opened] = (),
        joint: tuple[int, Place] | None = None,
    ) -> None:
        """starts: where each line begins in the text, and where the last one ends.

        begin: what is known before the first line. opened: the elements around it. joint: a line
        before which others are left out that are right, and what is known there.
        """
        self.text = text
        self.lines = lines
        self.starts = starts
        self.begin = begin
        self.opened = opened
        self.joint = joint
        self._numbers: dict[int, int] = {}

    @classmethod
    def around(
        cls, structure: Structure, first: int, last: int = 0, more: int = BEFORE + BEHIND
    ) -> Excerpt:
        """The lines from before the first of two places to behind the last, and so many more."""
        text = structure.text
        start, opened = structure.before(first)
        end = start
        for _ in range(more + text.count(b"\n", start, max(last, start))):
            end = text.find(b"\n", end) + 1
            if not end:
                end = len(text)
                break
        lines = lines_of(text[start:end])
        starts = list(accumulate(map(len, lines), initial=start))
        return cls(text, lines, starts, structure.place(opened), opened)

    def with_next(self) -> Excerpt | None:
        """The lines up to the next layer or edge, and those around the next break."""
        around = list(self.opened)
        names = [name for name, _, _ in around]
        for at, (tag, start) in enumerate(zip(self.tags, self.starts, strict=False)):
            if tag is None or tag.name not in _HOLDERS:
                continue
            held = "" if tag.closes else _HELD_BY.get(tag.name, "")
            if held and at > self.broken and held in names:
                del around[len(names) - names[::-1].index(held) :]
                return self._joined(
                    at, Structure(self.text, start, tuple(around), self.begin.jumps)
                )
            if tag.closes and tag.name in names:
                last = len(names) - 1 - names[::-1].index(tag.name)
                del around[last:], names[last:]
            elif not tag.closes and not tag.empty:
                around.append((tag.name, start, start))
                names.append(tag.name)
        return None

    def _joined(self, at: int, rest: Structure) -> Excerpt | None:
        """The lines up to one, and those around the first break in the rest of the text."""
        other = Excerpt.around(rest, len(self.text))
        ends = (
            index + 1
            for index, tag in enumerate(other.tags)
            if index > other.broken and tag is not None and not tag.closes and tag.name in _HELD_BY
        )
        end = next(ends, len(other.lines))
        if other.broken >= end:
            return None
        lines = self.lines[: at + 1] + other.lines[:end]
        starts = self.starts[: at + 1] + other.starts[: end + 1]
        return Excerpt(self.text, lines, starts, self.begin, joint=(at + 1, other.begin))

    @cached_property
    def tags(self) -> list[Tag | None]:
        """The tags of the lines; None for a line that is not one whole tag of an IR."""
        if self.joint is not None:  # a line that is right where it belongs, is whole
            return list(map(tag_of, self.lines))
        tags: list[Tag | None] = []
        inside = 0
        for line in self.lines:
            tag = tag_of(line)
            if tag is not None and tag.name in _FREE:
                inside += 0 if tag.empty else -1 if tag.closes else 1
            elif tag is not None and tag is not NEUTRAL and not inside and _is_odd(tag):
                tag = None
            tags.append(tag)
        return tags

    @cached_property
    def states(self) -> list[Place]:
        """What is known before each line, up to the first that may not stand there."""
        states = [self.begin]
        for tag in self.tags:
            behind = step(states[-1], tag) if tag is not None else None
            if behind is None:
                break
            states.append(behind)
        return states

    @property
    def broken(self) -> int:
        """The first line that may not stand where it does."""
        return len(self.states) - 1

    def goes_on(self, place: Place, tags: Sequence[Tag | None], at: int) -> bool:
        """Whether some tags may stand at a place, and behind them the lines from one on."""
        count, behind = walk(place, tags)
        return count == len(tags) and self.behind(behind, at, len(self.tags)) is not None

    def behind(self, place: Place | None, start: int, end: int) -> Place | None:
        """What is known behind some lines that stand at a place; None where they may not."""
        if place is None:
            return None
        known = self._behind.setdefault((place, start), [place])
        while len(known) <= end - start:
            last, tag = known[-1], self.tags[start + len(known) - 1]
            if last is None:
                return None
            behind = step(last, tag) if tag is not None else None
            if self.joint is not None and behind is not None:
                at, there = self.joint
                behind = there if at == start + len(known) else behind
            known.append(behind)
        return known[end - start]

    def slip(self, way: Rewriting) -> Slip | None:
        """The slip that is taken back by a rewriting; None if it breaks the order of lines."""
        place: Place | None = self.states[way.start]
        for piece in way.pieces:
            if isinstance(piece, slice):
                place = self.behind(place, piece.start, piece.stop)
            elif place is not None:
                tag = tag_of(piece)
                place = step(place, tag) if tag is not None else None
        if self.behind(place, way.end, len(self.tags)) is None:
            return None
        edits = tuple(self._edits(way))
        offset = _offset(self.text, edits[0])
        return Slip(edits, way.change, way.cause, offset, doubtful=True)

    def line(self, at: int) -> int:
        """The number of a line in the text, from 1 on."""
        if at not in self._numbers:
            self._numbers[at] = self.text.count(b"\n", 0, self.starts[at]) + 1
        return self._numbers[at]

    def named(self, start: int, end: int) -> str:
        """Some lines, in words."""
        first = self.line(start)
        last = first + end - start - 1
        return f"line {first}" if first == last else f"lines {first} to {last}"

    def _edits(self, way: Rewriting) -> Iterator[Edit]:
        """The edits of a rewriting: of the lines that stay, most are not touched."""
        parts, starts = way.pieces, self.starts
        kept = [each for each in parts if isinstance(each, slice)]
        if not kept:
            yield Edit(starts[way.start], starts[way.end], b"".join(map(self._text, parts)))
            return
        stays = max(kept, key=lambda each: starts[each.stop] - starts[each.start])
        at = parts.index(stays)
        before, behind = (b"".join(map(self._text, each)) for each in (parts[:at], parts[at + 1 :]))
        yield Edit(starts[way.start], starts[stays.start], before)
        yield Edit(starts[stays.stop], starts[way.end], behind)

    def _text(self, piece: Piece) -> bytes:
        if isinstance(piece, slice):
            return self.text[self.starts[piece.start] : self.starts[piece.stop]]
        return piece

    @cached_property
    def _behind(self) -> dict[tuple[Place, int], list[Place | None]]:
        """What is known behind each of the lines that follow a place, as far as they were tried."""
        return {}


Piece = bytes | slice
"""A line, or some lines of an excerpt."""


class Rewriting(NamedTuple):
    """What stands in the place of some lines: others that are added, and those of an excerpt."""

    start: int
    pieces: tuple[Piece, ...]
    end: int
    cause: str
    change: str
    price: tuple[int, ...] = (0,)
    """The least likely has the highest; those of which the first number is the same are rivals."""


def is_in_order(structure: Structure, edits: Sequence[Edit]) -> bool:
    """Whether the lines around some edits stand where writers put them, in the edited text."""
    start, opened = structure.before(min(edits).start)
    end = max(edit.end for edit in edits)
    for _ in range(BEHIND):
        end = structure.text.find(b"\n", end) + 1
        if not end:
            end = len(structure.text)
            break
    if end - start > BEHIND * LONGEST:
        return False
    inside = [Edit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    place: Place | None = structure.place(opened)
    for line in lines_of(edited(structure.text[start:end], inside)):
        tag = tag_of(line)
        place = step(place, tag) if place is not None and tag is not None else None
        if place is None:
            return False
    return True


def first_break(structure: Structure, stopped: int) -> int | None:
    """The first line before a place that cannot stand behind the line before it; None for none."""
    excerpt = Excerpt.around(structure, stopped, stopped)
    if excerpt.broken >= len(excerpt.lines) or excerpt.starts[excerpt.broken] > stopped:
        return None
    return excerpt.starts[excerpt.broken] + len(indent_of(excerpt.lines[excerpt.broken]))


def indent_of(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]


def _offset(text: bytes, edit: Edit) -> int:
    """The beginning of the line in which a text and the edited one first differ."""
    at, end = 0, edit.end + BEHIND * 8
    old = text[edit.start : end]
    new = edit.text + text[edit.end : end]
    while at < min(len(old), len(new)) and old[at] == new[at]:
        at += 1
    start = text.rfind(b"\n", 0, edit.start + at) + 1
    return start + len(indent_of(text[start : start + LONGEST]))
