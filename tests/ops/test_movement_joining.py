"""Concat, Split and VariadicSplit against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, data
from rows import (
    PACKED,
    SIZES,
    TYPES,
    against_openvino,
    all_given,
    as_shape,
    given,
    node,
    row,
    unrun,
)

Shape = tuple[int, ...] | None


def concat(
    axis: int, *shapes: str, fed: tuple[Shape, ...] = (), t: str = "f32", **fields: Any
) -> Case:
    feeds = fed or (None,) * len(shapes)
    inputs = [data(t, shape, run_shape=one) for shape, one in zip(shapes, feeds, strict=True)]
    return row("Concat-1", f"axis={axis}", *inputs, **fields)  # type: ignore[arg-type]


CONCAT = [
    concat(0, "2,3", "1,3"),
    concat(1, "2,3", "2,4", "2,1"),
    concat(-1, "2,3", "2,4"),
    concat(-3, "2,3,1", "1,3,1"),
    concat(0, "2,3"),
    concat(0, "0,3", "2,3", "0,3"),
    concat(1, "0,3", "0,1"),
    concat(0, "3", "2"),
    concat(1, "1..8,?,64", "?,?,64", fed=((2, 1, 64), (2, 3, 64))),
    concat(0, "2..,1..4", "..3,2..", fed=((2, 2), (1, 2))),
    concat(1, "2,..3", "2,1000000000000", run=False),
    concat(0, "...", "2,3", fed=((1, 3), None)),
    concat(-1, "...", "2,3", fed=((2, 1), None)),
    concat(0, "...", "...", run=False),
    concat(0, "?,3", "...", "2,?", run=False),
    *(concat(0, "2,3", "1,3", t=t) for t in (*TYPES, "string")),
    *(concat(0, "2,3", "1,3", t=t, run=False) for t in (*PACKED, "dynamic")),
    row(
        "Concat-1",
        "axis=0",
        data("u4", "2", [1, 15]),
        data("u4", "2", [7, 8]),
        expected=[[1, 15, 7, 8]],
    ),
    unrun("Concat-1", "axis=0", "dynamic[2] f32[2]"),
    row("Concat-1", {}, "f32[2,3] f32[1,3]", known="missing-attribute"),
    as_shape(node("Concat-1", "axis=0", SIZES, "i64{[7]}")),
    as_shape(node("Concat-1", "axis=0", "i64[1] i64{[7]}"), known="sizes-partly-known"),
    # refusals
    concat(0, "2,3", "2,4"),
    concat(0, "2,3", "2,3,1"),
    concat(-1, "2,3", "2,3,1"),
    concat(-1, "2,3,1", "2,3"),
    concat(2, "2,3,1", "2,3"),
    concat(2, "2,3", "2,3"),
    concat(-3, "2,3", "2,3"),
    concat(0, "", ""),
    concat(0, "2,1..3", "2,4.."),
    row("Concat-1", "axis=0", "f32[2] i32[2]"),
    row("Concat-1", "axis=first", "f32[2] f32[2]"),
    unrun("Concat-1", "axis=0"),
]


def split(
    shape: str,
    axis: object,
    count: int,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    outputs: int | None = None,
    **fields: Any,
) -> Case:
    along = given(index, axis)
    attributes = {"num_splits": str(count)}
    return row(
        "Split-1",
        attributes,
        data(t, shape, run_shape=fed),
        along,
        outputs=max(count if outputs is None else outputs, 1),
        **fields,
    )  # type: ignore[arg-type]


SPLIT = [
    split("6,2", 0, 3),
    split("6,2", 1, 2),
    split("2,6", -1, 2),
    split("6", 0, 6),
    split("6", 0, 1),
    split("0,2", 0, 3),
    split("2,0", 0, 2),
    split("1..9,?", 0, 3, (6, 2)),
    split("5..,?", 0, 3, (6, 2)),
    split("?,2", 1, 2, (1, 2)),
    split("...", 0, 2, (4,)),
    split("6,2", "", 2, run=False),
    split("6,2", "...", 2, run=False),
    split("...", "", 2, run=False),
    split("6,2", 0, 3, index="u8"),
    *(split("2,2", 0, 2, t=t) for t in TYPES),
    *(split("2,2", 0, 2, t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    as_shape((node("Split-1", "num_splits=3", SIZES, "i64{0}", outputs=3), 2)),
    split("6,2", 0, 4),
    split("6,2", 2, 2),
    split("6,2", -3, 2),
    split("..2,2", 0, 3, known="split-of-nothing"),
    split("", 0, 1),
    split("6,2", 0, 0),
    split("6,2", 0, -1),
    split("6,2", [0], 2),
    split("6,2", "1", 2),
    split("6,2", 0.0, 2, index="f32"),
    split("6,2", False, 2, index="boolean"),
    row("Split-1", {}, "f32[4] i64{0}"),
    split("6,2", 0, 2, outputs=3),
]


def variadic(
    shape: str,
    axis: object,
    lengths: object,
    outputs: int | None = None,
    fed: Shape = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    lists = all_given(index, axis, lengths)
    count = outputs if outputs is not None else len(lengths)  # type: ignore[arg-type]
    return row(
        "VariadicSplit-1", {}, data(t, shape, run_shape=fed), *lists, outputs=count, **fields
    )  # type: ignore[arg-type]


VARIADIC = [
    variadic("6,2", 0, [1, 2, 3]),
    variadic("6,2", 0, [1, -1, 3]),
    variadic("6,2", [0], [-1]),
    variadic("2,6", -1, [6, -1]),
    variadic("2,6", 1, [0, 6]),
    variadic("2,6", 1, [2, 4], index="u16"),
    variadic("0,2", 0, [0, -1]),
    variadic("?,2", 0, [1, 2], fed=(3, 2)),
    variadic("1..9,2", 0, [1, -1], fed=(3, 2)),
    variadic("...", 0, [1, -1], fed=(3, 2)),
    variadic("6,2", "", [1, 5], run=False),
    variadic("6,2", "...", [1, 5], run=False),
    variadic("6,2", 0, "2", 2, run=False),
    variadic("6,2", "", "2", 2, run=False),
    variadic("...", "", "2", 2, run=False),
    variadic("6,2", 0, "?", 1, run=False),
    variadic("6,2", 0, "...", 1, run=False),
    *(variadic("2,2", 0, [1, 1], t=t) for t in TYPES),
    *(variadic("2,2", 0, [1, 1], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    as_shape((node("VariadicSplit-1", {}, SIZES, "i64{0} i64{[1, 2]}", outputs=2), 1)),
    variadic("6,2", 0, [2, -1, 9], known="split-lengths"),
    variadic("..4,2", 0, [3, 3], known="split-lengths", run=False),
    variadic("5..,2", 0, [1, 2], known="split-lengths", run=False),
    variadic("6,2", 0, [1, 2]),
    variadic("6,2", 0, [1, -1, -1]),
    variadic("6,2", 0, [1, -2, 7]),
    variadic("6,2", 2, [1, 5]),
    variadic("6,2", -3, [1, 5]),
    variadic("6,2", [0, 1], [1, 5]),
    variadic("6,2", 0, [[1, 5]], 2),
    variadic("6,2", 0, "?", 2),
    variadic("6,2", 0, 6, 1),
    variadic("6,2", 0, [1.0, 5.0], index="f32", run=False, known="counted-in-reals"),
    variadic("6,2", 0, [1, 5], 3),
    row("VariadicSplit-1", {}, "f32[6] i64{0}", outputs=2),
]

test_joining = against_openvino(*CONCAT, *SPLIT, *VARIADIC)
