"""Checks files on a Dask cluster that is already running. The only use of distributed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

CONNECT = "10s"
"""How long a scheduler may take to answer."""


class SchedulerError(ValueError):
    """A scheduler that cannot be used, or no distributed to reach it with."""


@contextmanager
def scheduler(address: str) -> Iterator[Executor]:
    """An executor whose work a Dask scheduler hands to its workers. Raises `SchedulerError`.

    The workers need irshape, and see the files under the same paths. Work of a worker that dies is
    given to another one.
    """
    try:
        from distributed import Client
    except ImportError:
        raise SchedulerError("a scheduler needs Dask: pip install 'irshape[dask]'") from None
    try:
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise SchedulerError(f"no Dask scheduler at '{address}': {reason}") from None
    with client:
        yield client.get_executor(pure=False)
