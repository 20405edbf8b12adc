"""Arithmetic against OpenVINO: broadcasting, element types, refusals and values."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, const, data
from rows import against_openvino, as_shape, names, node, row, unrun

INF, NAN = float("inf"), float("nan")
BINARY = names("Add Subtract Multiply Divide Power Mod FloorMod Maximum Minimum SquaredDifference")
NUMPY, NONE, PDPD = ({"auto_broadcast": mode} for mode in ("numpy", "none", "pdpd"))


def along(axis: int) -> dict[str, str]:
    return PDPD | {"auto_broadcast.auto_broadcast_axis": str(axis)}


def pair(operation: str, element_type: str, a: list[float], b: list[float], **fields: Any) -> Case:
    inputs = [data(element_type, str(len(values)), values) for values in (a, b)]
    return row(f"{operation}-1", fields.pop("attributes", {}), *inputs, **fields)


def positive(shape: str, run_shape: tuple[int, ...] | None = None) -> object:
    return data("f32", shape, low=0.5, high=3.0, run_shape=run_shape)


def broadcasting(operation: str) -> list[Case]:
    x = positive("2,3,4")
    rows = [
        (NUMPY, x, positive("3,1")),
        ({}, positive(""), positive("")),
        (NUMPY, positive("3"), positive("2,1")),
        (NUMPY, positive("0,3"), positive("1,3")),
        (NUMPY, positive("1..4,?", (2, 3)), positive("2..8,3", (2, 3))),
        (NUMPY, positive("...", (2, 3)), positive("3")),
        (NUMPY, positive("?,?,64", (1, 2, 64)), positive("1..8,?,64", (3, 1, 64))),
        (NUMPY, positive("2..4"), positive("3..5")),
        (NUMPY, x, positive("3")),
        (NONE, x, positive("2,3,4")),
        (NONE, positive("1..4,?", (3, 2)), positive("2..8,2", (3, 2))),
        (NONE, positive("..."), positive("2,?")),
        (NONE, x, positive("1,3,4")),
        (along(1), x, positive("3")),
        (along(-1), x, positive("3,4")),
        (along(0), x, positive("2,3,1")),
        (along(1), positive("2,?,4"), positive("1..3,4")),
        (along(0), positive("?,?"), positive("3")),
        (along(0), positive("..."), positive("3")),
        (along(2), x, positive("3")),
        (along(-2), x, positive("2")),
        (along(1), positive("2,1,4"), positive("3")),
        (PDPD, positive("3"), positive("2,3")),
    ]
    return [row(f"{operation}-1", attributes, a, b) for attributes, a, b in rows]  # type: ignore[list-item]


def types(operation: str) -> list[Case]:
    layer = f"{operation}-1"
    return [
        *(
            row(layer, {}, data(t, "2,3", low=1, high=3), data(t, "3", low=1, high=2))
            for t in ("f32", "f16", "bf16", "i32", "i16", "u16", "u32", "u8", "i8", "i64", "u64")
            if (operation, t) not in NARROW
        ),
        *(
            unrun(layer, {}, f"{t}[2,3] {t}[3]")
            for t in names("f64 f8e4m3 f8e5m2 f4e2m1 nf4 i4 u4 u1 boolean string dynamic")
        ),
        unrun(layer, {}, "f32[2] dynamic[2]"),
        unrun(layer, {}, "dynamic[2] i8[2]"),
        row(layer, {}, "dynamic[2] boolean[2]"),
        row(layer, {}, "f32[2] f16[2]"),
        row(layer, {}, "i32[2] i64[2]"),
        row(layer, {}, "f32[2]"),
        row(layer, {}, *([data("f32", "2")] * 3)),
        row(layer, "auto_broadcast=NumPy", "f32[2] f32[1]"),
        row(layer, "auto_broadcast=left", "f32[2] f32[1]"),
        row(layer, "auto_broadcast=explicit", "f32[2] f32[2]", known="explicit-broadcast"),
        unrun(layer, {}, "f32[2,1000000000000] f32[1]"),
    ]


NARROW = {("SquaredDifference", "u8"), ("SquaredDifference", "i8")}
"""What the CPU plugin gets wrong; see `test_values`."""


A = [7.0, -7.0, 7.0, -7.0, 7.5, -7.5, 0.25, -0.0, INF, -INF, 1.0]
B = [2.0, 2.0, -2.0, -2.0, 2.5, 2.0, -4.0, 1.0, 2.0, 3.0, INF]
I = [7, -7, 7, -7, 6, -6, 0, 1, -1, 100]  # noqa: E741
SATURATED, OF_BYTES = "narrow-integers-saturate", "squared-difference-of-bytes"
DIVIDED = "divide-towards-zero"
J = [2, 2, -2, -2, 3, 3, 5, -5, -3, 100]

VALUES = [
    *(pair(operation, "f32", A, B) for operation in BINARY if operation not in ("Mod", "FloorMod")),
    *(pair(operation, "f32", A[:8], B[:8]) for operation in ("Mod", "FloorMod")),
    *(
        pair(operation, "i32", I, J)
        for operation in names(
            "Add Subtract Multiply Mod FloorMod Maximum Minimum SquaredDifference"
        )
    ),
    *(
        pair(operation, "i8", I, J, expected=[wanted])
        for operation, wanted in {
            "Mod": [1, -1, 1, -1, 0, 0, 0, 1, -1, 0],
            "FloorMod": [1, 1, -1, -1, 0, 0, 0, -4, -1, 0],
        }.items()
    ),
    # what does not fit wraps around
    pair("Add", "i32", [2**31 - 1, -(2**31)], [1, -1]),
    pair("Multiply", "i32", [2**31 - 1, 65536], [2, 65536]),
    pair("Add", "u8", [200, 255], [100, 1], known=SATURATED, expected=[[44, 0]]),
    pair("Subtract", "u8", [1, 0], [2, 255], known=SATURATED, expected=[[255, 1]]),
    pair("Multiply", "i8", [100, -128], [2, -1], known=SATURATED, expected=[[-56, -128]]),
    pair(
        "Add",
        "i64",
        [2**40, -(2**63)],
        [1, -1],
        known="i64-as-i32",
        expected=[[2**40 + 1, 2**63 - 1]],
    ),
    pair("Add", "u4", [9, 15], [9, 15]),
    pair("Multiply", "i4", [7, -8], [7, -8]),
    pair("SquaredDifference", "u8", [7, 2], [2, 7], known=OF_BYTES, expected=[[25, 25]]),
    pair("SquaredDifference", "i8", [-7, 2], [2, 7], known=OF_BYTES, expected=[[81, 25]]),
    # division and powers of integers
    pair("Divide", "i32", [7, 6, 0, 100, 2**31 - 1], [2, 3, 5, 100, 2**31 - 1]),
    pair("Divide", "i32", I, J, known=DIVIDED, expected=[[3, -4, -4, 3, 2, -2, 0, -1, 0, 1]]),
    pair("Divide", "i32", I, J, attributes={"m_pythondiv": "true"}, known=DIVIDED),
    pair("Divide", "i32", I, J, attributes={"m_pythondiv": "false"}),
    pair("Divide", "u8", [7, 200], [2, 3]),
    pair("Divide", "f32", [1, -1, 0], [0, 0, 0]),
    pair("Divide", "i32", I, J, attributes={"m_pythondiv": "maybe"}, known=("boolean-text",)),
    pair("Power", "i32", [7, -7, 0, 2, -2, 1, -1, -1, 3], [2, 3, 0, 10, 3, -5, -3, -2, -1]),
    pair("Power", "f32", [2, 2, -2, 0, 4, 0.5], [3, -1, 3, 0, 0.5, 10]),
    pair(
        "Power",
        "i32",
        [2, 3],
        [33, 21],
        known="integer-power-overflow",
        expected=[[0, 3**21 - 2**33 - 2**31 + 2**31]],
    ),
    row("Power-1", {}, "f32[3,4] f32{2.0}"),
    row("Power-1", {}, "f32[3,4] f32{[3.0]}"),
    row("Power-1", {}, "f32[] f32{[[2.0]]}"),
    row("Power-1", {}, data("f16", "3,4", low=0.1), "f16{0.5}"),
    # types that are held in others
    row(
        "Add-1",
        {},
        data("f8e4m3", "4", [1.0, 448.0, 0.001953125, -2.0]),
        data("f8e4m3", "4", [0.0625, 448.0, 0.0, 1.0]),
        run="alone",
        expected=[[1.0, NAN, 0.001953125, -1.0]],
    ),
    row(
        "Multiply-1",
        {},
        data("nf4", "3", [15, 0, 8]),
        data("nf4", "3", [12, 12, 7]),
        run="alone",
        expected=[[12, 3, 7]],
    ),
]


UNARY = {
    **dict.fromkeys(
        names("Abs Negative Sign Floor Ceiling Sqrt Exp Log Erf Sin Cos Tan"), "opset1"
    ),
    **dict.fromkeys(names("Sinh Cosh Tanh Asin Acos Atan"), "opset1"),
    **dict.fromkeys(names("Asinh Acosh Atanh"), "opset4"),
    "Round": "opset5",
}
RANGES = {
    "Sqrt": (0.0, 9.0),
    "Log": (0.01, 9.0),
    "Asin": (-0.99, 0.99),
    "Acos": (-0.99, 0.99),
    "Atanh": (-0.99, 0.99),
    "Acosh": (1.01, 9.0),
    "Tan": (-1.4, 1.4),
}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, INF, -INF, NAN, 1e-6]
CARELESS = set(
    names("Sin Cos Tan Erf Sinh Cosh Tanh Acosh Asinh Log Exp Asin Acos Atanh Atan Sign")
)
"""Where the CPU plugin's vector code does not look after infinity, NaN and the like."""


