"""AvgPool: the mean of each window."""

from __future__ import annotations

from ...faults import require
from ..conversion import real
from ..declaration import attribute
from ..differences import facts, not_run, of_version
from ..elementwise import computed
from ..kinds import BOOLEAN, NATURALS
from ..lazy import Array, np
from ..windows import Sizes
from .base import ROUNDING_TORCH, Along, Pooling, over_windows


class AveragePooling(Pooling):
    """The mean of each window.

    Padding counts as zeros, or not at all with `exclude-pad`. The mean of integers is rounded to
    the nearest integer, ties to even.
    """

    differs = facts(
        *Pooling.differs,
        not_run("2024.2", "AvgPool of opset14", of_version(14), since="2024.1"),
    )

    exclude_pad: bool = attribute(BOOLEAN, default=True, required=True, name="exclude-pad")

    def check_window(self, axis: int, along: Along) -> None:
        require(
            not self.exclude_pad or along.span > max(along.begin, along.end),
            f"a window of {along.span} along axis {axis + 2} can lie entirely in the padding of "
            f"{along.begin} and {along.end}; with exclude-pad it would have no elements to average",
            at="pads_begin" if along.begin >= along.span else "pads_end",
            expected=f"less than {along.span}",
            actual=max(along.begin, along.end),
        )

    def evaluate(self, data: Array) -> Array:
        total, ways = self.laid_out(real(data, wide=True), 0)
        whole = not self.exclude_pad and any(along.begin or along.end for along, _ in ways)
        divisor = np.ones(1, total.dtype)
        for axis in reversed(range(len(ways))):
            along, count = ways[axis]
            line = np.full(total.shape[axis + 2], whole, total.dtype)
            line[along.begin : along.begin + data.shape[axis + 2]] = 1
            total = over_windows(total, axis + 2, along, count, np.add)
            counted = over_windows(line, 0, along, count, np.add)
            divisor = counted.reshape(-1, *(1,) * (len(ways) - 1 - axis)) * divisor
        divisor = np.maximum(divisor, 1)  # the mean of no elements is 0
        return computed(np.divide(total, divisor, out=total), data)


class AvgPool_1(AveragePooling):
    """The mean of each window."""

    since = 1


class AvgPool_14(AveragePooling):
    """The mean of each window. With `ceil_torch`, no window starts in the padding at the end."""

    since = 14
    rounding_type: str = attribute(ROUNDING_TORCH, default="floor")


class AvgPool_16(AveragePooling):
    """The mean of each window. `dilations` set the distance between elements of a window."""

    since = 16
    released = ((16, "2025.3"),)
    dilations: Sizes = attribute(NATURALS, default=None)
    rounding_type: str = attribute(ROUNDING_TORCH, default="floor")
