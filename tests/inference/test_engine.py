"""The engine: order, values in shape subgraphs, locality of failures, other input shapes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import openvino as ov
import pytest
from ir import Net, shapes

import irshape


def codes(report: irshape.Report) -> list[str]:
    return [found.code for found in report.diagnostics if found.severity == "error"]


def reshaped(net: Net, data: str) -> str:
    """`[dim0, -1, 8, 8]` by way of ShapeOf, Gather and Concat."""
    shape = net.add("ShapeOf-3(output_type=i64 @)", data, outputs=["I64"])
    batch = net.add("Gather-8(batch_dims=0 @ i64{[0]} i64{0})", shape, outputs=["I64"])
    pattern = net.add("Concat-1(axis=0 @ i64{[-1, 8, 8]})", batch, outputs=["I64"])
    return net.add("Reshape-1(special_zero=false @ @)", data, pattern, name="r")


@pytest.mark.parametrize(
    "shape", ["2,3,64", "1..8,?,64", "?,?,64", "?,3,64", "0,3,64", "2,0,64", "..."]
)
def test_values_pass_through_shape_subgraphs(tmp_path: Path, shape: str) -> None:
    """What is inferred is OpenVINO's, or a refinement of it."""
    net = Net()
    out = reshaped(net, net.parameter(shape))
    net.result(out)
    path = net.save(tmp_path)
    theirs = next(
        node for node in ov.Core().read_model(path).get_ops() if node.get_friendly_name() == "r"
    ).output(0)
    mine = irshape.infer(irshape.load(path)).outputs(out)[0]
    assert irshape.PartialShape.parse(str(theirs.get_partial_shape())).encloses(mine.shape)


def test_a_failure_is_local_and_reported_once(tmp_path: Path) -> None:
    net = Net()
    data = net.parameter("2,3,4")
    mean = net.add("ReduceMean-1(keep_dims=true @ i64{[7]})", data, outputs=["FP32:2,3,1"])
    after = net.add("ReduceSum-1(keep_dims=false @ i64{[1]})", mean, outputs=["FP32:2,1"])
    net.result(net.add("ReduceSum-1(keep_dims=false @ i64{[0]})", after, outputs=["FP32:1"]))
    report = irshape.validate(net.save(tmp_path))
    assert codes(report) == ["IR405"]
    assert report.diagnostics[0].layer is not None
    assert report.diagnostics[0].layer["id"] == mean


@pytest.mark.parametrize("repeated", [True, False])
def test_independent_faults_are_all_reported(tmp_path: Path, repeated: bool) -> None:
    """Whether or not the ports of the layers at fault repeat what the sound one gives."""
    net = Net()
    data = net.parameter("2,3,4")
    for axis in (7, 8):
        text = "ReduceMean-1(keep_dims=true @ @)"
        net.result(net.add(text, data, net.constant([axis]), outputs=["FP32:2,3,1"]))
    if repeated:
        dims = "".join(f"<dim>{size}</dim>" for size in (2, 3, 4))
        net.layers = [
            text.replace('<input><port id="0"/>', f'<input><port id="0">{dims}</port>')
            if "ReduceMean" in text
            else text
            for text in net.layers
        ]
    assert codes(irshape.validate(net.save(tmp_path))) == ["IR405", "IR405"]


@pytest.mark.parametrize("repeated", [True, False])
def test_a_wrong_declaration_is_reported_once(tmp_path: Path, repeated: bool) -> None:
    """Whether only the port is wrong, or the attribute behind a port that all consumers repeat."""
    net = Net()
    data = net.parameter("2,3,4")
    mean = net.add("ReduceMean-1(keep_dims=true @ i64{[2]})", data, outputs=["FP32:2,3"])
    outputs = ["FP32:2,1" if repeated else "FP32:2,1,1"]
    total = net.add("ReduceSum-1(keep_dims=true @ i64{[1]})", mean, outputs=outputs)
    net.result(total)
    dims = "".join(f"<dim>{size}</dim>" for size in ((2, 3) if repeated else (2, 3, 1)))
    port, at = f'<input><port id="0">{dims}</port>', int(total)
    net.layers[at] = net.layers[at].replace('<input><port id="0"/>', port)
    path = net.save(tmp_path)
    report = irshape.validate(path)
    mismatches = [found.layer for found in report.diagnostics if found.code == "IR201"]
    assert [layer and layer["id"] for layer in mismatches] == [mean]


