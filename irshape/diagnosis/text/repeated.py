"""A piece of a text that stands there twice, one behind the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ...formats.ir.edits import Edit
from .slip import Slip, edited
from .stray_text import element_before
from .structure import Structure

BEFORE, BEHIND = 1500, 300
"""So many bytes around the place where a parser stops the second of two pieces ends."""
PROBE, STEP = 16, 4
"""So many bytes at every few are looked for elsewhere."""
LONGEST = 1200
"""So long is a piece at most."""
MOST = 40
"""So many pieces are tried."""


def in_repeated_pieces(
    structure: Structure, places: Iterable[int], *, of_lines: bool = True
) -> Iterator[Slip]:
    """The second of two pieces goes; or it is a line that stands in the place of another.

    of_lines: whether they consist of whole lines.
    """
    text = structure.text
    every = (
        each
        for begin, stop in _stretches(places)
        for each in _pieces(text, begin, stop, of_lines=of_lines)
        if _is_lines(text, each[0], each[1]) == of_lines and text[each[0] : each[1]].strip()
    )
    pieces = list(dict.fromkeys(islice(every, MOST)))
    for start, end, differs in pieces:
        cause, offset = _named(text, start, end), element_before(text, Edit(differs, differs, b""))
        yield Slip((Edit(start, end, b""),), "it is removed", cause, offset, doubtful=True)
    for start, end, _ in pieces:
        line = text[start:end]
        if not of_lines or line.count(b"\n") > 1 or b"<dim>" in line:
            continue
        gone = Edit(start, end, b"")
        for slip in structure.slips_after([gone], edited(text, [gone])):
            edits = (gone, *(_moved_on(edit, start, end - start) for edit in slip.edits))
            cause = f"{_named(text, start, end)}, and {slip.cause}"
            change = f"it is removed, and {slip.change}"
            yield Slip(tuple(sorted(edits)), change, cause, start, doubtful=True)


def _stretches(places: Iterable[int]) -> list[tuple[int, int]]:
    """What is around some places, each part of a text once."""
    stretches: list[tuple[int, int]] = []
    for place in sorted(places):
        begin, stop = max(0, place - BEFORE), place + BEHIND
        if stretches and begin <= stretches[-1][1]:
            begin = stretches.pop()[0]
        stretches.append((begin, stop))
    return stretches


def _pieces(
    text: bytes, begin: int, stop: int, *, of_lines: bool
) -> Iterator[tuple[int, int, int]]:
    """The second pieces, of whole lines where that is possible; and where, without one of them,
    the text is another."""
    seen: dict[int, int] = {}
    stop = min(len(text), stop) - PROBE
    probes = _lines(text, begin, stop) if of_lines else _everywhere(text, begin, stop)
    for at, low, probe in probes:
        if probe.isspace():
            continue
        first = at
        while (first := text.rfind(probe, low, first + len(probe) - 1)) >= 0:
            way = at - first
            if seen.get(way, 0) > at:
                continue
            if not _may_be_long(text, at, first, len(probe)):
                seen[way] = at + len(probe)
                continue
            start, seen[way] = _alike(text, at, way)
            last = seen[way] - way
            if start <= last:
                line = text.find(b"\n", start - 1, last) + 1
                yield line or start, (line or start) + way, last


def _lines(text: bytes, begin: int, stop: int) -> Iterator[tuple[int, int, bytes]]:
    """Each line, with the end of the one before, which a piece may be; each with the next, of which
    a piece of more has at least one; and since where it is looked for."""
    at = text.find(b"\n", begin)
    while 0 <= at < stop and (end := text.find(b"\n", at + 1)) >= 0:
        yield at, max(0, 2 * at - end), text[at : end + 1]
        if (behind := text.find(b"\n", end + 1)) >= 0:
            yield at, max(0, at - LONGEST), text[at : behind + 1]
        at = end


def _everywhere(text: bytes, begin: int, stop: int) -> Iterator[tuple[int, int, bytes]]:
    """What is around the end of each line; and some bytes at every few, which stand twice in a
    piece of one line."""
    at = begin
    while at < stop:
        end = text.find(b"\n", at, stop)
        end = stop if end < 0 else end
        start = max(at - LONGEST if at == begin else at, 0)
        for inner in range(max(at, start + PROBE), end - PROBE + 1, STEP):
            yield inner, max(start, inner - LONGEST), text[inner : inner + PROBE]
        around = max(end - PROBE // 2, 0)
        yield around, max(0, around - LONGEST), text[around : around + PROBE]
        at = end + 1


def _may_be_long(text: bytes, at: int, first: int, size: int) -> bool:
    """Whether what is alike around two places may reach from one to the other: then half of it, but
    for what is known to be alike, stands before or behind that."""
    half = (at - first - size) // 2
    if half <= 0:
        return True
    if first >= half and text[first - half : first] == text[at - half : at]:
        return True
    return text[first + size : first + size + half] == text[at + size : at + size + half]


def _alike(text: bytes, at: int, way: int) -> tuple[int, int]:
    """What around a place is the same as what stands so far before it."""
    start = end = at
    least, most = max(way, at - LONGEST), min(len(text), at + 2 * LONGEST)
    while start > least and text[start - 1] == text[start - 1 - way]:
        start -= 1
    while end < most and text[end] == text[end - way]:
        end += 1
    return start, end


def _is_lines(text: bytes, start: int, end: int) -> bool:
    """Whether a piece consists of whole lines."""
    return text.endswith(b"\n", start, end) and text.endswith(b"\n", 0, start)


def _named(text: bytes, start: int, end: int) -> str:
    piece = text[start:end]
    if _is_lines(text, start, end):
        first, count = text.count(b"\n", 0, start) + 1, piece.count(b"\n")
        if count == 1:
            return f"line {first} stands there twice"
        return f"lines {first} to {first + count - 1} stand there twice"
    shown = b" ".join(piece.split())[:40].decode("utf-8", "replace")
    return f"`{shown}` stands there twice"


def _moved_on(edit: Edit, place: int, by: int) -> Edit:
    """An edit of a text that lacks some bytes at a place, as one of the text that has them."""
    start = edit.start + by * (edit.start > place)
    end = edit.end + by * (edit.end > place)
    return Edit(start, end, edit.text)
