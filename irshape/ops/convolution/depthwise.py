"""Convolution of each channel with its own filters, in NumPy.

The channels are the last axis in memory. For each position of the kernel, `einsum` multiplies rows
of adjacent elements by weights and adds the products up, without a copy of the patches. This is
fast if rows are long and contiguous, e.g. adjacent pixels of a line.
"""

from __future__ import annotations

from typing import Final

from ..blockwise import in_threads
from ..lazy import Array, np
from ..windows import Frame, channels_to_end, channels_to_front, padded

_WIDE: Final = 512
"""If a pixel has at least this many channels, the channels of one pixel form a row."""

_ROW: Final = 2048
"""The largest number of elements in a row of several pixels, which must fit into the L1 cache."""

_SHORT: Final = 256
"""If rows would have fewer elements than this, each row is a whole line of pixels."""

_FAST: Final = 6
"""How many products `einsum` computes in the time that other functions need for one element."""


def by_channel(data: Array, filters: Array, frame: Frame, steps: tuple[int, ...]) -> Array:
    """Returns `data` `[N, G, *sizes]`, each channel convolved with its `filters` `[G, O, *kernel]`.

    The result is `[N, G·O, *steps]`, in memory `[N, *steps, G·O]`.
    """
    outputs, axes = filters.shape[1], len(steps)
    pixels, weights = channels_to_end(data), _position_by_position(filters)
    if outputs > 1:
        pixels = np.repeat(pixels, outputs, axis=-1)
    channels = pixels.shape[-1]
    width = _pixels_in_a_row(steps[-1], channels) if frame.strides[-1] == 1 else 1
    result = np.empty((data.shape[0], *steps, channels), data.dtype)
    total = result.reshape(data.shape[0], *steps[:-1], steps[-1] // width, width * channels)
    area = np.ascontiguousarray(padded(pixels, (*frame.pads_begin, 0), (*frame.pads_end, 0)))
    patches, taps = _patches(area, frame, total.shape, width), _tiled(weights, width)
    kernel, places = list(range(1, 1 + axes)), list(range(1 + axes, 1 + 2 * axes))
    last = 1 + 2 * axes

    def rows(start: int, stop: int) -> None:
        block = patches[(slice(None),) * (1 + axes) + (slice(start, stop),)]
        subscripts = [0, *kernel, *places, last], [*kernel, last], [0, *places, last]
        np.einsum(block, subscripts[0], taps, *subscripts[1:], out=total[:, start:stop])

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


def _pixels_in_a_row(count: int, channels: int) -> int:
    """Returns how many pixels of a line (of `count` pixels) `einsum` multiplies as one row."""
    if channels >= _WIDE:
        return 1
    for width in range(min(count, _ROW // channels), 0, -1):
        if count % width == 0:
            return width if width * channels >= _SHORT else count
    return 1


def _patches(area: Array, frame: Frame, total: tuple[int, ...], width: int) -> Array:
    """Returns a view `[N, *kernel, *steps, width·C]` of padded pixels `[N, *sizes, C]`.

    The view has an axis for each kernel axis, then an axis for each spatial axis of the result.
    """
    sample, *inside, element = area.strides
    apart = [size * dilation for size, dilation in zip(inside, frame.dilations, strict=True)]
    along = [size * stride for size, stride in zip(inside, frame.strides, strict=True)]
    along[-1] *= width
    shape = (area.shape[0], *frame.kernel, *total[1:])
    return np.ndarray(shape, area.dtype, area, 0, (sample, *apart, *along, element))


def _tiled(weights: Array, width: int) -> Array:
    """Returns weights `[*kernel, C]`, repeated for each of the `width` pixels of a row."""
    if width == 1:
        return weights
    several = (*weights.shape[:-1], width, weights.shape[-1])
    return np.broadcast_to(weights[..., None, :], several).reshape(*weights.shape[:-1], -1)
