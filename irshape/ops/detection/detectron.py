"""The operations of Detectron's two-stage networks.

Old files use the version `experimental`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...element_types import ElementType
from ...faults import Fault, fault
from ...rule_ids import ATTRIBUTE_VALUE
from ...shapes import DYNAMIC, Dimension
from ..conditions import equal
from ..declaration import REAL, Operation, attribute, operand
from ..kinds import BOOLEAN, FLOAT, FLOATS, INT, INTS
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of
from .agreement import require_size
from .geometry import descending, greedy, moved, touching_overlaps
from .proposals import refined
from .roi import aligned

I32 = ElementType.of("i32")


class ExperimentalDetectronDetectionOutput(Operation):
    """Moves regions by deltas. Returns boxes, classes and scores of the best detections.

    There are `max_detections_per_image` rows; unused rows are 0. Class 0 is the background.
    """

    since = 6
    also_under = ("experimental", "extension")
    input_rois = operand(REAL, shape=("regions", 4))
    input_deltas = operand(REAL, rank=2, like="input_rois")
    input_scores = operand(REAL, rank=2, like="input_rois")
    # height, width and scale of one image
    input_im_info = operand(REAL, shape=(1, 3), like="input_rois")
    score_threshold: float = attribute(FLOAT, default=0.0, required=True)
    nms_threshold: float = attribute(FLOAT, default=0.0, required=True)
    max_delta_log_wh: float = attribute(FLOAT, default=0.0, required=True)
    num_classes: int = attribute(INT, default=0, required=True)
    post_nms_count: int = attribute(INT, default=0, required=True)
    max_detections_per_image: int = attribute(INT, default=0, required=True)
    class_agnostic_box_regression: bool = attribute(BOOLEAN, default=False)
    deltas_weights: tuple[float, ...] = attribute(FLOATS, default=(), required=True)

    def infer(
        self, input_rois: Tensor, input_deltas: Tensor, input_scores: Tensor, input_im_info: Tensor
    ) -> tuple[Tensor, ...]:
        # not declared: the number of classes is an attribute
        if self.num_classes >= 0:
            require_size("input_deltas", input_deltas, 1, self.num_classes * 4)
            require_size("input_scores", input_scores, 1, self.num_classes)
        regions = DYNAMIC
        by_region = (input_rois, input_deltas, input_scores)
        # not declared: OpenVINO compares them only if all three ranks are known
        if all(tensor.rank is not None for tensor in by_region):
            for declared, tensor in zip(self.operands, by_region, strict=False):
                regions = equal(tensor.shape[0], regions, at=declared.name, axis=0)
        rows = dimension_of(self.max_detections_per_image)
        return (
            Tensor(input_rois.element_type, [rows, 4]),
            Tensor(I32, [rows]),
            Tensor(input_rois.element_type, [rows]),
        )

    def check(self, *inputs: Tensor) -> Iterator[Fault]:
        seen = len(self.deltas_weights)
        if seen not in (0, 4):
            yield fault(
                at="deltas_weights", relation="count", expected=4, actual=seen, rule=ATTRIBUTE_VALUE
            )

    def evaluate(
        self, input_rois: Array, input_deltas: Array, input_scores: Array, input_im_info: Array
    ) -> tuple[Array, Array, Array]:
        rois, count = input_rois.astype(np.float32), self.num_classes
        deltas = input_deltas.astype(np.float32).reshape(len(rois), count, 4) / np.float32(
            self.deltas_weights[:4]
        )
        deltas[..., 2:] = np.minimum(deltas[..., 2:], np.float32(self.max_delta_log_wh))
        proper: Array = np.all(rois[:, 2:] > rois[:, :2], axis=1)
        boxes = np.where(
            proper[:, None, None],
            np.maximum(moved(rois[:, None, :], deltas, 1) - np.float32([0, 0, 1, 1]), 0),
            np.float32(0),
        )
        scores = np.where(proper[:, None], input_scores.astype(np.float32), np.float32(0))
        detections: list[tuple[int, int]] = []
        for label in range(1, count):
            order = np.flatnonzero(scores[:, label] > np.float32(self.score_threshold))
            order = order[descending(scores[order, label])]
            overlap = partial(touching_overlaps, margin=1)
            kept = greedy(order, boxes[:, label], self.nms_threshold, overlap=overlap)
            if self.post_nms_count != -1:
                kept = kept[: self.post_nms_count]
            detections += [(index, label) for index in kept]
        rows = self.max_detections_per_image
        if len(detections) > rows:
            detections.sort(key=lambda place: (-float(scores[place]), place[0]))
            del detections[rows:]
        where = tuple(np.array(detections, dtype=np.int64).reshape(-1, 2).T)
        used = len(detections)
        kept_boxes = np.zeros((rows, 4), np.float32)
        kept_classes = np.zeros(rows, np.int32)
        kept_scores = np.zeros(rows, np.float32)
        kept_boxes[:used], kept_classes[:used] = boxes[where], where[1]
        kept_scores[:used] = scores[where]
        dtype = input_rois.dtype
        return kept_boxes.astype(dtype), kept_classes, kept_scores.astype(dtype)


class ExperimentalDetectronGenerateProposalsSingleImage(Operation):
    """Moves anchors by deltas. Returns boxes and scores of the best proposals in an image.

    There are `post_nms_count` rows; unused rows are 0.
    """

    since = 6
    also_under = ("experimental", "extension")
    # height, width and scale of the image
    input_im_info = operand(REAL, shape=(3,))
    input_anchors = operand(REAL, shape=("?", 4), like="input_im_info")
    input_deltas = operand(REAL, shape=("?", "rows", "columns"), like="input_im_info")
    input_scores = operand(REAL, shape=("anchors", "rows", "columns"), like="input_im_info")
    min_size: float = attribute(FLOAT, default=0.0, required=True)
    nms_threshold: float = attribute(FLOAT, default=0.0, required=True)
    pre_nms_count: int = attribute(INT, default=0, required=True)
    post_nms_count: int = attribute(INT, default=0, required=True)

    def infer(self, input_im_info: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        rows, element_type = dimension_of(self.post_nms_count), input_im_info.element_type
        return Tensor(element_type, [rows, 4]), Tensor(element_type, [rows])

    def evaluate(
        self, input_im_info: Array, input_anchors: Array, input_deltas: Array, input_scores: Array
    ) -> tuple[Array, Array]:
        info, deltas = input_im_info.astype(np.float32), input_deltas.astype(np.float32)
        count, rows, columns = input_scores.shape
        anchors = input_anchors.astype(np.float32).reshape(rows, columns, count, 4)
        boxes = refined(anchors, deltas, info[0], info[1], 1)
        scores = input_scores.astype(np.float32).transpose(1, 2, 0).ravel()
        sides = boxes[:, 2:] - boxes[:, :2] + np.float32(1)
        scores = scores * (sides >= np.float32(self.min_size)).all(axis=1)
        order, most = descending(scores)[: max(self.pre_nms_count, 0)], self.post_nms_count
        kept = greedy(order, boxes, self.nms_threshold, limit=most, overlap=touching_overlaps)
        rois = np.zeros((self.post_nms_count, 4), np.float32)
        kept_scores = np.zeros(self.post_nms_count, np.float32)
        rois[: len(kept)], kept_scores[: len(kept)] = boxes[kept], scores[kept]
        return rois.astype(input_im_info.dtype), kept_scores.astype(input_im_info.dtype)


class ExperimentalDetectronPriorGridGenerator(Operation):
    """Moves prior boxes to the center of every cell of a grid.

    The result has rows for every cell of the feature map. If the grid has fewer cells, the
    specification does not define the remaining rows; in irshape, they are 0.
    """

    since = 6
    also_under = ("experimental", "extension")
    priors = operand(REAL, shape=("priors", 4))
    feature_map = operand(REAL, shape=("batch", "?", "height", "width"), like="priors")
    im_data = operand(REAL, shape=("batch", "?", "?", "?"), like="priors")
    # the default is true in the specification, but false in OpenVINO
    flatten: bool = attribute(BOOLEAN, default=False)
    h: int = attribute(INT, default=0)
    w: int = attribute(INT, default=0)
    stride_x: float = attribute(FLOAT, default=0.0)
    stride_y: float = attribute(FLOAT, default=0.0)

    def infer(self, priors: Tensor, feature_map: Tensor, im_data: Tensor) -> Tensor:
        count = DYNAMIC if priors.rank is None else priors.shape[0]
        height, width = (DYNAMIC, DYNAMIC) if feature_map.rank is None else feature_map.shape[2:]
        if not self.flatten:
            return Tensor(priors.element_type, [height, width, count, 4])
        boxes: Dimension = height * width * count
        if priors.rank is None or feature_map.rank is None:
            boxes = DYNAMIC
        return Tensor(priors.element_type, [boxes, 4])

    def evaluate(self, priors: Array, feature_map: Array, im_data: Array) -> Array:
        rows, columns = self.h or feature_map.shape[2], self.w or feature_map.shape[3]
        step_y, step_x = (
            np.float32(stride or np.float32(size) / np.float32(cells))
            for stride, size, cells in (
                (self.stride_y, im_data.shape[2], rows),
                (self.stride_x, im_data.shape[3], columns),
            )
        )
        y = (np.arange(rows, dtype=np.float32) + np.float32(0.5)) * step_y
        x = (np.arange(columns, dtype=np.float32) + np.float32(0.5)) * step_x
        centers = np.stack(np.broadcast_arrays(x[None, :], y[:, None]), axis=-1)
        shifts = np.concatenate([centers, centers], axis=-1)[:, :, None, :]
        boxes = (priors.astype(np.float32) + shifts).astype(priors.dtype)
        result = np.zeros((*feature_map.shape[2:], len(priors), 4), priors.dtype)
        used = min(boxes.size, result.size)
        result.ravel()[:used] = boxes.ravel()[:used]
        return result.reshape(-1, 4) if self.flatten else result


class ExperimentalDetectronROIFeatureExtractor(Operation):
    """Divides each region into bins. Returns the average features of the bins, and the regions.

    A region's area selects a feature map of the pyramid. For the area 0, the features are 0.
    """

    since = 6
    also_under = ("experimental", "extension")
    tolerated = ("distribute_rois_between_levels", "image_id", "preserve_rois_order")
    input_rois = operand(REAL, shape=("regions", 4))
    input_pyramid = operand(REAL, rank=4, like="input_rois", variadic=True)
    output_size: int = attribute(INT, default=0, required=True)
    sampling_ratio: int = attribute(INT, default=0, required=True)
    pyramid_scales: tuple[int, ...] = attribute(INTS, default=(), required=True)
    aligned: bool = attribute(BOOLEAN, default=False)

    def infer(self, input_rois: Tensor, *input_pyramid: Tensor) -> tuple[Tensor, ...]:
        channels = DYNAMIC
        for tensor in input_pyramid:
            require_size("input_pyramid", tensor, 0, 1)
            if tensor.rank is not None:
                channels = equal(tensor.shape[1], channels, at="input_pyramid", axis=1)
        regions = DYNAMIC if input_rois.rank is None else input_rois.shape[0]
        size = dimension_of(self.output_size)
        return (
            Tensor(input_rois.element_type, [regions, channels, size, size]),
            Tensor(input_rois.element_type, [regions, 4]),
        )

    def check(self, input_rois: Tensor, *input_pyramid: Tensor) -> Iterator[Fault]:
        if len(self.pyramid_scales) < len(input_pyramid):
            yield fault(
                "`pyramid_scales` has fewer numbers than there are feature maps",
                at="pyramid_scales",
                expected=len(input_pyramid),
                actual=len(self.pyramid_scales),
                rule=ATTRIBUTE_VALUE,
            )

    def evaluate(self, input_rois: Array, *input_pyramid: Array) -> tuple[Array, Array]:
        rois = input_rois.astype(np.float32)
        levels = [level[0].astype(np.float32) for level in input_pyramid]
        areas = np.prod(rois[:, 2:] - rois[:, :2], axis=1)
        relative = np.sqrt(np.maximum(areas, np.float32(0))) / np.float32(224)
        fitting = np.floor(np.log2(relative + np.float32(1e-6)) + 2)
        chosen = np.clip(fitting, 0, len(levels) - 1).astype(int)
        offset = np.float32(0.5 if self.aligned else 0)
        pooled = (self.output_size, self.output_size)
        result = np.zeros((len(rois), len(levels[0]), *pooled), np.float32)
        for index in np.flatnonzero(areas > 0):
            level = chosen[index]
            scale = np.float32(1) / np.float32(self.pyramid_scales[level])
            corners = rois[index] * scale - offset
            start = corners[[1, 0]]
            size = np.maximum(corners[[3, 2]] - start, np.float32(1))
            samples = max(self.sampling_ratio, 0)
            result[index] = aligned(levels[level], start, size, pooled, samples, "avg")
        return result.astype(input_rois.dtype), input_rois


class ExperimentalDetectronTopKROIs(Operation):
    """Selects the `max_rois` most probable regions. Unused rows are undefined (0 in irshape)."""

    since = 6
    also_under = ("experimental", "extension")
    input_rois = operand(REAL, shape=("regions", 4))
    rois_probs = operand(REAL, shape=("regions",), like="input_rois")
    max_rois: int = attribute(INT, default=0)

    def infer(self, input_rois: Tensor, rois_probs: Tensor) -> Tensor:
        return Tensor(input_rois.element_type, [dimension_of(self.max_rois), 4])

    def evaluate(self, input_rois: Array, rois_probs: Array) -> Array:
        kept = input_rois[descending(rois_probs.astype(np.float32))[: self.max_rois]]
        return np.concatenate([kept, np.zeros((self.max_rois - len(kept), 4), input_rois.dtype)])
