"""Searches for the possible causes of each finding, and groups findings with the same cause."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..diagnostics.report import Trial
from ..examination import Examination
from ..faults import Fault
from ..model.graph import Finding, Layer
from ..ops.declaration import AttributeFault
from ..rule_ids import RuleId
from ..rules import Suspect, rule_of
from ..rules.settings import Settings
from ..spelling import counted
from .change import Applicability, Cause, Change, Lead
from .proof import Outcome, Proof
from .site import Sites
from .suspects import SUSPECTS
from .weights import cause_of as cause_of_weights

MOST_CAUSES = 3
MOST_TRIED = 6
"""The largest number of changes that are tested for one finding."""
MOST_SEARCHED = 40
"""The search tries all changes for the first findings of a file, up to this number. For further
findings, it tries only changes of notations and names, and does not read the file again."""
MOST_READINGS = 8
"""The largest number of times that the file is read again, for all findings together."""
MOST_READ = 60_000
"""The largest number of layers and findings in all repeated readings together. One reading is
always allowed."""


def search(
    examination: Examination, settings: Settings, readings: int = MOST_READINGS
) -> tuple[list[Lead], int]:
    """Searches for the causes of errors and warnings. Returns the findings to report, and the
    number of times that the file was read again.

    readings: the number of times that the file may be read again.
    """
    findings, context = examination
    graver = [each for each in findings if each.severity != "info"]
    searching = _Search(Sites(context, graver), settings, readings)
    searching.run()
    return searching.result(findings), searching.proof.readings


class _Search:
    def __init__(self, sites: Sites, settings: Settings, readings: int) -> None:
        self.sites = sites
        self.proof = Proof(sites, settings)
        size = len(sites.context.every_layer) + len(sites.graver)
        self.most_readings = min(readings, max(1, MOST_READ // size))
        self.leads: dict[Finding, Lead] = {}
        self.tried: dict[Finding, list[Trial]] = {}
        self.explained: set[Finding] = set()
        """The findings of all `leads`, including the related ones."""
        self.spared: set[Suspect] = set()
        """The names in `Rule.suspects` for which the search proposes no changes."""

    def run(self) -> None:
        whole = cause_of_weights(self.sites)
        if whole is not None:
            self._put([whole])
            self.spared = {"constants"}  # the values of another .bin prove nothing
        for number, finding in enumerate(self.sites.graver):
            if finding not in self.explained:
                self._search(finding, cheap=number >= MOST_SEARCHED)

    def _search(self, finding: Finding, *, cheap: bool) -> None:
        """Searches for causes of a finding. cheap: whether to skip tests that read the file."""
        candidates = self._candidates(finding, cheap=cheap)
        proven = self._proven(finding, candidates[:MOST_TRIED], cheap=cheap)
        if not proven:
            return
        decided = [each for each in (*proven, *candidates[MOST_TRIED:]) if each.decided]
        causes = [
            Cause(change, gone, self._applicability(change, gone, alone=len(decided) == 1))
            for change, gone in proven.items()
        ]
        causes.sort(key=lambda each: (-len(each.explained), each.change.cost))
        self._put(causes)

    def _candidates(self, finding: Finding, *, cheap: bool) -> list[Change]:
        """Returns the changes that may remove a finding, each once, likeliest first. Of equally
        likely changes, the one proposed last comes first."""
        rule = rule_of(finding.rule)
        makers = {
            suspect: SUSPECTS[suspect]
            for suspect in (() if rule is None else rule.suspects)
            if suspect in SUSPECTS and suspect not in self.spared
        }
        proposed = [
            each
            for maker in makers.values()
            if maker.cheap or not cheap
            for each in maker.changes(self.sites, finding)
        ]
        proposed.reverse()
        alike: dict[object, Change] = {}
        for each in sorted(proposed, key=_unlikeliness):
            alike.setdefault((each.edits, each.after), each)
        return list(alike.values())

    def _proven(
        self, finding: Finding, candidates: Iterable[Change], *, cheap: bool
    ) -> dict[Change, tuple[Finding, ...]]:
        """Tests changes until `MOST_CAUSES` of them remove a finding and add none. Returns these
        changes, each with all findings that it removes."""
        proven: dict[Change, tuple[Finding, ...]] = {}
        log = self.tried.setdefault(finding, [])
        for change in candidates:
            if len(proven) == MOST_CAUSES:
                break
            outcome = self.proof.without_reading(change)
            if outcome is None and not change.edits:
                continue
            if outcome is None and not cheap and self.proof.readings < self.most_readings:
                outcome = self.proof.by_reading(change)
            log.append(_trial(change, outcome, finding))
            if outcome is not None and finding in outcome.explained and outcome.proven:
                proven[change] = outcome.explained
        return proven

    def _put(self, causes: list[Cause]) -> None:
        """Records causes, likeliest first, under the most severe finding that all of them remove.
        The other findings that the likeliest cause removes become `related` findings."""
        explained = set(causes[0].explained)
        for finding in explained & self.leads.keys():
            whole = {finding, *self.leads[finding].finding.related}
            if whole <= explained:
                self.explained -= whole
                del self.leads[finding]  # its causes explain only a part of these findings
        own = [each for each in causes[0].explained if each not in self.explained]
        lead = min(
            (each for each in own if all(each in cause.explained for cause in causes)),
            key=lambda each: (each.severity != "error", not self._is_refused(each), each.offset),
        )
        related = tuple(each for each in own if each != lead)
        self.leads[lead] = Lead(lead._replace(related=related), tuple(causes))
        self.explained.update(own)

    def _applicability(
        self, change: Change, gone: tuple[Finding, ...], *, alone: bool
    ) -> Applicability:
        """alone: whether exactly one change for the finding has a reason in `decided`."""
        fixable = self.sites.context.model.format.is_ir
        if not change.edits or change.guess or not fixable:
            return "display"
        if change.same_model:
            return "safe"
        # the name is certain if OpenVINO refuses the file because an attribute is missing
        refused = change.kind == "name" or any(map(self._is_refused, gone))
        return "safe" if alone and change.decided and refused else "unsafe"

    @cached_property
    def _violations(self) -> set[tuple[Layer, RuleId | Fault]]:
        """Why OpenVINO refuses the model: pairs of a layer and a faulty attribute, or of a layer
        that it refuses and the rule that reports the fault."""
        observed = self.sites.context.observed
        return {
            *((layer, each.fault) for layer, each in observed(AttributeFault) if not each.silent),
            *((layer, fault.rule) for layer, fault in observed(Fault)),
        }

    def _is_refused(self, finding: Finding) -> bool:
        """Returns whether OpenVINO refuses the file because of a finding."""
        rule, layer = rule_of(finding.rule), finding.layer
        if finding.severity != "error":
            return False
        if (rule is not None and rule.refused) or (layer, finding.fault) in self._violations:
            return True
        site = self.sites.of(layer)
        return (
            site is not None
            and (site.layer, finding.rule) in self._violations
            and site.position in site.result.believed
        )

    def result(self, findings: list[Finding]) -> list[Lead]:
        """Returns the findings to report, each with its causes and what was tried."""
        leads = []
        for each in findings:
            if each in self.explained and each not in self.leads:
                continue
            lead = self.leads.get(each, Lead(each))
            whole = each, *lead.finding.related
            tried = dict.fromkeys(trial for one in whole for trial in self.tried.get(one, ()))
            leads.append(lead._replace(tried=tuple(tried)))
        return leads


def _trial(change: Change, outcome: Outcome | None, finding: Finding) -> Trial:
    """Returns a change that was tried for a finding, with its outcome in words, for `--trace`."""
    if outcome is None:
        text = "not tried: the file would have to be read again, which a limit forbids"
    elif finding not in outcome.explained:
        text = f"rejected: the finding stays; {counted(len(outcome.new), 'new finding')}"
    elif outcome.new:
        gone = counted(len(outcome.explained), "finding")
        text = f"rejected: removes {gone}, adds {len(outcome.new)}"
    else:
        text = f"proven: removes {counted(len(outcome.explained), 'finding')}, adds none"
    return Trial(str(change), round(change.cost, 2), text)


def _unlikeliness(change: Change) -> float:
    return change.cost + 0.5 * (not change.exact)
