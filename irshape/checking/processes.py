"""Runs a function on many files: one after another, or in worker processes.

The results come in the order of the files, and one bad file never stops the others.
"""

from __future__ import annotations

import gc
import itertools
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
"""The type of a task, which can be pickled."""
R = TypeVar("R")
"""The type of the result of a task, which can be pickled."""

COLLECT_EVERY = 64
"""The tasks between two garbage collections without workers. Workers collect after a batch."""
COLLECT_ALL_EVERY = 16
"""One of this many garbage collections also examines long-lived objects: reports and caches."""
BATCH = 32
"""The largest number of tasks that a process gets at once."""


def _collect(times: int) -> None:
    """Frees recent unused objects; if `times` is a multiple of COLLECT_ALL_EVERY, also old ones."""
    gc.collect(2 if times % COLLECT_ALL_EVERY == 0 else 1)


def _begin() -> None:
    """Sets up a worker process.

    Turns the garbage collector off, and lets it ignore the objects of the parent process. Ends the
    worker whenever its parent ends, even after a crash.
    """
    from threading import Thread

    gc.disable()
    gc.freeze()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


_batches = itertools.count(1)
"""Numbers the batches that this worker process runs."""


def _several(work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    """Returns the results of a batch that runs in a worker process."""
    answers = list(map(work, tasks))
    _collect(next(_batches))
    return answers


def with_processes(
    work: Callable[[T], R],
    lost: Callable[[T], R],
    tasks: Sequence[T],
    jobs: int,
    batch: int = BATCH,
) -> Generator[R, None, None]:
    """Yields the results of tasks that run in several processes, or in this process if `jobs` is 1.
    lost: a function that returns the result of a task that kills its process.

    If a process dies, each batch that was sent to the workers and is unfinished runs again in a
    separate process. These runs identify the task that kills its process.
    """
    jobs = min(jobs, len(tasks))
    if jobs < 2:
        for index, task in enumerate(tasks, 1):
            yield work(task)
            if index % COLLECT_EVERY == 0 and not gc.isenabled():
                _collect(index // COLLECT_EVERY)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    size = max(1, min(batch, len(tasks) // (jobs * 4)))
    several = partial(_several, work)
    waiting = deque(tasks[at : at + size] for at in range(0, len(tasks), size))
    while waiting:
        flying: deque[tuple[Sequence[T], Future[list[R]]]] = deque()
        pool = ProcessPoolExecutor(jobs, mp_context=_processes(), initializer=_begin)
        try:
            while waiting or flying:
                while waiting and len(flying) < jobs * 3:
                    flying.append((waiting[0], pool.submit(several, waiting[0])))
                    waiting.popleft()
                answers = flying[0][1].result()
                flying.popleft()
                yield from answers
        except BrokenProcessPool:
            pool.shutdown(cancel_futures=True)  # no process starts beside its threads
            for part, _ in flying:
                yield from _apart(work, lost, part)
        finally:
            pool.shutdown(cancel_futures=True)


def _processes() -> Any:
    """Returns a context that forks if possible, so that workers need not import modules again.

    Forking is safe because the command has one thread.
    """
    from multiprocessing import get_all_start_methods, get_context

    return get_context("fork" if "fork" in get_all_start_methods() else "spawn")


def _apart(work: Callable[[T], R], lost: Callable[[T], R], batch: Sequence[T]) -> Iterator[R]:
    """Yields the results of a batch that runs in a separate process. If this process dies, each
    half of the batch gets a separate process.

    If the process of a single task dies, `lost` returns its result.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(1, mp_context=_processes(), initializer=_begin) as pool:
        try:
            answers = pool.submit(_several, work, batch).result()
        except BrokenProcessPool:
            answers = []
    if answers:
        yield from answers
    elif len(batch) == 1:
        yield lost(batch[0])
    else:
        half = len(batch) // 2
        yield from _apart(work, lost, batch[:half])
        yield from _apart(work, lost, batch[half:])
