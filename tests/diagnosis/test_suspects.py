"""Several findings that have to do with one layer are told once, under the rule of the gravest."""

from __future__ import annotations

from pathlib import Path

import pytest
from ir import Net

import irshape

PORT = '<port id="0" precision="FP32"><dim>{}</dim><dim>3</dim></port>'


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        pytest.param(1, ["IR401"], id="refused behind the layer alone"),
        pytest.param(2, ["IR401"], id="refused behind the layer, whose port says something else"),
    ],
)
def test_what_openvino_refuses_is_told_as_such(
    tmp_path: Path, declared: int, told: list[str]
) -> None:
    net = Net()
    data, like = net.parameter("2"), net.parameter("1,3")
    shape = net.layer("ShapeOf", [like], 'output_type="i64"', version="opset3", outputs=["I64:2"])
    net.layers[int(shape)] = net.layers[int(shape)].replace(
        '<port id="0"/>', PORT.format(declared), 1
    )
    axes = net.constant([0])
    wide = net.layer(
        "Broadcast", [data, shape, axes], 'mode="explicit"', version="opset3", outputs=["FP32:2,3"]
    )
    net.result(wide)
    errors = [
        each
        for each in irshape.validate(net.save(tmp_path)).diagnostics
        if each.severity == "error"
    ]
    assert [each.code for each in errors] == told
