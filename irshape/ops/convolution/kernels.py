"""Convolution in NumPy.

Each patch of the data becomes a row of a matrix. The result is the product of this matrix and the
filters. The channels are the last axis in memory, so that a row is copied in long pieces. The
result keeps this layout, as a view of shape `[N, C, …]`. Elementwise layers after it keep it, too.

A kernel of one position uses data of either layout without a copy. For groups of several channels,
patches become columns. For groups of single channels, a sum over the positions of the kernel is
faster; see `depthwise`.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from math import prod
from typing import Final

from ..accumulation import narrowed, widened
from ..lazy import Array, np
from ..windows import (
    Frame,
    along_last,
    channels_last,
    channels_to_end,
    channels_to_front,
    padded,
    reached,
    sliding,
)
from .depthwise import by_channel

MAX_COLUMNS: Final = 1 << 20
"""The largest number of elements in a matrix of patches. A matrix of this size fits into a
cache."""

_FEW_STEPS: Final = 256
"""The smallest number of steps in a matrix product. To reach it, steps of several samples are
combined.
"""


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
    elif groups == 1 and not pointwise:
        result = _by_patch(numbers, filters[0], frame, steps)
    elif groups == 1 and channels_last(numbers):
        result = _by_pixel(numbers, filters.reshape(outputs, inputs))
    elif groups == 1:
        planes = np.ascontiguousarray(numbers).reshape(batch, inputs, -1)
        result = np.matmul(filters.reshape(outputs, inputs), planes)
    else:
        area = padded(numbers, frame.pads_begin, frame.pads_end)
        area = np.ascontiguousarray(area).reshape(batch, groups, inputs, *area.shape[2:])
        result = _by_columns(area, filters.reshape(groups, outputs, -1), frame, steps)
    return narrowed(result.reshape(batch, groups * outputs, *steps), data)


@lru_cache(maxsize=1024)
def _reach(frame: Frame, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    """Returns the steps along each axis, and whether each step covers exactly one pixel."""
    return frame.steps(sizes), (
        all(k == 1 for k in frame.kernel)
        and all(s == 1 for s in frame.strides)
        and not any(frame.pads_begin)
        and not any(frame.pads_end)
    )


def _by_pixel(data: Array, matrix: Array) -> Array:
    """Returns the channels of each pixel times `matrix` `[O, C]`, for channels last in memory."""
    pixels = channels_to_end(data)
    result = np.matmul(pixels.reshape(-1, pixels.shape[-1]), matrix.T)
    return channels_to_front(result.reshape(*pixels.shape[:-1], matrix.shape[0]))


def _by_patch(data: Array, filters: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Returns the patches of `data` `[N, C, *sizes]` as rows times `filters` `[O, C, *kernel]`.

    The result is `[N, O, *steps]`, in memory `[N, *steps, O]`.
    """
    batch, axes, outputs = data.shape[0], len(steps), filters.shape[0]
    matrix = filters.transpose(*range(2, 2 + axes), 1, 0).reshape(-1, outputs)
    area = padded(channels_to_end(data), (*frame.pads_begin, 0), (*frame.pads_end, 0))
    area = np.ascontiguousarray(area)
    sample, *inside, last = area.strides
    patches = np.ndarray(
        (batch, *steps, *frame.kernel, area.shape[-1]),
        area.dtype,
        area,
        0,
        (
            sample,
            *(size * stride for size, stride in zip(inside, frame.strides, strict=True)),
            *(size * dilation for size, dilation in zip(inside, frame.dilations, strict=True)),
            last,
        ),
    )
    result = np.empty((batch, *steps, outputs), area.dtype)
    depth, line = matrix.shape[0], prod(steps[1:])
    samples = max(MAX_COLUMNS // (depth * line * steps[0]), 1)
    lines = max(MAX_COLUMNS // (depth * line), -(-_FEW_STEPS // line))
    if samples > 1:
        lines = steps[0]
    for first in range(0, batch, samples):
        for start in range(0, steps[0], lines):
            part = patches[first : first + samples, start : start + lines]
            target = result[first : first + samples, start : start + lines]
            rows = _columns(part, (prod(part.shape[: 1 + axes]), depth))
            np.matmul(rows, matrix, out=target.reshape(-1, outputs))
    return channels_to_front(result)


def _by_columns(area: Array, matrices: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Returns `matrices` `[G, O, C·kernel]` times the patches of `area` `[N, G, C, *padded]`.

    The result is `[N, G, O, steps]`.
    """
    groups, outputs, depth = matrices.shape
    patches, line = sliding(area, frame, steps), prod(steps[1:])
    lines = max(MAX_COLUMNS // (groups * depth * line), 1)
    result = np.empty((len(area), groups, outputs, prod(steps)), area.dtype)
    before = (slice(None),) * (patches.ndim - len(steps) - 1)
    for sample, target in zip(patches, result, strict=True):
        for start in range(0, steps[0], lines):
            part = sample[(*before, slice(start, start + lines))]
            places = slice(start * line, (start + lines) * line)
            columns = _columns(part, (groups, depth, part.size // (groups * depth)))
            np.matmul(matrices, columns, out=target[..., places])
    return result


_workspace = threading.local()
"""Memory for columns that each thread reuses."""


def _columns(patches: Array, shape: tuple[int, ...]) -> Array:
    """Copies patches to the rows or columns of a matrix, in memory that the thread reuses.

    New memory for every layer would be slow, since the operating system provides it page by page.
    """
    size = patches.size
    if size > MAX_COLUMNS:
        return patches.reshape(shape)
    memory: Array | None = getattr(_workspace, "memory", None)
    if memory is None or memory.nbytes < patches.nbytes:
        memory = _workspace.memory = np.empty(patches.nbytes, np.uint8)
    columns = memory[: patches.nbytes].view(patches.dtype)
    np.copyto(columns.reshape(patches.shape), patches)
    return columns.reshape(shape)


def spread(data: Array, filters: Array, frame: Frame, sizes: tuple[int, ...]) -> Array:
    """Returns the transposed convolution of `data` `[N, G·C, *steps]` with `filters`
    `[G, C, O, *kernel]`.

    The result is `[N, G·O, *sizes]`, with the padding removed.
    """
    numbers, filters = widened(data), widened(filters)
    steps, groups = data.shape[2:], filters.shape[0]
    spans = [
        max((step - 1) * stride + frame.span(axis), 0)
        for axis, (step, stride) in enumerate(zip(steps, frame.strides, strict=True))
    ]
    room = (
        max(span, begin + size)
        for span, begin, size in zip(spans, frame.pads_begin, sizes, strict=True)
    )
    spread_out = _spread_pixels if groups == 1 else _spread_groups
    canvas = spread_out(numbers, filters, frame, tuple(room))
    kept = [slice(begin, begin + size) for begin, size in zip(frame.pads_begin, sizes, strict=True)]
    result = canvas[along_last(kept)]
    if groups > 1:
        return narrowed(np.ascontiguousarray(result), data)
    return narrowed(channels_to_front(np.ascontiguousarray(channels_to_end(result))), data)


def _spread_pixels(data: Array, filters: Array, frame: Frame, room: tuple[int, ...]) -> Array:
    """Returns the canvas `[N, O, *room]` of one group, in memory `[N, *room, O]`."""
    _, inputs, outputs = filters.shape[:3]
    batch, steps = data.shape[0], data.shape[2:]
    canvas = np.zeros((batch, *room, outputs), data.dtype)
    if data.size and filters.size:
        matrices = np.ascontiguousarray(filters[0].transpose(*range(2, filters.ndim - 1), 0, 1))
        pixels = channels_to_end(data).reshape(-1, inputs)
        for at, where in reached(frame, steps):
            contribution = np.matmul(pixels, matrices[at])
            canvas[(slice(None), *where)] += contribution.reshape(batch, *steps, outputs)
    return channels_to_front(canvas)


def _spread_groups(data: Array, filters: Array, frame: Frame, room: tuple[int, ...]) -> Array:
    """Returns the canvas `[N, G·O, *room]`."""
    groups, inputs, outputs = filters.shape[:3]
    batch, steps = data.shape[0], data.shape[2:]
    canvas = np.zeros((batch, groups * outputs, *room), data.dtype)
    if data.size and filters.size:
        count = filters.ndim - 3
        matrices = np.ascontiguousarray(filters.transpose(*range(3, 3 + count), 0, 2, 1))
        target = canvas.reshape(batch, groups, outputs, *room)
        columns = np.ascontiguousarray(data).reshape(batch, groups, inputs, -1)
        for at, where in reached(frame, steps):
            contribution = np.matmul(matrices[at], columns)
            target[along_last(where)] += contribution.reshape(batch, groups, outputs, *steps)
    return canvas
