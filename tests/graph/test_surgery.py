"""What surgery gives, held against OpenVINO's values of the original."""

from __future__ import annotations

import copy
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as opset

import irshape
from irshape import Graph, GraphError, Pattern, op, rewrite
from irshape.graph.patterns import Wanted

from . import random_surgery
from .random_surgery import agrees, opened
from .states import check, seen

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def load(name: str) -> Graph:
    return Graph.load(EXAMPLES / f"{name}.xml")


@pytest.mark.parametrize("model", ["encoder", "classifier", "ir_v10", "recurrent"])
@pytest.mark.parametrize("task", [random_surgery.cut, random_surgery.chain])
def test_random_surgery_keeps_the_values(model: str, task) -> None:
    original = opened(EXAMPLES / f"{model}.xml")
    outcomes = [task(original, random.Random(turn)) for turn in range(12)]
    assert outcomes == ["equal"] * 12


def test_an_error_says_what_was_expected() -> None:
    graph = Graph(name="one")
    x = graph.parameter("f32", "[?,3]", name="x")
    with pytest.raises(GraphError, match=r"axis 7 is out of range") as caught:
        graph.add("ReduceMean", x, [7])
    assert caught.value.operation == "ReduceMean"
    assert len(graph) == 1
    assert len(graph.bytes) == 0


def test_a_graph_from_nothing(tmp_path: Path) -> None:
    graph = Graph(name="linear")
    x = graph.parameter("f32", "[?,3]", name="x")
    graph.result(graph.add("MatMul", x, np.ones((3, 4), np.float32)), "y")
    graph.save(tmp_path / "linear.xml")
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    compiled = ov.Core().compile_model(tmp_path / "linear.xml", "CPU")
    expected = compiled([data])[0]
    assert np.array_equal(irshape.run(graph, {"x": data})["y"], expected)
    assert irshape.validate([graph, tmp_path / "linear.xml"]).ok


def test_names_can_be_swapped() -> None:
    graph = load("encoder")
    first, second = (layer.name for layer in graph.parameters)
    ids = [layer.id for layer in graph.parameters]
    graph.rename({first: second, second: first})
    assert [graph[second].id, graph[first].id] == ids


def test_parts_of_layers_that_share_a_name(tmp_path: Path) -> None:
    graph = Graph(name="alike")
    x = graph.parameter("f32", "[2]", name="x")
    for number in range(6):
        x = graph.add("Multiply", x, np.float32(number + 2), name=f"times{number}")
    graph.result(x, "y")
    path = tmp_path / "alike.xml"
    graph.save(path)
    path.write_text(re.sub(r'name="times\d"', 'name="times"', path.read_text()))
    graph = Graph.load(path)
    tensors = {"x": np.ones(2, np.float32)}
    for part in graph.split(parts=3):
        assert sum(layer.type == "Multiply" for layer in part) == 2
        tensors |= irshape.run(
            part, {each.names[0]: tensors[each.names[0]] for each in part.inputs}
        )
    assert tensors["y"].tolist() == [5040, 5040]
    middle = graph.tensor("y").layer.inputs[0].source.layer
    assert sum(layer.type == "Multiply" for layer in graph.around(middle, 1)) == 3


def test_an_output_is_added_once() -> None:
    graph = swish_graph()
    assert graph.add_output("y") is graph.add_output("y", "z") is graph.results[0]
    assert [output.names for output in graph.outputs] == [("y", "z")]


def test_an_extracted_input_is_named_as_it_was_asked_for() -> None:
    graph = load("encoder")
    layer = next(each for each in graph if each.type == "Gelu")
    part = graph.extract([layer.name, *graph.inputs], [graph.outputs[1]])
    assert part[layer.name].type == "Parameter"
    assert part.tensor(layer.name).layer.type == "Parameter"
    assert graph[layer.name].type == "Gelu"
    with pytest.raises(GraphError, match="also depend on the input"):
        graph.extract([], [graph.outputs[1]])


