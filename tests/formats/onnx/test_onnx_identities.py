"""Identity in ONNX models, which OpenVINO knows since 2025.0, is left out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import openvino
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

import irshape
from irshape.cli import cli


class Passing(NamedTuple):
    """A model that passes tensors on: operators, inputs and outputs of its nodes, and its outputs.

    layers: that compute something, in the IR. names: of the tensor of each output there.
    """

    nodes: tuple[tuple[str, str, str], ...]
    outputs: tuple[str, ...]
    layers: tuple[str, ...]
    names: tuple[set[str], ...]


MODELS = {
    "inside": Passing(
        (("Relu", "x", "a"), ("Identity", "a", "b"), ("Dropout", "b", "c"), ("Abs", "c", "y")),
        ("y",),
        ("ReLU", "Abs"),
        ({"y"},),
    ),
    "before an output": Passing(
        (("Relu", "x", "a"), ("Identity", "a", "y"), ("Abs", "a", "z")),
        ("y", "z"),
        ("ReLU", "Abs"),
        ({"y", "a"}, {"z"}),
    ),
    "one behind another": Passing(
        (("Relu", "x", "a"), ("Identity", "a", "b"), ("Identity", "b", "y")),
        ("y",),
        ("ReLU",),
        ({"y", "a", "b"},),
    ),
    "an input that is an output": Passing(
        (("Identity", "x", "y"),), ("y",), ("Identity",), ({"y"},)
    ),
    "two outputs of one tensor": Passing(
        (("Relu", "x", "y"), ("Identity", "y", "z")),
        ("y", "z"),
        ("ReLU", "Identity"),
        ({"y"}, {"z"}),
    ),
}


@pytest.mark.parametrize("row", MODELS.values(), ids=MODELS.keys())
def test_identities_are_left_out(row: Passing, tmp_path: Path) -> None:
    given, *results = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", *row.outputs)
    )
    nodes = [helper.make_node(operator, [taken], [made]) for operator, taken, made in row.nodes]
    graph = helper.make_graph(nodes, "g", [given], results)
    opsets = [helper.make_opsetid("", 17)]
    source, path = tmp_path / "m.onnx", tmp_path / "m.xml"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), source)
    done = CliRunner().invoke(cli, ["convert", str(source), "-o", str(path)])
    assert done.exit_code == 0, done.output
    model = irshape.load(path)
    computing = [each for each in model.layers if not (each.is_parameter or each.is_result)]
    assert tuple(layer.type for layer in computing) == row.layers
    assert irshape.validate(path).ok
    assert irshape.diff(source, path).equal
    comparison = irshape.compare(source, path)
    assert (comparison.ok, *comparison.unmatched) == (True, [], [])
    read = openvino.Core().read_model(path)
    assert tuple(output.get_names() for output in read.outputs) == row.names
    x = np.array([-1.5, 0.0, 2.0], np.float32)
    expected = irshape.run(source, {"x": x})
    ours = irshape.run(path, {"x": x})
    assert list(ours) == list(expected) == list(row.outputs)
    theirs = openvino.compile_model(read, "CPU")({"x": x})
    for name in row.outputs:
        np.testing.assert_array_equal(ours[name], expected[name])
        np.testing.assert_array_equal(theirs[name], expected[name])
