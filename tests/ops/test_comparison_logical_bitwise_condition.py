"""Comparisons, logical and bitwise operations, and conditions against OpenVINO."""

from __future__ import annotations

from typing import Any

from differential.cases import Case, Data, data
from rows import against_openvino, names, row, unrun

INF, NAN = float("inf"), float("nan")
COMPARISONS = ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]
LOGICAL = ["LogicalAnd", "LogicalOr", "LogicalXor", "Xor"]
BITWISE = {
    "BitwiseAnd": "opset13",
    "BitwiseOr": "opset13",
    "BitwiseXor": "opset13",
    "BitwiseLeftShift": "opset15",
    "BitwiseRightShift": "opset15",
}
ALL = dict.fromkeys((*COMPARISONS, *LOGICAL), "opset1") | BITWISE
PDPD = {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": "1"}
A = [-1.0, 0.0, -0.0, 1.0, 2.0, INF, -INF, 3.0]
B = [1.0, -0.0, 0.0, 1.0, 1.5, INF, INF, 3.0000002]


def kind(operation: str) -> str:
    if operation in BITWISE:
        return "i32"
    return "f32" if operation in COMPARISONS else "boolean"


def shapes(operation: str) -> list[Case]:
    layer, t = f"{operation}-{ALL[operation]}", kind(operation)
    low = 0 if operation in BITWISE else -2
    on_cpu_only = operation in BITWISE and "Shift" not in operation
    lost = "pdpd-lost" if "Shift" in operation or operation.startswith("Greater") else ""

    def fed(shape: str, run_shape: tuple[int, ...] | None = None) -> Data:
        return data(t, shape, low=low, run_shape=run_shape)

    by_axis = "alone" if on_cpu_only else True
    return [
        row(layer, {}, fed("2,3"), fed("3")),
        row(layer, "auto_broadcast=numpy", fed("2,1,4"), fed("3,1")),
        row(layer, {}, fed(""), fed("")),
        row(layer, {}, fed("0,3"), fed("1,3")),
        row(layer, {}, fed("1..4,?", (1, 3)), fed("?,2..3", (2, 3))),
        row(layer, {}, fed("...", (2, 3)), fed("3"), run=not on_cpu_only),
        row(layer, "auto_broadcast=none", fed("2,?", (2, 3)), fed("2,3")),
        row(layer, "auto_broadcast=none", fed("2,3"), fed("3")),
        row(layer, PDPD, fed("2,3,4"), fed("3"), run=by_axis, known=lost),
        row(layer, PDPD, fed("2,3,4"), fed("2")),
        row(layer, {}, fed("2,3"), fed("2")),
        row(layer, "auto_broadcast=all", fed("2,3"), fed("3")),
    ]


def types(operation: str) -> list[Case]:
    version, t = ALL[operation], kind(operation)
    every = names("f64 f16 bf16 f8e4m3 nf4 i64 i8 u4 u1 boolean string dynamic")
    text = {"string": "text-as-number"} if operation in BITWISE else {}
    text |= {"nf4": "nf4-as-integer"} if operation in BITWISE else {}
    return [
        *(
            unrun(
                f"{operation}-{version}", {}, f"{name}[2,?] {name}[2,?]", known=text.get(name, "")
            )
            for name in every
        ),
        unrun(f"{operation}-{version}", {}, f"{t}[2] dynamic[2]"),
        row(f"{operation}-{version}", {}, f"{t}[2] i16[2]"),
        row(f"{operation}-{version}", {}, f"{t}[2]"),
    ]


def two(
    operation: str, version: str, t: str, a: list[float], b: list[float], **fields: Any
) -> Case:
    return row(
        f"{operation}-{version}", {}, data(t, str(len(a)), a), data(t, str(len(b)), b), **fields
    )  # type: ignore[arg-type]


INFINITE = data("f32", "4", [1.0, INF, -INF, NAN])
VALUES = [
    *(two(operation, "opset1", t="f32", a=A, b=B) for operation in COMPARISONS),
    *(two(operation, "opset1", t="f16", a=A, b=B) for operation in COMPARISONS),
    *(
        two(operation, "opset1", t="i32", a=[-1, 0, 5, 2**31 - 1], b=[0, 0, 4, -(2**31)])
        for operation in COMPARISONS
    ),
    *(
        two(operation, "opset1", "boolean", [True, True, False, False], [True, False, True, False])
        for operation in (*COMPARISONS, *LOGICAL)
    ),
    two("Equal", "opset1", t="f32", a=[NAN, 1.0], b=[NAN, NAN]),
    two("NotEqual", "opset1", t="f32", a=[NAN, 1.0], b=[NAN, NAN]),
    two("Less", "opset1", t="f32", a=[NAN, 1.0], b=[1.0, NAN]),
    two("Equal", "opset1", "i64", [2**40, 1], [0, 1], known="i64-as-i32", expected=[[False, True]]),
    two("Less", "opset1", t="u8", a=[200, 1], b=[100, 255]),
    two("Less", "opset1", t="u4", a=[9, 1], b=[3, 15]),
    two(
        "Equal",
        "opset1",
        t="f8e4m3",
        a=[1.0, 448.0],
        b=[1.0, 416.0],
        run="alone",
        expected=[[True, False]],
    ),
    two("Equal", "opset1", "string", ["a", "b"], ["a", "c"], run="alone", expected=[[True, False]]),  # type: ignore[list-item]
    # logical
    row("LogicalNot-1", {}, "boolean[2,3]"),
    row("LogicalNot-1", {}, "boolean[]"),
    row("LogicalNot-1", {}, "boolean[1..4,?]@2,3"),
    row("LogicalNot-1", {}, "boolean[...]@2,3"),
    unrun("LogicalNot-1", {}, data("i32", "4", [0, 1, -5, 2])),
    unrun("LogicalNot-1", {}, "f32[?]"),
    row("LogicalNot-1", {}, *([data("boolean", "2")] * 2)),
    two("Xor", "opset2", t="boolean", a=[True], b=[False]),
    two("LogicalXor", "opset2", t="boolean", a=[True], b=[False]),
    two("LogicalXor", "opset1", t="boolean", a=[True], b=[False]),
    # bits
    *(
        two(operation, "opset13", t=t, a=[0, 5, 12, 127, 100], b=[3, 6, 10, 1, 64])
        for operation in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
        for t in ("i32", "i64", "u8", "i8", "i16", "u16")
    ),
    *(
        two(operation, "opset13", t="i32", a=[-1, -5, 2**31 - 1], b=[7, -2, -(2**31)])
        for operation in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    ),
    *(
        two(operation, "opset13", t="boolean", a=[1, 1, 0, 0], b=[1, 0, 1, 0])
        for operation in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
    ),
    two(
        "BitwiseAnd",
        "opset13",
        t="i64",
        a=[2**40 + 1, 3],
        b=[2**40, 1],
        known="i64-as-i32",
        expected=[[2**40, 1]],
    ),
    two("BitwiseXor", "opset13", t="u4", a=[9, 15], b=[3, 15]),
    *(
        row("BitwiseNot-13", {}, data(t, "4", [0, 1, 5, 100]))
        for t in ("i32", "i64", "u8", "i8", "u16")
    ),
    row("BitwiseNot-13", {}, data("boolean", "2", [True, False])),
    row("BitwiseNot-13", {}, data("u4", "3", [0, 9, 15])),
    row("BitwiseNot-13", {}, data("u3", "3", [0, 1, 7]), run="alone", expected=[[7, 6, 0]]),
    row("BitwiseNot-13", {}, "i32[1..4,?]@2,3"),
    row("BitwiseNot-13", {}, "f32[2]"),
    row("BitwiseNot-12", {}, "i32[2]"),
    *(
        two(operation, "opset15", t=t, a=[1, 5, 12, 100], b=[0, 2, 3, 1])
        for operation in ("BitwiseLeftShift", "BitwiseRightShift")
        for t in ("i32", "i64", "u8", "u16", "u32")
    ),
    two("BitwiseRightShift", "opset15", t="i32", a=[-8, -1, -7], b=[1, 3, 1]),
    two("BitwiseLeftShift", "opset15", t="u8", a=[200, 255], b=[1, 4]),
    two("BitwiseLeftShift", "opset15", t="u32", a=[2**31 + 1, 1], b=[1, 31]),
    two("BitwiseLeftShift", "opset15", t="i32", a=[5, -5, 5, 5], b=[-1, -33, 32, 33]),
    two("BitwiseRightShift", "opset15", t="i8", a=[5, -5, -5, 5], b=[-1, -33, 32, 8]),
    two("BitwiseLeftShift", "opset14", t="i32", a=[1], b=[1]),
    # kinds of number
    *(
        row(f"{operation}-10", {}, data(t, "6", [0.0, 1.0, INF, -INF, NAN, -2.0]))
        for operation in ("IsNaN", "IsInf", "IsFinite")
        for t in ("f32", "f16", "bf16")
    ),
    *(
        row("IsInf-10", f"detect_negative={negative} detect_positive={positive}", INFINITE)
        for negative in ("true", "false")
        for positive in ("true", "false")
    ),
    row("IsInf-10", "detect_positive=perhaps", INFINITE, known="boolean-text"),
    *(
        row(f"{operation}-10", {}, data("f32", shape, run_shape=run_shape))
        for operation in ("IsNaN", "IsInf", "IsFinite")
        for shape, run_shape in (("", None), ("1..4,?", (2, 3)), ("0,2", None))
    ),
    *(
        unrun(f"{operation}-10", {}, f"{t}[2,?]")
        for operation in ("IsNaN", "IsInf", "IsFinite")
        for t in ("f64", "f8e5m2", "f4e2m1", "nf4", "i32", "boolean", "string", "dynamic")
    ),
    row("IsNaN-9", {}, "f32[2]"),
]


NOT_FED = (None, None, None)


def select(
    cond: str,
    then: str,
    otherwise: str,
    t: str = "f32",
    run_shapes: tuple[tuple[int, ...] | None, ...] = NOT_FED,
    known: str = "",
    **attributes: str,
) -> Case:
    each = zip(("boolean", t, t), (cond, then, otherwise), run_shapes, strict=True)
    inputs = [data(kind, shape, run_shape=run_shape) for kind, shape, run_shape in each]
    return row("Select-1", attributes, *inputs, known=known)


def placed(cond: str, then: str, otherwise: str, axis: int, *run_shapes: tuple[int, ...]) -> Case:
    along = {"auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": str(axis)}
    return select(cond, then, otherwise, run_shapes=run_shapes or NOT_FED, **along)


SELECT = [
    select("2,3", "2,3", "2,3"),
    select("3", "2,1", "1"),
    select("2,3,4", "4", "3,1"),
    select("", "2,3", "3"),
    select("2,3", "", ""),
    select("0,3", "1,3", "3"),
    select("1..4,?", "?,3", "3", run_shapes=((2, 3), (1, 3), None)),
    select("...", "2,3", "3", run_shapes=((2, 3), None, None)),
    select("2,?", "2,3", "?,3", auto_broadcast="none", run_shapes=((2, 3), None, (2, 3))),
    select("2,3", "2,3", "3", auto_broadcast="none"),
    select("4", "2,3", "3"),
    select("2,3", "4", "3"),
    placed("3", "2,3,4", "3,4", 1),
    placed("2,3,1", "2,3,4", "2", 0),
    placed("3,4", "2,3,4", "3,4", -1),
    placed("2,3,4", "3", "2,3,4", 1),
    placed("5", "2,3,4", "3", 1),
    placed("3", "2,?,4", "3,4", 1, (3,), (2, 3, 4), (3, 4)),
    select("2,3", "2,3", "2,3", auto_broadcast="explicit", known="explicit-broadcast"),
    *(
        select("2,3", "2,3", "3", t=t)
        for t in ("f16", "bf16", "i32", "i64", "u8", "i8", "boolean", "f64", "u4")
    ),
    row("Select-1", {}, "boolean[2] nf4[2] nf4[2]", run="alone"),
    unrun("Select-1", {}, "boolean[2] string[2] string[2]"),
    unrun("Select-1", {}, "dynamic[2] dynamic[2] f32[2]"),
    row("Select-1", {}, "i32[2] f32[2] f32[2]"),
    row("Select-1", {}, "boolean[2] f32[2] i32[2]"),
    row("Select-1", {}, "boolean[2] f32[2]"),
    row("Select-1", {}, "boolean{[True, False]} f32[2,2] f32{0.0}"),
]

test_against_openvino = against_openvino(
    *(row for operation in ALL for row in (*shapes(operation), *types(operation))), *VALUES, *SELECT
)
