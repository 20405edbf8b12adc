"""Reductions against OpenVINO: shapes, refusals and values, for every operation of the family."""

from __future__ import annotations

import numpy as np
import pytest
from differential.cases import Case, case_id, const, data, node, row
from differential.compare import check
from differential.oracle import Oracle

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
    t = kind(operation)
    return [
        # which axes
        Case(operation, version, KEEP, [data(t, "2,3,4"), const("i64", [1])]),
        Case(operation, version, DROP, [data(t, "2,3,4"), const("i64", [1])]),
        Case(operation, version, {}, [data(t, "2,3,4"), const("i64", [0, 2])]),
        Case(operation, version, KEEP, [data(t, "2,3,4"), const("i64", [0, 1, 2])]),
        Case(operation, version, DROP, [data(t, "2,3,4"), const("i32", [-1, -3])]),
        Case(operation, version, KEEP, [data(t, "2,3,4"), const("i64", [2, 0])]),
        Case(
            operation,
            version,
            DROP,
            [data(t, "2,3,4"), const("i64", 1)],
            id=f"{operation}-scalar-axis",
        ),
        Case(operation, version, KEEP, [data(t, "2,3,4"), const("i64", [])]),
        Case(
            operation,
            version,
            KEEP,
            [data(t, "2,3,4"), data("i64", "0", values=[])],
            known=("reduce-unknown-axes-kept", *["empty-list-at-run-time"][t == "boolean" :]),
        ),
        Case(
            operation,
            version,
            KEEP,
            [data(t, "2,1,1,1,1,3"), const("i64", [])],
            known="reduce-no-axes-of-rank-6",
        ),
        Case(operation, version, DROP, [data(t, "5"), const("u8", [0])]),
        Case(operation, version, KEEP, [data(t, "1,1,1"), const("i8", [1])]),
        Case(operation, version, DROP, [data(t, "2,3,4"), const("u64", [1])]),
        # what data
        Case(operation, version, KEEP, [data(t, ""), const("i64", [])]),
        Case(operation, version, DROP, [data(t, ""), const("i64", [])]),
        Case(operation, version, DROP, [data(t, "2,?,4", run_shape=(2, 3, 4)), const("i64", [1])]),
        Case(
            operation,
            version,
            KEEP,
            [data(t, "1..8,?,4..", run_shape=(2, 3, 4)), const("i64", [-1])],
        ),
        Case(
            operation,
            version,
            DROP,
            [data(t, "1..8,?,4..", run_shape=(2, 3, 4)), const("i64", [0])],
        ),
        Case(operation, version, DROP, [data(t, "..."), const("i64", [1])]),
        Case(operation, version, KEEP, [data(t, "..."), const("i64", [1])]),
        Case(operation, version, KEEP, [data(t, "2,1000000000000"), const("i64", [1])], run=False),
        # axes known at run time only
        Case(
            operation,
            version,
            KEEP,
            [data(t, "2,3,4"), data("i64", "2")],
            run=False,
            known="reduce-unknown-axes-kept",
        ),
        Case(operation, version, DROP, [data(t, "2,3,4"), data("i64", "2")], run=False),
        Case(
            operation,
            version,
            DROP,
            [data(t, "2,3,4"), data("i64", "1")],
            run=False,
            known="reduce-unknown-axis-dropped",
        ),
        Case(
            operation,
            version,
            DROP,
            [data(t, "2,3,4"), data("i64", "")],
            run=False,
            known="reduce-unknown-axis-dropped",
            id=f"{operation}-unknown-scalar-axis",
        ),
        Case(operation, version, DROP, [data(t, "2,3,4"), data("i64", "?")], run=False),
        Case(operation, version, DROP, [data(t, "2,3,4"), data("i64", "...")], run=False),
        Case(operation, version, KEEP, [data(t, "..."), data("i64", "?")], run=False),
        # what OpenVINO refuses
        Case(operation, version, KEEP, [data(t, "2,3"), const("i64", [2])]),
        Case(operation, version, DROP, [data(t, "2,3"), const("i64", [-3])]),
        Case(operation, version, DROP, [data(t, "2,3"), const("f32", [1.0])]),
        Case(operation, version, DROP, [data(t, "2,3"), const("boolean", [True])]),
        Case(operation, version, DROP, [data(t, "2,3"), const("i64", [[0, 1]])]),
        Case(operation, version, DROP, [data(t, ""), const("i64", [1])]),
        Case(operation, version, KEEP, [data(t, ""), const("i64", [0])]),
        Case(operation, version, DROP, [data(t, "2,3")], id=f"{operation}-no-axes-input"),
        Case(
            operation,
            version,
            DROP,
            [data(t, "2,3"), const("i64", [1]), const("i64", [1])],
            id=f"{operation}-three-inputs",
        ),
        Case(
            operation,
            version,
            DROP,
            [data("boolean" if t == "f32" else "f32", "2,3"), const("i64", [1])],
            id=f"{operation}-wrong-type",
        ),
        # what it takes though the specification forbids it
        Case(
            operation, version, KEEP, [data(t, "2,3"), const("i64", [1, 1])], known="duplicate-axes"
        ),
        Case(
            operation,
            version,
            DROP,
            [data(t, "2,3"), const("i64", [1, -1])],
            known="duplicate-axes",
        ),
        Case(
            operation,
            version,
            {"keep_dims": "maybe"},
            [data(t, "2,3"), const("i64", [1])],
            known="boolean-text",
        ),
        Case(
            operation,
            version,
            {"keepdims": "true"},
            [data(t, "2,3"), const("i64", [1])],
            known="unused-attribute-misspelt",
        ),
        Case(
            operation,
            version,
            DROP,
            [data(t, ""), const("i64", [0])],
            known="reduce-axis-of-scalar",
        ),
    ]


