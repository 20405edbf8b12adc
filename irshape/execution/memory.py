"""Estimates the memory of a run before it starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod

from ..byte_sizes import written_size
from ..inference.result import BodyResult
from ..model.graph import Layer
from ..ops.tensors import Tensor
from ..shapes import UNBOUNDED


def default_max_memory() -> int:
    """Returns three quarters of the machine's memory in bytes; 16 GiB if the system does not report
    it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    except (AttributeError, ValueError, OSError):
        return 16 << 30


def keep_freed_memory() -> None:
    """Makes glibc's allocator keep up to 64 MiB of freed memory for the next arrays.

    By default, the allocator returns arrays of more than 128 KiB to the system, and gets each page
    back for the next array. That takes longer than to compute the array. But the allocator adapts
    to the largest array that it has freed, up to 32 MiB. So this function allocates and frees such
    an array, without touching its pages.
    """
    import numpy as np

    np.empty((32 << 20) - (1 << 16), np.uint8)


def too_much(size: int, allowed: int) -> str:
    """Returns the part of a message that says how much memory a run needs, and how much is
    allowed."""
    return f"{written_size(size)}, more than the {written_size(allowed)} allowed (--max-memory)"


def least_bytes(tensor: Tensor) -> int:
    """Returns the least number of bytes of a tensor: with the lower bound of each dynamic
    dimension, and with a byte for each element of a packed type, such as u4."""
    if tensor.shape.dims is None:
        return 0
    return prod(dim.low for dim in tensor.shape.dims) * max(tensor.element_type.bits // 8, 1)


def most_bytes(tensor: Tensor) -> int:
    """Returns the largest number of bytes of a tensor. If a dimension has no upper bound, this is
    `UNBOUNDED`, a huge number, or more."""
    if tensor.shape.dims is None:
        return UNBOUNDED
    return prod(dim.high for dim in tensor.shape.dims) * max(tensor.element_type.bits // 8, 1)


def peak_memory(
    result: BodyResult, bytes_of: Callable[[Tensor], int] = least_bytes
) -> tuple[int, Layer | None]:
    """Returns the largest total size, in bytes, of the tensors in memory at one time, and the layer
    that runs at this time. bytes_of: the function for a tensor's size, `least_bytes` or
    `most_bytes`. Constants mapped from the .bin and temporary memory of layers are left out."""
    layers, wiring = result.body.layers, result.wiring
    last: dict[int, int] = {}
    for turn, position in enumerate(wiring.order):
        last.update({source[0]: turn for source in wiring.sources[position] if source is not None})
    ending: dict[int, list[int]] = {}
    for position, turn in last.items():
        ending.setdefault(turn, []).append(position)
    live, peak, at = 0, 0, None
    sizes: dict[int, int] = {}
    for turn, position in enumerate(wiring.order):
        layer = layers[position]
        if layer.is_constant:
            packed = any(tensor.element_type.is_packed for tensor in result.outputs[position])
            live += sum(map(bytes_of, result.outputs[position])) if packed else 0
        elif not layer.is_result:
            sizes[position] = sum(map(bytes_of, result.outputs[position]))
            live += sizes[position]
        if live > peak:
            peak, at = live, layer
        if position not in last:
            live -= sizes.get(position, 0)
        live -= sum(sizes.get(source, 0) for source in ending.get(turn, ()))
    return peak, at