@pytest.mark.parametrize(
    ("shape", "expected"), [("..0,4", ["IR406"]), ("7..9,4", ["IR406"]), ("..3,4", [])]
)
def test_a_port_that_says_less_hides_nothing(
    tmp_path: Path, shape: str, expected: list[str]
) -> None:
    """Its layer refuses what the attributes of the Parameter say, whatever the ports repeat."""
    net = Net()
    data, other = net.parameter(shape), net.parameter("3,4")
    total = net.layer("Add", [data, other], 'auto_broadcast="numpy"', outputs=["FP32:3,4"])
    net.result(total)
    at = int(total)
    repeating = '<input><port id="0"><dim>-1</dim><dim>4</dim></port>'
    net.layers[at] = net.layers[at].replace('<input><port id="0"/>', repeating)
    assert codes(irshape.validate(net.save(tmp_path))) == expected


@pytest.mark.parametrize(("element_type", "expected"), [("i32", ["IR403"]), ("f32", [])])
def test_a_port_without_a_type_hides_nothing(
    tmp_path: Path, element_type: str, expected: list[str]
) -> None:
    """Its layer refuses the type that the Parameter has, though its port names none."""
    net = Net()
    data = net.parameter("1,4", element_type)
    at = int(data)
    typed = f'precision="{irshape.ElementType.of(element_type).precision}"'
    net.layers[at] = net.layers[at].replace(typed, 'precision="UNSPECIFIED"')
    net.result(net.layer("SoftPlus", [data], version="opset4", outputs=["UNSPECIFIED:1,4"]))
    assert codes(irshape.validate(net.save(tmp_path))) == expected


def test_unknown_operations_are_opaque(tmp_path: Path) -> None:
    net = Net()
    data = net.parameter("2,3")
    custom = net.layer("Mystery", [data], version="extension", outputs=["FP32:2,5"])
    total = net.add("ReduceSum-1(keep_dims=true @ i64{[1]})", custom, outputs=["FP32:2,1"])
    net.result(total)
    path = net.save(tmp_path)
    assert codes(irshape.validate(path)) == ["IR604"]
    assert shapes(irshape.infer(irshape.load(path)), total) == ["f32 [2,1]"]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [("[5,3]", "f32 [5,1]"), ("?,3", "f32 [?,1]"), ([1, -1], "f32 [1,1]"), ("...", "f32 [...]")],
)
def test_other_input_shapes(tmp_path: Path, shape: str | list[int], expected: str) -> None:
    net = Net()
    data = net.parameter("2,3", name="x")
    total = net.layer("ReduceSum", [data, net.constant([1])], 'keep_dims="true"')
    net.result(total)
    model = net.load(tmp_path)
    for name in ("x", data):
        assert shapes(irshape.infer(model, shapes={name: shape}), total) == [expected]
    with pytest.raises(ValueError, match="no input 'y'"):
        irshape.infer(model, shapes={"y": shape})


def test_layers_in_any_order_and_ids_of_any_kind(tmp_path: Path) -> None:
    net = Net()
    total = net.add("ReduceSum-1(keep_dims=true f32[2,3] i64{[1]})")
    net.result(total)
    net.layers.reverse()
    text = (
        net.text()
        .replace(f'id="{total}" name', 'id="900" name')
        .replace(f'from-layer="{total}"', 'from-layer="900"')
        .replace(f'to-layer="{total}"', 'to-layer="900"')
    )
    path = tmp_path / "m.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes(net.weights)
    assert shapes(irshape.infer(irshape.load(path)), "900") == ["f32 [2,1]"]


