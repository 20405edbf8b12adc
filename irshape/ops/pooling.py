"""Pooling operations: one value, the mean or the largest, for each window of the spatial axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ..faults import Fault, fault, require
from ..rule_ids import ATTRIBUTE_VALUE, INPUT_RANK, INPUT_SHAPES, INPUT_VALUE
from ..types import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, ElementType, PartialShape
from .conversion import plain
from .declaration import INTEGER, NUMERIC, NUMERIC_OR_BOOLEAN, Operation, attribute, operand
from .elementwise import computed
from .kinds import BOOLEAN, INDEX_TYPE, INT, NATURALS, Choice, TypeName
from .lazy import Array, np
from .tensors import Tensor
from .windows import (
    PAD_TYPES,
    SAME,
    channels_last,
    channels_to_end,
    channels_to_front,
    dimension_of,
    padded,
    same_padding,
)

if TYPE_CHECKING:
    from ..symbols.expressions import Expression

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

    def met(self, at: int, count: int) -> slice:
        """The elements of padded data that position `at` of the kernel meets at each of `count`
        steps.
        """
        start = at * self.dilation
        return slice(start, start + (count - 1) * self.stride + 1, self.stride)


class Pooling(Operation):
    """A window of size `kernel` that slides along the spatial axes, which are those behind the
    batch and the channels.
    """

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
            require(
                data[axis] != 0,
                f"`data` {data} has a {what} of 0 (axis {axis}); expected 1 or more",
                at="data",
                expected="1 or more",
                actual=0,
                rule=INPUT_SHAPES,
            )
        return PartialShape(
            (
                *data[:2],
                *(self.steps(data, axis, data[axis + 2]) for axis in range(len(self.kernel))),
            )
        )

    def check_attributes(self, data: PartialShape) -> None:
        axes = len(self.kernel)
        require(
            data.rank in (None, axes + 2),
            f"`kernel` {_shown(self.kernel)} has {axes} value{'s' * (axes != 1)}, but `data` "
            f"{data} has {0 if data.rank is None else data.rank - 2} spatial axes",
            at="kernel",
            expected=None if data.rank is None else f"{data.rank - 2} values",
            actual=_shown(self.kernel),
        )
        for name in ("strides", "pads_begin", "pads_end", "dilations"):
            sizes: Sizes = getattr(self, name)
            if name != "strides" and not sizes:
                continue
            sizes = sizes or ()
            require(
                len(sizes) == axes,
                f"`{name}` {_shown(sizes)} has {len(sizes)} value{'s' * (len(sizes) != 1)}, but "
                f"`kernel` {_shown(self.kernel)} has {axes}",
                at=name,
                expected=f"{axes} value{'s' * (axes != 1)}",
                actual=_shown(sizes),
            )
        for name in ("kernel", "strides", "dilations"):
            given = getattr(self, name) or ()
            require(
                0 not in given,
                f"`{name}` {_shown(given)} has a 0; expected 1 or more",
                at=name,
                expected="1 or more",
                actual=_shown(given),
                rule=ATTRIBUTE_VALUE,
            )

    def along(self, axis: int, size: int) -> Along:
        """How the window goes along a spatial axis of that size, padding worked out."""
        kernel, stride = self.kernel[axis], self.strides[axis]
        along = Along(kernel, stride, self.dilations[axis] if self.dilations else 1, 0, 0)
        if self.auto_pad in SAME and stride > 0:
            return along._replace(
                **dict(
                    zip(
                        ("begin", "end"),
                        same_padding(size, along.span, stride, self.auto_pad),
                        strict=True,
                    )
                )
            )
        if self.auto_pad == "explicit":
            return along._replace(
                begin=self.pads_begin[axis] if self.pads_begin else 0,
                end=self.pads_end[axis] if self.pads_end else 0,
            )
        return along

    def steps(self, data: PartialShape, axis: int, dim: Dimension) -> Dimension:
        if dim.is_dynamic and self.auto_pad in SAME:
            # OpenVINO's padding is for one size only
            return dim.followed(DYNAMIC, lambda size: self.symbolic_same(axis, size))
        along = self.along(axis, dim.low)
        room = dim + dimension_of(along.begin + along.end)
        if dim.is_static:
            padding = (
                f" with its padding of {along.begin} and {along.end}"
                if along.begin or along.end
                else ""
            )
            require(
                1 <= along.span <= room.low,
                f"the window spans {along.span} along axis {axis + 2} (kernel {along.kernel}, "
                f"dilation {along.dilation}), but `data` {data} has only {room} there{padding}",
                at="kernel",
                expected=f"at most {room}",
                actual=along.span,
            )
            if self.avoids_padding:
                require(
                    along.span > max(along.begin, along.end),
                    f"a window of {along.span} along axis {axis + 2} can lie in the padding of "
                    f"{along.begin} and {along.end} alone; with exclude-pad it would be the mean "
                    "of nothing",
                    at="pads_begin" if along.begin >= along.span else "pads_end",
                    expected=f"less than {along.span}",
                    actual=max(along.begin, along.end),
                )
        if along.stride < 1:
            return (
                DYNAMIC if dim.is_dynamic else Dimension(1)
            )  # as OpenVINO goes on with a negative one
        padding_ = along.begin + along.end
        high = UNBOUNDED if room.high == UNBOUNDED else self.count(along, room.high - padding_)
        room.at_least(along.span)
        return dim.followed(
            Dimension(self.count(along, room.low - padding_), high),
            lambda size: self.symbolic_count(along, size),
        )

    def symbolic_count(self, along: Along, size: Expression) -> Expression | None:
        """`count` for a size that is an expression."""
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
        """The number of windows where `auto_pad` makes room for them."""
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
        """How many windows there are along an axis of that size; 1 at least."""
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
        """The data with as much padding as the windows reach, and along each spatial axis how they
        go and how many there are.
        """
        ways = []
        for axis, size in enumerate(data.shape[2:]):
            along = self.along(axis, size)
            ways.append((along, self.count(along, size)))
        ends = [
            max((count - 1) * along.stride + along.span - along.begin - size, 0)
            for (along, count), size in zip(ways, data.shape[2:], strict=True)
        ]
        begins = [along.begin for along, _ in ways]
        if channels_last(data):
            area = padded(channels_to_end(data), [*begins, 0], [*ends, 0], filler)
            return channels_to_front(area), ways
        return padded(data, begins, ends, filler), ways

    def largest_values(self, data: Array) -> Array:
        """The largest element of each window, NaN left out."""
        numbers = plain(data)
        bottom = lowest(numbers.dtype)
        area, ways = self.laid_out(numbers, bottom)
        for axis, (along, count) in enumerate(ways):
            area = over_windows(area, axis + 2, along, count, np.fmax)
        return computed(np.fmax(area, bottom, out=area) if area.dtype.kind == "f" else area, data)


def _shown(sizes: tuple[int, ...]) -> str:
    return ",".join(map(str, sizes)) or '""'


def over_windows(area: Array, axis: int, along: Along, count: int, combine: Any) -> Array:
    """Each window along an axis of padded data combined into one value by a ufunc."""
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
    """What the largest of nothing is: the padding, and in OpenVINO also what stands for a window of
    NaN or of negative infinity.
    """
    if dtype.kind == "b":
        return False
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


class AveragePooling(Pooling):
    """The mean of each window.

    Padding counts as zeros, or with `exclude-pad` not at all; the mean of integers is the nearest,
    an even one between two.
    """

    exclude_pad: bool = attribute(BOOLEAN, default=True, required=True, name="exclude-pad")

    @property
    def avoids_padding(self) -> bool:  # type: ignore[override]
        return self.exclude_pad

    def infer(self, data: Tensor) -> Tensor:
        return Tensor(data.element_type, self.pooled(data.shape))

    def evaluate(self, data: Array) -> Array:
        numbers = plain(data)
        real = numbers.dtype.kind == "f"
        total, ways = self.laid_out(numbers if real else numbers.astype(np.int64), 0)
        whole = not self.exclude_pad and any(along.begin or along.end for along, _ in ways)
        divisor = np.ones(1, total.dtype)
        for axis in reversed(range(len(ways))):
            along, count = ways[axis]
            total = over_windows(total, axis + 2, along, count, np.add)
            counted = (
                np.full(count, along.kernel)
                if whole
                else inside(along, data.shape[axis + 2], count)
            )
            divisor = (
                counted.astype(total.dtype).reshape(-1, *(1,) * (len(ways) - 1 - axis)) * divisor
            )
        divisor = np.maximum(divisor, 1)  # the mean of nothing is 0
        if real:
            return computed(np.divide(total, divisor, out=total), data)
        rest = 2 * (total - total // divisor * divisor)
        return computed(
            total // divisor
            + ((rest > divisor) | ((rest == divisor) & (total // divisor % 2 == 1))),
            data,
        )


def inside(along: Along, size: int, count: int) -> Array:
    """How many elements of each window along an axis are not padding."""
    positions = (
        np.arange(count)[:, None] * along.stride
        - along.begin
        + np.arange(along.kernel) * along.dilation
    )
    return np.asarray(((positions >= 0) & (positions < size)).sum(axis=1))


class AvgPool_1(AveragePooling):
    """The mean of each window. Specification: AvgPool-1."""

    since = 1


class AvgPool_14(AveragePooling):
    """The mean of each window; with `ceil_torch` no window starts in the padding at the end.

    Specification: AvgPool-14.
    """

    since = 14
    rounding_type: str = attribute(ROUNDING_TORCH, default="floor")


class AvgPool_16(AveragePooling):
    """The mean of each window, whose elements can lie apart. Specification: AvgPool-16."""

    since = 16
    dilations: Sizes = attribute(NATURALS, default=None)
    rounding_type: str = attribute(ROUNDING_TORCH, default="floor")


class MaxPool_1(Pooling):
    """The largest element of each window. Specification: MaxPool-1."""

    since = 1
    leaves_nan_open = True

    def infer(self, data: Tensor) -> Tensor:
        return Tensor(data.element_type, self.pooled(data.shape))

    def evaluate(self, data: Array) -> Array:
        return self.largest_values(data)


class MaxPool_8(Pooling):
    """The largest element of each window, and where it stands in the data flattened from `axis` on.

    Specification: MaxPool-8.
    """

    since = 8
    leaves_nan_open = True
    dilations: Sizes = attribute(NATURALS, default=None)
    index_element_type: ElementType = attribute(TypeName("i32", "i64"), default=I64)
    axis: int = attribute(INT, default=0)

    def infer(self, data: Tensor) -> tuple[Tensor, Tensor]:
        rank = data.rank
        require(
            rank is None or -rank <= self.axis < rank,
            f"`axis` is {self.axis}, but `data` {data.shape} has rank {rank}: expected "
            f"{-(rank or 0)} to {(rank or 0) - 1}",
            at="axis",
            expected=f"[{-(rank or 0)}, {(rank or 0) - 1}]",
            actual=self.axis,
            rule=ATTRIBUTE_VALUE,
        )
        shape = self.pooled(data.shape)
        return Tensor(data.element_type, shape), Tensor(self.index_element_type, shape)

    spares_outputs = True

    def evaluate(self, data: Array, wanted: Sequence[bool] = (True, True)) -> tuple[Array, Array]:
        from ..numpy_types import dtype_of

        if not wanted[1]:
            return self.largest_values(data), np.empty(0, dtype_of(self.index_element_type))
        numbers = plain(data)
        least = lowest(numbers.dtype)
        if numbers.dtype.kind in "iub" and numbers.dtype.itemsize < 8:
            numbers = numbers.astype(np.int64)  # with room for padding below all values
        bottom = lowest(numbers.dtype)
        area, ways = self.laid_out(numbers, bottom)
        if area.dtype.kind == "f":
            area = np.fmax(
                area, bottom
            )  # NaN is never the largest, and where nothing is above the lowest there is no place
        places = np.zeros((), np.int64)
        for axis, ((along, _), size) in enumerate(zip(ways, data.shape[2:], strict=True)):
            places = places[..., None] * size + (
                np.arange(area.shape[axis + 2], dtype=np.int64) - along.begin
            )
        places = np.broadcast_to(places, area.shape)
        for axis in reversed(range(len(ways))):
            area, places = largest(area, places, axis + 2, *ways[axis])
        larger = area > bottom
        channels = np.arange(data.shape[0] * data.shape[1], dtype=np.int64) * int(
            np.prod(data.shape[2:])
        )
        places = np.where(larger, places, 0) + channels.reshape(*data.shape[:2], *(1,) * len(ways))
        bound = int(np.prod(data.shape[self.axis % data.ndim :]))
        values = np.where(larger, area, np.asarray(least, area.dtype))
        return computed(values, data), (places % bound).astype(dtype_of(self.index_element_type))


def largest(
    area: Array, places: Array, axis: int, along: Along | Share, count: int
) -> tuple[Array, Array]:
    """The first largest value of each window along an axis of padded data, and what `places` holds
    for it.
    """
    before: tuple[Any, ...] = (slice(None),) * axis
    first = (*before, along.met(0, count))
    values, where_from = np.array(area[first]), np.array(places[first])
    for at in range(1, along.kernel):
        where = (*before, along.met(at, count))
        better = area[where] > values
        np.copyto(values, area[where], where=better)
        np.copyto(where_from, places[where], where=better)
    return values, where_from


class MaxPool_14(MaxPool_8):
    """The largest element of each window and its place; with `ceil_torch` no window starts in the
    padding at the end.

    Specification: MaxPool-14.
    """

    since = 14
    rounding_type: str = attribute(ROUNDING_TORCH, default="floor")


class Share(NamedTuple):
    """How an axis of `size` elements is shared out among so many windows, which may overlap by one
    element, as PyTorch's adaptive pooling does.
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
        """The length of the longest window."""
        return int((self.ends - self.starts).max(initial=0))

    def met(self, at: int, parts: int | None = None) -> Array:
        """The elements at position `at` of each window; the last one again where a window is
        shorter.
        """
        return np.asarray(np.minimum(self.starts + at, np.maximum(self.ends - 1, 0)))


