"""The base classes of convolutions: their attributes, and the shapes that result from them."""

from __future__ import annotations

from typing import ClassVar

from ...faults import Between, Violation
from ...rule_ids import INPUT_SHAPES
from ...shapes import DYNAMIC, Dimension, PartialShape
from ...spelling import with_noun
from .. import conditions
from ..declaration import NUMERIC, Operation, at_least, attribute, operand
from ..kinds import NATURALS
from ..windows import (
    PAD_TYPES,
    SAME,
    Frame,
    Sizes,
    dilated,
    dimension_of,
    divided_down,
    divided_up,
)


class Sliding(Operation):
    """The base class of operations that slide filters along the spatial axes of `data`."""

    strides: Sizes = attribute(NATURALS, default=None, required=True)
    pads_begin: Sizes = attribute(NATURALS, default=None, required=True)
    pads_end: Sizes = attribute(NATURALS, default=None, required=True)
    dilations: Sizes = attribute(NATURALS, default=None, required=True)
    auto_pad: str = attribute(PAD_TYPES, default="explicit")

    filter_lead: ClassVar[int] = 2
    """The number of axes of `filters` before the spatial axes."""

    def spatial_axes(
        self, data: PartialShape, filters: PartialShape, *counts: int | None
    ) -> int | None:
        """Returns the number of spatial axes, or None if no input or attribute determines it.

        The number follows from the rank of `data`, else of `filters`, else from `counts`, else from
        attributes. Raises `Violation` if a rank does not fit.
        """
        if data.rank is not None:
            conditions.rank(filters.rank, data.rank - 2 + self.filter_lead, at="filters")
            return data.rank - 2
        if filters.rank is not None:
            conditions.rank(filters.rank, at_least(self.filter_lead + 1), at="filters")
            return filters.rank - self.filter_lead
        given = [
            len(sizes)
            for sizes in (self.strides, self.dilations, self.pads_begin, self.pads_end)
            if sizes
        ]
        return next((count for count in (*counts, *given) if count is not None), None)

    def steps(self, axes: int) -> tuple[int, ...]:
        return self.strides or (1,) * axes

    def gaps(self, axes: int) -> tuple[int, ...]:
        return self.dilations or (1,) * axes

    def pads(self, axes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the explicit padding before and after each axis; 0 if `auto_pad` replaces it."""
        none = (0,) * axes
        if self.auto_pad != "explicit":
            return none, none
        return self.pads_begin or none, self.pads_end or none

    def frame(self, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> Frame:
        """Returns the windows that the filters cover along spatial axes of these sizes."""
        axes = len(sizes)
        frame = Frame(kernel, self.steps(axes), self.gaps(axes), *self.pads(axes))
        return frame.same(sizes, self.auto_pad) if self.auto_pad in SAME else frame

    def slid(self, data: PartialShape, filters: PartialShape, axes: int) -> list[Dimension]:
        """Returns the spatial dimensions of the result of a forward convolution.

        Raises `Violation` if the filters are larger than the padded data.
        """
        sizes = data[-axes:] if data.rank is not None else (DYNAMIC,) * axes
        strides = self.steps(axes)
        if self.auto_pad in SAME:
            return [divided_up(size, stride) for size, stride in zip(sizes, strides, strict=True)]
        kernel = filters[-axes:] if filters.rank is not None else (DYNAMIC,) * axes
        dims = []
        for axis, (size, extent, stride, dilation, begin, end) in enumerate(
            zip(sizes, kernel, strides, self.gaps(axes), *self.pads(axes), strict=True)
        ):
            room, span = size + dimension_of(begin + end), dilated(extent, dilation)
            if room.is_static and span.is_static and span.low > room.low:
                available = f"{room} (with padding)" if begin + end else str(room)
                raise Violation(
                    f"`filters` {filters} span {with_noun(span, 'element')} along axis {axis + 2}, "
                    f"but `data` {data} has only {available}",
                    at="filters",
                    relation="within",
                    expected=Between(None, room),
                    actual=span,
                    rule=INPUT_SHAPES,
                )
            dims.append(divided_down(room.at_least(span) - span, stride) + 1)
        return dims


def window_size(filters: PartialShape, lead: int) -> Dimension:
    """Returns the product of the sizes of `filters` from axis `lead` on."""
    return DYNAMIC if filters.rank is None else PartialShape(filters[lead:]).size


class Convolving(Sliding):
    """The base class of convolutions of `data` with `filters`, forward and transposed."""

    data = operand(NUMERIC, rank=(3, 4, 5))
    filters = operand(NUMERIC, like="data")


def channels_agree(data: PartialShape, filters: PartialShape, axis: int) -> None:
    """Raises `Violation` unless `data` has as many channels as `filters` have along `axis`."""
    if data.rank is not None and filters.rank is not None:
        conditions.equal(filters[axis], data[1], at="filters", axis=axis, of="data", given=data)


def grouped_channels(
    data: PartialShape, filters: PartialShape, *, out_axis: int, in_axis: int
) -> Dimension:
    """Returns the number of output channels of a grouped convolution with `filters` `[groups, …]`.

    `out_axis` and `in_axis` are the axes of `filters` for the output and the input channels of a
    group. Raises `Violation` if the channels of `data` cannot be divided into these groups.
    """
    if filters.rank is None:
        return DYNAMIC
    groups: Dimension | None = filters[0]
    per_group = filters[in_axis]
    if data.rank is not None and per_group.is_static:
        if data[1].symbolic and filters[0].is_static:
            groups = groups if data[1].agrees(filters[0] * per_group) else None
        else:
            count = _group_count(data[1], per_group.low)
            groups = None if count is None else filters[0].merge(count)
    if groups is None:
        raise Violation(
            f"`data` {data} has {data[1]} channels (axis 1), "
            f"but `filters` {filters} need {filters[0]} groups of {per_group} channels",
            at="filters",
            expected=f"groups × {per_group} = {data[1]}",
            actual=filters,
            rule=INPUT_SHAPES,
        )
    return groups * filters[out_axis]


def _group_count(channels: Dimension, per_group: int) -> Dimension | None:
    """Returns the number of groups of channels; None if the channels do not form whole groups."""
    if channels.is_unbounded and not channels.symbolic:
        return channels
    return channels.divided(per_group) if per_group else Dimension(0)
