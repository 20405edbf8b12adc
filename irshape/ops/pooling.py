"""Pooling operations: one value, the mean or the largest, for each window of the spatial axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from ..types import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, ElementType, PartialShape
from .declaration import I32_I64, NUMERIC_OR_BOOLEAN, Operation, Violation, attribute, operand, require
from .kinds import BOOLEAN, INDEX_TYPE, INT, NATURALS, Choice
from .lazy import Array, np
from .tensors import Tensor
from .windows import PAD_TYPES, SAME, Frame, dimension_of, padded, same_padding

Sizes = tuple[int, ...] | None
"""A size for each spatial axis; None or nothing for the default along all of them."""

I64 = ElementType.of("i64")
ROUNDING = Choice("floor", "ceil")
ROUNDING_TORCH = Choice("floor", "ceil", "ceil_torch")


class Along(NamedTuple):
    """How a window goes along one axis."""

    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def span(self) -> int:
        """What the kernel covers, gaps included."""
        return (self.kernel - 1) * self.dilation + 1


class Pooling(Operation):
    """A window of size `kernel` that slides along the spatial axes, which are those behind the batch and the channels."""

    data = operand(NUMERIC_OR_BOOLEAN, rank=(3, 4, 5))
    strides: tuple[int, ...] = attribute(NATURALS)
    pads_begin: Sizes = attribute(NATURALS, default=None, required=True)
    pads_end: Sizes = attribute(NATURALS, default=None, required=True)
    kernel: tuple[int, ...] = attribute(NATURALS)
    rounding_type: str = attribute(ROUNDING, default="floor")
    auto_pad: str = attribute(PAD_TYPES, default="explicit")

    dilations: Sizes = None
    avoids_padding: ClassVar[bool] = False
    """Whether a window must not lie in the padding alone."""

    def pooled(self, data: PartialShape) -> PartialShape:
        """The shape of the result. Raises `Violation`."""
        self.check_attributes(data)
        if data.rank is None:
            return PartialShape.of_rank(2 + len(self.kernel))
        for axis, what in enumerate(("batch", "channel count")):
            require(data[axis] != 0, f"`data` {data} has a {what} of 0 (axis {axis}); expected 1 or more", at="data", expected="1 or more", seen=0, rule="input-shapes")
        return PartialShape((*data[:2], *(self.steps(data, axis, data[axis + 2]) for axis in range(len(self.kernel)))))

    def check_attributes(self, data: PartialShape) -> None:
        axes = len(self.kernel)
        require(
            data.rank in (None, axes + 2),
            f"`kernel` {_shown(self.kernel)} has {axes} value{'s' * (axes != 1)}, but `data` {data} has {0 if data.rank is None else data.rank - 2} spatial axes",
            at="kernel",
            expected=None if data.rank is None else f"{data.rank - 2} values",
            seen=_shown(self.kernel),
        )
        for name in ("strides", "pads_begin", "pads_end", "dilations"):
            sizes: Sizes = getattr(self, name)
            if name != "strides" and not sizes:
                continue
            sizes = sizes or ()
            require(
                len(sizes) == axes,
                f"`{name}` {_shown(sizes)} has {len(sizes)} value{'s' * (len(sizes) != 1)}, but `kernel` {_shown(self.kernel)} has {axes}",
                at=name,
                expected=f"{axes} value{'s' * (axes != 1)}",
                seen=_shown(sizes),
            )
        for name in ("kernel", "strides", "dilations"):
            given = getattr(self, name) or ()
            require(0 not in given, f"`{name}` {_shown(given)} has a 0; expected 1 or more", at=name, expected="1 or more", seen=_shown(given), rule="attribute-value")

    def along(self, axis: int, size: int) -> Along:
        """How the window goes along a spatial axis of that size, padding worked out."""
        kernel, stride = self.kernel[axis], self.strides[axis]
        found = Along(kernel, stride, self.dilations[axis] if self.dilations else 1, 0, 0)
        if self.auto_pad in SAME and stride > 0:
            return found._replace(**dict(zip(("begin", "end"), same_padding(size, found.span, stride, self.auto_pad), strict=True)))
        if self.auto_pad == "explicit":
            return found._replace(begin=self.pads_begin[axis] if self.pads_begin else 0, end=self.pads_end[axis] if self.pads_end else 0)
        return found

    def steps(self, data: PartialShape, axis: int, dim: Dimension) -> Dimension:
        if dim.is_dynamic and self.auto_pad in SAME:
            return DYNAMIC  # OpenVINO's padding is for one size only
        along = self.along(axis, dim.low)
        room = dim + dimension_of(along.begin + along.end)
        if dim.is_static:
            padding = f" with its padding of {along.begin} and {along.end}" if along.begin or along.end else ""
            require(
                1 <= along.span <= room.low,
                f"the window spans {along.span} along axis {axis + 2} (kernel {along.kernel}, dilation {along.dilation}), but `data` {data} has only {room} there{padding}",
                at="kernel",
                expected=f"at most {room}",
                seen=along.span,
            )
            if self.avoids_padding:
                require(
                    along.span > max(along.begin, along.end),
                    f"a window of {along.span} along axis {axis + 2} can lie in the padding of {along.begin} and {along.end} alone; with exclude-pad it would be the mean of nothing",
                    at="pads_begin" if along.begin >= along.span else "pads_end",
                    expected=f"less than {along.span}",
                    seen=max(along.begin, along.end),
                )
        if along.stride < 1:
            return DYNAMIC
        padding_ = along.begin + along.end
        high = UNBOUNDED if room.high == UNBOUNDED else self.count(along, room.high - padding_)
        return Dimension(self.count(along, room.low - padding_), high)

    def count(self, along: Along, size: int) -> int:
        """How many windows there are along an axis of that size; 1 at least."""
        room = max(size + along.begin + along.end - along.span, 0)
        if self.rounding_type == "floor":
            return room // along.stride + 1
        found = -(-room // along.stride) + 1
        if self.rounding_type == "ceil_torch" and found > 1 and (found - 1) * along.stride >= size + along.begin:
            found -= 1  # no window starts in the padding at the end
        return found


def _shown(sizes: tuple[int, ...]) -> str:
    return ",".join(map(str, sizes)) or '""'


def reach(area: Array, axis: int, at: int, along: Along, count: int) -> Array:
    """The elements of padded data that position `at` of the kernel meets at each of `count` steps along an axis."""
    start = at * along.dilation
    where = [slice(None)] * area.ndim
    where[axis] = slice(start, start + (count - 1) * along.stride + 1, along.stride)
    return area[tuple(where)]


def over_windows(area: Array, axis: int, along: Along, count: int, combine: Any) -> Array:
    """Each window along an axis of padded data combined into one value by a ufunc."""
    if count == 1:
        return np.asarray(combine.reduce(area[(slice(None),) * axis + (slice(0, along.span, along.dilation),)], axis=axis, keepdims=True))
    result = reach(area, axis, 0, along, count).copy()
    for at in range(1, along.kernel):
        combine(result, reach(area, axis, at, along, count), out=result)
    return result
