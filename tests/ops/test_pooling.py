"""Pooling operations against OpenVINO: shapes, refusals and values of every version."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential.cases import Case, Data, const, data
from rows import against_openvino, names, row, rows_of, sizes_of, unrun

from irshape.ops.convolution.backward import ConvolutionBackpropData
from irshape.ops.pooling.average import AvgPool_1
from irshape.ops.pooling.maximum import MaxPool_1

INF, NAN = float("inf"), float("nan")
TEXT = {"string": "text-as-number"}


def f32(shape: str, run_shape: tuple[int, ...] | None = None) -> Data:
    return data("f32", shape, run_shape=run_shape)


def window(axes: int = 2, **changed: str | None) -> dict[str, str | None]:
    """The attributes that OpenVINO's writer writes for a window of 3, 3 by 2 or 3 by 2 by 2."""
    defaults = {"strides": "1,1,1", "pads_begin": "0,0,0", "pads_end": "0,0,0", "kernel": "3,2,2"}
    lists = {name: text[: 2 * axes - 1] for name, text in defaults.items()}
    given = {**lists, "rounding_type": "floor", "auto_pad": "explicit", **changed}
    return {name.replace("exclude_pad", "exclude-pad"): text for name, text in given.items()}


largest_1 = rows_of("MaxPool-1", window)
average_1 = rows_of("AvgPool-1", window)
average_16 = rows_of("AvgPool-16", window)


VERSIONS: list[tuple[str, str, dict[str, str], int]] = [
    ("AvgPool", "opset1", {"exclude_pad": "true"}, 1),
    ("AvgPool", "opset14", {"exclude_pad": "true"}, 1),
    ("AvgPool", "opset16", {"exclude_pad": "true", "dilations": "1"}, 1),
    ("MaxPool", "opset1", {}, 1),
    ("MaxPool", "opset8", {"index_element_type": "i64", "axis": "0", "dilations": "1"}, 2),
    ("MaxPool", "opset14", {"index_element_type": "i32", "axis": "2", "dilations": "1"}, 2),
]
TORCH = ("opset14", "opset16")
FORMS = [
    {},
    {"strides": "2,3"},
    {"pads_begin": "1,0", "pads_end": "2,1"},
    {"pads_begin": "2,1", "pads_end": "2,1", "strides": "2,2"},
    {"rounding_type": "ceil", "strides": "3,3"},
    {"rounding_type": "ceil", "strides": "2,2", "pads_begin": "1,1", "pads_end": "1,1"},
    {"rounding_type": "CEIL", "strides": "3,5", "pads_begin": "0,1", "pads_end": "2,1"},
    {"auto_pad": "same_upper"},
    {"auto_pad": "same_lower", "strides": "2,2"},
    {"auto_pad": "SAME_UPPER", "strides": "2,3", "pads_begin": "9,9"},
    {"auto_pad": "valid", "pads_begin": "1,1"},
    {"auto_pad": "valid", "rounding_type": "ceil", "strides": "2,2"},
]
SHAPES: list[tuple[str, tuple[int, ...] | None, dict[str, str]]] = [
    ("1..4,2,?,5..9", (2, 2, 7, 6), {}),
    ("?,..3,4..9,6..", (2, 2, 7, 6), {"strides": "2,3", "pads_begin": "1,1", "pads_end": "1,0"}),
    ("1,2,2..8,..7", (1, 2, 6, 5), {"strides": "2,2", "rounding_type": "ceil"}),
    ("1,2,?,3..9", (1, 2, 6, 5), {"auto_pad": "same_upper", "strides": "2,2"}),
    ("1,2,6,3..9", None, {"auto_pad": "same_lower"}),
    ("1,2,..2,..1", None, {"auto_pad": "valid"}),
    ("...", None, {}),
    ("...", None, {"auto_pad": "same_upper"}),
    ("1,2,1000000000000,5", None, {"strides": "7,1", "rounding_type": "ceil"}),
    ("1,2,1..,5", None, {"strides": "3,1", "rounding_type": "ceil"}),
    ("1,?,?,?", None, {}),
    # refused
    ("1,2,5", None, {}),
    ("1,2,5,5,5", None, {}),
    ("1,2", None, {}),
    ("", None, {}),
    ("1,2,2,2,2,2", None, {}),
    ("1,2,2,5", None, {}),
    ("1,2,5,1", None, {}),
    ("0,2,5,5", None, {}),
    ("1,0,5,5", None, {}),
    ("1,2,0,5", None, {}),
    ("1,2,5,5", None, {"kernel": "0,2"}),
    ("1,2,5,5", None, {"strides": "0,1"}),
    ("1,2,5,5", None, {"strides": "1"}),
    ("1,2,5,5", None, {"kernel": "3"}),
    ("1,2,5,5", None, {"pads_begin": "1"}),
    ("1,2,5,5", None, {"pads_end": "1,1,1"}),
    ("...", None, {"pads_end": "1"}),
    ("...", None, {"strides": "1,0"}),
    ("...", None, {"kernel": "2,2,2"}),
    ("1,2,5,5", None, {"kernel": None}),
    ("1,2,5,5", None, {"strides": None}),
    ("1,2,5,5", None, {"rounding_type": "up"}),
    ("1,2,5,5", None, {"auto_pad": "banana"}),
    ("1,2,5,5", None, {"rounding_type": None, "auto_pad": None}),
    ("1,2,5,5", None, {"pads_begin": "", "pads_end": ""}),
    ("1,2,5,5", None, {"strides": ""}),
    ("1,2,5,5", None, {"kernel": ""}),
    ("1,2,5,5", None, {"pads_begin": "one,1"}),
    ("...", None, {"strides": "", "kernel": "", "pads_begin": "", "pads_end": ""}),
    ("1,2,5,5", None, {"rounding_type": "ceil_torch"}),
    ("1,2,?,2..5", None, {"pads_begin": "3,0"}),
    ("1,2,5,5", None, {"pads_begin": "3,0"}),
    ("1,2,5,5", None, {"pads_end": "0,2"}),
    ("1,2,5,5", None, {"pads_begin": "1,1", "pads_end": "2,1"}),
]
TYPES = names("f16 bf16 f64 i8 u8 i32 i64 u64 u1 i4 f8e4m3 boolean dynamic string")


