"""Checks files on a running Dask cluster. This is the only module that uses distributed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

CONNECT = "10s"
"""How long a scheduler may take to respond."""


class SchedulerError(ValueError):
    """Raised if a scheduler cannot be used, or if distributed is not installed."""


@contextmanager
def scheduler(address: str) -> Iterator[Executor]:
    """Yields an executor on the workers of a Dask scheduler. Raises `SchedulerError`.

    The workers need irshape, and must see the files under the same paths. If a worker dies, its
    work is given to another one.
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
