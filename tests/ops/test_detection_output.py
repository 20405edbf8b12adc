"""DetectionOutput."""

from __future__ import annotations

import numpy as np
from differential.cases import Case, data
from rows import against_openvino, parameters, row, unrun, written

CHOICE = "keep_top_k=8 nms_threshold=0.4 normalized=true"
CORNER, CENTER = "caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"


def priors(batch: int, count: int, size: int, rows: int, scale: float = 1.0) -> object:
    """Prior boxes spread over the image, and variances."""

    def make(rng: np.random.Generator) -> np.ndarray:
        corners = rng.random((batch, count, 2)) * 0.6
        boxes = (
            np.concatenate([corners, corners + 0.2 + rng.random((batch, count, 2)) * 0.2], axis=2)
            * scale
        )
        if size == 5:
            boxes = np.concatenate([np.zeros((batch, count, 1)), boxes], axis=2)
        boxes = boxes.reshape(batch, 1, -1)
        if rows == 2:
            variances = rng.uniform(0.1, 0.3, (batch, 1, count * 4))
            rest = np.zeros((batch, 1, count * (size - 4)))
            boxes = np.concatenate([boxes, np.concatenate([variances, rest], axis=2)], axis=1)
        return boxes

    return data("f32", f"{batch},{rows},{count * size}", make)


def detection(
    version: int = 8,
    images: int = 1,
    count: int = 6,
    classes: int = 3,
    prior_batch: int = 1,
    aux: bool = False,
    element_type: str = "f32",
    **given: str,
) -> Case:
    text = f"{CHOICE} confidence_threshold=0.3 code_type={CENTER}"
    attributes = written(text, **given)
    size = 4 if attributes["normalized"] == "true" else 5
    rows = 1 if attributes.get("variance_encoded_in_target") == "true" else 2
    places = 1 if attributes.get("share_location", "true") == "true" else classes
    scale = float(attributes.get("input_width", "1")) if size == 5 else 1.0
    inputs = [
        data("f32", f"{images},{count * places * 4}", low=-1, high=1),
        data("f32", f"{images},{count * classes}", low=0, high=1),
        priors(prior_batch, count, size=size, rows=rows, scale=scale),
    ]
    if aux:
        inputs += [
            data("f32", f"{images},{count * 2}", low=0, high=1),
            data("f32", f"{images},{count * places * 4}", low=-1, high=1),
        ]
    for source in inputs:
        source.element_type = element_type
    if version == 1:
        attributes["num_classes"] = str(classes)
    case = row(f"DetectionOutput-{version}", attributes, *inputs)
    case.id += f"-{images}x{count}x{classes}x{prior_batch}"
    return case


def shapes(version: int, *given: str, types: str = "f32", **attributes: str) -> Case:
    text = f"{CHOICE} num_classes=3" if version == 1 else CHOICE
    inputs = parameters(given, types)
    return unrun(f"DetectionOutput-{version}", written(text, **attributes), *inputs)