def base(operation: str, version: str, fixed: dict[str, str], outputs: int) -> list[Case]:
    """The rows that every version has."""

    def case(
        source: Data, form: dict[str, str], axes: int = 2, run: bool = True, known: str = ""
    ) -> Case:
        more = {"dilations": ",".join("1" * axes)} if "dilations" in fixed else {}
        return row(
            f"{operation}-{version}",
            window(axes, **fixed | more, **form),
            source,
            outputs=outputs,
            run=run and "000" not in source.shape,
            known=known,
        )

    torch = [
        {"rounding_type": "ceil_torch", "strides": "2,2", "pads_begin": "1,1", "pads_end": "1,1"},
        {"rounding_type": "ceil_torch", "strides": "3,5", "pads_end": "2,1"},
    ]
    return [
        *(case(f32("2,3,7,8"), form) for form in [*FORMS, *(torch if version in TORCH else [])]),
        case(f32("2,3,9"), {}, 1),
        case(f32("2,3,9"), {"strides": "2", "pads_begin": "1", "rounding_type": "ceil"}, 1),
        case(f32("1,2,4,5,6"), {}, 3),
        case(f32("1,2,4,5,6"), {"strides": "2,1,2", "pads_begin": "1,1,0", "pads_end": "0,1,1"}, 3),
        *(case(f32(shape, run_shape), form) for shape, run_shape, form in SHAPES),
        *(case(data(t, "1,2,5,6"), {"pads_begin": "1,1"}) for t in ("f16", "bf16")),
        *(
            case(
                data(t, "1,2,5,6", low=-100, high=100),
                {},
                run=t in ("i8", "u8", "i32"),
                known=TEXT.get(t, ""),
            )
            for t in TYPES
        ),
        *(
            case(f32("1,2,5,5"), {name: None}, known="missing-attribute")
            for name in ("pads_begin", "pads_end")
        ),
        case(f32("1,2,5,5"), {"strides": "-1,1"}, run=False, known="negative-size-attribute"),
    ]


x = data("f32", "1,2,5,6")
integers = data(
    "i32", "1,1,4,4", [5, -3, 8, 8, 7, 8, -2, 0, 1, 8, 3, 4, -9, -9, -9, -9], run_shape=(1, 1, 4, 4)
)
odd = data("f32", "1,1,1,6", [NAN, 1, -INF, -INF, INF, 2], run_shape=(1, 1, 1, 6))


