"""Sliding windows along spatial axes, for convolution and pooling: their sizes and array views."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from ..rule_ids import ATTRIBUTE_VALUE, OPERATION_CONSTRAINT
from ..shapes import DYNAMIC, UNBOUNDED, Dimension
from .conditions import count, not_zero
from .kinds import Choice
from .lazy import Array, np

Sizes = tuple[int, ...] | None
"""A number for each spatial axis. None, or an empty tuple, means the default on all axes."""
PAD_TYPES: Final = Choice("explicit", "same_upper", "same_lower", "valid")
SAME: Final = ("same_upper", "same_lower")


def dimension_of(number: int) -> Dimension:
    """Returns the dimension that OpenVINO reads from a number in an attribute.

    -1 becomes `?`; smaller numbers become 0.
    """
    return DYNAMIC if number == -1 else Dimension(min(max(number, 0), UNBOUNDED))


def dilated(kernel: Dimension, dilation: int) -> Dimension:
    """Returns the number of elements that a dilated kernel spans, gaps included."""
    return (kernel - 1) * dimension_of(dilation) + 1


def divided_down(dim: Dimension, divisor: int) -> Dimension:
    """Returns `dim // divisor`; 0 for a divisor below 1, which OpenVINO accepts as a stride."""
    return dim // divisor if divisor > 0 else Dimension(0)


def divided_up(dim: Dimension, divisor: int) -> Dimension:
    """Returns `dim / divisor` rounded up; 0 for a divisor below 1."""
    return dim.ceil_div(divisor) if divisor > 0 else Dimension(0)


def same_padding(size: int, span: int, stride: int, auto_pad: str) -> tuple[int, int]:
    """Returns the padding before and after an axis for a result of `size / stride`, rounded up.

    An odd element is added at the end for `same_upper`, at the beginning for `same_lower`.
    """
    total = max((-(-size // stride) - 1) * stride + span - size, 0)
    return (
        (total // 2, total - total // 2)
        if auto_pad == "same_upper"
        else (total - total // 2, total // 2)
    )


def check_per_axis(operation: Any, axes: int) -> None:
    """Raises `Violation` unless attributes such as `strides` have a number for each spatial axis.

    Kernel, strides and dilations cannot be 0. An attribute may be absent or empty.
    """
    for name in ("kernel", "strides", "dilations", "pads_begin", "pads_end", "output_padding"):
        sizes = getattr(operation, name, None)
        if sizes:
            count(len(sizes), axes, at=name, rule=OPERATION_CONSTRAINT)
            if name in ("kernel", "strides", "dilations"):
                not_zero(sizes, at=name, rule=ATTRIBUTE_VALUE)


class Frame(NamedTuple):
    """The geometry of a window that slides along spatial axes. All sizes are known."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]

    def span(self, axis: int) -> int:
        """Returns the number of elements that the kernel spans along an axis, gaps included."""
        return max(self.kernel[axis] - 1, 0) * self.dilations[axis] + 1

    def steps(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the number of window positions along each axis, given the sizes of the axes."""
        return tuple(
            max((size + begin + end - self.span(axis)) // stride + 1, 0)
            for axis, (size, begin, end, stride) in enumerate(
                zip(sizes, self.pads_begin, self.pads_end, self.strides, strict=True)
            )
        )

    def same(self, sizes: Sequence[int], auto_pad: str) -> Frame:
        """Returns the window with the padding that `same_upper` or `same_lower` implies."""
        pads = [
            same_padding(size, self.span(axis), self.strides[axis], auto_pad)
            for axis, size in enumerate(sizes)
        ]
        begins, ends = zip(*pads, strict=True)
        return self._replace(pads_begin=begins, pads_end=ends)


def along_last(where: Sequence[slice]) -> Any:
    """Returns an index that applies the slices to the last axes of an array."""
    return (..., *where)


def padded(
    data: Array, pads_begin: Sequence[int], pads_end: Sequence[int], value: Any = 0
) -> Array:
    """Returns `data` with elements of `value` added at both ends of its last axes.

    A negative pad removes elements at that end. The axes keep their order in memory.
    """
    if not any(pads_begin) and not any(pads_end):
        return data
    lead = data.ndim - len(pads_begin)
    pads = list(zip(data.shape[lead:], pads_begin, pads_end, strict=True))
    sizes = [max(size + begin + end, 0) for size, begin, end in pads]
    result = np.full_like(data, value, shape=(*data.shape[:lead], *sizes))
    into = [slice(max(begin, 0), max(begin + size, 0)) for size, begin, _ in pads]
    kept = [
        slice(max(-begin, 0), max(total - begin, 0))
        for total, begin in zip(sizes, pads_begin, strict=True)
    ]
    result[along_last(into)] = data[along_last(kept)]
    return result


def channels_to_end(data: Array) -> Array:
    """Returns a view `[N, *sizes, C]` of `[N, C, *sizes]`, faster than `moveaxis`."""
    return data.transpose(0, *range(2, data.ndim), 1)


def channels_to_front(data: Array) -> Array:
    """Returns `[N, *sizes, C]` as a view `[N, C, *sizes]`."""
    return data.transpose(0, data.ndim - 1, *range(1, data.ndim - 1))


def channels_last(data: Array) -> bool:
    """Returns whether `data` `[N, C, *sizes]` is in memory as `[N, *sizes, C]`."""
    return not data.flags.c_contiguous and channels_to_end(data).flags.c_contiguous


def reached(frame: Frame, steps: Sequence[int]) -> Iterator[tuple[tuple[int, ...], list[slice]]]:
    """Yields each kernel position, with the slices that select its element in all windows."""
    for at in np.ndindex(*frame.kernel):
        yield (
            at,
            [
                slice(a * d, a * d + (n - 1) * s + 1, s)
                for a, d, n, s in zip(at, frame.dilations, steps, frame.strides, strict=True)
            ],
        )
