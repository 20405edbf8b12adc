"""Convolution in NumPy.

Patches become columns, and one matrix product computes each group. Where the groups are single
channels, a sum over the positions of the kernel is faster.
"""

from __future__ import annotations

import threading
from math import prod
from typing import Final

from ..accumulation import narrowed, widened
from ..lazy import Array, np
from ..windows import Frame, along_last, padded, sliding

MAX_COLUMNS: Final = 1 << 22
"""The most elements of patches that are laid out as columns at a time."""

_FEW_STEPS: Final = 256
"""Up to this many steps, the samples of a batch share one matrix product."""


def convolved(data: Array, filters: Array, frame: Frame) -> Array:
    """`data` `[N, G·C, *sizes]` convolved with `filters` `[G, O, C, *kernel]`.

    The result is `[N, G·O, *steps]`.
    """
    batch, sizes = data.shape[0], data.shape[2:]
    groups, outputs, inputs = filters.shape[:3]
    steps = frame.steps(sizes)
    if not all(steps) or not batch * groups * outputs * filters.size:
        return np.zeros((batch, groups * outputs, *steps), data.dtype)
    area = padded(widened(data), frame.pads_begin, frame.pads_end)
    filters = widened(filters)
    area = np.ascontiguousarray(area).reshape(batch, groups, inputs, *area.shape[2:])
    if inputs == 1 and groups > 1:
        result = _by_position(area[:, :, 0], filters[:, :, 0], frame, steps)
    else:
        result = _by_columns(area, filters.reshape(groups, outputs, -1), frame, steps)
    return narrowed(result.reshape(batch, groups * outputs, *steps), data)


def _by_columns(area: Array, matrices: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """`matrices` `[G, O, C·kernel]` times the patches of `area` `[N, G, C, *padded]` as columns.

    The result is `[N, G, O, steps]`.
    """
    batch = area.shape[0]
    groups, outputs, depth = matrices.shape
    count = prod(steps)
    patches = sliding(area, frame, steps)
    axes, first = len(steps), patches.ndim - len(steps)
    if all(k == 1 for k in frame.kernel) and all(s == 1 for s in frame.strides):
        return np.asarray(np.matmul(matrices, patches.reshape(batch, groups, depth, count)))
    size = groups * depth * count
    if batch > 1 and batch * size > MAX_COLUMNS:
        return np.concatenate(
            [
                _by_columns(area[sample : sample + 1], matrices, frame, steps)
                for sample in range(batch)
            ]
        )
    if batch > 1 and count <= _FEW_STEPS:
        order = (1, *range(2, first), 0, *range(first, first + axes))
        columns = _columns(patches.transpose(order), (groups, depth, batch * count))
        together = np.matmul(matrices, columns)
        return np.asarray(together.reshape(groups, outputs, batch, count).transpose(2, 0, 1, 3))
    if size <= MAX_COLUMNS:
        return np.asarray(np.matmul(matrices, _columns(patches, (batch, groups, depth, count))))
    result = np.empty((batch, groups, outputs, count), area.dtype)
    row = count // steps[0]
    rows = max(MAX_COLUMNS // (groups * depth * row), 1)
    for start in range(0, steps[0], rows):
        part = patches[(slice(None),) * first + (slice(start, start + rows),)]
        wide = part.shape[first] * row
        np.matmul(
            matrices,
            _columns(part, (batch, groups, depth, wide)),
            out=result[..., start * row : start * row + wide],
        )
    return result


_workspace = threading.local()
"""The memory that each thread keeps for columns."""


def _columns(patches: Array, shape: tuple[int, ...]) -> Array:
    """A copy of patches in another shape.

    It lies in memory that the thread keeps: memory allocated anew for every layer would come from
    the operating system page by page.
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


def _by_position(area: Array, filters: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Each channel of `area` `[N, G, *padded]` with its own filters of `filters` `[G, O, *kernel]`.

    The result is `[N, G, O, *steps]`. A few channels are computed at a time, so that they stay in
    the processor's cache.
    """
    batch, groups = area.shape[:2]
    outputs = filters.shape[1]
    result = np.empty((batch, groups, outputs, *steps), area.dtype)
    patches = sliding(area, frame, steps)
    cached = max((1 << 16) // max(prod(steps) * outputs, 1), 1)
    whole = (slice(None),) * len(steps)
    for sample in range(batch):
        for start in range(0, groups, cached):
            part = slice(start, start + cached)
            total = result[sample, part]
            product = np.empty_like(total)
            for index, at in enumerate(np.ndindex(*frame.kernel)):
                weights = filters[(part, slice(None), *at)].reshape(-1, outputs, *(1,) * len(steps))
                np.multiply(
                    patches[(sample, part, *at, *whole)][:, None],
                    weights,
                    out=product if index else total,
                )
                if index:
                    total += product
    return result


def spread(data: Array, filters: Array, frame: Frame, sizes: tuple[int, ...]) -> Array:
    """Transposed convolution of `data` `[N, G·C, *steps]` with `filters` `[G, C, O, *kernel]`.

    The result is `[N, G·O, *sizes]`, with the padding removed.
    """
    numbers, filters = widened(data), widened(filters)
    batch, steps = data.shape[0], data.shape[2:]
    groups, inputs, outputs = filters.shape[:3]
    spans = [
        max((step - 1) * stride + frame.span(axis), 0)
        for axis, (step, stride) in enumerate(zip(steps, frame.strides, strict=True))
    ]
    room = (
        max(span, begin + size)
        for span, begin, size in zip(spans, frame.pads_begin, sizes, strict=True)
    )
    canvas = np.zeros((batch, groups * outputs, *room), numbers.dtype)
    if data.size and filters.size:
        count = filters.ndim - 3
        matrices = np.ascontiguousarray(filters.transpose(*range(3, 3 + count), 0, 2, 1))
        target = canvas.reshape(batch, groups, outputs, *canvas.shape[2:])
        columns = np.ascontiguousarray(numbers).reshape(batch, groups, inputs, -1)
        for at in np.ndindex(*frame.kernel):
            where = [
                slice(a * d, a * d + (n - 1) * s + 1, s)
                for a, d, n, s in zip(at, frame.dilations, steps, frame.strides, strict=True)
            ]
            contribution = np.matmul(matrices[at], columns)
            target[along_last(where)] += contribution.reshape(batch, groups, outputs, *steps)
    kept = [slice(begin, begin + size) for begin, size in zip(frame.pads_begin, sizes, strict=True)]
    return narrowed(np.ascontiguousarray(canvas[along_last(kept)]), data)
