"""Convolution of binary data with binary filters."""

from __future__ import annotations

from collections.abc import Sequence

from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension
from ..conversion import plain
from ..declaration import NUMERIC, NUMERIC_OR_BOOLEAN, attribute, operand
from ..elementwise import computed
from ..kinds import FLOAT, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import check_per_axis, padded
from .base import Sliding, channels_agree, window_size
from .kernels import convolved


class BinaryConvolution(Sliding):
    """Convolution of zeros and ones, which mean -1 and 1.

    Padding is `pad_value` if this is 0 or 1, as in OpenVINO's CPU plugin; otherwise it is -1.
    """

    since = 1
    data = operand(NUMERIC, rank=4)
    filters = operand(NUMERIC_OR_BOOLEAN)
    mode: str = attribute(Choice("xnor-popcount"), default="xnor-popcount", required=True)
    pad_value: float = attribute(FLOAT, default=0.0, required=True)

    def infer(self, data: Tensor, filters: Tensor) -> Tensor:
        axes = self.spatial_axes(data.shape, filters.shape)
        if axes is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        check_per_axis(self, axes)
        channels_agree(data.shape, filters.shape, 1)
        batch = DYNAMIC if data.rank is None else data.shape[0]
        channels = DYNAMIC if filters.rank is None else filters.shape[0]
        return Tensor(
            data.element_type, (batch, channels, *self.slid(data.shape, filters.shape, axes))
        )

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        return outputs[0].shape.size * window_size(inputs[1].shape, 1)

    def evaluate(self, data: Array, filters: Array) -> Array:
        frame = self.frame(data.shape[2:], filters.shape[2:])
        signs, weights = (
            np.where(plain(bits) == 1, 1, -1).astype(np.float32) for bits in (data, filters)
        )
        padding = self.pad_value if self.pad_value in (0, 1) else -1
        area = padded(signs, frame.pads_begin, frame.pads_end, padding)
        unpadded = frame._replace(pads_begin=(0, 0), pads_end=(0, 0))
        return computed(convolved(area, weights[None], unpadded), data)
