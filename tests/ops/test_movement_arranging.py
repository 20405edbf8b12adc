"""Transpose, Reverse, ReverseSequence, Roll and ShuffleChannels against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, const, data
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


def transpose(
    shape: str,
    order: object,
    run_shape: tuple[int, ...] | None = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    order_shape = order if isinstance(order, str) else None
    return row(
        "Transpose-1",
        {},
        data(t, shape, run_shape=run_shape),
        data(index, order_shape) if order_shape else const(index, order),
        **fields,
    )  # type: ignore[arg-type]


TRANSPOSE = [
    transpose("2,3,4", [2, 0, 1]),
    transpose("2,3,4", [0, 1, 2]),
    transpose("2,3,4", []),
    transpose("2,3,4", [1, 2, 0], index="u8"),
    transpose("2,0,4", [1, 2, 0]),
    transpose("5", [0]),
    transpose("", []),
    transpose("1..3,?,4..", [2, 0, 1], (2, 3, 4)),
    transpose("..3,5..", [], (2, 5)),
    transpose("...", [2, 0, 1], (2, 3, 4)),
    transpose("...", "3", run=False),
    transpose("2,3,4", "3", run=False),
    transpose("2,3,4", "?", run=False),
    transpose("2,3,4", "...", run=False),
    transpose("2,3,4", "2..5", run=False),
    transpose("1000000000000,3", [1, 0], run=False),
    *(transpose("2,3", [1, 0], t=t) for t in TYPES),
    *(transpose("2,3", [1, 0], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    row(
        "Transpose-1",
        {},
        data("string", "2,2", [["a", "b"], ["ü", ""]]),
        "i64{[1, 0]}",
        expected=[[["a", "ü"], ["b", ""]]],
    ),
    row(
        "Transpose-1",
        {},
        data("u4", "2,2", [[1, 2], [3, 15]]),
        "i64{[1, 0]}",
        expected=[[[1, 3], [2, 15]]],
    ),
    # refusals
    transpose("2,3,4", [0, 1]),
    transpose("2,3,4", [0, 1, 1]),
    transpose("2,3,4", [0, 1, 3]),
    transpose("2,3,4", [0, 1, -1]),
    transpose("2,3,4", "2"),
    transpose("2,3,4", "4..5"),
    transpose("2,3", [[0, 1]]),
    transpose("2,3", 0),
    transpose("2,3", [1.0, 0.0], index="f32"),
    row("Transpose-1", {}, "f32[2,3]"),
    row("Transpose-1", {}, "f32[2,3]", data("i64", "0", []), known="empty-list-at-run-time"),
]


def reverse(
    shape: str,
    axis: object,
    mode: str = "index",
    run_shape: tuple[int, ...] | None = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    index = "boolean" if mode == "mask" else "i64"
    inputs = data(t, shape, run_shape=run_shape), given(index, axis)
    return row("Reverse-1", f"mode={mode}", *inputs, **fields)


REVERSE = [
    reverse("2,3", [1]),
    reverse("2,3", [0, 1]),
    reverse("2,3", []),
    reverse("2,3", [1, 1]),
    reverse("2,3", [False, True], "mask"),
    reverse("2,3", [False, False], "mask"),
    reverse("2,0", [0]),
    reverse("1..3,?", [1], run_shape=(2, 3)),
    reverse("...", [1], run_shape=(2, 3)),
    reverse("2,3", "?", run=False),
    reverse("2,3", "...", "mask", run=False),
    reverse("...", "2", "mask", run=False),
    *(reverse("2,3", [1], t=t) for t in TYPES),
    *(reverse("2,3", [1], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    reverse("2,3", [2]),
    reverse("2,3", [-1]),
    reverse("2,3,2", [-3, -1]),
    reverse("2,3", [-3], run=False),
    reverse("2,3", [True], "mask"),
    reverse("2,3", "3", "mask"),
    reverse("2,3", [0], "both"),
    row("Reverse-1", "mode=mask", "f32[2,3] i64{[0, 1]}"),
    row("Reverse-1", "mode=index", "f32[2,3] boolean{[True]}"),
    row("Reverse-1", "mode=index", "f32[2,3] i64{1}"),
    row("Reverse-1", {}, "f32[2,3] i64{[1]}", known="missing-attribute"),
    row("Reverse-2", "mode=index", "f32[2,3] i64{[1]}"),
]


def sequence(
    shape: str,
    lengths: object,
    batch: int = 0,
    along: int = 1,
    run_shape: tuple[int, ...] | None = None,
    t: str = "f32",
    index: str = "i32",
    **fields: Any,
) -> Case:
    attributes = {"batch_axis": str(batch), "seq_axis": str(along)}
    inputs = data(t, shape, run_shape=run_shape), given(index, lengths)
    return row("ReverseSequence-1", attributes, *inputs, **fields)


REVERSE_SEQUENCE = [
    sequence("3,4", [4, 2, 1]),
    sequence("3,4,2", [3, 2, 1]),
    sequence("4,3", [4, 2, 1], 1, 0),
    sequence("2,4,3", [4, 2, 1], 2, 1),
    sequence("3,2,4", [4, 2, 1], 0, -1),
    sequence("4,2,3", [4, 2, 1], -1, 0),
    sequence("3,3", [3, 2, 1], 1, 1, run=False),
    sequence("3,4", [4, 1, 2], index="i64"),
    sequence("3,4", [4.0, 1.0, 2.0], index="f32", known="counted-in-reals"),
    sequence("0,4", "0"),
    sequence("1..5,?,2", [3, 1], run_shape=(2, 3, 2)),
    sequence("?,4", "2..3", run=False),
    sequence("?,4", "...", run=False),
    sequence("...", [2, 1], run=False),
    row("ReverseSequence-1", {}, "f32[2,3] i32{[3, 2]}"),
    *(sequence("2,3", [3, 2], t=t) for t in TYPES),
    *(sequence("2,3", [3, 2], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    sequence("3", [3]),
    sequence("3,4", [4, 2]),
    sequence("3,4", [[4, 2, 1]]),
    sequence("3,4", 4),
    sequence("3,4", [4, 2, 1], 2),
    sequence("3,4", [4, 2, 1], 0, 2),
    sequence("3,4", [4, 2, 1], 0, -3),
    sequence("...", [4, 2, 1], 0, -1, run=False),
    sequence("...", [4, 2, 1], -1, 0, run=False),
    sequence("3,4", [True, True, False], index="boolean"),
]


def roll(
    shape: str,
    shift: object,
    axes: object,
    run_shape: tuple[int, ...] | None = None,
    t: str = "f32",
    index: str = "i64",
    **fields: Any,
) -> Case:
    inputs = [data(t, shape, run_shape=run_shape), *all_given(index, shift, axes)]
    return row("Roll-7", {}, *inputs, **fields)


ROLL = [
    roll("4,3", [1], [0]),
    roll("4,3", 1, 0),
    roll("4,3", [1, -2], [0, 1]),
    row(
        "Roll-7",
        {},
        data("f32", "2,2", [[1, 2], [3, 4]]),
        "i64{1} i64{[0, -1]}",
        run="alone",
        expected=[[[4, 3], [2, 1]]],
    ),
    roll("4,3", [5, 1], [0, 0]),
    roll("4,3", [-7], [-2], index="i32"),
    roll("0,3", [1], [0]),
    roll("1..5,?", [1], [1], (2, 3)),
    roll("...", [1], [1], run=False),
    roll("4,3", "?", "?", run=False),
    roll("4,3", "", "2", run=False),
    roll("4,3", "...", "...", run=False),
    *(roll("4,3", [1], [1], t=t) for t in TYPES),
    *(roll("4,3", [1], [1], t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    roll("4,3", [1, 2], [0]),
    roll("4,3", [1], [0, 1]),
    roll("4,3", [1], [2]),
    roll("4,3", [1], [-3]),
    roll("4,3", [[1]], [0]),
    roll("4,3", [1], [[0]]),
    roll("4,3", [1.0], [0.0], index="f32"),
    roll("4,3", [1], [0], index="u8"),
    roll("4,3", "2", "3"),
    row("Roll-6", {}, "f32[4] i64{[1]} i64{[0]}"),
]


def shuffle(
    shape: str,
    axis: int,
    group: int,
    run_shape: tuple[int, ...] | None = None,
    t: str = "f32",
    **fields: Any,
) -> Case:
    source = data(t, shape, run_shape=run_shape)
    return row("ShuffleChannels-1", f"axis={axis} group={group}", source, **fields)


SHUFFLE = [
    shuffle("1,6,2,2", 1, 3),
    shuffle("1,6,2,2", 1, 2),
    shuffle("1,6,2,2", 1, 1),
    shuffle("1,6", -1, 6),
    shuffle("4,3", 0, 2),
    shuffle("6", 0, 2),
    shuffle("2,0", 1, 3),
    shuffle("?,1..6,2", 1, 3, (1, 6, 2)),
    shuffle("...", 1, 3, (1, 6)),
    row("ShuffleChannels-1", {}, "f32[2,4]"),
    *(shuffle("1,6", 1, 3, t=t) for t in TYPES),
    *(shuffle("1,6", 1, 3, t=t, run=False) for t in (*PACKED, "string", "dynamic")),
    shuffle("1,6", 1, 4),
    shuffle("1,6", 1, 0),
    shuffle("1,6", 1, -2),
    shuffle("1,6", 2, 3),
    shuffle("1,6", -3, 3),
    shuffle("", 0, 1),
]

IN_A_SHAPE = [
    unrun("Transpose-1", {}, "f32[...]", node("Transpose-1", {}, "i64{[2, 0, 1]} i64{[0]}")),
    as_shape(node("Roll-7", {}, SIZES, "i64{[1]} i64{[0]}"), "f32[...]", known="sizes-moved"),
    as_shape(node("Reverse-1", "mode=index", SIZES, "i64{[0]}"), "f32[...]", known="sizes-moved"),
]

test_arranging = against_openvino(
    *TRANSPOSE, *REVERSE, *REVERSE_SEQUENCE, *ROLL, *SHUFFLE, *IN_A_SHAPE
)


def test_transpose_of_a_tensor_of_unknown_rank() -> None:
    """OpenVINO infers a scalar here, and then runs it with any shape."""
    from irshape.element_types import ElementType
    from irshape.ops.movement.arranging import Transpose
    from irshape.ops.tensors import Tensor, Value
    from irshape.shapes import DYNAMIC_SHAPE

    result = Transpose().infer(
        Tensor(ElementType.of("f32"), DYNAMIC_SHAPE), Tensor(ElementType.of("i64"), (0,), Value(()))
    )
    assert result.shape.rank is None
