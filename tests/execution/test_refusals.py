"""What a model cannot be run with is refused by an `ExecutionError` that says what does not fit."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino
import openvino.opset13 as opset
import pytest
from ir import Net

import irshape
from irshape.execution.inputs import random_inputs

EXAMPLES = Path(__file__).parents[2] / "examples"
DECODER = EXAMPLES / "decoder.xml"
CACHE = "block1/attention/cache.key"


def prompt(batch: int, length: int, masked: int) -> dict[str, Any]:
    return {
        "input_ids": np.ones((batch, length), np.int64),
        "attention_mask": np.ones((batch, masked), np.int64),
        "beam_idx": np.arange(batch, dtype=np.int32),
    }


class Call(NamedTuple):
    """A call of a decoder whose variables hold 3 positions, and what its refusal says."""

    inputs: object
    says: tuple[str, ...]
    state: dict[str, object] | None = None


CALLS = {
    "a mask without the positions in the cache": Call(
        prompt(2, 3, 3), ("attention_mask` has shape [2,1,3,3]", "3,6", f"'{CACHE}'=[2, 2, 3, 8]")
    ),
    "another batch than the cache": Call(
        {**prompt(4, 1, 4), "beam_idx": np.arange(2, dtype=np.int32)},
        ("Concat", "input_ids=[4, 1]", f"'{CACHE}'=[2, 2, 3, 8]"),
    ),
    "a variable of another rank": Call(
        prompt(2, 1, 4),
        (f"'{CACHE}' is f32[?,2,?,8]", "f32[2, 8]"),
        {CACHE: np.zeros((2, 8), np.float32)},
    ),
    "a variable of another type": Call(
        prompt(2, 1, 4),
        (f"'{CACHE}' is f32[?,2,?,8]", "f64[2, 2, 3, 8]"),
        {CACHE: np.zeros((2, 2, 3, 8))},
    ),
    "a variable of other sizes": Call(
        prompt(2, 1, 4),
        (f"'{CACHE}'=[2, 2, 5, 8]", "attention_mask=[2, 4]"),
        {CACHE: np.zeros((2, 2, 5, 8), np.float32)},
    ),
    "a variable that is no array": Call(prompt(2, 1, 4), (f"'{CACHE}' is a list",), {CACHE: [1.0]}),
    "one array in place of several": Call(np.ones((3, 2, 1), np.int64), ("a list of arrays",)),
    "rows of several lengths": Call(
        {**prompt(2, 1, 4), "input_ids": [[1, 2], [3]]}, ("Parameter 'input_ids'", "not an array")
    ),
    "a type that OpenVINO does not have": Call(
        {**prompt(2, 1, 4), "input_ids": np.ones((2, 1), np.complex64)},
        ("Parameter 'input_ids'", "complex64"),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_refusal_says_what_does_not_fit(name: str) -> None:
    call = CALLS[name]
    session = irshape.Session(irshape.load(DECODER))
    session.run(prompt(2, 3, 3))
    session.state.update(call.state or {})  # type: ignore[arg-type]
    before = dict(session.state)
    with pytest.raises(irshape.ExecutionError) as refusal:
        session.run(call.inputs)  # type: ignore[arg-type]
    assert all(part in str(refusal.value) for part in call.says), str(refusal.value)
    assert session.state == before  # by identity: the variables are as they were
    if call.state is None:
        session.run(prompt(2, 1, 4))


# whatever is given, nothing else is raised


@pytest.mark.parametrize(
    ("shape", "size", "refused"),
    [
        ("2,?,2", 2, True),
        ("?,?,?", 2, True),
        ("2,?,?", 2, True),
        ("2,?,2", 1, False),
        ("2,2,2", 2, False),
    ],
)
def test_a_squeeze_that_keeps_an_axis_it_is_inferred_to_drop_is_refused(
    tmp_path: Path, shape: str, size: int, refused: bool
) -> None:
    x = opset.parameter(openvino.PartialShape(f"[{shape}]"), np.float32, name="x")
    squeeze = opset.squeeze(x, opset.constant(np.array([1])), name="squeeze")
    path = saved(tmp_path, openvino.Model([opset.result(opset.relu(squeeze))], [x]))
    given = np.ones((2, size, 2), np.float32)
    compiled = openvino.compile_model(path, "CPU")
    if not refused:
        (result,) = irshape.run(path, [given]).values()
        assert result.shape == compiled(given)[0].shape
        return
    with pytest.raises(irshape.ExecutionError, match="'squeeze'"):
        irshape.run(path, [given])
    if shape == "2,?,?":  # known difference: squeeze-keeps-an-axis
        assert compiled(given)[0].shape == (2, 4)
    else:
        with pytest.raises(RuntimeError):
            compiled(given)


@pytest.mark.parametrize("condition", ["constant", "of the size", "input"])
@pytest.mark.parametrize("size", [4, 6])
def test_what_a_branch_refuses_that_does_not_run_is_no_refusal(
    tmp_path: Path, condition: str, size: int
) -> None:
    x = opset.parameter(openvino.PartialShape("[?]"), np.float32, name="x")
    parameters, given = [x], [np.arange(size, dtype=np.float32)]
    chosen = size == 6
    if condition == "constant":
        asked = opset.constant(np.array(chosen))
    elif condition == "input":
        asked = opset.parameter(openvino.PartialShape("[]"), np.bool_)
        parameters, given = [x, asked], [*given, np.array(chosen)]
    else:
        zero = opset.constant(np.int64(0))
        length = opset.gather(opset.shape_of(x), zero, zero)
        asked = opset.greater(length, opset.constant(np.int64(5)))
    inner = [opset.parameter(openvino.PartialShape("[?]"), np.float32) for _ in range(2)]
    six = opset.constant(np.ones((2, 3), np.float32))
    folded = opset.reshape(inner[0], opset.constant(np.array([2, 3])), special_zero=False)
    flat = opset.reshape(opset.add(folded, six), opset.constant(np.array([-1])), special_zero=False)
    bodies = [
        openvino.Model([opset.result(output)], [parameter])
        for output, parameter in zip((flat, opset.add(inner[1], inner[1])), inner, strict=True)
    ]
    node = opset.if_op(asked.output(0))
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    node.set_input(x.output(0), *inner)
    output = node.set_output(bodies[0].results[0], bodies[1].results[0])
    path = saved(tmp_path, openvino.Model([opset.result(output)], parameters))
    (result,) = irshape.run(path, given).values()
    np.testing.assert_array_equal(result, given[0] + 1 if chosen else 2 * given[0])


def saved(folder: Path, model: openvino.Model) -> Path:
    path = folder / "model.xml"
    openvino.serialize(model, str(path))
    return path


def _reshaped(chance: random.Random, array: Any) -> Any:
    sizes = list(array.shape)
    change = chance.randrange(5)
    if change == 0:
        sizes.append(chance.randint(0, 3))
    elif change == 1 and sizes:
        sizes.pop(chance.randrange(len(sizes)))
    elif sizes:
        sizes[chance.randrange(len(sizes))] = chance.randint(0, 9)
    return np.ones(sizes, array.dtype) if array.dtype.kind != "O" else array


def _retyped(chance: random.Random, array: Any) -> Any:
    types = (np.float32, np.float64, np.int64, np.int8, np.bool_, np.complex64, np.str_, object)
    return np.ones(array.shape).astype(chance.choice(types))


def _revalued(chance: random.Random, array: Any) -> Any:
    if array.dtype.kind not in "iuf":
        return array
    values = (-(2**31), -7, -1, 0, 1, 3, 1000, 2**31 - 1)
    return np.full(array.shape, chance.choice(values)).astype(array.dtype)


def _other(chance: random.Random, array: Any) -> Any:
    return chance.choice((None, "text", [[1], [2, 3]], {}, object(), 1))


CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (_reshaped, _retyped, _revalued, _other)
VALUES = ("", "0", "-1", "1", "3", "100", "2,2", "-1,0", "0,0,0,0", "true", "false", "same_upper")
SHAPES = {"decoder": {"input_ids": "[2,3]", "attention_mask": "[2,3]", "beam_idx": "[2]"}}


def _mutated(chance: random.Random, model: irshape.Model) -> None:
    """Other values of attributes of one or two layers that are no constants."""
    layers = [layer for layer in model.walk() if layer.items and not layer.is_constant]
    for layer in chance.sample(layers, min(len(layers), chance.randint(1, 2))):
        name = chance.choice(list(layer.attributes))
        layer.attributes = {**layer.attributes, name: chance.choice(VALUES)}


def test_means_of_an_input_are_not_left_out(tmp_path: Path) -> None:
    """OpenVINO subtracts them, with no layer that says so."""
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("1,2", name="x")], outputs=["FP32:1,2"]))
    path = net.save(tmp_path)
    x = np.ones((1, 2), np.float32)
    assert irshape.run(path, {"x": x})
    mean = "".join(f'<channel id="{id}"><mean value="0.5"/></channel>' for id in range(2))
    means = f'<pre-process reference-layer-name="x">{mean}</pre-process>'
    path.write_text(path.read_text().replace("<layers>", f"{means}<layers>"))
    (subtract,) = [
        op for op in openvino.Core().read_model(path).get_ops() if op.get_type_name() == "Subtract"
    ]
    assert subtract.input_value(0).get_node().get_friendly_name() == "x"
    with pytest.raises(irshape.ExecutionError, match="subtracts the means in <pre-process>"):
        irshape.run(path, {"x": x})


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.xml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("force", [False, True], ids=["checked", "forced"])
def test_nothing_but_an_execution_error_is_raised(path: Path, force: bool) -> None:
    chance = random.Random(f"{path.stem} {force}")
    model = irshape.load(path)
    right = random_inputs(model, 0, SHAPES.get(path.stem))
    attributes = {layer: layer.attributes for layer in model.walk()}
    session = irshape.Session(model, force=force, max_memory=1 << 28, max_iterations=100)
    refused = 0
    for _ in range(30):
        inputs: dict[str, Any] = dict(right)
        if inputs and chance.random() < 0.7:
            name = chance.choice(list(inputs))
            inputs[name] = chance.choice(CHANGES)(chance, inputs[name])
        if session.state and chance.random() < 0.5:
            variable = chance.choice(list(session.state))
            session.state[variable] = chance.choice(CHANGES)(chance, session.state[variable])
        if chance.random() < 0.3:
            _mutated(chance, model)
        try:
            session.run(inputs)
        except irshape.ExecutionError:
            refused += 1
            session.reset()
            for layer, kept in attributes.items():
                layer.attributes = kept
    assert refused
