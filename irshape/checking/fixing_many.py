"""Determines the fixes of several files, in this process or in several processes.

It writes no file, so that all files stay unchanged if a process dies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..formats.loading import WeightsChoice, path_of
from ..repair.fixing import Fixes, NotFixableError, fix
from ..rules.settings import Settings
from ..settings.configuration import Configuration
from ..settings.selection import ignored_in, settings
from .processes import with_processes

BATCH = 2
"""The largest number of files that a process gets at once. It is small, since the process returns
the texts of these files."""


class Task(NamedTuple):
    """One file to fix. The task can be pickled."""

    path: str
    weights: WeightsChoice
    unsafe: bool
    settings: Settings
    spared: frozenset[str]


class Outcome(NamedTuple):
    """The fixes of a file, or the reason why there are none."""

    path: str
    fixes: Fixes | None
    problem: str = ""


def task(
    path: str | os.PathLike[str],
    configuration: Configuration,
    *,
    weights: WeightsChoice = "beside",
    unsafe: bool = False,
) -> Task:
    """Returns the task to fix a file. Raises `ConfigurationError` for an invalid selector."""
    name = path_of(path)
    spared = ignored_in(name, configuration)
    return Task(name, weights, unsafe, settings(configuration, name), spared)


def fixes_of(task: Task) -> Fixes:
    """Returns the fixes of the file of a task. Raises the errors of `fix`."""
    return fix(
        task.path, task.weights, unsafe=task.unsafe, settings=task.settings, spared=task.spared
    )


def fix_many(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Yields the fixes of several files, in order, also of the files after one that fails."""
    if any(task.path == "-" for task in tasks):
        jobs = 1  # standard input is that of this process
    return with_processes(_outcome, _lost, tasks, jobs, BATCH)


def _outcome(task: Task) -> Outcome:
    try:
        return Outcome(task.path, fixes_of(task))
    except NotFixableError:
        return Outcome(task.path, None, "is not an IR; only IR files can be fixed")
    except OSError as problem:
        return Outcome(task.path, None, problem.strerror or str(problem))
    except Exception as problem:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        told = f"irshape failed on this file: {type(problem).__name__}: {problem}"
        return Outcome(task.path, None, f"{told}; IRSHAPE_DEBUG=1 shows where")


def _lost(task: Task) -> Outcome:
    return Outcome(task.path, None, "the process that examined this file died")
