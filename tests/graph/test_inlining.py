"""Bodies written into the graph around them, and layers put into a body: the values stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import irshape
from irshape import Graph, GraphError, op

from .states import check, seen
from .test_building import outputs_of

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
RNG = np.random.default_rng(0)


def test_the_iterations_of_an_example_are_written_out(tmp_path: Path) -> None:
    graph = Graph.load(EXAMPLES / "recurrent.xml")
    inputs = {"sequence": RNG.standard_normal((2, 5, 8)).astype(np.float32)}
    expected = irshape.run(graph, inputs)
    with pytest.raises(GraphError, match="is not known"):
        graph.inline("lstm_iterator")
    graph.reshape({"sequence": [2, 5, 8]})
    with pytest.raises(GraphError, match="5 iterations"):
        graph.inline("lstm_iterator", max_iterations=4)
    graph.inline("lstm_iterator")
    check(graph)
    with pytest.raises(GraphError, match=r"'refine'.* is not known"):
        graph.inline("refine")  # it ends when its state does not change any more
    assert [layer.name for layer in graph if layer.bodies] == ["refine"]
    actual = outputs_of(graph, inputs, tmp_path)
    assert list(actual) == list(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(actual[name], array, 1e-4, 1e-5)


@pytest.mark.parametrize("flag", [True, False])
def test_an_if_with_a_known_condition_is_its_branch(flag: bool, tmp_path: Path) -> None:
    graph = Graph(name="if")
    x = graph.parameter("f32", "[?,3]", name="x")
    y = graph.parameter("f32", "[3]", name="y")
    condition = graph.parameter("boolean", "[]", name="flag")
    sum, product = op.if_(
        condition, x, y, then_body=lambda a, b: (a + b, a), else_body=lambda a, b: (a - b, b * a)
    )
    graph.result(sum, "sum")
    graph.result(product, "product")
    inputs = {"x": np.ones((2, 3), np.float32), "y": np.float32([1, 2, 3])}
    expected = irshape.run(graph, {**inputs, "flag": np.bool_(flag)})
    before = seen(graph)
    layer = graph.layers[3]
    with pytest.raises(GraphError, match="condition is not known"):
        graph.inline(layer)
    assert seen(graph) == before
    graph.bind("flag", flag)
    graph.inline(layer)
    assert layer not in graph
    check(graph)
    actual = outputs_of(graph, inputs, tmp_path)
    assert {name: array.tolist() for name, array in actual.items()} == {
        name: array.tolist() for name, array in expected.items()
    }


@pytest.mark.parametrize("trips", [1, 3])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_loop_is_its_iterations(trips: int, backwards: bool, tmp_path: Path) -> None:
    graph = Graph(name="loop")
    x = graph.parameter("f32", "[2,6,4]", name="x")
    slices = {"start": -1, "end": 0, "stride": -2} if backwards else {"stride": 2}

    def step(state, part, number):
        state = state + op.reduce_sum(part, [1]) * op.convert(number + 1, destination_type="f32")
        return state, op.stacked(state[:, None], axis=1), op.stacked(op.reduce_sum(part, [0, 1, 2]))

    outputs = op.loop(
        trips,
        True,
        op.carried(np.zeros((2, 4), np.float32)),
        op.sliced(x, axis=1, part_size=2, **slices),
        op.iteration(),
        body=step,
    )
    for at, output in enumerate(outputs):
        graph.result(output, f"y{at}")
    inputs = {"x": RNG.standard_normal((2, 6, 4)).astype(np.float32)}
    expected = irshape.run(graph, inputs)
    graph.inline(outputs[0].layer)
    check(graph)
    assert not any(layer.bodies for layer in graph)
    actual = outputs_of(graph, inputs, tmp_path)
    for name, array in expected.items():
        np.testing.assert_allclose(actual[name], array, 1e-4, 1e-5)


def test_a_loop_that_decides_for_itself_stays() -> None:
    graph = Graph(name="while")
    x = graph.parameter("f32", "[3]", name="x")
    y = op.loop(
        -1,
        True,
        op.carried(x),
        body=lambda v: (v / 2, op.repeat_while(op.greater(op.reduce_sum(v, [0]), 1.0))),
    )
    before = seen(graph)
    with pytest.raises(GraphError, match="number of iterations"):
        graph.inline(y.layer)
    assert seen(graph) == before


def test_a_loop_inside_a_loop_is_written_out(tmp_path: Path) -> None:
    graph = Graph(name="nested")
    x = graph.parameter("f32", "[3]", name="x")
    inner = lambda v: op.loop(2, True, op.carried(v), body=lambda w: w + x)  # noqa: E731
    y = op.loop(2, True, op.carried(x), body=inner)
    graph.result(y, "y")
    body = y.layer.bodies["body"]
    body.inline(next(layer for layer in body if layer.bodies))
    check(graph)
    graph.inline(y.layer)
    check(graph)
    assert not any(layer.bodies for layer in graph)
    inputs = {"x": np.float32([1, 2, 3])}
    np.testing.assert_allclose(outputs_of(graph, inputs, tmp_path)["y"], inputs["x"] * 5)


def test_layers_become_the_body_of_a_loop(tmp_path: Path) -> None:
    graph = Graph.load(EXAMPLES / "classifier.xml")
    inputs = {
        output.names[0]: RNG.standard_normal([dim.low or 1 for dim in output.shape]).astype("f4")
        for output in graph.inputs
    }
    expected = irshape.run(graph, inputs)
    chain = [layer for layer in graph.sorted() if not layer.raw.is_constant][2:9]
    loop = graph.outline(chain, name="stage")
    assert graph["stage"] is loop
    assert not any(layer in graph for layer in chain)
    check(graph)
    actual = outputs_of(graph, inputs, tmp_path)
    for name, array in expected.items():
        np.testing.assert_allclose(actual[name], array, 1e-4, 1e-5)
    graph.inline("stage")
    check(graph)
    actual = outputs_of(graph, inputs, tmp_path)
    for name, array in expected.items():
        np.testing.assert_allclose(actual[name], array, 1e-4, 1e-5)


def test_layers_around_others_are_no_body() -> None:
    graph = Graph(name="around")
    x = graph.parameter("f32", "[3]", name="x")
    first = op.relu(x, name="first")
    last = op.exp(op.sin(first, name="between") + first, name="last")
    graph.result(last, "y")
    before = seen(graph)
    with pytest.raises(GraphError, match="cycle"):
        graph.outline(["first", "last"])
    assert seen(graph) == before
