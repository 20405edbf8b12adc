"""What a cause explains a thousand layers behind it is told with it, and nothing else is."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net

import irshape

SLIP = 'strides="-2,2"'
CONVOLUTION = 'dilations="1,1" pads_begin="0,0" pads_end="0,0" auto_pad="explicit"'
ANY = ["FP32:1,4,-1,-1"]


def long_way(folder: Path, *, slip: str, concat: str) -> Path:
    """Two equal Convolutions side by side, one of them 450 layers before they come together."""
    net = Net()
    data = net.parameter("1,3,9,?", name="x")
    kernel = net.layer(
        "Reshape",
        [net.constant([0.0] * 108, "f32"), net.constant([4, 3, 3, 3])],
        'special_zero="false"',
        outputs=["FP32:4,3,3,3"],
    )
    far = net.layer("Convolution", [data, kernel], f"{slip} {CONVOLUTION}", outputs=ANY)
    for _ in range(450):
        far = net.layer("Relu", [far], outputs=ANY)
    near = net.layer("Convolution", [data, kernel], f'strides="2,2" {CONVOLUTION}', outputs=ANY)
    net.result(net.layer("Concat", [far, near], concat, outputs=["FP32:1,8,-1,-1"]))
    return net.save(folder)


class Row(NamedTuple):
    concat: str
    told: list[tuple[str, str]]


CASES = {
    "a consequence": Row('axis="1"', [("IR304", "Convolution")]),
    "a fault of its own": Row(
        'axis="1" nothing="1"', [("IR304", "Convolution"), ("IR301", "Concat")]
    ),
}


@pytest.mark.parametrize("row", CASES.values(), ids=CASES)
def test_far_behind(row: Row, tmp_path: Path) -> None:
    report = irshape.validate(long_way(tmp_path, slip=SLIP, concat=row.concat))
    told = [each for each in report.diagnostics if each.severity != "info"]
    assert [(each.code, (each.layer or {})["type"]) for each in told] == row.told
    assert [each["code"] for each in told[0].related] == ["IR406"]


def test_fix(tmp_path: Path) -> None:
    path = long_way(tmp_path, slip=SLIP, concat='axis="1"')
    fixes = irshape.fix(path)
    assert fixes.data.count(b'strides="2,2"') == 2
    assert b'axis="1"' in fixes.data
