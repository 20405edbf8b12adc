"""MatrixNms and MulticlassNms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential.cases import Case, data
from rows import against_openvino, row, table, unrun

from irshape.ops.declaration import Operation
from irshape.ops.detection.multiclass import MatrixNms, MulticlassNms_9

BOXES = table("0 0 1 1; 0 0.1 1 1.1; 0 -0.1 1 0.9; 0 10 1 11; 0 10.1 1 11.1; 0 100 1 101")
SCORES = [[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.95, 0.75, 0.6, 0.8, 0.5, 0.31]]
PIXELS = table("0 0 10 10; 1 1 11 11; 11 0 20 10; 30 30 29 40; 5 5 5 5; 0 0 40 40")


def boxes(images: int, element_type: str = "f32", values: object = BOXES) -> object:
    return data(element_type, f"{images},6,4", [values] * images)


def scores(images: int, element_type: str = "f32") -> object:
    return data(element_type, f"{images},2,6", [SCORES] + [SCORES[::-1]] * (images - 1))


def shapes(
    type: str,
    version: int,
    boxes: str,
    scores: str,
    roisnum: str | None = None,
    types: str = "f32 f32 i32",
    **attributes: str,
) -> Case:
    a, b, c = types.split()
    inputs = [f"{a}[{boxes}] {b}[{scores}]"] + ([] if roisnum is None else [f"{c}[{roisnum}]"])
    return unrun(f"{type}-{version}", attributes, *inputs, outputs=3)


def matrix(
    images: int = 1,
    element_type: str = "f32",
    known: object = (),
    values: object = BOXES,
    **attributes: str,
) -> Case:
    case = row(
        "MatrixNms-8",
        attributes,
        boxes(images, element_type, values),
        scores(images, element_type),
        outputs=3,
        known=known,
    )
    case.id += "" if values is BOXES else "-pixels"
    return case


def multiclass(
    version: int = 9,
    images: int = 1,
    element_type: str = "f32",
    known: object = (),
    values: object = BOXES,
    expected: object = None,
    **attributes: str,
) -> Case:
    case = row(
        f"MulticlassNms-{version}",
        attributes,
        boxes(images, element_type, values),
        scores(images, element_type),
        outputs=3,
        known=known,
        expected=expected,
    )
    case.id += "" if values is BOXES else "-pixels"
    return case


def regions(**attributes: str) -> Case:
    """Two classes with boxes of their own, in images of four, no and two boxes."""
    inputs = data("f32", "2,6,4", [BOXES, BOXES[::-1]]), data("f32", "2,6", SCORES)
    attributes = {"iou_threshold": "0.5", **attributes}
    return row("MulticlassNms-9", attributes, *inputs, "i32{[4, 0, 2]}", outputs=3)


BOTH = [
    shapes(type, version, boxes=b, scores=s, **given)
    for type, version in (("MatrixNms", 8), ("MulticlassNms", 8), ("MulticlassNms", 9))
    for b, s, given in (
        ("2,7,4", "2,5,7", {}),
        ("2,7,4", "2,5,7", {"nms_top_k": "3"}),
        ("2,7,4", "2,5,7", {"nms_top_k": "3", "keep_top_k": "8"}),
        ("2,7,4", "2,5,7", {"keep_top_k": "1000"}),
        ("..3,?,4", "?,5,7..9", {"nms_top_k": "2", "keep_top_k": "4"}),
        ("1..3,2..7,4", "..2,..5,7", {"nms_top_k": "2", "keep_top_k": "4"}),
        ("2,7,4", "2,5,7", {"nms_top_k": "0"}),
        ("...", "2,5,7", {}),
        ("...", "...", {"output_type": "i32"}),
        ("2,7,4", "...", {}),
        ("2,7,5", "2,5,7", {}),
        ("2,7,4", "3,5,7", {}),
        ("2,7,4", "2,5,8", {}),
        ("7,4", "2,5,7", {}),
        ("2,7,4", "2,5", {}),
        ("2,7,4", "2,5,7", {"types": "f32 f16 i32"}),
        ("2,7,4", "2,5,7", {"types": "f64 f64 i32"}),
        ("2,7,4", "2,5,7", {"types": "bf16 bf16 i32"}),
        ("2,7,4", "2,5,7", {"keep_top_k": "-2"}),
        ("2,7,4", "2,5,7", {"nms_top_k": "-2"}),
        ("2,7,4", "2,5,7", {"background_class": "-2"}),
        ("2,7,4", "2,5,7", {"background_class": "1"}),
        ("2,7,4", "2,5,7", {"sort_result_type": "class"}),
        ("2,7,4", "2,5,7", {"output_type": "u8"}),
        ("1,1000000000000,4", "1,5,1000000000000", {"keep_top_k": "7"}),
    )
]

MATRIX = [
    matrix(),
    matrix(decay_function="gaussian"),
    matrix(decay_function="gaussian", gaussian_sigma="0.5", post_threshold="0.3"),
    matrix(post_threshold="0.4"),
    matrix(score_threshold="0.6"),
    matrix(nms_top_k="3"),
    matrix(keep_top_k="5"),
    matrix(background_class="0"),
    matrix(background_class="7"),
    matrix(normalized="false", values=PIXELS),
    matrix(values=PIXELS),
    matrix(2),
    matrix(2, output_type="i32", keep_top_k="4"),
    matrix(2, sort_result_type="score"),
    matrix(2, sort_result_type="score", sort_result_across_batch="true"),
    matrix(2, sort_result_type="classid", sort_result_across_batch="true"),
    matrix(2, sort_result_type="classid", known="matrix-nms-class-order"),
    matrix(element_type="f16"),
    matrix(post_threshold="-1", score_threshold="-1"),
    row(
        "MatrixNms-8",
        "decay_function=gaussian normalized=false",
        data("f32", "2,?,4", low=0, high=9, run_shape=(2, 15, 4)),
        data("f32", "2,3,?", low=0, high=1, run_shape=(2, 3, 15)),
        outputs=3,
    ),
]


def sort_corners(points: np.ndarray) -> np.ndarray:
    return np.sort(points, axis=2).reshape(*points.shape[:2], 4)


iou = {"iou_threshold": "0.5"}
MULTICLASS = [
    *[
        multiclass(v, **given)
        for v in (8, 9)
        for given in (
            iou,
            {**iou, "nms_top_k": "3"},
            {**iou, "keep_top_k": "3"},
            {**iou, "background_class": "0"},
            {**iou, "score_threshold": "0.6"},
            {**iou, "score_threshold": "0.75"},
            {**iou, "images": 2},
            {**iou, "images": 2, "sort_result_type": "score", "output_type": "i32"},
            {**iou, "images": 2, "sort_result_type": "classid"},
            {**iou, "images": 2, "sort_result_type": "classid", "sort_result_across_batch": "true"},
            {**iou, "images": 2, "sort_result_type": "score", "sort_result_across_batch": "true"},
            {**iou, "normalized": "false", "values": PIXELS},
            {**iou, "values": PIXELS},
            {**iou, "element_type": "f16"},
            {"iou_threshold": "0.9", "nms_eta": "0.8"},
        )
    ],
    multiclass(known="multiclass-nms-equal-threshold"),
    multiclass(
        known="multiclass-nms-eta",
        iou_threshold="0.95",
        nms_eta="0.8",
        values=table("0 9 1 10; 0 0 1 0.7; 0 50 1 51; 0 0 1 1; 0 70 1 71; 0 80 1 81"),
    ),
    shapes("MulticlassNms", 9, boxes="2,7,4", scores="2,5,7", nms_eta="1.5"),
    regions(),
    regions(keep_top_k="2"),
    regions(nms_top_k="1"),
    regions(background_class="1"),
    regions(sort_result_type="classid"),
    regions(sort_result_type="score", sort_result_across_batch="true"),
    *[
        shapes("MulticlassNms", 9, *row)
        for row in (
            ("5,7,4", "5,7", "2"),
            ("..5,2..7,4", "?,?", "1..3"),
            ("?,?,?", "?,?", "?"),
            ("5,7,4", "5,7", "..."),
            ("5,7,4", "5,7", "2,1"),
            ("5,7,4", "4,7", "2"),
            ("5,7,4", "5,6", "2"),
            ("5,7,4", "5,7,1", "2"),
            ("5,7,3", "5,7", "2"),
            ("...", "5,7", "2"),
            ("5,7,4", "...", "2"),
        )
    ],
    shapes("MulticlassNms", 9, boxes="5,7,4", scores="5,7", roisnum="2", types="f32 f32 f32"),
    shapes("MulticlassNms", 9, boxes="5,7,4", scores="5,7", roisnum="2", types="f32 f32 i16"),
    shapes("MulticlassNms", 9, "5,7,4", "5,7", "2", "f32 f32 i64", nms_top_k="2", keep_top_k="3"),
    row(
        "MulticlassNms-8",
        "iou_threshold=0.2 keep_top_k=9",
        data("f32", "2,14,4", lambda rng: sort_corners(rng.random((2, 14, 2, 2)))),
        data("f32", "2,3,14", low=0, high=1),
        outputs=3,
    ),
]

test_multiclass = against_openvino(*BOTH, *MATRIX, *MULTICLASS)


@pytest.mark.parametrize(
    "given", [{"score_threshold": 2.0}, {"nms_top_k": 0}, {"keep_top_k": 0}], ids=str
)
@pytest.mark.parametrize("operation", [MatrixNms, MulticlassNms_9])
def test_nothing_chosen(operation: type[Operation], given: dict[str, Any]) -> None:
    """Not asked of OpenVINO, whose CPU plugin then leaves the counts uninitialised."""
    boxes, marks = np.float32([BOXES] * 2), np.float32([SCORES] * 2)
    rows, indices, counts = operation(**given).evaluate(boxes, marks)
    assert (rows.shape, indices.shape, counts.tolist()) == ((0, 6), (0, 1), [0, 0])
    assert (rows.dtype, indices.dtype) == (np.float32, np.int64)