DILATED = {"opset16": {"dilations": "1,1"}}
"""Dilations for the versions that have them.

Without, OpenVINO crashes on AvgPool-16, MaxPool-8 and MaxPool-14, or returns uninitialised memory.
"""


AVERAGES = [
    *(
        row(
            f"AvgPool-{version}",
            window(
                **{
                    "exclude_pad": exclude,
                    "strides": "2,2",
                    "rounding_type": rounding,
                    "pads_begin": "1,1",
                    "pads_end": "1,1",
                }
                | DILATED.get(version, {})
            ),
            x,
        )
        for version in ("opset1", "opset14", "opset16")
        for exclude in ("true", "false")
        for rounding in ("floor", "ceil", *(("ceil_torch",) if version != "opset1" else ()))
    ),
    *(
        row(
            f"AvgPool-{version}",
            window(
                **{"exclude_pad": "false", "auto_pad": pad, "strides": "2,2"}
                | DILATED.get(version, {})
            ),
            x,
        )
        for version in ("opset1", "opset14", "opset16")
        for pad in ("same_upper", "same_lower", "valid")
    ),
    *(
        row(f"AvgPool-{version}", window(exclude_pad=None), x, known="missing-attribute")
        for version in ("opset1", "opset14", "opset16")
    ),
    average_1(x, exclude_pad="maybe", known="boolean-text"),
    average_1(x, exclude_pad="false", pads_begin="3,2", pads_end="3,2"),
    average_1(x, exclude_pad="false", kernel="7,7"),
    average_1(x, exclude_pad="false", pads_begin="2,2", kernel="7,7"),
    average_1(odd, exclude_pad="true", kernel="1,6"),
    average_1(odd, exclude_pad="true", kernel="1,2"),
    *(
        average_16("f32[1,2,7,8]", exclude_pad=exclude, dilations="2,3")
        for exclude in ("true", "false")
    ),
    *(
        average_16(
            "f32[1,2,7,8]",
            exclude_pad=exclude,
            dilations="2,2",
            strides="2,1",
            pads_begin="2,1",
            pads_end="1,1",
            rounding_type=rounding,
        )
        for exclude in ("true", "false")
        for rounding in ("floor", "ceil", "ceil_torch")
    ),
    average_16("f32[1,2,7,8]", exclude_pad="true", dilations="2,2", auto_pad="same_upper"),
    average_16("f32[1,2,?,4..9]@1,2,6,7", exclude_pad="true", dilations="1,2"),
    average_16(x, exclude_pad="true", dilations="", run=False),
    average_16(x, exclude_pad="true", dilations="2"),
    average_16(x, exclude_pad="true", dilations="0,1"),
    average_16(x, exclude_pad="true", dilations="3,1"),
    unrun("AvgPool-14", window(exclude_pad="true", dilations="2,1"), x),
    row("AvgPool-8", window(exclude_pad="true"), x),
    row("AvgPool-15", window(exclude_pad="true", rounding_type="ceil_torch"), x),
    average_1(x, x, exclude_pad="true"),
    average_1(exclude_pad="true"),
]


def largest(**changed: str | None) -> dict[str, str | None]:
    return window(**{"index_element_type": "i64", "axis": "0", "dilations": "1,1"} | changed)


largest_14 = rows_of("MaxPool-14", largest, outputs=2)
largest_8 = rows_of("MaxPool-8", largest, outputs=2)
WITH_INDICES = (largest_8, largest_14)

