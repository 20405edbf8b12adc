"""What constants decide is computed once, and stays right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ir import Net

import irshape
from irshape.ops.arithmetic.binary import Add, Multiply
from irshape.ops.declaration import Operation
from irshape.ops.shape import ShapeOf_3


def scaled(tmp_path: Path) -> irshape.Model:
    """`x * (2 + 3) + (number of rows of x + 1)`."""
    net = Net()
    x = net.parameter("?,2", name="x")
    factor = net.layer("Add", [net.constant([2.0], "f32"), net.constant([3.0], "f32")])
    product = net.layer("Multiply", [x, factor])
    sizes = net.layer("ShapeOf", [x], 'output_type="i64"', version="opset3")
    rows = net.layer("Gather", [sizes, net.constant([0]), net.constant(0)], version="opset8")
    more = net.layer("Add", [rows, net.constant([1])])
    number = net.layer("Convert", [more], 'destination_type="f32"')
    net.result(net.layer("Add", [product, number]))
    net.result(factor)
    return net.load(tmp_path)


def expected(x: np.ndarray) -> list[np.ndarray]:
    return [x * np.float32(5) + np.float32(len(x) + 1), np.array([5], np.float32)]


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often operations have been computed, by type."""
    counts: Counter[str] = Counter()

    def count(version: type[Operation]) -> None:
        evaluate = version.evaluate
        assert evaluate is not None

        def counting(self: Operation, *arrays: np.ndarray, **context: object) -> object:
            counts[self.type_name()] += 1
            return evaluate(self, *arrays, **context)

        monkeypatch.setattr(version, "evaluate", counting)

    for version in (Add, Multiply, ShapeOf_3):
        count(version)
    return counts


def test_each_run_gives_the_same(tmp_path: Path) -> None:
    session = irshape.Session(scaled(tmp_path))
    for rows in (2, 2, 2, 3, 3, 3, 2, 4, 3, 1):
        x = np.full((rows, 2), rows, np.float32)
        for array, wanted in zip(session.run({"x": x}).values(), expected(x), strict=True):
            np.testing.assert_array_equal(array, wanted)


def test_an_output_that_is_kept_cannot_be_written(tmp_path: Path) -> None:
    session = irshape.Session(scaled(tmp_path))
    x = np.ones((2, 2), np.float32)
    for _ in range(4):
        factor = list(session.run({"x": x}).values())[1]
    with pytest.raises(ValueError, match="read-only"):
        factor += 1


def test_constants_decide_once(tmp_path: Path, computed: Counter[str]) -> None:
    session = irshape.Session(scaled(tmp_path))

    def of_run(rows: int) -> dict[str, int]:
        computed.clear()
        session.run({"x": np.ones((rows, 2), np.float32)})
        return dict(computed)

    everything = {"Add": 3, "Multiply": 1, "ShapeOf": 1}
    without = {"Add": 2, "Multiply": 1, "ShapeOf": 1}
    assert [of_run(rows) for rows in (2, 2, 2, 3)] == [everything, everything, without, without]


def layers_of_a_run(session: irshape.Session, x: np.ndarray) -> list[str]:
    seen: list[str] = []
    session.run({"x": x}, observe=lambda layer, *_: seen.append(layer.id))
    return seen


def test_an_observer_sees_every_layer_of_every_run(tmp_path: Path) -> None:
    model = scaled(tmp_path)
    session = irshape.Session(model)
    x = np.ones((2, 2), np.float32)
    for _ in range(4):
        session.run({"x": x})
        seen = layers_of_a_run(session, x)
        assert sorted(seen, key=int) == [layer.id for layer in model.net.layers]


def test_a_changed_constant_is_noticed(tmp_path: Path) -> None:
    model = scaled(tmp_path)
    session = irshape.Session(model)
    x = np.ones((2, 2), np.float32)
    for _ in range(3):
        session.run({"x": x})
    layer = next(layer for layer in model.net.layers if layer.type == "Multiply")
    layer.type = "Add"
    np.testing.assert_array_equal(next(iter(session.run({"x": x}).values())), x + 5 + 3)


def test_what_takes_too_much_memory_is_computed_again(
    tmp_path: Path, computed: Counter[str]
) -> None:
    net = Net()
    x = net.parameter("1", name="x")
    large = net.constant([1.0] * 1000, "f32")
    net.result(net.layer("Multiply", [net.layer("Add", [large, large]), x]))
    session = irshape.Session(net.load(tmp_path), max_memory=9000)
    for adds in (1, 2, 1):  # the second run tries to keep it
        computed.clear()
        session.run({"x": np.ones(1, np.float32)})
        assert dict(computed) == {"Add": adds, "Multiply": 1}


def test_random_numbers_are_drawn_in_every_run(tmp_path: Path) -> None:
    net = Net()
    shape = net.constant([8])
    low, high = net.constant(0.0, "f32"), net.constant(1.0, "f32")
    attributes = 'output_type="f32" global_seed="0" op_seed="0"'
    net.result(net.layer("RandomUniform", [shape, low, high], attributes, version="opset8"))
    session = irshape.Session(net.load(tmp_path))
    drawn = {next(iter(session.run().values())).tobytes() for _ in range(4)}
    assert len(drawn) == 4


def test_weights_are_kept_in_another_order_not_with_other_values(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,2", name="x")
    weights = net.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "f32")
    shape = net.constant([3, 2])
    matrix = net.layer("Reshape", [weights, shape], 'special_zero="false"')
    attributes = 'transpose_a="false" transpose_b="true"'
    net.result(net.layer("MatMul", [x, matrix], attributes))
    net.result(net.layer("Reshape", [matrix, net.constant([6])], 'special_zero="false"'))
    session = irshape.Session(net.load(tmp_path))
    for rows in (1, 1, 1, 2, 2, 2):
        x_values = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
        product, flat = session.run({"x": x_values}).values()
        np.testing.assert_array_equal(
            product, x_values @ np.arange(1, 7, dtype=np.float32).reshape(3, 2).T
        )
        np.testing.assert_array_equal(flat, np.arange(1, 7, dtype=np.float32))
