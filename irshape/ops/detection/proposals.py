"""Region proposals: Proposal and GenerateProposals.

They move anchors at every point of a feature map by predicted deltas. Then they keep the best boxes
that do not overlap.
"""

from __future__ import annotations

import math
from functools import partial
from typing import ClassVar

from ...element_types import ElementType
from ...shapes import DYNAMIC, Dimension
from ..conditions import equal
from ..declaration import ANY, REAL, Operation, at_least, attribute, between, operand
from ..image.taps import away_from_zero as rounded
from ..kinds import BOOLEAN, FLOAT, FLOATS, INDEX_TYPE, INT, POSITIVE, STRING
from ..lazy import Array, dtype_of, np
from ..tensors import Tensor
from .agreement import require_same, require_size
from .geometry import descending, greedy, moved, touching_overlaps, within

I64 = ElementType.of("i64")
LARGEST_STRETCH = math.log(1000 / 16)


class Proposal_1(Operation):
    """Moves anchors by deltas. Returns the best boxes as rows [image, x1, y1, x2, y2].

    There are `post_nms_topn` rows for each image. If an image has fewer boxes, a row with image -1
    follows them, then rows of zeros.
    """

    since = 1
    results: ClassVar[int] = 1
    """The number of outputs: the boxes, and in later versions their probabilities."""
    class_probs = operand(REAL, shape=("images", "?", "?", "?"))
    bbox_deltas = operand(REAL, shape=("images", "?", "?", "?"))
    image_shape = operand(REAL, rank=1)
    base_size: int = attribute(POSITIVE, default=0, required=True)
    pre_nms_topn: int = attribute(POSITIVE, default=0, required=True)
    post_nms_topn: int = attribute(POSITIVE, default=0, required=True)
    nms_thresh: float = attribute(FLOAT, default=0.0, required=True)
    feat_stride: int = attribute(POSITIVE, default=1, required=True)
    min_size: int = attribute(POSITIVE, default=1, required=True)
    ratio: tuple[float, ...] = attribute(FLOATS, default=(), required=True)
    scale: tuple[float, ...] = attribute(FLOATS, default=(), required=True)
    clip_before_nms: bool = attribute(BOOLEAN, default=True)
    clip_after_nms: bool = attribute(BOOLEAN, default=False)
    normalize: bool = attribute(BOOLEAN, default=False)
    box_size_scale: float = attribute(FLOAT, default=1.0)
    box_coordinate_scale: float = attribute(FLOAT, default=1.0)
    framework: str = attribute(STRING, default="")

    def infer(
        self, class_probs: Tensor, bbox_deltas: Tensor, image_shape: Tensor
    ) -> tuple[Tensor, ...]:
        images = self.dimensions(class_probs, bbox_deltas).get("images", DYNAMIC)
        if class_probs.rank is not None and bbox_deltas.rank is not None:
            # an anchor has 2 channels of `class_probs` and 4 of `bbox_deltas`
            equal(bbox_deltas.shape[1], class_probs.shape[1] * 2, at="bbox_deltas", axis=1)
        require_size("image_shape", image_shape, 0, 3, 4)
        rows = images * (self.post_nms_topn if self.post_nms_topn >= 0 else DYNAMIC)
        element_type = class_probs.element_type
        return (Tensor(element_type, [rows, 5]), Tensor(element_type, [rows]))[: self.results]

    @property
    def tensorflow(self) -> bool:
        return self.framework == "tensorflow"

    def evaluate(
        self, class_probs: Array, bbox_deltas: Array, image_shape: Array
    ) -> tuple[Array, ...]:
        info = image_shape.astype(np.float32)
        width, height = (info[0], info[1]) if self.tensorflow else (info[1], info[0])
        margin = np.float32(0 if self.tensorflow else 1)
        images, rows, columns = len(class_probs), class_probs.shape[2], class_probs.shape[3]
        anchors = self.anchors(rows, columns)
        count = anchors.shape[2]
        scores = class_probs.astype(np.float32)[:, count:].transpose(0, 2, 3, 1).reshape(images, -1)
        deltas = bbox_deltas.astype(np.float32).reshape(images, count, 4, rows, columns)
        deltas = deltas.transpose(0, 3, 4, 1, 2)
        deltas = deltas / np.float32([self.box_coordinate_scale] * 2 + [self.box_size_scale] * 2)
        if self.tensorflow:
            anchors = within(anchors, height, width)
        boxes = moved(anchors, deltas, margin).reshape(images, -1, 4)
        if self.clip_before_nms:
            boxes = within(boxes, height - margin, width - margin)
        smallest = np.float32(self.min_size) * info[[3 if len(info) > 3 else 2, 2]]
        scores = scores * (boxes[..., 2:] - boxes[..., :2] + margin >= smallest).all(axis=-1)
        proposals = np.zeros((images, self.post_nms_topn, 5), np.float32)
        probabilities = np.zeros((images, self.post_nms_topn), np.float32)
        for image in range(images):
            order = descending(scores[image])[: max(self.pre_nms_topn, 0)]
            most, overlap = self.post_nms_topn, partial(touching_overlaps, margin=margin)
            kept = greedy(order, boxes[image], self.nms_thresh, limit=most, overlap=overlap)
            chosen = boxes[image, kept]
            if self.clip_after_nms:
                chosen = within(chosen, height, width)
            if self.normalize:
                chosen = chosen / np.stack([width, height, width, height])
            proposals[image, : len(kept), 0] = image
            proposals[image, : len(kept), 1:] = chosen
            probabilities[image, : len(kept)] = scores[image, kept]
            if len(kept) < self.post_nms_topn:
                proposals[image, len(kept), 0] = -1
        results = proposals.reshape(-1, 5), probabilities.ravel()
        return tuple(result.astype(class_probs.dtype) for result in results[: self.results])

    def anchors(self, rows: int, columns: int) -> Array:
        """Returns boxes of every ratio and scale around the points of the feature map.

        The result is [rows, columns, anchors, 4]. For TensorFlow, boxes are not rounded, are
        centered at the origin, and lie on the transposed map.
        """
        margin = np.float32(0 if self.tensorflow else 1)
        base, ratios = np.float32(self.base_size), np.float32(self.ratio)
        wide = np.sqrt(base * base / ratios)
        high = wide * ratios
        if not self.tensorflow:
            wide = rounded(wide)
            high = rounded(wide * ratios)
        scales = np.float32(self.scale)
        sides = np.stack([np.outer(wide, scales).ravel(), np.outer(high, scales).ravel()], axis=-1)
        halves = np.float32(0.5) * (sides - margin)
        center = np.float32(0.5) * (base - margin)
        boxes = np.concatenate([center - halves, center + halves], axis=-1)
        if self.tensorflow:
            boxes -= np.float32(0.5) * base
        x = np.arange(columns, dtype=np.float32) * self.feat_stride
        y = np.arange(rows, dtype=np.float32) * self.feat_stride
        across, down = np.meshgrid(x, y)
        if self.tensorflow:
            across, down = down, across
        return boxes + np.stack([across, down] * 2, axis=-1)[:, :, None, :].astype(np.float32)


