"""Searches for the possible causes of each finding, and groups findings with the same cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from ..diagnostics.report import Trial
from ..examination import Examination
from ..faults import Fault
from ..inference.alternatives import Fit
from ..model.graph import Finding, Layer
from ..ops.declaration import AttributeFault
from ..rule_ids import RuleId
from ..rules import Context, Suspect, rule_of
from ..rules.settings import Settings
from ..spelling import counted
from .attributes import Candidate
from .change import Applicability, Cause, Change, Repairs
from .proof import Outcome, Proof
from .site import Sites
from .suspects import SUSPECTS
from .weights import cause_of as cause_of_weights

MOST_CAUSES = 3
MOST_TRIED = 6
"""The largest number of changes that are tested for one finding."""
MOST_SEARCHED = 40
"""The largest number of findings for which the search reads the file again."""
MOST_AT_ELEMENT = 20
"""The search tries all changes for at most this many findings at one XML element. For further
findings, it tries only changes of notations and names."""
MOST_READINGS = 8
"""The largest number of times that the file is read again, for all findings together."""
MOST_READ = 60_000
"""The largest sum of `size_of` over all repeated readings. One reading is always allowed."""


def repairs(examination: Examination, settings: Settings, readings: int = MOST_READINGS) -> Repairs:
    """Returns the possible causes of errors and warnings, each with the findings that it explains.

    readings: the number of times that the file may be read again.
    """
    findings, context = examination
    graver = [each for each in findings if each.severity != "info"]
    if not graver:
        return Repairs(findings, {}, {}, 0)
    search = _Search(Sites(context, graver), settings, readings)
    search.run()
    return search.repairs(findings)


def size_of(context: Context, findings: Sequence[Finding]) -> int:
    """Returns the number of layers and findings: reading the file takes time proportional to it."""
    return max(len(context.every_layer) + len(findings), 1)


class _Search:
    def __init__(self, sites: Sites, settings: Settings, readings: int) -> None:
        self.sites = sites
        self.proof = Proof(sites, settings)
        size = size_of(sites.context, sites.graver)
        self.most_readings = min(readings, max(1, MOST_READ // size))
        self.causes: dict[int, list[Cause]] = {}
        self.tried: dict[int, list[Trial]] = {}
        self.under: dict[int, tuple[Finding, ...]] = {}
        """Maps the `id` of a finding to the other findings that the same change removes."""
        self.done: set[int] = set()
        self.spared: set[Suspect] = set()
        """The names in `Rule.suspects` for which the search proposes no changes."""

    def run(self) -> None:
        graver = self.sites.graver
        whole = cause_of_weights(self.sites)
        if whole is not None:
            self._put([whole])
            self.spared = {"constants"}  # the values of another .bin prove nothing
        at_element: Counter[int] = Counter()
        for number, finding in enumerate(graver):
            element = self.sites.element(finding.offset)
            at_element[element] += 1
            if id(finding) not in self.done:
                many = at_element[element] > MOST_AT_ELEMENT
                self._search(finding, cheap=many or number >= MOST_SEARCHED)

    def _search(self, finding: Finding, *, cheap: bool) -> None:
        """Searches for causes of a finding. cheap: only try changes without reading the file."""
        rule = rule_of(finding.rule)
        suspects = () if rule is None else rule.suspects
        candidates = [
            each
            for suspect in suspects
            if suspect in SUSPECTS
            and suspect not in self.spared
            and (SUSPECTS[suspect].cheap or not cheap)
            for each in SUSPECTS[suspect].changes(self.sites, finding)
        ]
        candidates.sort(key=_unlikeliness)
        alike = {(each[1].edits, each[1].after): each for each in candidates[::-1]}
        candidates = list(alike.values())
        candidates.sort(key=_unlikeliness)
        proven: list[tuple[Change, tuple[Finding, ...]]] = []
        log = self.tried.setdefault(id(finding), [])
        complete = len(candidates) <= MOST_TRIED
        for fit, change in candidates[:MOST_TRIED]:
            if len(proven) == MOST_CAUSES:
                complete = False
                break
            outcome = self.proof.without_reading(change, fit)
            if outcome is None and not change.edits:
                continue
            if outcome is None:
                if cheap or self.proof.readings >= self.most_readings:
                    complete = False
                    log.append(_trial(change, None, finding))
                    continue
                outcome = self.proof.by_reading(change)
            log.append(_trial(change, outcome, finding))
            if finding in outcome.explained and outcome.proven:
                proven.append((change, outcome.explained))
        if not proven:
            return
        proven.sort(key=lambda each: (-len(each[1]), each[0].cost))
        tried = candidates[:MOST_TRIED]
        deciding = [change for _, change in candidates if change.decided]
        alone = sum(bool(change.decided) for change, _ in proven) == 1 and (
            complete or len(deciding) == sum(bool(change.decided) for _, change in tried)
        )
        causes = [
            Cause(change, gone, self._applicability(change, gone, alone=alone))
            for change, gone in proven
        ]
        self._put(causes)

    def _put(self, causes: list[Cause]) -> None:
        """Records causes, likeliest first, under one finding: the most severe that all causes
        explain. Lists with it the other findings that the likeliest cause explains."""
        explained = causes[0].explained
        everything = set(map(id, explained))
        for before in everything & self.under.keys():
            if everything.issuperset(map(id, self.under[before])):
                self.done -= {before, *map(id, self.under.pop(before))}
                del self.causes[before]  # it explained only a part of these findings
        own = [each for each in explained if id(each) not in self.done]
        lead = min(
            (each for each in own if all(each in cause.explained for cause in causes)),
            key=lambda each: (each.severity != "error", not self._is_refused(each), each.offset),
        )
        self.under[id(lead)] = tuple(each for each in own if each is not lead)
        self.causes[id(lead)] = causes
        self.done |= set(map(id, own))

    def _applicability(
        self, change: Change, gone: tuple[Finding, ...], *, alone: bool
    ) -> Applicability:
        fixable = self.sites.context.model.format.fixable
        if not change.edits or change.guess or not fixable:
            return "display"
        if change.same_model:
            return "safe"
        # the name is certain if OpenVINO refuses the file because an attribute is missing
        refused = change.kind == "name" or any(map(self._is_refused, gone))
        return "safe" if alone and change.decided and refused else "unsafe"

    @cached_property
    def _violations(self) -> tuple[set[int], set[tuple[Layer, RuleId]]]:
        """Why OpenVINO refuses the model, as a pair: the `id()`s of attribute faults, and the
        layers that it refuses, each with the rule that reports the fault."""
        observed = self.sites.context.observed
        return (
            {id(each.fault) for _, each in observed(AttributeFault) if not each.silent},
            {(layer, fault.rule) for layer, fault in observed(Fault)},
        )

    def _is_refused(self, finding: Finding) -> bool:
        """Returns whether OpenVINO refuses the file because of a finding."""
        if finding.severity != "error":
            return False
        rule, (attributes, layers) = rule_of(finding.rule), self._violations
        if (rule is not None and rule.refused) or id(finding.fault) in attributes:
            return True
        site = self.sites.of(finding.layer)
        return (
            site is not None
            and (site.layer, finding.rule) in layers
            and site.position in site.result.believed
        )

    def repairs(self, findings: list[Finding]) -> Repairs:
        """Returns the result: causes, and findings grouped by cause."""
        folded = {id(each) for related in self.under.values() for each in related}
        told: list[Finding] = []
        moved, tried = dict[int, list[Cause]](), dict[int, list[Trial]]()
        for each in findings:
            if id(each) in folded:
                continue
            related = self.under.get(id(each))
            shown = each._replace(related=related) if related else each
            told.append(shown)
            if id(each) in self.causes:
                moved[id(shown)] = self.causes[id(each)]
            whole = each, *(related or ())
            trials = [trial for one in whole for trial in self.tried.get(id(one), ())]
            if trials:
                tried[id(shown)] = list(dict.fromkeys(trials))
        return Repairs(told, moved, tried, self.proof.readings)


def _trial(change: Change, outcome: Outcome | None, finding: Finding) -> Trial:
    """Returns a change that was tried for a finding, with its outcome in words, for `--trace`."""
    if outcome is None:
        text = "not tried: the file has been read as often as the limit allows"
    elif finding not in outcome.explained:
        text = f"rejected: the finding stays; {counted(len(outcome.new), 'new finding')}"
    elif outcome.new:
        gone = counted(len(outcome.explained), "finding")
        text = f"rejected: removes {gone}, adds {len(outcome.new)}"
    else:
        text = f"proven: removes {counted(len(outcome.explained), 'finding')}, adds none"
    return Trial(str(change), round(change.cost, 2), text)


def _unlikeliness(candidate: Candidate) -> float:
    fit, change = candidate
    return change.cost + 0.5 * (fit is not Fit.EXACT)
