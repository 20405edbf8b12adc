"""Reductions against OpenVINO: shapes, refusals and values, for every operation of the family."""

from __future__ import annotations

from typing import Any

import numpy as np
from differential.cases import Case, Data, const, data
from rows import against_openvino, node, row, sizes_of, unrun

ARITHMETIC = [
    ("ReduceMean", "opset1"),
    ("ReduceSum", "opset1"),
    ("ReduceProd", "opset1"),
    ("ReduceMin", "opset1"),
    ("ReduceMax", "opset1"),
    ("ReduceL1", "opset4"),
    ("ReduceL2", "opset4"),
]
LOGICAL = [("ReduceLogicalAnd", "opset1"), ("ReduceLogicalOr", "opset1")]
FAMILY = [*ARITHMETIC, *LOGICAL]
KEEP = {"keep_dims": "true"}
DROP = {"keep_dims": "false"}


OF_NOTHING = {
    "ReduceMax": [[[[-np.inf] * 3] for _ in range(2)]],
    "ReduceMin": [[[[np.inf] * 3] for _ in range(2)]],
}
"""What is expected of reductions of no elements, where the CPU decides what OpenVINO gives."""


def kind(operation: str) -> str:
    return "boolean" if "Logical" in operation else "f32"


def rows(operation: str, version: str) -> list[Case]:
    layer = f"{operation}-{version}"
    t = kind(operation)
    return [
        # which axes
        row(layer, KEEP, f"{t}[2,3,4]", "i64{[1]}"),
        row(layer, DROP, f"{t}[2,3,4]", "i64{[1]}"),
        row(layer, {}, f"{t}[2,3,4]", "i64{[0, 2]}"),
        row(layer, KEEP, f"{t}[2,3,4]", "i64{[0, 1, 2]}"),
        row(layer, DROP, f"{t}[2,3,4]", "i32{[-1, -3]}"),
        row(layer, KEEP, f"{t}[2,3,4]", "i64{[2, 0]}"),
        row(layer, DROP, f"{t}[2,3,4]", "i64{1}", id=f"{operation}-scalar-axis"),
        row(layer, KEEP, f"{t}[2,3,4]", "i64{[]}"),
        row(
            layer,
            KEEP,
            f"{t}[2,3,4]",
            data("i64", "0", []),
            known=("reduce-unknown-axes-kept", *["empty-list-at-run-time"][t == "boolean" :]),
        ),
        row(layer, KEEP, f"{t}[2,1,1,1,1,3]", "i64{[]}", known="reduce-no-axes-of-rank-6"),
        row(layer, DROP, f"{t}[5]", "u8{[0]}"),
        row(layer, KEEP, f"{t}[1,1,1]", "i8{[1]}"),
        row(layer, DROP, f"{t}[2,3,4]", "u64{[1]}"),
        # what data
        row(layer, KEEP, f"{t}[]", "i64{[]}"),
        row(layer, DROP, f"{t}[]", "i64{[]}"),
        row(layer, DROP, f"{t}[2,?,4]@2,3,4", "i64{[1]}"),
        row(layer, KEEP, f"{t}[1..8,?,4..]@2,3,4", "i64{[-1]}"),
        row(layer, DROP, f"{t}[1..8,?,4..]@2,3,4", "i64{[0]}"),
        row(layer, DROP, f"{t}[...]", "i64{[1]}"),
        row(layer, KEEP, f"{t}[...]", "i64{[1]}"),
        unrun(layer, KEEP, f"{t}[2,1000000000000]", "i64{[1]}"),
        # axes known at run time only
        unrun(layer, KEEP, f"{t}[2,3,4] i64[2]", known="reduce-unknown-axes-kept"),
        unrun(layer, DROP, f"{t}[2,3,4] i64[2]"),
        unrun(layer, DROP, f"{t}[2,3,4] i64[1]", known="reduce-unknown-axis-dropped"),
        unrun(
            layer,
            DROP,
            f"{t}[2,3,4] i64[]",
            known="reduce-unknown-axis-dropped",
            id=f"{operation}-unknown-scalar-axis",
        ),
        unrun(layer, DROP, f"{t}[2,3,4] i64[?]"),
        unrun(layer, DROP, f"{t}[2,3,4] i64[...]"),
        unrun(layer, KEEP, f"{t}[...] i64[?]"),
        # what OpenVINO refuses
        row(layer, KEEP, f"{t}[2,3]", "i64{[2]}"),
        row(layer, DROP, f"{t}[2,3]", "i64{[-3]}"),
        row(layer, DROP, f"{t}[2,3]", "f32{[1.0]}"),
        row(layer, DROP, f"{t}[2,3]", "boolean{[True]}"),
        row(layer, DROP, f"{t}[2,3]", "i64{[[0, 1]]}"),
        row(layer, DROP, f"{t}[]", "i64{[1]}"),
        row(layer, KEEP, f"{t}[]", "i64{[0]}"),
        row(layer, DROP, f"{t}[2,3]", id=f"{operation}-no-axes-input"),
        row(layer, DROP, f"{t}[2,3]", "i64{[1]} i64{[1]}", id=f"{operation}-three-inputs"),
        row(
            layer,
            DROP,
            data("boolean" if t == "f32" else "f32", "2,3"),
            "i64{[1]}",
            id=f"{operation}-wrong-type",
        ),
        # what it takes though the specification forbids it
        row(layer, KEEP, f"{t}[2,3]", "i64{[1, 1]}", known="duplicate-axes"),
        row(layer, DROP, f"{t}[2,3]", "i64{[1, -1]}", known="duplicate-axes"),
        row(layer, "keep_dims=maybe", f"{t}[2,3]", "i64{[1]}", known="boolean-text"),
        row(layer, "keepdims=true", f"{t}[2,3]", "i64{[1]}", known="unused-attribute-misspelt"),
        row(layer, DROP, f"{t}[]", "i64{[0]}", known="reduce-axis-of-scalar"),
    ]


