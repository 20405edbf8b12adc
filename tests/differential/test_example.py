"""Five rows that show the form. Delete once real tables stand here."""

from __future__ import annotations

import pytest

from .cases import Case, case_id, const, data, node
from .compare import check
from .oracle import Oracle

x = data("f32", "1..8,?,4", run_shape=(2, 3, 4))

CASES = [
    Case("ReduceMean", "opset1", {"keep_dims": "true"}, [data("f32", "2,3,4"), const("i64", [1])]),
    Case(
        "ReduceMean",
        "opset1",
        {"keep_dims": "false"},
        [data("f16", "1..8,?,4", run_shape=(2, 3, 4)), const("i64", [-1, 0])],
    ),
    Case(
        "ReduceMean",
        "opset1",
        {},
        [data("f32", "2,3,4"), const("i64", [7])],
        note="axis out of range: refused",
    ),
    Case(
        "ReduceMean",
        "opset1",
        {},
        [data("f32", "2,3,4"), const("i64", [2, 2])],
        known="duplicate-axes",
    ),
    Case(
        "Add",
        "opset1",
        {"auto_broadcast": "numpy"},
        [data("i32", "2,1,4"), const("i32", [[1], [2], [3]])],
    ),
    Case(
        "Reshape",
        "opset1",
        {"special_zero": "false"},
        [x, node("ShapeOf", "opset3", {"output_type": "i64"}, [x])],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_example(case: Case, oracle: Oracle) -> None:
    check(case, oracle)
