"""ONNX's own node tests of Mean and of every reduction.

Each is run from the .onnx, and on OpenVINO's CPU plugin from what `convert` writes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from differential.oracle import Oracle
from formats.onnx.node_tests import Case, of, same

import irshape

REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
CASES = of("Mean", *(f"Reduce{name}" for name in REDUCTIONS))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_runs(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(case.model)
    model = irshape.load(path)
    assert [
        found for found in irshape.validate(model).diagnostics if found.severity != "info"
    ] == []
    assert case.data is not None
    for inputs, outputs in case.data:
        made = list(irshape.run(model, inputs).values())
        assert len(made) == len(outputs)
        assert all(same(a, b, case) for a, b in zip(made, outputs, strict=True)), (made, outputs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_converted_runs_on_openvino(case: Case, tmp_path: Path, oracle: Oracle) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(case.model)
    model = irshape.load(path)
    irshape.save(model, tmp_path / "model.xml", inference=irshape.infer(model))
    assert case.data is not None
    for inputs, outputs in case.data:
        named = {
            layer.name: np.array(array, order="C")
            for layer, array in zip(model.parameters, inputs, strict=True)
        }
        answer = oracle.ask_file(tmp_path / "model.xml", named)
        assert answer.status == "accepted", answer.message
        assert answer.execution is not None
        assert answer.execution.status == "done", answer.execution.message
        for found, expected in zip(answer.execution.results.values(), outputs, strict=True):
            assert same(found.array, expected, case), (found.array, expected)


BRANCHES = [
    case
    for case in of("If", "Loop", "Scan")
    if case.data is not None and case.name not in ("test_if_opt", "test_scan_sum")
]
"""The others hold sequences and optionals; one is of the Scan of opset 8."""


@pytest.mark.parametrize("case", BRANCHES, ids=lambda case: case.name)
def test_branches_and_loops(case: Case, tmp_path: Path, oracle: Oracle) -> None:
    test_runs(case, tmp_path)
    test_converted_runs_on_openvino(case, tmp_path, oracle)
