"""Shapes and counts that are given as inputs."""

from __future__ import annotations

from collections.abc import Iterator

from ...faults import Between, Fault, fault
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..tensors import MAX_VALUE_ELEMENTS, Tensor


def sizes(tensor: Tensor, *, longest: bool = False) -> PartialShape:
    """The shape that the elements of a vector stand for.

    Like OpenVINO it takes -1 for an unknown size, and any other negative number for 0.

    longest: a vector of unknown length is taken to have all the elements that it may have, as
    OpenVINO does, unless the length is followed by name.
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
    """What is wrong with sizes that are surely negative."""
    if tensor.value is not None and any(high < 0 for high in tensor.value.upper):
        seen = next(high for high in tensor.value.upper if high < 0)
        yield fault(at=name, relation="at least", expected=Between(0, None), actual=seen)
