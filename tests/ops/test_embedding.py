"""Embedding look-ups against OpenVINO."""

from __future__ import annotations

from typing import Any

import pytest
from differential.cases import Case, Input, case_id, const, data, node, row
from differential.compare import check
from differential.oracle import Oracle

TABLE = data("f32", "5,2,3")
INDICES = const("i64", [0, 2, 3, 4, 2, 0])


def ints(shape: str, element_type: str = "i64") -> Input:
    return data(element_type, shape)


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


def offsets(inputs: list[Input], reduction: str | None = None, **options: Any) -> list[Case]:
    """EmbeddingBagOffsets-15, and -Sum-3 where it is not about means."""
    newer = Case(
        "EmbeddingBagOffsets",
        "opset15",
        {} if reduction is None else {"reduction": reduction},
        inputs,
        **options,
    )
    return (
        [newer]
        if reduction == "mean"
        else [newer, Case("EmbeddingBagOffsetsSum", "opset3", {}, inputs, **options)]
    )


def packed(inputs: list[Input], reduction: str | None = None, **options: Any) -> list[Case]:
    newer = Case(
        "EmbeddingBagPacked",
        "opset15",
        {} if reduction is None else {"reduction": reduction},
        inputs,
        **options,
    )
    return (
        [newer]
        if reduction == "mean"
        else [newer, Case("EmbeddingBagPackedSum", "opset3", {}, inputs, **options)]
    )


def segments(inputs: list[Input], **options: Any) -> list[Case]:
    return [Case("EmbeddingSegmentsSum", "opset3", {}, inputs, **options)]


OFFSETS = [
    *offsets([TABLE, INDICES, const("i64", [0, 2, 2, 5])]),
    *offsets([TABLE, INDICES, const("i64", [0, 2, 2, 5]), const("i64", 1)], "sum"),
    *offsets([TABLE, INDICES, const("i64", [0, 2, 2, 5]), const("i64", -1)]),
    *offsets(
        [TABLE, INDICES, const("i64", [0, 2, 6]), const("i64", 1)], known="embedding-last-bag"
    ),
    *offsets([TABLE, INDICES, const("i64", [0, 2, 2, 5]), const("i64", 1), data("f32", "6")]),
    *offsets([TABLE, INDICES, const("i64", [0, 2, 2, 5])], "mean"),
    *offsets([TABLE, INDICES, const("i64", [0, 2, 2, 5]), const("i64", 1)], "mean"),
    *offsets([TABLE, const("i32", [4, 1, 1]), const("i32", [0]), const("i32", 0)]),
    *offsets([data("f32", "5"), const("i32", [4, 1, 1]), const("i32", [0, 1])]),
    *offsets([data("i32", "5,2", low=-9, high=9), INDICES, const("i64", [0, 4])]),
    *offsets([data("f16", "5,2"), INDICES, const("i64", [0, 4])]),
    *offsets([data("u8", "5,2", low=0, high=9), INDICES, const("i64", [0, 4])]),
    *offsets(
        [
            data("f32", "?,2", run_shape=(5, 2)),
            ints("..."),
            data("i64", "?", [0, 1], run_shape=(2,)),
        ],
        run=False,
    ),
    *offsets(
        [data("f32", "5,?,1..3"), ints("2..5"), ints("3..9"), ints("..."), data("f32", "4..8")],
        run=False,
    ),
    *offsets([data("string", "..."), ints("4"), ints("1..3")], run=False),
    *offsets(
        [data("dynamic", "5,2"), ints("4"), ints("..."), ints(""), data("f32", "4")], run=False
    ),
    *offsets([TABLE, const("i64", [0, 5]), const("i64", [0])], run=False, known="embedding-index"),
    *offsets(
        [TABLE, INDICES, const("i64", [0]), const("i64", -2)], run=False, known="embedding-index"
    ),
    # refused
    *offsets([TABLE, INDICES, ints("3"), ints(""), data("f32", "6")], "mean"),
    *offsets([TABLE, INDICES, ints("3"), ints(""), data("f32", "5")]),
    *offsets([TABLE, INDICES, ints("3"), ints(""), data("i64", "6")]),
    *offsets([TABLE, INDICES, ints("3", "i32")]),
    *offsets([TABLE, INDICES, ints("3"), ints("", "i32")]),
    *offsets([TABLE, ints("6", "dynamic"), ints("3")]),
    *offsets([TABLE, INDICES, ints("3", "dynamic")]),
    *offsets([TABLE, INDICES, ints("3"), ints("", "dynamic")]),
    *offsets([TABLE, INDICES, ints("3,1")]),
    *offsets([TABLE, ints("6,1"), ints("3")]),
    *offsets([TABLE, INDICES, ints("3"), ints("1")]),
    *offsets([TABLE, ints("6", "f32"), ints("3", "f32")]),
    *offsets([data("f32", ""), INDICES, ints("3")]),
    *offsets([TABLE, INDICES]),
    row("EmbeddingBagOffsets-15", {"reduction": "max"}, TABLE, INDICES, ints("3")),
]

