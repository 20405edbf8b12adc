"""Determines the fixes of several files, in this process or in several processes.

It writes no file, so that all files stay unchanged if a process dies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ..formats.loading import WeightsChoice, path_of
from ..repair.fixing import Fixes, NotFixableError, fix
from ..settings.configuration import Configuration
from ..settings.selection import ignored_in, settings
from .processes import with_processes

BATCH = 2
"""The largest number of files that a process gets at once. It is small, since the process returns
the texts of these files."""


class Outcome(NamedTuple):
    """The fixes of a file, or the reason why there are none."""

    path: str
    fixes: Fixes | None
    problem: str = ""


def fixes_of(
    path: str | os.PathLike[str],
    configuration: Configuration,
    *,
    weights: WeightsChoice = "beside",
    unsafe: bool = False,
) -> Fixes:
    """Returns the fixes of a file. Raises the errors of `fix`, and `ConfigurationError` for an
    invalid selector."""
    name = path_of(path)
    spared = ignored_in(name, configuration)
    chosen = settings(configuration, name)
    return fix(name, weights, unsafe=unsafe, settings=chosen, spared=spared)


def fix_many(
    paths: Sequence[str],
    configuration: Configuration,
    *,
    weights: WeightsChoice = "beside",
    unsafe: bool = False,
    jobs: int = 1,
) -> Iterator[Outcome]:
    """Yields the fixes of several files, in order. A file that fails does not stop the others."""
    if "-" in paths:
        jobs = 1  # standard input is that of this process
    work = partial(_outcome, configuration=configuration, weights=weights, unsafe=unsafe)
    return with_processes(work, _lost, paths, jobs, BATCH)


def _outcome(
    path: str, configuration: Configuration, weights: WeightsChoice, unsafe: bool
) -> Outcome:
    try:
        return Outcome(path, fixes_of(path, configuration, weights=weights, unsafe=unsafe))
    except NotFixableError:
        return Outcome(path, None, "is not an IR; only IR files can be fixed")
    except OSError as problem:
        return Outcome(path, None, problem.strerror or str(problem))
    except Exception as problem:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        failure = f"irshape failed on this file: {type(problem).__name__}: {problem}"
        return Outcome(path, None, f"{failure}; IRSHAPE_DEBUG=1 shows where")


def _lost(path: str) -> Outcome:
    return Outcome(path, None, "the process that examined this file died")