SHAPES = [
    shapes(version, *row, **given)
    for version in (1, 8)
    for row, given in (
        (("2,24", "2,18", "1,2,24"), {}),
        (("2,24", "2,18", "2,2,24"), {"keep_top_k": "-1", "top_k": "5"}),
        (("2,24", "2,18", "1,2,24"), {"keep_top_k": "-1"}),
        (("2,24", "2,18", "1,2,24"), {"keep_top_k": "0"}),
        (("2,24", "2,18", "1,1,24"), {"variance_encoded_in_target": "true"}),
        (("2,24", "2,18", "1,2,30"), {"normalized": "false"}),
        (("2,72", "2,18", "1,2,24"), {"share_location": "false"}),
        (("1..4,24", "?,18", "?,2,24"), {}),
        (("?,?", "2..3,18", "1,2,?"), {"keep_top_k": "-1"}),
        (("?,?", "?,?", "?,?,?"), {"keep_top_k": "-1"}),
        (("...", "...", "..."), {"keep_top_k": "-1", "top_k": "7"}),
        (("2..4,24", "7,18", "1,2,24"), {}),
        (("2,24", "2,18", "1,2,24", "2,12", "2,24"), {}),
        (("2,?", "2,?", "1,2,?", "2,12", "2,24"), {"keep_top_k": "-1", "share_location": "false"}),
        (("2,24", "2,18", "1,2,24", "2,12", "2,20"), {}),
        (("2,24", "2,18", "1,2,24", "3,12", "2,24"), {}),
        (("2,24", "2,18", "1,2,24", "2,11", "2,24"), {}),
        (("2,24", "2,18", "1,2,24", "2,12"), {}),
        (("2,25", "2,18", "1,2,24"), {}),
        (("2,24", "2,17", "1,2,24"), {}),
        (("2,24", "2,18", "1,2,25"), {}),
        (("2,24", "2,18", "1,2,28"), {}),
        (("2,24", "2,18", "1,1,24"), {}),
        (("2,24", "2,18", "3,2,24"), {}),
        (("2,24", "3,18", "1,2,24"), {}),
        (("2,24,1", "2,18", "1,2,24"), {}),
        (("2,24", "18", "1,2,24"), {}),
        (("2,24", "2,18", "2,24"), {}),
        (("2,24", "2,18", "1,2,0"), {}),
        (("2,24", "2,18", "1,2,24"), {"share_location": "false"}),
        (("2,24", "2,18", "1,2,24"), {"types": "f32 f16 f32"}),
        (("2,24", "2,18", "1,2,24"), {"types": "f16 f16 f32"}),
        (("2,24", "2,18", "1,2,24"), {"types": "i32 i32 f32"}),
        (("2,24", "2,18", "1,2,24"), {"types": "f32 f32 i8"}),
        (("2,24", "2,18", "1,2,24", "2,12", "2,24"), {"types": "f32 f32 f32 f64 f32"}),
        (("2,24", "2,18", "1,2,24"), {"code_type": "corner"}),
        (("2,24", "2,18", "1,2,24"), {"code_type": CORNER.lower()}),
        (
            ("2,24", "2,18", "1,2,24"),
            written("eta=1.0 visualize=False pad_mode= resize_mode=caffe.ResizeParameter.WARP"),
        ),
        (("1,4000000000000", "1,3000000000000", "1,2,4000000000000"), {"keep_top_k": "-1"}),
    )
]
SHAPES += [
    shapes(1, "2,24", "2,18", "1,2,24", num_classes="0"),
    shapes(1, "2,24", "2,18", "1,2,24", num_classes="4"),
    shapes(1, "...", "2,18", "...", keep_top_k="-1"),
    shapes(1, "...", "...", "1,2,24", keep_top_k="-1"),
    shapes(8, "2,24", "2,19", "1,2,24"),
    shapes(8, "2,24", "...", "...", share_location="false"),
    shapes(8, "2,?", "...", "1,2,24", keep_top_k="-1"),
]

VALUES = [
    detection(version, **given)
    for version in (1, 8)
    for given in (
        {},
        {"code_type": CORNER},
        {"images": 2},
        {"images": 2, "prior_batch": 2},
        {"share_location": "false"},
        {"share_location": "false", "images": 2, "background_label_id": "-1"},
        {"background_label_id": "1"},
        {"keep_top_k": "2"},
        {"keep_top_k": "-1"},
        {"keep_top_k": "-1", "top_k": "2"},
        {"keep_top_k": "3", "top_k": "1", "images": 2},
        {"keep_top_k": "0"},
        {"variance_encoded_in_target": "true"},
        {"normalized": "false", "input_width": "300", "input_height": "200"},
        {"normalized": "false"},
        {"clip_before_nms": "true"},
        {"clip_after_nms": "true", "confidence_threshold": "0"},
        {"confidence_threshold": "2"},
        {"decrease_label_id": "true"},
        {"decrease_label_id": "true", "images": 2, "top_k": "3", "keep_top_k": "2"},
        {"decrease_label_id": "true", "share_location": "false", "confidence_threshold": "0.6"},
        {"aux": True, "objectness_score": "0.5"},
        {"aux": True, "images": 2, "share_location": "false", "objectness_score": "0.2"},
        {"aux": True, "decrease_label_id": "true", "objectness_score": "0.4"},
        {"aux": True, "prior_batch": 2, "images": 2, "code_type": CORNER},
        {"nms_threshold": "0"},
        {"nms_threshold": "1"},
        {"count": 60, "classes": 5, "keep_top_k": "40", "confidence_threshold": "0.1"},
    )
]
VALUES += [
    detection(element_type="f16"),
    detection(count=200, classes=21, images=2, keep_top_k="100", confidence_threshold="0.8"),
    row(
        "DetectionOutput-8",
        f"keep_top_k=4 nms_threshold=0.5 code_type={CORNER} confidence_threshold=0.1",
        data("f32", "1,12", low=0, high=0),
        data("f32", "1,6", [[0.1, 0.5, 0.1, 0.9, 0.1, 0.7]]),
        data("f32", "1,2,15", [[[0, 0, 0, 1, 1, -1, 0, 0, 1, 1, 0, 2, 2, 3, 3], [0.1] * 15]]),
        id="prior-boxes-end-at-image-minus-one",
    ),
]

test_detection_output = against_openvino(*SHAPES, *VALUES)
