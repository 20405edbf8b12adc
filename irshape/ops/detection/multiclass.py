"""Non-maximum suppression over all classes of an image.

MatrixNms lowers the scores of overlapping boxes; MulticlassNms drops these boxes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ...element_types import ElementType
from ...faults import require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_RANK
from ...shapes import DYNAMIC, UNBOUNDED, Dimension
from ..conditions import at_least, rank
from ..declaration import I32_I64, Operation, attribute, between, operand
from ..differences import Site, facts, refused
from ..kinds import BOOLEAN, FLOAT, INDEX_TYPE, INT, Choice
from ..lazy import Array, dtype_of, np
from ..tensors import Tensor
from .agreement import require_same
from .geometry import descending, greedy, overlaps, touching_overlaps
from .nms import F32_F16_BF16, I64, capped


class DetectionSuppression(Operation):
    """The base class of MatrixNms and MulticlassNms.

    Boxes are selected for each class, and the best of all classes are kept for each image. The rows
    of the result are [class, score, x1, y1, x2, y2].
    """

    boxes = operand(F32_F16_BF16, shape=("batch", "num_boxes", 4))
    scores = operand(F32_F16_BF16, shape=("batch", "classes", "num_boxes"), like="boxes")
    sort_result_type: str = attribute(Choice("classid", "score", "none"), default="none")
    sort_result_across_batch: bool = attribute(BOOLEAN, default=False)
    output_type: ElementType = attribute(INDEX_TYPE, default=I64)
    score_threshold: float = attribute(FLOAT, default=0.0)
    nms_top_k: int = attribute(INT, default=-1)
    keep_top_k: int = attribute(INT, default=-1)
    background_class: int = attribute(INT, default=-1)
    normalized: bool = attribute(BOOLEAN, default=True)

    # not declared: MatrixNms does not check them while the rank of `boxes` is unknown
    def require_counts(self) -> None:
        for name in ("nms_top_k", "keep_top_k", "background_class"):
            seen = getattr(self, name)
            at_least(seen, -1, at=name, rule=ATTRIBUTE_VALUE)

    def outputs(self, boxes: Tensor, rows: Dimension, images: Dimension) -> tuple[Tensor, ...]:
        rows = Dimension(0, rows.high)
        return (
            Tensor(boxes.element_type, [rows, 6]),
            Tensor(self.output_type, [rows, 1]),
            Tensor(self.output_type, [images]),
        )

    def ranked(self, scores: Array, candidates: Array) -> Array:
        """Returns the indices of the `nms_top_k` best boxes for which `candidates` is true."""
        places = np.flatnonzero(candidates)
        return places[descending(scores[places])][: None if self.nms_top_k < 0 else self.nms_top_k]

    def choose(self, boxes: Array, scores: Array) -> tuple[Array, Array]:
        """Returns the indices of the kept boxes of one class, and their scores."""
        raise NotImplementedError

    def collect(self, images: list[tuple[Array, Array]]) -> tuple[list[Array], Array, Array, Array]:
        """Returns the detections of several images. An image has boxes and scores for each class.

        Four results: the images, classes and boxes of all detections, in final order; their scores;
        rows [image, class, box]; and the number of detections in each image.
        """
        places = [np.empty((0, 3), np.int64)]
        scores = [np.empty(0, np.float32)]
        for image, (class_boxes, class_scores) in enumerate(images):
            parts = [
                (label, *self.choose(class_boxes[label], class_scores[label]))
                for label in range(len(class_scores))
                if label != self.background_class
            ]
            place = np.array(
                [(image, label, int(index)) for label, indices, _ in parts for index in indices],
                dtype=np.int64,
            ).reshape(-1, 3)
            score = np.concatenate([np.empty(0, np.float32), *(kept for _, _, kept in parts)])
            order = np.lexsort((place[:, 2], place[:, 1], -score))
            if self.keep_top_k > -1:
                order = order[: self.keep_top_k]
            places.append(place[order])
            scores.append(score[order])
        rows, ranked = np.concatenate(places), np.concatenate(scores)
        order = self.final_order(rows, ranked)
        image, label, box = rows[order].T
        counts = np.array([len(place) for place in places[1:]])
        return [image, label, box], ranked[order], rows[order], counts

    def final_order(self, rows: Array, scores: Array) -> Array:
        """Returns the order of rows [image, class, box] that `sort_result_type` requires."""
        image, label, box = rows.T
        if self.sort_result_type == "classid":
            if self.sort_result_across_batch:
                return np.lexsort((box, -scores, image, label))
            return np.lexsort((box, -scores, label, image))
        if self.sort_result_type == "score" and self.sort_result_across_batch:
            return np.lexsort((box, label, image, -scores))
        return np.arange(len(rows))

    def as_outputs(
        self, boxes: Array, label: Array, scores: Array, chosen: Array, flat: Array, counts: Array
    ) -> tuple[Array, Array, Array]:
        """Returns the layer's outputs. `flat`: the position of each chosen box in the input."""
        integer = dtype_of(self.output_type)
        columns = [label[:, None].astype(np.float32), scores[:, None], chosen.reshape(-1, 4)]
        rows = np.concatenate(columns, axis=1).astype(boxes.dtype)
        return rows, flat.reshape(-1, 1).astype(integer), counts.astype(integer)

    def of_shared_boxes(self, boxes: Array, scores: Array) -> tuple[Array, Array, Array]:
        """Returns the outputs of the layer if all classes of an image have the same boxes."""
        wide = boxes.astype(np.float32)
        images = [
            (np.broadcast_to(image_boxes, (len(class_scores), *image_boxes.shape)), class_scores)
            for image_boxes, class_scores in zip(wide, scores.astype(np.float32), strict=True)
        ]
        (image, label, box), kept, _, counts = self.collect(images)
        flat = image * boxes.shape[1] + box
        return self.as_outputs(boxes, label, kept, wide[image, box], flat, counts)