ROWS = const("i64", [[0, 2], [3, 4], [2, 2]])

PACKED = [
    *packed([TABLE, ROWS]),
    *packed([TABLE, ROWS, data("f32", "3,2")], "sum"),
    *packed([TABLE, ROWS], "mean"),
    *packed([data("f32", "5"), const("i32", [[4, 1, 1]])]),
    *packed([data("i32", "5,2", low=-9, high=9), ROWS]),
    *packed([data("f16", "5,2"), ROWS, data("f16", "3,2")]),
    *packed([data("f32", "?,2", run_shape=(5, 2)), ROWS]),
    *packed([data("f32", "5,2"), ints("2..5,?"), data("f32", "4..7,3")], run=False),
    *packed([data("f32", "5,2"), ints("..."), data("f32", "4,3")], run=False),
    *packed([data("f32", "..."), ints("4,3")], run=False),
    *packed([data("dynamic", "5,1..3"), ints("..."), data("f32", "...")], run=False),
    *packed([TABLE, const("i64", [[0, -1]])], run=False, known="embedding-index"),
    # refused
    *packed([TABLE, ROWS, data("f32", "3,2")], "mean"),
    *packed([TABLE, ROWS, data("f32", "3,3")]),
    *packed([TABLE, ROWS, data("f32", "6")]),
    *packed([TABLE, ROWS, data("f16", "3,2")]),
    *packed([TABLE, ints("6")]),
    *packed([TABLE, ints("3,2", "dynamic")]),
    *packed([TABLE, ints("3,2", "u8")]),
    *packed([data("f32", ""), ROWS]),
]

IDS = const("i64", [0, 0, 2, 2, 2, 3])

SEGMENTS = [
    *segments([TABLE, INDICES, IDS, const("i64", 5)]),
    *segments([TABLE, INDICES, IDS, const("i64", 5), const("i64", 3)]),
    *segments([TABLE, INDICES, IDS, const("i64", 5), const("i64", 3), data("f32", "6")]),
    *segments([TABLE, INDICES, IDS, data("i64", "", 4)]),
    *segments(
        [
            data("i32", "5,2", low=-9, high=9),
            const("i32", [1, 2]),
            const("i32", [0, 1]),
            const("i32", 2),
        ]
    ),
    *segments(
        [
            data("f16", "5"),
            const("i32", [1, 2]),
            const("i32", [0, 0]),
            const("i32", 2),
            const("i32", 0),
        ]
    ),
    *segments([data("f32", "5,?"), INDICES, IDS, size_of("2..5")], run=False),
    *segments([data("f32", "..."), ints("..."), ints("?"), ints("...")], run=False),
    *segments([TABLE, ints("6"), ints("6"), const("i64", -1)], run=False),
    *segments([TABLE, const("i64", [9]), ints("1"), ints("")], run=False, known="embedding-index"),
    # refused
    *segments([TABLE, INDICES, ints("5"), ints("")]),
    *segments([TABLE, INDICES, IDS, ints("1")]),
    *segments([TABLE, INDICES, IDS, ints("", "i32")]),
    *segments([TABLE, INDICES, ints("6", "i32"), ints("")]),
    *segments([TABLE, ints("6", "dynamic"), IDS, ints("")]),
    *segments([TABLE, INDICES, IDS, ints("", "dynamic")]),
    *segments([TABLE, INDICES, IDS, ints(""), ints("1")]),
    *segments([TABLE, INDICES, IDS, ints(""), ints(""), data("f32", "5")]),
    *segments([TABLE, INDICES, IDS, ints(""), ints(""), data("u8", "6")]),
    *segments([TABLE, INDICES, IDS]),
]


@pytest.mark.parametrize("case", [*OFFSETS, *PACKED, *SEGMENTS], ids=case_id)
def test_embedding(case: Case, oracle: Oracle) -> None:
    check(case, oracle)
