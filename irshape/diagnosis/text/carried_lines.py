"""Lines that were cut out at one place of a text and pasted at another, in another layer.

At both places the order of lines breaks. Where the lines go back, it does at neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...formats.ir.edits import Edit
from .format_tables import BODIES
from .line_grammar import Place, Tag, lines_of, step, tag_of, walk
from .out_of_place import Opened
from .stray_text import Slip
from .structure import Structure

LONGEST = 12
"""So many lines may have been carried off."""
REACH = 160
"""So many lines from the last layer or edge that is whole, the order has to break."""
_HELD_BY = {"layer": "layers", "edge": "edges"}
_HOLDERS = ("net", "layers", "layer", "edges", *BODIES)


class _Tear(NamedTuple):
    """The lines around a place where the order breaks: from a whole layer or edge to another."""

    starts: list[int]
    """Where each of the lines begins."""
    tags: list[Tag | None]
    states: list[Place]
    """What is known before each line up to the first that may not stand there."""
    opened: tuple[Opened, ...]
    """The elements around the last line."""


def in_carried_lines(structure: Structure) -> Iterator[Slip]:
    """What may be meant where the order of lines breaks in two layers, the fewest lines first."""
    first = _tear(structure)
    if first is None:
        return
    text = structure.text
    second = _tear(Structure(text, first.starts[-1], first.opened))
    if second is None:
        return
    ways = [
        (length, at, place, here, there)
        for here, there in ((first, second), (second, first))
        for at, length in _superfluous(here)
        for place in _gaps(there, here.tags[at : at + length])
    ]
    for length, at, place, here, there in sorted(ways, key=lambda way: way[0]):
        start, end, put = here.starts[at], here.starts[at + length], there.starts[place]
        edits = sorted((Edit(start, end, b""), Edit(put, put, text[start:end])))
        line, to = text.count(b"\n", 0, start) + 1, text.count(b"\n", 0, put) + 1
        shown = f"line {line}" if length == 1 else f"lines {line} to {line + length - 1}"
        offset = edits[0].start
        offset += len(text[offset:]) - len(text[offset:].lstrip())
        cause = f"{shown} stood before line {to}"
        yield Slip(tuple(edits), "put back there", cause, offset, doubtful=True)


def _tear(structure: Structure) -> _Tear | None:
    """Where the order of lines first breaks; None if nowhere, or not near a whole layer."""
    _ = structure.is_sound  # which looks at the text
    text = structure.text
    at, opened = structure.before(len(text))
    around = list(opened)
    starts: list[int] = []
    tags: list[Tag | None] = []
    states = [structure.place(opened)]
    is_broken = False
    while at < len(text) and len(starts) < REACH:
        end = text.find(b"\n", at) + 1 or len(text)
        for line in lines_of(text[at:end]):
            tag = tag_of(line)
            starts.append(at)
            tags.append(tag)
            if is_broken and tag is not None and _goes_on(tag, around):
                return _Tear(starts, tags, states, tuple(around))
            if tag is not None and not tag.empty and tag.name in _HOLDERS:
                _enter_or_leave(tag, around, at)
            behind = step(states[-1], tag) if tag is not None and not is_broken else None
            if behind is None:
                is_broken = True
            else:
                states.append(behind)
            at += len(line)
    return None


def _goes_on(tag: Tag, around: list[Opened]) -> bool:
    """Whether a layer or an edge begins; `around` comes to be what is around it."""
    holder = _HELD_BY.get(tag.name) if not tag.closes else None
    while holder is not None and around:
        if around[-1][0] == holder:
            return True
        around.pop()
    return False


def _enter_or_leave(tag: Tag, around: list[Opened], at: int) -> None:
    if not tag.closes:
        around.append((tag.name, at, at))
    elif any(name == tag.name for name, _, _ in around):
        while around.pop()[0] != tag.name:
            pass


def _superfluous(tear: _Tear) -> Iterator[tuple[int, int]]:
    """The lines without which the order does not break: the first of them, and how many."""
    broken = len(tear.states) - 1
    for length in range(1, LONGEST + 1):
        for at in range(broken, -1, -1):
            if at + length < len(tear.tags) and _fits(tear.states[at], tear.tags[at + length :]):
                yield at, length


def _gaps(tear: _Tear, carried: list[Tag | None]) -> Iterator[int]:
    """The lines before which some others can stand, so that the order does not break."""
    for at in range(len(tear.states) - 1, -1, -1):
        if _fits(tear.states[at], [*carried, *tear.tags[at:]]):
            yield at


def _fits(place: Place, tags: list[Tag | None]) -> bool:
    return walk(place, tags)[0] == len(tags)