def unary(operation: str, version: str) -> list[Case]:
    layer = f"{operation}-{version}"
    low, high = RANGES.get(operation, (-4.0, 4.0))

    def fed(element_type: str, shape: str, run_shape: tuple[int, ...] | None = None) -> Case:
        return row(layer, {}, data(element_type, shape, low=low, high=high, run_shape=run_shape))

    rows = [
        fed("f32", "2,3,4"),
        fed("f32", ""),
        fed("f32", "0,3"),
        fed("f32", "1..8,?", (3, 5)),
        fed("f32", "...", (2, 2)),
        *(fed(t, "40") for t in ("f16", "bf16")),
        fed("f64", "2,3"),
        *(unrun(layer, {}, f"{t}[2]") for t in ("nf4", "dynamic", "boolean")),
        unrun(layer, {}, "string[2]", known="text-as-number" if operation == "Round" else ""),
        unrun(layer, {}, "f8e5m2[?]"),
        unrun(layer, {}, "u4[3,?]"),
        row(layer, {}, "f32[2] f32[2]"),
    ]
    if operation not in CARELESS:
        rows.append(row(layer, {}, data("f32", str(len(EDGES)), EDGES)))
    return rows


HALVES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4999, -0.4999, 8388609.0, 1e20, -INF, INF, NAN]
WHOLE = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 10]