def test_parts_run_one_after_the_other() -> None:
    original = opened(EXAMPLES / "classifier.xml")
    graph = original.graph
    middle = [layer for layer in graph if layer.type == "Convolution"][1]
    first, second = graph.split(middle.name)
    values = dict(irshape.run(first, {"0": next(iter(original.inputs.values()))}))
    crossing = [layer.name for layer in second.parameters]
    assert set(crossing) <= set(values)
    outputs = irshape.run(second, {name: values[name] for name in crossing})
    for output, actual in zip(graph.outputs, outputs.values(), strict=True):
        assert agrees(actual, original.values[output.layer.id, output.index])
    whole = irshape.merge(first, second, {name: name for name in crossing}, prefix="second/")
    assert irshape.validate(whole).ok
    assert len(whole.results) == len(graph.results)


COPYING: dict[str, Callable[[Graph], Graph]] = {
    "copy": Graph.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda graph: pickle.loads(pickle.dumps(graph)),
}


@pytest.mark.parametrize("copying", COPYING)
@pytest.mark.parametrize("opened_before", [False, True])
def test_a_copy_has_the_same_layers_and_changes_by_itself(
    copying: str, opened_before: bool
) -> None:
    graph = load("control_flow")
    if opened_before:
        assert len(graph) == len(graph.layers)
    twin = COPYING[copying](graph)
    assert twin.to_bytes() == graph.to_bytes()
    with pytest.raises(GraphError):  # a part of a graph has no copy of its own
        copy.deepcopy(graph.outputs[0])
    assert [layer.name for layer in twin.layers] == [layer.name for layer in graph.layers]
    assert (
        irshape.infer(twin.model()).to_dict()["layers"]
        == (irshape.infer(graph.model()).to_dict()["layers"])
    )
    twin.rename({twin.layers[0].name: "another"})
    assert graph.layers[0].name != "another"


def test_an_input_that_is_an_output_keeps_its_name() -> None:
    for change in (lambda graph: graph.drop_output("z"), lambda graph: graph.inputs[0][None]):
        graph = Graph()
        x = graph.parameter("f32", [2], name="x")
        graph.result(op.relu(x), "y")
        graph.result(x, "z")
        change(graph)
        x.insert_after("Exp")
        assert x.names == ("x",)
        assert ov.Core().read_model(*graph.to_bytes()).inputs[0].names == {"x"}
    with pytest.raises(GraphError):
        irshape.merge(graph, graph, {}, prefix="a\n")


def test_a_copy_of_many_layers_in_a_row() -> None:
    graph = Graph()
    x = graph.parameter("f32", "[1]")
    for _ in range(1500):
        x = graph.add("Abs", x)
    for copying in COPYING.values():
        assert len(copying(graph)) == 1501


def test_states_become_inputs_and_variables_again(tmp_path: Path) -> None:
    """Token by token, OpenVINO gives what it gives for the stateful original."""
    graph = load("decoder")
    outputs = [output.names[0] for output in graph.outputs]
    again = graph.copy()
    pairs = again.make_stateless()
    assert len(again.parameters) == len(graph.parameters) + len(pairs)
    assert irshape.validate(again).ok
    again.make_stateful(pairs, batch_from=graph.parameters[0].name)
    assert irshape.validate(again).ok
    again.save(tmp_path / "again.xml")
    core = ov.Core()
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    requests = [
        core.compile_model(path, "CPU", exact).create_infer_request()
        for path in (EXAMPLES / "decoder.xml", tmp_path / "again.xml")
    ]
    for step in range(1, 4):
        feeds = {}
        for layer in graph.parameters:
            rank = layer.output.shape.rank
            size = {1: (2,), 2: (2, step if "mask" in layer.name else 1)}[rank]
            array = np.ones(size, layer.output.element_type.name.replace("i", "int"))
            feeds[layer.name] = np.arange(2, dtype=array.dtype) if rank == 1 else array
        first, second = (
            [np.array(request.infer(list(feeds.values()))[name]) for name in outputs]
            for request in requests
        )
        assert all(map(agrees, second, first))


