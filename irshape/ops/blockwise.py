"""Computes on large arrays block by block, in several threads.

The intermediate results of a block fit into the processor's cache. NumPy releases the interpreter
lock while it computes, so the threads run in parallel.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from .lazy import Array, np

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

BLOCK: Final = 1 << 16
"""The number of elements in a block."""

PER_THREAD: Final = 1 << 16
"""Several threads are faster than one if each of them computes at least this many elements."""

Work = Callable[[int, int], None]
"""`work(start, stop)` computes the part of the result from `start` to `stop`, e.g. these rows."""


def thread_count() -> int:
    """Returns the number of threads to use, as BLAS does: `OMP_NUM_THREADS`, or all cores."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Returns the thread pool of a process. The process id is in the cache key, since a fork
    inherits no threads."""
    from concurrent.futures import ThreadPoolExecutor  # a static command needs no threads

    return ThreadPoolExecutor(threads, "irshape")


def in_threads(work: Work, length: int, size: int) -> None:
    """Calls `work(start, stop)` for parts of `range(length)`, in threads if `size` is large.

    size: the number of elements to compute, or more if each element takes long.
    """
    threads = min(size // PER_THREAD, length)
    if threads > 1:
        threads = min(threads, thread_count())
    if threads <= 1:
        work(0, length)
        return

    def part(number: int) -> None:
        with np.errstate(all="ignore"):  # applies to one thread
            work(length * number // threads, length * (number + 1) // threads)

    pool = _pool(os.getpid(), threads - 1)
    others = [pool.submit(part, number) for number in range(1, threads)]
    try:
        part(0)
    finally:
        for other in others:
            other.result()


def in_blocks(work: Work, length: int, width: int = 1) -> None:
    """Calls `work(start, stop)` for parts of `range(length)` with about `BLOCK` elements each.

    width: the number of elements to compute for each number of the range.
    """
    count = max(BLOCK // max(width, 1), 1)

    def blocks(start: int, stop: int) -> None:
        for first in range(start, stop, count):
            work(first, min(first + count, stop))

    in_threads(blocks, length, length * width)


def part_along(array: Any, axis: int, start: int, stop: int) -> Any:
    """Returns the elements from `start` to `stop` along `axis`, a negative number.

    An array of size 1 along the axis, or None, is returned unchanged.
    """
    if array is None or array.ndim < -axis or array.shape[axis] == 1:
        return array
    return array[(slice(None),) * (array.ndim + axis) + (slice(start, stop),)]


def is_dense(array: Array) -> bool:
    """Returns whether the elements are adjacent in memory, in any order of the axes."""
    if array.flags.c_contiguous:
        return True
    expected = array.itemsize
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def each(function: Callable[[Array, Array], None], data: Array, out: Array | None = None) -> Array:
    """Returns the result of `function` for all elements of `data`, in the memory layout of `data`.

    function: takes a block and the array for its result, which may be the block itself.
    """
    if not is_dense(data):
        data = np.ascontiguousarray(data)
    result = np.empty_like(data) if out is None or out.strides != data.strides else out
    order = sorted(range(data.ndim), key=data.strides.__getitem__, reverse=True)
    source, target = (array.transpose(order).reshape(-1) for array in (data, result))
    if result.strides != data.strides or not np.may_share_memory(target, result):
        source, target = data.reshape(-1), np.empty(data.size, data.dtype)
        result = target.reshape(data.shape)
    in_blocks(lambda start, stop: function(source[start:stop], target[start:stop]), data.size)
    if out is not None and result is not out:
        np.copyto(out, result)
        return out
    return result