UNARY_VALUES = [
    row("Round-5", "mode=half_to_even", data("f32", "13", HALVES)),
    row("Round-5", "mode=half_away_from_zero", data("f32", "13", HALVES)),
    row(
        "Round-5",
        "mode=half_away_from_zero",
        data("f32", "2", [0.49999997, -0.49999997]),
        known="round-just-below-half",
        expected=[[0.0, 0.0]],
    ),
    row("Round-5", "mode=HALF_AWAY_FROM_ZERO", data("f16", "6", HALVES[:6])),
    row("Round-5", "mode=up", "f32[2]"),
    row("Round-5", "mode=half_to_even", data("i32", "3", [-5, 0, 7])),
    # integers: rounded to the nearest
    *(
        row(f"{operation}-{UNARY[operation]}", {}, data("i32", "12", WHOLE))
        for operation in names(
            "Abs Negative Sign Floor Ceiling Erf Sin Cos Tan Sinh Cosh Tanh Atan Asinh"
        )
    ),
    *(
        row(f"{operation}-{UNARY[operation]}", {}, data("u8", "6", [1, 2, 3, 4, 9, 200]))
        for operation in ("Abs", "Sign", "Floor", "Sqrt", "Log", "Exp", "Cosh", "Acosh", "Atan")
        if operation != "Exp"
    ),
    row("Exp-1", {}, data("i32", "12", WHOLE)),
    row("Sqrt-1", {}, data("i32", "5", [0, 2, 3, 8, 100])),
    row("Log-1", {}, data("i32", "4", [1, 2, 5, 100])),
    row("Exp-1", {}, data("i8", "3", [1, 5, 2]), id="exp-saturates"),
    row("Sqrt-1", {}, data("f32", "3", [-1.0, 4.0, 0.0])),
    row("Log-1", {}, data("f32", "3", [0.0, 1.0, 2.0])),
    row("Atanh-4", {}, data("f32", "2", [0.5, -0.5])),
    row("Negative-1", {}, data("u4", "3", [0, 1, 15]), run="alone", expected=[[0, 15, 1]]),
    row("Abs-1", {}, data("i4", "3", [-8, -1, 7])),
    row("Erf-1", {}, data("f32", "40", np.linspace(-5, 5, 40))),
    row(
        "Erf-1",
        {},
        data("f64", "7", [-7.0, -1.0, 0.0, 1e-300, 0.999, 1.001, 30.0]),
        expected=[
            [
                -1.0,
                -0.8427007929497149,
                0.0,
                1.1283791670955126e-300,
                0.8422854040338588,
                0.8431156049637131,
                1.0,
            ]
        ],
    ),
    row("Tanh-2", {}, "f32[2]"),
    row("Acosh-3", {}, "f32[2]"),
    row("ErfInv-17", {}, data("f32", "6", [-0.9, -0.5, 0.0, 0.3, 0.84, 0.99])),
    row(
        "ErfInv-17",
        {},
        data("f32", "3", [-0.999, -1e-4, 0.999999]),
        known="erfinv-digits",
        expected=[[-2.326753765513525, -8.86226927e-05, 3.457074642]],
        rtol=1e-4,
    ),
    row(
        "ErfInv-17",
        {},
        data("f64", "3", [-0.999, -1e-4, 0.999999]),
        known="erfinv-digits",
        expected=[[-2.326753765513525, -8.862269277728e-05, 3.458910737279500]],
    ),
    row("ErfInv-17", {}, data("f16", "3", [-0.75, 0.0, 0.5])),
    row("ErfInv-17", {}, data("f32", "4", [1.0, -1.0, 2.0, NAN])),
    row("ErfInv-17", {}, data("f32", "?,2..3", run_shape=(2, 2), low=-0.9, high=0.9)),
    row("ErfInv-17", {}, "i32[2]"),
    row("ErfInv-16", {}, "f32[2]"),
]


