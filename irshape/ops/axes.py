"""Helpers for axes: negative axes, repeated axes, and the positions of selected elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from ..faults import Fault, Violation, fault
from ..rule_ids import (
    DUPLICATE_VALUES,
    INPUT_RANK,
    INPUT_SHAPES,
    INPUT_VALUE,
    OPERATION_CONSTRAINT,
    RuleId,
)
from ..shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..wording import in_words
from .conditions import at_least, distinct, doubted, out_of_range
from .tensors import Tensor


def normalized_axis(
    axis: int,
    rank: int,
    *,
    at: str = "axis",
    of: str = "data",
    rule: RuleId = INPUT_VALUE,
    of_scalar: bool = False,
) -> int:
    """Returns an axis counted from the front, e.g. 2 for axis -1 of a tensor of rank 3.

    Raises `Violation` if the axis is out of range.
    of_scalar: whether a scalar has the axes 0 and -1, as in OpenVINO.
    """
    if rank == 0 and not of_scalar:
        at = of if of != "result" else at
        raise out_of_range(axis, 0, at=at, of=of, rule=INPUT_RANK)
    count = rank or 1
    if not -count <= axis < count:
        raise out_of_range(axis, count, at=at, of=of, rule=rule)
    return axis % count


def single(tensor: Tensor) -> int | None:
    """Returns the value of a tensor of one element, or None if the value is unknown."""
    known = tensor.known
    return known[0] if known else None


def sizes_of(tensor: Tensor, at: str) -> list[Dimension]:
    """Returns the elements of a tensor as dimensions; an empty list if the value is unknown. Raises
    `Violation` for a negative size."""
    value = tensor.value
    if value is None:
        return []
    at_least(value.upper, 0, at=at)
    return [value.dimension(index) or DYNAMIC for index in range(len(value))]


def single_size(tensor: Tensor, at: str) -> Dimension:
    """Returns a tensor's only element as a dimension; `?` if unknown. Raises `Violation` if < 0."""
    sizes = sizes_of(tensor, at)
    return sizes[0] if len(sizes) == 1 else DYNAMIC


def not_single(tensor: Tensor, at: str = "axis") -> Iterator[Fault]:
    """Yields a fault if the tensor cannot have exactly one element. OpenVINO accepts the layer."""
    if not tensor.shape.size.contains(1):
        wanted = "a scalar or one element"
        yield fault(at=at, expected=wanted, actual=tensor.shape, rule=INPUT_SHAPES, accepted=True)


def require_single(tensor: Tensor, at: str = "axis") -> None:
    """Raises `Violation` if the tensor cannot be a scalar or a list of one element."""
    rank = tensor.rank
    if not (rank in (None, 0) or (rank == 1 and tensor.shape[0].contains(1))):
        raise Violation(
            at=at, expected="a scalar or one element", actual=tensor.shape, rule=INPUT_SHAPES
        )


def repeated(
    axes: Sequence[int] | None, rank: int | None = None, at: str = "axes"
) -> Iterator[Fault]:
    """Yields a fault for the first axis that occurs twice. OpenVINO accepts such a layer."""
    return doubted(distinct, axes or (), rank=rank, at=at, rule=DUPLICATE_VALUES, accepted=True)


def divided(
    size: Dimension, divisor: int, what: str, at: str, rule: RuleId = OPERATION_CONSTRAINT
) -> Dimension:
    """Returns `size / divisor`. Raises `Violation` if the size cannot be a multiple of the divisor.

    what: the size in words, for the message.
    """
    quotient = size.divided(divisor)
    if quotient is None:
        raise Violation(
            f"{what} is {size}, which cannot be divided by {divisor}",
            at=at,
            expected=f"a multiple of {divisor}",
            actual=size,
            rule=rule,
        )
    return quotient


MAX_RANK = 256
"""The largest rank inferred from the length of a list. Real shapes have fewer dimensions."""


def of_length(sizes: Tensor) -> PartialShape:
    """Returns a shape with as many dynamic dimensions as `sizes` has elements, if known."""
    count = sizes.shape[0] if sizes.rank == 1 else DYNAMIC
    return (
        PartialShape.of_rank(count.low)
        if count.is_static and count.low <= MAX_RANK
        else DYNAMIC_SHAPE
    )


def listed(numbers: Iterable[object]) -> str:
    """Returns numbers as text, with an ellipsis after the first 16."""
    return in_words(tuple(numbers))


def picked(
    sizes: Sequence[int], choices: Sequence[Iterable[int]], order: Sequence[int] | None = None
) -> list[int]:
    """Returns the row-major positions of the selected elements of a tensor.

    sizes: the shape of the tensor.
    choices: the selected indices along each axis.
    order: the order of the axes in the result, outermost first; by default 0, 1, 2 and so on.
    """
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    positions = [0]
    for axis in order if order is not None else range(len(sizes)):
        offsets = [index * steps[axis] for index in choices[axis]]
        positions = [position + offset for position in positions for offset in offsets]
    return positions
