"""Validates one file: opens and reads it, finds faults and their causes, and reports them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..diagnostics.report import Diagnostic, FileReport, Trace, diagnostic
from ..formats.loading import WeightsChoice, open_model, read_source
from ..garbage_collection import collection_paused
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..ops.registry import extensions_known
from ..repair.diagnosis import diagnose, fix_of
from ..rules.settings import PLAIN, Settings
from ..urls import is_url

if TYPE_CHECKING:
    from ..formats.loading import Opened
    from ..repair.change import Cause
    from ..repair.diagnosis import Diagnosis, Fix

Target = str | os.PathLike[str] | Model

_left_behind: list[Diagnosis] = []
"""Holds the last model and its findings if the process is about to end.

The end of the process then frees a large model, faster than Python frees objects one by one.
"""


class UnfitValue(ValueError):
    """Raised for a value that fits no input of the file, or that is malformed."""


def validate_model(model: Model, settings: Settings = PLAIN, *, leaves: bool = False) -> FileReport:
    """Returns the report on a model. leaves: whether the process ends after the report, so that no
    memory needs to be freed."""
    diagnosis = diagnose(model, settings)
    if leaves:
        _left_behind[:] = [diagnosis]
    return report_on(diagnosis)


def report_on(diagnosis: Diagnosis) -> FileReport:
    """Returns the report on a model, with possible causes and fixes of its findings."""
    context = diagnosis.context
    source = context.model.source
    diagnostics, trace = [], []
    for lead in diagnosis.leads:
        shown = _with_repairs(lead.finding, diagnosis.fixes(lead), lead.causes, source)
        if lead.finding.severity != "info":
            trace.append(Trace(shown, lead.tried))
        diagnostics.append(shown)
    layers = len(context.every_layer)
    foreign = not context.model.format.is_ir
    return FileReport(context.model.path, layers, diagnostics, source, tuple(trace), foreign)


def _with_repairs(
    finding: Finding, fixes: list[Fix], causes: Iterable[Cause], source: Source
) -> Diagnostic:
    return diagnostic(finding, source)._replace(
        fixes=tuple(_fix(each, source) for each in fixes),
        causes=tuple(_cause(each, fixes, source) for each in causes),
    )


def _fix(fix: Fix, source: Source) -> dict[str, Any]:
    """Returns a fix as JSON, with its edits by line and column."""
    edits = []
    for start, end, text in sorted(fix.edits):
        (line, column), (end_line, end_column) = source.place(start), source.place(end)
        edits.append(
            {
                "line": line,
                "column": column,
                "end_line": end_line,
                "end_column": end_column,
                "text": text.decode(source.encoding, "replace"),
            }
        )
    return {
        "change": fix.change,
        "applicability": fix.applicability,
        "safe": fix.applicability == "safe",
        "reason": fix.reason,
        "edits": edits,
    }


def _cause(cause: Cause, fixes: list[Fix], source: Source) -> dict[str, Any]:
    """Returns a possible cause of a finding as JSON. `fix` is the index in `fixes` of the change
    that removes the cause."""
    line, column = source.place(cause.change.offset)
    layer = cause.change.layer
    row: dict[str, Any] = {
        "message": cause.message,
        "line": line,
        "column": column,
        "layer": None if layer is None else layer.reference,
    }
    edits = [each.edits for each in fixes]
    if cause.applicability != "display":
        row["fix"] = edits.index(cause.change.edits)
    return row


@collection_paused()  # the model is freed before the collector runs again
def validate_file(
    path: str | os.PathLike[str],
    weights: WeightsChoice = "beside",
    values: Mapping[str, str] | None = None,
    *,
    settings: Settings = PLAIN,
    cache: str | None = None,
    leaves: bool = False,
) -> FileReport:
    """Returns the report on a file; `-` is standard input.

    values: values of inputs, for single layers. cache: the folder of a cache of reports.
    leaves: whether the process ends after the report.
    Raises `OSError` if the file cannot be opened, `UnfitValue` for a value that fits no input.
    """
    with extensions_known(settings.extensions):
        try:
            opened = open_model(path, weights)
            cacheable = os.fspath(path) != "-" and not is_url(path)
            if cache is not None and not values and cacheable:
                return _validate_cached(opened, settings, cache)
            model = read_source(*opened)
        except NotReadable as unreadable:
            return not_readable(unreadable, settings)
        if values:
            from ..formats.ir.fragments import give_values

            try:
                give_values(model, values, counted=False)
            except ValueError as problem:
                raise UnfitValue(str(problem)) from None
        return validate_model(model, settings, leaves=leaves)


def _validate_cached(opened: Opened, settings: Settings, cache: str) -> FileReport:
    """Returns the report on an unchanged file from the cache. Otherwise validates the file, and
    stores the report in the cache."""
    from ..model.weights import Weights
    from .cache import Entry

    source, weights = opened
    entry = Entry(cache, source, Weights.open(weights), settings)
    remembered = entry.get(source.path)
    if remembered is not None:
        return remembered
    model = read_source(*opened)
    if model.weights is not None:
        model.weights.reads = set()
    report = validate_model(model, settings)
    if model.format.is_ir:
        if model.weights is not None:
            entry.weights.reads = model.weights.reads
        entry.put(report, whole=bool(settings.also))
    return report


def not_readable(unreadable: NotReadable, settings: Settings) -> FileReport:
    """Returns the report on a file from which no model can be read."""
    from ..repair.text import cause_of

    source, finding = unreadable.source, unreadable.finding
    if finding.rule.code in settings.ignored:
        return FileReport(source.path, 0, [], source)
    cause = cause_of(unreadable)
    causes = [] if cause is None else [cause]
    fixes = [fix_of(each) for each in causes]
    return FileReport(source.path, 0, [_with_repairs(finding, fixes, causes, source)], source)
