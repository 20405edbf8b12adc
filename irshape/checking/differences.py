"""Turns the result of a cross-check or comparison into a report that every format can render."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..diagnostics.report import FileReport, Report, diagnostic
from ..faults import Fault
from ..model.graph import Finding, Layer, Model
from ..rule_ids import NOT_COMPARED, SHAPE_DIFFERENCE, VALUE_DIFFERENCE

if TYPE_CHECKING:
    from ..comparison.model_pairs import ModelComparison
    from ..comparison.result import Comparison
    from ..numbers.statistics import Errors


def crosscheck_report(comparison: Comparison) -> Report:
    """Returns a report on the differences that make a cross-check fail, and on parts not
    compared."""
    return _report(comparison.model, list(_crosschecked(comparison)))


def comparison_report(comparison: ModelComparison) -> Report:
    """Returns a report on the second model: layers that cause differences, and outputs that
    differ."""
    return _report(comparison.second, list(_compared(comparison)))


def _report(model: Model, findings: list[Finding]) -> Report:
    findings.sort(key=lambda finding: (finding.offset, finding.rule.name, finding.message))
    diagnostics = [diagnostic(finding, model.source) for finding in findings]
    layers = sum(1 for _ in model.walk())
    return Report([FileReport(model.path, layers, diagnostics, model.source)])


def _crosschecked(comparison: Comparison) -> Iterator[Finding]:
    for problem in comparison.problems:
        yield Finding(Fault(NOT_COMPARED, problem), 0)
    runtime = f"{comparison.runtime} on {comparison.device}"
    for row in comparison.rows:
        if not comparison.counts(row):
            continue
        if row.shape_verdict == "differs":
            message = f"{runtime} infers {row.runtime}, irshape {row.inferred}"
            yield _finding(
                Fault(SHAPE_DIFFERENCE, message, "", str(row.inferred), str(row.runtime)),
                row.layer,
                row.port,
            )
        if row.own_verdict == "differs" or (
            row.value_verdict == "differs" and row.shape_verdict != "differs"
        ):
            own = row.own_verdict == "differs"
            errors = row.own_errors if own and row.own_errors is not None else row.errors
            reason = row.own_reason if own and row.own_reason else row.reason
            subject = "this layer by itself" if own else "this output"
            message = f"with {runtime}, {subject} differs from irshape{_size(errors)}"
            fault = Fault(VALUE_DIFFERENCE, message + (f": {reason}" if reason else ""))
            yield _finding(fault, row.layer, row.port)


def _compared(comparison: ModelComparison) -> Iterator[Finding]:
    for pair in comparison.pairs:
        if pair.constant:
            continue
        own = pair.own_verdict == "differs"
        output = pair.verdict == "differs" and pair.second in comparison.outputs
        if not own and not output:
            continue
        errors = pair.own_errors if own and pair.own_errors is not None else pair.errors
        counterpart = f"{pair.first.label} of {comparison.first.path}"
        causes = "; ".join((*pair.causes, *((pair.reason,) if pair.reason else ())))
        message = f"'{pair.name}' differs from {counterpart}{_size(errors)}"
        fault = Fault(VALUE_DIFFERENCE, message + (f": {causes}" if causes else ""))
        yield _finding(fault, pair.second, pair.second_port)


def _size(errors: Errors | None) -> str:
    if errors is None or errors.max_abs is None:
        return ""
    return f" by up to {errors.max_abs:.6g}"


def _finding(fault: Fault, layer: Layer, port: int) -> Finding:
    if port < len(layer.outputs):
        place = layer.outputs[port]
        return Finding(fault, place.offset, layer, ("output", place.id))
    return Finding(fault, layer.offset, layer)
