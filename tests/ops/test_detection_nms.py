"""NonMaxSuppression and NMSRotated."""

from __future__ import annotations

import numpy as np
import pytest
from differential.cases import Case, Data, const, data
from rows import against_openvino, row, table, unrun

from irshape.ops.detection.nms import NonMaxSuppression_9

BOXES = table("0 0 1 1; 0 0.1 1 1.1; 0 -0.1 1 0.9; 0 10 1 11; 0 10.1 1 11.1; 0 100 1 101")
SCORES = [[0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [0.3, 0.5, 0.95, 0.6, 0.75, 0.9]]
UNORDERED = table("1 1 0 0; 0 1.1 1 0.1; 1 -0.1 0 0.9; 0 11 1 10; 1 10.1 0 11.1; 1 101 0 100")
CENTERED = [[(b[1] + b[3]) / 2, (b[0] + b[2]) / 2, b[3] - b[1], b[2] - b[0]] for b in BOXES]


def nms(
    version: int,
    limit: object = 3,
    iou: object = 0.5,
    score: object = 0.0,
    sigma: object = None,
    *,
    boxes: object = BOXES,
    items: int = 1,
    element_type: str = "f32",
    known: object = (),
    run: object = True,
    expected: object = None,
    shape: tuple[int, ...] = (),
    **attributes: str,
) -> Case:
    """Boxes with two classes, thresholds as constants."""
    inputs: list[object] = [
        data(element_type, f"{items},6,4", [boxes] * items),
        data(element_type, f"{items},2,6", [SCORES] * items),
    ]
    if limit is not None:
        inputs.append(limit if isinstance(limit, Data) else const("i64", limit, shape))
        inputs += [const("f32", iou, shape), const("f32", score, shape)]
    if sigma is not None:
        inputs.append(const("f32", sigma, shape))
    case = row(
        f"NonMaxSuppression-{version}",
        attributes,
        *inputs,
        outputs=3 if version > 4 else 1,
        known=known,
        run=run,
        expected=expected,
    )
    case.id += f"-x{items}" + ("" if boxes is BOXES else f"-{np.ravel(boxes)[1]}")
    return case


def shapes(
    version: int,
    boxes: str,
    scores: str,
    limit: object = 3,
    element_type: str = "f32",
    known: str = "",
) -> Case:
    """Types and shapes only."""
    limits = []
    if limit is not None:
        limits = [limit if isinstance(limit, Data) else const("i64", limit)]
    return unrun(
        f"NonMaxSuppression-{version}",
        {},
        f"{element_type}[{boxes}] {element_type}[{scores}]",
        *limits,
        outputs=3 if version > 4 else 1,
        known=known,
    )


PADDED = [[0, 0, 3], [0, 1, 2], [0, 0, 0], [0, 1, 5], [0, 1, 4], [0, 0, 5]]
CASES = [
    *[
        shapes(v, boxes=b, scores=s, limit=limit)
        for v in (1, 3, 4, 5, 9)
        for b, s, limit in (
            ("1,4,4", "1,2,4", 3),
            ("1,2..4,4", "1,2,4", 3),
            ("...", "2,3,7", 3),
            ("2,7,4", "2,?,7", 0),
            ("2,7,4", "2,?,7", -5),
            ("2,7,4", "...", 0),
            ("2,..7,4", "2,0,7", -1),
            ("2,7,4", "2,0,7", data("i64", "")),
            ("2,7,4", "2,0,7", -1),
            ("1,?,?", "?,0,?", 2),
            ("2,7,4", "2,3,7", None),
            ("1,1000000000000,4", "1,1000000,1000000000000", 1000000),
        )
    ],
    *[
        shapes(v, boxes=b, scores=s, known="nms-unknown-classes" if v in wider else "")
        for v in (1, 3, 4, 5, 9)
        for b, s, wider in (("..3,4,4", "..5,2..6,4", (4,)), ("2,7,4", "...", (1, 3)))
    ],
    *[
        shapes(v, boxes=b, scores=s)
        for v in (1, 5, 9)
        for b, s in (
            ("2,7,5", "2,3,7"),
            ("2,7,4", "1,3,7"),
            ("2,7,4", "2,3,8"),
            ("7,4", "2,3,7"),
            ("2,7,4", "2,7"),
            ("2,3..4,4", "2,1,5..6"),
            ("2,1,3..4", "2,1,1"),
        )
    ],
    shapes(1, boxes="1,1,4", scores="1,1,1", limit=const("i64", [1]).values),
    shapes(9, boxes="1,1,4", scores="1,1,1", limit=[1, 2]),
    shapes(9, boxes="1,1,4", scores="1,1,1", limit=[2]),
    shapes(4, boxes="1,1,4", scores="1,1,1", limit=2, element_type="i32"),
    shapes(9, boxes="1,1,4", scores="1,1,1", limit=2, element_type="i32"),
    shapes(5, boxes="1,1,4", scores="1,1,1", limit=2, element_type="f64"),
    nms(1),
    nms(3, output_type="i32"),
    nms(4),
    nms(4, limit=3, iou=0.05, score=0.4, known="nms-rows"),
    nms(1, limit=0),
    nms(4, limit=None),
    nms(3, limit=data("i64", "", 3)),
    nms(
        1,
        items=2,
        known="nms-rows",
        expected=[[[0, 0, 3], [0, 1, 2], [1, 0, 3], [1, 1, 2], [0, 0, 0], [0, 1, 5]]],
    ),
    nms(1, limit=6, score=0.5, known="nms-rows", expected=[[*PADDED[:5], [-1, -1, -1]]]),
    nms(4, limit=6, known="nms-rows", expected=[[*PADDED, *[[-1] * 3] * 6]]),
    nms(4, items=2),
    nms(4, sort_result_descending="false"),
    nms(4, boxes=UNORDERED),
    nms(4, boxes=CENTERED, box_encoding="center"),
    *[
        nms(v, **given)
        for v in (5, 9)
        for given in (
            {},
            {"limit": 6},
            {"limit": 1},
            {"limit": 100},
            {"score": 0.5},
            {"score": 0.99},
            {"score": -1.0},
            {"iou": 0.0, "known": "nms-equal-threshold"},
            {"iou": 1.0},
            {"iou": -1.0},
            {"iou": 9 / 11},
            {"limit": data("i32", "", 2)},
            {"items": 2, "output_type": "i32"},
            {"items": 2, "sort_result_descending": "false"},
            {"boxes": UNORDERED},
            {"boxes": CENTERED, "box_encoding": "center"},
            {"boxes": BOXES, "box_encoding": "center"},
            {"element_type": "f16"},
            {"shape": (1,)},
            {"limit": 6, "iou": 1.0, "sigma": 0.5},
            {"sigma": 0.0},
            {"limit": 6, "iou": 0.9, "sigma": 0.2, "score": 0.35},
        )
    ],
    nms(9, limit=6, iou=0.2, score=0.1, sigma=0.5),
    nms(9, limit=4, iou=0.5, score=0.31, sigma=1.0, sort_result_descending="false"),
    nms(9, limit=6, iou=-1.0, score=-1.0, sigma=0.3),
    nms(5, limit=6, iou=0.2, score=0.1, sigma=0.5, known="nms5-beyond-threshold"),
    nms(9, box_encoding="CENTER", boxes=CENTERED),
    nms(9, box_encoding="corners"),
    nms(9, output_type="u32"),
    nms(5, output_type="f32"),
    unrun("NonMaxSuppression-9", {}, "f32[1,1,4] f32[1,1,1] i64{3} i32{0}", outputs=3),
    row(
        "NonMaxSuppression-9",
        {},
        data("f32", "2,9,4", low=0, high=1),
        data("f32", "2,3,9", low=0, high=1),
        "i64{7} f32{0.3} f32{0.2}",
        outputs=3,
    ),
    row(
        "NonMaxSuppression-9",
        {},
        data("f32", "?,?,4", low=0, high=1, run_shape=(1, 40, 4)),
        data("f32", "?,?,?", low=0, high=1, run_shape=(1, 2, 40)),
        "i64{30} f32{0.2} f32{0.1}",
        outputs=3,
    ),
    # all scores equal, two boxes equal, empty boxes, NaN
    row(
        "NonMaxSuppression-9",
        {},
        data("f32", "1,4,4", [[[0, 0, 2, 2], [0, 0, 2, 2], [1, 1, 1, 1], [1, 1, 1, 3]]]),
        data("f32", "1,1,4", [[[0.5] * 4]]),
        "i64{4} f32{0.5} f32{0.0}",
        outputs=3,
    ),
    row(
        "NonMaxSuppression-9",
        {},
        data("f32", "1,3,4", [BOXES[:3]]),
        data("f32", "1,1,3", [[[0.5, float("nan"), 0.25]]]),
        "i64{4} f32{0.9} f32{0.0}",
        outputs=3,
    ),
]


TURNED = [
    [0, 0, 4, 2, 0],
    [0, 0, 4, 2, 0.5],
    [0.5, 0, 4, 2, np.pi / 2],
    [5, 5, 3, 3, 0],
    [5, 5, 3, 3, np.pi / 4],
    [1, 0, 0, 2, 0.1],
]


def rotated(
    limit: object = 6,
    iou: object = 0.3,
    score: object = 0.0,
    *,
    boxes: object = TURNED,
    element_type: str = "f32",
    run: object = True,
    **attributes: str,
) -> Case:
    inputs = [
        data(element_type, "1,6,5", [boxes]),
        data(element_type, "1,2,6", [SCORES]),
        const("i64", limit),
        const("f32", iou),
        const("f32", score),
    ]
    return row("NMSRotated-13", attributes, *inputs, outputs=3, run=run)


def rotated_shapes(
    boxes: str,
    scores: str,
    limit: object = 3,
    types: str = "f32 f32 i64 f32 f32",
    **attributes: str,
) -> Case:
    a, b, c, d, e = types.split()
    return unrun(
        "NMSRotated-13",
        attributes,
        f"{a}[{boxes}] {b}[{scores}]",
        const(c, limit),
        const(d, 0),
        const(e, 0),
        outputs=3,
    )


ROTATED = [
    rotated(),
    rotated(iou=0.05),
    rotated(iou=0.9),
    rotated(clockwise="false"),
    rotated(2),
    rotated(score=0.7),
    rotated(output_type="i32", sort_result_descending="false"),
    rotated(0, run=False),
    rotated(element_type="f16", iou=0.35),
    rotated(iou=0.0),
    rotated(iou=0.21),
    row(
        "NMSRotated-13",
        {},
        data("f32", "2,12,5", low=0.5, high=3),
        data("f32", "2,3,12", low=0, high=1),
        "i64{9} f32{0.3} f32{0.2}",
        outputs=3,
    ),
    rotated_shapes("1,4,5", "1,2,4"),
    rotated_shapes("..3,4,5", "..5,2..6,4"),
    rotated_shapes("...", "2,3,7"),
    rotated_shapes("2,7,5", "..."),
    rotated_shapes("2,..7,5", "2,0,7", -1),
    rotated_shapes("1,4,4", "1,2,4"),
    rotated_shapes("1,4,5", "1,2,3"),
    rotated_shapes("1,4,5", "2,2,4"),
    rotated_shapes("4,5", "1,2,4"),
    rotated_shapes("1,4,5", "1,2,4", 3, "i32 f32 i64 f32 f32"),
    rotated_shapes("1,4,5", "1,2,4", 3, "f32 f64 i64 f16 bf16"),
    rotated_shapes("1,4,5", "1,2,4", 3, "f32 f32 f32 f32 f32"),
    rotated_shapes("1,4,5", "1,2,4", 3, "f32 f32 i32 i32 f32"),
    rotated_shapes("1,4,5", "1,2,4", [1, 2]),
    rotated_shapes("1,4,5", "1,2,4", output_type="u8"),
]

test_against_openvino = against_openvino(*CASES, *ROTATED)


@pytest.mark.parametrize(("shape", "limit"), [((1, 0), 3), ((0, 3), 3), ((1, 3), 0), ((1, 3), -2)])
def test_nothing_chosen(shape: tuple[int, int], limit: int) -> None:
    """Not asked of OpenVINO, whose CPU plugin then leaves the number of boxes uninitialised."""
    items, count = shape
    boxes, marks = np.ones((items, count, 4), np.float32), np.ones((items, 2, count), np.float32)
    indices, scored, number = NonMaxSuppression_9().evaluate(
        boxes, marks, np.int64(limit), np.float32(0), np.float32(0), None
    )
    assert (indices.shape, scored.shape, number.tolist()) == ((0, 3), (0, 3), [0])