def test_json_of_an_inference(tmp_path: Path) -> None:
    net = Net()
    net.result(net.add("ReduceSum-1(keep_dims=true f32[2,3] i64{[1]})", name="s"), name="out")
    made = irshape.infer(net.load(tmp_path)).to_dict()
    assert made["version"] == 1
    assert [(row["name"], row["outputs"]) for row in made["layers"]] == [
        ("p0", [{"port": "0", "element_type": "f32", "shape": "[2,3]"}]),
        ("c1", [{"port": "0", "element_type": "i64", "shape": "[1]"}]),
        ("s", [{"port": "2", "element_type": "f32", "shape": "[2,1]"}]),
        ("out", [{"port": "0", "element_type": "f32", "shape": "[2,1]"}]),
    ]


def test_a_missing_optional_input_is_fine_a_missing_one_is_not(tmp_path: Path) -> None:
    net = Net()
    total = net.add("ReduceSum-1(keep_dims=true f32[2,3] i64{[1]})")
    net.result(total)
    net.edges = [edge for edge in net.edges if f'to-layer="{total}" to-port="1"' not in edge]
    assert codes(irshape.validate(net.save(tmp_path))) == ["IR113"]


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.xml")), ids=lambda path: path.stem)
def test_outputs_of_every_layer(path: Path) -> None:
    """Layers inside bodies too, whatever their ids: each has what its row of the JSON says."""
    model = irshape.load(path)
    inference = irshape.infer(model)
    rows = inference.to_dict()["layers"]
    assert [row["id"] for row in rows] == [layer.id for layer in model.walk()]
    for layer, row in zip(model.walk(), rows, strict=True):
        tensors = inference.outputs(layer)
        assert [(str(t.element_type), str(t.shape)) for t in tensors] == [
            (output["element_type"], output["shape"]) for output in row["outputs"]
        ]
        if not layer.path:
            assert inference.outputs(layer.id) == tensors
            if layer.outputs:
                assert inference.tensor(layer.id) == inference.tensor(layer.name) == tensors[0]


def test_outputs_of_a_layer_that_the_model_does_not_have(tmp_path: Path) -> None:
    net = Net()
    net.result(net.parameter("2,3"))
    path = net.save(tmp_path)
    inference = irshape.infer(irshape.load(path))
    stranger = irshape.load(path).layers[0]
    for key in ("7", stranger):
        with pytest.raises(KeyError):
            inference.outputs(key)


def test_outputs_of_ids_that_repeat(tmp_path: Path) -> None:
    """An id means the first layer that has it; each layer has its own."""
    net = Net()
    net.parameter("2,3")
    net.parameter("4")
    net.layers[1] = net.layers[1].replace('id="1"', 'id="0"', 1)
    model = net.load(tmp_path)
    inference = irshape.infer(model)
    assert shapes(inference, "0") == ["f32 [2,3]"]
    assert [str(inference.outputs(layer)[0].shape) for layer in model.layers] == ["[2,3]", "[4]"]


def test_an_inference_is_readable(tmp_path: Path) -> None:
    net = Net()
    data = net.parameter("2,?", name="x")
    net.layer("Assert", [data], name="nothing", outputs=[], version="extension")
    net.result(data, name="out")
    inference = irshape.infer(net.load(tmp_path))
    assert repr(inference) == f"<Inference of 3 layers, {tmp_path / 'm.xml'}>"
    assert str(inference).splitlines() == [
        "0 Parameter 'x': f32[2,?]",
        "1 Assert 'nothing': no outputs",
        "2 Result 'out': f32[2,?]",
    ]


def test_one_thing_is_named_in_the_singular(tmp_path: Path) -> None:
    net = Net()
    order = net.constant([0])
    net.result(net.layer("Transpose", [net.parameter("2,11", name="x"), order], name="y"))
    finding = irshape.validate(net.save(tmp_path, declare=False)).diagnostics[0]
    assert finding.message.startswith("`order` has 1 element;")
    assert (finding.expected, finding.actual) == ("2 elements", "1 element")


class Change(NamedTuple):
    """What is changed in a model that was read and inferred before, and what follows."""

    change: Callable[[irshape.Model, str], None]
    shape: str
    errors: tuple[str, ...] = ()


