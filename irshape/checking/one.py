"""Validation: reads, infers, and asks every rule; what a file holds is never an exception."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from ..diagnostics.report import FileReport, diagnostic
from ..formats.ir.fragments import give_values
from ..formats.loading import load
from ..model.graph import Model, NotReadable
from ..model.source import Source
from ..rules.settings import PLAIN, Settings
from ..settings.selection import Filter, settings

Target = str | os.PathLike[str] | Model


def validate_one(
    target: Target,
    weights: str | os.PathLike[str] = "beside",
    values: Mapping[str, str] | None = None,
    *,
    also: Collection[str] = (),
    settings: Settings | None = None,
) -> FileReport:
    """Everything that is wrong with one file. `values`: those of the inputs of layers on their own. Raises `OSError` where it cannot be opened."""
    chosen = settings if settings is not None else _settings(also)
    if isinstance(target, Model):
        return validate_model(target, settings=chosen)
    try:
        model = load(target, weights)
    except NotReadable as unreadable:
        return not_readable(unreadable, chosen)
    if values:
        give_values(model, values)
    return validate_model(model, settings=chosen)


def _settings(also: Collection[str]) -> Settings:
    from ..settings.configuration import Configuration

    return settings(Configuration(), also=also) if also else PLAIN


def not_readable(unreadable: NotReadable, chosen: Settings) -> FileReport:
    """The report on a file that holds no model."""
    source = unreadable.source
    found = diagnostic(unreadable.finding, source)
    return FileReport(source.path, 0, [] if found.code in chosen.ignored else [found], source)


def validate_model(
    model: Model, *, also: Collection[str] = (), settings: Settings | None = None
) -> FileReport:
    """Everything that is wrong with a model, in file order."""
    from ..inference.engine import infer
    from ..rules import Context, findings

    chosen = settings if settings is not None else _settings(also)
    context = Context(model, infer(model, compare=True), chosen)
    source: Source = model.source
    sieve = Filter(chosen, source if model.format == "ir" else None)
    found = [problem for problem in findings(context, chosen.also) if sieve.keep(problem)]
    found += sieve.about_comments()
    found.sort(key=lambda problem: (problem.offset, problem.rule.name, problem.message))
    return FileReport(
        model.path,
        len(context.every_layer),
        [diagnostic(problem, source) for problem in found],
        source,
    )
