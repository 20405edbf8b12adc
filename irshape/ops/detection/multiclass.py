"""Suppression over all classes of an image: MatrixNms, which fades scores, and MulticlassNms, which drops boxes."""

from __future__ import annotations

from typing import Any

from ...faults import require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_RANK
from ...types import DYNAMIC, UNBOUNDED, Dimension, ElementType
from ..declaration import I32_I64, Operation, attribute, operand
from ..kinds import BOOLEAN, FLOAT, INDEX_TYPE, INT, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from .agreement import require_boxes_and_scores, require_same, require_size
from .geometry import descending, overlaps, touching_overlaps
from .nms import F32_F16_BF16, I64


def capped(dim: Dimension, most: int) -> Dimension:
    """The largest size of a dimension, or `most` if that is less; as OpenVINO does, `?` where the dimension has no upper bound."""
    return DYNAMIC if dim.high == UNBOUNDED else Dimension(min(dim.high, most))


class DetectionSuppression(Operation):
    """What MatrixNms and MulticlassNms share: boxes chosen class by class, the best of all classes kept for each image, rows [class, score, x1, y1, x2, y2]."""

    boxes = operand(F32_F16_BF16, rank=3)
    scores = operand(F32_F16_BF16, rank=3, like="boxes")
    sort_result_type: str = attribute(Choice("classid", "score", "none"), default="none")
    sort_result_across_batch: bool = attribute(BOOLEAN, default=False)
    output_type: ElementType = attribute(INDEX_TYPE, default=I64)
    score_threshold: float = attribute(FLOAT, default=0.0)
    nms_top_k: int = attribute(INT, default=-1)
    keep_top_k: int = attribute(INT, default=-1)
    background_class: int = attribute(INT, default=-1)
    normalized: bool = attribute(BOOLEAN, default=True)

    def require_counts(self) -> None:
        for name in ("nms_top_k", "keep_top_k", "background_class"):
            seen = getattr(self, name)
            require(
                seen >= -1,
                f"`{name}` is {seen}; expected -1 (all of them) or more",
                at=name,
                expected="-1 or more",
                actual=seen,
                rule=ATTRIBUTE_VALUE,
            )

    def outputs(self, boxes: Tensor, rows: Dimension, images: Dimension) -> tuple[Tensor, ...]:
        rows = Dimension(0, rows.high)
        return (
            Tensor(boxes.element_type, [rows, 6]),
            Tensor(self.output_type, [rows, 1]),
            Tensor(self.output_type, [images]),
        )

    def choose(self, boxes: Array, scores: Array) -> tuple[Array, Array]:
        """The boxes of one class that stay, and their scores."""
        raise NotImplementedError

    def collect(self, images: list[tuple[Array, Array]]) -> tuple[list[Array], Array, Array, Array]:
        """Of images given as boxes and scores for each class: the rows [image, class, box] in their final order, the scores, and the number of each image."""
        found: list[tuple[Array, Array]] = []
        for image, (boxes, scores) in enumerate(images):
            parts = [
                (label, *self.choose(boxes[label], scores[label]))
                for label in range(len(scores))
                if label != self.background_class
            ]
            where = np.array(
                [(image, label, int(index)) for label, indices, _ in parts for index in indices],
                dtype=np.int64,
            ).reshape(-1, 3)
            marks = np.concatenate([np.empty(0, np.float32), *(kept for _, _, kept in parts)])
            order = np.lexsort((where[:, 2], where[:, 1], -marks))[
                : self.keep_top_k if self.keep_top_k > -1 else None
            ]
            found.append((where[order], marks[order]))
        rows, marks = (
            np.concatenate([np.empty((0, 3), np.int64), *(a for a, _ in found)]),
            np.concatenate([np.empty(0, np.float32), *(b for _, b in found)]),
        )
        image, label, box = rows.T
        if self.sort_result_type == "classid":
            order = np.lexsort(
                (box, -marks, image, label)
                if self.sort_result_across_batch
                else (box, -marks, label, image)
            )
        elif self.sort_result_type == "score" and self.sort_result_across_batch:
            order = np.lexsort((box, label, image, -marks))
        else:
            order = np.arange(len(rows))
        return (
            [image[order], label[order], box[order]],
            marks[order],
            rows[order],
            np.array([len(a) for a, _ in found]),
        )

    def as_outputs(
        self, boxes: Array, label: Array, marks: Array, chosen: Array, flat: Array, counts: Array
    ) -> tuple[Array, Array, Array]:
        integer = self.output_type.name.replace("i", "int")
        rows = np.concatenate(
            [label[:, None].astype(np.float32), marks[:, None], chosen.reshape(-1, 4)], axis=1
        )
        return rows.astype(boxes.dtype), flat.reshape(-1, 1).astype(integer), counts.astype(integer)

    def of_shared_boxes(self, boxes: Array, scores: Array) -> tuple[Array, Array, Array]:
        """Evaluation where every image has boxes of its own, which its classes share."""
        wide, marks = boxes.astype(np.float32), scores.astype(np.float32)
        (image, label, box), kept, _, counts = self.collect(
            [
                (np.broadcast_to(here, (len(classes), *here.shape)), classes)
                for here, classes in zip(wide, marks, strict=True)
            ]
        )
        return self.as_outputs(
            boxes, label, kept, wide[image, box], image * boxes.shape[1] + box, counts
        )


