"""What is too much at one place and missing at another, told as one."""

from __future__ import annotations

from itertools import permutations

from ...formats.ir.edits import Edit
from ...model.source import Source
from ..candidate import Candidate, Diagnosis
from .told import Causes

BESIDE = 4
"""So many tags from the place where an element is missing, another stands for it."""
MOST = 12
"""With more causes than this, no two of them are compared."""


def of_elements_elsewhere(causes: Causes) -> None:
    """An element is too much, and another is missing: that one, or one that stood in its place."""
    told = causes.diagnoses
    for extra, lacking in permutations(told, 2) if len(told) <= MOST else ():
        if extra in told and lacking in told:
            joined = _joined(causes.source, extra, lacking)
            if joined is not None:
                causes.add(joined)
                told = [each for each in told if each not in (extra, lacking)]


def _joined(source: Source, extra: Diagnosis, lacking: Diagnosis) -> Diagnosis | None:
    """What takes back both; None if the one has nothing to do with the other."""
    pairs: list[tuple[bool, Candidate, Candidate]] = []
    for other in lacking.candidates:
        added = _added(other)
        for one in extra.candidates if added is not None else ():
            gone = _removed(source, one)
            if gone is None or added is None:
                continue
            is_same = _is_rotated(_words(source.data[gone.start : gone.end]), _words(added.text))
            if is_same or _is_beside(source, gone, added):
                pairs.append((is_same, one, other))
                break
    if not pairs:
        return None
    pairs.sort(key=lambda pair: not pair[0])
    is_same, _, other = pairs[0]
    line = source.place(other.offset)[0]
    told = extra.finding
    follows = "it is missing in" if is_same else "it stands in the place of one that is missing for"
    fault = told.fault._replace(message=f"{told.message}; {follows} line {line}")
    explained = tuple(dict.fromkeys((*extra.explained, *lacking.explained)))
    related = tuple(finding for finding in explained if finding.offset != told.offset)
    candidates = tuple(
        one._replace(
            edits=tuple(sorted((*one.edits, *other.edits))),
            change=f"{one.change}, and {other.change}",
            cause=fault.message,
            becomes=None,
        )
        for _, one, other in pairs
    )
    certain = (is_same or extra.certain) and (lacking.certain or len(pairs) == 1)
    return Diagnosis(told._replace(fault=fault, related=related), explained, candidates, certain)


def _removed(source: Source, candidate: Candidate) -> Edit | None:
    """What a candidate takes away, if it does nothing else."""
    edit, *others = candidate.edits or (Edit(0, 0, b""),)
    is_alone = not others and not edit.text.strip()
    return edit if is_alone and source.data[edit.start : edit.end].strip() else None


def _added(candidate: Candidate) -> Edit | None:
    """What a candidate adds, if it does nothing else."""
    edit, *others = candidate.edits or (Edit(0, 0, b""),)
    return edit if not others and edit.start == edit.end and edit.text.strip() else None


def _words(text: bytes) -> bytes:
    return b"".join(text.split())


def _is_rotated(one: bytes, other: bytes) -> bool:
    """Whether two texts differ at most in where they begin."""
    return len(one) == len(other) and one in other + other


def _is_beside(source: Source, gone: Edit, added: Edit) -> bool:
    """Whether hardly anything stands between an element that goes and the place of another."""
    data = source.data
    if not all(
        text.lstrip().startswith(b"<") for text in (data[gone.start : gone.end], added.text)
    ):
        return False
    between = data[min(added.start, gone.end) : max(added.start, gone.start)]
    return added.start in range(gone.start, gone.end) or between.strip().count(b"<") <= BESIDE
