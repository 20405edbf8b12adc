"""What the convolutions share: attributes, and the conditions that tie them to the shapes."""

from __future__ import annotations

from typing import ClassVar

from ...faults import Violation, require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_RANK, INPUT_SHAPES
from ...types import DYNAMIC, Dimension, PartialShape
from ..declaration import NUMERIC, Operation, attribute, operand
from ..kinds import NATURALS
from ..windows import (
    PAD_TYPES,
    SAME,
    Frame,
    dilated,
    dimension_of,
    divided_down,
    divided_up,
    same_padding,
)

Sizes = tuple[int, ...] | None
"""A size for each spatial axis; None or nothing for the default along all of them."""


class Sliding(Operation):
    """A filter that slides along the spatial axes of `data`, which are those behind the batch and the channels."""

    strides: Sizes = attribute(NATURALS, default=None, required=True)
    pads_begin: Sizes = attribute(NATURALS, default=None, required=True)
    pads_end: Sizes = attribute(NATURALS, default=None, required=True)
    dilations: Sizes = attribute(NATURALS, default=None, required=True)
    auto_pad: str = attribute(PAD_TYPES, default="explicit")

    data_ranks: ClassVar[tuple[int, ...]] = (3, 4, 5)
    filter_lead: ClassVar[int] = 2
    """How many axes of `filters` come before the spatial ones."""

    def spatial_axes(
        self, data: PartialShape, filters: PartialShape, *counts: int | None
    ) -> int | None:
        """The number of spatial axes, from `data`, else `filters`, else `counts`, else the attributes; None where nothing tells. Raises `Violation`."""
        if data.rank is not None:
            wanted = (
                ", ".join(map(str, self.data_ranks[:-1]))
                + (" or " if len(self.data_ranks) > 1 else "")
                + str(self.data_ranks[-1])
            )
            require(
                data.rank in self.data_ranks,
                f"`data` has shape {data}, of rank {data.rank}; expected rank {wanted} (batch, channels, spatial axes)",
                at="data",
                expected=f"rank {wanted}",
                actual=f"rank {data.rank}",
                rule=INPUT_RANK,
            )
            count = data.rank - 2
            require(
                filters.rank in (None, count + self.filter_lead),
                f"`filters` {filters} have rank {filters.rank}; for `data` {data} with {count} spatial ax{'is' if count == 1 else 'es'} expected rank {count + self.filter_lead}",
                at="filters",
                expected=f"rank {count + self.filter_lead}",
                actual=f"rank {filters.rank}",
                rule=INPUT_RANK,
            )
            return count
        if filters.rank is not None:
            require(
                filters.rank > self.filter_lead,
                f"`filters` have shape {filters}, without spatial axes; expected rank {self.filter_lead + 1} or more",
                at="filters",
                expected=f"rank of at least {self.filter_lead + 1}",
                actual=f"rank {filters.rank}",
                rule=INPUT_RANK,
            )
            return filters.rank - self.filter_lead
        given = [
            len(sizes)
            for sizes in (self.strides, self.dilations, self.pads_begin, self.pads_end)
            if sizes
        ]
        return next((count for count in (*counts, *given) if count is not None), None)

    def check_sizes(self, axes: int) -> None:
        """Raises `Violation` unless the attributes have a value for each spatial axis, strides and dilations none of 0."""
        for name in ("strides", "dilations", "pads_begin", "pads_end", "output_padding"):
            sizes: Sizes = getattr(self, name, None)
            if not sizes:
                continue
            seen = ",".join(map(str, sizes))
            require(
                len(sizes) == axes,
                f"`{name}` {seen} has {len(sizes)} value{'s' * (len(sizes) != 1)}, but there {'is 1 spatial axis' if axes == 1 else f'are {axes} spatial axes'}",
                at=name,
                expected=f"{axes} value{'s' * (axes != 1)}",
                actual=seen,
            )
            if name in ("strides", "dilations"):
                require(
                    0 not in sizes,
                    f"`{name}` {seen} has a 0; expected 1 or more",
                    at=name,
                    expected="1 or more",
                    actual=seen,
                    rule=ATTRIBUTE_VALUE,
                )

    def steps(self, axes: int) -> tuple[int, ...]:
        return self.strides or (1,) * axes

    def gaps(self, axes: int) -> tuple[int, ...]:
        return self.dilations or (1,) * axes

    def pads(self, axes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The explicit padding; none where `auto_pad` stands in its place."""
        none = (0,) * axes
        return (
            (self.pads_begin or none, self.pads_end or none)
            if self.auto_pad == "explicit"
            else (none, none)
        )

    def frame(self, sizes: tuple[int, ...], kernel: tuple[int, ...]) -> Frame:
        """Where the filter goes over spatial axes of those sizes."""
        strides, dilations = self.steps(len(sizes)), self.gaps(len(sizes))
        begin, end = self.pads(len(sizes))
        if self.auto_pad in SAME:
            spans = [max(k - 1, 0) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
            found = [
                same_padding(size, span, stride, self.auto_pad)
                for size, span, stride in zip(sizes, spans, strides, strict=True)
            ]
            begin, end = tuple(pair[0] for pair in found), tuple(pair[1] for pair in found)
        return Frame(kernel, strides, dilations, begin, end)

    def slid(self, data: PartialShape, filters: PartialShape, axes: int) -> list[Dimension]:
        """The spatial dimensions of the result of a forward convolution. Raises `Violation` where the filter is larger than the padded data."""
        sizes = data[-axes:] if data.rank is not None else (DYNAMIC,) * axes
        strides = self.steps(axes)
        if self.auto_pad in SAME:
            return [divided_up(size, stride) for size, stride in zip(sizes, strides, strict=True)]
        kernel = filters[-axes:] if filters.rank is not None else (DYNAMIC,) * axes
        made = []
        for axis, (size, extent, stride, dilation, begin, end) in enumerate(
            zip(sizes, kernel, strides, self.gaps(axes), *self.pads(axes), strict=True)
        ):
            room, span = size + dimension_of(begin + end), dilated(extent, dilation)
            if room.is_static and span.is_static and span.low > room.low:
                reason = f" (kernel {extent} with dilation {dilation})" if dilation != 1 else ""
                raise Violation(
                    f"`filters` {filters} span {span}{reason} along axis {axis + 2}, but `data` {data} has only {room}"
                    + (" there with its padding" if begin + end else " there"),
                    at="filters",
                    expected=f"at most {room}",
                    actual=span,
                    rule=INPUT_SHAPES,
                )
            made.append(divided_down(room - span, stride) + 1)
        return made


class Convolving(Sliding):
    """A convolution of `data` with `filters`."""

    data = operand(NUMERIC)
    filters = operand(NUMERIC, like="data")


def channels_agree(data: PartialShape, filters: PartialShape, axis: int) -> None:
    """Raises `Violation` unless `data` has as many channels as axis `axis` of `filters` takes."""
    if data.rank is not None and filters.rank is not None:
        require(
            data[1].compatible(filters[axis]),
            f"`data` {data} has {data[1]} channels (axis 1), but `filters` {filters} take {filters[axis]} (their axis {axis})",
            at="filters",
            expected=data[1],
            actual=filters[axis],
            rule=INPUT_SHAPES,
        )


def grouped_channels(data: PartialShape, filters: PartialShape, made: int, taken: int) -> Dimension:
    """The output channels of a grouped convolution whose `filters` are `[groups, …]`, with channels made and taken on those axes. Raises `Violation`."""
    if filters.rank is None:
        return DYNAMIC
    groups: Dimension | None = filters[0]
    per_group = filters[taken]
    if data.rank is not None and per_group.is_static:
        count = (
            data[1]
            if data[1].is_unbounded
            else data[1].divided(per_group.low)
            if per_group.low
            else Dimension(0)
        )
        groups = None if count is None else filters[0].merge(count)
    if groups is None:
        raise Violation(
            f"`data` {data} has {data[1]} channels (axis 1), but `filters` {filters} take {filters[0]} groups of {per_group}",
            at="filters",
            expected=f"groups × {per_group} = {data[1]}",
            actual=filters,
            rule=INPUT_SHAPES,
        )
    return groups * filters[made]
