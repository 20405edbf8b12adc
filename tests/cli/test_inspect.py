"""inspect: what a model consists of, and what each layer costs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import calling
import jsonschema
import numpy as np
import pytest

import irshape

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.xml"))


call = partial(calling.call, "inspect")


class Counted(NamedTuple):
    """An operation on zeros of these shapes. expected: its multiply-adds, from the definition."""

    type: str
    shapes: list[str]
    attributes: dict[str, Any]
    expected: int | tuple[int, int | None]


SLIDING = {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1]}
LENGTHS = "[2]:i64"

COUNTED = {
    # rows by columns by what is summed over, for each matrix of the batch
    "product": Counted("MatMul", ["[4,3]", "[3,5]"], {}, 4 * 5 * 3),
    "product of batches": Counted("MatMul", ["[7,1,4,3]", "[2,3,5]"], {}, 7 * 2 * 4 * 5 * 3),
    "product, transposed": Counted(
        "MatMul", ["[3,4]", "[5,3]"], {"transpose_a": True, "transpose_b": True}, 4 * 5 * 3
    ),
    "product of vectors": Counted("MatMul", ["[3]", "[3]"], {}, 3),
    "product of a row": Counted("MatMul", ["[3]", "[3,5]"], {}, 5 * 3),
    "product of open length": Counted("MatMul", ["[1..8,3]", "[3,5]"], {}, (1 * 5 * 3, 8 * 5 * 3)),
    "product of any length": Counted("MatMul", ["[?,3]", "[3,5]"], {}, (0, None)),
    "product of nothing": Counted("MatMul", ["[0,3]", "[3,5]"], {}, 0),
    "groups": Counted("GroupedMatMul", ["[6,4,3]", "[6,5,3]"], {}, 6 * 4 * 5 * 3),
    # a sum of products over all labels
    "einsum": Counted(
        "Einsum", ["[2,3,4]", "[2,4,5]"], {"equation": "bij,bjk->bik"}, 2 * 3 * 4 * 5
    ),
    "einsum of one": Counted("Einsum", ["[2,3]"], {"equation": "ij->ji"}, 0),
    "einsum with an ellipsis": Counted(
        "Einsum", ["[7,2,3]", "[3,5]"], {"equation": "...i,ij->...j"}, 7 * 2 * 3 * 5
    ),
    # outputs by (input channels of a group by window)
    "convolution": Counted(
        "Convolution", ["[2,3,8,9]", "[4,3,3,2]"], SLIDING, 2 * 4 * 6 * 8 * (3 * 3 * 2)
    ),
    "convolution along one axis": Counted(
        "Convolution",
        ["[1,3,8]", "[4,3,5]"],
        {"strides": [2], "pads_begin": [2], "pads_end": [2], "dilations": [1]},
        4 * 4 * (3 * 5),
    ),
    "depthwise convolution": Counted(
        "GroupConvolution", ["[1,6,8,8]", "[6,1,1,3,3]"], SLIDING, 6 * 6 * 6 * 9
    ),
    "grouped convolution": Counted(
        "GroupConvolution", ["[1,6,8,8]", "[2,5,3,3,3]"], SLIDING, 10 * 6 * 6 * (3 * 9)
    ),
    # inputs by (output channels of a group by window)
    "transposed convolution": Counted(
        "ConvolutionBackpropData", ["[1,3,4,4]", "[3,5,2,2]"], SLIDING, 3 * 16 * (5 * 4)
    ),
    "transposed grouped convolution": Counted(
        "GroupConvolutionBackpropData", ["[1,6,4,4]", "[2,3,5,2,2]"], SLIDING, 6 * 16 * (5 * 4)
    ),
    "deformable convolution": Counted(
        "DeformableConvolution",
        ["[1,4,8,8]", "[1,18,6,6]", "[5,4,3,3]"],
        {**SLIDING, "group": 1, "deformable_group": 1},
        5 * 36 * (4 * 9),
    ),
    "binary convolution": Counted(
        "BinaryConvolution",
        ["[1,4,8,8]", "[5,4,3,3]:u1"],
        {**SLIDING, "mode": "xnor-popcount", "pad_value": 0.0},
        5 * 36 * (4 * 9),
    ),
    # scores, then their sum of values
    "attention": Counted(
        "ScaledDotProductAttention",
        ["[2,3,7,4]", "[2,3,9,4]", "[2,3,9,6]"],
        {"causal": False},
        2 * 3 * 7 * 9 * (4 + 6),
    ),
    # for each item of the batch and step: gates by hidden by (inputs + hidden)
    "a cell": Counted(
        "LSTMCell",
        ["[2,3]", "[2,5]", "[2,5]", "[20,3]", "[20,5]", "[20]"],
        {"hidden_size": 5},
        2 * (4 * 5) * (3 + 5),
    ),
    "a gated cell": Counted(
        "GRUCell", ["[2,3]", "[2,5]", "[15,3]", "[15,5]", "[15]"], {"hidden_size": 5}, 2 * 15 * 8
    ),
    "a sequence": Counted(
        "LSTMSequence",
        ["[2,7,3]", "[2,2,5]", "[2,2,5]", LENGTHS, "[2,20,3]", "[2,20,5]", "[2,20]"],
        {"hidden_size": 5, "direction": "bidirectional"},
        2 * 7 * 2 * 20 * (3 + 5),
    ),
    # element by element
    "addition": Counted("Add", ["[4,3]", "[4,3]"], {}, 0),
    "activation": Counted("Gelu", ["[4,3]"], {}, 0),
}


@pytest.mark.parametrize("name", COUNTED)
def test_multiply_adds(name: str) -> None:
    row = COUNTED[name]
    graph = irshape.Graph()
    inputs = []
    for number, text in enumerate(row.shapes):
        shape, _, element_type = text.partition(":")
        inputs.append(graph.parameter(element_type or "f32", shape, name=f"x{number}"))
    opset = 8 if row.type == "DeformableConvolution" else None
    layer = graph.add_layer(row.type, *inputs, opset=opset, **row.attributes)
    for output in layer.outputs:
        graph.result(output)
    document = irshape.inspect(graph).to_dict()
    low, high = row.expected if isinstance(row.expected, tuple) else (row.expected, row.expected)
    assert document["multiply_adds"] == {"min": low, "max": high}
    assert document["static"] is isinstance(row.expected, int)


RUNS = {
    "slices of a known length": ("recurrent", {"sequence": "[2,7,8]"}, "20/body", (7, 7)),
    "slices of an open length": ("recurrent", {}, "20/body", (0, None)),
    "a loop that may end early": ("recurrent", {"sequence": "[2,7,8]"}, "50/body", (1, 7)),
    "a branch that may run": ("control_flow", {}, "10/then_body", (0, 1)),
    "a branch in a loop that may run": ("control_flow", {}, "5/body/12/then_body", (0, None)),
    "the net": ("control_flow", {}, "", (1, 1)),
}


@pytest.mark.parametrize("name", RUNS)
def test_layers_of_a_body_count_as_often_as_it_runs(name: str) -> None:
    model, shapes, place, (low, high) = RUNS[name]
    document = irshape.inspect(ROOT / "examples" / f"{model}.xml", shapes=shapes).to_dict()
    inside = [cost for cost in document["costs"] if "/".join(cost["path"]) == place]
    assert inside
    assert all(cost["runs"] == {"min": low, "max": high} for cost in inside)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_document_follows_its_schema(path: Path) -> None:
    status, out, err = call(str(path), "--format", "json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    jsonschema.validate(document, json.loads((ROOT / "schemas/inspect.schema.json").read_text()))
    model = irshape.load(path)
    assert document["layers"]["count"] == sum(1 for _ in model.walk())
    assert document["constants"]["count"] == sum(layer.is_constant for layer in model.walk())
    assert document["requires"] == irshape.requires(model).release
    assert [each["layer"]["id"] for each in document["inputs"]] == [x.id for x in model.parameters]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_text_is_complete(path: Path) -> None:
    status, out, err = call(str(path), "--top", "2")
    assert (status, err) == (0, "")
    for word in ("inputs", "outputs", "layers", "multiply-adds", "activations", "memory peak"):
        assert word in out


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """Two products: one with weights of f16 that a Convert widens, one with half of what is
    stored."""
    graph = irshape.Graph(name="two products")
    x = graph.parameter("f32", "[?,4]", name="x")
    small = graph.constant(np.ones((4, 8), np.float16), name="small")
    wide = graph.add("Convert", small, destination_type="f32")
    first = graph.add("MatMul", x, wide, name="first")
    second = graph.add("MatMul", first, np.ones((8, 2), np.float32), name="second")
    state = graph.add(
        "ReadValue", first, variable_id="v", variable_type="f32", variable_shape="[?,8]"
    )
    graph.add("Assign", state, variable_id="v")
    graph.result(second, "y")
    graph.save(tmp_path / "m.xml")
    return tmp_path / "m.xml"


def test_weights_belong_to_the_layer_that_takes_them(net: Path) -> None:
    costs = {cost.layer.name: cost for cost in irshape.inspect(net).costs}
    assert (costs["first"].parameters, costs["first"].parameter_bytes) == (32, 64)
    assert (costs["second"].parameters, costs["second"].parameter_bytes) == (16, 64)
    assert not any(cost.layer.type == "Convert" for cost in costs.values())


def test_states_and_constants(net: Path) -> None:
    document = irshape.inspect(net).to_dict()
    (state,) = document["states"]
    assert (state["variable"], state["element_type"], state["shape"]) == ("v", "f32", "[?,8]")
    assert [each["type"] for each in (*state["read"], *state["assigned"])] == [
        "ReadValue",
        "Assign",
    ]
    assert document["constants"]["by_element_type"] == [
        {"element_type": "f16", "count": 1, "elements": 32, "bytes": 64},
        {"element_type": "f32", "count": 1, "elements": 16, "bytes": 64},
    ]


def test_shapes_make_the_numbers_exact(net: Path) -> None:
    assert irshape.inspect(net).to_dict()["multiply_adds"] == {"min": 0, "max": None}
    status, out, _ = call(str(net), "--shape", "x=[3,4]", "--format", "json")
    document = json.loads(out)
    assert status == 0
    assert document["multiply_adds"] == {"min": 144, "max": 144}  # 3 · 4 · 8 + 3 · 8 · 2
    status, out, _ = call(str(net), "--shape", "x=[3,4]", "--sort", "parameters", "--top", "1")
    assert (status, "layers by parameters, 1 of 2" in out, " second " in out) == (
        0,
        True,
        True,
    ) or (" first " in out)


def test_bytes_that_are_shared_count_once(tmp_path: Path) -> None:
    graph = irshape.Graph(name="shared")
    x = graph.parameter("f32", "[600]", name="x")
    y = graph.add("Add", x, np.ones(600, np.float32))
    graph.result(graph.add("Add", y, np.full(600, 2, np.float32)), "y")
    graph.strip_weights()
    graph.save(tmp_path / "m.xml")
    constants = irshape.inspect(tmp_path / "m.xml").to_dict()["constants"]
    assert (constants["bytes"], constants["used_bytes"], constants["bin_bytes"]) == (
        4800,
        2400,
        2400,
    )


class Refused(NamedTuple):
    arguments: list[str]
    status: int
    says: str


REFUSED = {
    "no such input": Refused(["m.xml", "--shape", "y=[1]"], 2, "the model has no input 'y'"),
    "a shape without a value": Refused(["m.xml", "--shape", "x"], 2, "--shape takes [NAME=]SHAPE"),
    "a layer that does not fit": Refused(["m.xml", "--shape", "x=[3,5]"], 1, "'first'"),
    "no model": Refused(["no.xml"], 1, "no.xml"),
    "a format that is none": Refused(["m.xml", "--format", "yaml"], 2, "yaml"),
    "fewer than none": Refused(["m.xml", "--top", "-1"], 2, "--top"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(net.parent)
    (net.parent / "no.xml").write_text("<nothing/>")
    row = REFUSED[name]
    status, _, err = call(*row.arguments)
    assert (status, row.says in err) == (row.status, True), err


def test_from_standard_input(net: Path) -> None:
    status, out, _ = call("-", "--weights", "none", stdin=net.read_bytes())
    assert (status, "'two products'" in out) == (0, True)


def test_a_model_of_another_format(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [2, 3]), ("y", [2, 5]))
    )
    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 5], [1.0] * 15)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    onnx.save(
        helper.make_model(helper.make_graph([node], "g", [x], [y], [weights])), tmp_path / "m.onnx"
    )
    document = irshape.inspect(tmp_path / "m.onnx").to_dict()
    assert (document["format"], document["ir_version"], document["requires"]) == (
        "ONNX",
        None,
        None,
    )
    assert document["multiply_adds"] == {"min": 30, "max": 30}


def test_a_layer_on_its_own(tmp_path: Path) -> None:
    path = tmp_path / "layer.xml"
    path.write_text(
        '<layer type="MatMul" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port>'
        '<port id="1"><dim>3</dim><dim>5</dim></port></input><output><port id="2"><dim>2</dim>'
        "<dim>5</dim></port></output></layer>"
    )
    assert irshape.inspect(path).to_dict()["multiply_adds"] == {"min": 30, "max": 30}


def test_a_layer_that_does_not_fit_is_told_in_few_lines() -> None:
    model = Path(__file__).resolve().parents[2] / "examples" / "encoder.xml"
    unequal = ["--shape", "input_ids=[1,16]", "--shape", "attention_mask=[1,17]"]
    status, _, err = call(str(model), *unequal)
    lines = err.splitlines()
    assert (status, len(lines) <= 5) == (1, True), err
    assert "16 by input_ids, 17 by attention_mask" in lines[1]
