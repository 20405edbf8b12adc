"""Changes inside the bodies of If, Loop and TensorIterator."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino as ov
import pytest

import irshape
from irshape import Graph, GraphError, op

from .states import check, seen

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def load(name: str) -> Graph:
    return Graph.load(EXAMPLES / f"{name}.xml")


def by_openvino(graph: Graph, arrays: list[np.ndarray], folder: Path) -> list[np.ndarray]:
    graph.save(folder / "model.xml")
    model = ov.Core().compile_model(
        folder / "model.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    return list(model(arrays).values())


@pytest.mark.parametrize("batch", [0, 1, 3, "1..4", "?"])
@pytest.mark.parametrize("model", ["recurrent", "control_flow"])
def test_parameters_of_bodies_declare_what_they_are_fed(model: str, batch: int | str) -> None:
    graph = load(model)
    before = {layer: layer.output.shape for layer in graph.walk() if layer.type == "Parameter"}
    graph.pin(batch=batch)
    for layer, shape in before.items():
        if layer.output.shape != shape:
            assert layer.attributes["shape"] == layer.output.shape
    check(graph)


def test_a_parameter_of_a_body_follows_what_it_is_fed() -> None:
    graph = load("recurrent")
    step = next(layer for layer in graph.walk() if layer.name == "step")
    before = seen(graph)
    for change in (lambda: step.set(shape=[0]), lambda: step.graph.cut("Squeeze_4")):
        with pytest.raises(GraphError, match="body"):
            change()
        assert seen(graph) == before


def test_a_body_takes_a_tensor_from_outside(tmp_path: Path) -> None:
    """A tensor of the net that a body uses becomes one more input of the layer around it."""
    graph = load("recurrent")
    loop = graph["refine"]
    body = loop.bodies["body"]
    count = len(loop.inputs)
    bias = graph.parameter("f32", "[16]", name="bias")
    scale = graph.parameter("f32", "[16]", name="scale")
    step = next(layer for layer in body if layer.type == "Relu" or layer.type == "Tanh")
    output = step.outputs[0]
    users = output.users
    first = body.add("Multiply", output, scale)
    output.replace_uses(body.add("Add", first, bias), list(users))
    body.add("Add", output, bias)  # taken once, however often it is used
    assert len(loop.inputs) == count + 2
    check(graph)
    rng = np.random.default_rng(0)
    sequence = rng.standard_normal((2, 5, 8), np.float32)
    arrays = {"sequence": sequence, "bias": np.zeros(16, "f4"), "scale": np.ones(16, "f4")}
    expected = irshape.run(load("recurrent"), {"sequence": sequence})
    for feed in (arrays, {**arrays, "bias": np.full(16, 0.5, "f4")}):
        ours = list(irshape.run(graph, feed).values())
        theirs = by_openvino(graph, list(feed.values()), tmp_path)
        assert all(np.allclose(a, b, 1e-4, 1e-5) for a, b in zip(ours, theirs, strict=True))
    same = irshape.run(graph, arrays)
    assert all(np.allclose(same[name], expected[name], 1e-5, 1e-6) for name in expected)


def test_an_input_of_a_body_can_be_bound() -> None:
    graph = load("recurrent")
    loop = graph["refine"]
    weights = loop.bodies["body"]["weights"]
    loop.bodies["body"].bind("weights", np.zeros((16, 8), np.float32))
    assert not weights.users
    check(graph)


def test_what_iterations_hand_on_cannot_be_bound() -> None:
    graph = load("recurrent")
    before = seen(graph)
    with pytest.raises(GraphError, match="back edge"):
        graph["refine"].bodies["body"].bind("state", np.zeros((1, 16), np.float32))
    assert seen(graph) == before


def test_a_state_keeps_its_element_type() -> None:
    graph = Graph()
    x = graph.parameter("f32", [4], name="x")
    with pytest.raises(GraphError, match="feeds i64"):
        op.loop(3, True, op.carried(x), body=lambda state: op.convert(state, destination_type=int))
    assert graph.layers == (x.layer,)


def test_what_a_layer_with_bodies_does_not_have_is_refused() -> None:
    graph = Graph()
    x = graph.parameter("f32", [4], name="x")
    loop = op.loop(3, True, op.carried(x), body=lambda state: state + 1.0)
    body = loop.layer.bodies["body"]
    before = seen(graph)
    for change in (
        lambda: op.if_(True, op.carried(x), then_body=op.relu, else_body=op.abs),
        lambda: op.if_(True, x, then_body=op.stacked, else_body=op.stacked),
        lambda: op.tensor_iterator(op.sliced(x), op.iteration(), body=lambda part, at: part),
        lambda: op.loop(3, True, body=lambda: (op.repeat_while(True), op.repeat_while(False))),
        lambda: body.drop_output(body.outputs[0]),
        body.results[0].remove,
    ):
        with pytest.raises(GraphError):
            change()
        assert seen(graph) == before


def test_a_merged_model_keeps_its_rt_info() -> None:
    first, second = load("encoder"), load("classifier")
    layers = {layer.name: layer.rt_info for layer in second if layer.rt_info}
    assert layers
    merged = irshape.merge(first, second, {}, prefix="b/")
    again = Graph(merged.model())
    assert {name: again[f"b/{name}"].rt_info for name in layers} == layers
    assert irshape.merge(again, again, {}, prefix="c/")["c/b/" + next(iter(layers))].rt_info
    turned = irshape.merge(second, first, {}, prefix="b/")
    assert merged.model().rt_info == turned.model().rt_info == second.model().rt_info != {}


def test_a_merged_model_keeps_the_layout_of_its_inputs(tmp_path: Path) -> None:
    model = ov.Core().read_model(EXAMPLES / "classifier.xml")
    model.get_parameters()[0].set_layout(ov.Layout("NCHW"))
    ov.save_model(model, tmp_path / "layout.xml", compress_to_fp16=False)
    merged = irshape.merge(load("encoder"), Graph.load(tmp_path / "layout.xml"), {}, prefix="b/")
    merged.save(tmp_path / "merged.xml")
    read = ov.Core().read_model(tmp_path / "merged.xml")
    assert [str(each.layout) for each in read.get_parameters()] == ["[...]", "[...]", "[N,C,H,W]"]