class MatrixNms(DetectionSuppression):
    """Lowers the score of each box as much as it overlaps with all boxes of higher scores.

    Specification: MatrixNms-8 (MatrixNonMaxSuppression-8).
    """

    since = 8
    decay_function: str = attribute(Choice("gaussian", "linear"), default="linear")
    gaussian_sigma: float = attribute(FLOAT, default=2.0)
    post_threshold: float = attribute(FLOAT, default=0.0)

    def infer(self, boxes: Tensor, scores: Tensor) -> tuple[Tensor, ...]:
        if boxes.rank is None:
            return self.outputs(boxes, DYNAMIC, DYNAMIC)
        self.require_counts()
        if scores.rank is None:
            return self.outputs(boxes, DYNAMIC, boxes.shape[0])
        count = capped(boxes.shape[1], self.nms_top_k) if self.nms_top_k > -1 else boxes.shape[1]
        rows = count * scores.shape[1]
        if self.keep_top_k > -1:
            rows = capped(rows, self.keep_top_k)
        return self.outputs(boxes, rows * scores.shape[0], boxes.shape[0])

    def evaluate(self, boxes: Array, scores: Array) -> tuple[Array, Array, Array]:
        return self.of_shared_boxes(boxes, scores)

    def choose(self, boxes: Array, scores: Array) -> tuple[Array, Array]:
        order = self.ranked(scores, scores > np.float32(self.score_threshold))
        boxes, faded = boxes[order], scores[order]
        worst = np.zeros(len(order), np.float32)
        for position in range(1, len(order)):
            margin = 0 if self.normalized else 1
            common = touching_overlaps(boxes[position], boxes[:position], margin)
            worst[position] = np.fmax.reduce(common, initial=np.float32(0))
            before = worst[:position]
            if self.decay_function == "gaussian":
                exponents = (before * before - common * common) * np.float32(self.gaussian_sigma)
                factors = np.exp(exponents)
            else:
                factors = (1 - common) / (1 - before + np.float32(1e-10))
            faded[position] *= np.fmin.reduce(factors, initial=np.float32(1))
        kept = faded > np.float32(self.post_threshold)
        return order[kept], faded[kept]


