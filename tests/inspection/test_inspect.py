"""inspect: what a model consists of, and what each layer costs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from string import Template

import calling
import jsonschema
import numpy as np
import pytest
from calling import table
from ir import grown

import irshape

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.xml"))


call = partial(calling.call, "inspect")


# an operation on zeros of these shapes, and its multiply-adds, from the definition
NAMED = {
    "SLIDING": "strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1",
    "ALONG": "strides=[2] pads_begin=[2] pads_end=[2] dilations=[1]",
}
PRODUCTS = """
product | MatMul(f32[4,3] f32[3,5]) | 4 * 5 * 3
product of batches | MatMul(f32[7,1,4,3] f32[2,3,5]) | 7 * 2 * 4 * 5 * 3
product, transposed | MatMul(transpose_a=true transpose_b=true f32[3,4] f32[5,3]) | 4 * 5 * 3
product of vectors | MatMul(f32[3] f32[3]) | 3
product of a row | MatMul(f32[3] f32[3,5]) | 5 * 3
product of open length | MatMul(f32[1..8,3] f32[3,5]) | 1 * 5 * 3 to 8 * 5 * 3
product of any length | MatMul(f32[?,3] f32[3,5]) | 0 to None
product of nothing | MatMul(f32[0,3] f32[3,5]) | 0
groups | GroupedMatMul(f32[6,4,3] f32[6,5,3]) | 6 * 4 * 5 * 3
"""
"""Rows by columns by what is summed over, for each matrix of the batch."""
SUMS = """
einsum | Einsum(equation=bij,bjk->bik f32[2,3,4] f32[2,4,5]) | 2 * 3 * 4 * 5
einsum of one | Einsum(equation=ij->ji f32[2,3]) | 0
einsum with an ellipsis | Einsum(equation=...i,ij->...j f32[7,2,3] f32[3,5]) | 7 * 2 * 3 * 5
"""
"""Sums of products over all labels."""
CONVOLUTIONS = """
convolution | Convolution($SLIDING f32[2,3,8,9] f32[4,3,3,2]) | 2 * 4 * 6 * 8 * (3 * 3 * 2)
convolution along one axis | Convolution($ALONG f32[1,3,8] f32[4,3,5]) | 4 * 4 * (3 * 5)
depthwise convolution | GroupConvolution($SLIDING f32[1,6,8,8] f32[6,1,1,3,3]) | 6 * 6 * 6 * 9
grouped convolution | GroupConvolution($SLIDING f32[1,6,8,8] f32[2,5,3,3,3])
    | 10 * 6 * 6 * (3 * 9)
deformable convolution
    | DeformableConvolution-8($SLIDING group=1 deformable_group=1
        f32[1,4,8,8] f32[1,18,6,6] f32[5,4,3,3])
    | 5 * 36 * (4 * 9)
binary convolution
    | BinaryConvolution($SLIDING mode=xnor-popcount pad_value=0.0 f32[1,4,8,8] u1[5,4,3,3])
    | 5 * 36 * (4 * 9)
"""
"""Outputs by (input channels of a group by window)."""
TRANSPOSED = """
transposed convolution | ConvolutionBackpropData($SLIDING f32[1,3,4,4] f32[3,5,2,2])
    | 3 * 16 * (5 * 4)
transposed grouped convolution
    | GroupConvolutionBackpropData($SLIDING f32[1,6,4,4] f32[2,3,5,2,2]) | 6 * 16 * (5 * 4)
"""
"""Inputs by (output channels of a group by window)."""
OTHERS = """
attention | ScaledDotProductAttention(causal=false f32[2,3,7,4] f32[2,3,9,4] f32[2,3,9,6])
    | 2 * 3 * 7 * 9 * (4 + 6)
a cell | LSTMCell(hidden_size=5 f32[2,3] f32[2,5] f32[2,5] f32[20,3] f32[20,5] f32[20])
    | 2 * (4 * 5) * (3 + 5)
a gated cell | GRUCell(hidden_size=5 f32[2,3] f32[2,5] f32[15,3] f32[15,5] f32[15]) | 2 * 15 * 8
a sequence
    | LSTMSequence(hidden_size=5 direction=bidirectional f32[2,7,3] f32[2,2,5] f32[2,2,5] i64[2]
        f32[2,20,3] f32[2,20,5] f32[2,20])
    | 2 * 7 * 2 * 20 * (3 + 5)