class AdaptivePooling(Operation):
    """Pooling to the spatial sizes that `output_shape` gives: window `i` of an axis goes from
    `floor(i·in/out)` to `ceil((i+1)·in/out)`.
    """

    data = operand(NUMERIC_OR_BOOLEAN, rank=(3, 4, 5))
    output_shape = operand(NUMERIC, specified=INTEGER, value=True)

    def pooled(self, data: PartialShape, output_shape: Tensor) -> PartialShape:
        if data.rank is None:
            return DYNAMIC_SHAPE
        axes, given = data.rank - 2, output_shape.rank
        require(
            given in (None, 1),
            f"`output_shape` has shape {output_shape.shape}; expected a list of {axes}",
            at="output_shape",
            expected="rank 1",
            actual=f"rank {given}",
            rule=INPUT_RANK,
        )
        count = DYNAMIC if given is None else output_shape.shape[0]
        require(
            count.contains(axes),
            f"`output_shape` has {count} elements, but `data` {data} has {axes} spatial axes; it "
            "gives the size of each spatial axis, without batch and channels",
            at="output_shape",
            expected=f"{axes} element{'s' * (axes != 1)}",
            actual=count,
            rule=INPUT_SHAPES,
        )
        value = output_shape.value
        if value is None:
            return PartialShape((*data[:2], *(DYNAMIC,) * axes))
        sizes = [
            dimension_of(int(low))
            if low == high and abs(low) < UNBOUNDED
            else value.dimension(i) or DYNAMIC
            for i, (low, high) in enumerate(zip(value.lower, value.upper, strict=True))
        ]
        return PartialShape((*data[:2], *sizes))

    def check(self, data: Tensor, output_shape: Tensor) -> Iterator[Fault]:
        for size in output_shape.known or ():
            if size < 0:
                yield fault(
                    f"`output_shape` has {size}; a size cannot be negative",
                    at="output_shape",
                    expected="0 or more",
                    actual=size,
                    rule=INPUT_VALUE,
                )


