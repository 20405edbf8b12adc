"""A single layer with a value that is not given: some give the declared shape, or none do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from calling import table

import irshape

# the operation, the shapes of its inputs (all but the first have values that are not given), the
# declared shape, what is found, and the input that it names
ROWS = table("""
a size that is neither kept nor 1 | ReduceMean-1 keep_dims=true
    | 6,12,10,24 2 | 6,12,1,3 | IR201 error axes
two axes | ReduceMean-1 keep_dims=true | 6,12,10,24 2 | 6,12,1,1 | IR203 info axes
more axes than given | ReduceMean-1 keep_dims=true | 6,12,10,24 1 | 6,1,1,24 | IR201 error axes
axes of unknown number | ReduceSum-1 keep_dims=true | 6,12,10 -1 | 1,12,1 | IR203 info axes
no dimension is kept | ReduceMax-1 keep_dims=false | 6,12 1 | 7 | IR201 error axes
one is | ReduceMax-1 keep_dims=false | 6,12 1 | 6 | IR203 info axes
a dimension more | Unsqueeze-1 | 6,12 1 | 6,1,12 | IR203 info axes
a dimension of another size | Unsqueeze-1 | 6,12 1 | 6,2,12 | IR201 error axes
an order | Transpose-1 | 2,6,7 3 | 7,6,2 | IR203 info order
no order | Transpose-1 | 2,6,7 3 | 7,6,3 | IR201 error order
as many elements | Reshape-1 special_zero=true | 2,6 2 | 3,4 | IR203 info pattern
another number of elements | Reshape-1 special_zero=true | 2,6 2 | 3,5 | IR201 error pattern
a dimension repeated | Broadcast-3 mode=numpy | 1,6 3 | 4,2,6 | IR203 info target_shape
a size that cannot be repeated | Broadcast-3 mode=numpy | 2,6 3 | 4,3,6 | IR201 error target_shape
an axis beside unknown indices | Gather-8 batch_dims=0 | 2,6 5 1 | 5,6 | IR203 info axis
no axis, whatever the indices are | Gather-8 batch_dims=0 | 2,6 5 1 | 2,6 | IR201 error axis
""")


def port(number: int, precision: str, dims: str) -> str:
    sizes = "".join(f"<dim>{size}</dim>" for size in dims.split(",") if size)
    return f'<port id="{number}" precision="{precision}">{sizes}</port>'


@pytest.mark.parametrize("name", ROWS)
def test_unknown_values(name: str, tmp_path: Path) -> None:
    operation, shapes, declared, expected = ROWS[name]
    head, _, attribute = operation.partition(" ")
    type, _, opset = head.partition("-")
    data = re.sub(r"(\w+)=(\w+)", r'<data \1="\2"/>', attribute)
    first, *values = shapes.split()
    given = "".join(port(number, "I64", each) for number, each in enumerate(values, 1))
    path = tmp_path / "layer.xml"
    path.write_text(
        f'<layer id="1" name="m" type="{type}" version="opset{opset}">{data}'
        f"<input>{port(0, 'FP32', first)}{given}</input>"
        f"<output>{port(3, 'FP32', declared)}</output></layer>"
    )
    code, severity, operand = expected.split()
    (found,) = irshape.validate(path).diagnostics
    assert (found.code, found.severity) == (code, severity)
    assert f"`{operand}`" in found.message