def stateful() -> Graph:
    """y = x + state; what is assigned to the state does not depend on it."""
    graph = Graph()
    x = graph.parameter("f32", "[1,4]", name="x")
    state = graph.add(
        "ReadValue",
        graph.constant(np.zeros((1, 4), np.float32)),
        variable_id="state",
        variable_type="f32",
        variable_shape="1,4",
        name="state",
    )
    graph.result(state + x, "y")
    graph.add("Assign", x * 2.0, variable_id="state", name="assign")
    return graph


class Unread(NamedTuple):
    """The types that are left of `stateful()` after a change that takes its ReadValue away."""

    change: Callable[[Graph], object]
    left: list[str]


def bypassed(graph: Graph) -> None:
    with pytest.raises(GraphError, match="nothing reads the variable"):
        graph["state"].output.replace_uses(graph.tensor("x"))
    with graph.batch():
        graph["state"].output.replace_uses(graph.tensor("x"))
        graph.clean()


def without_y(graph: Graph) -> None:
    graph.result(graph.tensor("x"), "z")
    graph.drop_output("y")


def removed(graph: Graph) -> None:
    with pytest.raises(GraphError, match="remove the Assign first"):
        graph["state"].remove(bypass=0)
    graph["assign"].remove()
    graph["state"].remove(bypass=0)
    graph.clean()


@pytest.mark.parametrize(
    "case",
    [
        Unread(lambda graph: graph.cut("state"), ["Add", "Parameter", "Parameter", "Result"]),
        Unread(bypassed, ["Add", "Parameter", "Result"]),
        Unread(without_y, ["Parameter", "Result"]),
        Unread(removed, ["Add", "Const", "Parameter", "Result"]),
    ],
)
def test_nothing_assigns_a_variable_that_nothing_reads(case: Unread, tmp_path: Path) -> None:
    graph = stateful()
    case.change(graph)
    assert sorted(layer.type for layer in graph) == case.left
    assert irshape.validate(graph).ok
    graph.save(tmp_path / "changed.xml")
    ov.Core().read_model(tmp_path / "changed.xml")


def test_the_surroundings_of_a_result_end_with_it() -> None:
    graph = stateful()
    part = graph.around(graph.results[0], 1)
    assert sorted(layer.type for layer in part) == ["Add", "Parameter", "Parameter", "Result"]


@pytest.mark.parametrize(
    ("change", "model"),
    [
        (lambda graph: graph.to_f16(keep="*norm*"), "encoder"),
        (lambda graph: graph.compress_to_f16(), "encoder"),
        (lambda graph: graph.drop_fake_quantize(), "int8"),
        (lambda graph: graph.strip_weights(), "encoder"),
        (lambda graph: graph.fold(decompress=True), "compressed"),
        (lambda graph: graph.fold(), "detector"),
    ],
)
def test_precisions_and_weights(change, model: str, tmp_path: Path) -> None:
    graph = load(model)
    before = [(str(out.element_type), str(out.shape)) for out in graph.outputs]
    assert change(graph) > 0
    assert [(str(out.element_type), str(out.shape)) for out in graph.outputs] == before
    assert irshape.validate(graph).ok
    graph.save(tmp_path / "changed.xml")
    ov.Core().compile_model(tmp_path / "changed.xml", "CPU")


class Folded(NamedTuple):
    """Layers that are left of `built(x)`, for an x of a shape."""

    shape: str
    built: Callable[[Any], Any]
    left: list[str]


def flattened(x: Any) -> Any:
    sizes = op.shape_of(x)
    return op.reshape(x, op.concat([sizes[:1], op.reduce_prod(sizes[1:], 0, keep_dims=True)], 0))