def set_attribute(at: str, **attributes: str) -> Callable[[irshape.Model, str], None]:
    """Sets attributes of a layer: of the one that is asked about, or of the input."""

    def change(model: irshape.Model, layer: str) -> None:
        changed = model.net.by_id[layer if at == "layer" else "0"]
        changed.attributes = {**changed.attributes, **attributes}

    return change


def set_port(model: irshape.Model, layer: str) -> None:
    model.net.by_id[layer].outputs[0].dims = (2, 7, 1)


def set_weights(model: irshape.Model, layer: str) -> None:
    """Axis 1 in place of axis 2."""
    weights = model.weights
    assert weights is not None
    assert weights.data is not None
    data = bytearray(weights.data[:])
    constant = model.net.by_id[str(int(layer) - 1)]
    at = int(constant.attributes["offset"])
    data[at : at + 8] = (1).to_bytes(8, "little")
    weights.data = bytes(data)


CHANGES = {
    "nothing": Change(lambda model, layer: None, "[2,3,1]"),
    "attribute": Change(set_attribute("layer", keep_dims="false"), "[2,3]", ("IR201",)),
    "faulty attribute": Change(set_attribute("layer", keep_dims="maybe"), "[2,3]", ("IR304",)),
    "input": Change(set_attribute("input", shape="5,3,4"), "[5,3,1]", ("IR201",)),
    "port": Change(set_port, "[2,3,1]", ("IR201",)),
    "value": Change(set_weights, "[2,1,4]", ("IR201",)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_inferred_before_outlives_no_change(tmp_path: Path, name: str) -> None:
    """Results are remembered from one model to the next, by all that decides them."""
    net = Net()
    data = net.parameter("2,3,4")
    text = "ReduceMean-1(keep_dims=true @ @)"
    for axis in [0, 1] * 5:
        outputs = ["FP32:1,3,4" if axis == 0 else "FP32:2,1,4"]
        net.result(net.add(text, data, net.constant([axis]), outputs=outputs))
    last = net.add(text, data, net.constant([2]), outputs=["FP32:2,3,1"])
    net.result(last)
    path = net.save(tmp_path)
    change, shape, errors = CHANGES[name]
    for _ in range(2):
        assert str(irshape.infer(path).outputs(last)[0].shape) == "[2,3,1]"
        assert not codes(irshape.validate(path))
        model = irshape.load(path)
        change(model, last)
        report = irshape.validate(model)
        assert {*codes(report)} == {*errors}
        assert str(irshape.infer(model).outputs(last)[0].shape) == shape


def test_layers_alike_are_told_apart_by_the_values_and_ports_that_they_have(tmp_path: Path) -> None:
    """However often they were seen before: what is remembered of one is not said of another."""
    patterns = [[3, 2], [2, 3], [6, 1], [3, 2]] * 4
    wrong = {"y3", "y10"}
    net = Net()
    x = net.parameter("2,3")
    for index, pattern in enumerate(patterns):
        name = f"y{index}"
        size = "5,5" if name in wrong else ",".join(map(str, pattern))
        inputs = [x, net.constant(pattern)]
        outputs = [f"FP32:{size}"]
        net.result(net.layer("Reshape", inputs, 'special_zero="false"', name=name, outputs=outputs))
    path = net.save(tmp_path)
    for _ in range(4):
        inferred = irshape.infer(irshape.load(path)).to_dict()["layers"]
        outcome = [each["outputs"][0]["shape"] for each in inferred if each["type"] == "Reshape"]
        assert outcome == [f"[{rows},{columns}]" for rows, columns in patterns]
        reported = irshape.validate(path).diagnostics
        mismatches = [each.layer for each in reported if each.code == "IR201"]
        assert {layer and layer["name"] for layer in mismatches} == wrong
        with pytest.raises(irshape.LoadError) as refused:
            irshape.Graph.load(path)
        assert {each.layer and each.layer["name"] for each in refused.value.diagnostics} == wrong
