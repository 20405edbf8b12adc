"""Decides whether irshape may compute a model: no error may affect its types, shapes or bytes.

`run`, `crosscheck`, `compare`, `convert` and sessions check this before they compute anything. Each
rule states what its errors make uncertain (`Rule.doubt`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..diagnostics.report import FileReport, filtered
from ..examination import in_file_order
from ..execution.errors import ExecutionError
from ..model.graph import Finding, Layer, Model
from ..repair.diagnosis import diagnose
from ..rules.settings import PLAIN
from ..settings.selection import Filter
from .one import report_on

if TYPE_CHECKING:
    from ..rules import Context


class UnsoundModel(ExecutionError):
    """Raised if irshape does not compute a model because of errors that `validate` reports.

    `diagnostics` contains the errors. `layer` is the layer of the first error.
    """

    def __init__(self, report: FileReport, layer: Layer | None) -> None:
        self.report, self.layer = report, layer
        more = len(report.diagnostics) - 1
        message = f"{report.path}:{report.diagnostics[0]}"
        super().__init__(message + (f" (and {more} more)" if more else ""))
        self.diagnostics = tuple(report.diagnostics)


def require_sound(model: Model) -> None:
    """Raises `UnsoundModel` if an error of a model affects types, shapes or bytes."""
    if model.kind == "layers":
        return  # single layers cannot be run, and `Session` says so
    from ..inference.engine import infer
    from ..rules import Context

    model.net.reindex()
    context = Context(model, infer(model, compare=True))
    selection = Filter(PLAIN, model.source if model.format.is_ir else None)
    findings = {
        finding
        for finding in _candidates(context)
        if finding.severity == "error" and selection.keep(finding)
    }
    if not findings:
        return
    stopping = sorted(findings, key=in_file_order)
    places = {(each.rule.code, *model.source.place(each.offset)) for each in stopping}
    report = report_on(diagnose(model))
    kept = filtered(report.diagnostics, lambda each: (each.code, each.line, each.column) in places)
    raise UnsoundModel(report._replace(diagnostics=kept), stopping[0].layer)


def _candidates(context: Context) -> Iterator[Finding]:
    """Yields findings of rules with a `doubt`, and findings whose code belongs to no rule."""
    from ..rules import all_rules

    known = set()
    for rule in all_rules():
        known.add(rule.id)
        if rule.doubt != "nothing":
            yield from rule.findings(context)
    for rule_id, reported in context.reported.items():
        if rule_id not in known:
            yield from reported
