"""Convolution of each channel with its own filters, in NumPy.

The channels are the last axis in memory. For each position of the kernel, `einsum` multiplies whole
rows by the weights and adds them up, without a copy of the patches. It is fast where rows are long
and contiguous, as for adjacent pixels of a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple

from ..blockwise import in_threads
from ..lazy import Array, np
from ..windows import Frame, channels_to_front, padded, pixels_of

_WIDE: Final = 512
"""With at least this number of channels, the row of a single pixel is long enough."""

_ROW: Final = 2048
"""The largest number of elements in a row of several pixels. A row of this size fits into the
nearest cache."""

_SHORT: Final = 256
"""The row length, in elements, below which rows that fit into no cache are faster."""

_FAST: Final = 6
"""The number of products that take as long as one element of another function."""


class _Part(NamedTuple):
    """The positions of a kernel that use the same pixels of each line.

    seen: the index of these pixels in `[N, *sizes, C]`.
    taps: the index of these positions in the weights `[*kernel, C]`.
    pads_begin, pads_end: the padding around the pixels.
    patches: the shape and the strides, in elements, of a view of the padded pixels, `[N, *kernel,
        *steps, width·C]`. It has an axis for each axis of the kernel, then an axis for each axis of
        the result.
    """

    seen: Any
    taps: Any
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    patches: tuple[tuple[int, ...], tuple[int, ...]]


class _Layout(NamedTuple):
    """The plan of a convolution.

    total: the shape of the result, with `width` pixels of a line as one row.
    subscripts: the subscripts of the patches, the weights and the result, for `einsum`.
    """

    parts: list[_Part]
    width: int
    total: tuple[int, ...]
    subscripts: tuple[list[int], list[int], list[int]]


def by_channel(data: Array, filters: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Returns `data` `[N, G, *sizes]`, each channel convolved with its `filters` `[G, O, *kernel]`.

    The result is `[N, G·O, *steps]`, in memory `[N, *steps, G·O]`.
    """
    outputs = filters.shape[1]
    pixels, weights = pixels_of(data), _position_by_position(filters)
    if outputs > 1:
        pixels = np.repeat(pixels, outputs, axis=-1)
    layout = _layout(pixels.shape, frame, steps)
    result = np.empty((data.shape[0], *steps, pixels.shape[-1]), data.dtype)
    total = result.reshape(layout.total)
    operands = [
        (_patches(pixels, part), _tiled(weights[part.taps], layout.width)) for part in layout.parts
    ]
    of_patches, of_weights, of_total = layout.subscripts
    positions = (slice(None),) * (1 + len(steps))

    def rows(start: int, stop: int) -> None:
        patches, taps = operands[0]
        block, out = patches[(*positions, slice(start, stop))], total[:, start:stop]
        np.einsum(block, of_patches, taps, of_weights, of_total, out=out)
        for patches, taps in operands[1:]:
            block = patches[(*positions, slice(start, stop))]
            out += np.einsum(block, of_patches, taps, of_weights, of_total)

    in_threads(rows, total.shape[1], result.size * filters[0, 0].size // _FAST)
    return channels_to_front(result)


def arranged(filters: Array) -> Array:
    """Returns filters `[G, O, 1, *kernel]` with the channels as the last axis in memory."""
    weights = _position_by_position(filters[:, :, 0])
    flat = filters.reshape(-1, *filters.shape[3:])
    if np.may_share_memory(weights, flat):
        return filters
    return weights.transpose(weights.ndim - 1, *range(weights.ndim - 1)).reshape(filters.shape)


def _position_by_position(filters: Array) -> Array:
    """Returns filters `[G, O, *kernel]` as weights `[*kernel, G·O]`."""
    flat = filters.reshape(-1, *filters.shape[2:])
    return np.ascontiguousarray(flat.transpose(*range(1, flat.ndim), 0))


@lru_cache(maxsize=1024)
def _layout(shape: tuple[int, ...], frame: Frame, steps: tuple[int, ...]) -> _Layout:
    """Returns the layout for pixels `[N, *sizes, C]`."""
    axes, channels = len(steps), shape[-1]
    stride = frame.strides[-1]
    apart = channels < _WIDE and stride > 1 and frame.dilations[-1] == 1
    width = _pixels_in_a_row(steps[-1], channels) if apart or stride == 1 else 1
    total = (shape[0], *steps[:-1], steps[-1] // width, width * channels)
    parts = list(_by_phase(shape, frame, total)) if apart else [_whole(shape, frame, total)]
    kernel, places = list(range(1, 1 + axes)), list(range(1 + axes, 1 + 2 * axes))
    last = 1 + 2 * axes
    subscripts = ([0, *kernel, *places, last], [*kernel, last], [0, *places, last])
    return _Layout(parts, width, total, subscripts)


def _pixels_in_a_row(count: int, channels: int) -> int:
    """Returns the number of pixels, of the `count` pixels of a line, that form one row."""
    if channels >= _WIDE:
        return 1
    for width in range(min(count, _ROW // channels), 0, -1):
        if count % width == 0:
            return width if width * channels >= _SHORT else count
    return 1


def _whole(shape: tuple[int, ...], frame: Frame, total: tuple[int, ...]) -> _Part:
    """Returns a part with all pixels and all positions."""
    patches = _view(shape, frame, total)
    everything = (slice(None),) * len(frame.kernel)
    return _Part(everything, everything, (*frame.pads_begin, 0), (*frame.pads_end, 0), patches)


def _by_phase(shape: tuple[int, ...], frame: Frame, total: tuple[int, ...]) -> Iterator[_Part]:
    """Yields parts of kernel positions a stride apart, which use the same pixels of each line.

    These pixels are copied to be adjacent.
    """
    stride, kernel, begin = frame.strides[-1], frame.kernel[-1], frame.pads_begin[-1]
    steps = total[-2] * (total[-1] // shape[-1])
    for first in range(min(stride, kernel)):
        length = steps + len(range(first, kernel, stride)) - 1
        left = min(max(-((first - begin) // stride), 0), length)
        start = first - begin + left * stride
        seen = range(start, shape[-2], stride)[: length - left]
        along = Frame(
            (*frame.kernel[:-1], len(range(first, kernel, stride))),
            (*frame.strides[:-1], 1),
            frame.dilations,
            (*frame.pads_begin[:-1], left),
            (*frame.pads_end[:-1], length - left - len(seen)),
        )
        part = _whole((*shape[:-2], len(seen), shape[-1]), along, total)
        every = (slice(None),) * (len(frame.kernel) - 1)
        yield part._replace(
            seen=(slice(None), *every, slice(start, seen.stop if seen else start, stride)),
            taps=(*every, slice(first, None, stride)),
        )


def _view(
    shape: tuple[int, ...], frame: Frame, total: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the shape and the strides, in elements, of the patches of padded pixels."""
    sizes = [
        size + begin + end
        for size, begin, end in zip(shape[1:-1], frame.pads_begin, frame.pads_end, strict=True)
    ]
    inside = [prod(sizes[axis + 1 :]) * shape[-1] for axis in range(len(sizes))]
    apart = [size * dilation for size, dilation in zip(inside, frame.dilations, strict=True)]
    along = [size * stride for size, stride in zip(inside, frame.strides, strict=True)]
    along[-1] *= total[-1] // shape[-1]
    strides = (prod(sizes) * shape[-1], *apart, *along, 1)
    return (shape[0], *frame.kernel, *total[1:]), strides


def _patches(pixels: Array, part: _Part) -> Array:
    area = np.ascontiguousarray(padded(pixels[part.seen], part.pads_begin, part.pads_end))
    shape, strides = part.patches
    return np.ndarray(shape, area.dtype, area, 0, tuple([area.itemsize * n for n in strides]))


def _tiled(weights: Array, width: int) -> Array:
    """Returns weights `[*kernel, C]`, repeated for each pixel of a row."""
    if width == 1:
        return weights
    several = (*weights.shape[:-1], width, weights.shape[-1])
    return np.broadcast_to(weights[..., None, :], several).reshape(*weights.shape[:-1], -1)