def scaled(x: Any) -> Any:
    return x / op.sqrt(op.convert(op.shape_of(x)[-1], destination_type="f32"))


@pytest.mark.parametrize(
    "case",
    [
        Folded("[2,3,4]", flattened, ["Reshape"]),
        Folded("[?,3,4]", flattened, ["Concat", "Reshape", "ShapeOf", "Slice"]),
        Folded("[2,3,4]", scaled, ["Divide"]),
        Folded("[?,?,4]", scaled, ["Divide"]),
        Folded("[2,3,..4]", scaled, ["Convert", "Divide", "Gather", "ShapeOf", "Sqrt"]),
        Folded("[2,3,4]", lambda x: op.convert(op.shape_of(x), destination_type="f32"), []),
    ],
)
def test_what_shapes_say_is_folded(case: Folded) -> None:
    graph = Graph(name="shapes")
    x = graph.parameter("f32", case.shape, name="x")
    graph.result(case.built(x), "y")
    given = {"x": np.random.default_rng(0).standard_normal((2, 3, 4), np.float32)}
    expected = irshape.run(graph, given)["y"]
    graph.fold()
    assert (
        sorted(
            layer.type
            for layer in graph.layers
            if layer.type not in ("Parameter", "Const", "Result")
        )
        == case.left
    )
    assert np.array_equal(irshape.run(graph, given)["y"], expected)
    assert irshape.validate(graph).ok


def test_folding_leaves_compressed_weights_as_they_are() -> None:
    graph = load("compressed")
    before = {str(layer.output.element_type) for layer in graph.layers if layer.type == "Const"}
    assert before > {"i4", "u4", "u8", "f16"}
    assert graph.fold() == 0
    assert graph.fold(decompress=True) > 0
    after = {str(layer.output.element_type) for layer in graph.layers if layer.type == "Const"}
    assert after == {"f32", "i64"}


@pytest.mark.parametrize(
    ("text", "behind", "left"),
    [("ReLU", (), ["Add"]), ("FakeQuantize", (0, 2, 0, 2), ["Add", "Convert", "FakeQuantize"])],
)
def test_folding_what_is_computed_from_decompressed_constants(
    text: str, behind: tuple[float, ...], left: list[str]
) -> None:
    graph = irshape.Graph()
    half = graph.add("Convert", graph.constant(np.float16([[-1, 2]])), destination_type="f32")
    levels = {"levels": 3} if behind else {}
    computed = graph.add(text, half, *map(np.float32, behind), **levels)
    graph.result(graph.add("Add", graph.parameter("f32", "[1,2]", name="x"), computed), "y")
    graph.fold()
    types = {layer.type for layer in graph.layers} - {"Parameter", "Const", "Result"}
    assert sorted(types) == left
    assert irshape.run(graph, {"x": np.float32([[0, 0]])})["y"].tolist() == [[0, 2]]


def test_preprocessing() -> None:
    graph = Graph(name="image")
    x = graph.parameter("f32", "[1,2,3,?]", name="x")
    graph.result(graph.add("Relu", x), "y")
    graph.preprocess("x", element_type="u8", layout=("NHWC", "NCHW"), mean=[1, 2], scale=2)
    assert str(graph.inputs[0]) == "x: u8[1,3,?,2]"
    image = np.arange(12, dtype=np.uint8).reshape(1, 3, 2, 2)
    expected = np.maximum((image.transpose(0, 3, 1, 2) - np.array([[[1]], [[2]]])) / 2, 0)
    assert np.allclose(irshape.run(graph, {"x": image})["y"], expected)


