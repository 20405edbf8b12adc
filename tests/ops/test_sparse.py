"""SegmentMax and SparseFillEmptyRows against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential.cases import Case, Input, case_id, const, data, node
from differential.compare import check
from differential.oracle import Oracle


def size_of(shape: str) -> Input:
    """The first dimension of a tensor, as a scalar."""
    return node(
        "Gather",
        "opset8",
        {"batch_dims": "0"},
        [
            node("ShapeOf", "opset3", {"output_type": "i64"}, [data("f32", shape)]),
            const("i64", 0),
            const("i64", 0),
        ],
    )


def segment_max(inputs: list[Input], fill_mode: str | None = "ZERO", **options: Any) -> Case:
    return Case(
        "SegmentMax",
        "opset16",
        {} if fill_mode is None else {"fill_mode": fill_mode},
        inputs,
        **options,
    )


ROWS = data("f32", "4,2,3")
IDS = const("i64", [0, 0, 2, 3])

MAXIMA = [
    segment_max([ROWS, IDS]),
    segment_max([ROWS, IDS], "lowest"),
    segment_max([ROWS, const("i32", [0, 1, 1, 1])]),
    segment_max([ROWS, IDS, const("i64", 2)]),
    segment_max([ROWS, IDS, const("i64", 6)], "LOWEST"),
    segment_max([ROWS, data("i64", "4", [1, 1, 3, 3]), const("i32", 5)]),
    segment_max([ROWS, IDS, data("i64", "", 3)]),
    segment_max([data("f32", "4", [np.inf, 1, -np.inf, 2]), IDS], known="segment-max-of-infinity"),
    *(segment_max([data(t, "4,2", low=-9, high=9), IDS], "LOWEST") for t in ("i8", "u8", "i32")),
    *(segment_max([data(t, "4,2"), IDS]) for t in ("f16", "bf16", "f64")),
    segment_max([data("f16", "4,2"), IDS], "LOWEST", known="segment-max-lowest"),
    segment_max([data("f32", "?,2", run_shape=(4, 2)), IDS]),
    segment_max([data("f32", "2..5,?,3"), data("i64", "3..7")], run=False),
    segment_max([data("f32", "2..5,?,3"), data("i64", "3..7"), size_of("2..9")], run=False),
    segment_max([data("f32", "2..5,?,3"), data("dynamic", "3..7"), data("dynamic", "")], run=False),
    segment_max([data("dynamic", "..."), IDS], run=False),
    segment_max([data("string", "4"), IDS], run=False),
    segment_max([ROWS, IDS, const("i64", -1)], run=False),
    segment_max([ROWS, IDS], None, run=False, known="missing-attribute"),
    segment_max([ROWS, const("i64", [-1, 0, 2, 3])], run=False, known="segment-negative"),
    segment_max([data("f32", "0,2"), const("i64", [], (0,))], known="segment-max-of-nothing"),
    # refused
    segment_max([ROWS, const("i64", [0, 2, 1, 3])]),
    segment_max([ROWS, data("i64", "5")]),
    segment_max([ROWS, data("i64", "4,1")]),
    segment_max([ROWS, data("f32", "4")]),
    segment_max([ROWS, IDS, const("i64", [6])]),
    segment_max([ROWS, IDS, const("f32", 6)]),
    segment_max([data("f32", ""), data("i64", "1")]),
    segment_max([ROWS, IDS], "MEAN"),
    segment_max([ROWS]),
]


def fill(inputs: list[Input], **options: Any) -> Case:
    return Case("SparseFillEmptyRows", "opset16", {}, inputs, outputs=3, **options)


PLACES = [[0, 1], [2, 0], [2, 3], [0, 0]]
VALUES, NINE = data("f32", "4"), const("f32", 9)

FILLED = [
    fill([VALUES, const("i32", [5, 6]), const("i32", PLACES), NINE]),
    fill([VALUES, const("i64", [5, 6]), data("i64", "4,2", PLACES), NINE]),
    fill([VALUES, data("i32", "2", [5, 6]), const("i32", PLACES), NINE]),
    fill(
        [
            data("i8", "4", [1, 2, 3, 4]),
            const("i32", [3, 4]),
            const("i32", PLACES),
            data("i8", "", 7),
        ]
    ),
    fill([data("f32", "1", [5]), const("i32", [1, 1]), const("i32", [[0, 0]]), NINE]),
    fill(
        [
            data("f32", "?", [1, 2, 3, 4], run_shape=(4,)),
            const("i32", [3, 4]),
            data("i32", "?,?", PLACES, run_shape=(4, 2)),
            NINE,
        ]
    ),
    fill([data("f32", "0"), const("i32", [2, 6]), const("i32", [], (0, 2)), NINE], run=False),
    fill([data("f32", "2..9"), const("i32", [2, 6]), data("i32", "5..,2"), NINE], run=False),
    fill(
        [data("dynamic", "..."), const("i32", [3, 4]), data("dynamic", "..."), data("f32", "...")],
        run=False,
    ),
    fill(
        [data("f32", "..."), data("i32", "..."), data("i32", "..."), data("f32", "...")], run=False
    ),
    fill(
        [data("f32", "..."), const("i32", [-3, 4]), data("i32", "..."), data("f32", "...")],
        run=False,
    ),
    fill(
        [data("string", "4"), const("i64", [5, 6]), const("i64", PLACES), data("string", "")],
        run=False,
    ),
    fill(
        [
            VALUES,
            node("ShapeOf", "opset3", {"output_type": "i32"}, [data("f32", "2..6,4")]),
            data("i32", "4,2"),
            NINE,
        ],
        run=False,
        known="sparse-bounded-rows",
    ),
    # refused
    fill([VALUES, const("i32", [2, 6]), const("i32", PLACES), NINE]),
    fill([VALUES, const("i32", [5, 3]), const("i32", PLACES), NINE]),
    fill([VALUES, const("i32", [[5, 6]]), const("i32", PLACES), NINE]),
    fill([VALUES, const("i32", [5, 6, 7]), const("i32", PLACES), NINE]),
    fill([VALUES, const("i64", [5, 6]), const("i32", PLACES), NINE]),
    fill([VALUES, const("f32", [5, 6]), const("f32", PLACES), NINE]),
    fill([VALUES, const("i32", [5, 6]), data("i32", "3,2"), NINE]),
    fill([VALUES, const("i32", [5, 6]), data("i32", "4,3"), NINE]),
    fill([data("f32", "4,1"), const("i32", [5, 6]), data("i32", "4,2"), NINE]),
    fill([VALUES, const("i32", [5, 6]), const("i32", PLACES), const("f32", [9])]),
    fill([VALUES, const("i32", [5, 6]), const("i32", PLACES)]),
]


@pytest.mark.parametrize("case", [*MAXIMA, *FILLED], ids=case_id)
def test_sparse(case: Case, oracle: Oracle) -> None:
    check(case, oracle)
