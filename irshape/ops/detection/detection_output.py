"""The last layer of SSD networks.

It decodes boxes, drops boxes that overlap better boxes, and lists the boxes that are left.
"""

from __future__ import annotations

from typing import Any

from ...faults import require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_COUNT, INPUT_SHAPES
from ...shapes import DYNAMIC, Dimension
from .. import axes
from ..conditions import equal, large_enough
from ..declaration import REAL, Operation, at_least, attribute, operand
from ..kinds import BOOLEAN, FLOAT, INT, INTS, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of
from .geometry import descending, greedy

CORNER, CENTER_SIZE = "caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"


class DetectionOutputs(Operation):
    """The base class of all versions. Each detection is [image, class, score, x1, y1, x2, y2].

    The number of rows is fixed: a row with image -1 follows the detections, then rows of zeros.
    """

    tolerated = (
        "eta",
        "height",
        "height_scale",
        "interp_mode",
        "pad_mode",
        "pad_value",
        "prob",
        "resize_mode",
        "visualize",
        "visualize_threshold",
        "width",
        "width_scale",
    )
    box_logits = operand(REAL, shape=("images", "coordinates"))
    class_preds = operand(REAL, rank=2, like="box_logits")
    proposals = operand(REAL, rank=3)
    aux_class_preds = operand(REAL, rank=2, like="box_logits", optional=True)
    aux_box_preds = operand(REAL, shape=("images", "coordinates"), like="box_logits", optional=True)
    background_label_id: int = attribute(INT, default=0)
    top_k: int = attribute(INT, default=-1)
    variance_encoded_in_target: bool = attribute(BOOLEAN, default=False)
    keep_top_k: tuple[int, ...] = attribute(INTS)
    code_type: str = attribute(Choice(CORNER, CENTER_SIZE, case_sensitive=True), default=CORNER)
    share_location: bool = attribute(BOOLEAN, default=True)
    nms_threshold: float = attribute(FLOAT, default=0.0, required=True)
    confidence_threshold: float = attribute(FLOAT, default=0.0)
    clip_after_nms: bool = attribute(BOOLEAN, default=False)
    clip_before_nms: bool = attribute(BOOLEAN, default=False)
    decrease_label_id: bool = attribute(BOOLEAN, default=False)
    normalized: bool = attribute(BOOLEAN, default=False)
    input_height: int = attribute(INT, default=1)
    input_width: int = attribute(INT, default=1)
    objectness_score: float = attribute(FLOAT, default=0.0)

    @property
    def prior_size(self) -> int:
        """The number of elements of a prior box: 4 coordinates, after an image index if
        `normalized` is false."""
        return 4 if self.normalized else 5

    def counts(self, *inputs: Any) -> tuple[int, int]:
        """Returns the number of classes and of prior boxes, each 0 if unknown."""
        raise NotImplementedError

    def infer(
        self,
        box_logits: Tensor,
        class_preds: Tensor,
        proposals: Tensor,
        aux_class_preds: Tensor | None,
        aux_box_preds: Tensor | None,
    ) -> Tensor:
        given = (aux_class_preds is None) == (aux_box_preds is None)
        require(given, "`aux_class_preds` is given without `aux_box_preds`", rule=INPUT_COUNT)
        wanted = "the number of boxes to keep for each image, or -1"
        require(
            self.keep_top_k, at="keep_top_k", expected=wanted, actual="empty", rule=ATTRIBUTE_VALUE
        )
        classes, priors = self.counts(
            box_logits, class_preds, proposals, aux_class_preds, aux_box_preds
        )
        places = 1 if self.share_location else classes
        images = DYNAMIC
        if box_logits.rank is not None:
            images, size = box_logits.shape
            if places:
                priors = priors_of("box_logits", box_logits, 1, places * 4, priors)
                equal(size, priors * places * 4 if priors else size, at="box_logits", axis=1)
            unknown = not places and not priors and size.is_static
            require(not unknown, "no input determines the number of classes", at="box_logits")
        if class_preds.rank is not None:
            if images.is_dynamic and class_preds.shape[0].is_static:
                images = class_preds.shape[0]
            equal(class_preds.shape[0], images, at="class_preds", axis=0)
            if classes:
                priors = priors_of("class_preds", class_preds, 1, classes, priors)
        if proposals.rank is not None:
            if not proposals.shape[0].contains(1):
                equal(proposals.shape[0], images, at="proposals", axis=0)
            rows = 1 if self.variance_encoded_in_target else 2
            equal(proposals.shape[1], rows, at="proposals", axis=1)
            priors = priors_of("proposals", proposals, 2, self.prior_size, priors)
        if aux_class_preds is not None and aux_class_preds.rank is not None:
            equal(aux_class_preds.shape[0], images, at="aux_class_preds", axis=0)
            if priors:
                equal(aux_class_preds.shape[1], priors * 2, at="aux_class_preds", axis=1)
            elif aux_class_preds.shape[1].is_static:
                priors = aux_class_preds.shape[1].low // 2
        per_image = self.rows_per_image(classes, priors)
        return Tensor(box_logits.element_type, [1, 1, images * per_image, 7])

    def rows_per_image(self, classes: int, priors: int) -> Dimension:
        """Returns the number of output rows for an image. An argument of 0 means unknown."""
        if self.keep_top_k[0] > 0:
            return dimension_of(self.keep_top_k[0])
        per_box = dimension_of(classes) if classes else DYNAMIC
        if self.keep_top_k[0] == -1 and self.top_k > 0:
            return per_box * self.top_k
        return per_box * (dimension_of(priors) if priors else DYNAMIC)

    def evaluate(
        self,
        box_logits: Array,
        class_preds: Array,
        proposals: Array,
        aux_class_preds: Array | None,
        aux_box_preds: Array | None,
    ) -> Array:
        images, priors = len(box_logits), proposals.shape[2] // self.prior_size
        classes = class_preds.shape[1] // priors
        places = 1 if self.share_location else classes
        scores = class_preds.astype(np.float32).reshape(images, priors, classes).transpose(0, 2, 1)
        boxes, variances, counts = self.prior_boxes(proposals.astype(np.float32), priors, images)
        if aux_class_preds is not None and aux_box_preds is not None:
            objectness = aux_class_preds.astype(np.float32).reshape(images, priors, 2)[..., 1]
            objects = objectness >= np.float32(self.objectness_score)
            background = np.float32(np.arange(classes) == self.background_label_id)[:, None]
            scores = np.where(objects[:, None, :], scores, background)
            refinement = aux_box_preds.astype(np.float32).reshape(images, priors, places, 4)
            boxes = self.decode(boxes, variances, refinement)
        logits = box_logits.astype(np.float32).reshape(images, priors, places, 4)
        boxes = self.decode(boxes, variances, logits).transpose(0, 2, 1, 3)
        place_of = np.arange(places).repeat(classes // places) if places > 1 else [0] * classes
        rows = np.zeros((images * self.rows_per_image(classes, priors).low, 7), dtype=np.float32)
        count = 0
        for image in range(images):
            class_boxes = boxes[image][place_of]
            for label, kept in self.keep(class_boxes, scores[image][:, : counts[image]]):
                for index in kept:
                    box = class_boxes[label, index]
                    if count < len(rows):
                        rows[count] = [
                            image,
                            label - self.decrease_label_id,
                            scores[image, label, index],
                            *(np.clip(box, 0, 1) if self.clip_after_nms else box),
                        ]
                    count += 1
        if count < len(rows):
            rows[count, 0] = -1
        return rows.reshape(1, 1, -1, 7).astype(box_logits.dtype)

    def prior_boxes(self, proposals: Array, priors: int, images: int) -> tuple[Array, Array, Array]:
        """Returns the prior boxes, their variances, and the number of prior boxes for each image.

        If `normalized` is false, the list of an image ends at the first box with image index -1.
        """
        rows = proposals[:, 0].reshape(-1, priors, self.prior_size)
        rows = np.broadcast_to(rows, (images, priors, self.prior_size))
        variances = np.ones((images, priors, 4), np.float32)
        if not self.variance_encoded_in_target:
            variances = proposals[:, 1, : priors * 4].reshape(-1, priors, 4)
            variances = np.broadcast_to(variances, (images, priors, 4))
        ended = (rows[..., 0] == -1) & (not self.normalized)
        counts = np.where(ended.any(axis=1), ended.argmax(axis=1), priors)
        return rows[:, :, None, -4:], variances[:, :, None, :], counts

    def decode(self, boxes: Array, variances: Array, logits: Array) -> Array:
        """Returns boxes [image, prior, class, 4]: prior boxes moved and scaled by the logits.

        If all classes share the boxes, axis 2 has size 1.
        """
        if not self.normalized:
            boxes = boxes / np.float32([self.input_width, self.input_height] * 2)
        if self.code_type == CORNER:
            boxes = boxes + variances * logits
        else:
            sides = boxes[..., 2:] - boxes[..., :2]
            centers = (boxes[..., :2] + boxes[..., 2:]) / np.float32(2)
            centers = variances[..., :2] * logits[..., :2] * sides + centers
            sides = np.exp(variances[..., 2:] * logits[..., 2:]) * sides
            halves = sides / np.float32(2)
            boxes = np.concatenate([centers - halves, centers + halves], axis=-1)
        return np.clip(boxes, np.float32(0), np.float32(1)) if self.clip_before_nms else boxes

    def keep(self, boxes: Array, scores: Array) -> list[tuple[int, list[int]]]:
        """Returns the classes of one image, each with the indices of its kept boxes."""
        kept: list[tuple[int, list[int]]] = []
        limit = self.top_k if self.top_k > -1 else None
        if self.decrease_label_id:
            best, labels = self.best_classes(scores)
            order = np.flatnonzero(labels > 0)
            order = order[descending(best[order])][:limit]
            for label in np.unique(labels[order]):
                candidates = order[labels[order] == label]
                kept.append((int(label), greedy(candidates, boxes[label], self.nms_threshold)))
        else:
            for label in range(len(scores)):
                if label != self.background_label_id:
                    order = np.flatnonzero(scores[label] > np.float32(self.confidence_threshold))
                    order = order[descending(scores[label][order])][:limit]
                    kept.append((label, greedy(order, boxes[label], self.nms_threshold)))
        if -1 < self.keep_top_k[0] < sum(len(indices) for _, indices in kept):
            ranked = sorted(
                (-float(scores[label, index]), label, index)
                for label, indices in kept
                for index in indices
            )[: self.keep_top_k[0]]
            kept = [
                (label, [index for _, other, index in ranked if other == label])
                for label, _ in kept
            ]
        return kept

    def best_classes(self, scores: Array) -> tuple[Array, Array]:
        """Returns the best score of each box, and its class; class 0 if the score is too low.

        Scores of class 0 and of the background class are left out.
        """
        considered = scores.copy()
        considered[0] = -1
        if 0 <= self.background_label_id < len(scores):
            considered[self.background_label_id] = -1
        labels = considered.argmax(axis=0)
        best = considered.max(axis=0)
        confident = (best > -1) & (best >= np.float32(self.confidence_threshold))
        return best, np.where(confident, labels, 0)


def divided(name: str, tensor: Tensor, axis: int, divisor: int) -> int:
    """Returns a known size divided by a number. Raises `Violation` if there is a remainder."""
    what = f"dimension {axis} of `{name}` {tensor.shape}"
    return axes.divided(tensor.shape[axis], divisor, what, name, INPUT_SHAPES).low


def priors_of(name: str, tensor: Tensor, axis: int, per_prior: int, priors: int) -> int:
    """Returns the number of prior boxes that an axis implies; `priors` if its size is dynamic.

    per_prior: how many elements along the axis each prior box has.
    priors: the number of prior boxes according to earlier inputs; 0 if unknown.
    """
    if tensor.shape[axis].is_dynamic:
        return priors
    if priors:
        equal(tensor.shape[axis], priors * per_prior, at=name, axis=axis)
    return priors or divided(name, tensor, axis, per_prior)


class DetectionOutput_1(DetectionOutputs):
    """Decodes boxes, drops boxes that overlap better boxes of their class, and lists the best."""

    since = 1
    num_classes: int = attribute(INT, within=at_least(1))

    def counts(self, *inputs: Tensor | None) -> tuple[int, int]:
        return self.num_classes, 0


class DetectionOutput_8(DetectionOutputs):
    """Like DetectionOutput-1, but the inputs determine the number of classes."""

    since = 8

    def counts(
        self,
        box_logits: Tensor,
        class_preds: Tensor,
        proposals: Tensor,
        aux_class_preds: Tensor | None,
        aux_box_preds: Tensor | None,
    ) -> tuple[int, int]:
        classes = priors = 0
        if has_size(proposals, 2):
            priors = divided("proposals", proposals, 2, self.prior_size)
            large_enough(proposals.shape[2], 1, at="proposals", axis=2)
        elif aux_class_preds is not None and has_size(aux_class_preds, 1):
            priors = divided("aux_class_preds", aux_class_preds, 1, 2)
            large_enough(aux_class_preds.shape[1], 1, at="aux_class_preds", axis=1)
        if priors and has_size(class_preds, 1):
            classes = divided("class_preds", class_preds, 1, priors)
        for name, tensor in (("box_logits", box_logits), ("aux_box_preds", aux_box_preds)):
            open_ = priors and not classes and not self.share_location
            if open_ and tensor is not None and has_size(tensor, 1):
                classes = divided(name, tensor, 1, priors * 4)
        return classes, priors


def has_size(tensor: Tensor, axis: int) -> bool:
    """Returns whether the size of an axis is known."""
    return tensor.rank is not None and tensor.shape[axis].is_static
