"""The base classes of pooling operations: the positions and the number of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...element_types import ElementType
from ...faults import Violation
from ...rule_ids import OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, UNBOUNDED, Dimension, PartialShape
from .. import conditions
from ..conversion import plain
from ..declaration import NUMERIC_OR_BOOLEAN, Operation, attribute, operand
from ..differences import ceil_torch, facts, refused
from ..elementwise import computed
from ..kinds import NATURALS, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import PAD_TYPES, SAME, Sizes, check_per_axis, dimension_of, padded, same_padding

if TYPE_CHECKING:
    from ...symbols.expressions import Expression


I64 = ElementType.of("i64")
ROUNDING = Choice("floor", "ceil")
ROUNDING_TORCH = Choice("floor", "ceil", "ceil_torch")


class Along(NamedTuple):
    """The geometry of a sliding window along one axis."""

    kernel: int
    stride: int
    dilation: int
    begin: int
    end: int

    @property
    def span(self) -> int:
        """The number of elements that the kernel spans, gaps included."""
        return (self.kernel - 1) * self.dilation + 1

    def met(self, at: int, count: int) -> slice:
        """Returns a slice along one axis that selects, in each of `count` windows, the element at
        kernel position `at`."""
        start = at * self.dilation
        return slice(start, start + (count - 1) * self.stride + 1, self.stride)


class Share(NamedTuple):
    """The division of an axis of `size` elements into `parts` windows.

    As in PyTorch's adaptive pooling, neighbouring windows may overlap by one element.
    """

    size: int
    parts: int

    @property
    def starts(self) -> Array:
        return np.arange(self.parts) * self.size // self.parts

    @property
    def ends(self) -> Array:
        return -(-np.arange(1, self.parts + 1) * self.size // self.parts)

    @property
    def kernel(self) -> int:
        """The number of elements in the longest window."""
        return int((self.ends - self.starts).max(initial=0))

    def met(self, at: int, parts: int | None = None) -> Array:
        """Returns the index of the element at position `at` of each window.

        For a window with fewer elements, this is the index of its last element.
        """
        return np.asarray(np.minimum(self.starts + at, np.maximum(self.ends - 1, 0)))


class Pooling(Operation):
    """The base class of pooling with a window `kernel` that slides along the spatial axes."""

    differs = facts(refused("2024.1", 'rounding_type="ceil_torch"', ceil_torch))

    data = operand(NUMERIC_OR_BOOLEAN, rank=(3, 4, 5))
    strides: tuple[int, ...] = attribute(NATURALS)
    pads_begin: Sizes = attribute(NATURALS, default=None, required=True)
    pads_end: Sizes = attribute(NATURALS, default=None, required=True)
    kernel: tuple[int, ...] = attribute(NATURALS)
    rounding_type: str = attribute(ROUNDING, default="floor")
    auto_pad: str = attribute(PAD_TYPES, default="explicit")

    dilations: Sizes = None

    def infer(self, data: Tensor) -> Tensor | tuple[Tensor, ...]:
        return Tensor(data.element_type, self.pooled(data.shape))

    def pooled(self, data: PartialShape) -> PartialShape:
        """Returns the shape of the result. Raises `Violation` if the window does not fit."""
        axes = len(self.kernel)
        if data.rank is not None:
            conditions.count(axes, data.rank - 2, at="kernel", rule=OPERATION_CONSTRAINT)
        conditions.count(len(self.strides), axes, at="strides", rule=OPERATION_CONSTRAINT)
        check_per_axis(self, axes)
        if data.rank is None:
            return PartialShape.of_rank(2 + len(self.kernel))
        for axis in (0, 1):
            conditions.large_enough(data[axis], 1, at="data", axis=axis)
        return PartialShape(
            (
                *data[:2],
                *(self.steps(data, axis, data[axis + 2]) for axis in range(len(self.kernel))),
            )
        )

    def check_window(self, axis: int, along: Along) -> None:
        """Raises `Violation` if the operation forbids the padding of this window."""

    def along(self, axis: int, size: int) -> Along:
        """Returns the window's geometry along an axis of this size, with `auto_pad` applied."""
        kernel, stride = self.kernel[axis], self.strides[axis]
        dilation = self.dilations[axis] if self.dilations else 1
        begin = end = 0
        if self.auto_pad in SAME and stride > 0:
            span = Along(kernel, stride, dilation, 0, 0).span
            begin, end = same_padding(size, span, stride, self.auto_pad)
        elif self.auto_pad == "explicit":
            begin = self.pads_begin[axis] if self.pads_begin else 0
            end = self.pads_end[axis] if self.pads_end else 0
        return Along(kernel, stride, dilation, begin, end)

    def steps(self, data: PartialShape, axis: int, dim: Dimension) -> Dimension:
        if dim.is_dynamic and self.auto_pad in SAME:
            # OpenVINO computes the padding for a known size only
            return dim.followed(DYNAMIC, lambda size: self.symbolic_same(axis, size))
        along = self.along(axis, dim.low)
        room = dim + dimension_of(along.begin + along.end)
        if dim.is_static:
            if not 1 <= along.span <= room.low:
                padding = (
                    f" with its padding of {along.begin} and {along.end}"
                    if along.begin or along.end
                    else ""
                )
                raise Violation(
                    f"the window spans {along.span} along axis {axis + 2} (kernel {along.kernel}, "
                    f"dilation {along.dilation}), but `data` {data} has only {room}{padding}",
                    at="kernel",
                    relation="within",
                    expected=f"at most {room}",
                    actual=along.span,
                    rule=OPERATION_CONSTRAINT,
                )
            self.check_window(axis, along)
        if along.stride < 1:
            return (
                DYNAMIC if dim.is_dynamic else Dimension(1)
            )  # as in OpenVINO, which accepts a negative stride
        padding_ = along.begin + along.end
        high = UNBOUNDED if room.high == UNBOUNDED else self.count(along, room.high - padding_)
        room.at_least(along.span)
        return dim.followed(
            Dimension(self.count(along, room.low - padding_), high),
            lambda size: self.symbolic_count(along, size),
        )

    def symbolic_count(self, along: Along, size: Expression) -> Expression | None:
        """Returns the number of windows for a size that is an expression, e.g. `width`."""
        room = (size + (along.begin + along.end - along.span)).maximum(0)
        if self.rounding_type == "floor":
            return room // along.stride + 1
        count = (room + (along.stride - 1)) // along.stride + 1
        if self.rounding_type == "ceil":
            return count
        if along.end > along.span or not size.facts.assume_at_least(
            size + along.begin, size.facts.number(1)
        ):
            return None
        # the last window starts before the padding at the end
        starts = (size + (along.begin + along.stride - 1)) // along.stride
        return count.minimum(starts.maximum(1))

    def symbolic_same(self, axis: int, size: Expression) -> Expression | None:
        """Returns the number of windows with `same_upper` or `same_lower`, as an expression."""
        kernel, stride, facts = self.kernel[axis], self.strides[axis], size.facts
        span = (kernel - 1) * (self.dilations[axis] if self.dilations else 1) + 1
        if stride < 1 or not facts.assume_at_least(size, facts.number(1)):
            return None
        steps = (size + (stride - 1)) // stride
        if span >= stride:
            return steps
        if self.rounding_type == "ceil_torch":
            return None
        padding = ((steps - 1) * stride + span - size).maximum(0)
        return self.symbolic_count(Along(span, stride, 1, 0, 0), size + padding)

    def count(self, along: Along, size: int) -> int:
        """Returns the number of windows along an axis of this size; at least 1."""
        room = max(size + along.begin + along.end - along.span, 0)
        if self.rounding_type == "floor":
            return room // along.stride + 1
        count = -(-room // along.stride) + 1
        if (
            self.rounding_type == "ceil_torch"
            and size + along.begin > 0
            and count > 1
            and (count - 1) * along.stride >= size + along.begin
        ):
            count -= 1  # no window starts in the padding at the end
        return count

    def laid_out(self, data: Array, filler: Any) -> tuple[Array, list[tuple[Along, int]]]:
        """Returns the data, padded as far as windows reach, and a pair for each spatial axis: the
        geometry of the windows along the axis, and their number."""
        ways = []
        for axis, size in enumerate(data.shape[2:]):
            along = self.along(axis, size)
            ways.append((along, self.count(along, size)))
        ends = [
            max((count - 1) * along.stride + along.span - along.begin - size, 0)
            for (along, count), size in zip(ways, data.shape[2:], strict=True)
        ]
        begins = [along.begin for along, _ in ways]
        return padded(data, begins, ends, filler), ways

    def largest_values(self, data: Array) -> Array:
        """Returns the largest element of each window. NaN is ignored."""
        numbers = plain(data)
        bottom = lowest(numbers.dtype)
        area, ways = self.laid_out(numbers, bottom)
        for axis, (along, count) in enumerate(ways):
            area = over_windows(area, axis + 2, along, count, np.fmax)
        return computed(np.fmax(area, bottom, out=area) if area.dtype.kind == "f" else area, data)


def over_windows(area: Array, axis: int, along: Along, count: int, combine: Any) -> Array:
    """Combines each window along an axis of padded data into one element by a NumPy ufunc."""
    before: tuple[Any, ...] = (slice(None),) * axis
    if count == 1:
        return np.asarray(
            combine.reduce(
                area[(*before, slice(0, along.span, along.dilation))], axis=axis, keepdims=True
            )
        )
    result = area[(*before, along.met(0, count))].copy(order="K")
    for at in range(1, along.kernel):
        combine(result, area[(*before, along.met(at, count))], out=result)
    return result


def lowest(dtype: np.dtype[Any]) -> Any:
    """Returns the lowest finite number of a type, with which MaxPool fills the padding.

    As in OpenVINO, it is also the maximum of no elements, or of only NaN and -infinity.
    """
    if dtype.kind == "b":
        return False
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def largest(
    area: Array, places: Array, axis: int, along: Along | Share, count: int
) -> tuple[Array, Array]:
    """Returns the largest value of each window along an axis, and its element of `places`."""
    before: tuple[Any, ...] = (slice(None),) * axis
    first = (*before, along.met(0, count))
    values, where_from = np.array(area[first]), np.array(places[first])
    for at in range(1, along.kernel):
        where = (*before, along.met(at, count))
        better = area[where] > values
        np.copyto(values, area[where], where=better)
        np.copyto(where_from, places[where], where=better)
    return values, where_from
