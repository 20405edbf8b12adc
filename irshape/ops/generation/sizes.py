"""Reads shapes and counts from inputs."""

from __future__ import annotations

from collections.abc import Iterator

from ...faults import Between, Fault, fault
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..tensors import MAX_VALUE_ELEMENTS, Tensor


def sizes(tensor: Tensor, *, longest: bool = False) -> PartialShape:
    """Returns the shape that the elements of a vector describe.

    As in OpenVINO, -1 is an unknown size, and any other negative number is 0.

    longest: whether a vector of unknown length is assumed to have the largest possible length, as
        in OpenVINO, unless the length is an expression of named sizes.
    """
    if tensor.value is not None:
        values = tensor.value
        return PartialShape(
            values.dimension(i) or (DYNAMIC if values.upper[i] == -1 else Dimension(0))
            for i in range(len(values))
        )
    count = None if tensor.rank is None else tensor.shape[0]
    if count is None or count.high > MAX_VALUE_ELEMENTS:
        return DYNAMIC_SHAPE
    known = count.is_static or (longest and not count.symbolic)
    return PartialShape.of_rank(count.high) if known else DYNAMIC_SHAPE


def negative_sizes(tensor: Tensor, name: str) -> Iterator[Fault]:
    """Yields a fault where a size is certainly negative."""
    if tensor.value is not None and any(high < 0 for high in tensor.value.upper):
        seen = next(high for high in tensor.value.upper if high < 0)
        yield fault(at=name, relation="at least", expected=Between(0, None), actual=seen)
