"""MaxPool: the largest element of each window, and its index."""

from __future__ import annotations

from collections.abc import Sequence

from ...element_types import ElementType
from ...rule_ids import ATTRIBUTE_VALUE
from ..axes import normalized_axis
from ..conversion import plain
from ..declaration import attribute
from ..elementwise import computed
from ..kinds import INT, NATURALS, TypeName
from ..lazy import Array, dtype_of, np
from ..tensors import Tensor
from ..windows import Sizes
from .base import I64, ROUNDING_TORCH, Pooling, largest, lowest


class MaxPool_1(Pooling):
    """The largest element of each window."""

    since = 1
    leaves_nan_open = True

    def evaluate(self, data: Array) -> Array:
        return self.largest_values(data)


class MaxPool_8(Pooling):
    """The largest element of each window, and its index in the data flattened from `axis` on."""

    since = 8
    leaves_nan_open = True
    dilations: Sizes = attribute(NATURALS, default=None)
    index_element_type: ElementType = attribute(TypeName("i32", "i64"), default=I64)
    axis: int = attribute(INT, default=0)

    def infer(self, data: Tensor) -> tuple[Tensor, Tensor]:
        if data.rank is not None:
            normalized_axis(self.axis, data.rank, rule=ATTRIBUTE_VALUE)
        shape = self.pooled(data.shape)
        return Tensor(data.element_type, shape), Tensor(self.index_element_type, shape)

    spares_outputs = True

    def evaluate(self, data: Array, wanted: Sequence[bool] = (True, True)) -> tuple[Array, Array]:
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
            )  # NaN is never the largest, and a window without a larger number has no index
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


class MaxPool_14(MaxPool_8):
    """The largest element of each window and its index. With `ceil_torch`, no window starts in the
    padding at the end."""

    since = 14
    rounding_type: str = attribute(ROUNDING_TORCH, default="floor")
