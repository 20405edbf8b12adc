"""How much memory a run takes, estimated before it starts."""

from __future__ import annotations

import os

from ..byte_sizes import written_size
from ..inference.result import BodyResult
from ..model.graph import Layer
from ..ops.tensors import Tensor


def default_max_memory() -> int:
    """Three quarters of the machine's memory in bytes; 16 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    except (AttributeError, ValueError, OSError):
        return 16 << 30


def keep_freed_memory() -> None:
    """Makes the allocator of glibc keep up to 64 MiB that are freed, for what comes next.

    At first it returns arrays of more than 128 KiB to the system, and takes each page of the next
    one from there again, which costs more than computing it. It learns from the largest array that
    it has freed, up to 32 MiB. No page of this one is touched, so that it takes no memory.
    """
    import numpy as np

    np.empty((32 << 20) - (1 << 16), np.uint8)


def too_much(size: int, allowed: int) -> str:
    """So many bytes beside those that a run may take, as a message says it."""
    return f"{written_size(size)}, more than the {written_size(allowed)} allowed (--max-memory)"


def least_bytes(tensor: Tensor) -> int:
    """The bytes that a tensor takes at least.

    A dimension that is not known counts with its lower bound. An element of a packed type takes
    a byte.
    """
    if tensor.shape.dims is None:
        return 0
    total = 1
    for dim in tensor.shape.dims:
        total *= dim.low
    return total * max(tensor.element_type.bits // 8, 1)


def peak_memory(result: BodyResult) -> tuple[int, Layer | None]:
    """The bytes of the tensors that are alive when most are, and the layer that runs then.

    Mapped constants take none. What a layer needs while it computes is not counted.
    """
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
            live += sum(map(least_bytes, result.outputs[position])) if packed else 0
        elif not layer.is_result:
            sizes[position] = sum(map(least_bytes, result.outputs[position]))
            live += sizes[position]
        if live > peak:
            peak, at = live, layer
        if position not in last:
            live -= sizes.get(position, 0)
        live -= sum(sizes.get(source, 0) for source in ending.get(turn, ()))
    return peak, at
