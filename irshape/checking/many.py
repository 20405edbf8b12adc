"""Validates many files, in this process or in several.

The reports come in the order of the files, and one bad file never stops the others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics.report import Diagnostic, FileReport
from ..model.graph import Model, NotReadable
from ..model.source import Source
from ..rule_ids import INTERNAL_ERROR, UNREADABLE_FILE, RuleId
from ..rules.plugins import registers_anything
from ..rules.settings import Settings
from ..settings.plugin_files import load, loaded
from ..settings.selection import settings
from ..urls import without_credentials
from .one import Target, UnfitValue, validate_file, validate_model
from .processes import with_processes

if TYPE_CHECKING:
    from .request import Request

FEW = 8
SMALL = 4 << 20
"""One process is faster for fewer than `FEW` files with fewer than `SMALL` bytes of .xml in all."""


class Task(NamedTuple):
    """One file to check. The task and its report can be pickled.

    plugins: the files that --plugin names.
    """

    path: str
    settings: Settings
    weights: str = "beside"
    values: Mapping[str, str] | None = None
    cache: str | None = None
    plugins: tuple[str, ...] = ()


class StoredSource(Source):
    """The source of a file. It reads the text from the file again whenever the text is needed.

    A report from a worker process has no text. Only the last text stays in memory.
    """

    __slots__ = ()

    def __init__(self, path: str) -> None:
        self.path = path
        self._begin()

    @property
    def data(self) -> bytes:  # type: ignore[override]
        return _source_of(self.path).data

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return _source_of(self.path).encoding

    @property
    def raw(self) -> bytes | None:  # type: ignore[override]
        return _source_of(self.path).raw


@lru_cache(maxsize=1)
def _source_of(path: str) -> Source:
    """Returns the text of a file; empty if it can no longer be opened."""
    from ..formats.loading import format_of, open_source, read_source

    try:
        source = open_source(path)
        if format_of(source.data).format.listed:
            read_source(source, None)  # replaces its text
        return source
    except NotReadable as unreadable:
        return unreadable.source
    except OSError:
        return Source(path, b"")


def validate_many(targets: Sequence[Target], request: Request) -> Iterator[FileReport]:
    """Yields the reports on several files or models, in order.

    Raises `ConfigurationError` for invalid settings. The contents of a file cause no exception.
    """
    configuration = request.configuration
    known: dict[tuple[Any, ...], Settings] = {}

    def settings_for(path: str) -> Settings:
        applying = configuration.applying_to(path)
        if applying not in known:
            known[applying] = settings(configuration, path)
        return known[applying]

    folder = None if registers_anything() else request.cache or configuration.cache_dir
    weights, values, plugins = os.fspath(request.weights), request.values or None, loaded()
    tasks = [
        target
        if isinstance(target, Model)
        else Task(path := os.fspath(target), settings_for(path), weights, values, folder, plugins)
        for target in targets
    ]
    workable = [task for task in tasks if isinstance(task, Task) and task.path != "-"]
    answers = with_processes(check, died, workable, request.jobs)
    try:
        for task in tasks:
            if isinstance(task, Model):
                yield validate_model(task, settings_for(task.path))
            elif task.path == "-":
                yield check(task)
            else:
                report = next(answers)
                source = StoredSource(task.path) if report.diagnostics else None
                yield report._replace(source=source)
    finally:
        answers.close()


def default_jobs(paths: Sequence[str]) -> int:
    """Returns the number of processes: the number of cores, or 1 for a few small files."""
    total = sum(os.path.getsize(path) for path in paths[:FEW] if os.path.isfile(path))
    if len(paths) < 2 or (len(paths) < FEW and total < SMALL):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shard(paths: list[str], index: int, count: int) -> list[str]:
    """Returns part `index` (1 to `count`) of a list of files. Each file is in one part.

    Successive files are in different parts, since they are often similar.
    """
    return paths[index - 1 :: count]


def check(task: Task) -> FileReport:
    """Returns the report on one file; runs in any process. The report on `-` contains the text.

    Raises `UnfitValue` for a value that fits no input. With IRSHAPE_DEBUG, raises internal errors.
    """
    for plugin in task.plugins:
        load(plugin)
    try:
        report = validate_file(
            task.path, task.weights, task.values, settings=task.settings, cache=task.cache
        )
    except UnfitValue:
        raise  # a mistake of the caller, not of the file
    except OSError as problem:
        report = failure(
            task,
            UNREADABLE_FILE,
            f"the file cannot be opened: {problem.strerror or problem}",
            "correct the path or the permissions, or exclude the file",
        )
    except Exception as problem:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        report = failure(
            task,
            INTERNAL_ERROR,
            f"irshape failed on this file: {type(problem).__name__}: {problem}",
            "a bug in irshape: please report it; IRSHAPE_DEBUG=1 shows where",
        )
    return (
        report
        if task.path == "-"
        else report._replace(path=without_credentials(task.path), source=None)
    )


def failure(task: Task, rule: RuleId, message: str, help: str) -> FileReport:
    """Returns the report on a file that could not be checked."""
    ignored = rule.code in task.settings.ignored
    return FileReport(
        without_credentials(task.path),
        0,
        []
        if ignored
        else [Diagnostic(rule.code, rule.name, rule.severity, message, 1, 1, help=help)],
    )


def died(task: Task) -> FileReport:
    return failure(
        task,
        INTERNAL_ERROR,
        "the process that checked this file died; the file has not been checked",
        "check the file alone; if memory did not run out, please report this",
    )
