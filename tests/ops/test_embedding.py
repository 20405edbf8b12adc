"""Embedding look-ups against OpenVINO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from differential.cases import Case, Input, const, data
from rows import against_openvino, row, size_of

TABLE = data("f32", "5,2,3")
INDICES = const("i64", [0, 2, 3, 4, 2, 0])


def ints(shape: str, element_type: str = "i64") -> Input:
    return data(element_type, shape)


def of_bags(newer: str, older: str) -> Callable[..., list[Case]]:
    """What makes the cases of inputs: of both operations, but of the newer one for means."""

    def make(inputs: list[Input], reduction: str | None = None, **options: Any) -> list[Case]:
        first = row(newer, {"reduction": reduction}, *inputs, **options)
        return [first] if reduction == "mean" else [first, row(older, {}, *inputs, **options)]

    return make


offsets = of_bags("EmbeddingBagOffsets-15", "EmbeddingBagOffsetsSum-3")
packed = of_bags("EmbeddingBagPacked-15", "EmbeddingBagPackedSum-3")


def segments(inputs: list[Input], **options: Any) -> list[Case]:
    return [row("EmbeddingSegmentsSum-3", {}, *inputs, **options)]


OFFSETS = [
    *offsets([TABLE, INDICES, "i64{[0, 2, 2, 5]}"]),
    *offsets([TABLE, INDICES, "i64{[0, 2, 2, 5]} i64{1}"], "sum"),
    *offsets([TABLE, INDICES, "i64{[0, 2, 2, 5]} i64{-1}"]),
    *offsets([TABLE, INDICES, "i64{[0, 2, 6]} i64{1}"], known="embedding-last-bag"),
    *offsets([TABLE, INDICES, "i64{[0, 2, 2, 5]} i64{1} f32[6]"]),
    *offsets([TABLE, INDICES, "i64{[0, 2, 2, 5]}"], "mean"),
    *offsets([TABLE, INDICES, "i64{[0, 2, 2, 5]} i64{1}"], "mean"),
    *offsets([TABLE, "i32{[4, 1, 1]} i32{[0]} i32{0}"]),
    *offsets(["f32[5] i32{[4, 1, 1]} i32{[0, 1]}"]),
    *offsets([data("i32", "5,2", low=-9, high=9), INDICES, "i64{[0, 4]}"]),
    *offsets(["f16[5,2]", INDICES, "i64{[0, 4]}"]),
    *offsets([data("u8", "5,2", low=0, high=9), INDICES, "i64{[0, 4]}"]),
    *offsets(["f32[?,2]@5,2", ints("..."), data("i64", "?", [0, 1], run_shape=(2,))], run=False),
    *offsets(["f32[5,?,1..3]", ints("2..5"), ints("3..9"), ints("..."), "f32[4..8]"], run=False),
    *offsets(["string[...]", ints("4"), ints("1..3")], run=False),
    *offsets(["dynamic[5,2]", ints("4"), ints("..."), ints(""), "f32[4]"], run=False),
    *offsets([TABLE, "i64{[0, 5]} i64{[0]}"], run=False, known="embedding-index"),
    *offsets([TABLE, INDICES, "i64{[0]} i64{-2}"], run=False, known="embedding-index"),
    # refused
    *offsets([TABLE, INDICES, ints("3"), ints(""), "f32[6]"], "mean"),
    *offsets([TABLE, INDICES, ints("3"), ints(""), "f32[5]"]),
    *offsets([TABLE, INDICES, ints("3"), ints(""), "i64[6]"]),
    *offsets([TABLE, INDICES, ints("3", "i32")]),
    *offsets([TABLE, INDICES, ints("3"), ints("", "i32")]),
    *offsets([TABLE, ints("6", "dynamic"), ints("3")]),
    *offsets([TABLE, INDICES, ints("3", "dynamic")]),
    *offsets([TABLE, INDICES, ints("3"), ints("", "dynamic")]),
    *offsets([TABLE, INDICES, ints("3,1")]),
    *offsets([TABLE, ints("6,1"), ints("3")]),
    *offsets([TABLE, INDICES, ints("3"), ints("1")]),
    *offsets([TABLE, ints("6", "f32"), ints("3", "f32")]),
    *offsets(["f32[]", INDICES, ints("3")]),
    *offsets([TABLE, INDICES]),
    row("EmbeddingBagOffsets-15", "reduction=max", TABLE, INDICES, ints("3")),
]

ROWS = const("i64", [[0, 2], [3, 4], [2, 2]])

PACKED = [
    *packed([TABLE, ROWS]),
    *packed([TABLE, ROWS, "f32[3,2]"], "sum"),
    *packed([TABLE, ROWS], "mean"),
    *packed(["f32[5] i32{[[4, 1, 1]]}"]),
    *packed([data("i32", "5,2", low=-9, high=9), ROWS]),
    *packed(["f16[5,2]", ROWS, "f16[3,2]"]),
    *packed(["f32[?,2]@5,2", ROWS]),
    *packed(["f32[5,2]", ints("2..5,?"), "f32[4..7,3]"], run=False),
    *packed(["f32[5,2]", ints("..."), "f32[4,3]"], run=False),
    *packed(["f32[...]", ints("4,3")], run=False),
    *packed(["dynamic[5,1..3]", ints("..."), "f32[...]"], run=False),
    *packed([TABLE, "i64{[[0, -1]]}"], run=False, known="embedding-index"),
    # refused
    *packed([TABLE, ROWS, "f32[3,2]"], "mean"),
    *packed([TABLE, ROWS, "f32[3,3]"]),
    *packed([TABLE, ROWS, "f32[6]"]),
    *packed([TABLE, ROWS, "f16[3,2]"]),
    *packed([TABLE, ints("6")]),
    *packed([TABLE, ints("3,2", "dynamic")]),
    *packed([TABLE, ints("3,2", "u8")]),
    *packed(["f32[]", ROWS]),
]

IDS = const("i64", [0, 0, 2, 2, 2, 3])

SEGMENTS = [
    *segments([TABLE, INDICES, IDS, "i64{5}"]),
    *segments([TABLE, INDICES, IDS, "i64{5} i64{3}"]),
    *segments([TABLE, INDICES, IDS, "i64{5} i64{3} f32[6]"]),
    *segments([TABLE, INDICES, IDS, data("i64", "", 4)]),
    *segments([data("i32", "5,2", low=-9, high=9), "i32{[1, 2]} i32{[0, 1]} i32{2}"]),
    *segments(["f16[5] i32{[1, 2]} i32{[0, 0]} i32{2} i32{0}"]),
    *segments(["f32[5,?]", INDICES, IDS, size_of("2..5")], run=False),
    *segments(["f32[...]", ints("..."), ints("?"), ints("...")], run=False),
    *segments([TABLE, ints("6"), ints("6"), "i64{-1}"], run=False),
    *segments([TABLE, "i64{[9]}", ints("1"), ints("")], run=False, known="embedding-index"),
    # refused
    *segments([TABLE, INDICES, ints("5"), ints("")]),
    *segments([TABLE, INDICES, IDS, ints("1")]),
    *segments([TABLE, INDICES, IDS, ints("", "i32")]),
    *segments([TABLE, INDICES, ints("6", "i32"), ints("")]),
    *segments([TABLE, ints("6", "dynamic"), IDS, ints("")]),
    *segments([TABLE, INDICES, IDS, ints("", "dynamic")]),
    *segments([TABLE, INDICES, IDS, ints(""), ints("1")]),
    *segments([TABLE, INDICES, IDS, ints(""), ints(""), "f32[5]"]),
    *segments([TABLE, INDICES, IDS, ints(""), ints(""), "u8[6]"]),
    *segments([TABLE, INDICES, IDS]),
]

test_embedding = against_openvino(*OFFSETS, *PACKED, *SEGMENTS)
