"""Combines the findings on a model with their possible causes, for `validate` and `fix`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ..examination import Examination, examine, in_file_order
from ..garbage_collection import collection_paused
from ..model.graph import Finding, Layer, Model
from ..rules import Context, rule_of
from ..rules.settings import PLAIN, Settings
from ..settings.selection import Filter
from .change import Lead

if TYPE_CHECKING:
    from ..formats.ir.edits import Edit
    from .change import Applicability, Cause


class Fix(NamedTuple):
    """A change that removes a finding. `irshape fix` makes safe changes by default."""

    change: str
    """The edits in words."""
    edits: tuple[Edit, ...]
    """The edits, with byte offsets in the original file."""
    applicability: Applicability
    reason: str
    """The reason why irshape considers the change right."""

    def apply(self, original: bytes) -> bytes:
        """Returns the bytes of the file with the change."""
        from ..formats.ir.edits import with_edits

        return with_edits(original, self.edits)


class Diagnosis:
    """The findings on a model in file order, and the possible causes of each."""

    def __init__(self, context: Context, leads: list[Lead], readings: int = 0) -> None:
        self.context = context
        self.leads = leads
        self.readings = readings
        """The number of times that the whole file was read again."""

    @property
    def findings(self) -> list[Finding]:
        """All findings. Those that one change removes are one finding; see its `related`."""
        return [each.finding for each in self.leads]

    @property
    def whole(self) -> list[Finding]:
        """All findings in one list, related findings after the one that contains them."""
        return [part for each in self.findings for part in (each, *each.related)]

    @property
    def graver(self) -> int:
        """The number of errors and warnings."""
        return sum(each.severity != "info" for each in self.whole)

    @property
    def doubted(self) -> set[Layer]:
        """The layers whose findings are due to swapped inputs or a wrong .bin. Their declared ports
        may be right."""
        causes = [each for lead in self.leads for each in lead.causes]
        proofs = [each for each in causes if each.change.kind in ("exchange", "weights")]
        return {part.layer for each in proofs for part in each.explained if part.layer}

    @cached_property
    def _ports(self) -> dict[tuple[object, ...], tuple[Edit, ...]]:
        from .ports import port_edits

        edits = port_edits(self.context, self.whole, self.doubted)
        return {(layer, (direction, id)): each for (layer, direction, id), each in edits.items()}

    def fixes(self, lead: Lead) -> list[Fix]:
        """Returns the changes that remove a finding, safe ones first."""
        possible, finding = [], lead.finding
        rule = rule_of(finding.rule)
        fixable = self.context.model.format.is_ir
        if fixable and rule is not None and "ports" in rule.suspects:
            edits = self._ports.get((finding.layer, finding.port))
            if edits:
                shown = "make the ports declare what irshape infers"
                possible.append(Fix(shown, edits, "safe", "OpenVINO ignores what ports declare"))
        possible += [fix_of(each) for each in lead.causes if each.applicability != "display"]
        return sorted(possible, key=lambda each: each.applicability != "safe")


def fix_of(cause: Cause) -> Fix:
    """Returns the change of a cause as a fix."""
    return Fix(str(cause.change), cause.change.edits, cause.applicability, _reason(cause))


def _reason(cause: Cause) -> str:
    """Returns the reason why irshape considers a change right."""
    change = cause.change
    count = len(cause.explained)
    gone = "the finding" if count == 1 else f"{count} findings"
    proof = f"the change removes {gone} and adds none"
    if change.same_model:
        return f"OpenVINO reads the same model; {proof}"
    return f"{change.decided}; {proof}" if change.decided else proof


def diagnose(model: Model, settings: Settings = PLAIN, *, readings: int | None = None) -> Diagnosis:
    """Returns the findings on a model, and the causes of its errors and warnings.

    readings: the number of times that the file may be read again; None for `MOST_READINGS`.
    """
    examination = examine(model, settings)
    if all(each.severity == "info" for each in examination.findings):
        return Diagnosis(examination.context, [Lead(each) for each in examination.findings])
    from .search import MOST_READINGS, search

    most = MOST_READINGS if readings is None else min(readings, MOST_READINGS)
    with collection_paused():
        examination = _with_further(examination, settings)
        return Diagnosis(examination.context, *search(examination, settings, most))


def _with_further(examination: Examination, settings: Settings) -> Examination:
    """Returns the examination, plus findings that appear only if inference ignores all declared
    ports."""
    from .ports import asks_for_ports, further_contradictions

    findings, context = examination
    doubts = {rule.doubt for each in findings if (rule := rule_of(each.rule)) is not None
              and each.severity == "error"}  # fmt: skip
    if not asks_for_ports(findings) or "wiring" in doubts or context.model.kind == "layers":
        return examination
    model = context.model
    selection = Filter(settings, model.source if model.format.is_ir else None)
    further = [each for each in further_contradictions(context, findings) if selection.keep(each)]
    return Examination(sorted([*findings, *further], key=in_file_order), context)
