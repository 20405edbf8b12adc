"""Forward convolutions, dense and grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..elementwise import common_type
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import check_per_axis
from . import depthwise
from .base import Convolving, channels_agree, grouped_channels, window_size
from .kernels import convolved


class ForwardConvolution(Convolving):
    """The base class of forward convolutions: each window of `data` gives a pixel of the result."""

    tolerated: ClassVar[tuple[str, ...]] = ("output_padding", "PrimitivesPriority")

    def infer(self, data: Tensor, filters: Tensor) -> Tensor:
        element_type = common_type(data, filters)
        axes = self.spatial_axes(data.shape, filters.shape)
        if axes is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        check_per_axis(self, axes)
        batch = DYNAMIC if data.rank is None else data.shape[0]
        channels = self.output_channels(data.shape, filters.shape)
        return Tensor(element_type, (batch, channels, *self.slid(data.shape, filters.shape, axes)))

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """Returns the number of multiply-adds, including products with padding."""
        return outputs[0].shape.size * window_size(inputs[1].shape, self.filter_lead - 1)

    def output_channels(self, data: PartialShape, filters: PartialShape) -> Dimension:
        raise NotImplementedError


class Convolution(ForwardConvolution):
    """Cross-correlation of `data` `[N, C, …]` with `filters` `[O, C, …]`.

    There are one, two or three spatial axes.
    """

    since = 1

    def output_channels(self, data: PartialShape, filters: PartialShape) -> Dimension:
        channels_agree(data, filters, 1)
        return DYNAMIC if filters.rank is None else filters[0]

    def evaluate(self, data: Array, filters: Array) -> Array:
        return convolved(data, filters[None], self.frame(data.shape[2:], filters.shape[2:]))

    def arranged(self, index: int, array: Array) -> Array:
        """Returns filters laid out as a matrix that has a row for each element of a patch."""
        if index != 1 or array.dtype.char not in "fd":
            return array
        rank = array.ndim
        by_element = array.transpose(*range(2, rank), 1, 0)
        if by_element.flags.c_contiguous:
            return array
        return np.ascontiguousarray(by_element).transpose(rank - 1, rank - 2, *range(rank - 2))


class GroupConvolution(ForwardConvolution):
    """Convolution of groups of channels, each group with its own `filters` `[groups, O, C, …]`."""

    since = 1
    filter_lead = 3

    def output_channels(self, data: PartialShape, filters: PartialShape) -> Dimension:
        return grouped_channels(data, filters, out_axis=1, in_axis=2)

    def evaluate(self, data: Array, filters: Array) -> Array:
        return convolved(data, filters, self.frame(data.shape[2:], filters.shape[3:]))

    def arranged(self, index: int, array: Array) -> Array:
        """Returns filters of one-channel groups, with the channels as the last axis in memory."""
        if index != 1 or array.shape[2] != 1 or array.dtype.char not in "fd":
            return array
        return depthwise.arranged(array)