class MatrixNms(DetectionSuppression):
    """Fades the score of a box by its overlap with better ones, all at once. Specification: MatrixNms-8 (MatrixNonMaxSuppression-8)."""

    since = 8
    decay_function: str = attribute(Choice("gaussian", "linear"), default="linear")
    gaussian_sigma: float = attribute(FLOAT, default=2.0)
    post_threshold: float = attribute(FLOAT, default=0.0)

    def infer(self, boxes: Tensor, scores: Tensor) -> tuple[Tensor, ...]:
        if boxes.rank is None:
            return self.outputs(boxes, DYNAMIC, DYNAMIC)
        self.require_counts()
        require_boxes_and_scores(boxes, scores)
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
        candidates = np.flatnonzero(scores > np.float32(self.score_threshold))
        order = candidates[descending(scores[candidates])][
            : self.nms_top_k if self.nms_top_k > -1 else None
        ]
        boxes, marks = boxes[order], scores[order]
        faded = marks.copy()
        worst = np.zeros(len(order), np.float32)
        for position in range(1, len(order)):
            common = touching_overlaps(
                boxes[position], boxes[:position], 0 if self.normalized else 1
            )
            worst[position] = np.fmax.reduce(common, initial=np.float32(0))
            before = worst[:position]
            if self.decay_function == "gaussian":
                factors = np.exp(
                    (before * before - common * common) * np.float32(self.gaussian_sigma)
                )
            else:
                factors = (1 - common) / (1 - before + np.float32(1e-10))
            faded[position] *= np.fmin.reduce(factors, initial=np.float32(1))
        kept = faded > np.float32(self.post_threshold)
        return order[kept], faded[kept]


