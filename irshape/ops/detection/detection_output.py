"""The last layer of SSD networks: decodes boxes, drops those that overlap better ones, and lists what is left."""

from __future__ import annotations

from ...faults import require
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_COUNT, INPUT_SHAPES
from ...types import DYNAMIC, Dimension
from ..declaration import REAL, Operation, attribute, operand
from ..kinds import BOOLEAN, FLOAT, INT, INTS, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from .agreement import attribute_size, require_same
from .geometry import descending, greedy

CORNER, CENTER_SIZE = "caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"


class DetectionOutputs(Operation):
    """Rows [image, class, score, x1, y1, x2, y2]; their number is fixed, so a row with image -1 ends the list and the rest is 0."""

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
    box_logits = operand(REAL, rank=2)
    class_preds = operand(REAL, rank=2, like="box_logits")
    proposals = operand(REAL, rank=3)
    aux_class_preds = operand(REAL, rank=2, like="box_logits", optional=True)
    aux_box_preds = operand(REAL, rank=2, like="box_logits", optional=True)
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
        """The numbers that make up a prior box: four coordinates, behind an image index where they are not normalized."""
        return 4 if self.normalized else 5

    def counts(
        self,
        box_logits: Tensor,
        class_preds: Tensor,
        proposals: Tensor,
        aux_class_preds: Tensor | None,
        aux_box_preds: Tensor | None,
    ) -> tuple[int, int]:
        """Classes and prior boxes as far as they follow from the attributes or can be worked out first; 0 where not."""
        raise NotImplementedError

    def infer(
        self,
        box_logits: Tensor,
        class_preds: Tensor,
        proposals: Tensor,
        aux_class_preds: Tensor | None,
        aux_box_preds: Tensor | None,
    ) -> Tensor:
        require(
            (aux_class_preds is None) == (aux_box_preds is None),
            "`aux_class_preds` comes without `aux_box_preds`; expected 3 or 5 inputs",
            expected="3 or 5",
            actual=4,
            rule=INPUT_COUNT,
        )
        require(
            self.keep_top_k,
            "`keep_top_k` is empty; expected how many boxes to keep for each image, or -1",
            at="keep_top_k",
            expected="a number",
            actual="",
            rule=ATTRIBUTE_VALUE,
        )
        classes, priors = self.counts(
            box_logits, class_preds, proposals, aux_class_preds, aux_box_preds
        )
        places = 1 if self.share_location else classes
        images = DYNAMIC
        if box_logits.rank is not None:
            images = box_logits.shape[0]
            if not priors and box_logits.shape[1].is_static:
                require(
                    places,
                    "neither `box_logits` nor the other inputs tell the number of classes",
                    at="box_logits",
                    expected="a known number of classes",
                    actual=box_logits.shape,
                )
                priors = divided(
                    "box_logits",
                    box_logits,
                    1,
                    places * 4,
                    f"4 coordinates for each of {places} classes"
                    if places > 1
                    else "4 coordinates a box",
                )
            if priors and places:
                require_length(
                    "box_logits",
                    box_logits,
                    1,
                    priors * places * 4,
                    f"4 coordinates for each of {priors} prior boxes"
                    + (f" and {places} classes" if places > 1 else ""),
                )
        if class_preds.rank is not None:
            if images.is_dynamic and class_preds.shape[0].is_static:
                images = class_preds.shape[0]
            else:
                require_images("class_preds", class_preds, images)
            if class_preds.shape[1].is_static and classes:
                if priors:
                    require_length(
                        "class_preds",
                        class_preds,
                        1,
                        priors * classes,
                        f"a score for each of {priors} prior boxes and {classes} classes",
                    )
                else:
                    priors = divided(
                        "class_preds",
                        class_preds,
                        1,
                        classes,
                        f"a score for each of {classes} classes",
                    )
        if proposals.rank is not None:
            if not proposals.shape[0].contains(1):
                require_images("proposals", proposals, images)
            require_length(
                "proposals",
                proposals,
                1,
                1 if self.variance_encoded_in_target else 2,
                "prior boxes alone"
                if self.variance_encoded_in_target
                else "prior boxes and their variances",
            )
            if proposals.shape[2].is_static:
                if priors:
                    require_length(
                        "proposals",
                        proposals,
                        2,
                        priors * self.prior_size,
                        f"{self.prior_size} numbers for each of {priors} prior boxes",
                    )
                else:
                    priors = divided(
                        "proposals",
                        proposals,
                        2,
                        self.prior_size,
                        f"{self.prior_size} numbers a prior box",
                    )
        if aux_class_preds is not None and aux_box_preds is not None:
            if aux_class_preds.rank is not None:
                require_images("aux_class_preds", aux_class_preds, images)
                if priors:
                    require_length(
                        "aux_class_preds",
                        aux_class_preds,
                        1,
                        priors * 2,
                        f"2 scores for each of {priors} prior boxes",
                    )
                if aux_class_preds.shape[1].is_static:
                    priors = aux_class_preds.shape[1].low // 2
            require_same("images", "aux_box_preds", aux_box_preds, 0, "box_logits", box_logits, 0)
            require_same(
                "coordinates", "aux_box_preds", aux_box_preds, 1, "box_logits", box_logits, 1
            )
        return Tensor(
            box_logits.element_type, [1, 1, images * self.rows_per_image(classes, priors), 7]
        )

    def rows_per_image(self, classes: int, priors: int) -> Dimension:
        """How many rows there is room for; 0 stands for an unknown number of classes or prior boxes."""
        if self.keep_top_k[0] > 0:
            return attribute_size(self.keep_top_k[0])
        known = attribute_size(classes) if classes else DYNAMIC
        if self.keep_top_k[0] == -1 and self.top_k > 0:
            return known * self.top_k
        return known * (attribute_size(priors) if priors else DYNAMIC)

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
        marks = class_preds.astype(np.float32).reshape(images, priors, classes).transpose(0, 2, 1)
        boxes, variances, counts = self.prior_boxes(proposals.astype(np.float32), priors, images)
        if aux_class_preds is not None and aux_box_preds is not None:
            objects = aux_class_preds.astype(np.float32).reshape(images, priors, 2)[
                ..., 1
            ] >= np.float32(self.objectness_score)
            nothing = np.float32(np.arange(classes) == self.background_label_id)[:, None]
            marks = np.where(objects[:, None, :], marks, nothing)
            boxes = self.decode(
                boxes,
                variances,
                aux_box_preds.astype(np.float32).reshape(images, priors, places, 4),
            )
        boxes = self.decode(
            boxes, variances, box_logits.astype(np.float32).reshape(images, priors, places, 4)
        ).transpose(0, 2, 1, 3)
        found = np.zeros((images * self.rows_per_image(classes, priors).low, 7), dtype=np.float32)
        count = 0
        for image in range(images):
            where = (
                np.arange(places).repeat(classes // places)
                if places > 1
                else np.zeros(classes, dtype=int)
            )
            for label, kept in self.keep(boxes[image][where], marks[image][:, : counts[image]]):
                for index in kept:
                    box = boxes[image, where[label], index]
                    if count < len(found):
                        found[count] = [
                            image,
                            label - self.decrease_label_id,
                            marks[image, label, index],
                            *(np.clip(box, 0, 1) if self.clip_after_nms else box),
                        ]
                    count += 1
        if count < len(found):
            found[count, 0] = -1
        return found.reshape(1, 1, -1, 7).astype(box_logits.dtype)

    def prior_boxes(self, proposals: Array, priors: int, images: int) -> tuple[Array, Array, Array]:
        """For each image: prior boxes, their variances, and how many of the boxes there are: where they are not normalized, image index -1 ends them."""
        rows = np.broadcast_to(
            proposals[:, 0].reshape(-1, priors, self.prior_size), (images, priors, self.prior_size)
        )
        variances = np.ones((images, priors, 4), np.float32)
        if not self.variance_encoded_in_target:
            variances = np.broadcast_to(
                proposals[:, 1, : priors * 4].reshape(-1, priors, 4), (images, priors, 4)
            )
        ended = (rows[..., 0] == -1) & (not self.normalized)
        counts = np.where(ended.any(axis=1), ended.argmax(axis=1), priors)
        return rows[:, :, None, -4:], variances[:, :, None, :], counts

    def decode(self, boxes: Array, variances: Array, logits: Array) -> Array:
        """Boxes [image, prior, place, 4] as prior boxes moved and stretched by the logits."""
        if not self.normalized:
            boxes = boxes / np.float32([self.input_width, self.input_height] * 2)
        if self.code_type == CORNER:
            boxes = boxes + variances * logits
        else:
            sides, centers = (
                boxes[..., 2:] - boxes[..., :2],
                (boxes[..., :2] + boxes[..., 2:]) / np.float32(2),
            )
            centers = variances[..., :2] * logits[..., :2] * sides + centers
            sides = np.exp(variances[..., 2:] * logits[..., 2:]) * sides
            boxes = np.concatenate(
                [centers - sides / np.float32(2), centers + sides / np.float32(2)], axis=-1
            )
        return np.clip(boxes, np.float32(0), np.float32(1)) if self.clip_before_nms else boxes

    def keep(self, boxes: Array, marks: Array) -> list[tuple[int, list[int]]]:
        """The boxes of one image that stay, class by class."""
        kept: list[tuple[int, list[int]]] = []
        limit = self.top_k if self.top_k > -1 else None
        if self.decrease_label_id:
            best, labels = self.best_classes(marks)
            order = np.flatnonzero(labels > 0)
            order = order[descending(best[order])][:limit]
            kept = [
                (
                    int(label),
                    greedy(order[labels[order] == label], boxes[label], self.nms_threshold),
                )
                for label in np.unique(labels[order])
            ]
        else:
            for label in range(len(marks)):
                if label != self.background_label_id:
                    order = np.flatnonzero(marks[label] > np.float32(self.confidence_threshold))
                    order = order[descending(marks[label][order])][:limit]
                    kept.append((label, greedy(order, boxes[label], self.nms_threshold)))
        if -1 < self.keep_top_k[0] < sum(len(indices) for _, indices in kept):
            ranked = sorted(
                (-float(marks[label, index]), label, index)
                for label, indices in kept
                for index in indices
            )[: self.keep_top_k[0]]
            kept = [
                (label, [index for _, other, index in ranked if other == label])
                for label, _ in kept
            ]
        return kept

    def best_classes(self, marks: Array) -> tuple[Array, Array]:
        """The best score of each box over all classes but the first and the background, and its class; class 0 where none is good enough."""
        considered = marks.copy()
        considered[0] = -1
        if 0 <= self.background_label_id < len(marks):
            considered[self.background_label_id] = -1
        labels = considered.argmax(axis=0)
        best = considered.max(axis=0)
        return best, np.where(
            (best > -1) & (best >= np.float32(self.confidence_threshold)), labels, 0
        )


def divided(name: str, tensor: Tensor, axis: int, divisor: int, holds: str) -> int:
    """The size of an axis over a number that must divide it."""
    size = tensor.shape[axis].low
    require(
        size % divisor == 0,
        f"axis {axis} of `{name}` {tensor.shape} holds {holds}: expected a multiple of {divisor}",
        at=name,
        expected=f"a multiple of {divisor}",
        actual=size,
        rule=INPUT_SHAPES,
    )
    return size // divisor


def require_length(name: str, tensor: Tensor, axis: int, wanted: int, holds: str) -> None:
    size = tensor.shape[axis]
    require(
        size.contains(wanted),
        f"axis {axis} of `{name}` {tensor.shape} holds {holds}: expected {wanted}",
        at=name,
        expected=wanted,
        actual=size,
        rule=INPUT_SHAPES,
    )


def require_images(name: str, tensor: Tensor, images: Dimension) -> None:
    size = tensor.shape[0]
    also = " or 1" if name == "proposals" else ""
    require(
        size.compatible(images),
        f"`{name}` {tensor.shape} is for {size} images; the other inputs are for {images}",
        at=name,
        expected=f"{images}{also}",
        actual=size,
        rule=INPUT_SHAPES,
    )


class DetectionOutput_1(DetectionOutputs):
    """Decodes boxes, drops those that overlap better ones of their class, and lists the best. Specification: DetectionOutput-1."""

    since = 1
    num_classes: int = attribute(INT)

    def counts(
        self,
        box_logits: Tensor,
        class_preds: Tensor,
        proposals: Tensor,
        aux_class_preds: Tensor | None,
        aux_box_preds: Tensor | None,
    ) -> tuple[int, int]:
        require(
            self.num_classes > 0,
            f"`num_classes` is {self.num_classes}; expected at least 1",
            at="num_classes",
            expected="1 or more",
            actual=self.num_classes,
            rule=ATTRIBUTE_VALUE,
        )
        return self.num_classes, 0


class DetectionOutput_8(DetectionOutputs):
    """As DetectionOutput-1, with the number of classes worked out from the inputs. Specification: DetectionOutput-8."""

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
        if known(proposals, 2):
            priors = divided(
                "proposals", proposals, 2, self.prior_size, f"{self.prior_size} numbers a prior box"
            )
            require(
                priors,
                f"`proposals` {proposals.shape} holds no prior boxes",
                at="proposals",
                expected="at least one",
                actual=0,
                rule=INPUT_SHAPES,
            )
        elif aux_class_preds is not None and known(aux_class_preds, 1):
            priors = divided("aux_class_preds", aux_class_preds, 1, 2, "2 scores a prior box")
            require(
                priors,
                f"`aux_class_preds` {aux_class_preds.shape} is for no prior boxes",
                at="aux_class_preds",
                expected="at least one",
                actual=0,
                rule=INPUT_SHAPES,
            )
        if priors and known(class_preds, 1):
            classes = divided(
                "class_preds", class_preds, 1, priors, f"scores for each of {priors} prior boxes"
            )
        for name, tensor in (("box_logits", box_logits), ("aux_box_preds", aux_box_preds)):
            if (
                priors
                and not classes
                and not self.share_location
                and tensor is not None
                and known(tensor, 1)
            ):
                classes = divided(
                    name, tensor, 1, priors * 4, f"4 coordinates for each of {priors} prior boxes"
                )
        return classes, priors


def known(tensor: Tensor, axis: int) -> bool:
    return tensor.rank is not None and tensor.shape[axis].is_static