AXIS = const("i64", 1)
FLAGS = [{"exclusive": a, "reverse": b} for a in ("true", "false") for b in ("true", "false")]
CUMULATIVE = [
    *(row("CumSum-3", flags, "f32[2,3,2]", AXIS) for flags in FLAGS),
    *(row("CumSum-3", flags, "i32[4] i32{-1}") for flags in FLAGS),
    row("CumSum-3", {}, "f32[1..4,?]@2,3 i64{-2}"),
    row("CumSum-3", {}, "f32[...]@2,3 i64{0}"),
    row("CumSum-3", {}, "f32[2,3]", data("i64", "", 1)),
    row("CumSum-3", {}, "f32[0,3]", AXIS),
    row("CumSum-3", "exclusive=1", "f32[3,0]", AXIS),
    row("CumSum-3", {}, "f16[2,3]", AXIS),
    row("CumSum-3", {}, data("u8", "3", [200, 100, 1]), "i64{0}"),
    unrun("CumSum-3", {}, "boolean[2,3]", AXIS),
    row("CumSum-3", {}, "f32[2,3] i64{2}", known="cumsum-axis-range"),
    row("CumSum-3", {}, "f32[2,3] i64{[0, 1]}", known="cumsum-axis-shape"),
    row("CumSum-3", {}, "f32[2,3] i64{[1]}"),
    row("CumSum-3", {}, "f32[2,3] f32{1.0}"),
    row("CumSum-3", {}, "f32[2,3] u8{1}"),
    row("CumSum-3", {}, "f32[2,3]"),
    row("CumSum-2", {}, "f32[2,3]", AXIS),
]


def quotient_as_shape(dividend: list[float]) -> Case:
    """Division by a size that may be 0: the quotient has a lower bound, but no upper one."""
    source = data("f32", "..6,2..4,4")
    sizes = node("Convert-1", "destination_type=f32", node("ShapeOf-3", "output_type=i64", source))
    quotient = node(
        "Divide-1", "auto_broadcast=numpy m_pythondiv=true", const("f32", dividend), sizes
    )
    whole = node("Convert-1", "destination_type=i32", quotient)
    return as_shape(whole, source, id=f"quotient-{dividend}")


test_against_openvino = against_openvino(
    *broadcasting("Add"),
    *broadcasting("Divide"),
    *broadcasting("SquaredDifference"),
    *(row for operation in BINARY for row in types(operation)),
    *VALUES,
    *(row for operation, version in UNARY.items() for row in unary(operation, version)),
    *UNARY_VALUES,
    *CUMULATIVE,
    quotient_as_shape([12.0, 6.0, 8.0]),
    quotient_as_shape([-12.0, 6.0, 0.0]),
)
