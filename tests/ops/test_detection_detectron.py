"""The ExperimentalDetectron operations."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, const, data
from rows import against_openvino, attributes_of, different, parameters, table, written


def case(
    type: str,
    attributes: dict[str, str],
    inputs: list[object],
    outputs: int = 1,
    version: str = "opset6",
    **given: Any,
) -> Case:
    return Case(type, version, attributes_of(attributes), inputs, outputs=outputs, **given)


def boxes(count: int, side: float = 40, least: float = 4) -> object:
    def make(rng: np.random.Generator) -> np.ndarray:
        corners = rng.random((count, 2)) * side
        return np.concatenate([corners, corners + least + rng.random((count, 2)) * side], axis=1)

    return make


# detection output

DETECTION = (
    "score_threshold=0.2 nms_threshold=0.4 max_delta_log_wh=1.5 post_nms_count=5"
    " max_detections_per_image=7"
)


def output(
    count: int = 8, classes: int = 3, element_type: str = "f32", rois: object = None, **given: str
) -> Case:
    more = f"num_classes={classes} deltas_weights=10,10,5,5 class_agnostic_box_regression=false"
    attributes = written(f"{DETECTION} {more}", **given)
    inputs = [
        data(element_type, f"{count},4", rois or boxes(count)),
        data(element_type, f"{count},{classes * 4}", low=-3, high=9),
        data(element_type, f"{count},{classes}", different((count, classes))),
        const(element_type, [[60, 80, 1]]),
    ]
    return case("ExperimentalDetectronDetectionOutput", attributes, inputs, outputs=3)


def output_shapes(
    *shapes: str, types: str = "f32", version: str = "opset6", known: object = (), **given: str
) -> Case:
    attributes = written(f"{DETECTION} num_classes=3 deltas_weights=1,1,1,1", **given)
    rest = {"outputs": 3, "version": version, "run": False, "known": known}
    inputs = parameters(shapes, types)
    return case("ExperimentalDetectronDetectionOutput", attributes, inputs, **rest)


FIT = ("8,4", "8,12", "8,3", "1,3")
OUTPUT = [
    output(),
    output(max_detections_per_image="40"),
    output(max_detections_per_image="3"),
    output(post_nms_count="1"),
    output(post_nms_count="-1"),
    output(nms_threshold="0"),
    output(nms_threshold="1", max_detections_per_image="40"),
    output(score_threshold="0.8"),
    output(score_threshold="2"),
    output(max_delta_log_wh="0.1"),
    output(class_agnostic_box_regression="true"),
    output(classes=1),
    output(20, 6, max_detections_per_image="30"),
    output(3, element_type="f16"),
    output(4, rois=table("0 0 10 10; 5 5 5 9; 8 8 2 2; 1 0 11 10"), max_detections_per_image="10"),
    *[
        output_shapes(*row, **given)
        for row, given in (
            (FIT, {}),
            (("?,?", "?,12", "2..9,?", "?,?"), {}),
            (("...", "...", "...", "..."), {}),
            (("8,4", "...", "9,3", "..."), {}),
            (("8,5", "8,12", "8,3", "1,3"), {}),
            (("8,4", "8,13", "8,3", "1,3"), {}),
            (("8,4", "8,12", "8,4", "1,3"), {}),
            (("8,4", "8,12", "8,3", "2,3"), {}),
            (("8,4", "8,12", "8,3", "1,4"), {}),
            (("8,4", "9,12", "8,3", "1,3"), {}),
            (("8,4,1", "8,12", "8,3", "1,3"), {}),
            (("8,4", "12", "8,3", "1,3"), {}),
            (("8,4", "8,12", "8", "1,3"), {}),
            (("8,4", "8,12", "8,3", "3"), {}),
            (FIT, {"types": "f32 f16 f32 f32"}),
            (FIT, {"types": "i32"}),
            (FIT, {"types": "bf16"}),
            (FIT, {"max_detections_per_image": "-1"}),
            (FIT, {"max_detections_per_image": "0"}),
            (FIT, {"version": "experimental"}),
            (FIT, {"version": "extension"}),
            (FIT, {"version": "opset5"}),
        )
    ],
    output_shapes(*FIT, deltas_weights=None, known="missing-attribute"),
]


# proposals of a single image


def proposals(
    rows: int = 3, columns: int = 4, count: int = 2, element_type: str = "f32", **given: str
) -> Case:
    attributes = written("min_size=3 nms_threshold=0.5 pre_nms_count=20 post_nms_count=7", **given)
    inputs = [
        const(element_type, [60, 80, 1]),
        data(element_type, f"{rows * columns * count},4", boxes(rows * columns * count)),
        data(element_type, f"{4 * count},{rows},{columns}", low=-0.6, high=0.6),
        data(element_type, f"{count},{rows},{columns}", different((count, rows, columns))),
    ]
    return case("ExperimentalDetectronGenerateProposalsSingleImage", attributes, inputs, outputs=2)


def proposal_shapes(*shapes: str, types: str = "f32", **given: str) -> Case:
    attributes = written("min_size=3 nms_threshold=0.5 pre_nms_count=20 post_nms_count=7", **given)
    name, inputs = "ExperimentalDetectronGenerateProposalsSingleImage", parameters(shapes, types)
    return case(name, attributes, inputs, outputs=2, run=False)


PROPOSALS = [
    proposals(),
    proposals(post_nms_count="40"),
    proposals(nms_threshold="0.1"),
    proposals(nms_threshold="1"),
    proposals(pre_nms_count="9"),
    proposals(rows=1, columns=1),
    proposals(rows=5, columns=3, count=3),
    proposals(rows=1, columns=2, element_type="f16"),
    *[
        proposal_shapes(*row, **given)
        for row, given in (
            (("3", "24,4", "8,3,4", "2,3,4"), {}),
            (("?", "?,?", "?,3..5,?", "?,2..4,?"), {}),
            (("...", "...", "...", "..."), {}),
            (("4", "24,4", "8,3,4", "2,3,4"), {}),
            (("1,3", "24,4", "8,3,4", "2,3,4"), {}),
            (("3", "24,5", "8,3,4", "2,3,4"), {}),
            (("3", "24", "8,3,4", "2,3,4"), {}),
            (("3", "24,4", "8,3", "2,3,4"), {}),
            (("3", "24,4", "8,3,4", "2,4,4"), {}),
            (("3", "24,4", "8,3,4", "2,3,5"), {}),
            (("3", "24,4", "9,3,4", "2,3,4"), {}),
            (("3", "24,4", "8,3,4", "2,3"), {}),
            (("3", "24,4", "8,3,4", "2,3,4"), {"types": "f32 f64 f32 f32"}),
            (("3", "24,4", "8,3,4", "2,3,4"), {"types": "u8"}),
            (("3", "24,4", "8,3,4", "2,3,4"), {"post_nms_count": "0"}),
        )
    ],
]


# grid of priors


def grid(rows: int = 3, columns: int = 4, element_type: str = "f32", **given: str) -> Case:
    attributes = written("flatten=true h=0 w=0 stride_x=0 stride_y=0", **given)
    inputs = [
        data(element_type, "2,4", [[-8, -4, 8, 4], [-3, -5, 3, 5]]),
        data(element_type, f"1,5,{rows},{columns}"),
        data(element_type, "1,3,60,90"),
    ]
    return case("ExperimentalDetectronPriorGridGenerator", attributes, inputs)


def grid_shapes(*shapes: str, types: str = "f32", **given: str) -> Case:
    attributes = written("flatten=true h=0 w=0 stride_x=0 stride_y=0", **given)
    inputs = parameters(shapes, types)
    return case("ExperimentalDetectronPriorGridGenerator", attributes, inputs, run=False)


GRID = [
    grid(),
    grid(flatten="false"),
    grid(stride_x="8", stride_y="5"),
    grid(stride_x="8"),
    grid(h="3", w="4"),
    grid(1, 1),
    grid(element_type="f16"),
    *[
        grid_shapes(*row, **given)
        for row, given in (
            (("2,4", "1,5,3,4", "1,3,60,90"), {}),
            (("2,4", "1,5,3,4", "1,3,60,90"), {"flatten": "false"}),
            (("?,?", "?,5,..3,2..4", "1,3,?,?"), {}),
            (("?,?", "?,5,..3,2..4", "1,3,?,?"), {"flatten": "false"}),
            (("...", "1,5,3,4", "..."), {}),
            (("2,4", "...", "..."), {}),
            (("2,4", "...", "..."), {"flatten": "false"}),
            (("...", "1,5,3,4", "..."), {"flatten": "false"}),
            (("2,5", "1,5,3,4", "1,3,60,90"), {}),
            (("2", "1,5,3,4", "1,3,60,90"), {}),
            (("2,4", "5,3,4", "1,3,60,90"), {}),
            (("2,4", "1,5,3,4", "3,60,90"), {}),
            (("2,4", "1,5,3,4", "2,3,60,90"), {}),
            (("2,4", "1,5,3,4", "1,3,60,90"), {"types": "f32 f32 f16"}),
            (("2,4", "1,5,3,4", "1,3,60,90"), {"types": "i64"}),
            (("2,4", "1,5,3,4", "1,3,60,90"), {"h": "2", "w": "-1"}),
            (("1000,4", "1,5,100000000,10000", "1,3,60,90"), {}),
        )
    ],
]


# features of regions

ROIS = [
    [0, 0, 12, 9],
    [3.3, 1.7, 90.1, 140.2],
    [-4, -3, 2, 3],
    [10, 10, 40, 40],
    [5, 5, 5.2, 5.1],
    [0, 0, 700, 500],
    [9, 9, 3, 12],
    [2, 2, 230, 200],
]


EXTRACTOR = "output_size=3 sampling_ratio=2 pyramid_scales=4,8,16,32 aligned=false"


def features(levels: int = 2, element_type: str = "f32", **given: str) -> Case:
    attributes = written(EXTRACTOR, **given)
    inputs = [
        data(element_type, f"{len(ROIS)},4", ROIS),
        *[data(element_type, f"1,3,{24 // 2**level},{20 // 2**level}") for level in range(levels)],
    ]
    return case("ExperimentalDetectronROIFeatureExtractor", attributes, inputs, outputs=2)


def feature_shapes(*shapes: str, types: str = "f32", version: str = "opset6", **given: str) -> Case:
    attributes, rest = written(EXTRACTOR, **given), {"outputs": 2, "version": version}
    inputs = parameters(shapes, types)
    return case("ExperimentalDetectronROIFeatureExtractor", attributes, inputs, run=False, **rest)


OLD = written("distribute_rois_between_levels=1 image_id=0 preserve_rois_order=1")
FEATURES = [
    features(),
    features(1),
    features(4),
    features(3, aligned="true"),
    features(sampling_ratio="0"),
    features(sampling_ratio="1", output_size="1"),
    features(3, "f16"),
    *[
        feature_shapes(*row, **given)
        for row, given in (
            (("8,4", "1,3,24,20", "1,3,12,10"), {}),
            (("?,?", "?,2..5,?,?", "..3,?,?,?"), {}),
            (("...", "...", "1,3,12,10"), {}),
            (("...", "..."), {}),
            (("8,4", "1,3,24,20", "1,4,12,10"), {}),
            (("8,4", "1,..3,24,20", "1,4..,12,10"), {}),
            (("8,5", "1,3,24,20"), {}),
            (("8", "1,3,24,20"), {}),
            (("8,4", "2,3,24,20"), {}),
            (("8,4", "3,24,20"), {}),
            (("8,4", "2..,3,24,20"), {}),
            (("8,4", "1,3,24,20", "1,3,12,10"), {"types": "f32 f32 f16"}),
            (("8,4", "1,3,24,20"), {"types": "i8"}),
            (("8,4", "1,3,24,20"), {"version": "experimental", **OLD}),
            (("8,4",), {}),
            (("8,4", "1,3,24,20"), {"output_size": "-1"}),
        )
    ],
]


# best regions


def top(max_rois: str = "3", element_type: str = "f32", **given: Any) -> Case:
    scores = data(element_type, "6", [0.3, 0.9, 0.1, 0.95, 0.5, 0.2])
    inputs = [data(element_type, "6,4", boxes(6)), scores]
    return case("ExperimentalDetectronTopKROIs", {"max_rois": max_rois}, inputs, **given)


def top_shapes(*shapes: str, types: str = "f32", max_rois: str = "3") -> Case:
    inputs = parameters(shapes, types)
    return case("ExperimentalDetectronTopKROIs", {"max_rois": max_rois}, inputs, run=False)


TOP = [
    top(),
    top("6"),
    top("1"),
    top("4", "f16"),
    *[
        top_shapes(*row, **given)
        for row, given in (
            (("6,4", "6"), {}),
            (("?,?", "2..4"), {}),
            (("...", "..."), {}),
            (("6,4", "7"), {}),
            (("6,5", "6"), {}),
            (("6", "6"), {}),
            (("6,4", "6,1"), {}),
            (("6,4", "6"), {"types": "f32 f16"}),
            (("6,4", "6"), {"types": "i32"}),
            (("6,4", "6"), {"max_rois": "0"}),
            (("6,4", "6"), {"max_rois": "-1"}),
            (("6,4", "6"), {"max_rois": "1000000000000"}),
        )
    ],
]

test_detectron = against_openvino(*OUTPUT, *PROPOSALS, *GRID, *FEATURES, *TOP)