@pytest.mark.parametrize("layout", [None, "NHWC"])
def test_channels_are_reversed_before_the_mean(layout: str | None) -> None:
    graph = Graph()
    graph.result(graph.add("Relu", graph.parameter("f32", "[1,3,3,3]", name="x")), "y")
    layouts = None if layout is None else (layout, "NCHW")
    graph.preprocess("x", layout=layouts, reverse_channels=True, mean=[0, 1, 2])
    image = np.random.default_rng(0).random((1, 3, 3, 3), np.float32) * 4
    planes = (image if layout is None else image.transpose(0, 3, 1, 2))[:, ::-1]
    expected = np.maximum(planes - np.float32([[[0]], [[1]], [[2]]]), 0)
    assert np.allclose(irshape.run(graph, {"x": image})["y"], expected)


def test_a_layout_that_stays_only_names_the_channels() -> None:
    graph = Graph()
    graph.result(graph.add("Relu", graph.parameter("f32", "[1,4,5,3]", name="x")), "y")
    graph.preprocess("x", layout=("NHWC", "NHWC"), mean=[1, 2, 3])
    assert not [layer for layer in graph.layers if layer.type == "Transpose"]
    image = np.random.default_rng(0).random((1, 4, 5, 3), np.float32)
    expected = np.maximum(image - np.float32([1, 2, 3]), 0)
    assert np.allclose(irshape.run(graph, {"x": image})["y"], expected)


@pytest.mark.parametrize(
    ("layout", "shape", "axis"),
    [
        ("NHWC", [1, 4, 5, 3], 3),
        ("NCHW", [1, 3, 4, 5], 1),
        ("N...C", [1, 4, 5, 3], 3),
        ("...CH", [1, 5, 3, 4], 2),
        (None, [1, 3, 4, 5], 1),
    ],
)
def test_channels_are_those_of_the_layout_in_the_model(
    layout: str | None, shape: list[int], axis: int, tmp_path: Path
) -> None:
    x = opset.parameter(shape, np.float32, name="x")
    model = ov.Model([opset.relu(x)], [x])
    if layout is not None:
        x.set_layout(ov.Layout(layout))
    ov.save_model(model, tmp_path / "m.xml")
    graph = Graph.load(tmp_path / "m.xml")
    graph.preprocess("x", element_type="u8")
    graph.save(tmp_path / "u8.xml")
    graph = Graph.load(tmp_path / "u8.xml")  # the layout is still there
    graph.preprocess("x", mean=[1.0, 2.0, 3.0])
    mean = next(each for each in graph.layers if each.type == "Subtract").inputs[1].source
    assert [dim.low for dim in mean.shape.dims or ()] == [3 if at == axis else 1 for at in range(4)]


def swish_graph() -> Graph:
    graph = Graph(name="swish")
    x = graph.parameter("f32", "[?,3]", name="x")
    graph.result(graph.add("Multiply", graph.add("Sigmoid", x), x), "y")
    return graph


p = Pattern()
_x = p.any("x", element_type="f32")
SWISH = p.add("Multiply", _x, p.add("Sigmoid", _x))


def test_a_rewrite_is_proven() -> None:
    @rewrite(SWISH)
    def to_swish(graph, match):
        return graph.add("Swish", match["x"])

    @rewrite(SWISH)
    def wrong(graph, match):
        return graph.add("Relu", match["x"])

    graph = swish_graph()
    assert [match["x"].layer.name for match in graph.match(SWISH)] == ["x"]
    with pytest.raises(GraphError, match=r"the largest error is .* at \("):
        graph.rewrite(wrong, check=True)
    assert len(graph) == 4
    assert graph.rewrite(to_swish, check=True) == 1
    assert [layer.type for layer in graph] == ["Parameter", "Result", "Swish"]
    assert graph.outputs[0].names == ("y",)


class Looked(NamedTuple):
    """A pattern, and how often it is found in `matched_graph`."""

    pattern: Callable[[Pattern], Wanted]
    count: int