class AdaptiveAvgPool(AdaptivePooling):
    """The mean of each window. Specification: AdaptiveAvgPool-8."""

    since = 8

    def infer(self, data: Tensor, output_shape: Tensor) -> Tensor:
        return Tensor(data.element_type, self.pooled(data.shape, output_shape))

    def evaluate(self, data: Array, output_shape: Array) -> Array:
        numbers = plain(data)
        total = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)
        for axis, parts in enumerate(output_shape.ravel().tolist()):
            share = Share(data.shape[axis + 2], int(parts))
            before: tuple[Any, ...] = (slice(None),) * (axis + 2)
            behind = (1,) * (data.ndim - axis - 3)
            lengths = share.ends - share.starts
            result = np.zeros(
                (*total.shape[: axis + 2], share.parts, *total.shape[axis + 3 :]), total.dtype
            )
            for at in range(share.kernel):
                result += total[(*before, share.met(at))] * (at < lengths).reshape(-1, *behind)
            total = result / lengths.astype(total.dtype).reshape(-1, *behind)
        return computed(total, data)


class AdaptiveMaxPool(AdaptivePooling):
    """The largest element of each window, and where it stands among the spatial elements of its
    channel.

    Specification: AdaptiveMaxPool-8.
    """

    since = 8
    leaves_nan_open = True
    index_element_type: ElementType = attribute(INDEX_TYPE, default=I64)

    def infer(self, data: Tensor, output_shape: Tensor) -> tuple[Tensor, Tensor]:
        shape = self.pooled(data.shape, output_shape)
        return Tensor(data.element_type, shape), Tensor(self.index_element_type, shape)

    def evaluate(self, data: Array, output_shape: Array) -> tuple[Array, Array]:
        from ..numpy_types import dtype_of

        values = plain(data)
        places = np.broadcast_to(
            np.arange(int(np.prod(data.shape[2:])), dtype=np.int64).reshape(data.shape[2:]),
            data.shape,
        )
        for axis, parts in reversed(list(enumerate(output_shape.ravel().tolist()))):
            share = Share(data.shape[axis + 2], int(parts))
            values, places = largest(values, places, axis + 2, share, share.parts)
        return computed(values, data), places.astype(dtype_of(self.index_element_type))