LARGEST = [
    *(
        largest_1(source, kernel="2,2", strides="2,2")
        for source in (
            integers,
            data("u8", "1,2,4,5"),
            data("i8", "1,2,4,5", low=-100, high=100),
            data("i64", "1,2,4,5"),
        )
    ),
    largest_1(integers, kernel="2,2", pads_begin="1,1", pads_end="1,1"),
    largest_1(
        data("i8", "1,1,2,2", [-128, -128, -128, -127], run_shape=(1, 1, 2, 2)),
        kernel="2,2",
        pads_begin="1,1",
        pads_end="1,1",
    ),
    largest_1(odd, kernel="1,2"),
    *(pooled(odd, kernel="1,2") for pooled in WITH_INDICES),
    largest_1(data("f32", "1,2,5,6", low=-9, high=-8), pads_begin="2,1", pads_end="2,1"),
    largest_1(x, pads_begin="3,2", pads_end="3,2"),
    *(
        pooled("f32[2,3,5,6]", axis=axis, strides="2,1", pads_begin="1,1", pads_end="1,0")
        for pooled in WITH_INDICES
        for axis in ("0", "1", "2", "3", "-1", "-2", "-4", "4", "-5")
    ),
    *(pooled("f32[...]", axis=axis) for pooled in WITH_INDICES for axis in ("0", "7")),
    *(
        pooled(x, axis=None, index_element_type=None, dilations=None, run=False)
        for pooled in WITH_INDICES
    ),
    *(largest_8(x, index_element_type=t) for t in ("i32", "I64")),
    *(
        pooled(x, index_element_type=t, run=False, known="pool-index-type")
        for pooled in WITH_INDICES
        for t in ("u8", "f32")
    ),
    largest_8(x, index_element_type="int"),
    *(
        pooled("f32[1,2,7,8]", dilations=dilations, strides="1,2")
        for pooled in WITH_INDICES
        for dilations in ("2,3", "3,1", "2", "0,1")
    ),
    *(pooled(x, dilations="", run=False) for pooled in WITH_INDICES),
    *(
        pooled(
            "f32[1,2,7,8]",
            dilations="2,2",
            strides="2,2",
            pads_begin="2,1",
            pads_end="1,2",
            rounding_type=rounding,
        )
        for pooled in WITH_INDICES
        for rounding in ("floor", "ceil", "ceil_torch")
    ),
    *(
        pooled("f32[1,2,7,8]", auto_pad=pad, dilations="2,2", strides="2,1")
        for pooled in WITH_INDICES
        for pad in ("same_upper", "same_lower", "valid")
    ),
    *(
        largest_14(source, kernel="2,2")
        for source in (integers, data("u8", "1,2,4,5"), data("i8", "1,2,4,5", low=-100, high=100))
    ),
    row(
        "MaxPool-8",
        window(1, index_element_type="i32", axis="1", dilations="2", strides="2"),
        "f32[2,2,9]",
        outputs=2,
    ),
    row(
        "MaxPool-14",
        window(3, index_element_type="i32", axis="2", dilations="1,2,1", pads_begin="1,0,0"),
        "f32[2,2,4,5,4]",
        outputs=2,
    ),
    largest_14(
        "f32[1,2,?,4..9]@1,2,6,7",
        rounding_type="ceil_torch",
        strides="2,2",
        pads_begin="1,1",
        pads_end="1,1",
    ),
    largest_8("f32[1,2,6,3..9]@1,2,6,5", auto_pad="same_lower", known="max-pool-same-lower"),
    row("MaxPool-13", largest(rounding_type="ceil_torch"), x, outputs=2),
    row("MaxPool-7", window(), x),
    largest_1(x, x),
]


