"""Validation: reads, infers, and asks every rule; what a file holds is never an exception."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from ..formats.layers import give_values
from ..formats.loading import load
from ..model import Model, NotReadable, Source
from ..settings.selection import PLAIN, Filter, Settings, settings
from .report import FileReport, Report, diagnostic

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..settings.configuration import Configuration

Target = str | os.PathLike[str] | Model


def validate(
    target: Target | Iterable[Target],
    weights: str | os.PathLike[str] = "beside",
    *,
    also: Collection[str] = (),
    config: Configuration | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
) -> Report:
    """`irshape.validate`."""
    from ..settings.configuration import Configuration

    alone = isinstance(target, (str, os.PathLike, Model))
    targets: list[Target] = [target] if isinstance(target, (str, os.PathLike, Model)) else list(target)
    chosen = config if isinstance(config, Configuration) else Configuration.read(config) if config is not None else Configuration()
    paths = [target if isinstance(target, Model) else os.fspath(target) for target in targets]
    if alone:
        (one,) = paths
        files = [validate_one(one, weights, settings=settings(chosen, one.path if isinstance(one, Model) else one, also=also))]
    else:
        from ..batch.many import validate_many
        from ..rules.plugins import check_plugins

        check_plugins()
        files = list(validate_many(paths, chosen, weights=weights, also=also, executor=executor))
    report = Report(files)
    if chosen.per_file_ignores or chosen.baseline or chosen.max_errors:
        from ..settings.baseline import finish

        return finish(report, chosen).report
    return report


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
    found = diagnostic(unreadable.problem, source)
    return FileReport(source.path, 0, [] if found.code in chosen.ignored else [found], source)


def validate_model(model: Model, *, also: Collection[str] = (), settings: Settings | None = None) -> FileReport:
    """Everything that is wrong with a model, in file order."""
    from ..inference.engine import infer
    from ..rules import Context, findings, rule_named

    chosen = settings if settings is not None else _settings(also)
    context = Context(model, infer(model, compare=True), chosen)
    source: Source = model.source
    sieve = Filter(chosen, source if model.format == "ir" else None)
    found = [problem for problem in findings(context, chosen.also) if sieve.keep(rule_named(problem.rule), problem)]
    found += sieve.about_comments()
    found.sort(key=lambda problem: (problem.offset, problem.rule, problem.message))
    return FileReport(model.path, len(context.every_layer), [diagnostic(problem, source) for problem in found], source)
