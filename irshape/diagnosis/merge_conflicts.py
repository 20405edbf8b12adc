"""Merge conflicts that were left in a file: the side with which nothing is wrong is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from ..formats.ir.edits import Edit
from ..formats.ir.reader import read
from ..inference.engine import infer
from ..model.graph import NotReadable
from ..model.source import Source
from ..model.weights import Weights
from ..rules import Context
from .rereading import Rereading, graver_findings
from .stray_text import Slip, edited

_CONFLICT = re.compile(
    rb"^<{7}(?: [^\n]*)?\n(?P<ours>(?:(?![<|=>]{7})[^\n]*\n)*)"
    rb"(?:\|{7}(?: [^\n]*)?\n(?:(?![<=>]{7})[^\n]*\n)*)?"
    rb"={7} *\r?\n(?P<theirs>(?:(?![<|=>]{7})[^\n]*\n)*)>{7}(?: [^\n]*)?(?:\n|$)",
    re.MULTILINE,
)
_HALF = re.compile(rb"^={7} *\r?\n(?P<theirs>(?:(?![<|=>]{7})[^\n]*\n)*)>{7}(?: [^\n]*)?\n", re.M)
_SIDES = ("ours", "theirs")
MAX_TRIED = 8
"""How many choices of sides are tried; with more conflicts, one side is kept in all of them."""


def sides(source: Source) -> list[tuple[int, Slip]]:
    """How many errors and warnings each choice of sides leaves, and what it is; the best first."""
    conflicts = list(_CONFLICT.finditer(source.data)) if b"<" * 7 in source.data else []
    choices = [_kept(source.data, conflicts, choice) for choice in _choices(len(conflicts))]
    return rated(source, choices)


def rated(source: Source, choices: Sequence[Slip]) -> list[tuple[int, Slip]]:
    """Slips that exclude each other, each with how many errors and warnings it leaves.

    The first is read as a whole, the others where they differ from it.
    """
    known: tuple[Rereading, Slip] | None = None
    rows: list[tuple[int, Slip]] = []
    for slip in choices:
        if known is None:
            context = _read(source, slip)
            known = None if context is None else (Rereading(context), slip)
        else:
            rereading, first = known
            context = rereading.context_with([_difference(source.data, first, slip)])
        if context is not None:
            rows.append((sum(1 for _ in graver_findings(context)), slip))
    return sorted(rows, key=lambda each: each[0])


def _read(source: Source, slip: Slip) -> Context | None:
    """A text as rules look at it, without its .bin; None if it cannot be read."""
    text = edited(source.data, slip.edits)
    try:
        model = read(Source(source.path, text, source.encoding))
    except NotReadable:
        return None
    model.weights = Weights(None, None, "absent")
    return Context(model, infer(model, compare=True), reasons=False)


def _difference(text: bytes, one: Slip, other: Slip) -> Edit:
    """What makes the text with one slip that with another."""
    edits = (*one.edits, *other.edits)
    start, behind = min(edits).start, len(text) - max(edit.end for edit in edits)
    before, after = edited(text, one.edits), edited(text, other.edits)
    return Edit(start, len(before) - behind, after[start : len(after) - behind])


def half_a_conflict(text: bytes) -> Iterator[Slip]:
    """A conflict without its first mark: one of the sides goes, which may be of the same length."""
    half = _HALF.search(text) if b">" * 7 in text else None
    if half is None:
        return
    cause = "half a merge conflict was left in the file"
    whole = Edit(half.start(), half.end(), b"")
    yield Slip((whole,), "the first side is kept", cause, half.start())
    ours = half.start()
    for _ in range(half["theirs"].count(b"\n")):
        ours = text.rfind(b"\n", 0, max(ours - 1, 0)) + 1
    edits = Edit(ours, half.start("theirs"), b""), Edit(half.end("theirs"), half.end(), b"")
    yield Slip(edits, "the second side is kept", cause, half.start())


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
