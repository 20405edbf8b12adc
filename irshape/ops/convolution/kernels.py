"""Convolution in NumPy.

Patches become columns, and one matrix product computes each group. Where the groups are single
channels, a sum over the positions of the kernel is faster: with the channels as the last axis in
memory, one `einsum` multiplies and adds whole rows. Its result keeps this order in memory, as a
view of shape `[N, C, …]`, and so does that of a convolution with a kernel of one position.
"""

from __future__ import annotations

import threading
from math import prod
from typing import Final

from ..accumulation import narrowed, widened
from ..blockwise import in_threads
from ..lazy import Array, np
from ..windows import Frame, along_last, padded, sliding

MAX_COLUMNS: Final = 1 << 22
"""The most elements of patches that are laid out as columns at a time."""

_WIDE: Final = 512
"""From this many channels on, those of one pixel are a row that is long enough."""

_FAST: Final = 6
"""So many products of a row take the time of one element of another function."""

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
    numbers, filters = widened(data), widened(filters)
    if inputs == 1 and groups > 1:
        result = _by_channel(numbers, filters[:, :, 0], frame, steps)
    elif groups == 1 and _pointwise(frame) and _channels_last(numbers):
        result = _by_pixel(numbers, filters.reshape(outputs, inputs))
    else:
        area = padded(numbers, frame.pads_begin, frame.pads_end)
        area = np.ascontiguousarray(area).reshape(batch, groups, inputs, *area.shape[2:])
        result = _by_columns(area, filters.reshape(groups, outputs, -1), frame, steps)
    return narrowed(result.reshape(batch, groups * outputs, *steps), data)


def _channels_to_end(data: Array) -> Array:
    """A view of `[N, C, *sizes]` as `[N, *sizes, C]`. `moveaxis` would take ten times as long."""
    return data.transpose(0, *range(2, data.ndim), 1)


def _channels_to_front(data: Array) -> Array:
    """A view of `[N, *sizes, C]` as `[N, C, *sizes]`."""
    return data.transpose(0, data.ndim - 1, *range(1, data.ndim - 1))


def _pointwise(frame: Frame) -> bool:
    """Whether each step sees one pixel of its own."""
    return (
        all(k == 1 for k in frame.kernel)
        and all(s == 1 for s in frame.strides)
        and not any(frame.pads_begin)
        and not any(frame.pads_end)
    )


def _channels_last(data: Array) -> bool:
    """Whether `data` `[N, C, *sizes]` lies in memory as `[N, *sizes, C]`."""
    return not data.flags.c_contiguous and _channels_to_end(data).flags.c_contiguous


def _by_pixel(data: Array, matrix: Array) -> Array:
    """The channels of each pixel of `data`, the last axis in memory, times `matrix` `[O, C]`."""
    pixels = _channels_to_end(data)
    result = np.matmul(pixels.reshape(-1, pixels.shape[-1]), matrix.T)
    return _channels_to_front(result.reshape(*pixels.shape[:-1], matrix.shape[0]))


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


def _by_channel(data: Array, filters: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Each channel of `data` `[N, G, *sizes]` with its own filters of `filters` `[G, O, *kernel]`.

    The result is `[N, G·O, *steps]`, in memory `[N, *steps, G·O]`.
    """
    groups, outputs = filters.shape[:2]
    axes = len(steps)
    weights = np.ascontiguousarray(
        np.moveaxis(filters.reshape(groups * outputs, *frame.kernel), 0, -1)
    )
    pixels = _channels_to_end(data)
    if outputs > 1:
        pixels = np.repeat(pixels, outputs, axis=-1)
    area = padded(pixels, (*frame.pads_begin, 0), (*frame.pads_end, 0))
    area = np.ascontiguousarray(area)
    # views of the channels at each position of the kernel, at each step
    one_more = Frame(*((*sizes, pad) for sizes, pad in zip(frame, (1, 1, 1, 0, 0), strict=True)))
    channels = groups * outputs
    patches = sliding(area, one_more, (*steps, channels)).squeeze(1 + axes)
    kernel, places = list(range(1, 1 + axes)), list(range(1 + axes, 1 + 2 * axes))
    if frame.strides[-1] == 1 and channels < _WIDE:
        # the pixels of a row lie one after the other: longer rows, with the weights repeated
        width = steps[-1] * channels
        patches = np.lib.stride_tricks.as_strided(
            patches, (*patches.shape[:-2], width), (*patches.strides[:-2], patches.strides[-1])
        )
        weights = np.tile(weights, steps[-1])
        places.pop()
    last = 1 + 2 * axes
    result = np.empty((data.shape[0], *steps, channels), data.dtype)
    total = result.reshape(data.shape[0], *patches.shape[1 + axes :])

    def rows(start: int, stop: int) -> None:
        np.einsum(
            patches[(slice(None),) * (1 + axes) + (slice(start, stop),)],
            [0, *kernel, *places, last],
            weights,
            [*kernel, last],
            [0, *places, last],
            out=total[:, start:stop],
        )

    if places:
        in_threads(rows, steps[0], result.size * filters[0, 0].size // _FAST)
    else:  # a row is all that there is
        np.einsum(patches, [0, *kernel, last], weights, [*kernel, last], [0, last], out=total)
    return _channels_to_front(result)


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
