"""Convolution of binary data with binary filters."""

from __future__ import annotations

from ..conversion import plain
from ..declaration import NUMERIC, NUMERIC_OR_BOOLEAN, attribute, operand
from ..elementwise import computed
from ..kinds import FLOAT, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import padded
from .forward import Convolution
from .kernels import convolved


class BinaryConvolution(Convolution):
    """Convolution of zeros and ones, where 0 stands for -1.

    Padding is `pad_value` if that is 0 or 1, as in OpenVINO's CPU plugin; otherwise padding is -1.
    """

    since = 1
    data = operand(NUMERIC, rank=4)
    filters = operand(NUMERIC_OR_BOOLEAN)
    tolerated = ()
    mode: str = attribute(Choice("xnor-popcount"), default="xnor-popcount", required=True)
    pad_value: float = attribute(FLOAT, default=0.0, required=True)

    def infer(self, data: Tensor, filters: Tensor) -> Tensor:
        return Tensor(data.element_type, super().infer(data, filters).shape)

    def evaluate(self, data: Array, filters: Array) -> Array:
        frame = self.frame(data.shape[2:], filters.shape[2:])
        signs, weights = (
            np.where(plain(bits) == 1, 1, -1).astype(np.float32) for bits in (data, filters)
        )
        padding = self.pad_value if self.pad_value in (0, 1) else -1
        area = padded(signs, frame.pads_begin, frame.pads_end, padding)
        unpadded = frame._replace(pads_begin=(0, 0), pads_end=(0, 0))
        return computed(convolved(area, weights[None], unpadded), data)
