"""Whether a model is sound enough to be computed: the errors that decide types, shapes or bytes.

`run`, `crosscheck`, `compare`, `convert` and sessions ask here before anything is computed. Which
rules stop a run is written at each rule (`Rule.stops_runs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ..diagnostics.report import FileReport, filtered
from ..examination import in_file_order
from ..execution.errors import ExecutionError
from ..model.graph import Finding, Layer, Model
from ..model.snapshot import Snapshot
from ..repair.diagnosis import diagnose
from ..rules.settings import PLAIN
from ..settings.selection import Filter
from .one import report_on

if TYPE_CHECKING:
    from ..rules import Context


class Blocking(NamedTuple):
    """What stops a run of a model: the errors as `validate` reports them, and the first's layer."""

    report: FileReport
    layer: Layer | None


class UnsoundModel(ExecutionError):
    """A model is not computed because of errors that `validate` reports; `diagnostics` has them."""

    def __init__(self, blocking: Blocking) -> None:
        self.report, self.layer = blocking
        more = len(self.report.diagnostics) - 1
        message = f"{self.report.path}:{self.report.diagnostics[0]}"
        super().__init__(message + (f" (and {more} more)" if more else ""))
        self.diagnostics = tuple(self.report.diagnostics)


class _Verdict:
    """What stops a run of a model, and the model of which it was found."""

    __slots__ = ("blocking", "snapshot")

    def __init__(self, model: Model) -> None:
        self.snapshot = Snapshot(model)
        self.blocking = _examined(model)


_verdicts: WeakKeyDictionary[Model, _Verdict] = WeakKeyDictionary()


def blocking(model: Model) -> Blocking | None:
    """What stops a run of a model. A model is examined again if it has changed."""
    verdict = _verdicts.get(model)
    if verdict is None or not verdict.snapshot.matches(model):
        if verdict is not None:
            model.net.reindex()
        verdict = _verdicts[model] = _Verdict(model)
    return verdict.blocking


def require_sound(model: Model) -> None:
    """Raises `UnsoundModel` if an error of a model decides types, shapes or bytes."""
    reason = blocking(model)
    if reason is not None:
        raise UnsoundModel(reason)


def _examined(model: Model) -> Blocking | None:
    if model.kind == "layers":
        return None  # nothing computes them, and whoever is asked to says so
    from ..inference.engine import infer
    from ..rules import Context

    context = Context(model, infer(model, compare=True))
    selection = Filter(PLAIN, model.source if model.format.comments else None)
    findings = {
        finding
        for finding in _candidates(context)
        if finding.severity == "error" and selection.keep(finding)
    }
    if not findings:
        return None
    stopping = sorted(findings, key=in_file_order)
    places = {(each.rule.code, *model.source.place(each.offset)) for each in stopping}
    report = report_on(diagnose(model))
    kept = filtered(report.diagnostics, lambda each: (each.code, each.line, each.column) in places)
    return Blocking(report._replace(diagnostics=kept), stopping[0].layer)


def _candidates(context: Context) -> Iterator[Finding]:
    """What the rules that stop runs find, and what a plugin's operation reports under its own."""
    from ..rules import all_rules

    known = set()
    for rule in all_rules():
        known.add(rule.id)
        if rule.stops_runs:
            yield from rule.findings(context)
    for rule_id, reported in context.reported.items():
        if rule_id not in known:
            yield from reported
