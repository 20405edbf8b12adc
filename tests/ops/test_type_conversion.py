"""Conversions of element types against OpenVINO, and elementwise values that decide shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential import elements
from differential.cases import Case, Node, const, data
from rows import against_openvino, node, row, sizes_of, unrun

INF, NAN = float("inf"), float("nan")
NUMBERS = [name for name in elements.NAMES if name != "string"]
TABLES = {"f8e8m0", "f4e2m1", "nf4"}
"""Types that OpenVINO converts only from and to some others."""
FROM_TABLES = {"f64", "f32", "f16", "bf16"}


def runs(source: str, target: str) -> bool:
    """Whether some engine of OpenVINO converts from the one to the other."""
    if source in TABLES:
        return (
            target == source
            or target in FROM_TABLES
            or (source != "f8e8m0" and target in ("i8", "u8", "i4", "u4"))
        )
    return target not in TABLES or source in ("f32", "f16", "bf16")


def sample(element_type: str) -> list[Any]:
    """Numbers that every type can hold without being too large."""
    if element_type == "boolean":
        return [True, False]
    if element_type == "nf4":
        return list(range(16))
    if element_type == "f8e8m0":
        return [0.25, 0.5, 1.0, 2.0, 8.0]
    if element_type in elements.REAL:
        return [0.0, 0.25, -0.5, 1.0, 1.5, 2.0, -3.0, 6.0]
    low, high = elements.limits(element_type)
    return [number for number in (0, 1, 2, 3, 5, 7, -1, -3, -7) if low <= number <= high]


def convert(
    source: str, target: str, values: Any, expected: list[Any] | None = None, **fields: Any
) -> Case:
    given = data(source, str(len(values)), values)
    wanted = None if expected is None else [expected]
    return row("Convert-1", f"destination_type={target}", given, expected=wanted, **fields)


PAIRS = [
    convert(
        source,
        target,
        sample(source),
        run=True if runs(source, target) else "alone",
        known="convert-f64-stops" if source == "f64" and target in ("u8", "u4") else (),
    )
    for source in NUMBERS
    for target in NUMBERS
]


NARROW = [127.9, 128.0, 255.5, 300.0, -129.0, 40000.0, 70000.0, -1.5]
LIMITS = [INF, -INF, NAN]
BIG = [*NARROW, 3e9, 1e20, *LIMITS]
EXTREMES = [
    *(
        convert("f32", target, NARROW)
        for target in ("i8", "u8", "i16", "u16", "i32", "i4", "u4", "u1", "u2", "u3", "u6")
    ),
    convert("f32", "i32", BIG),
    convert("f32", "u32", [3e9, -1.0], [3000000000, 2**32 - 1], known="convert-large-unsigned"),
    convert("f32", "i64", [3e9, -3e9], [3000000000, -3000000000], known="i64-as-i32"),
    convert("f32", "u64", [1e19, 3e9], [int(np.float32(1e19)), 3000000000], known="i64-as-i32"),
    convert("f32", "f16", BIG),
    convert("f32", "bf16", [*BIG, 1.00390625, 1.01171875]),
    convert("f32", "f8e4m3", [448, 464, 465, 1e9, *LIMITS, 2**-10, 0.001, 17, 19, -431.99997]),
    convert("f32", "f8e5m2", [57344, 61439, 61440, 1e9, *LIMITS, 1e-5, 7e-6, 9, 11, -45055.996]),
    convert("f32", "f4e2m1", [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 7, -100, *LIMITS, 0.2500001]),
    convert("f32", "f8e8m0", [0, -1, 0.75, 1.5, 1.4999, 3, 6, 3e38, INF, NAN, 1e-45, 1e-39]),
    convert("f32", "nf4", [-2.0, 2.0, NAN, INF, -INF, 0.03, 0.05, -0.04, -0.05, 0.3, 0.9, -0.9]),
    convert("f32", "boolean", [0.0, -0.0, 0.25, -3.0, INF]),
    convert("f32", "boolean", [NAN], [True], known="convert-not-a-number"),
    convert("f32", "f64", [INF, 1.0], [INF, 1.0], known="convert-f64-infinity"),
    convert("f64", "f32", [1e300, INF, 1.0], [INF, INF, 1.0], known="convert-f64-infinity"),
    convert("f64", "u8", [-1.5, 300.0], [255, 44], known="convert-f64-stops"),
    convert("i64", "i32", [2**40 + 5, -(2**31) - 1, -1]),
    convert("i64", "f64", [2**40 + 5, -3], [2.0**40 + 5, -3.0], known="i64-as-i32", rtol=1e-15),
    convert("i32", "u8", [-1, 256, 511, -300]),
    convert("i32", "i4", [8, -9, 100, 15]),
    convert("i32", "u1", [2, 3, -1, 0]),
    convert("i32", "f16", [65504, 65520, -70000, 2049]),
    convert("i32", "boolean", [0, 256, -1]),
    convert("u8", "i8", [127, 128, 255]),
    convert("i8", "u64", [-1, 5]),
    convert("boolean", "f8e5m2", [True, False]),
    convert("f16", "i64", [INF, 2.5], known="i64-as-i32"),
]


PROMOTION = "ConvertPromoteTypes-14"
PROMOTE = [(unsafe, scalar) for unsafe in ("false", "true") for scalar in ("false", "true")]
MIXED = [
    ("f32", "f16"),
    ("f32", "i8"),
    ("f16", "i8"),
    ("f16", "i32"),
    ("i8", "u8"),
    ("i32", "u8"),
    ("i64", "u64"),
    ("u4", "i4"),
    ("u1", "i8"),
    ("f16", "bf16"),
    ("f8e4m3", "f8e5m2"),
    ("boolean", "i32"),
    ("u8", "u16"),
]


def promote(a: str, b: str, shape: str, unsafe: str, scalar: str, **fields: Any) -> Case:
    attributes = f"promote_unsafe={unsafe} pytorch_scalar_promotion={scalar}"
    attributes += " u64_integer_promotion_target=f64"
    inputs = data(a, "2,3", low=0), data(b, shape, low=0)
    return unrun(PROMOTION, attributes, *inputs, outputs=2, **fields)


TYPES = [
    *(
        row("Convert-1", "destination_type=f16", f"f32{shape}")
        for shape in ("[]", "[0,3]", "[1..8,?]@2,3", "[...]@2,2")
    ),
    unrun("Convert-1", "destination_type=f16", "f32[2,1000000000000]"),
    row("Convert-17", "destination_type=i32", "f32[2]"),
    row("Convert-1", "destination_type=I32", "f32[2]"),
    unrun("Convert-1", "destination_type=dynamic", "f32[2]"),
    row("Convert-1", "destination_type=int", "f32[2]"),
    unrun("Convert-1", {}, "f32[2]", known="missing-attribute"),
    unrun("Convert-1", "destination_type=string", "f32[2]"),
    unrun("Convert-1", "destination_type=f32", "string[2]"),
    unrun("Convert-1", "destination_type=f32", "dynamic[2]"),
    row("Convert-1", "destination_type=f32", *([data("f32", "2")] * 2)),
    *(
        row("ConvertLike-1", {}, "f32[2,3]", const(t, [1]))
        for t in ("f16", "i32", "u8", "boolean", "bf16")
    ),
    row("ConvertLike-1", {}, "i64[1..4,?]@2,3 f32[...]"),
    row("ConvertLike-1", {}, "i64[1..4,?]@2,3 f32[?,?]@1,1"),
    unrun("ConvertLike-1", {}, "f32[2,3] dynamic[?]"),
    row("ConvertLike-1", {}, "f32[2,3]"),
    *(
        promote(a, b, shape="3", unsafe=unsafe, scalar=scalar)
        for a, b in MIXED
        for unsafe, scalar in PROMOTE
    ),
    *(
        promote(b, a, shape="", unsafe=unsafe, scalar="true")
        for a, b in MIXED
        for unsafe in ("true", "false")
    ),
    promote("f32", "dynamic", shape="3", unsafe="false", scalar="false"),
    *(
        promote(a, b, shape="...", unsafe=unsafe, scalar="true")
        for a, b in (("i32", "i8"), ("u64", "i64"), ("f32", "i8"))
        for unsafe in ("true", "false")
    ),
    promote("nf4", "f32", shape="3", unsafe="false", scalar="false"),
    promote("f32", "string", shape="3", unsafe="false", scalar="false"),
    row(PROMOTION, {}, "i8[2,3] f32[3]", outputs=2),
    row(PROMOTION, "promote_unsafe=true", "i64[2,3]", data("u64", "3", low=0), outputs=2),
    row(PROMOTION, "u64_integer_promotion_target=long", "i64[2,3] u64[3]", outputs=2),
    row("ConvertPromoteTypes-13", {}, "i8[2,3] f32[3]", outputs=2),
]

test_against_openvino = against_openvino(*PAIRS, *EXTREMES, *TYPES)


# values that decide a shape: the result is the target of a Broadcast, which takes its bounds


def op(type: str, *inputs: Any, version: str = "opset1", **attributes: str) -> Node:
    return node(f"{type}-{version}", attributes, *inputs)


def to(element_type: str, given: Any) -> Node:
    return op("Convert", given, destination_type=element_type)


def i64(*values: int) -> Any:
    return const("i64", list(values))


def scaled(shape: str, factor: float, through: str, element_type: str = "f32") -> Node:
    return to(
        "i64",
        op(
            through,
            op("Multiply", to(element_type, sizes_of(shape)), const(element_type, [factor])),
            version="opset5" if through == "Round" else "opset1",
        ),
    )


INTERVALS = "2..10,?,3..,..7"
LESS_THAN_5 = op("Less", sizes_of("4,9"), i64(5))
NOT_4 = op("NotEqual", sizes_of("4,9"), i64(4))
SAME = {
    "add-static": op("Add", sizes_of("2,3"), i64(1, 2)),
    "add-both": op("Add", sizes_of("2..10,3"), sizes_of("1..3,5..6")),
    "subtract": op("Subtract", sizes_of("4..10,5"), i64(2)),
    "subtract-to-zero": op("Maximum", op("Subtract", sizes_of("2..10,?"), i64(3)), i64(0)),
    "multiply": op("Multiply", sizes_of("2..10,5,1..3"), i64(2, 1, 3)),
    "multiply-shapes": op("Multiply", sizes_of("2..4,3"), sizes_of("1..2,3..5")),
    "divide": op("Divide", sizes_of("2..11,9"), i64(2)),
    "mod-static": op("Mod", sizes_of("11,9"), i64(4)),
    "floor-mod-static": op("FloorMod", sizes_of("11,9"), i64(4)),
    "power": op("Power", sizes_of("2..3,4"), i64(2)),
    "negative-abs": op("Abs", op("Negative", sizes_of("5,9"))),
    "clamp": op("Clamp", sizes_of("2..10,9"), min="3", max="7.5"),
    "sign": op("Sign", sizes_of("5,9")),
    "rounds-as-f32": scaled("10,20,30", 0.7, "Floor"),
    "rounds-as-f16": scaled("10,20,30", 0.7, "Floor", "f16"),
    "round": scaled("3,5,7", 0.5, "Round"),
    "through-i32": to("i64", to("i32", sizes_of(INTERVALS))),
    "select-known": op("Select", const("boolean", [True, False]), sizes_of("2..10,9"), i64(7)),
    "select-equal": op("Select", op("Equal", sizes_of("4,9"), i64(4)), i64(1), sizes_of("4,9")),
    "logical": op("Select", op("LogicalAnd", LESS_THAN_5, op("LogicalNot", NOT_4)), i64(1), i64(2)),
    "pdpd": op("Add", sizes_of("4,9"), i64(1), auto_broadcast="pdpd"),
}
TIGHTER = {
    "add": op("Add", sizes_of(INTERVALS), i64(1)),
    "multiply-unbounded": op("Multiply", sizes_of(INTERVALS), i64(2)),
    "divide-unbounded": op("Divide", sizes_of(INTERVALS), i64(2)),
    "minimum": op("Minimum", sizes_of(INTERVALS), i64(5)),
    "maximum": op("Maximum", sizes_of(INTERVALS), i64(5)),
    "squared-difference": op("SquaredDifference", sizes_of("5,9"), i64(2)),
    "relu": op("ReLU", op("Subtract", sizes_of("2..10,9"), i64(4))),
    "half-floor": scaled("2..11,9,?", 0.5, "Floor"),
    "third-ceiling": scaled("2..11,9,?", 1 / 3, "Ceiling"),
    "sqrt": to("i64", op("Sqrt", to("f32", sizes_of("4..81,16")))),
    "like": op("ConvertLike", op("Floor", to("f32", sizes_of("2..11,9"))), i64(0)),
    "select-compared": op(
        "Select", op("Greater", sizes_of("2..10,9"), i64(1)), sizes_of("2..10,9"), i64(1)
    ),
    "select-either": op("Select", op("Less", sizes_of("2..10,9"), i64(5)), i64(3), i64(8)),
    "bitwise": op("BitwiseAnd", sizes_of("4,9"), i64(12), version="opset13"),
}
"""Those of which irshape knows narrower bounds than OpenVINO."""

test_values_for_shapes = against_openvino(
    *(
        unrun("Broadcast-3", "mode=numpy", "f32{1.0}", target, id=name, known=known)
        for targets, known in ((SAME, ""), (TIGHTER, "value-bounds-tighter"))
        for name, target in targets.items()
    )
)
