"""A layer on its own whose axes are not given: some give the declared shape, or none do."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import irshape


class Row(NamedTuple):
    type: str
    attributes: str
    data: str
    axes: str
    declared: str
    code: str | None
    severity: str = ""


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
}


def port(number: int, precision: str, dims: str) -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in dims.split(",") if size)
    return f'<port id="{number}" precision="{precision}">{sizes}</port>'


@pytest.mark.parametrize("name", ROWS)
def test_unknown_axes(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    path = tmp_path / "layer.xml"
    path.write_text(
        f'<layer id="1" name="m" type="{row.type}" version="opset1"><data {row.attributes}/>'
        f"<input>{port(0, 'FP32', row.data)}{port(1, 'I64', row.axes)}</input>"
        f"<output>{port(2, 'FP32', row.declared)}</output></layer>"
    )
    (found,) = irshape.validate(path).diagnostics
    assert (found.code, found.severity) == (row.code, row.severity)
    assert "`axes`" in found.message
