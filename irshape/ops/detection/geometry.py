"""Boxes as arrays: their overlap, and the greedy selection of non-maximum suppression."""

from __future__ import annotations

from collections.abc import Callable

from ..lazy import Array, np


def overlaps(box: Array, boxes: Array, margin: float = 0.0) -> Array:
    """Returns the intersection over union of `box` and each of `boxes`, as [x1, y1, x2, y2].

    The result is 0 if an area is not positive. The length of a side is the difference of
    coordinates plus `margin`, which is 1 for pixels.
    """
    margin = np.float32(margin)
    sides = boxes[:, 2:] - boxes[:, :2] + margin
    areas = sides[:, 0] * sides[:, 1]
    side = box[2:] - box[:2] + margin
    area = side[0] * side[1]
    common = np.maximum(
        np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2]) + margin,
        np.float32(0),
    )
    shared = common[:, 0] * common[:, 1]
    return np.where((areas > 0) & (area > 0), shared / (areas + area - shared), np.float32(0))


def touching_overlaps(box: Array, boxes: Array, margin: float = 0.0) -> Array:
    """Like `overlaps`, but returns 0 for boxes that would not overlap without the margin.

    A box with swapped corners has the area 0. For two boxes of area 0, the result is NaN.
    """
    margin = np.float32(margin)
    apart = (boxes[:, :2] > box[2:]).any(axis=1) | (boxes[:, 2:] < box[:2]).any(axis=1)
    common = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2]) + margin
    shared = common[:, 0] * common[:, 1]
    both = np.concatenate([boxes, box[None]])
    sides = both[:, 2:] - both[:, :2]
    areas = (sides[:, 0] + margin) * (sides[:, 1] + margin)
    areas = np.where((sides < 0).any(axis=1), np.float32(0), areas)
    return np.where(apart, np.float32(0), shared / (areas[:-1] + areas[-1] - shared))


def moved(boxes: Array, deltas: Array, margin: float = 0.0) -> Array:
    """Returns boxes shifted by deltas 0 and 1 times their sides, and scaled by exp(deltas 2 and 3).

    The length of a side is the difference of coordinates plus `margin`.
    """
    sides = boxes[..., 2:] - boxes[..., :2] + np.float32(margin)
    centers = deltas[..., :2] * sides + boxes[..., :2] + np.float32(0.5) * sides
    halves = np.float32(0.5) * np.exp(deltas[..., 2:]) * sides
    return np.concatenate([centers - halves, centers + halves], axis=-1)


def within(boxes: Array, height: Array, width: Array) -> Array:
    """Returns boxes clipped to an image of this height and width."""
    return np.clip(boxes, np.float32(0), np.stack([width, height, width, height]))


def descending(scores: Array) -> Array:
    """Returns the positions of scores in descending order. Equal scores keep their order."""
    return np.argsort(-scores, kind="stable")


def greedy(
    order: Array,
    boxes: Array,
    threshold: float,
    *,
    limit: int | None = None,
    overlap: Callable[[Array, Array], Array] = overlaps,
    eta: float = 1.0,
) -> list[int]:
    """Returns `order` without boxes that overlap an earlier kept box by more than `threshold`.

    At most `limit` boxes are kept. After each, a threshold above 0.5 is multiplied by `eta`.
    """
    threshold = np.float32(threshold)
    kept: list[int] = []
    while order.size and (limit is None or len(kept) < limit):
        best, order = int(order[0]), order[1:]
        kept.append(best)
        if eta < 1 and threshold > 0.5:
            threshold *= np.float32(eta)
        order = order[~(overlap(boxes[best], boxes[order]) > threshold)]
    return kept


def rotated_corners(boxes: Array) -> Array:
    """Returns the corners of boxes given as center, width, height and angle."""
    cos, sin = np.cos(boxes[:, 4]), np.sin(boxes[:, 4])
    across = boxes[:, 2:3] / 2 * np.array([1, -1, -1, 1])
    down = boxes[:, 3:4] / 2 * np.array([1, 1, -1, -1])
    x = boxes[:, :1] + across * cos[:, None] - down * sin[:, None]
    y = boxes[:, 1:2] + across * sin[:, None] + down * cos[:, None]
    return np.stack([x, y], axis=-1)


def rotated_overlaps(box: Array, boxes: Array) -> Array:
    """Returns the intersection over union of a rotated box with each of `boxes`.

    The corners of an intersection are the points where sides of the two boxes cross, and the
    corners of each box that lie inside the other.
    """
    a = np.broadcast_to(rotated_corners(box[None].astype(np.float64)), (len(boxes), 4, 2))
    b = rotated_corners(boxes.astype(np.float64))
    points, present = _crossings(a, b)
    points = np.concatenate([points, a, b], axis=1)
    present = np.concatenate([present, _inside(a, b), _inside(b, a)], axis=1)
    count = np.maximum(present.sum(axis=1, keepdims=True), 1)
    middle = np.where(present[..., None], points, 0).sum(axis=1, keepdims=True) / count[..., None]
    points = np.where(present[..., None], points - middle, 0)
    turn = np.argsort(np.where(present, np.arctan2(points[..., 1], points[..., 0]), np.inf), axis=1)
    ring = np.take_along_axis(points, turn[..., None], axis=1)
    # absent points are last, at the middle; they repeat the first point, as a ring through the
    # middle would cut off the last side
    absent = ~np.take_along_axis(present, turn, axis=1)
    ring = np.where(absent[..., None], ring[:, :1], ring)
    following = np.roll(ring, -1, axis=1)
    crosses = ring[..., 0] * following[..., 1] - ring[..., 1] * following[..., 0]
    shared = np.abs(crosses.sum(axis=1)) / 2
    areas, area = boxes[:, 2].astype(np.float64) * boxes[:, 3], float(box[2]) * float(box[3])
    overlap = np.where((areas > 0) & (area > 0), shared / (areas + area - shared), 0)
    return overlap.astype(np.float32)


def _crossings(a: Array, b: Array) -> tuple[Array, Array]:
    """Returns the points where sides of two quadrangles can meet, and whether each point exists."""
    along, other = np.roll(a, -1, axis=1) - a, np.roll(b, -1, axis=1) - b
    between = b[:, None, :, :] - a[:, :, None, :]
    cross = (
        along[:, :, None, 0] * other[:, None, :, 1] - along[:, :, None, 1] * other[:, None, :, 0]
    )
    flat = np.where(np.abs(cross) > 1e-14, cross, np.inf)
    t = (between[..., 0] * other[:, None, :, 1] - between[..., 1] * other[:, None, :, 0]) / flat
    u = (between[..., 0] * along[:, :, None, 1] - between[..., 1] * along[:, :, None, 0]) / flat
    crosses = np.isfinite(flat) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    points = a[:, :, None, :] + t[..., None] * along[:, :, None, :]
    return points.reshape(len(a), 16, 2), crosses.reshape(len(a), 16)


def _inside(points: Array, box: Array) -> Array:
    """Returns whether each of four points lies in a rectangle or on its border."""
    corner = box[:, :1]
    result = np.ones(points.shape[:2], dtype=bool)
    for side in (box[:, 1:2] - corner, box[:, 3:4] - corner):
        along = ((points - corner) * side).sum(axis=-1)
        length = (side * side).sum(axis=-1)
        result &= (along >= -1e-9 * length) & (along <= length * (1 + 1e-9))
    return result
