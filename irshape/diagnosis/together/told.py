"""What is told of several findings at once: where, in which words, and what takes them back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...formats.ir.edits import Edit
from ...model.graph import Finding, Layer
from ...rule_ids import RuleId
from ...rules import Context
from ..candidate import Candidate, Diagnosis


class Causes:
    """The causes that are known of some findings; what none explains stands for itself."""

    def __init__(
        self, context: Context, findings: Sequence[Finding], diagnoses: Sequence[Diagnosis]
    ) -> None:
        """findings: those that may be told together, in file order."""
        self.context = context
        self.source = context.model.source
        self.findings = list(findings)
        self._causes: dict[int, Diagnosis] = {}
        for each in diagnoses:
            self.add(each)

    @property
    def diagnoses(self) -> list[Diagnosis]:
        """The causes, in file order."""
        causes = {id(each): each for each in self._causes.values()}
        return sorted(causes.values(), key=lambda each: each.finding.offset)

    def add(self, cause: Diagnosis) -> None:
        """Takes a cause, in place of those of the findings that it explains."""
        for finding in cause.explained:
            before = self._causes.get(id(finding))
            for other in () if before is None else before.explained:
                del self._causes[id(other)]
        self._causes.update((id(finding), cause) for finding in cause.explained)

    def of(self, finding: Finding) -> Diagnosis:
        """The cause of a finding: at least that it is true."""
        cause = self._causes.get(id(finding))
        return Diagnosis(finding, (finding,), (), False) if cause is None else cause

    def is_explained(self, finding: Finding) -> bool:
        return id(finding) in self._causes

    def alone(self, *rules: RuleId) -> list[Finding]:
        """The findings, or those of some rules, that are told by themselves."""
        return [
            finding
            for finding in self.findings
            if (not rules or finding.rule in rules) and len(self.of(finding).explained) == 1
        ]

    def by_layer(self, *rules: RuleId) -> dict[Layer, list[Finding]]:
        """The same by the layer that each concerns."""
        return by_layer(self.alone(*rules))

    def all(self) -> list[Diagnosis]:
        """The causes, and each finding that none explains."""
        rest = (self.of(each) for each in self.findings if not self.is_explained(each))
        return [*self.diagnoses, *rest]

    def tell(
        self,
        group: Sequence[Finding],
        message: str = "",
        help: str = "",
        *,
        place: tuple[int, Layer | None] | None = None,
        cured: bool = True,
    ) -> None:
        """Some findings become one, under the rule of the first.

        message, help: those of the first, if they are not given. place: where it is told, if not
        there. cured: whether what takes each of them back takes back all of it.
        """
        lead = group[0]
        fault = lead.fault
        if message:
            fault = fault._replace(message=message)
        if help:
            fault = fault._replace(help=help)
        if place is None:
            told = lead._replace(fault=fault, related=(*lead.related, *group[1:]))
        else:
            told = Finding(fault, *place, None, tuple(group))
        before = {id(cause): cause for cause in map(self.of, group)}
        cures, certain = cure_of(list(before.values())) if cured else ((), False)
        self.add(Diagnosis(told, tuple(group), cures, certain))


def by_layer(findings: Sequence[Finding]) -> dict[Layer, list[Finding]]:
    """Some findings by the layer that each concerns."""
    groups: dict[Layer, list[Finding]] = {}
    for finding in findings:
        if finding.layer is not None:
            groups.setdefault(finding.layer, []).append(finding)
    return groups


def cure_of(causes: Sequence[Diagnosis]) -> tuple[tuple[Candidate, ...], bool]:
    """What takes back those causes of which that is certain, or else all; and whether it is."""
    known = [cause for cause in causes if cause.candidates]
    sure = [cause for cause in known if cause.certain]
    chosen = sure or (known if len(known) == len(causes) else [])
    if not chosen:
        return (), False
    return (joined([cause.candidates[0] for cause in chosen]),), bool(sure)


def told_at_the_first(causes: Sequence[Diagnosis]) -> Diagnosis:
    """Several causes as one, in the words of the first; with all of them taken back, if each can
    be."""
    explained = tuple(dict.fromkeys(f for each in causes for f in each.explained))
    lead = causes[0].finding
    also = tuple(other for other in explained if other.offset != lead.offset)
    firsts = [each.candidates[0] for each in causes if each.candidates]
    cures = (joined(firsts),) if len(firsts) == len(causes) else ()
    certain = bool(cures) and all(each.certain for each in causes)
    return Diagnosis(lead._replace(related=also), explained, cures, certain)


def joined(candidates: Sequence[Candidate]) -> Candidate:
    """Several changes as one, those that are the same once."""
    candidates = list({each.edits: each for each in candidates}.values())
    changes = list(dict.fromkeys(each.change for each in candidates))
    change = ", ".join(changes)
    if len(changes) == 1 and len(candidates) > 1:
        is_of_edge = change.startswith(("from-", "to-"))
        change += f" in {len(candidates)} {'edges' if is_of_edge else 'places'}"
    edits = tuple(_joined_edits(candidates))
    return candidates[0]._replace(edits=edits, change=change, becomes=None)


def _joined_edits(candidates: Sequence[Candidate]) -> Iterator[Edit]:
    """The edits of several changes, of which no two are at one place."""
    joined: dict[tuple[int, int], bytes] = {}
    for start, end, text in (edit for each in candidates for edit in each.edits):
        before = joined.get((start, end), b"")
        joined[start, end] = before + text if start == end or not before else before
    return (Edit(*span, text) for span, text in joined.items())
