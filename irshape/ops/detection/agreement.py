"""Constraints on axes that several inputs of detection operations share."""

from __future__ import annotations

from ...faults import require
from ...shapes import DYNAMIC, UNBOUNDED, Dimension
from ..tensors import Tensor


def require_same(
    what: str, name: str, tensor: Tensor, axis: int, other: str, like: Tensor, like_axis: int
) -> None:
    """Raises `Violation` if an axis of one input does not fit an axis of another.

    Inputs of dynamic rank pass.
    """
    if tensor.rank is None or like.rank is None:
        return
    size, wanted = tensor.shape[axis], like.shape[like_axis]
    require(
        size.agrees(wanted),
        f"`{name}` {tensor.shape} has {size} {what} (axis {axis % len(tensor.shape)}), "
        f"but `{other}` {like.shape} has {wanted} (axis {like_axis % len(like.shape)}); "
        "they must be equal",
        at=name,
        relation="equal",
        expected=wanted,
        actual=size,
    )


def require_size(what: str, name: str, tensor: Tensor, axis: int, *wanted: int) -> None:
    """Raises `Violation` unless an axis of an input can have one of the sizes `wanted`."""
    if tensor.rank is None:
        return
    size = tensor.shape[axis]
    expected = " or ".join(map(str, wanted))
    require(
        size.agrees(Dimension.of(wanted[0]))
        if len(wanted) == 1
        else any(size.contains(number) for number in wanted),
        f"axis {axis % len(tensor.shape)} of `{name}` contains {what}: expected size {expected}, "
        f"but its shape is {tensor.shape}",
        at=name,
        relation="equal",
        expected=expected,
        actual=size,
    )


def merged(what: str, first: Dimension, second: Dimension, *, at: str) -> Dimension:
    """Returns the sizes that both dimensions allow. Raises `Violation` if no size fits both."""
    both = first.merge(second)
    require(
        both is not None,
        f"{what}: {first} in one input, {second} in another; they must be equal",
        at=at,
        relation="equal",
        expected=second,
        actual=first,
    )
    assert both is not None
    return both


def attribute_size(number: int) -> Dimension:
    """Returns the dimension for a size from an attribute.

    As in OpenVINO, -1 means an unknown size and other negative numbers mean 0.
    """
    return DYNAMIC if number == -1 else Dimension(min(max(number, 0), UNBOUNDED))
