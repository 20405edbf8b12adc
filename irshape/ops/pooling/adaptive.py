"""Adaptive pooling, which divides each axis into as many windows as the output has elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...element_types import ElementType
from ...faults import Fault
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, PartialShape
from .. import conditions
from ..conversion import plain, real
from ..declaration import INTEGER, NUMERIC, NUMERIC_OR_BOOLEAN, Operation, attribute, operand
from ..elementwise import computed
from ..kinds import INDEX_TYPE
from ..lazy import Array, dtype_of, np
from ..movement.broadcasting import negative_sizes, wanted_dimensions
from ..tensors import Tensor
from .base import I64, Share, largest


class AdaptivePooling(Operation):
    """The base class of pooling to the spatial sizes in `output_shape`.

    Along an axis, window `i` goes from `floor(i·in/out)` to `ceil((i+1)·in/out)`.
    """

    data = operand(NUMERIC_OR_BOOLEAN, rank=(3, 4, 5))
    output_shape = operand(NUMERIC, specified=INTEGER, value=True)

    def pooled(self, data: PartialShape, output_shape: Tensor) -> PartialShape:
        if data.rank is None:
            return DYNAMIC_SHAPE
        axes = data.rank - 2
        conditions.rank(output_shape.rank, 1, at="output_shape")
        if output_shape.rank is not None:
            conditions.count(output_shape.shape[0], axes, at="output_shape")
        sizes = wanted_dimensions(output_shape) or (DYNAMIC,) * axes
        return PartialShape((*data[:2], *sizes))

    def check(self, data: Tensor, output_shape: Tensor) -> Iterator[Fault]:
        yield from negative_sizes(output_shape, "output_shape")


class AdaptiveAvgPool(AdaptivePooling):
    """The mean of each window."""

    since = 8

    def infer(self, data: Tensor, output_shape: Tensor) -> Tensor:
        return Tensor(data.element_type, self.pooled(data.shape, output_shape))

    def evaluate(self, data: Array, output_shape: Array) -> Array:
        total = real(data, wide=True)
        for axis, parts in enumerate(output_shape.ravel().tolist()):
            share = Share(data.shape[axis + 2], int(parts))
            before: tuple[Any, ...] = (slice(None),) * (axis + 2)
            means = [
                total[(*before, slice(start, end))].mean(axis=axis + 2)
                for start, end in zip(share.starts, share.ends, strict=True)
            ]
            total = np.stack(means, axis + 2)
        return computed(total, data)


class AdaptiveMaxPool(AdaptivePooling):
    """The largest element of each window, and its index among the elements of its channel."""

    since = 8
    leaves_nan_open = True
    index_element_type: ElementType = attribute(INDEX_TYPE, default=I64)

    def infer(self, data: Tensor, output_shape: Tensor) -> tuple[Tensor, Tensor]:
        shape = self.pooled(data.shape, output_shape)
        return Tensor(data.element_type, shape), Tensor(self.index_element_type, shape)

    def evaluate(self, data: Array, output_shape: Array) -> tuple[Array, Array]:
        values = plain(data)
        places = np.broadcast_to(
            np.arange(int(np.prod(data.shape[2:])), dtype=np.int64).reshape(data.shape[2:]),
            data.shape,
        )
        for axis, parts in reversed(list(enumerate(output_shape.ravel().tolist()))):
            share = Share(data.shape[axis + 2], int(parts))
            values, places = largest(values, places, axis + 2, share, share.parts)
        return computed(values, data), places.astype(dtype_of(self.index_element_type))