def typed(operation: str, version: str) -> list[Case]:
    axes = const("i64", [1])
    small = [[3, -4, 5, 0], [-1, -2, 2, 7], [1, 1, 1, 1]]
    unsigned = [[3, 4, 5, 0], [1, 2, 2, 7], [1, 1, 1, 1]]
    cases = [
        row(f"{operation}-{version}", KEEP, data(t, "3,4", small), axes)
        for t in ("f64", "f16", "bf16", "i64", "i32", "i16", "i8")
    ]
    cases += [
        row(f"{operation}-{version}", DROP, data(t, "3,4", unsigned), axes)
        for t in ("u8", "u16", "u32", "u64")
    ]
    cases += [
        unrun(f"{operation}-{version}", DROP, f"{t}[3,4]", axes)
        for t in ("f8e4m3", "f8e5m2", "u4", "i4")
    ]
    return cases


def special(
    id: str, operation: str, source: Data, attributes: dict[str, str] = DROP, **rest: Any
) -> Case:
    """A reduction of the first axis."""
    return row(operation, attributes, source, "i64{[0]}", id=id, **rest)


SPECIAL = [
    special("mean-of-integers-towards-zero", "ReduceMean-1", data("i32", "4", [-1, -2, -2, -2])),
    special(
        "mean-of-2^40",
        "ReduceMean-1",
        data("i64", "4", [2**40] * 4),
        expected=[np.array(2**40)],
        known="i64-as-i32",
    ),
    special(
        "mean-of-1e300",
        "ReduceMean-1",
        data("f64", "2", [1e300, 1e300]),
        expected=[np.array(1e300)],
        known="f64-as-f32",
    ),
    special(
        "mean-of-four-254",
        "ReduceMean-1",
        data("u8", "4", [254] * 4),
        expected=[np.array(254, np.uint8)],
        known="u8-sum-wraps",
    ),
    special("mean-with-nan", "ReduceMean-1", data("f32", "3", [np.nan, 1, 2])),
    special("mean-with-infinity", "ReduceMean-1", data("f32", "3", [np.inf, 1, 2])),
    special("max-with-infinity", "ReduceMax-1", data("f32", "3", [-np.inf, 1, 2])),
    special("min-at-the-limits", "ReduceMin-1", data("i32", "3", [-(2**31), 1, 2**31 - 1]), KEEP),
    special("l2-of-integers-truncates", "ReduceL2-4", data("i32", "2", [1, 2])),
    special("product-wraps", "ReduceProd-1", data("i32", "3", [1 << 20, 1 << 20, 3])),
    *[
        row(
            f"{operation}-{version}",
            KEEP,
            data(kind(operation), "2,0,3"),
            "i64{[1]}",
            id=f"{operation}-of-nothing",
            known="reduce-extreme-of-nothing" if operation in OF_NOTHING else (),
            expected=OF_NOTHING.get(operation),
        )
        for operation, version in FAMILY
    ],
    *[
        special(
            f"{operation}-into-nothing", f"{operation}-{version}", data(kind(operation), "2,0,3")
        )
        for operation, version in FAMILY
    ],
]


def of_sizes(operation: str, shape: str, axes: list[int]) -> Case:
    """A shape that is reduced from the sizes of another."""
    sizes = sizes_of(shape)
    reduced = node(f"{operation}-1", KEEP, sizes, const("i64", axes, (len(axes),)))
    inputs = [data("f32", "1"), reduced]
    dynamic = any(sign in shape for sign in "?.")
    known = "value-bounds-tighter" if operation == "ReduceSum" and dynamic else ()
    return unrun("Broadcast-3", "mode=numpy", *inputs, known=known)


SIZES = [
    of_sizes(operation, shape, axes)
    for operation in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceMean")
    for shape, axes in (
        ("2..4,3", [0]),
        ("2..4,1..7", [0]),
        ("?,3", [0]),
        ("..4,2..,5", [-1]),
        ("2..4", []),
        ("2,3", [0]),
    )
]

test_against_openvino = against_openvino(
    *(case for operation, version in FAMILY for case in rows(operation, version)),
    *(case for operation, version in ARITHMETIC for case in typed(operation, version)),
    *SPECIAL,
    *SIZES,
)
