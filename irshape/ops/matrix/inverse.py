"""Inverse of square matrices."""

from __future__ import annotations

from ..conditions import equal
from ..conversion import plain
from ..declaration import Operation, attribute, operand
from ..elementwise import FLOATING, computed
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor


class Inverse(Operation):
    """The inverse of the square matrices in the last two axes; NaN for a singular matrix.

    With `adjoint`, the result is the transposed inverse, as in OpenVINO 2026.4.
    """

    since = 14
    data = operand(FLOATING, shape=(..., "rows", "columns"))
    adjoint: bool = attribute(BOOLEAN, default=False)

    def infer(self, data: Tensor) -> Tensor:
        shape = data.shape
        if shape.rank is not None and shape[-1].is_static and shape[-2].is_static:
            equal(shape[-1], shape[-2], at="data", axis=shape.rank - 1)
        return Tensor(data.element_type, shape)

    def evaluate(self, data: Array) -> Array:
        numbers = plain(data)
        try:
            inverse = np.linalg.inv(numbers)
        except np.linalg.LinAlgError:  # one of the matrices is singular
            regular = np.linalg.det(numbers) != 0
            inverse = np.full_like(numbers, np.nan)
            inverse[regular] = np.linalg.inv(numbers[regular])
        return computed(inverse.swapaxes(-1, -2) if self.adjoint else inverse, data)
