"""Validates many files, in several processes or with any executor of `concurrent.futures`.

The reports come in the order of the files, and one bad file never stops the others.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics.report import Diagnostic, FileReport
from ..model.graph import Model, NotReadable
from ..model.source import Source
from ..rule_ids import INTERNAL_ERROR, UNREADABLE_FILE, RuleId
from ..rules.plugins import entry_point_files, registers_anything
from ..rules.settings import Settings
from ..settings.plugin_files import load, loaded
from ..settings.selection import settings
from ..urls import is_url, without_credentials
from .one import Target, UnfitValue, validate_file, validate_model
from .processes import with_processes

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from .request import Request

FEW = 8
SMALL = 4 << 20
"""One process is faster for fewer than `FEW` files with fewer than `SMALL` bytes of .xml in all."""


class Task(NamedTuple):
    """One file to check. The task and its report can be pickled.

    folder: the base of a relative path. plugins: the files that --plugin names.
    """

    path: str
    settings: Settings
    weights: str = "beside"
    values: Mapping[str, str] | None = None
    cache: str | None = None
    folder: str | None = None
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
    configuration, executor = request.configuration, request.executor
    known: dict[tuple[Any, ...], Settings] = {}

    def settings_for(path: str) -> Settings:
        applying = configuration.applying_to(path)
        if applying not in known:
            known[applying] = settings(configuration, path)
        return known[applying]

    plugins_change = registers_anything() or entry_point_files()
    folder = None if plugins_change else request.cache or configuration.cache_dir
    here = os.getcwd() if executor is not None else None
    weights, values, plugins = os.fspath(request.weights), request.values or None, loaded()
    tasks = [
        target
        if isinstance(target, Model)
        else Task(
            path := os.fspath(target), settings_for(path), weights, values, folder, here, plugins
        )
        for target in targets
    ]
    workable = [task for task in tasks if isinstance(task, Task) and task.path != "-"]
    answers = (
        with_processes(check, died, workable, request.jobs)
        if executor is None
        else _with_executor(workable, executor)
    )
    try:
        for task in tasks:
            if isinstance(task, Model):
                yield validate_model(task, settings_for(task.path))
            elif task.path == "-":
                yield check(task)
            else:
                report = next(answers)
                yield report._replace(
                    source=StoredSource(_path_from(here, task.path)) if report.diagnostics else None
                )
    finally:
        answers.close()


def default_jobs(paths: Sequence[str]) -> int:
    """Returns the number of processes: 1 for one file or a few small files, else one per core."""
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
            _path_from(task.folder, task.path),
            task.weights,
            task.values,
            settings=task.settings,
            cache=task.cache,
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


def _path_from(folder: str | None, path: str) -> str:
    """Joins a relative path with the folder on which it depends. URLs and `-` stay unchanged."""
    return path if not folder or path == "-" or is_url(path) else os.path.join(folder, path)


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


def _with_executor(tasks: Sequence[Task], executor: Executor) -> Generator[FileReport, None, None]:
    """Yields the reports on files that the caller's executor checks. A lost result becomes a
    finding."""
    flying: list[Future[FileReport] | None] = []
    for task in tasks:
        try:
            flying.append(executor.submit(check, task))
        except RuntimeError:  # the executor broke, or is shut down
            flying.append(None)
    try:
        for task, future in zip(tasks, flying, strict=True):
            try:
                report = died(task) if future is None else future.result()
            except Exception:
                if os.environ.get("IRSHAPE_DEBUG"):
                    raise
                report = died(task)
            yield report
    finally:
        for future in flying:
            if future is not None:
                future.cancel()
