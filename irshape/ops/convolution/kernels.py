"""The NumPy evaluation of convolutions.

Each patch (the pixels that the kernel covers at one position) becomes a row of a matrix. The result
is the product of this matrix and the filters. The channels are the last axis in memory, so that
each row of the matrix is copied in long pieces. The result is also stored with the channels last,
and returned as a view of shape `[N, C, …]`. Elementwise layers keep this order in memory.

If the kernel is one pixel, data with the channels first or last in memory needs no copy. For groups
of one channel, a sum over the positions of the kernel is faster; see `depthwise`.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from math import prod
from typing import Final

from ..conversion import narrowed, widened
from ..lazy import Array, np
from ..windows import (
    Frame,
    along_last,
    channels_last,
    channels_to_end,
    channels_to_front,
    padded,
    reached,
)
from .depthwise import by_channel

MAX_COLUMNS: Final = 1 << 20
"""The largest number of elements in a matrix of patches, so that the matrix fits into a cache."""

FEW_STEPS: Final = 256
"""Matrix products get at least this many rows: short lines of the result are combined."""


def convolved(data: Array, filters: Array, frame: Frame) -> Array:
    """Returns `data` `[N, G·C, *sizes]` convolved with `filters` `[G, O, C, *kernel]`.

    The result is `[N, G·O, *steps]`.
    """
    batch, sizes = data.shape[0], data.shape[2:]
    groups, outputs, inputs = filters.shape[:3]
    steps, pointwise = _reach(frame, sizes)
    if not all(steps) or not batch * groups * outputs * filters.size:
        return np.zeros((batch, groups * outputs, *steps), data.dtype)
    numbers, filters = widened(data), widened(filters)
    if inputs == 1 and groups > 1:
        result = by_channel(numbers, filters[:, :, 0], frame, steps)
    elif groups > 1 or not pointwise:
        result = _by_patch(numbers, filters, frame, steps)
    elif channels_last(numbers):
        result = _by_pixel(numbers, filters.reshape(outputs, inputs))
    else:
        planes = np.ascontiguousarray(numbers).reshape(batch, inputs, -1)
        result = np.matmul(filters.reshape(outputs, inputs), planes)
    return narrowed(result.reshape(batch, groups * outputs, *steps), data)


@lru_cache(maxsize=1024)
def _reach(frame: Frame, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    """Returns the number of windows along each axis, and whether they are exactly the pixels."""
    return frame.steps(sizes), (
        all(k == 1 for k in frame.kernel)
        and all(s == 1 for s in frame.strides)
        and not any(frame.pads_begin)
        and not any(frame.pads_end)
    )


def _by_pixel(data: Array, matrix: Array) -> Array:
    """Returns each pixel's channels times `matrix` `[O, C]`. Channels are last in memory."""
    pixels = channels_to_end(data)
    result = np.matmul(pixels.reshape(-1, pixels.shape[-1]), matrix.T)
    return channels_to_front(result.reshape(*pixels.shape[:-1], matrix.shape[0]))


def _by_patch(data: Array, filters: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Returns the patches of `data` `[N, G·C, *sizes]` times `filters` `[G, O, C, *kernel]`.

    The result is `[N, G·O, *steps]`, in memory `[N, *steps, G·O]`.
    """
    batch, axes = data.shape[0], len(steps)
    groups, outputs, inputs = filters.shape[:3]
    matrices = filters.transpose(0, *range(3, 3 + axes), 2, 1).reshape(groups, -1, outputs)
    area = padded(channels_to_end(data), (*frame.pads_begin, 0), (*frame.pads_end, 0))
    area = np.ascontiguousarray(area)
    sample, *inside, last = area.strides
    patches = np.ndarray(
        (groups, batch, *steps, *frame.kernel, inputs),
        area.dtype,
        area,
        0,
        (
            last * inputs,
            sample,
            *(size * stride for size, stride in zip(inside, frame.strides, strict=True)),
            *(size * dilation for size, dilation in zip(inside, frame.dilations, strict=True)),
            last,
        ),
    )
    result = np.empty((batch, *steps, groups * outputs), area.dtype)
    depth, line = matrices.shape[1], prod(steps[1:])
    samples = max(MAX_COLUMNS // (groups * depth * line * steps[0]), 1)
    lines = max(MAX_COLUMNS // (groups * depth * line), -(-FEW_STEPS // line))
    if samples > 1:
        lines = steps[0]
    for first in range(0, batch, samples):
        for start in range(0, steps[0], lines):
            part = patches[:, first : first + samples, start : start + lines]
            target = result[first : first + samples, start : start + lines]
            rows = _rows(part, (groups, prod(part.shape[1 : 2 + axes]), depth))
            np.matmul(rows, matrices, out=target.reshape(-1, groups, outputs).swapaxes(0, 1))
    return channels_to_front(result)


_workspace = threading.local()
"""Memory for patches that each thread reuses."""


def _rows(patches: Array, shape: tuple[int, ...]) -> Array:
    """Copies patches to the rows of matrices, in memory that the thread reuses.

    New memory for every layer would be slow, because the operating system provides it page by page.
    """
    size = patches.size
    if size > MAX_COLUMNS:
        return patches.reshape(shape)
    memory: Array | None = getattr(_workspace, "memory", None)
    if memory is None or memory.nbytes < patches.nbytes:
        memory = _workspace.memory = np.empty(patches.nbytes, np.uint8)
    rows = memory[: patches.nbytes].view(patches.dtype)
    np.copyto(rows.reshape(patches.shape), patches)
    return rows.reshape(shape)


def spread(data: Array, filters: Array, frame: Frame, sizes: tuple[int, ...]) -> Array:
    """Returns the transposed convolution of `data` `[N, G·C, *steps]` with `filters`.

    `filters` are `[G, C, O, *kernel]`. The result is `[N, G·O, *sizes]`, without the padding.
    """
    numbers, filters = widened(data), widened(filters)
    batch, steps = data.shape[0], data.shape[2:]
    groups, inputs, outputs = filters.shape[:3]
    spans = [
        max((step - 1) * stride + frame.span(axis), 0)
        for axis, (step, stride) in enumerate(zip(steps, frame.strides, strict=True))
    ]
    room = [
        max(span, begin + size)
        for span, begin, size in zip(spans, frame.pads_begin, sizes, strict=True)
    ]
    canvas = np.zeros((batch, groups * outputs, *room), numbers.dtype)
    if numbers.size and filters.size:
        matrices = np.ascontiguousarray(filters.transpose(*range(3, filters.ndim), 0, 1, 2))
        columns = np.ascontiguousarray(numbers).reshape(batch, groups, inputs, -1)
        target = canvas.reshape(batch, groups, outputs, *room)
        for at, where in reached(frame, steps):
            contribution = np.matmul(matrices[at].swapaxes(1, 2), columns)
            target[along_last(where)] += contribution.reshape(batch, groups, outputs, *steps)
    kept = [slice(begin, begin + size) for begin, size in zip(frame.pads_begin, sizes, strict=True)]
    result = np.ascontiguousarray(channels_to_end(canvas[along_last(kept)]))
    return narrowed(channels_to_front(result), data)
