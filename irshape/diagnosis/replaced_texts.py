"""The same text in place of another in layers beside each other: it was replaced in some lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.source import Source
from .candidate import Diagnosis
from .rule_groups import BETWEEN_PORTS, OF_OUTPUTS
from .telling import replaced_sizes
from .together import Causes, told_at_the_first

BESIDE = 2
"""How many layers apart stand those in which one text was replaced."""
_OF_PORTS = (*BETWEEN_PORTS, *OF_OUTPUTS)


def of_replaced_texts(causes: Causes) -> None:
    """The layers in which one text was replaced are told once."""
    groups: dict[tuple[str, str], list[Diagnosis]] = {}
    for each in causes.all():
        texts = _replaced(causes.source, each)
        if texts is not None:
            groups.setdefault(texts, []).append(each)
    for group in groups.values():
        group.sort(key=lambda each: each.finding.offset)
        for run in _runs(causes.source, group):
            causes.add(told_at_the_first(run)._replace(parts=len(run)))


def _replaced(source: Source, diagnosis: Diagnosis) -> tuple[str, str] | None:
    """The one text, and the other that should stand in its place, that a port declares."""
    finding = diagnosis.finding
    if finding.rule not in _OF_PORTS:
        return None
    if diagnosis.candidates:
        edits = diagnosis.candidates[0].edits
        texts = {(source.data[edit.start : edit.end], edit.text) for edit in edits}
        name = source.encoding
        pairs = {(a.decode(name, "replace"), b.decode(name, "replace")) for a, b in texts}
    else:
        pairs = replaced_sizes(finding) or set()
    pair = pairs.pop() if len(pairs) == 1 else ("", "")
    return pair if all(pair) else None


def _runs(source: Source, diagnoses: Sequence[Diagnosis]) -> Iterator[list[Diagnosis]]:
    """Those of some, in file order, that are told in layers beside each other."""
    run: list[Diagnosis] = []
    for each in diagnoses:
        start = run[-1].finding.offset if run else 0
        if run and source.data.count(b"<layer ", start, each.finding.offset) > BESIDE:
            if len(run) > 1:
                yield run
            run = []
        run.append(each)
    if len(run) > 1:
        yield run
