"""Whether a model is sound enough to be computed: the errors that decide types, shapes or bytes.

`run`, `crosscheck`, `compare`, `convert` and sessions ask here before anything is computed. Which
rules stop a run is written at each rule (`Rule.stops_runs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ..diagnostics.report import FileReport, diagnostic
from ..execution.errors import ExecutionError
from ..model.graph import Finding, Model
from ..model.snapshot import Snapshot
from ..rules.settings import PLAIN
from ..settings.selection import Filter

if TYPE_CHECKING:
    from ..rules import Context


class UnsoundModel(ExecutionError):
    """A model is not computed because of errors that `validate` reports; `diagnostics` has them."""

    def __init__(self, report: FileReport, finding: Finding) -> None:
        more = len(report.diagnostics) - 1
        message = f"{report.path}:{report.diagnostics[0]}"
        super().__init__(message + (f" (and {more} more)" if more else ""))
        self.layer = finding.layer
        self.report = report
        self.diagnostics = tuple(report.diagnostics)


class _Verdict:
    """The findings that stop a run of a model, and the model that they were made of."""

    __slots__ = ("findings", "snapshot")

    def __init__(self, model: Model) -> None:
        self.snapshot = Snapshot(model)
        self.findings = _examined(model)


_verdicts: WeakKeyDictionary[Model, _Verdict] = WeakKeyDictionary()


def blocking(model: Model) -> list[Finding]:
    """The findings that stop a run, in file order. A model is examined again if it has changed."""
    verdict = _verdicts.get(model)
    if verdict is None or not verdict.snapshot.matches(model):
        if verdict is not None:
            model.net.reindex()
        verdict = _verdicts[model] = _Verdict(model)
    return verdict.findings


def require_sound(model: Model) -> None:
    """Raises `UnsoundModel` if an error of a model decides types, shapes or bytes."""
    findings = blocking(model)
    if findings:
        raise unsound(model, findings)


def unsound(model: Model, findings: list[Finding]) -> UnsoundModel:
    """The exception for a model that is not computed."""
    diagnostics = [diagnostic(finding, model.source) for finding in findings]
    layers = sum(1 for _ in model.walk())
    return UnsoundModel(FileReport(model.path, layers, diagnostics, model.source), findings[0])


def _examined(model: Model) -> list[Finding]:
    if model.kind == "layers":
        return []  # nothing computes them, and whoever is asked to says so
    from ..inference.engine import infer
    from ..rules import Context

    context = Context(model, infer(model, compare=True))
    selection = Filter(PLAIN, model.source if model.format.comments else None)
    findings = [
        finding
        for finding in _candidates(context)
        if finding.severity == "error" and selection.keep(finding)
    ]
    return sorted(findings, key=lambda finding: (finding.offset, finding.rule.name))


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
