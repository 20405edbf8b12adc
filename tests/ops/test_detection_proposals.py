"""Proposal and GenerateProposals."""

from __future__ import annotations

import numpy as np
from differential.cases import Case, const, data
from rows import against_openvino, different, parameters, row, unrun, written

BOXES = "base_size=8 pre_nms_topn=30 post_nms_topn=6 nms_thresh=0.6 feat_stride=16 min_size=2"


def proposal(
    version: int = 4,
    images: int = 1,
    rows: int = 3,
    columns: int = 4,
    info: object = (60, 80, 1),
    element_type: str = "f32",
    **given: str,
) -> Case:
    attributes = written(f"{BOXES} ratio=0.5,1,2 scale=1,2", **given)
    count = len(attributes["ratio"].split(",")) * len(attributes["scale"].split(","))
    shape = (images, 2 * count, rows, columns)
    inputs = [
        data(element_type, ",".join(map(str, shape)), different(shape)),
        data(element_type, f"{images},{4 * count},{rows},{columns}", low=-0.5, high=0.5),
        const(element_type, list(info)),
    ]
    return row(f"Proposal-{version}", attributes, *inputs, outputs=1 if version == 1 else 2)


def shapes(
    version: int, probs: str, deltas: str, info: str = "3", types: str = "f32", **given: str
) -> Case:
    attributes = written(f"{BOXES} ratio=1 scale=1", **given)
    inputs = parameters((probs, deltas, info), types)
    return unrun(f"Proposal-{version}", attributes, *inputs, outputs=1 if version == 1 else 2)


FEW = {"nms_thresh": "0.1", "pre_nms_topn": "10"}
PROPOSALS = [
    *[
        proposal(version, **given)
        for version in (1, 4)
        for given in (
            {},
            {"images": 2},
            {"framework": "tensorflow"},
            {"framework": "tensorflow", "images": 2, "info": (60, 80, 1.5, 0.5)},
            {"info": (60, 80, 1.5, 3)},
            {"normalize": "true"},
            {"clip_before_nms": "false"},
            {"clip_before_nms": "false", "clip_after_nms": "true"},
            {"clip_after_nms": "true", "normalize": "true", "framework": "tensorflow"},
            {"box_size_scale": "5", "box_coordinate_scale": "10"},
            {"pre_nms_topn": "9", "nms_thresh": "0.9"},
            {"nms_thresh": "1"},
            {"min_size": "12"},
            {"ratio": "0.3,1.7", "scale": "0.7"},
            {"base_size": "16", "feat_stride": "8"},
        )
    ],
    proposal(1, post_nms_topn="12", **FEW),
    proposal(1, 2, post_nms_topn="12", framework="tensorflow", **FEW),
    proposal(element_type="f16", rows=1, columns=2, post_nms_topn="2"),
    *[
        shapes(v, *row, **given)
        for v in (1, 4)
        for row, given in (
            (("2,2,3,4", "2,4,3,4"), {}),
            (("..3,2,3,4", "2..,4,3,4"), {}),
            (("?,?,?,?", "?,?,?,?", "?"), {}),
            (("...", "7,4,3,4", "4"), {}),
            (("7,2,3,4", "...", "..."), {}),
            (("...", "...", "..."), {}),
            (("2,2,3,4", "2,4,3,4", "5"), {}),
            (("2,2,3,4", "2,4,3,4", "2"), {}),
            (("2,2,3,4", "2,4,3,4", "1..2"), {}),
            (("2,2,3,4", "2,4,3,4", "1..3"), {}),
            (("2,2,3,4", "2,4,3,4", "1,3"), {}),
            (("2,2,3,4", "3,4,3,4"), {}),
            (("2,2,3,4", "2,5,3,4"), {}),
            (("2,2,3", "2,4,3,4"), {}),
            (("2,2,3,4", "2,4,3"), {}),
            (("2,2,3,4", "2,4,9,9"), {}),
            (("2,2,3,4", "2,4,3,4"), {"types": "i32 f32 f32"}),
            (("2,2,3,4", "2,4,3,4"), {"types": "f16 f32 f64"}),
            (("2,2,3,4", "2,4,3,4"), {"types": "f32 f32 i64"}),
            (("2,2,3,4", "2,4,3,4"), {"types": "f32 u8 f32"}),
            (("1000000000,2,3,4", "1000000000,4,3,4"), {"post_nms_topn": "1000000"}),
            (("2,2,3,4", "2,4,3,4"), {"post_nms_topn": "1"}),
        )
    ],
    unrun(
        "Proposal-4", {}, "f32[2,2,3,4] f32[2,4,3,4] f32[3]", outputs=2, known="missing-attribute"
    ),
]