def matched_graph() -> Graph:
    graph = Graph(name="matched")
    x = graph.parameter("f32", "[?,4,6,6]", name="x")
    y = op.softmax(x, axis=3)
    y = op.max_pool(y, strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], kernel=[2, 2], opset=1)
    y = op.mvn(y, [1], normalize_variance=True, eps=1e-5, eps_mode="inside_sqrt")
    for _ in range(2):
        parts = op.split(y, 1, num_splits=2)
        graph.result(parts[0] * op.sigmoid(parts[1]))
    graph.result(parts[0] * op.sigmoid(op.split(y, 1, num_splits=2)[1]))
    return graph


def gate(p: Pattern) -> Wanted:
    parts = p.add("Split", name="parts")
    return p.add("Multiply", parts[0], p.add("Sigmoid", parts[1]))


LOOKED = {
    "a type in the specification's letters": Looked(lambda p: p.add("Softmax"), 1),
    "a negative axis": Looked(lambda p: p.add("SoftMax", axis=-1), 1),
    "another negative axis": Looked(lambda p: p.add("SoftMax", axis=-2), 0),
    "a function": Looked(lambda p: p.add("SoftMax", axis=lambda axis: axis > 1), 1),
    "a list": Looked(lambda p: p.add("MaxPool", strides=[1, 1], kernel=(2, 2)), 1),
    "another list": Looked(lambda p: p.add("MaxPool", strides=[1, 2]), 0),
    "a number of f32": Looked(lambda p: p.add("MVN", eps=float(np.float32(1e-5))), 1),
    "several types, one with the attribute": Looked(lambda p: p.add(("MVN", "Relu"), eps=1e-5), 1),
    "optional, of several types": Looked(
        lambda p: p.add("MaxPool", p.optional(("Relu", "SoftMax"), p.any(rank=4), name="s")), 1
    ),
    "two outputs of one layer": Looked(gate, 2),
}


@pytest.mark.parametrize("case", LOOKED.values(), ids=LOOKED)
def test_what_a_pattern_finds(case: Looked) -> None:
    matches = matched_graph().match(case.pattern(Pattern()))
    assert len(matches) == case.count
    assert not matches or "s" not in matches[0] or matches[0]["s"].layer.type == "SoftMax"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (lambda p: p.add("Sofmax"), "did you mean SoftMax"),
        (lambda p: p.add(("Relu", "SoftMax"), axes=1), "did you mean 'axis'"),
        (lambda p: p.optional("Relu", p.any(), axis=1), "no attribute 'axis'"),
    ],
)
def test_a_pattern_of_what_does_not_exist(
    pattern: Callable[[Pattern], Wanted], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        pattern(Pattern())


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        (lambda p: p.add("Elu"), "the last layer"),
        (lambda p: p.add("SoftMax", axis=1), "the last layer"),
        (lambda p: p.add("MaxPool", p.add("SoftMax", axis=1)), "axis of SoftMax .* is 3, not 1"),
        (lambda p: p.add("MVN", p.add("MaxPool")), "MVN .* has 2 inputs, not 1"),
        (lambda p: p.add("MVN", p.add("Elu"), p.any()), "MaxPool .* is not of type Elu"),
        (lambda p: p.add("MaxPool", p.any(rank=2)), r"f32 \[\?,4,6,6\]> does not meet the cond"),
        (lambda p: p.add("Sigmoid", p.add("Split")), "output 1 of Split"),
        (lambda p: p.add("MVN", *[p.any("x")] * 2), "the part 'x' .* matches another output"),
        (lambda p: p.add("SoftMax"), "the pattern is found 1 time"),
    ],
)
def test_why_a_pattern_is_not_found(pattern: Callable[[Pattern], Wanted], answer: str) -> None:
    assert re.search(answer, matched_graph().why_not(pattern(Pattern())))


def test_a_rewrite_that_feeds_itself_is_an_error() -> None:
    graph = swish_graph()
    relu = Pattern().add("Sigmoid")

    @rewrite(relu)
    def grows(graph, match):
        return op.exp(op.sigmoid(match.layer.inputs[0].source))

    before = seen(graph)
    with pytest.raises(GraphError, match="grows"):
        graph.rewrite(grows)
    assert seen(graph) == before


