"""Non-maximum suppression, which keeps the box with the best score among boxes that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...demands import note_wider
from ...element_types import ElementType
from ...shapes import DYNAMIC, UNBOUNDED, Dimension
from ..declaration import ANY, INTEGER, REAL, Operation, attribute, operand, types
from ..differences import EMPTY, Site, dimensions, facts, inferred
from ..kinds import BOOLEAN, INDEX_TYPE, Choice
from ..lazy import Array, dtype_of, np
from ..tensors import Tensor, Value
from ..windows import dimension_of
from .geometry import overlaps, rotated_overlaps

F32_F16_BF16 = types("f32 f16 bf16")
I64 = ElementType.of("i64")
F32 = ElementType.of("f32")


def capped(dim: Dimension, most: int = UNBOUNDED) -> Dimension:
    """Returns the upper bound of a dimension, at most `most`; `?` if there is no upper bound."""
    return DYNAMIC if dim.high == UNBOUNDED else Dimension(min(dim.high, most))


def least_of(one: Dimension, other: Dimension) -> Dimension:
    """Returns the smaller of two sizes, each a number or an expression such as `boxes`.

    Returns `?` if one of the sizes is an interval.
    """
    if not all(size.symbolic or size.is_static for size in (one, other)):
        return DYNAMIC
    named, size = (one, other) if one.symbolic else (other, one)
    most = size.expression if size.symbolic else size.low
    interval = Dimension(min(one.low, other.low), min(one.high, other.high))
    return named.followed(interval, lambda expression: expression.minimum(most))


def number(tensor: Array | None) -> Any:
    """Returns the only element of an optional input; 0 if the input is absent."""
    return 0 if tensor is None else tensor.ravel()[0]


def _open_suppression(site: Site) -> bool:
    """Returns whether the output has an upper bound although boxes or scores are dynamic."""
    output = dimensions(site.output)
    boxes, scores = dimensions(site.shape(0)), dimensions(site.shape(1))
    if not output or output[0] == Dimension(0, UNBOUNDED):
        return False
    if len(boxes) < 2 or len(scores) < 2:
        return True
    if site.since == 1:
        return any(size.is_dynamic for size in (*boxes, *scores))
    needed = (boxes[1], *scores[site.since == 3 : 2])
    return any(size.is_unbounded if site.since > 4 else size.is_dynamic for size in needed)


class BoxSuppression(Operation):
    """The base class of all versions. The inputs are boxes, scores for each class, and thresholds.

    Every class of every batch item is processed separately.
    """

    differs = facts(
        inferred(
            "2023.1",
            "a NonMaxSuppression of dynamic boxes or scores",
            "infers a less specific shape",
            _open_suppression,
            hides=EMPTY,
        ),
    )

    boxes = operand(ANY, shape=("batch", "num_boxes", 4))
    scores = operand(ANY, shape=("batch", "classes", "num_boxes"))
    max_output_boxes_per_class = operand(ANY, specified=INTEGER, rank=0, optional=True, value=True)
    iou_threshold = operand(ANY, rank=0, optional=True)
    score_threshold = operand(ANY, rank=0, optional=True)
    sort_result_descending: bool = attribute(BOOLEAN, default=True)
    soft_within_threshold: ClassVar[bool] = False
    """Whether `soft_nms_sigma` lowers only scores of boxes that overlap by up to `iou_threshold`.
    Boxes that overlap by more are then dropped."""

    def select(
        self,
        boxes: Array,
        scores: Array,
        overlap: Callable[[Array, Array], Array],
        limit: Array | None,
        iou_threshold: Array | None,
        score_threshold: Array | None,
        soft_nms_sigma: Array | None = None,
    ) -> tuple[Array, Array]:
        """Returns the kept boxes as triplets [batch item, class, box], and their scores."""
        most, sigma = max(int(number(limit)), 0), np.float32(number(soft_nms_sigma))
        iou, least = np.float32(number(iou_threshold)), np.float32(number(score_threshold))
        triplets: list[tuple[int, int, int]] = []
        kept: list[float] = []
        for item, label in np.ndindex(scores.shape[:2]):
            faded = scores[item, label].astype(np.float32)
            left = np.flatnonzero(faded > least)
            for _ in range(min(most, left.size)):
                if not left.size:
                    break
                best = int(left[np.argmax(faded[left])])
                triplets.append((item, label, best))
                kept.append(faded[best])
                left = left[left != best]
                common = overlap(boxes[item, best], boxes[item, left])
                if sigma > 0:
                    factors = np.exp(np.float32(-0.5) / sigma * common * common)
                    factors[(common > iou) & self.soft_within_threshold] = 0
                    faded[left] *= factors
                    left = left[faded[left] > least]
                else:
                    left = left[~(common > iou)]
        rows = np.array(triplets, dtype=np.int64).reshape(-1, 3)
        kept_scores = np.array(kept, dtype=np.float32)
        if self.sort_result_descending:
            order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0], -kept_scores))
            return rows[order], kept_scores[order]
        return rows, kept_scores


class NonMaxSuppression_1(BoxSuppression):
    """Drops boxes that overlap better boxes. Returns the kept boxes as [batch item, class, box].

    Rows of -1 fill the result to min(boxes, max_output_boxes_per_class * classes) rows. The CPU
    plugin adds no such rows, and can return more rows for several batch items.
    """

    since = 1
    box_encoding: str = attribute(Choice("corner", "center"), default="corner")
    output_type: ElementType = I64

    def infer(
        self, boxes: Tensor, scores: Tensor, limit: Tensor | None, *thresholds: Tensor | None
    ) -> Tensor | tuple[Tensor, ...]:
        return Tensor(self.output_type, [self.rows(boxes, scores, limit), 3])

    def rows(self, boxes: Tensor, scores: Tensor, limit: Tensor | None) -> Dimension:
        if boxes.rank is None:
            return DYNAMIC
        classes = DYNAMIC if scores.rank is None else scores.shape[1]
        most = limit_of(limit) * classes
        if scores.rank is None and most.is_dynamic:
            note_wider()  # OpenVINO treats an unknown number of classes as 1
        return least_of(boxes.shape[1], most)

    def evaluate(
        self, boxes: Array, scores: Array, limit: Array | None, *thresholds: Array | None
    ) -> Any:
        indices, _ = self.select(self.corners(boxes), scores, overlaps, limit, *thresholds)
        most = Tensor(I64, (), Value([max(int(number(limit)), 0)]))
        rows = self.rows(Tensor(F32, boxes.shape), Tensor(F32, scores.shape), most).low
        filled = np.full((rows, 3), -1, dtype=dtype_of(self.output_type))
        filled[: len(indices)] = indices[:rows]
        return filled

    def corners(self, boxes: Array) -> Array:
        """Returns boxes as two corners; the corner with the lower coordinates comes first."""
        boxes = boxes.astype(np.float32)
        first, second = boxes[..., :2], boxes[..., 2:]
        if self.box_encoding == "center":
            return np.concatenate([first - second / 2, first + second / 2], axis=-1)
        return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def limit_of(limit: Tensor | None) -> Dimension:
    """Returns `max_output_boxes_per_class` as a dimension; 0 if the input is absent.

    As in OpenVINO, -1 means an unknown number, and other negative numbers mean 0.
    """
    if limit is None:
        return Dimension(0)
    return dimension_of(limit.known[0]) if limit.known else DYNAMIC


class NonMaxSuppression_3(NonMaxSuppression_1):
    """Like NonMaxSuppression-1, but `output_type` selects the type of the indices."""

    since = 3
    output_type: ElementType = attribute(INDEX_TYPE, default=I64)


class NonMaxSuppression_4(NonMaxSuppression_3):
    """Like NonMaxSuppression-3, but with a different number of rows.

    There are min(boxes, max_output_boxes_per_class) rows for each class of each batch item.
    """

    since = 4

    def rows(self, boxes: Tensor, scores: Tensor, limit: Tensor | None) -> Dimension:
        if boxes.rank is None or scores.rank is None or (limit is not None and not limit.known):
            return DYNAMIC
        if boxes.shape[1].is_dynamic and not boxes.shape[1].symbolic:
            return DYNAMIC
        rows = least_of(boxes.shape[1], limit_of(limit)) * scores.shape[0] * scores.shape[1]
        if rows.is_dynamic and rows.high < UNBOUNDED and not rows.symbolic:
            note_wider()  # OpenVINO uses the upper bounds of batch and classes as sizes
        return rows


class NonMaxSuppression_5(NonMaxSuppression_4):
    """Like NonMaxSuppression-4, but without padding. Also returns scores and the number of boxes.

    If `soft_nms_sigma` is above 0, boxes that overlap by up to `iou_threshold` get lower scores.
    """

    since = 5
    soft_within_threshold = True
    boxes = operand(F32_F16_BF16, shape=("batch", "num_boxes", 4))
    scores = operand(F32_F16_BF16, shape=("batch", "classes", "num_boxes"))
    max_output_boxes_per_class = operand(
        ANY, specified=INTEGER, rank=(0, 1), single=True, optional=True, value=True
    )
    iou_threshold = operand(F32_F16_BF16, rank=(0, 1), single=True, optional=True)
    score_threshold = operand(F32_F16_BF16, rank=(0, 1), single=True, optional=True)
    soft_nms_sigma = operand(F32_F16_BF16, rank=(0, 1), single=True, optional=True)

    def infer(
        self, boxes: Tensor, scores: Tensor, limit: Tensor | None, *thresholds: Tensor | None
    ) -> tuple[Tensor, ...]:
        return selected(self.output_type, boxes, scores, limit)

    def evaluate(
        self, boxes: Array, scores: Array, limit: Array | None, *thresholds: Array | None
    ) -> Any:
        chosen = self.select(self.corners(boxes), scores, overlaps, limit, *thresholds)
        return as_outputs(self.output_type, *chosen)


class NonMaxSuppression_9(NonMaxSuppression_5):
    """Like NonMaxSuppression-5, but `soft_nms_sigma` lowers scores beyond `iou_threshold`, too.

    If `soft_nms_sigma` is above 0, only `score_threshold` drops boxes.
    """

    since = 9
    soft_within_threshold = False


def selected(
    output_type: ElementType, boxes: Tensor, scores: Tensor, limit: Tensor | None
) -> tuple[Tensor, ...]:
    """Returns the types and shapes of the outputs: kept boxes, their scores, and their number."""
    rows = DYNAMIC
    if boxes.rank is not None and scores.rank is not None:
        known, most = limit.known if limit is not None else None, boxes.shape[1].high
        if most < UNBOUNDED and known and known[0] >= 0:
            rows = Dimension(0, min(most, known[0]))
        if not (known and known[0] < -1):
            rows = rows * capped(scores.shape[0]) * capped(scores.shape[1])
    return Tensor(output_type, [rows, 3]), Tensor(F32, [rows, 3]), Tensor(output_type, [1])


def as_outputs(
    output_type: ElementType, indices: Array, scores: Array
) -> tuple[Array, Array, Array]:
    """Returns rows [batch item, class, box], rows [batch item, class, score], and their number."""
    integer = dtype_of(output_type)
    scored = np.concatenate([indices[:, :2].astype(np.float32), scores[:, None]], axis=1)
    return indices.astype(integer), scored, np.array([len(indices)], dtype=integer)


class NMSRotated(BoxSuppression):
    """Drops overlapping boxes, given as [center x, center y, width, height, angle in radians]."""

    since = 13
    differs = facts()
    boxes = operand(REAL, shape=("batch", "num_boxes", 5))
    scores = operand(REAL, shape=("batch", "classes", "num_boxes"))
    max_output_boxes_per_class = operand(INTEGER, rank=(0, 1), single=True, value=True)
    iou_threshold = operand(REAL, rank=(0, 1), single=True)
    score_threshold = operand(REAL, rank=(0, 1), single=True)
    output_type: ElementType = attribute(INDEX_TYPE, default=I64)
    clockwise: bool = attribute(BOOLEAN, default=True)

    def infer(
        self, boxes: Tensor, scores: Tensor, limit: Tensor, *thresholds: Tensor
    ) -> tuple[Tensor, ...]:
        return selected(self.output_type, boxes, scores, limit)

    def evaluate(
        self, boxes: Array, scores: Array, limit: Array, *thresholds: Array
    ) -> tuple[Array, Array, Array]:
        turned = boxes.astype(np.float32) * np.float32([1, 1, 1, 1, 1 if self.clockwise else -1])
        chosen = self.select(turned, scores, rotated_overlaps, limit, *thresholds)
        return as_outputs(self.output_type, *chosen)
