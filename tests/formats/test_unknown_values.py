"""A layer on its own with a value that is not given: some give the declared shape, or none do."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import irshape


class Row(NamedTuple):
    type: str
    attributes: str
    data: str
    values: str
    """The shape of the input that is not known."""
    declared: str
    code: str | None
    severity: str = ""
    operand: str = "axes"
    version: str = "opset1"
    more: str = ""
    """The shape of a third input, which is not known either."""


ROWS = {
    "a size that is neither kept nor 1": Row(
        "ReduceMean", 'keep_dims="true"', "6,12,10,24", "2", "6,12,1,3", "IR201", "error"
    ),
    "two axes": Row(
        "ReduceMean", 'keep_dims="true"', "6,12,10,24", "2", "6,12,1,1", "IR203", "info"
    ),
    "more axes than given": Row(
        "ReduceMean", 'keep_dims="true"', "6,12,10,24", "1", "6,1,1,24", "IR201", "error"
    ),
    "axes of unknown number": Row(
        "ReduceSum", 'keep_dims="true"', "6,12,10", "-1", "1,12,1", "IR203", "info"
    ),
    "no dimension is kept": Row(
        "ReduceMax", 'keep_dims="false"', "6,12", "1", "7", "IR201", "error"
    ),
    "one is": Row("ReduceMax", 'keep_dims="false"', "6,12", "1", "6", "IR203", "info"),
    "a dimension more": Row("Unsqueeze", "", "6,12", "1", "6,1,12", "IR203", "info"),
    "a dimension of another size": Row("Unsqueeze", "", "6,12", "1", "6,2,12", "IR201", "error"),
    "an order": Row("Transpose", "", "2,6,7", "3", "7,6,2", "IR203", "info", "order"),
    "no order": Row("Transpose", "", "2,6,7", "3", "7,6,3", "IR201", "error", "order"),
    "as many elements": Row(
        "Reshape", 'special_zero="true"', "2,6", "2", "3,4", "IR203", "info", "pattern"
    ),
    "another number of elements": Row(
        "Reshape", 'special_zero="true"', "2,6", "2", "3,5", "IR201", "error", "pattern"
    ),
    "a dimension repeated": Row(
        "Broadcast", 'mode="numpy"', "1,6", "3", "4,2,6", "IR203", "info", "target_shape", "opset3"
    ),
    "a size that cannot be repeated": Row(
        "Broadcast", 'mode="numpy"', "2,6", "3", "4,3,6", "IR201", "error", "target_shape", "opset3"
    ),
    "an axis beside unknown indices": Row(
        "Gather", 'batch_dims="0"', "2,6", "5", "5,6", "IR203", "info", "axis", "opset8", "1"
    ),
    "no axis, whatever the indices are": Row(
        "Gather", 'batch_dims="0"', "2,6", "5", "2,6", "IR201", "error", "axis", "opset8", "1"
    ),
}


def port(number: int, precision: str, dims: str) -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in dims.split(",") if size)
    return f'<port id="{number}" precision="{precision}">{sizes}</port>'


@pytest.mark.parametrize("name", ROWS)
def test_unknown_values(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    path = tmp_path / "layer.xml"
    path.write_text(
        f'<layer id="1" name="m" type="{row.type}" version="{row.version}">'
        f"<data {row.attributes}/>"
        f"<input>{port(0, 'FP32', row.data)}{port(1, 'I64', row.values)}"
        f"{port(2, 'I64', row.more) if row.more else ''}</input>"
        f"<output>{port(3, 'FP32', row.declared)}</output></layer>"
    )
    (found,) = irshape.validate(path).diagnostics
    assert (found.code, found.severity) == (row.code, row.severity)
    assert f"`{row.operand}`" in found.message
