"""Lines that were lost, that stand there twice, or that stand a few lines further on.

Of the texts that come of putting them back, that one is meant in which every line stands where
writers put it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from itertools import accumulate, chain, groupby
from typing import NamedTuple

from ...formats.ir.edits import Edit
from ...spelling import counted
from .damaged_lines import Around, mended
from .format_tables import BODIES, CHILDREN, KNOWN
from .line_grammar import NEUTRAL, Place, Tag, lines_of, step, tag_of, walk
from .stray_text import Slip
from .structure import Structure

BEFORE, BEHIND = 24, 40
"""So many lines around the place where the order of lines breaks are looked at."""
MAX_BLOCK = 8
"""So many lines may stand there twice."""
MAX_MOVED = 6
"""So many lines may stand elsewhere."""
MAX_WAY = 14
"""So many lines further on they may stand."""
MAX_CARRIED = 12
"""So many lines may have been put into another layer."""
REACH = 160
"""So many lines behind the place where the order breaks, the next layer or edge begins."""
MAX_TAGS = 4
"""So many tags may be added."""
MAX_DAMAGED = 3
"""So many lines in a row may be no tags."""
_CONTROLS = re.compile(rb"[\x00-\x1f]+")
_WITH_PREFIX = re.compile(rb"</?([A-Za-z_][\w.:-]*)")
_FREE = ("rt_info", "meta_data")
"""Elements that hold what they like."""
NEAR = 3
"""So many lines before the place where the order breaks may be another."""
WIDTH = 40
"""So long is a line on the average."""
ALIKE = 0.6
"""How alike two names must be for one to be a misspelling of the other."""
MOST_NAMES = 40_000
"""In so many tags a name may be misspelt."""
CLOSED, REMOVED, REPLACED, OPENED, MOVED, SWAPPED = range(0, 600, 100)
"""What is likelier has the lower price: end tags are lost, lines stand there twice, …"""
_HELD_BY = {"layer": "layers", "edge": "edges"}
_HOLDERS = ("net", "layers", "layer", "edges", "edge", *BODIES)
LONGEST = 4000
"""A window has no lines longer than this."""


def _is_odd(tag: Tag) -> bool:
    """Whether a tag is none of an IR, or lacks what it needs."""
    return tag.name != "net" and (tag.name not in KNOWN or not tag.is_complete)


class _Window:
    """The lines around the first one that stands where writers do not put it.

    first: a place behind its beginning. last: a place before its end. more: so many lines follow.
    """

    def __init__(
        self, structure: Structure, first: int, last: int = 0, more: int = BEFORE + BEHIND
    ) -> None:
        text = self.text = structure.text
        start, self.opened = structure.before(first)
        end = start
        for _ in range(more + text.count(b"\n", start, max(last, start))):
            end = text.find(b"\n", end) + 1
            if not end:
                end = len(text)
                break
        self.lines = lines_of(text[start:end])
        self.starts = list(accumulate(map(len, self.lines), initial=start))
        self.begin = structure.place(self.opened)
        self.joint: tuple[int, Place] | None = None
        """A line before which others are left out that are right, and what is known there."""

    def with_next(self) -> _Window | None:
        """The lines up to the next layer or edge, and those around the next break."""
        around = list(self.opened)
        for at, (tag, start) in enumerate(zip(self.tags, self.starts, strict=False)):
            names = [name for name, _, _ in around]
            if tag is None or tag.name not in _HOLDERS:
                continue
            held = "" if tag.closes else _HELD_BY.get(tag.name, "")
            if at > self.broken and held in names:
                del around[len(names) - names[::-1].index(held) :]
                return self._joined(at, Structure(self.text, start, tuple(around)))
            if tag.closes and tag.name in names:
                del around[len(names) - 1 - names[::-1].index(tag.name) :]
            elif not tag.closes and not tag.empty:
                around.append((tag.name, start, start))
        return None

    def _joined(self, at: int, rest: Structure) -> _Window | None:
        _ = rest.is_sound  # which looks at the text
        both = _Window(rest, len(self.text))
        ends = (
            index + 1
            for index, tag in enumerate(both.tags)
            if index > both.broken and tag is not None and not tag.closes and tag.name in _HELD_BY
        )
        end = next(ends, len(both.lines))
        if both.broken >= end:
            return None
        both.joint, both.begin = (at + 1, both.begin), self.begin
        both.lines = self.lines[: at + 1] + both.lines[:end]
        both.starts = self.starts[: at + 1] + both.starts[: end + 1]
        del both.states
        both.tags = list(map(tag_of, both.lines))  # a line that is right where it belongs, is whole
        return both

    @cached_property
    def tags(self) -> list[Tag | None]:
        """The tags of the lines; None for a line that is not one whole tag of an IR."""
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
                at, place = self.joint
                behind = place if at == start + len(known) else behind
            known.append(behind)
        return known[end - start]

    def slip(self, way: _Rewriting) -> Slip | None:
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
        return self.text.count(b"\n", 0, self.starts[at]) + 1

    def named(self, start: int, end: int) -> str:
        """Some lines, in words."""
        first = self.line(start)
        last = first + end - start - 1
        return f"line {first}" if first == last else f"lines {first} to {last}"

    def _edits(self, way: _Rewriting) -> Iterator[Edit]:
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

    def _text(self, piece: _Piece) -> bytes:
        if isinstance(piece, slice):
            return self.text[self.starts[piece.start] : self.starts[piece.stop]]
        return piece

    @cached_property
    def _behind(self) -> dict[tuple[Place, int], list[Place | None]]:
        """What is known behind each of the lines that follow a place, as far as they were tried."""
        return {}


_Piece = bytes | slice
"""A line, or some lines of a window."""


class _Rewriting(NamedTuple):
    """What stands in the place of some lines: others that are added, and those of a window."""

    start: int
    pieces: tuple[_Piece, ...]
    end: int
    cause: str
    change: str
    price: tuple[int, ...] = (0,)
    """The least likely has the highest; those of which the first number is the same are rivals."""


def is_in_order(structure: Structure, edits: Sequence[Edit], after: bytes) -> bool:
    """Whether the lines around some edits stand where writers put them, in the edited text."""
    first = min(edits).start
    _ = structure.is_sound  # which looks at the text
    start, opened = structure.before(first)
    last = max(max(edit.end for edit in edits) + len(after) - len(structure.text), first)
    end = last
    for _ in range(BEHIND):
        end = after.find(b"\n", end) + 1
        if not end:
            end = len(after)
            break
    if end - start > BEHIND * LONGEST:
        return False
    place: Place | None = structure.place(opened)
    for line in lines_of(after[start:end]):
        tag = tag_of(line)
        place = step(place, tag) if place is not None and tag is not None else None
        if place is None:
            return False
    return True


def first_break(structure: Structure, stopped: int) -> int | None:
    """The first line before a place that cannot stand behind the line before it; None for none."""
    _ = structure.is_sound
    window = _Window(structure, stopped, stopped)
    if window.broken >= len(window.lines) or window.starts[window.broken] > stopped:
        return None
    return window.starts[window.broken] + len(_indent(window.lines[window.broken]))


def in_displaced_lines(structure: Structure, places: Sequence[int]) -> Iterator[Iterable[Slip]]:
    """What may be meant where the order of lines breaks, kind by kind, the least change first."""
    yield _in_names(structure, places)
    window = _Window(structure, min(places), max(places))
    if window.broken >= len(window.lines) or any(len(line) > LONGEST for line in window.lines):
        return
    if None in window.tags[: window.broken + BEFORE]:
        yield _mended(window)
    else:
        added = _bridged(window, 0, BEFORE), _bridged(window, 1, NEAR)
        yield from _in_groups(window, [*chain(_removed(window), *added)])
        yield from _in_groups(window, [*_moves(window), *_swaps(window)])
    both = _Window(structure, min(places), max(places), REACH).with_next()
    if both is not None:
        yield from _in_groups(both, list(_carried(both)))


def _in_groups(window: _Window, ways: list[_Rewriting]) -> Iterator[Iterable[Slip]]:
    """The slips that some rewritings take back, those together that are as likely."""
    ways.sort(key=lambda way: way.price)
    for _, group in groupby(ways, key=lambda way: way.price[0]):
        yield filter(None, map(window.slip, group))


def _indent(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip())]


def _offset(text: bytes, edit: Edit) -> int:
    """The beginning of the line in which a text and the edited one first differ."""
    at, end = 0, edit.end + BEHIND * 8
    old = text[edit.start : end]
    new = edit.text + text[edit.end : end]
    while at < min(len(old), len(new)) and old[at] == new[at]:
        at += 1
    start = text.rfind(b"\n", 0, edit.start + at) + 1
    return start + len(_indent(text[start : start + LONGEST]))


# lines that are no tags


def _mended(window: _Window) -> Iterator[Slip]:
    """A line is a part of a tag: it is written whole, and what is lost behind it is added."""
    first = window.tags.index(None)
    if first > window.broken:
        return
    last = first + 1
    while last < len(window.tags) and window.tags[last] is None and last - first < MAX_DAMAGED:
        last += 1
    damaged = b"".join(window.lines[first:last])
    following = next((tag for tag in window.tags[last : last + 1] if tag is not None), None)
    before = window.states[first]
    start = window.starts[first]
    for pieces in mended(damaged, Around(before, following, window.text, start)):
        lines = next(_in_between(window, before, pieces, first), None)
        tags = [tag_of(line) for line in lines or ()]
        added = _fitted(window, before, tags, last) if lines is not None else None
        if lines is None or added is None:
            continue
        indent = _indent(window.lines[first])
        whole = b"".join(indent + line + b"\n" for line in (*lines, *added))
        edit = Edit(start, window.starts[last], whole)
        shown = (lines[0] if lines else b"").decode("utf-8", "replace")
        cause = f"a part of a line is lost, or something else stands there: {_shown(damaged)}"
        change = f"it becomes {shown}" if lines else "it is removed"
        yield Slip((edit,), change, cause, start + len(_indent(damaged)), doubtful=True)


def _in_between(
    window: _Window, before: Place, pieces: Sequence[bytes], at: int
) -> Iterator[list[bytes]]:
    """Some tags, of which each may stand behind the one before, and others between two of them."""
    if not pieces:
        yield []
        return
    rest, line = pieces[1:], _with_id(pieces[0], before, window, at)
    tag = tag_of(line)
    ways: list[list[bytes]] = [[]]
    if tag is not None and step(before, tag) is None:
        ways = list(_bridges(before, tag, window, at)) if len(pieces) == 1 else []
    for texts in ways:
        count, place = walk(before, [tag_of(text) for text in texts])
        line = _with_id(pieces[0], place, window, at)
        tag = tag_of(line)
        behind = step(place, tag) if tag is not None and count == len(texts) else None
        for others in _in_between(window, behind, rest, at) if behind is not None else ():
            yield [*texts, line, *others]


def _with_id(line: bytes, before: Place, window: _Window, at: int) -> bytes:
    """A layer or a port with the id that comes next, and a port with a precision, if it lost it."""
    for name, number in ((b"port", before.port), (b"layer", before.layer)):
        start = b"<" + name
        if line.startswith(start) and b' id="' not in line and number >= 0:
            line = start + b' id="%d"' % number + line[len(start) :]
    if line.startswith(b"<port ") and b' precision="' not in line:
        end = line.find(b'"', line.find(b' id="') + 5) + 1
        line = line[:end] + _precision(window, at) + line[end:]
    return line


def _shown(text: bytes) -> str:
    words = _CONTROLS.sub("…".encode(), b" ".join(text.split()))
    return f"`{words[:60].decode('utf-8', 'replace')}`"


def _fitted(
    window: _Window, before: Place, tags: Sequence[Tag | None], last: int
) -> list[bytes] | None:
    """The tags that are added behind some, so that the lines that follow may stand there."""
    count, behind = walk(before, tags)
    if count < len(tags):
        return None
    if window.goes_on(behind, (), last):
        return []
    if last < len(window.tags):
        for texts in _bridges(behind, window.tags[last], window, last):
            if window.goes_on(behind, [tag_of(text) for text in texts], last):
                return texts
    return None


# lines that are lost


def _bridged(window: _Window, gone: int, before: int) -> Iterator[_Rewriting]:
    """Tags are added before a line, or in place of one, so that those behind may stand there."""
    for at in range(window.broken, max(-1, window.broken - before), -1):
        if at + gone >= len(window.lines):
            continue
        indent = _indent(window.lines[at])
        line = window.line(at)
        for texts in _bridges(window.states[at], window.tags[at + gone], window, at):
            shown = b"".join(texts).decode()
            lines = tuple(indent + text + b"\n" for text in texts)
            if gone:
                cause = f"{_shown(window.lines[at])} stands in the place of something else"
                yield _Rewriting(at, lines, at + 1, cause, f"it becomes {shown}", (REPLACED,))
            else:
                closes = all(text.startswith(b"</") for text in texts)
                cause = f"the lines before line {line} are lost"
                price = (CLOSED if closes else OPENED,)
                yield _Rewriting(at, lines, at, cause, f"{shown} is added", price)


def _bridges(place: Place, tag: Tag | None, window: _Window, at: int) -> Iterator[list[bytes]]:
    """Tags between a place and a line, which close what is open and open what is not."""
    if tag is None:
        return
    closers: list[bytes] = []
    opened = place.opened
    for _ in range(MAX_TAGS):
        chain = _chain(opened[-1] if opened else "", tag)
        if chain is not None and (closers or chain) and len(closers) + len(chain) <= MAX_TAGS:
            other = [_OTHER.get(name, name) for name in chain]
            for names in (chain, other) if other != chain else (chain,):
                texts = [*closers, *(_opening(name, place, closers, window, at) for name in names)]
                if all(texts):
                    yield texts
        if not opened:
            return
        closers.append(f"</{opened[-1]}>".encode())
        opened = opened[:-1]


_OTHER = {"input": "output", "output": "input"}
_CHAINS: dict[tuple[str, str], list[str]] = {
    ("layer", "port"): ["input"],
    ("layer", "dim"): ["input", "port"],
    ("input", "dim"): ["port"],
    ("output", "dim"): ["port"],
    ("layers", "data"): ["layer"],
    ("layers", "input"): ["layer"],
    ("layers", "output"): ["layer"],
    ("net", "layer"): ["layers"],
    ("net", "edge"): ["edges"],
}


def _chain(parent: str, tag: Tag) -> list[str] | None:
    """What has to be opened in an element, so that a tag may stand there; None if nothing helps."""
    if not tag.closes:
        if tag.name in CHILDREN.get(parent, ()):
            return []
        return _CHAINS.get((parent, tag.name))
    if tag.name == parent:
        return []
    if tag.name in CHILDREN.get(parent, ()):
        return [tag.name]
    inner = _CHAINS.get((parent, tag.name))
    return None if inner is None else [*inner, tag.name]


def _opening(name: str, place: Place, closers: list[bytes], window: _Window, at: int) -> bytes:
    """A start tag; a port or a layer has the id that comes next."""
    if name == "port":
        number = 0 if b"</layer>" in closers else place.port
        return b'<port id="%d"%s>' % (number, _precision(window, at))
    if name == "layer":
        return b'<layer id="%d">' % place.layer if place.layer >= 0 else b""
    return f"<{name}>".encode()


def _precision(window: _Window, at: int) -> bytes:
    """The precision of the nearest port, as an attribute."""
    before = range(at - 1, max(-1, at - BEFORE), -1)
    behind = range(at, min(at + BEFORE, len(window.lines)))
    for near in (*before, *behind):
        tag, line = window.tags[near], window.lines[near]
        start = line.find(b' precision="') if tag is not None and tag.name == "port" else -1
        if start >= 0:
            attribute: bytes = line[start : line.find(b'"', start + 12) + 1]
            return attribute
    return b""


# names of elements


def _in_names(structure: Structure, places: Sequence[int]) -> Iterator[Slip]:
    """The name of an element is misspelt in several tags in the same way."""
    text = structure.text
    start = structure.before(min(places))[0]
    names: dict[bytes, int] = {}
    for match in _WITH_PREFIX.finditer(text, start, max(places) + BEHIND * WIDTH):
        names.setdefault(match[1], match.start())
    for name, first in names.items():
        wrong = name.decode("ascii", "replace")
        own = wrong.lower().rpartition(":")[2]
        near = get_close_matches(own, KNOWN, 1, ALIKE) if wrong not in KNOWN else []
        if not near:
            continue
        pattern = re.compile(rb"(?<=<)(?P<close>/?)%s(?=[\s/>])" % re.escape(name))
        tags = list(pattern.finditer(text))
        if (":" in wrong or len(tags) > 1) and len(tags) <= MOST_NAMES:
            edits = tuple(Edit(tag.end(1), tag.end(), near[0].encode()) for tag in tags)
            cause = f"<{wrong}> is no element of an IR; it stands in {counted(len(tags), 'tag')}"
            yield Slip(edits, f"<{wrong}> becomes <{near[0]}>", cause, first, doubtful=True)
            words = list(re.finditer(re.escape(name), text))
            if len(tags) < len(words) <= MOST_NAMES:
                edits = tuple(Edit(*word.span(), near[0].encode()) for word in words)
                cause += ", and as a part of other words"
                yield Slip(edits, f"{wrong} becomes {near[0]}", cause, first, doubtful=True)


# lines that stand there twice, or elsewhere


def _removed(window: _Window) -> Iterator[_Rewriting]:
    """Some lines that are there elsewhere, too, are removed."""
    text, starts = window.text, window.starts
    most = min(window.broken + 2, len(window.lines), len(window.states))
    for length in range(1, MAX_BLOCK + 1):
        for at in range(most - 1, max(0, window.broken - length - 2) - 1, -1):
            end = at + length
            if end >= len(window.lines) or window.behind(window.states[at], end, end + 1) is None:
                continue
            if _stands_elsewhere(text, text[starts[at] : starts[end]], starts[at]):
                stands = "stands" if length == 1 else "stand"
                cause = f"{window.named(at, end)} {stands} there once too often"
                change = "they are removed" if length > 1 else "it is removed"
                yield _Rewriting(at, (), end, cause, change, (REMOVED, length))


def _stands_elsewhere(text: bytes, block: bytes, start: int) -> bool:
    words = block.strip()
    return text.find(words) < start or text.find(words, start + len(block)) >= 0


def _moves(window: _Window) -> Iterator[_Rewriting]:
    """Some lines stand before or behind some others: that first of which fewest lines are moved,
    and by the shortest way."""
    broken, count, states = window.broken, len(window.tags), window.states
    for first in range(max(0, broken - MAX_WAY), min(broken, count - 2) + 1):
        for middle in range(first + 1, min(first + MAX_WAY + MAX_MOVED, count)):
            if window.behind(states[first], middle, middle + 1) is None:
                continue
            for end in range(max(middle, broken) + 1, min(middle + MAX_WAY, count) + 1):
                moved = min(middle - first, end - middle)
                if moved <= MAX_MOVED:
                    shown = f"{window.named(first, middle)} and {window.named(middle, end)}"
                    price = MOVED + moved, end - first, middle != broken, -first
                    yield _Rewriting(
                        first,
                        (slice(middle, end), slice(first, middle)),
                        end,
                        f"{shown} stand in each other's place",
                        "they are exchanged",
                        price,
                    )


def _swaps(window: _Window) -> Iterator[_Rewriting]:
    """Two lines stand in each other's place, with others between them."""
    broken, tags = window.broken, window.tags
    for first in range(broken, max(-1, broken - NEAR), -1):
        for other in range(max(first + 2, broken), min(first + BEHIND, len(tags))):
            if window.behind(window.states[first], other, other + 1) is None:
                continue
            pieces = slice(other, other + 1), slice(first + 1, other), slice(first, first + 1)
            cause = (
                f"lines {window.line(first)} and {window.line(other)} stand in each other's place"
            )
            yield _Rewriting(
                first, pieces, other + 1, cause, "they are exchanged", (SWAPPED, -first)
            )


def _carried(window: _Window) -> Iterator[_Rewriting]:
    """Lines near one break were cut out near another, in another layer."""
    broken, count, states = window.broken, len(window.tags), window.states
    joint = window.joint[0] if window.joint is not None else count
    for first in range(broken, -1, -1):
        for middle in range(first + 1, count):
            there = middle >= joint
            behind = window.behind(states[first], middle, middle + 1 if there else joint)
            if behind is None or (not there and middle - first > MAX_CARRIED):
                continue
            most = min(middle + MAX_CARRIED, count - 1) if there else count - 1
            for end in range(max(joint, middle + 1), most + 1):
                start, stop, to = (middle, end, first) if there else (first, middle, end)
                cause = f"{window.named(start, stop)} stood before line {window.line(to)}"
                pieces = slice(middle, end), slice(first, middle)
                yield _Rewriting(first, pieces, end, cause, "put back there", (stop - start,))