def generate(
    images: int = 1,
    rows: int = 3,
    columns: int = 4,
    count: int = 2,
    info: object = (60, 80, 1),
    element_type: str = "f32",
    **given: str,
) -> Case:
    attributes = written("min_size=3 nms_threshold=0.5 pre_nms_count=20 post_nms_count=7", **given)
    shape = (images, count, rows, columns)

    def anchors(rng: np.random.Generator) -> np.ndarray:
        corners = rng.random((rows, columns, count, 2)) * 50
        return np.concatenate(
            [corners, corners + 5 + rng.random((rows, columns, count, 2)) * 25], axis=-1
        )

    inputs = [
        const(element_type, [list(info)] * images),
        data(element_type, f"{rows},{columns},{count},4", anchors),
        data(element_type, f"{images},{4 * count},{rows},{columns}", low=-0.6, high=0.6),
        data(element_type, ",".join(map(str, shape)), different(shape)),
    ]
    return row("GenerateProposals-9", attributes, *inputs, outputs=3)


def generate_shapes(*shapes: str, types: str = "f32", **given: str) -> Case:
    attributes = written("min_size=3 nms_threshold=0.5 pre_nms_count=20 post_nms_count=7", **given)
    return unrun("GenerateProposals-9", attributes, *parameters(shapes, types), outputs=3)


FIT = ("2,3", "5,6,3,4", "2,12,5,6", "2,3,5,6")
GENERATED = [
    generate(),
    generate(2),
    generate(normalized="false"),
    generate(2, normalized="false", roi_num_type="i32"),
    generate(info=(60, 80, 2)),
    generate(2, info=(60, 80, 2, 5)),
    generate(min_size="20"),
    generate(post_nms_count="100"),
    generate(nms_threshold="0.1"),
    generate(nms_threshold="1"),
    generate(pre_nms_count="5"),
    generate(rows=1, columns=1),
    generate(element_type="f16", rows=1, columns=2),
    generate_shapes(*FIT),
    generate_shapes("...", "...", "...", "..."),
    generate_shapes("1..4,3..4", "?,?,?,?", "2..9,?,?,?", "?,?,?,?"),
    generate_shapes("?,?", "5,?,3,4", "?,12,?,6", "3,3,5,6"),
    generate_shapes("...", "...", "...", "2,3,5,6"),
    generate_shapes("2,5", *FIT[1:]),
    generate_shapes("2", *FIT[1:]),
    generate_shapes("3,3", *FIT[1:]),
    generate_shapes("2,3", "5,6,3,5", *FIT[2:]),
    generate_shapes("2,3", "6,5,3,4", *FIT[2:]),
    generate_shapes("2,3", "5,6,2,4", *FIT[2:]),
    generate_shapes("2,3", "5,7,3,4", *FIT[2:]),
    generate_shapes("2,3", "5,6,3", *FIT[2:]),
    generate_shapes(*FIT[:2], "2,13,5,6", "2,3,5,6"),
    generate_shapes(*FIT[:2], "3,12,5,6", "2,3,5,6"),
    generate_shapes(*FIT[:2], "2,12,4,6", "2,3,5,6"),
    generate_shapes(*FIT[:2], "2,12,5,7", "2,3,5,6"),
    generate_shapes(*FIT[:2], "2,12,5", "2,3,5,6"),
    generate_shapes(*FIT[:3], "2,3,5"),
    generate_shapes(*FIT, pre_nms_count="0"),
    generate_shapes(*FIT, post_nms_count="-1"),
    generate_shapes(*FIT, nms_eta="0.9"),
    generate_shapes(*FIT, roi_num_type="u8"),
    generate_shapes(*FIT, types="f16 f32 i8 f64"),
    generate_shapes(*FIT, types="bf16"),
]

test_proposals = against_openvino(*PROPOSALS, *GENERATED)
