"""Bounds of the indices of slices and paddings, and the sizes that result from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Final, NamedTuple

from ...shapes import INT64_MIN, UNBOUNDED, Dimension
from ..tensors import Bounds, Number, Tensor

INT32_MAX: Final = 2**31 - 1


def bounds_of(tensor: Tensor) -> list[Bounds] | None:
    """Returns the bounds of each element of a tensor; None if its value is unknown.

    In a tensor of i32, the limits of i32 stand for an end of the axis, as the limits of i64 do.
    """
    value = tensor.value
    if value is None:
        return None
    index: Callable[[Number], int] = _end if tensor.element_type.name == "i32" else int
    return [
        Bounds(index(low), index(high), each if each is not None and each.is_whole else None)
        for low, high, each in zip(
            value.lower, value.upper, value.expressions or (None,) * len(value), strict=True
        )
    ]


def _end(bound: Number) -> int:
    index = int(bound)
    if index >= INT32_MAX:
        return UNBOUNDED
    return INT64_MIN if index < -INT32_MAX else index


class Run(NamedTuple):
    """The indices in a slice of an axis: the first index, the number of indices, and the step."""

    first: int
    taken: int
    step: int
    removed: bool = False
    """Whether `shrink_axis_mask` removes the axis from the result."""

    @staticmethod
    def of(size: int, start: int, stop: int, step: int) -> Run:
        """Returns the indices in `start:stop:step` of an axis of `size` elements.

        Indices out of range are clamped. A backward slice starts at an existing element.
        """
        first, last = start + size if start < 0 else start, stop + size if stop < 0 else stop
        if step > 0:
            first, last = min(max(first, 0), size), min(max(last, 0), size)
            return Run(first, max(0, -((first - last) // step)), step)
        first, last = max(min(first, size - 1), 0), min(max(last, -1), size)
        return Run(first, max(0, -((last - first) // -step)) if size else 0, step)

    @property
    def indices(self) -> range:
        return range(self.first, self.first + self.taken * self.step, self.step)

    @property
    def slice(self) -> slice:
        end = self.first + self.taken * self.step
        return slice(self.first, None if end < 0 else end, self.step)


_HUGE: Final = 1 << 66
"""A number larger than any size. It stands for "no upper bound"."""


def _extreme(
    of: Callable[[Iterable[int]], int], dim: Dimension, start: int, stop: int, step: int
) -> int:
    """Returns the smallest (`of` is min) or largest (`of` is max) number of elements in a slice.

    As the axis grows, the number starts to rise or fall only at sizes where `start` or `stop` meets
    an end of the axis. So the extremes are at these sizes, or at the bounds of the size.
    """
    start, stop = _far(start), _far(stop)
    high = _HUGE if dim.high == UNBOUNDED else dim.high
    turns = (abs(end) + off for end in (start, stop) for off in (-1, 0, 1))
    sizes = (dim.low, high, *(size for size in turns if dim.low < size < high))
    count = of([Run.of(size, start, stop, step).taken for size in sizes])
    if of is min or high < _HUGE or Run.of(2 * _HUGE, start, stop, step).taken <= count:
        return count
    if step < 0 and -_HUGE < start < 0 and stop < -_HUGE:
        # a backward slice to the first element: OpenVINO assumes the largest possible size
        return -((UNBOUNDED + start + 1) // step)
    return UNBOUNDED


def _far(end: int) -> int:
    """Returns `start` or `stop` of a slice. A limit of int64 becomes a number beyond any size."""
    if INT64_MIN < end < UNBOUNDED:
        return end
    return 4 * _HUGE if end > 0 else -4 * _HUGE


def _one_sided(bounds: Bounds) -> tuple[Bounds, ...]:
    """Splits the bounds of an index by sign, e.g. -2..3 into -2..-1 and 0..3."""
    low, high, _ = bounds
    return (Bounds(low, -1), Bounds(0, high)) if low < 0 <= high else (bounds,)


def sliced(dim: Dimension, start: Bounds, stop: Bounds, step: int) -> Dimension:
    """Returns the size of the slice `start:stop:step` of an axis."""
    if dim.low == dim.high < UNBOUNDED and start[0] == start[1] and stop[0] == stop[1]:
        return Dimension.of(Run.of(dim.low, start[0], stop[0], step).taken)
    lows, highs = [], []
    for first, last in product(_one_sided(start), _one_sided(stop)):
        if step > 0:
            lows.append(_extreme(min, dim, first.high, last.low, step))
            highs.append(_extreme(max, dim, first.low, last.high, step))
        else:
            lows.append(_extreme(min, dim, first.low, last.high, step))
            highs.append(_extreme(max, dim, first.high, last.low, step))
    size = Dimension(min(lows), max(highs))
    if size.is_static or not (dim.symbolic or start.expression or stop.expression):
        return size
    from ..symbolic import slice_of

    return slice_of(dim, start, stop, step, size)


def up_to(dim: Dimension) -> Dimension:
    """Returns the size of a slice of unknown start and stop: from 0 to the size of the axis."""
    return Dimension(0, dim.high)