@pytest.mark.parametrize(
    "case",
    [case for operation, version in FAMILY for case in rows(operation, version)],
    ids=case_id,
)
def test_shapes_refusals_and_values(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


def typed(operation: str, version: str) -> list[Case]:
    axes = const("i64", [1])
    small = [[3, -4, 5, 0], [-1, -2, 2, 7], [1, 1, 1, 1]]
    unsigned = [[3, 4, 5, 0], [1, 2, 2, 7], [1, 1, 1, 1]]
    cases = [
        Case(operation, version, KEEP, [data(t, "3,4", values=small), axes])
        for t in ("f64", "f16", "bf16", "i64", "i32", "i16", "i8")
    ]
    cases += [
        Case(operation, version, DROP, [data(t, "3,4", values=unsigned), axes])
        for t in ("u8", "u16", "u32", "u64")
    ]
    cases += [
        Case(operation, version, DROP, [data(t, "3,4"), axes], run=False)
        for t in ("f8e4m3", "f8e5m2", "u4", "i4")
    ]
    return cases


@pytest.mark.parametrize(
    "case",
    [case for operation, version in ARITHMETIC for case in typed(operation, version)],
    ids=case_id,
)
def test_element_types(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


SPECIAL = [
    row(
        "ReduceMean-1",
        DROP,
        data("i32", "4", values=[-1, -2, -2, -2]),
        const("i64", [0]),
        id="mean-of-integers-towards-zero",
    ),
    row(
        "ReduceMean-1",
        DROP,
        data("i64", "4", values=[2**40] * 4),
        const("i64", [0]),
        expected=[np.array(2**40)],
        known="i64-as-i32",
        id="mean-of-2^40",
    ),
    row(
        "ReduceMean-1",
        DROP,
        data("f64", "2", values=[1e300, 1e300]),
        const("i64", [0]),
        expected=[np.array(1e300)],
        known="f64-as-f32",
        id="mean-of-1e300",
    ),
    row(
        "ReduceMean-1",
        DROP,
        data("u8", "4", values=[254] * 4),
        const("i64", [0]),
        expected=[np.array(254, np.uint8)],
        known="u8-sum-wraps",
        id="mean-of-four-254",
    ),
    row(
        "ReduceMean-1",
        DROP,
        data("f32", "3", values=[np.nan, 1, 2]),
        const("i64", [0]),
        id="mean-with-nan",
    ),
    row(
        "ReduceMean-1",
        DROP,
        data("f32", "3", values=[np.inf, 1, 2]),
        const("i64", [0]),
        id="mean-with-infinity",
    ),
    row(
        "ReduceMax-1",
        DROP,
        data("f32", "3", values=[-np.inf, 1, 2]),
        const("i64", [0]),
        id="max-with-infinity",
    ),
    row(
        "ReduceMin-1",
        KEEP,
        data("i32", "3", values=[-(2**31), 1, 2**31 - 1]),
        const("i64", [0]),
        id="min-at-the-limits",
    ),
    row(
        "ReduceL2-4",
        DROP,
        data("i32", "2", values=[1, 2]),
        const("i64", [0]),
        id="l2-of-integers-truncates",
    ),
    row(
        "ReduceProd-1",
        DROP,
        data("i32", "3", values=[1 << 20, 1 << 20, 3]),
        const("i64", [0]),
        id="product-wraps",
    ),
    *[
        Case(
            operation,
            version,
            KEEP,
            [data(kind(operation), "2,0,3"), const("i64", [1])],
            id=f"{operation}-of-nothing",
            known="reduce-extreme-of-nothing" if operation in OF_NOTHING else (),
            expected=OF_NOTHING.get(operation),
        )
        for operation, version in FAMILY
    ],
    *[
        Case(
            operation,
            version,
            DROP,
            [data(kind(operation), "2,0,3"), const("i64", [0])],
            id=f"{operation}-into-nothing",
        )
        for operation, version in FAMILY
    ],
]


@pytest.mark.parametrize("case", SPECIAL, ids=case_id)
def test_special_values(case: Case, oracle: Oracle) -> None:
    check(case, oracle)


def of_sizes(operation: str, shape: str, axes: list[int]) -> Case:
    """A shape that is reduced from the sizes of another."""
    sizes = node("ShapeOf", "opset3", {"output_type": "i64"}, [data("f32", shape)])
    reduced = node(operation, "opset1", KEEP, [sizes, const("i64", axes, (len(axes),))])
    inputs = [data("f32", "1"), reduced]
    dynamic = any(sign in shape for sign in "?.")
    known = "value-bounds-tighter" if operation == "ReduceSum" and dynamic else ()
    return row("Broadcast-3", {"mode": "numpy"}, *inputs, run=False, known=known)


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


@pytest.mark.parametrize("case", SIZES, ids=case_id)
def test_the_bounds_of_sizes(case: Case, oracle: Oracle) -> None:
    check(case, oracle)