def adaptive(operation: str, outputs: int, fixed: dict[str, str]) -> list[Case]:
    def case(*inputs: object, run: bool = True, known: str = "", **changed: str) -> Case:
        return row(
            f"{operation}-8", fixed | changed, *inputs, outputs=outputs, run=run, known=known
        )  # type: ignore[arg-type]

    two = const("i64", [3, 2])
    shape_of = sizes_of("2..4,..5")
    longer = sizes_of("2..4,?,5")
    return [
        *(
            case(f32("2,3,7,8"), const("i64", sizes))
            for sizes in ([3, 2], [1, 1], [7, 8], [5, 3], [9, 11], [1, 8])
        ),
        case(f32("2,3,9"), const("i64", [4])),
        case(f32("1,2,4,5,6"), const("i64", [3, 2, 4])),
        case(f32("2,3,7,8"), const("i32", [3, 2])),
        *(case(data(t, "1,2,5,6"), two) for t in ("f16", "bf16")),
        *(case(data(t, "1,2,5,6"), two, run=False, known=TEXT.get(t, "")) for t in TYPES),
        case(f32("?,1..3,?,8", (2, 3, 7, 8)), two),
        case(f32("1,2,5,6"), data("i64", "2"), run=False),
        case(f32("1,2,5,6"), data("i64", "?"), run=False),
        case(f32("1,2,5,6"), data("i64", "..."), run=False),
        case(f32("1,2,5,6"), data("i64", "1..2"), run=False),
        case(f32("1,2,5,6"), data("i64", "3..4"), run=False),
        case(f32("..."), two),
        case(f32("..."), const("i64", [[3, 2]])),
        case(f32("1,2,5,6"), shape_of, run=False),
        case(f32("1,2,5,6"), longer, run=False),
        case(f32("1,2,1000000000000,6"), two, run=False),
        # refused
        *(case(f32(shape), two) for shape in ("2,3,7", "2,3,7,8,9", "2,3", "", "1,2,2,2,2,2")),
        case(f32("1,2,5,6"), const("i64", [[3, 2]])),
        case(f32("1,2,5,6"), const("i64", 3)),
        case(f32("1,2,5,6"), const("f32", [3, 2]), run=False, known="integers-wanted"),
        case(f32("1,2,5,6"), const("i64", [-3, 2]), run=False, known="negative-size"),
        case(f32("1,2,5,6"), const("i64", [-1, 2]), run=False, known="negative-size"),
        case(f32("1,2,5,6"), const("i64", [0, 2]), run=False),
        case(f32("0,2,5,6"), two, run=False),
        case(f32("1,2,0,6"), two, run=False),
        case(f32("1,2,5,6")),
    ]


INDEX = [
    *(
        row(
            "AdaptiveMaxPool-8",
            {"index_element_type": t} if t else {},
            "f32[1,2,5,6] i64{[2, 4]}",
            outputs=2,
            run=t == "i32",
        )
        for t in ("i32", "i64", "", "u8", "f32", "int")
    ),
    row(
        "AdaptiveMaxPool-8",
        "index_element_type=i32",
        data("f32", "1,1,1,4", [[[[1, 1, -INF, -INF]]]]),
        "i64{[1, 2]}",
        outputs=2,
    ),
]

test_against_openvino = against_openvino(
    *(row for version in VERSIONS for row in base(*version)),
    *AVERAGES,
    *LARGEST,
    *adaptive("AdaptiveAvgPool", 1, {}),
    *adaptive("AdaptiveMaxPool", 2, {"index_element_type": "i32"}),
    *INDEX,
)


def test_mean_of_integers_is_the_nearest() -> None:
    from irshape.ops.pooling.adaptive import AdaptiveAvgPool
    from irshape.ops.pooling.average import AvgPool_1

    numbers = np.array([[[0, 1, 1, 2, 2, 3, -1, 0]]], np.int32)
    pool = AvgPool_1(strides=(2,), pads_begin=(0,), pads_end=(0,), kernel=(2,), exclude_pad=True)
    assert pool.evaluate(numbers).tolist() == [[[0, 2, 2, 0]]]
    assert AdaptiveAvgPool().evaluate(numbers, np.array([4])).tolist() == [[[0, 2, 2, 0]]]


WINDOWS: dict[str, Any] = {
    "kernel": (3, 2),
    "strides": (2, 1),
    "pads_begin": (1, 0),
    "pads_end": (0, 1),
}
ANY_LAYOUT: dict[str, Any] = {
    "largest": (MaxPool_1(**WINDOWS), ()),
    "mean": (AvgPool_1(**WINDOWS, exclude_pad=False), ()),
    "mean without padding": (AvgPool_1(**WINDOWS, exclude_pad=True), ()),
    "transposed convolution": (
        ConvolutionBackpropData(
            strides=(2, 1), pads_begin=(1, 0), pads_end=(0, 1), dilations=(1, 2)
        ),
        ((6, 4, 3, 2),),
    ),
}


@pytest.mark.parametrize("case", ANY_LAYOUT)
def test_channels_last_in_memory_change_nothing_and_stay_so(case: str) -> None:
    operation, shapes = ANY_LAYOUT[case]
    generator = np.random.default_rng(0)
    array, *others = (
        generator.standard_normal(shape, np.float32) for shape in ((2, 6, 7, 5), *shapes)
    )
    last = np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    result = operation.evaluate(last, *others)
    np.testing.assert_allclose(result, operation.evaluate(array, *others), rtol=1e-5, atol=1e-5)
    assert result.transpose(0, 2, 3, 1).flags.c_contiguous