def two_results() -> Graph:
    """Two outputs of one tensor, each with a name of its own."""
    graph = Graph(name="two")
    x = graph.parameter("f32", "[2,3]", name="x")
    y = op.relu(x)
    graph.result(y, "a")
    graph.result(y, "b")
    graph.result(x, "same")
    return graph


def names_in_openvino(graph: Graph, folder: Path) -> list[set[str]]:
    graph.save(folder / "named.xml")
    return [port.names for port in ov.Core().read_model(folder / "named.xml").outputs]


def test_two_results_of_a_tensor_are_two_outputs(tmp_path: Path) -> None:
    graph = two_results()
    for _ in range(2):
        assert [each.output_names[0] for each in graph.results] == ["a", "b", "same"]
        assert names_in_openvino(graph, tmp_path)[:2] == [{"a"}, {"b"}]
        graph = Graph.load(tmp_path / "named.xml")
    assert [each.output_names[0] for each in graph.extract(outputs=["b"]).results] == ["b"]
    graph.rename({"b": "c"})
    graph.postprocess("c", element_type="f16")
    assert [str(port.element_type) for port in graph.outputs] == ["f32", "f16", "f32"]
    assert names_in_openvino(graph, tmp_path)[:2] == [{"a"}, {"c"}]
    graph.drop_output("c")
    assert [each.output_names[0] for each in graph.results] == ["a", "same"]
    assert "c" not in graph.tensor("a").names
    merged = irshape.merge(two_results(), two_results(), {"b": "x"}, prefix="p/")
    assert [each.output_names[0] for each in merged.results] == [
        "a",
        "same",
        "p/a",
        "p/b",
        "p/same",
    ]
    check(graph)
    check(merged)
    graph = two_results()
    graph.result(op.exp(graph.tensor("a")), "c")
    parts = graph.split("a")
    assert [[each.output_names[0] for each in part.results] for part in parts] == [
        ["a", "b"],
        ["same", "c"],
    ]
    assert parts[1].inputs[1].names == ("a", "b")


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.to_f16(),
        lambda graph: graph.postprocess("y", element_type="f16"),
        lambda graph: graph.tensor("y").insert_after("Abs"),
        lambda graph: graph.tensor("y").replace_uses(graph.op.abs(graph.tensor("x"))),
        lambda graph: graph.tensor("y").layer.remove(bypass=0),
    ],
)
def test_a_result_keeps_names_that_its_port_declares_too(change: Any, tmp_path: Path) -> None:
    graph = Graph()
    graph.result(graph.op.relu(graph.parameter("f32", "[2,3]", name="x")), "y")
    path = tmp_path / "both.xml"
    graph.save(path)
    path.write_text(path.read_text().replace('type="Result"', 'type="Result" output_names="y"'))
    assert path.read_text().count('names="y"') == 2
    graph = Graph.load(path)
    change(graph)
    assert names_in_openvino(graph, tmp_path) == [{"y"}]
    check(graph)
    if not graph.outputs[0].layer.raw.is_parameter:
        graph.rename({"y": "z"})
        graph.save(path)  # older releases read the name from the port
        assert path.read_text().count('names="z"') == 2


def test_inputs_and_outputs_keep_their_order() -> None:
    graph = Graph(name="order")
    a, b = (graph.parameter("f32", "[1,3,4,4]", name=name) for name in "ab")
    graph.result(a - b, "y")
    graph.result(a + b, "z")
    graph.preprocess("a", element_type="u8", layout=("NHWC", "NCHW"), mean=[1, 2, 3], scale=2)
    graph.postprocess("y", element_type="f16")
    assert [port.names[0] for port in graph.inputs] == ["a", "b"]
    assert [each.output_names for each in graph.results] == [("y",), ("z",)]
    assert [layer.name for layer in graph.model().parameters] == ["a", "b"]
