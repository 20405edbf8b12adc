"""The slips for which a text is not well-formed XML, where no single one explains that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ...formats.ir.reader import read
from ...model.graph import NotReadable
from ...model.source import Source
from ...rule_ids import MALFORMED_XML, NOT_AN_IR
from ..candidate import Diagnosis
from .format_tables import CHILDREN, KNOWN
from .proofs import end_of_parsing
from .structure import first_slip
from .well_formed import MAX_SIZE, malformed_cause

MAX_SLIPS = 3
"""So many slips are told at most: with more, the text is something else."""
_TRIED = 4
"""Before so many layers or edges behind a slip the text may be divided."""
_RUNS = re.compile(rb"<(layer|edge) "), re.compile(rb"<(layer|data|input|output|port|dim|edge)\b")
"""Where a text is divided: between layers or edges, else within them."""
_HELD_IN = {
    child: tuple(name for name in CHILDREN if child in CHILDREN[name])
    for child in KNOWN - {"rt_info", "meta_data"}
}
"""What each element may stand in."""
_HOLDERS = "|".join(name for name in CHILDREN if name not in ("dim", "data", "edge"))
_HOLDER = re.compile(rb"<(/?)(%s)\b[^<>]*?(/?)>" % _HOLDERS.encode())


def malformed_causes(unreadable: NotReadable) -> list[Diagnosis]:
    """What a file cannot be read for, each with what takes it back; nothing where that is unknown.

    Where no single slip is it, the text is divided before the next layer or edge behind the first
    place where it goes wrong, and each part looked at as if the other were right.
    """
    cause = malformed_cause(unreadable)
    causes = list(islice(_of_parts(unreadable, cause), MAX_SLIPS + 1))
    if 1 < len(causes) <= MAX_SLIPS:
        return causes
    return [] if cause is None else [cause]


def _of_parts(unreadable: NotReadable, cause: Diagnosis | None) -> Iterator[Diagnosis]:
    """The single cause in a text; where there is none, the cause in each part of it."""
    parts = _divided(unreadable) if cause is None or not cause.candidates else None
    if parts is None:
        yield _told(unreadable, cause)
        return
    place, before, behind = parts
    yield _inside(_told(before, malformed_cause(before)), 0, place)
    for each in _of_parts(behind, malformed_cause(behind)):
        yield _inside(each, place, len(unreadable.source.data))


def _told(unreadable: NotReadable, cause: Diagnosis | None) -> Diagnosis:
    finding = unreadable.finding
    return Diagnosis(finding, (finding,), (), False) if cause is None else cause


def _inside(cause: Diagnosis, start: int, end: int) -> Diagnosis:
    """A cause in a part of a text without the changes of what was put around the part."""
    candidates = tuple(
        each
        for each in cause.candidates
        if all(start <= edit.start and edit.end <= end for edit in each.edits)
    )
    certain = cause.certain and candidates[:1] == cause.candidates[:1]
    return cause._replace(candidates=candidates, certain=certain)


def _divided(unreadable: NotReadable) -> tuple[int, NotReadable, NotReadable] | None:
    """Where a text is divided, and the two parts, neither of which can be read; None if there is
    but one place where it goes wrong."""
    source, stopped = unreadable.source, unreadable.finding.offset
    text = source.data
    if (
        source.raw is not None
        or len(text) > MAX_SIZE
        or unreadable.finding.rule not in (MALFORMED_XML, NOT_AN_IR)
    ):
        return None
    wrong = first_slip(text, 0, [])
    stops = {stopped} if wrong is None else {stopped, min(stopped, wrong.offset)}
    for stop in sorted(stops):
        part = text
        for runs in _RUNS:
            places, part = _divisions(part, stop + 1, runs)
            for place, holders in places:
                before = _unreadable(source, _before(part, place, holders))
                behind = before and _unreadable(source, _behind(part, place, holders))
                if before is not None and behind is not None:
                    return place, before, behind
    return None


def _unreadable(source: Source, text: bytes) -> NotReadable | None:
    try:
        read(Source(source.path, text, source.encoding))
    except NotReadable as unreadable:
        return unreadable
    return None


def _divisions(
    text: bytes, start: int, runs: re.Pattern[bytes]
) -> tuple[list[tuple[int, list[str]]], bytes]:
    """The places behind another from which a text goes wrong too, the furthest behind first, each
    with what holds it, the innermost first; and the text up to where it is right from."""
    places: list[tuple[int, int, list[str]]] = []
    for tag in islice(runs.finditer(text, start), _TRIED):
        place, holders = tag.start(), _holders(text, tag.start(), tag[1].decode())
        if holders[-1:] != ["net"]:
            continue
        end = end_of_parsing(_behind(text, place, holders))
        if end is None:
            text = _before(text, place, holders)
            break
        places.append((-end, place, holders))
    return [(place, holders) for _, place, holders in sorted(places)], text


def _holders(text: bytes, place: int, name: str) -> list[str]:
    """The elements around one that begins at a place, as the end tags behind it tell."""
    holders: list[str] = []
    inner: list[str] = []
    outer = _HELD_IN[name]
    for tag in _HOLDER.finditer(text, place):
        name = tag[2].decode()
        if tag[3]:
            continue
        if not tag[1]:
            inner.append(name)
        elif name in inner:
            del inner[len(inner) - 1 - inner[::-1].index(name) :]
        elif name in outer:
            holders.append(name)
            inner, outer = [], _HELD_IN.get(name, ())
    return holders


def _before(text: bytes, place: int, holders: list[str]) -> bytes:
    """The text up to a place, with the end tags of what holds it."""
    return text[:place] + b"".join(b"</%s>" % name.encode() for name in holders)


def _behind(text: bytes, place: int, holders: list[str]) -> bytes:
    """The text from a place on, at the same places and in the same lines, inside what holds it."""
    declared = text.find(b"?>") + 2 if text.startswith(b"<?xml") else 0
    names = (name if name != "net" else 'net version="11"' for name in reversed(holders))
    head = b"".join(b"<%s>" % name.encode() for name in names)
    lines = text.count(b"\n", declared, place)
    blanks = place - declared - len(head) - lines
    around = b"\n" * lines + b" " * blanks + head
    return text[:declared] + around + text[place:] if blanks >= 0 else text
