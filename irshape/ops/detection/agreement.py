"""Constraints on axes that several inputs of detection operations share."""

from __future__ import annotations

from ...faults import Violation
from ..conditions import equal
from ..tensors import Tensor


def require_same(
    name: str, tensor: Tensor, axis: int, other: str, like: Tensor, like_axis: int
) -> None:
    """Raises `Violation` if axes of two inputs cannot have the same size.

    Inputs of dynamic rank pass.
    """
    if tensor.rank is not None and like.rank is not None:
        wanted = like.shape[like_axis]
        equal(tensor.shape[axis], wanted, at=name, axis=axis, of=other, given=like.shape)


def require_size(name: str, tensor: Tensor, axis: int, *wanted: int) -> None:
    """Raises `Violation` unless an axis of an input can have one of the sizes `wanted`."""
    if tensor.rank is None:
        return
    size = tensor.shape[axis]
    if len(wanted) == 1:
        equal(size, wanted[0], at=name, axis=axis)
    if not any(size.contains(number) for number in wanted):
        text = " or ".join(map(str, wanted))
        raise Violation(at=name, relation="equal", expected=text, actual=size, position=axis)
