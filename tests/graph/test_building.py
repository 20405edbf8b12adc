"""Building graphs with operators and functions, held against NumPy and OpenVINO."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import openvino as ov
import pytest

import irshape
from irshape import Graph, GraphError, Output, op
from irshape.graph.nodes import described
from irshape.graph.operations import function_name, types_by_name
from irshape.ops import registry

from .make_stub import STUB, stub
from .states import check

ROOT = Path(__file__).parent.parent.parent
DATA = np.arange(2 * 7 * 12, dtype=np.float32).reshape(2, 7, 12)


def outputs_of(graph: Graph, inputs: dict[str, Any], folder: Path) -> dict[str, np.ndarray]:
    """The outputs of a graph by name; irshape's and OpenVINO's are the same."""
    report = irshape.validate(graph)
    assert report.ok, [str(each) for each in report.diagnostics]
    ours = irshape.run(graph, inputs)
    graph.save(folder / "built.xml")
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = ov.Core().compile_model(folder / "built.xml", "CPU", exact)
    theirs = compiled(inputs)
    for port, name in zip(compiled.outputs, ours, strict=True):
        np.testing.assert_allclose(ours[name], theirs[port], 1e-4, 1e-5, err_msg=name)
    return ours


class Case(NamedTuple):
    name: str
    build: Callable[[Any], Any]
    """Of an output, and of a NumPy array where `expected` does not say otherwise."""
    expected: Callable[[np.ndarray], Any] | None = None


def _softmax(array: np.ndarray) -> np.ndarray:
    powers = np.exp(array - array.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


EXPRESSIONS = [
    Case("add", lambda x: x + 1),
    Case("add from the left", lambda x: 1.5 + x),
    Case("subtract from the left", lambda x: 2 - x),
    Case("multiply by an array on the left", lambda x: np.arange(12, dtype="f4") * x),
    Case("divide", lambda x: x / 4),
    Case("remainder", lambda x: x % 3),
    Case("power", lambda x: (x / 100) ** 2),
    Case("matmul", lambda x: x @ np.ones((12, 3), "f4")),
    Case("matmul from the left", lambda x: np.ones((3, 7), "f4") @ x),
    Case("negative and absolute", lambda x: abs(-x)),
    Case("last element", lambda x: x[..., 0]),
    Case("one of an axis", lambda x: x[1]),
    Case("slices", lambda x: x[:, 1:3, ::2]),
    Case("backwards", lambda x: x[:, ::-2, 1]),
    Case("backwards from", lambda x: x[:, 5:1:-1]),
    Case("from the end", lambda x: x[1:, ..., -3:-1]),
    Case("new axes", lambda x: x[0, None, -1, ..., None]),
    Case("new axis behind an ellipsis", lambda x: x[..., None, :, 2:4]),
    Case("numbers around an ellipsis", lambda x: x[1, ..., 2]),
    Case("numbers behind an ellipsis", lambda x: x[..., 1, None, 2]),
    Case("a list", lambda x: x[:, [0, 2, 2]]),
    Case("a list and a number", lambda x: x[:, [0, 2], 3]),
    Case("all", lambda x: x[...] + 0),
]

FUNCTIONS = [
    Case("mean", lambda x: op.reduce_mean(x, -1), lambda a: a.mean(-1)),
    Case(
        "by keyword",
        lambda x: op.reduce_max(data=x, axes=[1], keep_dims=True),
        lambda a: a.max(1, keepdims=True),
    ),
    Case(
        "a shape with an output in it",
        lambda x: op.reshape(x, [op.shape_of(x)[0], -1], special_zero=False),
        lambda a: a.reshape(2, -1),
    ),
    Case("a slice up to an output", lambda x: x[:, : op.shape_of(x)[1] - 2], lambda a: a[:, :5]),
    Case("an index that is an output", lambda x: x[:, op.shape_of(x)[0]], lambda a: a[:, 2]),
    Case(
        "a list of inputs", lambda x: op.concat([x, x], axis=1), lambda a: np.concatenate([a, a], 1)
    ),
    Case(
        "numbers beside a type",
        lambda x: op.select(op.less(x, 3.0), x, 0),
        lambda a: np.where(a < 3, a, 0),
    ),
    Case(
        "logic",
        lambda x: op.convert(~op.less(x, 3) & op.greater(x, 1), destination_type="f32"),
        lambda a: (~(a < 3) & (a > 1)).astype("f4"),
    ),
    Case(
        "several outputs",
        lambda x: op.topk(x, 2, axis=-1, mode="max", sort="value")[0],
        lambda a: np.sort(a)[..., :-3:-1],
    ),
    Case("an older version", lambda x: op.softmax(x, axis=1, opset=1), _softmax),
]


@pytest.mark.parametrize("case", [*EXPRESSIONS, *FUNCTIONS], ids=lambda case: case.name)
@pytest.mark.parametrize("shape", ["[?,7,12]", "[2,?,?]"])
def test_an_expression_is_what_numpy_computes(case: Case, shape: str, tmp_path: Path) -> None:
    graph = Graph(name="expression")
    x = graph.parameter("f32", shape, name="x")
    graph.result(case.build(x), "y")
    expected = (case.expected or case.build)(DATA)
    actual = outputs_of(graph, {"x": DATA}, tmp_path)["y"]
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, 1e-4, 1e-5)
    check(graph)


def test_outputs_are_compared_by_identity_and_not_iterated() -> None:
    x = Graph(name="one").parameter("f32", "[3]")
    same = x
    assert same == x
    assert x + 0 != x
    assert len({x, x}) == 1
    with pytest.raises(TypeError):
        list(x)


@pytest.mark.parametrize(
    ("attempt", "error", "message"),
    [
        (lambda x: op.reduce_mean(x, 7), GraphError, "axis 7 is out of range"),
        (lambda x: op.relu(3), GraphError, "an output of a graph"),
        (lambda x: op.reduce_meen(x, 0), AttributeError, "reduce_mean"),
        (lambda x: op.reduce_mean(x, 1, keepdims=True), GraphError, "keep_dims"),
        (lambda x: x[0, 0, 0, 0], GraphError, "has 3 axes"),
        (lambda x: x[..., ...], GraphError, "one ellipsis"),
        (lambda x: x[True], TypeError, "truth value"),
        (lambda x: x[0.5], TypeError, "indexed by float64"),
        (lambda x: x @ np.ones((5, 5), "f4"), GraphError, "MatMul"),
        (lambda x: op.convert(x, destination_type="f23"), GraphError, "destination_type"),
    ],
)
def test_an_error_says_what_is_wrong(
    attempt: Callable[[Output], object], error: type[Exception], message: str
) -> None:
    graph = Graph(name="wrong")
    x = graph.parameter("f32", "[2,7,12]", name="x")
    with pytest.raises(error, match=message):
        attempt(x)
    assert len(graph) == 1


def test_an_error_names_the_lines_of_the_program() -> None:
    graph = Graph(name="lines")
    x = graph.parameter("f32", "[2,3]", name="x")
    here = inspect.currentframe()
    assert here is not None
    added = here.f_lineno + 1
    product = op.matmul(x, np.ones((3, 4), np.float32))
    assert product.layer.place is not None
    assert (product.layer.place.path, product.layer.place.line) == (__file__, added)
    with pytest.raises(GraphError) as caught:
        graph.reshape({"x": [2, 5]})
    assert f"line {added} of test_building.py" in str(caught.value)
    assert caught.value.place is not None
    assert caught.value.place.line == added + 4
    assert caught.value.__notes__ == [f"requested in line {added + 4} of test_building.py"]


def test_every_operation_has_a_function() -> None:
    types = types_by_name()
    assert len(types) == len(registry.type_names()) - 3
    for name, kind in types.items():
        function = getattr(op, name)
        assert function.__name__ == name == function_name(kind)
        assert "Specification:" in function.__doc__
        parameters = inspect.signature(function).parameters
        newest = registry.versions(kind)[-1]
        assert {operand.name for operand in newest.operands} <= set(parameters)
        assert set(newest.attributes) - {"axes"} <= set(parameters)
    assert set(types) <= set(dir(op))
    assert op.MatMul.__name__ == op.mat_mul.__name__ == "matmul"


ARRAYS = [
    ("f64", [1.5, -2]), ("f32", [1.5, -2]), ("f16", [1.5, -2]), ("bf16", [1.5, -2]),
    ("f8e4m3", [1.5, -2]), ("f8e5m2", [1.5, -2]), ("f8e8m0", [0.5, 4]), ("f4e2m1", [1.5, -2, 6]),
    ("nf4", [1.0, -1.0, 0.0]), ("i64", [-(2**62), 5]), ("i32", [-5, 5]), ("i16", [-5, 5]),
    ("i8", [-128, 127]), ("i4", [-8, 7, 1]), ("u64", [2**62, 5]), ("u32", [0, 5]),
    ("u16", [0, 5]), ("u8", [0, 255]), ("u6", [0, 63, 1]), ("u4", [0, 15, 1]), ("u3", [0, 7, 1]),
    ("u2", [0, 3, 1]), ("u1", [0, 1, 1]), ("boolean", [True, False]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), ARRAYS, ids=[kind for kind, _ in ARRAYS])
def test_constants_of_every_type_are_what_openvino_reads(
    kind: str, values: list[Any], tmp_path: Path
) -> None:
    graph = Graph(name=kind)
    graph.result(graph.constant(values, kind, name="c"), "y")
    assert str(graph.outputs[0]) == f"y: {kind}[{len(values)}]"
    graph.save(tmp_path / "c.xml")
    read = ov.Core().read_model(tmp_path / "c.xml")
    constant = read.get_results()[0].input_value(0).get_node()
    data = constant.data if kind == "boolean" else constant.get_data(dtype=np.float64)
    assert np.asarray(data).ravel().tolist() == values


@pytest.mark.parametrize(
    ("value", "kind"),
    [(16, "u4"), (-1, "u4"), (8, "i4"), (1.5, "i8"), (300, "u8"), (2, "boolean"), (np.nan, "i32"),
     ("text", "i64"), (1j, None)],
)  # fmt: skip
def test_a_constant_that_does_not_fit_is_refused(value: Any, kind: str | None) -> None:
    graph = Graph(name="refused")
    with pytest.raises(GraphError):
        graph.constant(value, kind)
    assert len(graph.bytes) == 0


def test_an_array_keeps_its_type() -> None:
    graph = Graph(name="kept")
    packed = graph.constant(np.array([1, 2, 3], ml_dtypes.uint4))
    assert described(packed) == "u4 [3]"
    assert described(graph.constant(packed.layer.value)) == "u4 [3]"
    assert described(graph.constant(graph.constant([0.3], "nf4").layer.value)) == "nf4 [1]"


def test_if_from_functions(tmp_path: Path) -> None:
    graph = Graph(name="if")
    x = graph.parameter("f32", "[?,3]", name="x")
    limit = graph.parameter("f32", "[]", name="limit")
    chosen = op.if_(
        op.greater(op.reduce_sum(x, [0, 1]), limit),
        x,
        then_body=lambda value: value * limit,  # taken from around the body
        else_body=lambda value: value - 1.0,
    )
    graph.result(chosen, "y")
    data = np.ones((2, 3), np.float32)
    for limit_value, expected in ((2.0, data * 2), (9.0, data - 1)):
        inputs = {"x": data, "limit": np.float32(limit_value)}
        np.testing.assert_allclose(outputs_of(graph, inputs, tmp_path)["y"], expected)
    check(graph)


def test_loop_from_a_function(tmp_path: Path) -> None:
    graph = Graph(name="loop")
    x = graph.parameter("f32", "[?,?,4]", name="x")
    weights = graph.constant(np.full((4, 4), 0.25, np.float32))

    def step(state, part, number):
        state = (state + part[:, 0]) @ weights
        scaled = state * op.convert(number, destination_type="f32")
        return state, op.stacked(scaled[:, None], axis=1), op.repeat_while(op.less(number, 2))

    start = op.broadcast(0.0, [op.shape_of(x)[0], 4])
    final, all_steps = op.loop(
        -1, True, op.carried(start), op.sliced(x, axis=1), op.iteration(), body=step
    )
    graph.result(final, "final")
    graph.result(all_steps, "steps")
    data = np.random.default_rng(0).standard_normal((2, 5, 4)).astype(np.float32)
    state, steps = np.zeros((2, 4), np.float32), []
    for number in range(3):
        state = (state + data[:, number]) @ np.full((4, 4), 0.25, np.float32)
        steps.append(state * number)
    actual = outputs_of(graph, {"x": data}, tmp_path)
    np.testing.assert_allclose(actual["final"], state, 1e-4, 1e-5)
    np.testing.assert_allclose(actual["steps"], np.stack(steps, 1), 1e-4, 1e-5)
    body = graph.layers[-3].bodies["body"]
    assert [layer.name for layer in body.parameters[:3]] == ["state", "part", "number"]
    check(graph)


def test_tensor_iterator_from_a_function(tmp_path: Path) -> None:
    graph = Graph(name="iterator")
    x = graph.parameter("f32", "[2,6,4]", name="x")

    def step(part, total):
        total = total + part
        return total, op.stacked(total, axis=1)

    total, sums = op.tensor_iterator(
        op.sliced(x, axis=1), op.carried(np.zeros((2, 1, 4), np.float32)), body=step
    )
    graph.result(total, "total")
    graph.result(sums, "sums")
    data = np.random.default_rng(0).standard_normal((2, 6, 4)).astype(np.float32)
    actual = outputs_of(graph, {"x": data}, tmp_path)
    np.testing.assert_allclose(actual["total"], data.sum(1, keepdims=True), 1e-4, 1e-5)
    np.testing.assert_allclose(actual["sums"], data.cumsum(1), 1e-4, 1e-5)
    check(graph)


def test_bodies_in_bodies(tmp_path: Path) -> None:
    graph = Graph(name="nested")
    x = graph.parameter("f32", "[3]", name="x")
    bound = graph.parameter("f32", "[]", name="bound")

    def step(value, number):
        large = op.greater(op.reduce_sum(value, [0]), bound)
        return op.if_(
            large,
            value,
            then_body=lambda v: v / 2,
            else_body=lambda v: v + x * op.convert(number, destination_type="f32"),
        )

    graph.result(op.loop(4, True, op.carried(x), op.iteration(), body=step), "y")
    data = np.float32([1, 2, 3])
    value = data
    for number in range(4):
        value = value / 2 if value.sum() > 10 else value + data * number
    inputs = {"x": data, "bound": np.float32(10)}
    np.testing.assert_allclose(outputs_of(graph, inputs, tmp_path)["y"], value, 1e-5)
    check(graph)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x: op.loop(3, True, op.carried(x), body=op.stacked), "gets a stacked value"),
        (lambda x: op.loop(3, True, op.carried(x), body=lambda v: ()), "0 values for 1 states"),
        (lambda x: op.loop(3, True, x), "`body` is missing"),
        (lambda x: op.loop(x, body=lambda v: v), "trip_count"),
        (lambda x: op.loop(3, True, op.sliced(x, axis=9), body=lambda v: v), "axis 9"),
        (lambda x: op.loop(3, True, op.carried(x), body=lambda v: v @ v), "MatMul"),
        (lambda x: op.if_(True, x, then_body=lambda v: v, else_body=lambda v: (v, v)), "different"),
        (lambda x: op.if_(x, x, then_body=lambda v: v, else_body=lambda v: v), "If"),
    ],
)
def test_a_body_that_does_not_fit_leaves_the_graph_as_it_was(
    attempt: Callable[[Output], object], message: str
) -> None:
    graph = Graph(name="bodies")
    x = graph.parameter("f32", "[2,3]", name="x")
    with pytest.raises(GraphError, match=message):
        attempt(x)
    assert (len(graph), len(graph.bytes), x.users) == (1, 0, ())


def test_the_stub_is_current() -> None:
    assert stub() == STUB.read_text(), "run: python -m tests.graph.make_stub"


PROGRAM = """
from irshape import Graph, Output, op

