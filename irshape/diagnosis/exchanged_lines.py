"""Two lines in each other's place, after which elements stand where they have no meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..faults import Fault
from ..formats.ir.reader import read
from ..inference.engine import infer
from ..model.graph import Finding, NotReadable
from ..model.source import Source
from ..rule_ids import MISSPELT_ELEMENT, REPEATED_ELEMENT, UNKNOWN_ELEMENT
from ..rules import Context, findings
from .candidate import Candidate, Diagnosis
from .stray_text import in_lines
from .trial import take
from .well_formed import is_in_structure, is_well_formed

_MISPLACED = (UNKNOWN_ELEMENT, REPEATED_ELEMENT, MISSPELT_ELEMENT)
MAX_TRIED = 3
"""How many pairs of lines are exchanged and the file checked again as a whole."""


def exchanged_lines_cause(context: Context, graver: Sequence[Finding]) -> Diagnosis | None:
    """The exchange of two lines that takes misplaced elements back, and what it explains."""
    source = context.model.source
    places = [finding.offset for finding in graver if finding.rule in _MISPLACED][:1]
    if not places or is_in_structure(source.data):
        return None
    tried = 0
    for slip in in_lines(source.data, places[0]):
        (edit,) = slip.edits
        text = source.data[: edit.start] + edit.text + source.data[edit.end :]
        if not is_well_formed(text) or not is_in_structure(text):
            continue
        left = _found(context, Source(source.path, text, source.encoding))
        before = _keys(graver)
        if left is not None and not left - before:
            gone = before - left
            explained = tuple(finding for finding in graver if take(gone, _key(finding)))
            if explained:
                candidate = Candidate(slip.edits, slip.change, slip.cause, slip.offset, None, ())
                errors = any(finding.severity == "error" for finding in explained)
                fault = Fault(
                    UNKNOWN_ELEMENT,
                    slip.cause,
                    help=f"likely meant: {slip.change}",
                    severity="error" if errors else "warning",
                )
                told = Finding(fault, slip.offset, None, None, explained)
                return Diagnosis(told, explained, (candidate,), True)
        tried += 1
        if tried == MAX_TRIED:
            return None
    return None


def _found(context: Context, source: Source) -> Counter[tuple[object, ...]] | None:
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
