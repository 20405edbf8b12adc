"""Validates one file: open, read, infer, ask every rule, apply the selection, report.

The command, the Python API, the checks of many files and `fix` all go through `examine`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..collection import collection_paused
from ..diagnostics.report import FileReport, diagnostic
from ..formats.loading import WeightsChoice, open_model, read_source, weights_path
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..rule_ids import INPUT_SHAPES
from ..rules.settings import PLAIN, Settings
from ..settings.selection import Filter
from ..urls import is_url

if TYPE_CHECKING:
    from ..diagnosis import Diagnosis
    from ..formats.ir.edits import Edit
    from ..formats.loading import Opened
    from ..rules import Context

Target = str | os.PathLike[str] | Model


MAX_BESIDE = 2
"""So many errors and warnings are told at most beside that for which a text cannot be read."""

_left_behind: list[Examination] = []
"""The examination that a process ends with. It is left to the system, which is faster than taking
a large model apart object by object."""


class UnfitValue(ValueError):
    """A value that was given fits no input of the file, or is not a value."""


class Examination(NamedTuple):
    """The findings on a model that are reported, in file order, and the context of the rules."""

    findings: list[Finding]
    context: Context
    diagnoses: list[Diagnosis]
    """The causes that were found for some of them, each with what takes it back."""


def examine(model: Model, settings: Settings = PLAIN, *, as_read: bool = False) -> Examination:
    """Infers a model, asks the rules, and applies the selection and the model's own comments.

    as_read: the model is what its text says, since no other program had it after it was read.
    """
    from ..inference.engine import infer
    from ..rules import Context, findings

    with collection_paused():
        context = Context(model, infer(model, compare=True), settings)
        selection = Filter(settings, model.source if model.format.comments else None)
        all_findings = list(findings(context, settings.also))
        reported = [finding for finding in all_findings if selection.keep(finding)]
        reported += selection.about_comments()
        diagnoses = [
            diagnosis
            for diagnosis in _diagnoses(context, reported, all_findings, as_read)
            if selection.selected(diagnosis.finding.rule)
        ]
    if diagnoses:
        reported = _told_once(reported, diagnoses)
    causes = {id(diagnosis.finding) for diagnosis in diagnoses}
    reported = [
        each if id(each) in causes or each.rule != INPUT_SHAPES else context.with_reasons(each)
        for each in reported
    ]
    reported.sort(key=_in_file_order)
    return Examination(reported, context, diagnoses)


def _in_file_order(finding: Finding) -> tuple[int, str, str]:
    return finding.offset, finding.rule.name, finding.message


def _diagnoses(
    context: Context, reported: list[Finding], everything: list[Finding], as_read: bool
) -> list[Diagnosis]:
    """The causes of errors and warnings; a sound model is not looked at again."""
    if all(finding.severity == "info" for finding in reported):
        return []
    from ..diagnosis import diagnose

    return diagnose(context, sorted(reported, key=_in_file_order), everything, as_read=as_read)


def _told_once(reported: list[Finding], diagnoses: list[Diagnosis]) -> list[Finding]:
    """The findings with each cause in place of what only follows from it."""
    explained = {id(finding) for diagnosis in diagnoses for finding in diagnosis.explained}
    return [
        *(finding for finding in reported if id(finding) not in explained),
        *(diagnosis.finding for diagnosis in diagnoses),
    ]


def validate_model(
    model: Model, settings: Settings = PLAIN, *, leaves: bool = False, as_read: bool = False
) -> FileReport:
    """The report on a model. leaves: whether the process ends with it. as_read: see `examine`."""
    examination = examine(model, settings, as_read=as_read)
    if leaves:
        _left_behind[:] = [examination]
    return report_on(model, examination, examination.findings)


def report_on(model: Model, examination: Examination, findings: list[Finding]) -> FileReport:
    """The report on a model, of some of the findings that are reported."""
    source = model.source
    fixes = {id(each.finding): _fixes(each, source) for each in examination.diagnoses}
    if any(finding.severity != "info" and id(finding) not in fixes for finding in findings):
        fixes |= _cures(examination, findings, source)
    diagnostics = [
        diagnostic(finding, source)._replace(fixes=fixes[id(finding)])
        if id(finding) in fixes
        else diagnostic(finding, source)
        for finding in findings
    ]
    return FileReport(model.path, len(examination.context.every_layer), diagnostics, source)


def _fixes(diagnosis: Diagnosis, source: Source) -> tuple[dict[str, Any], ...]:
    """The changes that take a cause back, by line and column."""
    return tuple(
        {
            "change": candidate.change,
            "safe": diagnosis.certain and candidate is diagnosis.candidates[0],
            "edits": _places(candidate.edits, source),
        }
        for candidate in diagnosis.candidates
    )


def _cures(
    examination: Examination, findings: list[Finding], source: Source
) -> dict[int, tuple[dict[str, Any], ...]]:
    """The cures that the rules of findings have, by the id of the finding."""
    from .cures import cures_told

    fixes: dict[int, tuple[dict[str, Any], ...]] = {}
    for finding, cure in cures_told(examination.context, findings, examination.diagnoses):
        start, end, text = cure.edits[0]
        written, new = (
            data.decode(source.encoding, "replace") for data in (source.data[start:end], text)
        )
        change = f"{written} becomes {new}" if cure.finding is finding else cure.finding.message
        fix = {"change": change, "safe": True, "edits": _places(cure.edits, source)}
        fixes[id(finding)] = (fix,)
    return fixes


def _places(edits: Iterable[Edit], source: Source) -> list[dict[str, Any]]:
    """Edits by line and column."""
    places = []
    for start, end, text in sorted(edits):
        (line, column), (end_line, end_column) = source.place(start), source.place(end)
        places.append(
            {
                "line": line,
                "column": column,
                "end_line": end_line,
                "end_column": end_column,
                "text": text.decode(source.encoding, "replace"),
            }
        )
    return places


def validate_file(
    path: str | os.PathLike[str],
    weights: WeightsChoice = "beside",
    values: Mapping[str, str] | None = None,
    *,
    settings: Settings = PLAIN,
    cache: str | None = None,
    leaves: bool = False,
) -> FileReport:
    """The report on a file; `-` is standard input.

    values: those of the inputs of layers on their own. cache: a folder of earlier reports. leaves:
    whether the process ends with the report.
    Raises `OSError` if the file cannot be opened, `ValueMismatch` for a value that fits no input.
    """
    # the model is gone before the collector runs again, so that it finds nothing new to look at
    with collection_paused():
        return _validate_file(path, weights, values, settings, cache, leaves)


def _validate_file(
    path: str | os.PathLike[str],
    weights: WeightsChoice,
    values: Mapping[str, str] | None,
    settings: Settings,
    cache: str | None,
    leaves: bool,
) -> FileReport:
    try:
        opened = open_model(path, weights)
        cacheable = os.fspath(path) != "-" and not is_url(path)
        if cache is not None and not values and cacheable:
            return _validate_cached(opened, settings, cache)
        model = read_source(*opened)
    except NotReadable as unreadable:
        return not_readable(unreadable, settings, weights)
    if values:
        from ..formats.ir.fragments import give_values

        try:
            give_values(model, values)
        except ValueError as problem:
            raise UnfitValue(str(problem)) from None
    return validate_model(model, settings, leaves=leaves, as_read=True)


def _validate_cached(opened: Opened, settings: Settings, cache: str) -> FileReport:
    """The report of the cache if it has one for this content; otherwise a new one is stored."""
    from ..model.weights import Weights
    from .cache import Entry

    source = opened.source
    entry = Entry(cache, source, Weights.open(opened.weights), settings)
    remembered = entry.get(source.path)
    if remembered is not None:
        return remembered
    model = read_source(*opened)
    if model.weights is not None:
        model.weights.reads = set()
    report = validate_model(model, settings, as_read=True)
    if model.format.self_contained:
        if model.weights is not None:
            entry.weights.reads = model.weights.reads
        entry.put(report, whole=bool(settings.also) or _has_plugin_rules())
    return report


def _has_plugin_rules() -> bool:
    """Whether plugins add rules. What part of the .bin such a rule reads is unknown."""
    from ..rules.plugins import plugin_rules

    return bool(plugin_rules())


def not_readable(
    unreadable: NotReadable, settings: Settings, weights: WeightsChoice = "none"
) -> FileReport:
    """The report on a file from which no model can be read.

    Where it is known what is wrong with its text, the rest is checked as if that were put right.
    """
    from ..diagnosis.text.several import malformed_causes

    source = unreadable.source
    causes = malformed_causes(unreadable)
    told = [
        diagnostic(cause.finding, source)._replace(fixes=_fixes(cause, source)) for cause in causes
    ] or [diagnostic(unreadable.finding, source)]
    told = [each for each in told if each.code not in settings.ignored]
    rest = _put_right(causes, source, settings, weights)
    if rest is None or len(rest.diagnostics) > MAX_BESIDE:  # what was put right is something else
        return FileReport(source.path, 0, told, source)
    told = sorted([*told, *rest.diagnostics], key=lambda each: (each.line, each.column))
    return FileReport(source.path, rest.layers if rest.diagnostics else 0, told, source)


def _put_right(
    causes: list[Diagnosis], source: Source, settings: Settings, weights: WeightsChoice
) -> FileReport | None:
    """The report on a text without its slips; None where it is unsure or all else is right."""
    from ..diagnosis.text.put_right import put_right
    from ..diagnosis.text.rereading import graver_findings
    from ..inference.engine import infer
    from ..rules import Context

    if not causes or not all(cause.candidates for cause in causes):
        return None
    whole = put_right(causes, source)
    try:
        model = read_source(whole.source, weights_path(source.path, weights))
    except NotReadable:
        return None
    context = Context(model, infer(model, compare=True), settings, reasons=False)
    if not whole.apart(graver_findings(context)):
        return None  # most often: without what is merely worth knowing it takes less time
    examination = examine(model, settings, as_read=True)
    return report_on(model, examination, whole.apart(examination.findings))
