"""Networks exported by torch and transformers have no findings.

Their shapes are those that onnx infers or tighter, their values those of onnxruntime and OpenVINO.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from differential.oracle import Oracle

import irshape
from irshape.shapes import PartialShape

FOLDER = Path(os.environ.get("ONNX_NETWORKS", Path(__file__).parent / "networks"))
FILES = sorted(FOLDER.glob("*.onnx"))
"""`ONNX_NETWORKS` names a folder of others, such as `export_networks.py` makes."""


def inputs_of(model: irshape.Model) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for layer in model.parameters:
        sizes = layer.outputs[0].dims
        assert sizes is not None
        reals = layer.attribute("element_type") == "f32"
        found[layer.name] = (
            generator.standard_normal(sizes).astype(np.float32)
            if reals
            else generator.integers(0, 100, sizes)
            if layer.name == "input_ids"
            else np.ones(sizes, np.int64)
        )
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_findings(path: Path) -> None:
    assert [found for found in irshape.validate(path).diagnostics if found.severity != "info"] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_shapes_are_those_of_onnx_or_tighter(path: Path) -> None:
    model = irshape.load(path)
    inference = irshape.infer(model)
    own = {
        name: tensor.shape
        for layer in model.layers
        for port, tensor in zip(layer.outputs, inference.outputs(layer), strict=False)
        for name in port.tensor_names
    }
    compared = 0
    for info in onnx.shape_inference.infer_shapes(onnx.load(path)).graph.value_info:
        if info.name in own and info.type.tensor_type.HasField("shape"):
            sizes = [
                dim.dim_value if dim.HasField("dim_value") else -1
                for dim in info.type.tensor_type.shape.dim
            ]
            assert PartialShape(sizes).encloses(own[info.name]), info.name
            compared += 1
    assert compared > len(model.layers) / 4


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_values_are_those_of_onnxruntime(path: Path) -> None:
    import onnxruntime as runtime

    model = irshape.load(path)
    fed = inputs_of(model)
    expected = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(
        None, fed
    )
    for (name, array), wanted in zip(irshape.run(model, fed).items(), expected, strict=True):
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_converted_runs_on_openvino(path: Path, tmp_path: Path, oracle: Oracle) -> None:
    model = irshape.load(path)
    irshape.save(model, tmp_path / "model.xml", inference=irshape.infer(model))
    fed = inputs_of(model)
    answer = oracle.ask_file(tmp_path / "model.xml", fed)
    assert answer.execution is not None
    assert answer.execution.status == "done", answer.execution.message
    for found, array in zip(
        answer.execution.results.values(), irshape.run(model, fed).values(), strict=True
    ):
        np.testing.assert_allclose(found.array, array, rtol=1e-4, atol=1e-4)
