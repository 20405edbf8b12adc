"""Windows that slide along spatial axes: sizes and views that convolution and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

from ..types import Dimension
from .kinds import Choice
from .lazy import Array, np

PAD_TYPES: Final = Choice("explicit", "same_upper", "same_lower", "valid")
SAME: Final = ("same_upper", "same_lower")

_LARGE: Final = 1 << 14
"""Elements from which on it takes less time to fill the borders of an array than all of it."""


def dimension_of(number: int) -> Dimension:
    """A number from an attribute as OpenVINO makes a dimension of it: -1 is `?`, anything below
    that 0.
    """
    return Dimension.of(max(number, -1) if number >= -1 else 0)


def dilated(kernel: Dimension, dilation: int) -> Dimension:
    """What a kernel spans, gaps included."""
    return (kernel - 1) * dimension_of(dilation) + 1


def divided_down(dim: Dimension, divisor: int) -> Dimension:
    """`dim // divisor`; a negative stride, which OpenVINO takes in silence, leaves nothing."""
    return dim // divisor if divisor > 0 else Dimension(0)


def divided_up(dim: Dimension, divisor: int) -> Dimension:
    """`dim / divisor` rounded up; nothing for a negative stride."""
    return dim.ceil_div(divisor) if divisor > 0 else Dimension(0)


def same_padding(size: int, span: int, stride: int, auto_pad: str) -> tuple[int, int]:
    """The padding before and after an axis that makes the result `size / stride` long, rounded up;
    an odd pixel goes to the end that `auto_pad` names.
    """
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    return (
        (total // 2, total - total // 2)
        if auto_pad == "same_upper"
        else (total - total // 2, total // 2)
    )


class Frame(NamedTuple):
    """Where a window of known size goes along each axis of a known shape."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]

    def span(self, axis: int) -> int:
        """What the kernel covers of an axis, gaps included."""
        return max(self.kernel[axis] - 1, 0) * self.dilations[axis] + 1

    def steps(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """How many windows fit along each axis of that size."""
        return tuple(
            max((size + begin + end - self.span(axis)) // stride + 1, 0)
            for axis, (size, begin, end, stride) in enumerate(
                zip(sizes, self.pads_begin, self.pads_end, self.strides, strict=True)
            )
        )


def along_last(where: Sequence[slice]) -> Any:
    """An index of the last axes."""
    return (..., *where)


def padded(
    data: Array, pads_begin: Sequence[int], pads_end: Sequence[int], value: float = 0
) -> Array:
    """`data` with so many elements more at both ends of its last axes; a negative number takes some
    away.
    """
    if not any(pads_begin) and not any(pads_end):
        return data
    lead = data.ndim - len(pads_begin)
    sizes = [
        max(size + begin + end, 0)
        for size, begin, end in zip(data.shape[lead:], pads_begin, pads_end, strict=True)
    ]
    shape = (*data.shape[:lead], *sizes)
    into = [
        slice(max(begin, 0), size - max(end, 0))
        for size, begin, end in zip(sizes, pads_begin, pads_end, strict=True)
    ]
    kept = [
        slice(max(-begin, 0), size - max(-end, 0))
        for size, begin, end in zip(data.shape[lead:], pads_begin, pads_end, strict=True)
    ]
    if prod(shape) < _LARGE or min(*pads_begin, *pads_end) < 0:
        result = np.full(shape, value, data.dtype)
    else:  # what the data fills is written once
        result = np.empty(shape, data.dtype)
        for axis, where in enumerate(into):
            before = (slice(None),) * (lead + axis)
            result[(*before, slice(where.start))] = value
            result[(*before, slice(where.stop, None))] = value
    result[along_last(into)] = data[along_last(kept)]
    return result


def sliding(data: Array, frame: Frame, steps: Sequence[int]) -> Array:
    """A view of padded data with an axis for each position in the kernel, then one for each step:
    `[…, *kernel, *steps]`.
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
