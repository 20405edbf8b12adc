"""Sliding windows along spatial axes: sizes and array views for convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple

from ..shapes import Dimension
from .kinds import Choice
from .lazy import Array, np

PAD_TYPES: Final = Choice("explicit", "same_upper", "same_lower", "valid")
SAME: Final = ("same_upper", "same_lower")

_FEW_CHANNELS: Final = 16
_PIXELS: Final = 240
"""The pixels of a block. With this number, the rows of a block begin in different cache lines."""

_LARGE: Final = 1 << 14
"""The array size, in elements, from which filling only the borders is faster than filling the whole
array."""


def dimension_of(number: int) -> Dimension:
    """Returns the dimension for a number in an attribute, as OpenVINO reads it.

    -1 becomes `?`; smaller numbers become 0.
    """
    return Dimension.of(max(number, -1) if number >= -1 else 0)


def dilated(kernel: Dimension, dilation: int) -> Dimension:
    """Returns the span of a dilated kernel, gaps included."""
    return (kernel - 1) * dimension_of(dilation) + 1


def divided_down(dim: Dimension, divisor: int) -> Dimension:
    """Returns `dim // divisor`; 0 for a stride below 1, which OpenVINO accepts."""
    return dim // divisor if divisor > 0 else Dimension(0)


def divided_up(dim: Dimension, divisor: int) -> Dimension:
    """Returns `dim / divisor` rounded up; 0 for a stride below 1."""
    return dim.ceil_div(divisor) if divisor > 0 else Dimension(0)


def same_padding(size: int, span: int, stride: int, auto_pad: str) -> tuple[int, int]:
    """Returns the padding before and after an axis for a result of `size / stride`, rounded up.

    An odd pixel is added at the end that `auto_pad` names.
    """
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    return (
        (total // 2, total - total // 2)
        if auto_pad == "same_upper"
        else (total - total // 2, total // 2)
    )


class Frame(NamedTuple):
    """The geometry of a window of known size that slides along axes of known size."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]

    def span(self, axis: int) -> int:
        """Returns the number of elements that the kernel spans along an axis, gaps included."""
        return max(self.kernel[axis] - 1, 0) * self.dilations[axis] + 1

    def steps(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the number of windows along each axis, given the sizes of the axes."""
        return tuple(
            max((size + begin + end - self.span(axis)) // stride + 1, 0)
            for axis, (size, begin, end, stride) in enumerate(
                zip(sizes, self.pads_begin, self.pads_end, self.strides, strict=True)
            )
        )


def along_last(where: Sequence[slice]) -> Any:
    """Returns an index with these slices for the last axes."""
    return (..., *where)


def padded(
    data: Array, pads_begin: Sequence[int], pads_end: Sequence[int], value: float = 0
) -> Array:
    """Returns `data` with elements of `value` added at both ends of its last axes.

    A negative number of elements removes elements at that end.
    """
    if not any(pads_begin) and not any(pads_end):
        return data
    padding = _padding(data.shape, tuple(pads_begin), tuple(pads_end))
    if padding.borders is None:
        result = np.full(padding.shape, value, data.dtype)
    else:  # the part that data fills is written once
        result = np.empty(padding.shape, data.dtype)
        for border in padding.borders:
            result[border] = value
    result[padding.into] = data[padding.kept]
    return result


class _Padding(NamedTuple):
    """How to pad an array.

    kept: the index of the data that remains.
    into: the index of that data in the result.
    borders: the remaining parts of the result; None where filling the whole array is faster.
    """

    shape: tuple[int, ...]
    kept: Any
    into: Any
    borders: list[Any] | None


@lru_cache(maxsize=1024)
def _padding(
    shape: tuple[int, ...], pads_begin: tuple[int, ...], pads_end: tuple[int, ...]
) -> _Padding:
    lead = len(shape) - len(pads_begin)
    pads = list(zip(shape[lead:], pads_begin, pads_end, strict=True))
    sizes = [max(size + begin + end, 0) for size, begin, end in pads]
    padded_shape = (*shape[:lead], *sizes)
    into = [
        slice(max(begin, 0), size - max(end, 0))
        for size, (_, begin, end) in zip(sizes, pads, strict=True)
    ]
    kept = along_last([slice(max(-begin, 0), size - max(-end, 0)) for size, begin, end in pads])
    if prod(padded_shape) < _LARGE or min(*pads_begin, *pads_end) < 0:
        return _Padding(padded_shape, kept, along_last(into), None)
    borders: list[Any] = []
    for axis, (_, begin, end) in enumerate(pads):
        before = (*(slice(None),) * lead, *into[:axis])
        borders += [(*before, slice(begin))] if begin else []
        borders += [(*before, slice(-end, None))] if end else []
    return _Padding(padded_shape, kept, along_last(into), borders)


def channels_to_end(data: Array) -> Array:
    """Returns a view `[N, *sizes, C]` of `[N, C, *sizes]`, ten times as fast as `moveaxis`."""
    return data.transpose(0, *range(2, data.ndim), 1)


def channels_to_front(data: Array) -> Array:
    """Returns `[N, *sizes, C]` as a view `[N, C, *sizes]`."""
    return data.transpose(0, data.ndim - 1, *range(1, data.ndim - 1))


def pixels_of(data: Array) -> Array:
    """Returns `[N, C, *sizes]` as `[N, *sizes, C]`: a view, or a copy if that is faster.

    Channels often lie a power of two apart in memory and then share the same few cache lines. So
    each block is copied to a place with other strides before its axes are swapped.
    """
    batch, channels = data.shape[:2]
    if not data.flags.c_contiguous or channels < _FEW_CHANNELS:
        return channels_to_end(data)
    planes = data.reshape(batch, channels, -1)
    result = np.empty((batch, planes.shape[2], channels), data.dtype)
    for sample, pixels in zip(planes, result, strict=True):
        for start in range(0, len(pixels), _PIXELS):
            block = slice(start, start + _PIXELS)
            pixels[block] = np.ascontiguousarray(sample[:, block]).T
    return result.reshape(batch, *data.shape[2:], channels)


def channels_last(data: Array) -> bool:
    """Returns whether `data` `[N, C, *sizes]` is contiguous only as `[N, *sizes, C]`."""
    return not data.flags.c_contiguous and channels_to_end(data).flags.c_contiguous


def sliding(data: Array, frame: Frame, steps: Sequence[int]) -> Array:
    """Returns a view `[…, *kernel, *steps]` of padded data.

    It has an axis for each axis of the kernel, then an axis for each axis along which the kernel
    steps.
    """
    lead = data.ndim - len(steps)
    strides = data.strides[lead:]
    return np.lib.stride_tricks.as_strided(
        data,
        (*data.shape[:lead], *frame.kernel, *steps),
        (
            *data.strides[:lead],
            *(s * d for s, d in zip(strides, frame.dilations, strict=True)),
            *(s * d for s, d in zip(strides, frame.strides, strict=True)),
        ),
        writeable=False,
    )
