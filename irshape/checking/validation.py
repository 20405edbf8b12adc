"""Validates all models that one call of `irshape.validate`, or one command, names.

It checks the files in order, in this process or in several. Then it applies `per-file-ignores`, the
baseline and `max-errors` to all files together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..diagnostics.report import FileReport, Report
from ..model.graph import Model
from ..settings.configuration import Configuration, configuration_of
from ..settings.selection import settings
from .baseline import Finished, finish, without_ignored
from .one import Target, validate_file, validate_model
from .request import Request

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..formats.loading import WeightsChoice

EXPORTED = ("_model.xml", "_tokenizer.xml", "_detokenizer.xml")
"""The endings of the file names of models that optimum-intel exports together."""

Watch = Callable[[Iterator[FileReport], int], Iterator[FileReport]]
"""A function that passes reports on and shows progress. Gets reports, and how many will come."""


def validate(
    target: Target | Iterable[Target],
    weights: WeightsChoice = "beside",
    *,
    values: Mapping[str, str] | None = None,
    also: Collection[str] = (),
    config: Configuration | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
) -> Report:
    """Implements `irshape.validate`."""
    configuration = configuration_of(config)
    configuration = configuration._replace(extend_select=(*configuration.extend_select, *also))
    request = Request(configuration, weights=weights, values=values, executor=executor)
    if isinstance(target, (str, os.PathLike, Model)):
        return validate_all([target], request, alone=True).report
    from ..rules.plugins import check_plugins

    check_plugins()
    return validate_all(list(target), request).report


def validate_all(
    targets: Sequence[Target],
    request: Request,
    *,
    alone: bool = False,
    watch: Watch | None = None,
) -> Finished:
    """Checks models, and applies the settings for all of them together to the report.

    alone: check the only target in this process, and raise `OSError` if it cannot be opened.
    Raises `ConfigurationError`, and `ValueError` for values that fit no input.
    """
    configuration = request.configuration
    # which errors the baseline leaves out is known only at the end
    limit = None if configuration.baseline else configuration.max_errors
    if alone:
        reports = _alone(targets[0], request)
    else:
        from .many import validate_many

        reports = validate_many(targets, request)
    checked: list[FileReport] = []
    errors = 0
    for report in reports if watch is None else watch(reports, len(targets)):
        checked.append(report)
        if limit is not None:
            left = without_ignored(report, configuration).diagnostics
            errors += sum(diagnostic.severity == "error" for diagnostic in left)
            if errors >= limit:
                break
    if not alone and any(report.path.endswith(EXPORTED) for report in checked):
        from .exports import check_exports

        checked = check_exports(checked, request)
    finished = finish(Report(checked), configuration)
    return finished._replace(unchecked=len(targets) - len(finished.report.files))


def _alone(target: Target, request: Request) -> Iterator[FileReport]:
    path = target.path if isinstance(target, Model) else os.fspath(target)
    chosen = settings(request.configuration, path)
    if isinstance(target, Model):
        target.net.reindex()
        yield validate_model(target, chosen)
    else:
        yield validate_file(
            path, request.weights, request.values, settings=chosen, leaves=request.leaves
        )
