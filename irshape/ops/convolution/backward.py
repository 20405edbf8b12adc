"""Transposed convolution, dense or grouped.

It is the gradient of a convolution with respect to its data. Networks use it to upsample.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...demands import note_wider
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, PartialShape
from .. import conditions
from ..axes import MAX_RANK, sizes_of
from ..declaration import INTEGER, attribute, operand
from ..elementwise import common_type
from ..kinds import NATURALS
from ..lazy import Array
from ..tensors import Tensor
from ..windows import SAME, Frame, Sizes, check_per_axis, dilated, dimension_of
from .base import Convolving, channels_agree, grouped_channels, window_size
from .kernels import spread


class BackwardConvolution(Convolving):
    """The base class of transposed convolutions.

    Each pixel of `data`, multiplied by `filters`, is added to a window of the result. Strides,
    dilations and padding determine the position of the window.
    """

    output_shape = operand(INTEGER, rank=1, value=True, optional=True)
    output_padding: Sizes = attribute(NATURALS, default=None)

    def infer(self, data: Tensor, filters: Tensor, output_shape: Tensor | None) -> Tensor:
        element_type = common_type(data, filters)
        count = None
        if (
            output_shape is not None
            and output_shape.rank is not None
            and output_shape.shape[0].is_static
        ):
            count = output_shape.shape[0].low
        axes = self.spatial_axes(data.shape, filters.shape, count)
        if axes is None or axes > MAX_RANK:
            return Tensor(element_type, DYNAMIC_SHAPE)
        if count is not None:
            conditions.count(count, axes, at="output_shape")
        check_per_axis(self, axes)
        batch = DYNAMIC if data.rank is None else data.shape[0]
        channels = self.output_channels(data.shape, filters.shape)
        if count is None and output_shape is not None:
            note_wider()  # OpenVINO assumes that a list of unknown length is empty
            return Tensor(element_type, DYNAMIC_SHAPE)
        spatial = (
            self.spread_sizes(data.shape, filters.shape, axes)
            if output_shape is None
            else sizes_of(output_shape, "output_shape") or [DYNAMIC] * axes
        )
        return Tensor(element_type, (batch, channels, *spatial))

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """Returns the number of multiply-adds, including those that end up in removed padding."""
        return inputs[0].shape.size * window_size(inputs[1].shape, self.filter_lead - 1)

    def output_channels(self, data: PartialShape, filters: PartialShape) -> Dimension:
        raise NotImplementedError

    def spread_sizes(self, data: PartialShape, filters: PartialShape, axes: int) -> list[Dimension]:
        """Returns the spatial sizes that follow from `data`, `filters` and the attributes."""
        sizes = data[-axes:] if data.rank is not None else (DYNAMIC,) * axes
        kernel = filters[-axes:] if filters.rank is not None else (DYNAMIC,) * axes
        extra = self.output_padding or (0,) * axes
        dims = []
        for size, extent, stride, dilation, begin, end, more in zip(
            sizes, kernel, self.steps(axes), self.gaps(axes), *self.pads(axes), extra, strict=True
        ):
            span = (size - 1) * dimension_of(stride) + dilated(extent, dilation)
            dims.append(shifted(span, more - begin - end))
        return dims

    def placed(
        self, data: Array, filters: Array, output_shape: Array | None
    ) -> tuple[Frame, tuple[int, ...]]:
        """Returns the windows of the filters in the result, and the result's spatial sizes."""
        axes = data.ndim - 2
        shapes = PartialShape(data.shape), PartialShape(filters.shape)
        sizes = tuple(size.low for size in self.spread_sizes(*shapes, axes))
        begin, end = self.pads(axes)
        if output_shape is not None:
            wanted = tuple(map(int, output_shape.ravel()))
            if self.auto_pad in SAME:
                totals = [max(size - w, 0) for size, w in zip(sizes, wanted, strict=True)]
                upper = self.auto_pad == "same_upper"
                begin = tuple(t - t // 2 if upper else t // 2 for t in totals)
            sizes = wanted
        kernel = filters.shape[-axes:]
        return Frame(kernel, self.steps(axes), self.gaps(axes), begin, end), sizes


def shifted(dim: Dimension, number: int) -> Dimension:
    """Returns `dim + number`, where `number` < 0 removes padding.

    A negative lower bound becomes 0. As in OpenVINO, a negative upper bound becomes no upper bound.
    """
    low = max(dim.low + number, 0)
    high = UNBOUNDED if dim.high == UNBOUNDED or dim.high + number < 0 else dim.high + number
    interval = Dimension(low if dim.is_dynamic or high != UNBOUNDED else 0, high)
    return dim.followed(interval, lambda size: (size + number).maximum(0))


class ConvolutionBackpropData(BackwardConvolution):
    """Transposed convolution of `data` `[N, C, …]` with `filters` `[C, O, …]`.

    The spatial sizes of the result come from `output_shape` if present, else from the attributes.
    """

    since = 1

    def output_channels(self, data: PartialShape, filters: PartialShape) -> Dimension:
        channels_agree(data, filters, 0)
        return DYNAMIC if filters.rank is None else filters[1]

    def evaluate(self, data: Array, filters: Array, output_shape: Array | None = None) -> Array:
        frame, sizes = self.placed(data, filters, output_shape)
        return spread(data, filters[None], frame, sizes)


class GroupConvolutionBackpropData(BackwardConvolution):
    """Transposed convolution of groups of channels, each group with its own `filters`.

    `filters` have the shape `[groups, C, O, …]`.
    """

    since = 1
    filter_lead = 3

    def output_channels(self, data: PartialShape, filters: PartialShape) -> Dimension:
        return grouped_channels(data, filters, out_axis=2, in_axis=1)

    def evaluate(self, data: Array, filters: Array, output_shape: Array | None = None) -> Array:
        frame, sizes = self.placed(data, filters, output_shape)
        return spread(data, filters, frame, sizes)
