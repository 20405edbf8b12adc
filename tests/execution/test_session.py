"""A session keeps a model's states: a decoder generates what OpenVINO's infer request does."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir import Net

import irshape

DECODER = Path(__file__).resolve().parents[2] / "examples" / "decoder.xml"
PROMPTS = [[5, 17, 42, 3], [1]]


def fed(tokens: list[int], length: int) -> dict[str, np.ndarray]:
    """The inputs of a step: the tokens that are new, of so many in all."""
    return {
        "input_ids": np.array([tokens], np.int64),
        "attention_mask": np.ones((1, length), np.int64),
        "beam_idx": np.zeros(1, np.int32),
    }


def generated(
    step: Callable[[dict[str, np.ndarray]], np.ndarray], prompt: list[int], count: int
) -> list[int]:
    """Greedy decoding: the prompt at once, then a token at a time."""
    tokens, given = list(prompt), list(prompt)
    for _ in range(count):
        logits = step(fed(given, len(tokens)))
        given = [int(np.argmax(logits[0, -1]))]
        tokens += given
    return tokens[len(prompt) :]


def of_openvino() -> tuple[Callable[[dict[str, np.ndarray]], np.ndarray], Callable[[], None]]:
    import openvino as ov

    exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    exact["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = "0"
    request = ov.Core().compile_model(DECODER, "CPU", exact).create_infer_request()
    names = {port.get_any_name() for port in request.model_inputs}

    def step(inputs: dict[str, np.ndarray]) -> Any:
        for name in names & inputs.keys():
            inputs[name] = inputs[name].astype(request.get_tensor(name).data.dtype)
        request.infer({name: inputs[name] for name in names & inputs.keys()})
        return request.get_output_tensor(0).data.copy()

    return step, request.reset_state


def of_irshape(session: irshape.Session) -> Callable[[dict[str, np.ndarray]], np.ndarray]:
    types = {layer.name: layer.attribute("element_type") for layer in session.model.parameters}
    kinds = {"i64": np.int64, "i32": np.int32}

    def step(inputs: dict[str, np.ndarray]) -> np.ndarray:
        given = types.keys() & inputs.keys()
        made = session.run(
            {name: inputs[name].astype(kinds[types[name] or "i64"]) for name in given}
        )
        return next(iter(made.values()))

    return step


def test_twenty_tokens_are_those_of_openvino_after_a_reset_too() -> None:
    theirs, reset = of_openvino()
    session = irshape.Session(irshape.load(DECODER))
    ours = of_irshape(session)
    for prompt in PROMPTS:
        session.reset()
        reset()
        expected = generated(theirs, prompt, 20)
        assert len(expected) == 20
        assert generated(ours, prompt, 20) == expected
    session.reset()
    assert not session.state
    assert generated(ours, PROMPTS[0], 20) == generated(
        of_irshape(irshape.Session(session.model)), PROMPTS[0], 20
    )


def test_the_state_is_what_makes_the_next_token() -> None:
    session = irshape.Session(irshape.load(DECODER))
    step = of_irshape(session)
    logits = [step(fed([token], at + 1))[0, -1] for at, token in enumerate(PROMPTS[0])]
    session.reset()
    whole = step(fed(PROMPTS[0], len(PROMPTS[0])))
    np.testing.assert_allclose(logits, whole[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("assigned_first", [True, False])
def test_a_variable_is_read_before_it_is_assigned(assigned_first: bool) -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[2]", name="x")

    def assign() -> None:
        graph.add_layer("Assign", x * np.float32(2), variable_id="s")

    zeros = np.zeros(2, np.float32)
    kinds = {"variable_type": "f32", "variable_shape": "[2]"}
    with graph.batch():
        if assigned_first:
            assign()
        graph.result(graph.add("ReadValue", zeros, variable_id="s", **kinds), "before")
        if not assigned_first:
            assign()
    session = irshape.Session(graph.model())
    given = [np.full(2, number, np.float32) for number in (1, 2, 3)]
    before = [session.run({"x": each})["before"][0] for each in given]
    assert before == [0, 2, 4]  # as OpenVINO computes, whatever the order in the file


def test_a_kept_tensor_is_not_written_over() -> None:
    session = irshape.Session(irshape.load(DECODER))
    step = of_irshape(session)
    first = step(fed([5, 6], 2))
    copy = first.copy()
    step(fed([7], 3))
    np.testing.assert_array_equal(first, copy)


def peak_of_a_run(layers: list[str], folder: Path) -> int:
    """Bytes that a second run takes at most, through a chain of layers whose tensors are 1 MiB."""
    net = Net()
    x = net.parameter("256,1024", name="x")
    for type in layers:
        x = net.layer(type, [x])
    net.result(x)
    session = irshape.Session(net.load(folder))
    fed = [np.zeros((256, 1024), np.float32)]
    session.run(fed)
    tracemalloc.start()
    session.run(fed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_the_tensors_of_a_run_do_not_pile_up(tmp_path: Path) -> None:
    """Never more than a few are alive, even of layers that cannot write over their input."""
    assert peak_of_a_run(["Sin", "Erf"] * 25, tmp_path) < 4 * (1 << 20)


@pytest.mark.parametrize("opset", [8, 14])
def test_an_output_that_nobody_takes_changes_nothing_of_the_other(
    tmp_path: Path, opset: int
) -> None:
    rows = "nan 5 1 nan, 2 nan -inf -inf, nan nan 3 -inf, nan nan -1 nan"
    data = np.array([row.split() for row in rows.split(", ")], np.float32).reshape(1, 1, 4, 4)
    for both in (False, True):
        net = Net()
        attributes = "strides=2,2 dilations=1,1 pads_begin=0,0 pads_end=0,0 kernel=2,2 axis=0"
        text = f"MaxPool-{opset}({attributes} index_element_type=i64 f32[1,1,4,4])"
        pool = net.add(text, outputs=["FP32", "I64"])
        for output in (pool, f"{pool}:1")[: 1 + both]:
            net.result(output)
        made = list(irshape.Session(net.load(tmp_path)).run([data]).values())
        assert len(made) == 1 + both
        np.testing.assert_array_equal(made[0], [[[[5, 1], [np.finfo(np.float32).min, 3]]]])
