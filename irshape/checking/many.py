"""Many files: in several processes, or with any executor of `concurrent.futures`; in the order given, and one bad file never stops the others."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnostics.report import Diagnostic, FileReport, Report
from ..model.graph import Model, NotReadable
from ..model.source import Source
from ..rule_ids import INTERNAL_ERROR, UNREADABLE_FILE, RuleId
from ..rules.settings import Settings
from ..settings.configuration import Configuration
from ..settings.selection import settings
from .one import Target, not_readable, validate_model, validate_one

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

COLLECT_EVERY = 64
"""Files after which a process looks for garbage: the collector is off while one is checked."""
FEW = 8
SMALL = 4 << 20
"""Below so many files and bytes of .xml together, starting processes costs more than it saves."""


class Task(NamedTuple):
    """One file to check. It and its answer can be pickled. folder: where a path that is not absolute starts."""

    path: str
    settings: Settings
    weights: str = "beside"
    values: Mapping[str, str] | None = None
    cache: str | None = None
    folder: str | None = None


class StoredSource(Source):
    """The text of a file that is read again when somebody asks for it; only the last such text is kept."""

    __slots__ = ("_encoding",)
    _last: tuple[str, bytes, str] | None = None

    def __init__(self, path: str) -> None:
        self.path = path
        self._counted = (0, 1)
        self._starts = {}

    def _read(self) -> tuple[str, bytes, str]:
        last = StoredSource._last
        if last is None or last[0] != self.path:
            from ..formats.loading import open_source

            try:
                source = open_source(self.path)
            except NotReadable as unreadable:
                source = unreadable.source
            except OSError:
                source = Source(self.path, b"")
            last = StoredSource._last = (self.path, source.data, source.encoding)
        return last

    @property
    def data(self) -> bytes:  # type: ignore[override]
        return self._read()[1]

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._read()[2]


def validate_many(
    targets: Sequence[str | Model],
    configuration: Configuration,
    *,
    over: Configuration | None = None,
    weights: str | os.PathLike[str] = "beside",
    values: Mapping[str, str] | None = None,
    also: Collection[str] = (),
    jobs: int = 1,
    executor: Executor | None = None,
    cache: str | None = None,
) -> Iterator[FileReport]:
    """What is found in each of several files or models, in order. Raises `ConfigurationError` for settings, and nothing for what is wrong with a file."""
    made: dict[tuple[Any, ...], Settings] = {}

    def settings_for(path: str) -> Settings:
        policies = configuration.policies_for(path)
        if policies not in made:
            made[policies] = settings(configuration, path, over=over, also=also)
        return made[policies]

    folder = cache or configuration.cache_dir
    here = os.getcwd() if executor is not None else None
    tasks = [
        target
        if isinstance(target, Model)
        else Task(target, settings_for(target), os.fspath(weights), values or None, folder, here)
        for target in targets
    ]
    workable = [task for task in tasks if isinstance(task, Task) and task.path != "-"]
    several = len(workable) > 1
    if executor is not None:
        answers = _with_executor(workable, executor)
    elif jobs > 1 and several:
        answers = _with_processes(workable, min(jobs, len(workable)))
    else:
        answers = _in_turn(workable)
    try:
        for task in tasks:
            if isinstance(task, Model):
                yield validate_model(task, settings=settings_for(task.path))
            elif task.path == "-":
                yield check(task)
            else:
                report = next(answers)
                yield report._replace(
                    source=StoredSource(os.path.join(here or "", task.path))
                    if report.diagnostics
                    else None
                )
    finally:
        answers.close()


def default_jobs(paths: Sequence[str]) -> int:
    """As many as cores for many or large files, one for few small ones."""
    if len(paths) < 2:
        return 1
    if len(paths) < FEW:
        total = 0
        for path in paths:
            try:
                total += os.stat(path).st_size
            except OSError:
                continue
        if total < SMALL:
            return 1
    return cores()


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shard(paths: list[str], index: int, count: int) -> list[str]:
    """Part `index` of `count`, from 1: every file is in exactly one, and neighbours, which are often alike, in different ones."""
    return paths[index - 1 :: count]


def check(task: Task) -> FileReport:
    """What is found in one file. Never raises, except with IRSHAPE_DEBUG set; runs in any process. For `-`, the text stays with the report."""
    try:
        path = (
            os.path.join(task.folder, task.path) if task.folder and task.path != "-" else task.path
        )
        try:
            report = _checked(task, path)
        except NotReadable as unreadable:
            report = not_readable(unreadable, task.settings)
    except OSError as problem:
        report = failure(
            task,
            UNREADABLE_FILE,
            f"the file cannot be opened: {problem.strerror or problem}",
            "correct the path or the permissions, or leave the file out",
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
    return report if task.path == "-" else report._replace(path=task.path, source=None)


def _checked(task: Task, path: str) -> FileReport:

    if task.cache is None or task.values or path == "-":
        return validate_one(path, task.weights, task.values, settings=task.settings)
    from ..formats.loading import load, open_source, read_source
    from ..model.weights import Weights
    from .cache import Entry

    if task.weights not in ("beside", "none") and not os.path.isfile(task.weights):
        load(path, task.weights)  # says what is wrong with it
    source = open_source(path)
    chosen = os.path.splitext(path)[0] + ".bin" if task.weights == "beside" else task.weights
    entry = Entry(
        task.cache, source, Weights.open(None if chosen == "none" else chosen), task.settings
    )
    remembered = entry.get(task.path)
    if remembered is not None:
        return remembered
    model = read_source(source, chosen)
    if model.weights is not None:
        model.weights.reads = set()
    report = validate_model(model, settings=task.settings)
    if model.format == "ir":
        if model.weights is not None:
            entry.weights.reads = model.weights.reads
        entry.put(report, whole=bool(task.settings.also) or _foreign_rules())
    return report


def _foreign_rules() -> bool:
    """Whether there are rules of plugins, of which nobody knows what they read."""
    from ..rules.plugins import plugin_rules

    return bool(plugin_rules())


def failure(task: Task, rule: RuleId, message: str, help: str) -> FileReport:
    """The report on a file that could not be checked."""
    ignored = rule.code in task.settings.ignored
    return FileReport(
        task.path,
        0,
        []
        if ignored
        else [Diagnostic(rule.code, rule.name, rule.severity, message, 1, 1, help=help)],
    )


def _in_turn(tasks: Sequence[Task]) -> Generator[FileReport, None, None]:
    for index, task in enumerate(tasks, 1):
        yield check(task)
        if index % COLLECT_EVERY == 0 and not gc.isenabled():
            gc.collect()


def _begin() -> None:
    """In a new process: the collector is off while files are checked, and never looks at what was there before."""
    gc.disable()
    gc.freeze()


def _several(tasks: Sequence[Task]) -> list[FileReport]:
    """A batch, in a process of ours."""
    found = list(map(check, tasks))
    gc.collect()
    return found


def _with_processes(tasks: Sequence[Task], jobs: int) -> Generator[FileReport, None, None]:
    """In processes of our own. Where one dies, what was under way is checked again, each file in a process for itself: the one that kills it is found, the others are not lost."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    size = max(1, min(32, len(tasks) // (jobs * 4)))
    waiting = deque(tasks[at : at + size] for at in range(0, len(tasks), size))
    while waiting:
        flying: deque[tuple[Sequence[Task], Future[list[FileReport]] | None]] = deque()
        pool = ProcessPoolExecutor(jobs, mp_context=_processes(), initializer=_begin)
        try:
            while waiting or flying:
                while waiting and len(flying) < jobs * 3:
                    batch = waiting.popleft()
                    flying.append((batch, None))
                    flying[-1] = (batch, pool.submit(_several, batch))
                future = flying[0][1]
                assert future is not None
                found = future.result()
                flying.popleft()
                yield from found
        except BrokenProcessPool:
            for batch, future in flying:
                if (
                    future is not None
                    and future.done()
                    and not future.cancelled()
                    and future.exception() is None
                ):
                    yield from future.result()
                else:
                    yield from map(_alone, batch)
        finally:
            pool.shutdown(cancel_futures=True)