def _open_boxes(site: Site) -> bool:
    boxes = site.shape(0)
    return boxes is not None and bool(boxes.rank) and not boxes[-1].is_static


class MulticlassNms_8(DetectionSuppression):
    """Drops each box that overlaps a better box of its class.

    `nms_eta` lowers the threshold with each box that is kept.

    Specification: MulticlassNms-8 (MulticlassNonMaxSuppression-8).
    """

    since = 8
    differs = facts(
        refused("2023.1", "a MulticlassNms whose boxes have a dynamic last dimension", _open_boxes),
    )
    iou_threshold: float = attribute(FLOAT, default=0.0)
    nms_eta: float = attribute(FLOAT, default=1.0, within=between(0, 1))

    def infer(
        self, boxes: Tensor, scores: Tensor, roisnum: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        self.require_counts()
        if boxes.rank is None:
            return self.outputs(boxes, DYNAMIC, DYNAMIC)
        says = "`scores` has a dynamic rank; OpenVINO needs the rank, to compare it with `boxes`"
        require(scores.rank is not None, says, at="scores", rule=INPUT_RANK)
        if roisnum is None:
            classes, images, counts = scores.shape[1], scores.shape[0], boxes.shape[0]
        else:
            if roisnum.rank is None:
                return self.outputs(boxes, DYNAMIC, DYNAMIC)
            classes, images, counts = boxes.shape[0], roisnum.shape[0], roisnum.shape[0]
        rows = capped(boxes.shape[1], self.nms_top_k) if self.nms_top_k > -1 else boxes.shape[1]
        rows = rows * classes
        if self.keep_top_k > -1 and self.keep_top_k < rows.high != UNBOUNDED:
            rows = Dimension(self.keep_top_k)
        return self.outputs(boxes, rows * images, counts)

    def evaluate(self, boxes: Array, scores: Array, roisnum: Array | None = None) -> Any:
        if roisnum is None:
            return self.of_shared_boxes(boxes, scores)
        wide, wide_scores = boxes.astype(np.float32), scores.astype(np.float32)
        ends = np.cumsum(np.maximum(roisnum, 0))
        starts = ends - np.maximum(roisnum, 0)
        images = [
            (wide[:, start:end], wide_scores[:, start:end])
            for start, end in zip(starts, ends, strict=True)
        ]
        (image, label, box), kept, _, counts = self.collect(images)
        place = starts[image] + box
        flat = place * len(boxes) + label
        return self.as_outputs(boxes, label, kept, wide[label, place], flat, counts)

    def choose(self, boxes: Array, scores: Array) -> tuple[Array, Array]:
        order = self.ranked(scores, scores >= np.float32(self.score_threshold))
        overlap = partial(overlaps, margin=0 if self.normalized else 1)
        kept = greedy(order, boxes, self.iou_threshold, overlap=overlap, eta=self.nms_eta)
        return np.array(kept, dtype=np.int64), scores[kept]


class MulticlassNms_9(MulticlassNms_8):
    """Like MulticlassNms-8, but with an optional input `roisnum`.

    With `roisnum`, every class has its own boxes, and the boxes of all images are concatenated.

    Specification: MulticlassNms-9 (MulticlassNonMaxSuppression-9).
    """

    since = 9
    scores = operand(F32_F16_BF16, rank=(2, 3), like="boxes")
    roisnum = operand(I32_I64, rank=1, optional=True)

    def infer(
        self, boxes: Tensor, scores: Tensor, roisnum: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        wanted = 3 if roisnum is None else 2
        rank(scores.rank, wanted, at="scores")
        # not declared: what the axes of `scores` stand for depends on `roisnum`
        require_same("boxes", boxes, 0, "scores", scores, 0)
        require_same("boxes", boxes, 1, "scores", scores, 2 if roisnum is None else 1)
        return super().infer(boxes, scores, roisnum)
