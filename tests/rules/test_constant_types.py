"""The type of a constant: OpenVINO finds its bytes under the exact spelling Const only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import irshape
from tests.ir import Net

READS = "import openvino, sys; openvino.Core().read_model(sys.argv[1])"


class Spelling(NamedTuple):
    """The type of a constant that decides a shape or is only added, and what validate reports."""

    type: str
    decides: bool
    severity: str | None


SPELLINGS = [
    Spelling("Const", True, None),
    Spelling("Const", False, None),
    Spelling("const", True, "error"),
    Spelling("const", False, "error"),
    Spelling("CONST", False, "error"),
    Spelling("Constant", True, "error"),
    Spelling("Constant", False, "error"),
    Spelling("constant", True, "error"),
    Spelling("CONSTANT", False, "error"),
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda row: f"{row.type}-{row.decides}")
def test_the_type_of_a_constant(spelling: Spelling, tmp_path: Path) -> None:
    net = Net()
    data = net.parameter("2,3", name="x")
    if spelling.decides:
        axes = net.constant([1])
        layer = net.layer("ReduceMean", [data, axes], 'keep_dims="true"', name="y")
    else:
        layer = net.layer("Add", [data, net.constant([1.0, 2.0, 3.0], "f32")], name="y")
    net.result(layer)
    path = net.save(tmp_path)
    path.write_text(path.read_text().replace('type="Const"', f'type="{spelling.type}"'))
    findings = [one for one in irshape.validate(path).diagnostics if one.severity != "info"]
    assert [one.severity for one in findings] == ([spelling.severity] if spelling.severity else [])
    for one in findings:
        assert (one.code, one.actual, one.expected) == ("IR602", spelling.type, "Const")
    if spelling.type.lower() == "constant" and not spelling.decides:
        return  # OpenVINO reads the file, and fails where it uses the value
    reading = subprocess.run(
        [sys.executable, "-c", READS, str(path)], capture_output=True, check=False
    )
    assert (reading.returncode != 0) == (spelling.severity == "error"), reading.stderr