def _processes() -> Any:
    """Forked where that is how processes are made, so that nothing is imported again; the command has one thread."""
    from multiprocessing import get_all_start_methods, get_context

    return get_context("fork" if "fork" in get_all_start_methods() else "spawn")


def _alone(task: Task) -> FileReport:
    """In a process of its own; its death is a finding."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(1, mp_context=_processes()) as pool:
        try:
            return pool.submit(check, task).result()
        except BrokenProcessPool:
            return died(task)


def died(task: Task) -> FileReport:
    return failure(
        task,
        INTERNAL_ERROR,
        "the process that checked this file died; the file has not been checked",
        "check it alone; if it has enough memory, please report it",
    )


def _with_executor(tasks: Sequence[Task], executor: Executor) -> Generator[FileReport, None, None]:
    """With somebody else's executor; a file whose answer does not come back is a finding."""
    from concurrent.futures import CancelledError

    flying: deque[tuple[Task, Future[FileReport] | None]] = deque()
    for task in tasks:
        try:
            flying.append((task, executor.submit(check, task)))
        except RuntimeError:  # it broke meanwhile, or is shut down
            flying.append((task, None))
    try:
        while flying:
            task, future = flying.popleft()
            try:
                report = died(task) if future is None else future.result()
            except (Exception, CancelledError) as problem:
                if os.environ.get("IRSHAPE_DEBUG") and not _broken(problem):
                    raise
                report = died(task)
            yield report
    finally:
        for _, future in flying:
            if future is not None:
                future.cancel()


def _broken(problem: BaseException) -> bool:
    """Whether an executor says that a worker is gone, in its own words."""
    return any(
        "Broken" in kind.__name__ or kind.__name__ in ("KilledWorker", "CancelledError")
        for kind in type(problem).__mro__
    )


def validate(
    target: Target | Iterable[Target],
    weights: str | os.PathLike[str] = "beside",
    *,
    also: Collection[str] = (),
    config: Configuration | str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
) -> Report:
    """`irshape.validate`."""
    alone = isinstance(target, (str, os.PathLike, Model))
    targets: list[Target] = (
        [target] if isinstance(target, (str, os.PathLike, Model)) else list(target)
    )
    chosen = (
        config
        if isinstance(config, Configuration)
        else Configuration.read(config)
        if config is not None
        else Configuration()
    )
    paths = [target if isinstance(target, Model) else os.fspath(target) for target in targets]
    if alone:
        (one,) = paths
        files = [
            validate_one(
                one,
                weights,
                settings=settings(chosen, one.path if isinstance(one, Model) else one, also=also),
            )
        ]
    else:
        from ..rules.plugins import check_plugins

        check_plugins()
        files = list(validate_many(paths, chosen, weights=weights, also=also, executor=executor))
    report = Report(files)
    if chosen.per_file_ignores or chosen.baseline or chosen.max_errors:
        from .baseline import finish

        return finish(report, chosen).report
    return report