class MulticlassNms_8(DetectionSuppression):
    """Drops a box that overlaps a better one of its class; `nms_eta` lowers the threshold with each box that is taken. Specification: MulticlassNms-8
    (MulticlassNonMaxSuppression-8)."""

    since = 8
    iou_threshold: float = attribute(FLOAT, default=0.0)
    nms_eta: float = attribute(FLOAT, default=1.0)

    def infer(
        self, boxes: Tensor, scores: Tensor, roisnum: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        self.require_counts()
        require(
            0 <= self.nms_eta <= 1,
            f"`nms_eta` is {self.nms_eta:g}; expected a number from 0 to 1",
            at="nms_eta",
            expected="0 to 1",
            actual=self.nms_eta,
            rule=ATTRIBUTE_VALUE,
        )
        if boxes.rank is None:
            return self.outputs(boxes, DYNAMIC, DYNAMIC)
        require(
            scores.rank is not None,
            f"`boxes` {boxes.shape} has a rank but `scores` has not; OpenVINO compares their first dimensions and fails",
            at="scores",
            expected=f"rank {3 if roisnum is None else 2}",
            actual=scores.shape,
            rule=INPUT_RANK,
            help="give `scores` a rank",
        )
        if roisnum is None:
            require_boxes_and_scores(boxes, scores)
            classes, images, images_found = scores.shape[1], scores.shape[0], boxes.shape[0]
        else:
            require_same("classes", "boxes", boxes, 0, "scores", scores, 0)
            require_same("boxes", "boxes", boxes, 1, "scores", scores, 1)
            require_size("the coordinates of a box", "boxes", boxes, 2, 4)
            if roisnum.rank is None:
                return self.outputs(boxes, DYNAMIC, DYNAMIC)
            classes, images, images_found = boxes.shape[0], roisnum.shape[0], roisnum.shape[0]
        rows = capped(boxes.shape[1], self.nms_top_k) if self.nms_top_k > -1 else boxes.shape[1]
        rows = rows * classes
        if self.keep_top_k > -1 and self.keep_top_k < rows.high != UNBOUNDED:
            rows = Dimension(self.keep_top_k)
        return self.outputs(boxes, rows * images, images_found)

    def evaluate(self, boxes: Array, scores: Array, roisnum: Array | None = None) -> Any:
        if roisnum is None:
            return self.of_shared_boxes(boxes, scores)
        wide, marks = boxes.astype(np.float32), scores.astype(np.float32)
        ends = np.cumsum(np.maximum(roisnum, 0))
        starts = ends - np.maximum(roisnum, 0)
        (image, label, box), kept, _, counts = self.collect(
            [(wide[:, a:b], marks[:, a:b]) for a, b in zip(starts, ends, strict=True)]
        )
        place = starts[image] + box
        return self.as_outputs(
            boxes, label, kept, wide[label, place], place * len(boxes) + label, counts
        )

    def choose(self, boxes: Array, scores: Array) -> tuple[Array, Array]:
        candidates = np.flatnonzero(scores >= np.float32(self.score_threshold))
        order = candidates[descending(scores[candidates])][
            : self.nms_top_k if self.nms_top_k > -1 else None
        ]
        threshold, eta = np.float32(self.iou_threshold), np.float32(self.nms_eta)
        kept: list[int] = []
        while order.size:
            best, order = int(order[0]), order[1:]
            kept.append(best)
            if eta < 1 and threshold > 0.5:
                threshold *= eta
            order = order[
                ~(overlaps(boxes[best], boxes[order], 0 if self.normalized else 1) > threshold)
            ]
        return np.array(kept, dtype=np.int64), scores[kept]


class MulticlassNms_9(MulticlassNms_8):
    """As MulticlassNms-8; with `roisnum`, every class has boxes of its own, and those of all images stand behind one another. Specification: MulticlassNms-9
    (MulticlassNonMaxSuppression-9)."""

    since = 9
    scores = operand(F32_F16_BF16, rank=(2, 3), like="boxes")
    roisnum = operand(I32_I64, rank=1, optional=True)

    def infer(
        self, boxes: Tensor, scores: Tensor, roisnum: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        wanted = 3 if roisnum is None else 2
        require(
            scores.rank in (None, wanted),
            f"`scores` has shape {scores.shape}, of rank {scores.rank}; {'without' if roisnum is None else 'with'} `roisnum` it must have rank {wanted}",
            at="scores",
            expected=f"rank {wanted}",
            actual=f"rank {scores.rank}",
            rule=INPUT_RANK,
        )
        return super().infer(boxes, scores, roisnum)
