"""Does the same for many files: in turn, or in processes of our own.

The answers come in the order of the files, and one bad file never stops the others.
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
"""A task, which can be pickled."""
R = TypeVar("R")
"""Its answer, which can be pickled as well."""

COLLECT_EVERY = 64
"""Files after which a process looks for garbage: the collector is off while one is checked."""
COLLECT_ALL_EVERY = 16
"""After so many times it looks through what it keeps, too: reports, and what is remembered."""
BATCH = 32
"""How many tasks a process is given at once, at most."""


def in_turn(work: Callable[[T], R], tasks: Sequence[T]) -> Generator[R, None, None]:
    """Does the work in this process."""
    for index, task in enumerate(tasks, 1):
        yield work(task)
        if index % COLLECT_EVERY == 0 and not gc.isenabled():
            _collect(index // COLLECT_EVERY)


def _collect(times: int) -> None:
    """Frees what came since the last time and is in use no more, and now and then all else."""
    gc.collect(2 if times % COLLECT_ALL_EVERY == 0 else 1)


def _begin() -> None:
    """Sets up a worker: the garbage collector is off, and ignores what the parent allocated. The
    worker ends when its parent does, however that ends.
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
"""Those that a process of ours works on."""


def _several(work: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    """A batch, in a process of ours."""
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
    """Does the work in processes of our own. lost: the answer for a task that kills its process.

    If one dies, the batches under way are checked again, each in a process of its own. So the task
    that kills its process is identified, and the others are not lost.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    size = max(1, min(batch, len(tasks) // (jobs * 4)))
    several = partial(_several, work)
    waiting = deque(tasks[at : at + size] for at in range(0, len(tasks), size))
    while waiting:
        flying: deque[tuple[Sequence[T], Future[list[R]] | None]] = deque()
        pool = ProcessPoolExecutor(jobs, mp_context=_processes(), initializer=_begin)
        try:
            while waiting or flying:
                while waiting and len(flying) < jobs * 3:
                    part = waiting.popleft()
                    flying.append((part, None))
                    flying[-1] = (part, pool.submit(several, part))
                future = flying[0][1]
                assert future is not None
                answers = future.result()
                flying.popleft()
                yield from answers
        except BrokenProcessPool:
            pool.shutdown(cancel_futures=True)  # no process starts beside its threads
            for part, future in flying:
                if (
                    future is not None
                    and future.done()
                    and not future.cancelled()
                    and future.exception() is None
                ):
                    yield from future.result()
                else:
                    yield from _apart(work, lost, part)
        finally:
            pool.shutdown(cancel_futures=True)


def _processes() -> Any:
    """Forks where the system can, so that nothing is imported again; the command has one thread."""
    from multiprocessing import get_all_start_methods, get_context

    return get_context("fork" if "fork" in get_all_start_methods() else "spawn")


def _apart(work: Callable[[T], R], lost: Callable[[T], R], batch: Sequence[T]) -> Iterator[R]:
    """A batch in a process of its own, and where that dies, each half of it. The death of a
    process with a single task is told by `lost`.
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
