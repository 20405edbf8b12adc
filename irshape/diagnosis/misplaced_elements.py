"""Causes in the text of a well-formed file: elements and texts that stand where none belong.

An end tag stands too early or too late, an element was moved or stands in a comment, a tag lacks a
bracket, or two lines stand in each other's place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ..faults import Fault
from ..formats.ir.edits import Edit
from ..formats.ir.elements import OPAQUE
from ..formats.ir.reader import read
from ..formats.ir.text_between import texts_between
from ..inference.engine import infer
from ..model.graph import Finding, NotReadable
from ..model.source import Source
from ..rule_ids import MISSPELT_ELEMENT, REPEATED_ELEMENT, STRAY_TEXT, UNKNOWN_ELEMENT
from ..rules import Context, findings
from .between_elements import without_texts
from .candidate import Candidate, Diagnosis
from .stray_text import Slip, edited, in_lines
from .structure import slips_in_structure
from .trial import take
from .well_formed import is_in_structure, is_well_formed
from .work import Work

_MISPLACED = (UNKNOWN_ELEMENT, REPEATED_ELEMENT, MISSPELT_ELEMENT, STRAY_TEXT)
_COMMENTED = re.compile(
    rb"<!--(\s*)(?=<(?:layer|edge|port|dim|data|input|output)\b)(?:(?!-->).)*?>(\s*)-->", re.DOTALL
)
MAX_TRIED = 2
"""How often the file is checked again as a whole."""
MAX_COMMENTS = 16
"""With more elements in comments than this, they were put there on purpose."""


def misplaced_cause(context: Context, graver: Sequence[Finding], work: Work) -> Diagnosis | None:
    """The slip after which each element stands where it belongs, and what it explains."""
    source = context.model.source
    places = [finding.offset for finding in graver if finding.rule in _MISPLACED]
    tried = 0
    for slip in chain(_of_structure(source.data, places), _in_comments(source.data)):
        text = edited(source.data, slip.edits)
        if not is_well_formed(text) or not is_in_structure(text):
            continue
        tried += 1
        work.count(work.whole / 2)
        left = _left(context, Source(source.path, text, source.encoding))
        before = _keys(graver)
        if left is not None and not left - before:
            gone = before - left
            explained = tuple(finding for finding in graver if take(gone, _key(finding)))
            if explained:
                work.go_on()
                return _told(slip, explained)
        if tried == MAX_TRIED:
            break
    return None


def _of_structure(text: bytes, places: Sequence[int]) -> Iterator[Slip]:
    if not places:
        return
    between = texts_between(text, OPAQUE)
    if len(between) > 1:
        yield without_texts(text, between)
    if is_in_structure(text):
        return
    yield from in_lines(text, places[0])
    yield from slips_in_structure(text)


def _in_comments(text: bytes) -> Iterator[Slip]:
    """An element that stands in a comment is one of the model."""
    if b"<!--" not in text:
        return
    comments = list(_COMMENTED.finditer(text))
    if len(comments) > MAX_COMMENTS:
        return
    for match in comments:
        name = re.match(rb"\w+", text[match.end(1) + 1 :])
        shown = name[0].decode() if name is not None else ""
        edits = Edit(match.start(), match.end(1), b""), Edit(match.start(2), match.end(), b"")
        yield Slip(edits, "it is no comment", f"a <{shown}> stands in a comment", match.start())


def _told(slip: Slip, explained: tuple[Finding, ...]) -> Diagnosis:
    candidate = Candidate(slip.edits, slip.change, slip.cause, slip.offset, None, ())
    errors = [finding for finding in explained if finding.severity == "error"]
    lead = next((f for f in explained if f.rule in _MISPLACED), (errors or explained)[0])
    rule = lead.rule
    if rule == STRAY_TEXT and len(explained) == 1 and lead.offset == slip.offset:
        return Diagnosis(lead, explained, (candidate,), True)
    if rule in (REPEATED_ELEMENT, MISSPELT_ELEMENT):
        rule = UNKNOWN_ELEMENT
    fault = Fault(
        rule,
        slip.cause,
        help=f"likely meant: {slip.change}",
        severity="error" if errors else "warning",
    )
    return Diagnosis(
        Finding(fault, slip.offset, None, None, explained), explained, (candidate,), True
    )


def _left(context: Context, source: Source) -> Counter[tuple[object, ...]] | None:
    """The errors and warnings in a text, wherever they stand; None if it cannot be read."""
    try:
        model = read(source)
    except NotReadable:
        return None
    model.weights = context.model.weights
    checked = Context(model, infer(model, compare=True), context.settings)
    return _keys(each for each in findings(checked) if each.severity != "info")


def _keys(graver: Iterable[Finding]) -> Counter[tuple[object, ...]]:
    return Counter(map(_key, graver))


def _key(finding: Finding) -> tuple[object, ...]:
    layer = finding.layer
    return finding.rule.code, None if layer is None else (layer.path, layer.id), finding.port
