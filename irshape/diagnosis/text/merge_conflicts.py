"""Merge conflicts that were left in a file: the side with which nothing is wrong is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from ...formats.ir.edits import Edit
from ...formats.ir.reader import read
from ...inference.engine import infer
from ...model.graph import Model, NotReadable
from ...model.source import Source
from ...model.weights import Weights
from ...rules import Context
from ..trials.nearby import problems_around
from .rereading import Rereading, graver_findings
from .slip import Slip, edited

_END = rb"(?: [^\n]*)?\r?\n"
_SIDE = rb"(?:(?![ \t]*[<|=>]{7})[^\n]*\n)*"
_LATER = rb"[ \t]*={7} *\r?\n(?P<theirs>%s)[ \t]*>{7}(?: [^\n]*)?(?:\n|$)" % _SIDE
_CONFLICT = re.compile(
    rb"^[ \t]*<{7}%s(?P<ours>%s)(?:[ \t]*\|{7}%s%s)?%s" % (_END, _SIDE, _END, _SIDE, _LATER),
    re.MULTILINE,
)
_MARK = re.compile(rb"^[ \t]*(<{7}|={7}|>{7})%s" % _END, re.MULTILINE)
_SIDES = ("ours", "theirs")
MAX_TRIED = 8
"""How many choices of sides are tried; with more conflicts, one side is kept in all of them."""


def sides(source: Source) -> list[tuple[int, Slip]]:
    """How many errors and warnings each choice of sides leaves, and what it is; the best first."""
    if b"=" * 7 not in source.data and b"<" * 7 not in source.data:
        return []
    conflicts = list(_CONFLICT.finditer(source.data))
    choices = [_kept(source.data, conflicts, choice) for choice in _choices(len(conflicts))]
    return rated(source, choices or list(half_a_conflict(source.data)))


def rated(source: Source, choices: Sequence[Slip]) -> list[tuple[int, Slip]]:
    """Slips that exclude each other, each with how many errors and warnings it leaves.

    Of two, only those around the place are counted, where these differ in number.
    """
    first = next(_readable(source, choices), None)
    if first is None:
        return []
    model, one = first
    others = choices[choices.index(one) + 1 :]
    if len(choices) == 2 and others:
        change = _difference(source.data, one, others[0])
        counts = problems_around(model, change)
        if counts is not None and counts[0] != counts[1]:
            return sorted(zip(counts, choices, strict=True), key=_count)
    context = Context(model, infer(model, compare=True), reasons=False)
    rows, rereading = [(_problems(context), one)], Rereading(context)
    for slip in others:
        with_it = rereading.context_with([_difference(source.data, one, slip)])
        if with_it is not None:
            rows.append((_problems(with_it), slip))
    return sorted(rows, key=_count)


def _count(row: tuple[int, Slip]) -> int:
    return row[0]


def _problems(context: Context) -> int:
    return sum(1 for _ in graver_findings(context))


def _readable(source: Source, slips: Iterable[Slip]) -> Iterator[tuple[Model, Slip]]:
    """The models of a text with those of some slips with which it can be read, without its .bin."""
    for slip in slips:
        text = edited(source.data, slip.edits)
        try:
            model = read(Source(source.path, text, source.encoding))
        except NotReadable:
            continue
        model.weights = Weights(None, None, "absent")
        yield model, slip


def _difference(text: bytes, one: Slip, other: Slip) -> Edit:
    """What makes the text with one slip that with another, as little as it can be."""
    edits = (*one.edits, *other.edits)
    start, behind = min(edits).start, len(text) - max(edit.end for edit in edits)
    before, after = edited(text, one.edits), edited(text, other.edits)
    old, new = before[start : len(before) - behind], after[start : len(after) - behind]
    head = _equal(old, new)
    old, new, start = old[head:], new[head:], start + head
    tail = _equal(old[::-1], new[::-1])
    return Edit(start, start + len(old) - tail, new[: len(new) - tail])


def _equal(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def half_a_conflict(text: bytes) -> Iterator[Slip]:
    """A conflict without one of its marks: one of its sides goes, which are of the same length."""
    marks = list(_MARK.finditer(text)) if b"=" * 7 in text or b">" * 7 in text else []
    if len(marks) != 2:
        return
    one, other = marks
    between = one.end(), other.start()
    lines = text[slice(*between)].splitlines(keepends=True)
    kinds = one[1][:1] + other[1][:1]
    if kinds == b"<=":  # the second side ends where no mark stands
        behind = text[other.end() :].splitlines(keepends=True)[: len(lines)]
        ours, theirs = between, (other.end(), other.end() + sum(map(len, behind)))
    elif kinds == b"=>":  # the first side begins where no mark stands
        before = text[: one.start()].splitlines(keepends=True)
        size = sum(map(len, before[max(0, len(before) - len(lines)) :]))
        ours, theirs = (one.start() - size, one.start()), between
    else:  # between the sides no mark stands
        middle = one.end() + sum(map(len, lines[: len(lines) // 2]))
        ours, theirs = (one.end(), middle), (middle, other.start())
    begin, stop = min(one.start(), ours[0]), max(other.end(), theirs[1])
    cause = "half a merge conflict was left in the file"
    for side, shown in ((ours, "first"), (theirs, "second")):
        edits = Edit(begin, side[0], b""), Edit(side[1], stop, b"")
        gone = begin if begin < side[0] else side[1]
        yield Slip(edits, f"the {shown} side is kept", cause, gone)


def _choices(count: int) -> Iterator[tuple[str, ...]]:
    if not count:
        return
    if 2**count <= MAX_TRIED:
        yield from product(_SIDES, repeat=count)
    else:
        yield from ((side,) * count for side in _SIDES)


def _kept(text: bytes, conflicts: list[re.Match[bytes]], choice: tuple[str, ...]) -> Slip:
    edits: list[Edit] = []
    for conflict, side in zip(conflicts, choice, strict=True):
        edits.append(Edit(conflict.start(), conflict.start(side), b""))
        edits.append(Edit(conflict.end(side), conflict.end(), b""))
    names = {"ours": "the first side is kept", "theirs": "the second side is kept"}
    change = ", ".join(names[side] for side in dict.fromkeys(choice))
    if len(set(choice)) > 1:
        change = "the sides kept are " + ", ".join(
            "first" if s == "ours" else "second" for s in choice
        )
    cause = "a merge conflict was left in the file"
    return Slip(tuple(edits), change, cause, conflicts[0].start())
