"""The cures of rules for the findings of one examination, as `irshape fix` applies them and reports
name them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ..model.graph import Finding, Layer
from ..rules import PHASES, Context, Cure, all_rules, rule_of

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis

Key = tuple[object, ...]


def key_of(finding: Finding, place: int) -> Key:
    """What tells a finding from others, at a place in the original."""
    layer = finding.layer
    return (finding.rule, place, layer.path if layer is not None else None, finding.port)


def next_cures(
    context: Context,
    findings: list[Finding],
    diagnoses: Iterable[Diagnosis],
    selection: Callable[[Finding], bool],
) -> list[Cure]:
    """The cures of the first phase that has any.

    There are none at layers at which several changes are possible.
    """
    open_questions: set[Layer | None] = {
        finding.layer
        for diagnosis in diagnoses
        if diagnosis.candidates
        for finding in (diagnosis.finding, *diagnosis.explained)
    }
    for phase in PHASES:
        cures = [
            cure
            for rule in all_rules()
            if rule.phase == phase
            for cure in rule.cures(context, findings)
            if selection(cure.finding) and cure.finding.layer not in open_questions
        ]
        if cures:
            return cures
    return []


def cures_told(
    context: Context, findings: list[Finding], diagnoses: Iterable[Diagnosis]
) -> Iterator[tuple[Finding, Cure]]:
    """The errors and warnings without a known cause that have a cure, each with it."""
    diagnoses = list(diagnoses)
    causes = {id(diagnosis.finding) for diagnosis in diagnoses}
    asking = {
        key_of(finding, finding.offset): finding
        for finding in findings
        if finding.severity != "info" and id(finding) not in causes
        if (rule := rule_of(finding.rule)) is not None and rule.phase is not None
    }
    if asking:
        for cure in next_cures(context, findings, diagnoses, lambda _: True):
            finding = asking.pop(key_of(cure.finding, cure.finding.offset), None)
            if finding is not None:
                yield finding, cure
