"""What the inputs of a detection operation must agree in: sizes of axes, and one element type for all."""

from __future__ import annotations

from ...faults import require
from ...rule_ids import INPUT_SHAPES
from ...types import DYNAMIC, UNBOUNDED, Dimension
from ..tensors import Tensor


def require_same(
    what: str, name: str, tensor: Tensor, axis: int, other: str, like: Tensor, like_axis: int
) -> None:
    """An axis of one input must fit an axis of another; nothing is known where a rank is dynamic."""
    if tensor.rank is None or like.rank is None:
        return
    size, wanted = tensor.shape[axis], like.shape[like_axis]
    require(
        size.compatible(wanted),
        f"`{name}` {tensor.shape} has {size} {what} (axis {axis % len(tensor.shape)}), but `{other}` {like.shape} has {wanted} (axis {like_axis % len(like.shape)}); they must be equal",
        at=name,
        expected=wanted,
        actual=size,
        rule=INPUT_SHAPES,
    )


def require_size(what: str, name: str, tensor: Tensor, axis: int, *wanted: int) -> None:
    """An axis of an input must have one of these sizes."""
    if tensor.rank is None:
        return
    size = tensor.shape[axis]
    expected = " or ".join(map(str, wanted))
    require(
        any(size.contains(number) for number in wanted),
        f"axis {axis % len(tensor.shape)} of `{name}` holds {what}: expected size {expected}, but its shape is {tensor.shape}",
        at=name,
        expected=expected,
        actual=size,
        rule=INPUT_SHAPES,
    )


def require_boxes_and_scores(boxes: Tensor, scores: Tensor, coordinates: int = 4) -> None:
    """`boxes` [batches, boxes, coordinates] and `scores` [batches, classes, boxes] must fit each other."""
    require_same("batch items", "boxes", boxes, 0, "scores", scores, 0)
    require_same("boxes", "boxes", boxes, 1, "scores", scores, 2)
    require_size("the coordinates of a box", "boxes", boxes, 2, coordinates)


def merged(what: str, first: Dimension, second: Dimension, *, at: str) -> Dimension:
    """The sizes that both dimensions allow."""
    found = first.merge(second)
    require(
        found is not None,
        f"{what}: {first} in one input, {second} in another; they must be equal",
        at=at,
        expected=second,
        actual=first,
        rule=INPUT_SHAPES,
    )
    assert found is not None
    return found


def attribute_size(number: int) -> Dimension:
    """A size that an attribute gives; OpenVINO takes -1 for unknown and other negative numbers for 0."""
    return DYNAMIC if number == -1 else Dimension(min(max(number, 0), UNBOUNDED))
