"""A cause as a finding: at its element, in the words of what it explains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..faults import Fault
from ..model.graph import Finding, Layer
from ..model.source import Source
from ..rule_ids import (
    CONSTANT_TYPE,
    CONTRADICTED_ATTRIBUTE,
    CONTRADICTED_OPERATION,
    DANGLING_EDGE,
    DUPLICATE_ID,
    DUPLICATE_PORT,
    INPUT_RANK,
    MISDIRECTED_EDGE,
    MISSING_EDGE,
    RuleId,
    Severity,
)
from .candidate import Candidate, Diagnosis

_LIKELY = "likely meant: "
_CONCRETE = ("IR201", "IR202", "IR203", "IR204", "IR302", "IR602")
"""Findings whose help says what to write, if that is to be written at one layer."""
_CONSEQUENCES = ("IR2", "IR4")
"""Findings that say what does not go together; the cause has a code of its own nature."""
_TO_BE_QUOTED = (CONTRADICTED_ATTRIBUTE, MISDIRECTED_EDGE)
"""Causes that are shown by what they contradict."""
MAX_QUOTED = 160
"""The longest message that another one quotes."""
MAX_LISTED = 3
"""How many changes are listed where none is certain."""


def cause_as_finding(source: Source, candidate: Candidate, explained: Iterable[Finding]) -> Finding:
    """The cause as a finding, under the rule of one that it explains."""
    explained = tuple(explained)
    errors = [other for other in explained if other.severity == "error"]
    refused = [other for other in errors if not other.rule.code.startswith("IR2")]
    leads = refused or errors or list(explained)  # what OpenVINO refuses is told as such
    here = [
        other
        for other in leads
        if _same_element(source, other, candidate) and not _beside(source, other, candidate)
    ]
    here.sort(key=lambda other: other.offset != candidate.offset)
    if here:
        return here[0]._replace(related=tuple(other for other in explained if other is not here[0]))
    lead = next((other for other in leads if other.layer is candidate.layer), leads[0])
    help = _LIKELY + candidate.change
    if candidate.patch is not None:
        help += f" in the .bin, at byte {candidate.patch.offset}"
    constant = candidate.layer is not None and candidate.layer.is_constant
    of_rank = constant and lead.rule == INPUT_RANK and len(refused) == len(explained)
    source_of_values = candidate.patch is not None or _of_input(candidate) or of_rank
    if source_of_values and lead in refused and len({other.layer for other in refused}) == 1:
        return _from_source(source, lead, candidate, explained, help)
    fault = lead.fault._replace(message=candidate.cause, help=help)
    consequence = (
        lead.rule.code.startswith(_CONSEQUENCES)
        or candidate.rule == CONTRADICTED_OPERATION
        or (lead.rule == MISSING_EDGE and candidate.rule in (DUPLICATE_ID, DANGLING_EDGE))
    )
    if consequence and candidate.rule not in (None, lead.rule):
        severity: Severity = "error" if errors else "warning"
        assert candidate.rule is not None
        cause = candidate.cause
        if candidate.rule in _TO_BE_QUOTED and len(lead.message) <= MAX_QUOTED:
            cause += f" (line {source.place(lead.offset)[0]}: {lead.message})"
        fault = Fault(candidate.rule, cause, help=help, severity=severity)
    return Finding(fault, candidate.offset, candidate.layer, candidate.port, explained)


def as_grave(diagnosis: Diagnosis) -> Diagnosis:
    """A diagnosis that is an error where anything that it explains is one."""
    finding = diagnosis.finding
    if finding.severity == "error" or all(f.severity != "error" for f in diagnosis.explained):
        return diagnosis
    fault = finding.fault._replace(severity="error")
    return diagnosis._replace(finding=finding._replace(fault=fault))


def with_likely(diagnosis: Diagnosis) -> Diagnosis:
    """The help of a finding ends with what is likely meant: several changes if none is certain."""
    fault = diagnosis.finding.fault
    count = 1 if diagnosis.certain else MAX_LISTED
    changes = list(dict.fromkeys(candidate.change for candidate in diagnosis.candidates))[:count]
    said = fault.rule.code.startswith(_CONCRETE) and len(changes) == 1
    if not changes or (said and len(diagnosis.candidates[0].touched) == 1):
        return diagnosis
    help = fault.help or ""
    before = help.removesuffix(_LIKELY + changes[0])
    if changes[0] in before:
        return diagnosis
    likely = _LIKELY + ", or ".join(changes)
    help = f"{before}; {likely}" if before == help and help else before + likely
    return diagnosis._replace(finding=diagnosis.finding._replace(fault=fault._replace(help=help)))


def of_whole_file(
    lead: Finding,
    message: str,
    help: str,
    offset: int,
    layer: Layer | None,
    explained: Sequence[Finding],
    candidates: tuple[Candidate, ...] = (),
    certain: bool = False,
    rule: RuleId | None = None,
) -> Diagnosis:
    """A cause that lies in the file as a whole, told once where it shows first.

    lead: the finding whose severity it has, and whose rule, if findings of that rule do not only
    say what does not go together; then it has `rule`.
    """
    fault = lead.fault._replace(message=message, help=help)
    if len(explained) > 1:
        fault = fault._replace(expected=None, actual=None)
    if rule is not None and lead.rule.code.startswith(_CONSEQUENCES):
        fault = Fault(rule, message, help=help, severity=lead.severity)
    related = tuple(f for f in explained if f is not lead or f.offset != offset)
    finding = Finding(fault, offset, layer, None, related)
    return Diagnosis(finding, tuple(explained), candidates, certain)


def changed_sizes(findings: Sequence[Finding]) -> frozenset[str]:
    """The one size and the other in its place of which all findings speak; empty if they do not."""
    pairs: set[frozenset[str]] = set()
    for finding in findings:
        changed = replaced_sizes(finding)
        if changed is None:
            return frozenset()
        pairs.update(map(frozenset, changed))
    return pairs.pop() if len(pairs) == 1 else frozenset()


def replaced_sizes(finding: Finding) -> set[tuple[str, str]] | None:
    """The sizes, or the types, that are declared, each with the one that should be there; None
    where there are more or fewer of them."""
    there, here = _sizes(finding.expected), _sizes(finding.actual)
    if len(here) != len(there):
        return None
    return {pair for pair in zip(here, there, strict=True) if len(set(pair)) > 1}


def _sizes(shape: str | None) -> list[str]:
    return (shape or "").strip("[]").split(",")


def element_start(source: Source, offset: int) -> int:
    """Where the tag in which an offset lies begins."""
    return source.data.rfind(b"<", 0, offset + 1)


def _same_element(source: Source, finding: Finding, candidate: Candidate) -> bool:
    """Whether a finding stands in the element, or in the port, that a change concerns."""
    there = finding.rule not in (DUPLICATE_PORT, CONSTANT_TYPE)  # which may stand elsewhere
    if candidate.port is not None and finding.port == candidate.port and there:
        return finding.layer is candidate.layer
    return element_start(source, finding.offset) == element_start(source, candidate.offset)


def _beside(source: Source, finding: Finding, candidate: Candidate) -> bool:
    """Whether a finding stands at another attribute of the element than the cause."""
    places = (finding.offset, candidate.offset)
    return places[0] != places[1] and all(source.data[at : at + 1] != b"<" for at in places)


def _of_input(candidate: Candidate) -> bool:
    """Whether a change is that of the type or shape of an input of the net, as it may be meant."""
    layer = candidate.layer
    typed = candidate.rule == CONTRADICTED_ATTRIBUTE and candidate.bold
    return typed and layer is not None and layer.is_parameter and not layer.path


def _from_source(
    source: Source, lead: Finding, candidate: Candidate, explained: tuple[Finding, ...], help: str
) -> Finding:
    """What OpenVINO refuses at one layer for what a Const or Parameter feeds it: it stays there."""
    layer = candidate.layer
    named = "" if layer is None else f" ({layer.label} in line {source.place(layer.offset)[0]})"
    fault = lead.fault._replace(message=f"{lead.message}{named}", help=help)
    related = tuple(other for other in explained if other is not lead)
    return lead._replace(fault=fault, related=related)