class Proposal_4(Proposal_1):
    """Like Proposal-1, but the probabilities are a second output.

    The probability of a row without a box is 0; the CPU plugin does not set it.
    """

    since = 4
    also_under = ("experimental", "extension")
    results = 2


def refined(anchors: Array, deltas: Array, height: Array, width: Array, margin: float) -> Array:
    """Returns boxes, one in each row: the anchors moved by deltas and clipped to the image.

    `anchors` are [rows, columns, anchors, 4], `deltas` [anchors * 4, rows, columns].
    """
    rows, columns, count, _ = anchors.shape
    deltas = deltas.reshape(count, 4, rows, columns).transpose(2, 3, 0, 1)
    stretches = np.minimum(deltas[..., 2:], np.float32(LARGEST_STRETCH))
    deltas = np.concatenate([deltas[..., :2], stretches], axis=-1)
    boxes = moved(anchors, deltas, margin).reshape(-1, 4) - np.float32([0, 0, margin, margin])
    return within(boxes, height - np.float32(margin), width - np.float32(margin))


class GenerateProposals(Operation):
    """Moves anchors by deltas. Returns the best boxes of all images, their scores and counts."""

    since = 9
    im_info = operand(ANY, shape=("images", "?"))
    anchors = operand(ANY, shape=("?", "?", "?", 4))
    boxesdeltas = operand(ANY, shape=("images", "?", "rows", "columns"))
    scores = operand(ANY, shape=("images", "anchors", "rows", "columns"))
    min_size: float = attribute(FLOAT, default=0.0, required=True)
    nms_threshold: float = attribute(FLOAT, default=0.0, required=True)
    pre_nms_count: int = attribute(INT, within=at_least(1))
    post_nms_count: int = attribute(INT, within=at_least(1))
    normalized: bool = attribute(BOOLEAN, default=True)
    nms_eta: float = attribute(FLOAT, default=1.0, within=between(1, 1))
    roi_num_type: ElementType = attribute(INDEX_TYPE, default=I64)

    def infer(
        self, im_info: Tensor, anchors: Tensor, boxesdeltas: Tensor, scores: Tensor
    ) -> tuple[Tensor, ...]:
        require_size("im_info", im_info, 1, 3, 4)
        if boxesdeltas.rank is not None and scores.rank is not None:
            # an anchor has one channel of `scores` and 4 of `boxesdeltas`
            equal(boxesdeltas.shape[1], scores.shape[1] * 4, at="boxesdeltas", axis=1)
        # not declared: OpenVINO does not compare `anchors` with `boxesdeltas`
        require_same("anchors", anchors, 0, "scores", scores, 2)
        require_same("anchors", anchors, 1, "scores", scores, 3)
        require_same("anchors", anchors, 2, "scores", scores, 1)
        sizes = self.dimensions(im_info, anchors, boxesdeltas, scores)
        images = sizes.get("images", DYNAMIC)
        rows = Dimension(0, (images * self.post_nms_count).high)
        return (
            Tensor(im_info.element_type, [rows, 4]),
            Tensor(im_info.element_type, [rows]),
            Tensor(self.roi_num_type, [images]),
        )

    def evaluate(
        self, im_info: Array, anchors: Array, boxesdeltas: Array, scores: Array
    ) -> tuple[Array, Array, Array]:
        margin = 0.0 if self.normalized else 1.0
        rois: list[Array] = [np.empty((0, 4), np.float32)]
        kept_scores: list[Array] = [np.empty(0, np.float32)]
        counts = []
        grid = anchors.astype(np.float32)
        for info, deltas, score in zip(
            im_info.astype(np.float32),
            boxesdeltas.astype(np.float32),
            scores.astype(np.float32),
            strict=True,
        ):
            boxes = refined(grid, deltas, info[0], info[1], margin)
            flat = score.transpose(1, 2, 0).ravel()
            smallest = np.float32(self.min_size) * info[[3 if len(info) > 3 else 2, 2]]
            order = descending(flat)[: self.pre_nms_count]
            sides = boxes[order, 2:] - boxes[order, :2] + np.float32(margin)
            order = order[(sides >= smallest).all(axis=1)]
            most, overlap = self.post_nms_count, partial(touching_overlaps, margin=margin)
            kept = greedy(order, boxes, self.nms_threshold, limit=most, overlap=overlap)
            rois.append(boxes[kept])
            kept_scores.append(flat[kept])
            counts.append(len(kept))
        return (
            np.concatenate(rois).astype(im_info.dtype),
            np.concatenate(kept_scores).astype(im_info.dtype),
            np.array(counts, dtype=dtype_of(self.roi_num_type)),
        )
