"""Cumulative sums along an axis. The result has the shape of the input."""

from __future__ import annotations

from collections.abc import Iterator

from ...faults import Fault
from ..axes import normalized_axis, not_single, single
from ..conditions import doubted
from ..conversion import plain
from ..declaration import I32_I64, NUMERIC_OR_BOOLEAN, Operation, attribute, like, operand
from ..elementwise import computed
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor


class CumSum(Operation):
    """Cumulative sums along an axis.

    `exclusive` leaves each element out of its own sum; `reverse` sums from the end. `axis` is
    optional in the specification, but not in OpenVINO.
    """

    since = 3
    data = operand(NUMERIC_OR_BOOLEAN)
    axis = operand(I32_I64, value=True)
    result = like("data")
    exclusive: bool = attribute(BOOLEAN, default=False)
    reverse: bool = attribute(BOOLEAN, default=False)

    def check(self, data: Tensor, axis: Tensor) -> Iterator[Fault]:
        yield from not_single(axis)
        known = single(axis)
        if known is not None and data.rank is not None:
            yield from doubted(normalized_axis, known, data.rank, of_scalar=True)

    def evaluate(self, data: Array, axis: Array) -> Array:
        numbers = plain(data)
        along = normalized_axis(int(axis.reshape(-1)[0]), data.ndim, of_scalar=True)
        if not data.ndim:
            return np.zeros_like(data) if self.exclusive else data
        ordered = np.flip(numbers, along) if self.reverse else numbers
        total = np.cumsum(ordered, axis=along, dtype=numbers.dtype)
        if self.exclusive and data.shape[along]:
            total = np.roll(total, 1, along)
            total[(slice(None),) * along + (0,)] = 0
        return computed(np.flip(total, along) if self.reverse else total, data)