graph = Graph(name="typed")
x: Output = graph.parameter("f32", "[?,3]", name="x")
mean: Output = op.reduce_mean(x, -1, keep_dims=True)
values, indices = op.topk(x - mean, 2, axis=-1, mode="max", sort="value")
graph.result(values[..., 0] * 2.0, "y")
graph.op.constant([1, 2, 3], "u4")
"""

MISTAKES = [
    ('op.reduce_mean(x, -1, keepdims=True)', 'Unexpected keyword argument "keepdims"'),
    ('op.topk(x, 2, axis=-1, mode="largest", sort="value")', "No overload variant"),
    ('op.convert(x, destination_type="float32")', "Literal['float32']"),
    ('op.reduce_meen(x)', 'has no attribute "reduce_meen"'),
    ('one, two = op.relu(x), op.relu()', 'argument "data"'),
]  # fmt: skip


def test_type_checkers_know_every_operation(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    wrong = "\n".join(code for code, _ in MISTAKES)
    program.write_text(PROGRAM + wrong)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(program)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    first = PROGRAM.count("\n") + 1
    lines = answer.stdout.splitlines()
    told = [line for line in lines if ": error:" in line and "program.py:" in line]
    for number, (code, message) in enumerate(MISTAKES, first):
        lines = [line for line in told if f"program.py:{number}:" in line]
        assert any(message in line for line in lines), (code, answer.stdout)
    correct = [line for line in told if int(line.split("program.py:")[1].split(":")[0]) < first]
    assert not correct, answer.stdout


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "cannot hold None"),
        (object, "cannot hold <class 'object'>"),
        ([1, "a"], "cannot hold 1: "),
        (2**70, "64 bits"),
        ([[1], [2, 3]], "rows of different lengths"),
        (np.ma.array([1, 2], mask=[0, 1]), "masked"),
        (1 + 2j, "no element type for complex128"),
    ],
)
def test_what_is_no_constant(value: object, message: str) -> None:
    graph = Graph(name="one")
    with pytest.raises(GraphError, match=message):
        graph.constant(value)
    assert len(graph) == 0


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1e9, "f16"), (70000, "f16"), (1e300, None), (1e5, "f8e5m2"), (500, "f8e4m3"), (7, "f4e2m1"),
     (1.5, "nf4"), (-1e39, "bf16"), (np.nan, "nf4"), (np.inf, "f4e2m1"), (np.inf, "f8e4m3"),
     (-1, "f8e8m0"), (1j, "f32")],
)  # fmt: skip
def test_a_constant_that_overflows_is_refused(value: float, kind: str | None) -> None:
    graph = Graph()
    with pytest.raises(GraphError):
        graph.constant([0.5, value], kind)
    assert graph.constant([np.inf, 1.0], kind if kind in ("f16", "bf16") else "f32") is not None


@pytest.mark.parametrize("name", [3, "", "a\x00b", "a\nb", "\ud800", None], ids=repr)
def test_a_name_is_plain_text(name: Any) -> None:
    graph = Graph(name="names")
    x = graph.parameter("f32", "[2]", name="x")
    layer = graph.result(op.relu(x), "y")
    changes: list[Callable[[], Any]] = [
        lambda: setattr(layer, "name", name),
        lambda: setattr(x, "names", [name]),
        lambda: setattr(layer, "output_names", [name]),
        lambda: setattr(graph, "name", name),
        lambda: graph.rename({"x": name}),
    ]
    if name is not None:
        changes += [
            lambda: graph.add("Relu", x, name=name),
            lambda: graph.parameter("f32", [2], name=name),
            lambda: graph.result(x, name),
            lambda: graph.add("ReadValue", variable_id=name, variable_type="f32",
                              variable_shape="2") if name and name != 3 else 1 / 0,
        ]  # fmt: skip
    for change in changes:
        with pytest.raises((GraphError, ZeroDivisionError)):
            change()
    x.names = "one name"
    assert x.names == ("one name",)
    check(graph)


def test_an_output_has_no_truth_value_and_shows_its_name() -> None:
    graph = Graph()
    x = graph.parameter("f32", [2], name="x")
    with pytest.raises(TypeError):
        bool(x)
    assert "x" in str(x)
    assert isinstance(x.layer.users, tuple)