addition | Add(f32[4,3] f32[4,3]) | 0
activation | Gelu(f32[4,3]) | 0
"""
"""Scores, then their sum of values; for each item of the batch and step, gates by hidden by (inputs
+ hidden); nothing element by element."""
COUNTED = table(Template(PRODUCTS + SUMS + CONVOLUTIONS + TRANSPOSED + OTHERS).substitute(NAMED))


@pytest.mark.parametrize("name", COUNTED)
def test_multiply_adds(name: str) -> None:
    text, expected = COUNTED[name]
    graph = irshape.Graph()
    for output in grown(graph, text).layer.outputs:
        graph.result(output)
    document = irshape.inspect(graph).to_dict()
    low, _, high = expected.partition(" to ")
    assert document["multiply_adds"] == {"min": eval(low), "max": eval(high or low)}
    assert document["static"] is not bool(high)


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
    types = [each["type"] for each in (*state["read"], *state["assigned"])]
    assert types == ["ReadValue", "Assign"]
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
    assert (status, "layers by parameters, 1 of 2" in out, " first " in out) == (0, True, True)


@pytest.mark.parametrize("sort", ["activations", "parameters", "multiply-adds"])
def test_a_narrow_table_keeps_what_it_is_sorted_by(
    sort: str, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert sort.upper() in call(str(net), "--shape", "x=[3,4]", "--sort", sort)[1]


def test_bytes_that_are_shared_count_once(tmp_path: Path) -> None:
    graph = irshape.Graph(name="shared")
    x = graph.parameter("f32", "[600]", name="x")
    y = graph.add("Add", x, np.ones(600, np.float32))
    graph.result(graph.add("Add", y, np.full(600, 2, np.float32)), "y")
    graph.strip_weights()
    graph.save(tmp_path / "m.xml")
    constants = irshape.inspect(tmp_path / "m.xml").to_dict()["constants"]
    sizes = [constants[key] for key in ("bytes", "used_bytes", "bin_bytes")]
    assert sizes == [4800, 2400, 2400]
    assert "2.3 KiB, shared bytes" in call(str(tmp_path / "m.xml"))[1]


BOUNDS = {  # the lower and upper bound of the peak, the first layer, its share of two products
    "[?,4]": (0, None, "first", "?"),
    "[1..3,4]": (48, 144, "first", "66.7%"),
    "[3,4]": (144, 144, "first", "66.7%"),
}


@pytest.mark.parametrize("shape", BOUNDS)
def test_bounded_shapes_have_upper_figures(shape: str, tmp_path: Path) -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[?,4]", name="x")
    first_product = graph.add("MatMul", x, np.ones((4, 8), np.float32), name="first")
    graph.result(graph.add("MatMul", first_product, np.ones((8, 2), np.float32)), "y")
    graph.save(tmp_path / "m.xml")
    least, most, first, share = BOUNDS[shape]
    options = (str(tmp_path / "m.xml"), "--shape", shape, "--device", "gpu")
    document = json.loads(call(*options, "--format", "json")[1])
    peak, memory = document["peak_memory"], document["device_memory"]
    assert (peak["bytes"], peak["max"]) == (least, most)
    assert (memory["activations"]["max"], memory["most"]) == (
        most,
        None if most is None else most + 192,  # the weights
    )
    row = call(*options)[1].partition("layers by multiply-adds")[2].splitlines()[2].split()
    assert (row[2], row[-1]) == (first, share)


REFUSED = table("""
no such input | m.xml --shape y=[1] | 2 | the model has no input 'y'
a shape without a value | m.xml --shape x | 2 | 'x' is not a dimension
a name of a dimension | m.xml --shape x=[batch,4] | 2 | `infer --symbols`
a layer that does not fit | m.xml --shape x=[3,5] | 1 | 'first'
no model | no.xml | 1 | no.xml
a format that is none | m.xml --format yaml | 2 | yaml
fewer than none | m.xml --top -1 | 2 | --top
""")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(net.parent)
    (net.parent / "no.xml").write_text("<nothing/>")
    arguments, expected, says = REFUSED[name]
    status, _, err = call(*arguments.split())
    assert (status, says in err) == (int(expected), True), err


def test_from_standard_input(net: Path) -> None:
    status, out, _ = call("-", "--weights", "none", stdin=net.read_bytes())
    assert (status, "'two products'" in out) == (0, True)


def test_a_model_of_another_format(tmp_path: Path) -> None:
    import onnx
    from formats.onnx.models import model
    from onnx import helper

    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    weights = {"w": np.ones((3, 5), np.float32)}
    onnx.save(
        model(node, ["x:f32[2,3]"], ["y:f32[2,5]"], 13, constants=weights), tmp_path / "m.onnx"
    )
    document = irshape.inspect(tmp_path / "m.onnx").to_dict()
    told = [document[key] for key in ("format", "ir_version", "requires")]
    assert told == ["ONNX", None, None]
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
    assert "'attention_mask' is 17" in lines[1]
