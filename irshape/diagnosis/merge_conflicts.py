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
from ..rules import Context, findings
from .stray_text import Slip

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
    """Slips that exclude each other, each with how many errors and warnings it leaves."""
    rows = [(_problems(source, slip), slip) for slip in choices]
    return sorted(
        ((count, slip) for count, slip in rows if count is not None), key=lambda each: each[0]
    )


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


def _problems(source: Source, slip: Slip) -> int | None:
    """How many errors and warnings a choice leaves; None if the text cannot be read."""
    text = source.data
    for edit in sorted(slip.edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    try:
        model = read(Source(source.path, text, source.encoding))
    except NotReadable:
        return None
    model.weights = Weights(None, None, "absent")
    context = Context(model, infer(model, compare=True))
    return sum(finding.severity != "info" for finding in findings(context))
