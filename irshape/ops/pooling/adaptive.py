"""Adaptive pooling, which divides each axis into as many windows as the output has elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...element_types import ElementType
from ...faults import Between, Fault, fault, require
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, PartialShape
from ..conversion import plain
from ..declaration import INTEGER, NUMERIC, NUMERIC_OR_BOOLEAN, Operation, attribute, operand
from ..elementwise import computed
from ..kinds import INDEX_TYPE
from ..lazy import Array, np
from ..movement.broadcasting import wanted_dimensions
from ..tensors import Tensor
from .base import I64, Share, largest


class AdaptivePooling(Operation):
    """Pooling to the spatial sizes in `output_shape`. Window `i` of an axis goes from
    `floor(i·in/out)` to `ceil((i+1)·in/out)`.
    """

    data = operand(NUMERIC_OR_BOOLEAN, rank=(3, 4, 5))
    output_shape = operand(NUMERIC, specified=INTEGER, value=True)

    def pooled(self, data: PartialShape, output_shape: Tensor) -> PartialShape:
        if data.rank is None:
            return DYNAMIC_SHAPE
        axes, given = data.rank - 2, output_shape.rank
        require(given in (None, 1), at="output_shape", relation="rank", expected=1, actual=given)
        count = DYNAMIC if given is None else output_shape.shape[0]
        require(
            count.contains(axes),
            f"`output_shape` has {count} elements, but `data` {data} has {axes} spatial axes; it "
            "gives the size of each spatial axis, without batch and channels",
            at="output_shape",
            relation="count",
            expected=axes,
            actual=count,
        )
        sizes = wanted_dimensions(output_shape) or (DYNAMIC,) * axes
        return PartialShape((*data[:2], *sizes))

    def check(self, data: Tensor, output_shape: Tensor) -> Iterator[Fault]:
        for size in output_shape.known or ():
            if size < 0:
                yield fault(
                    at="output_shape", relation="at least", expected=Between(0, None), actual=size
                )


class AdaptiveAvgPool(AdaptivePooling):
    """The mean of each window."""

    since = 8

    def infer(self, data: Tensor, output_shape: Tensor) -> Tensor:
        return Tensor(data.element_type, self.pooled(data.shape, output_shape))

    def evaluate(self, data: Array, output_shape: Array) -> Array:
        numbers = plain(data)
        total = numbers if numbers.dtype.kind == "f" else numbers.astype(np.float64)
        for axis, parts in enumerate(output_shape.ravel().tolist()):
            share = Share(data.shape[axis + 2], int(parts))
            before: tuple[Any, ...] = (slice(None),) * (axis + 2)
            behind = (1,) * (data.ndim - axis - 3)
            lengths = share.ends - share.starts
            result = np.zeros(
                (*total.shape[: axis + 2], share.parts, *total.shape[axis + 3 :]), total.dtype
            )
            for at in range(share.kernel):
                result += total[(*before, share.met(at))] * (at < lengths).reshape(-1, *behind)
            total = result / lengths.astype(total.dtype).reshape(-1, *behind)
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
        from ...numpy_types import dtype_of

        values = plain(data)
        places = np.broadcast_to(
            np.arange(int(np.prod(data.shape[2:])), dtype=np.int64).reshape(data.shape[2:]),
            data.shape,
        )
        for axis, parts in reversed(list(enumerate(output_shape.ravel().tolist()))):
            share = Share(data.shape[axis + 2], int(parts))
            values, places = largest(values, places, axis + 2, share, share.parts)
        return computed(values, data), places.astype(dtype_of(self.index_element_type))
