"""A session keeps the states of a model: a decoder generates what OpenVINO's infer request generates, token after token."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ir import Net

import irshape

DECODER = Path(__file__).resolve().parents[2] / "examples" / "decoder.xml"
PROMPTS = [[5, 17, 42, 3], [1]]


def generated(step: Callable[[dict[str, np.ndarray]], np.ndarray], prompt: list[int], count: int) -> list[int]:
    """Greedy decoding: the prompt at once, then a token at a time."""
    tokens, given = list(prompt), list(prompt)
    for _ in range(count):
        logits = step(
            {
                "input_ids": np.array([given], np.int64),
                "attention_mask": np.ones((1, len(tokens)), np.int64),
                "beam_idx": np.zeros(1, np.int32),
            }
        )
        given = [int(np.argmax(logits[0, -1]))]
        tokens += given
    return tokens[len(prompt) :]


def of_openvino() -> tuple[Callable[[dict[str, np.ndarray]], np.ndarray], Callable[[], None]]:
    import openvino as ov

    core = ov.Core()
    request = core.compile_model(
        core.read_model(DECODER), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    ).create_infer_request()
    names = {port.get_any_name() for port in request.model_inputs}

    def step(inputs: dict[str, np.ndarray]) -> Any:
        request.infer({name: array.astype(request.get_tensor(name).data.dtype) for name, array in inputs.items() if name in names})
        return request.get_output_tensor(0).data.copy()

    return step, request.reset_state


def of_irshape(session: irshape.Session) -> Callable[[dict[str, np.ndarray]], np.ndarray]:
    types = {layer.name: layer.attribute("element_type") for layer in session.model.parameters}
    kinds = {"i64": np.int64, "i32": np.int32}

    def step(inputs: dict[str, np.ndarray]) -> np.ndarray:
        made = session.run({name: array.astype(kinds[types[name] or "i64"]) for name, array in inputs.items() if name in types})
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
    assert generated(ours, PROMPTS[0], 20) == generated(of_irshape(irshape.Session(session.model)), PROMPTS[0], 20)


def test_the_state_is_what_makes_the_next_token() -> None:
    session = irshape.Session(irshape.load(DECODER))
    step = of_irshape(session)
    logits = []
    for number, token in enumerate(PROMPTS[0]):
        made = step({"input_ids": np.array([[token]], np.int64), "attention_mask": np.ones((1, number + 1), np.int64), "beam_idx": np.zeros(1, np.int32)})
        logits.append(made[0, -1])
    session.reset()
    whole = step({"input_ids": np.array([PROMPTS[0]], np.int64), "attention_mask": np.ones((1, len(PROMPTS[0])), np.int64), "beam_idx": np.zeros(1, np.int32)})
    np.testing.assert_allclose(logits, whole[0], rtol=1e-4, atol=1e-5)


def test_a_kept_tensor_is_not_written_over() -> None:
    session = irshape.Session(irshape.load(DECODER))
    step = of_irshape(session)
    first = step({"input_ids": np.array([[5, 6]], np.int64), "attention_mask": np.ones((1, 2), np.int64), "beam_idx": np.zeros(1, np.int32)})
    copy = first.copy()
    step({"input_ids": np.array([[7]], np.int64), "attention_mask": np.ones((1, 3), np.int64), "beam_idx": np.zeros(1, np.int32)})
    np.testing.assert_array_equal(first, copy)


def test_the_tensors_of_a_run_do_not_pile_up(tmp_path: Path) -> None:
    """Many layers of one size: at no time are more than a few of their outputs alive."""
    net = Net()
    x = net.parameter("256,1024", name="x")
    for _ in range(50):
        x = net.layer("Sin", [x])
    net.result(x)
    session = irshape.Session(net.load(tmp_path))
    fed = [np.zeros((256, 1024), np.float32)]
    session.run(fed)
    tracemalloc.start()
    session.run(fed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * (1 << 20)
