"""SegmentMax and SparseFillEmptyRows against OpenVINO."""

from __future__ import annotations

import numpy as np
from differential.cases import const, data
from rows import against_openvino, rows_of, size_of, sizes_of

segment_max = rows_of("SegmentMax-16", "fill_mode=ZERO")
lowest = rows_of("SegmentMax-16", "fill_mode=LOWEST")
ROWS = data("f32", "4,2,3")
IDS = const("i64", [0, 0, 2, 3])

MAXIMA = [
    segment_max(ROWS, IDS),
    segment_max(ROWS, IDS, fill_mode="lowest"),
    segment_max(ROWS, "i32{[0, 1, 1, 1]}"),
    segment_max(ROWS, IDS, "i64{2}"),
    lowest(ROWS, IDS, "i64{6}"),
    segment_max(ROWS, data("i64", "4", [1, 1, 3, 3]), "i32{5}"),
    segment_max(ROWS, IDS, data("i64", "", 3)),
    segment_max(data("f32", "4", [np.inf, 1, -np.inf, 2]), IDS, known="segment-max-of-infinity"),
    *(lowest(data(t, "4,2", low=-9, high=9), IDS) for t in ("i8", "u8", "i32")),
    *(segment_max(f"{t}[4,2]", IDS) for t in ("f16", "bf16", "f64")),
    lowest("f16[4,2]", IDS, known="segment-max-lowest"),
    segment_max("f32[?,2]@4,2", IDS),
    segment_max("f32[2..5,?,3] i64[3..7]", run=False),
    segment_max("f32[2..5,?,3] i64[3..7]", size_of("2..9"), run=False),
    segment_max("f32[2..5,?,3] dynamic[3..7] dynamic[]", run=False),
    segment_max("dynamic[...]", IDS, run=False),
    segment_max("string[4]", IDS, run=False),
    segment_max(ROWS, IDS, "i64{-1}", run=False),
    segment_max(ROWS, IDS, fill_mode=None, run=False, known="missing-attribute"),
    segment_max(ROWS, "i64{[-1, 0, 2, 3]}", run=False, known="segment-negative"),
    segment_max("f32[0,2] i64{[]}", known="segment-max-of-nothing"),
    # refused
    segment_max(ROWS, "i64{[0, 2, 1, 3]}"),
    segment_max(ROWS, "i64[5]"),
    segment_max(ROWS, "i64[4,1]"),
    segment_max(ROWS, "f32[4]"),
    segment_max(ROWS, IDS, "i64{[6]}"),
    segment_max(ROWS, IDS, "f32{6}"),
    segment_max("f32[] i64[1]"),
    segment_max(ROWS, IDS, fill_mode="MEAN"),
    segment_max(ROWS),
]


fill = rows_of("SparseFillEmptyRows-16", outputs=3)
PLACES = [[0, 1], [2, 0], [2, 3], [0, 0]]
VALUES, NINE = data("f32", "4"), const("f32", 9)

BOUNDED = "sparse-bounded-rows"

FILLED = [
    fill(VALUES, "i32{[5, 6]}", const("i32", PLACES), NINE),
    fill(VALUES, "i64{[5, 6]}", data("i64", "4,2", PLACES), NINE),
    fill(VALUES, data("i32", "2", [5, 6]), const("i32", PLACES), NINE),
    fill(data("i8", "4", [1, 2, 3, 4]), "i32{[3, 4]}", const("i32", PLACES), data("i8", "", 7)),
    fill(data("f32", "1", [5]), "i32{[1, 1]} i32{[[0, 0]]}", NINE),
    fill("f32[?]@4 i32{[3, 4]}", data("i32", "?,?", PLACES, run_shape=(4, 2)), NINE),
    fill("f32[0] i32{[2, 6]}", const("i32", [], (0, 2)), NINE, run=False),
    fill("f32[2..9] i32{[2, 6]} i32[5..,2]", NINE, run=False),
    fill("dynamic[...] i32{[3, 4]} dynamic[...] f32[...]", run=False),
    fill("f32[...] i32[...] i32[...] f32[...]", run=False),
    fill("f32[...] i32{[-3, 4]} i32[...] f32[...]", run=False),
    fill("string[4] i64{[5, 6]}", const("i64", PLACES), "string[]", run=False),
    fill(VALUES, sizes_of("2..6,4", "i32"), "i32[4,2]", NINE, run=False, known=BOUNDED),
    # refused
    fill(VALUES, "i32{[2, 6]}", const("i32", PLACES), NINE),
    fill(VALUES, "i32{[5, 3]}", const("i32", PLACES), NINE),
    fill(VALUES, "i32{[[5, 6]]}", const("i32", PLACES), NINE),
    fill(VALUES, "i32{[5, 6, 7]}", const("i32", PLACES), NINE),
    fill(VALUES, "i64{[5, 6]}", const("i32", PLACES), NINE),
    fill(VALUES, "f32{[5, 6]}", const("f32", PLACES), NINE),
    fill(VALUES, "i32{[5, 6]} i32[3,2]", NINE),
    fill(VALUES, "i32{[5, 6]} i32[4,3]", NINE),
    fill("f32[4,1] i32{[5, 6]} i32[4,2]", NINE),
    fill(VALUES, "i32{[5, 6]}", const("i32", PLACES), "f32{[9]}"),
    fill(VALUES, "i32{[5, 6]}", const("i32", PLACES)),
]

test_sparse = against_openvino(*MAXIMA, *FILLED)
