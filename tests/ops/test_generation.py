"""Range, Eye, RandomUniform and Multinomial against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, Data, Input, const, data
from rows import against_openvino, node, row, rows_of, table

BOUNDED = data("f32", "2..10,?")
SHAPE = node("ShapeOf-3", "output_type=i64", BOUNDED)
FROM_2_TO_10 = node("Gather-8", "batch_dims=0", SHAPE, "i64{0} i64{0}")

# Range


def numbers(type: str, *values: float) -> list[Input]:
    return [const(type, value) for value in values]


def given(type: str, *values: float) -> list[Input]:
    """The three as inputs of the model."""
    return [data(type, "", value) for value in values]


def unknown(type: str = "i64", shape: str = "") -> Data:
    return data(type, shape)


def range_1(inputs: list[Input], **rest: Any) -> Case:
    return row("Range-1", {}, *inputs, **rest)


def range_4(inputs: list[Input], output_type: str | None = "i64", **rest: Any) -> Case:
    return row("Range-4", {"output_type": output_type}, *inputs, **rest)


RANGE = [
    *(
        row(inputs)
        for row in (range_1, range_4)
        for inputs in (
            numbers("i64", 0, 10, 3),
            numbers("i64", 10, 0, -3),
            numbers("i64", 0, 10, -1),
            numbers("i64", 5, 5, 1),
            numbers("i32", -7, 7, 2),
            given("i64", 2, 23, 3),
            given("i32", 23, 2, -3),
            # refused
            numbers("i64", 0, 10, 0),
            numbers("i64", 0, 10, 0)[:2],
            ["i64{[0]} i64{10} i64{1}"],
            ["i64{0}", unknown(shape="?"), "i64{1}"],
            numbers("boolean", 0, 1, 1),
        )
    ),
    range_1(numbers("f32", 0.5, 10.2, 0.3)),
    range_1(numbers("f32", 1, 2.5, 0.5)),
    range_1(given("f32", 10, -3, -1.5)),
    range_1(numbers("f16", 0.5, 4, 0.75)),
    range_1(numbers("u8", 3, 250, 60), run=False),
    range_1(numbers("f32", 0, float("inf"), 1)),
    range_1(numbers("f32", float("nan"), 1, 1)),
    range_1(["i64{0} i32{10} i64{1}"]),
    range_1(["i64{0}", data("i64", "", 4), "i64{1}"]),
    range_1(["i64{0}", data("i64", "", -3), "i64{1}"], known="range-empty-at-run-time"),
    range_1([unknown("dynamic")] * 3, run=False),
    range_1(["i64{0}", unknown("dynamic"), "i64{1}"], run=False),
    range_1(["i64{0}", unknown(shape="..."), "i64{1}"], run=False),
    *(range_1([unknown(type)] * 3) for type in ("u1", "i4", "u4")),
    *(
        range_4(numbers("i64", 0, 10, 3), type, run=type in ("i32", "f32"))
        for type in ("i32", "f32", "f16", "f64", "u8", "bf16")
    ),
    range_4(numbers("f32", 0.5, 10.9, 2.6)),
    range_4(numbers("f32", -0.5, -10.9, -2.6), "i32"),
    range_4(numbers("f32", 0.5, 10.2, 0.3), "f32"),
    range_4(["f16{0.5} f32{10.2} i8{1}"]),
    range_4(["f32{0.5} f32{10.2} i32{1}"], "f32"),
    range_4(["i64{0}", data("i64", "", 4), "i64{1}"], "f32"),
    range_4([unknown("dynamic")] * 3, run=False),
    range_4(numbers("i64", 0, 10, 3), "boolean"),
    range_4(numbers("i64", 0, 10, 3), "zz"),
    range_4(numbers("i64", 0, 10, 3), None, run=False, known="missing-attribute"),
    range_4(numbers("i64", 0, 10, 3), "string", run=False, known="range-of-strings"),
    range_4(numbers("f32", 0, 10, 0.3), "i64", run=False, known="range-step-0-as-integer"),
    *(
        row(inputs, run=False, known="range-of-bounds", id=f"{row.__name__}-bounds-{index}")
        for row in (range_1, range_4)
        for index, inputs in enumerate(
            (
                ["i64{0}", FROM_2_TO_10, "i64{1}"],
                ["i64{1}", FROM_2_TO_10, "i64{4}"],
                [FROM_2_TO_10, "i64{20} i64{3}"],
                [FROM_2_TO_10, "i64{-20} i64{-3}"],
                ["i64{0} i64{20}", FROM_2_TO_10],
            )
        )
    ),
    range_4(
        [FROM_2_TO_10, FROM_2_TO_10, "i64{1}"],
        run=False,
        known="range-of-bounds",
        id="start-and-stop-apart",
    ),
    # a range of known numbers as a shape: [2,4,6]
    row(
        "Reshape-1",
        "special_zero=false",
        "f32[?]@48",
        node("Range-4", "output_type=i64", *numbers("i32", 2, 8, 2)),
    ),
]


# Eye


eye = rows_of("Eye-9", "output_type=f32")
THREE, FOUR, ZERO = const("i64", 3), const("i64", 4), const("i64", 0)

EYE = [
    eye(THREE, FOUR, ZERO),
    eye(const("i32", [3]), const("i32", [4]), const("i32", [1])),
    eye(THREE, FOUR, const("i64", -1), output_type="i32"),
    eye(THREE, FOUR, const("i64", -1), const("i64", [2]), output_type="i8"),
    eye(THREE, FOUR, const("i64", 9), const("i64", [2, 1]), output_type="f32"),
    eye(THREE, FOUR, ZERO, const("i64", [2, 0])),
    eye(THREE, ZERO, ZERO),
    eye(THREE, FOUR, data("i64", "", 2)),
    *(eye(THREE, FOUR, const("i64", shift), output_type="i32") for shift in (3, 4, -2, -3)),
    eye(ZERO, ZERO, ZERO),
    eye(const("i64", 1), FOUR, ZERO, const("i64", [2, 3, 1]), output_type="f32"),
    eye(THREE, FOUR, ZERO, const("i32", np.array([], np.int32))),
    eye(THREE, FOUR, ZERO, const("i64", [0, 2]), run=False),
    *(
        eye(THREE, FOUR, ZERO, output_type=element_type, run=False)
        for element_type in ("f16", "bf16", "f64", "u64", "u1", "string")
    ),
    eye(const("i64", 2**40), const("i64", 2**40), ZERO, run=False),
    eye(data("i64", "?"), data("i64", "1"), data("i64", "..."), data("i64", "?"), run=False),
    eye(data("i64", "", 2), FOUR, ZERO),
    eye(data("i64", "1", [5]), FOUR, ZERO, const("i64", [3])),
    eye(FROM_2_TO_10, FOUR, ZERO, run=False),
    eye(THREE, FOUR, ZERO, SHAPE, run=False),
    eye(data("i64", "2..3"), FOUR, ZERO, run=False),
    eye(data("i64", "..."), FOUR, data("i64", "?,?"), run=False),
    eye(THREE, FOUR, ZERO, data("i64", "2"), run=False),
    eye(THREE, FOUR, ZERO, data("i64", "1..2"), run=False),
    eye(THREE, FOUR, ZERO, data("i64", "..."), run=False),
    eye(THREE, FOUR, ZERO, output_type="boolean", run=False),
    eye(THREE, FOUR, ZERO, output_type=None, run=False, known="missing-attribute"),
    eye(THREE, FOUR, ZERO, const("i64", [-2]), run=False, known="negative-size"),
    eye(const("i64", -3), FOUR, ZERO),
    eye(THREE, const("i64", -4), ZERO),
    eye(const("i64", [3, 3]), FOUR, ZERO),
    eye(const("i64", [[3]]), FOUR, ZERO),
    eye(THREE, FOUR, const("i64", [0, 1])),
    eye(THREE, FOUR, ZERO, const("i64", 2)),
    eye(const("i8", 3), FOUR, ZERO),
    eye(THREE, FOUR, const("f32", 0.0)),
    eye(data("dynamic", ""), FOUR, ZERO),
    eye(THREE, FOUR),
    eye(THREE, FOUR, ZERO, output_type="zz"),
]


# RandomUniform


uniform = rows_of(
    "RandomUniform-8", "output_type=f32 global_seed=150 op_seed=10 alignment=tensorflow"
)


def drawn(
    type: str, low: float, high: float, alignment: str, sizes: tuple[int, ...] = (7, 3), **rest: Any
) -> Case:
    return uniform(
        const("i64", list(sizes)),
        const(type, low),
        const(type, high),
        output_type=type,
        alignment=alignment,
        **{"atol": 0, "rtol": 0, **rest},
    )


F0, F1 = const("f32", 0.0), const("f32", 1.0)
TWO_THREE = const("i64", [2, 3])

UNIFORM = [
    *(drawn("f32", 0, 1, alignment) for alignment in ("tensorflow", "pytorch")),
    *(
        drawn("f32", -3, 7.5, alignment, global_seed="1", op_seed="0", rtol=1e-6)
        for alignment in ("tensorflow", "pytorch")
    ),
    *(drawn("i32", -50, 5000, alignment) for alignment in ("tensorflow", "pytorch")),
    drawn("i64", -50, 5000, "tensorflow", known="i64-as-i32"),
    drawn("i64", -50, 5000, "pytorch"),
    *(
        drawn("f32", 0, 1, alignment, (1500,), global_seed=f"{2**40 + 3}", op_seed=f"{2**50 + 7}")
        for alignment in ("tensorflow", "pytorch")
    ),
    drawn("f32", 0, 1, "tensorflow", global_seed="0"),
    drawn("f32", 0, 1, "TENSORFLOW", sizes=(5,)),
    drawn("f32", 0, 1, "tensorflow", sizes=(0, 4)),
    drawn("f32", 0, 1, "tensorflow", sizes=(), known="random-uniform-scalar"),
    uniform(data("i32", "2", [2, 2]), data("f32", "1", [0]), data("f32", "", 4), rtol=1e-6),
    uniform(SHAPE, F0, F1, run=False),
    *(
        uniform(TWO_THREE, *numbers(t, 0, 1), output_type=t, run=False)
        for t in ("f16", "bf16", "f64")
    ),
    uniform(const("i64", np.array([], np.int64)), F0, F1, run=False),
    uniform(const("i64", [2**40, 2**20]), F0, F1, run=False),
    uniform(node("Concat-1", "axis=0", "i64{[3]}", SHAPE), F0, F1, run=False),
    uniform(data("i64", "2"), F0, F1, run=False),
    uniform(data("i64", "..."), F0, F1, run=False),
    uniform(data("i64", "?"), F0, F1, run=False),
    uniform(TWO_THREE, data("f32", "?"), data("f32", "1..3"), run=False),
    uniform(data("dynamic", "2"), F0, F1, run=False),
    uniform(const("i64", [2, -1]), F0, F1, run=False, known="negative-size"),
    uniform(TWO_THREE, F0, F1, global_seed=None, op_seed=None, alignment=None, run=False),
    uniform(TWO_THREE, const("f32", [0.0, 1]), F1),
    uniform(TWO_THREE, F0, data("f32", "2")),
    uniform(const("i64", 3), F0, F1),
    uniform(const("i16", [2]), F0, F1),
    uniform(data("i64", "2,2"), F0, F1),
    uniform(TWO_THREE, F1, F1),
    uniform(TWO_THREE, F1, F0),
    uniform(TWO_THREE, const("f32", float("nan")), F1),
    uniform(TWO_THREE, F0, const("i64", 1)),
    uniform(TWO_THREE, const("i64", 0), const("i64", 5)),
    uniform(TWO_THREE, const("u8", 0), const("u8", 5), output_type="u8"),
    uniform(TWO_THREE, data("dynamic", ""), F1),
    uniform(TWO_THREE, F0, F1, output_type=None),
    uniform(TWO_THREE, F0, F1, alignment="mock"),
    uniform(TWO_THREE, F0, F1, op_seed="zz"),
]


def test_random_uniform_of_the_specification() -> None:
    """Example 1 of the specification (global seed 150, op seed 10), and f64.

    The CPU plugin computes f64 as f32.
    """
    from irshape.element_types import ElementType
    from irshape.ops.generation.random_uniform import RandomUniform

    def drawn(type: str, low: Any, high: Any, shape: tuple[int, ...]) -> Any:
        operation = RandomUniform(output_type=ElementType.of(type), global_seed=150, op_seed=10)
        return operation.evaluate(np.array(shape), low, high)

    first = drawn("f32", np.float32(0), np.float32(1), (3, 3))
    expected = table(
        "0.7011236 0.30539632 0.93931055; 0.9456035 0.11694777 0.50770056;"
        "0.5197197 0.22727466 0.991374"
    )
    np.testing.assert_allclose(first, expected, rtol=1e-6)
    doubles = drawn("f64", np.float64(-2), np.float64(2), (2, 2))
    assert doubles.dtype == np.float64
    assert np.all((doubles >= -2) & (doubles < 2))


# Multinomial

PROBS = data("f32", "2,5", [[0.1, 0.2, 0.3, 0.2, 0.2], [0.5, 0.1, 0.1, 0.2, 0.1]])
LOGS = data("f32", "2,5", np.log([[0.1, 0.2, 0.3, 0.2, 0.2], [0.5, 0.1, 0.1, 0.2, 0.1]]))


from_five = rows_of(
    "Multinomial-13",
    "convert_type=i64 with_replacement=true log_probs=false global_seed=1 op_seed=2",
)


def multinomial(probs: Input, samples: Input = THREE, **changes: Any) -> Case:
    return from_five(probs, samples, **changes)


MULTINOMIAL = [
    multinomial(PROBS),
    multinomial(PROBS, const("i32", [40])),
    multinomial(PROBS, const("i64", 5), with_replacement="false"),
    multinomial(PROBS, const("i64", 3), with_replacement="false", convert_type="i32", op_seed="77"),
    multinomial(LOGS, const("i64", 12), log_probs="true", global_seed="12345678901"),
    multinomial(PROBS, ZERO),
    multinomial(data("f32", "1,4", [[0, 0, 1, 0]]), const("i64", 6)),
    multinomial(data("f32", "3,1", [[0.5], [1], [2]]), const("i64", 3), convert_type="i32"),
    multinomial(PROBS, const("i64", 5), with_replacement="FALSE", global_seed="9"),
    multinomial(
        PROBS,
        const("i32", 2),
        with_replacement=None,
        log_probs=None,
        global_seed=None,
        op_seed=None,
        run=False,
        known="missing-attribute",
    ),
    multinomial(data("f16", "2,5"), run=False),
    multinomial(data("bf16", "1..3,?"), const("i64", 2), run=False),
    multinomial(data("f32", "?,?"), data("i64", "1"), run=False),
    multinomial(PROBS, data("i64", "", 4)),
    multinomial(data("f32", "0,5")),
    multinomial(data("f32", "..."), run=False),
    multinomial(data("f32", "?,5"), run=False),
    multinomial(PROBS, data("i64", "?"), run=False),
    multinomial(PROBS, data("i64", "..."), run=False),
    multinomial(PROBS, FROM_2_TO_10, run=False),
    multinomial(data("dynamic", "2,5"), run=False),
    multinomial(PROBS, convert_type=None, run=False, known="missing-attribute"),
    multinomial(PROBS, convert_type="f32", run=False, known="multinomial-convert-type"),
    multinomial(
        PROBS, const("i64", 9), with_replacement="false", run=False, known="multinomial-too-many"
    ),
    multinomial(PROBS, const("i64", -1), run=False, known="negative-size"),
    multinomial(PROBS, const("i64", [3, 1])),
    multinomial(PROBS, const("i64", [[3]])),
    multinomial(PROBS, data("i64", "2..3")),
    multinomial(PROBS, const("f32", 3.0)),
    multinomial(data("f32", "5")),
    multinomial(data("f32", "1,2,5")),
    multinomial(data("i32", "2,5")),
    multinomial(PROBS, convert_type="zz"),
]

test_against_openvino = against_openvino(*RANGE, *EYE, *UNIFORM, *MULTINOMIAL)
