"""Stateful surgery on a decoder with past key values, held against OpenVINO's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import openvino as ov
import pytest

import irshape
from irshape import Graph, GraphError, Output, op

from .stateful_decoder import compared
from .states import check, seen

HEADS, SIZE, WIDTH, WORDS = 2, 4, 8, 200


def linear(x: Output, rng: np.random.Generator, width: int) -> Output:
    weights = rng.standard_normal((WIDTH, width)).astype(np.float32) / np.sqrt(WIDTH)
    return op.matmul(x, weights)


def heads(x: Output) -> Output:
    split = op.reshape(x, [0, 0, HEADS, SIZE], special_zero=True)
    return op.transpose(split, [0, 2, 1, 3])


def attention(graph: Graph, x: Output, mask: Output, rng: np.random.Generator, at: int) -> Output:
    """Attention to the past and to the tokens at hand; the cache is an input and an output."""
    cache = {}
    for part in ("key", "value"):
        name = f"past_key_values.{at}.{part}"
        past = graph.parameter("f32", ["?", HEADS, "?", SIZE], name=name)
        cache[part] = op.concat([past, heads(linear(x, rng, WIDTH))], axis=2)
        graph.result(cache[part], f"present.{at}.{part}")
    query = heads(linear(x, rng, WIDTH))
    scores = op.matmul(query, cache["key"], transpose_b=True) / np.sqrt(SIZE) + mask
    mixed = op.transpose(op.softmax(scores, axis=-1) @ cache["value"], [0, 2, 1, 3])
    return linear(op.reshape(mixed, [0, 0, WIDTH], special_zero=True), rng, WIDTH)


def decoder(layers: int = 2) -> Graph:
    """A small decoder: embeddings of words and positions, causal attention, logits."""
    rng = np.random.default_rng(0)
    graph = Graph(name="decoder")
    ids = graph.parameter("i64", "[?,?]", name="input_ids")
    ones = graph.parameter("i64", "[?,?]", name="attention_mask")
    positions = graph.parameter("i64", "[?,?]", name="position_ids")
    words, places = (rng.standard_normal((n, WIDTH)).astype(np.float32) for n in (WORDS, 64))
    x = op.gather(words, ids, 0) + op.gather(places, positions, 0)
    keys = op.range(0, op.shape_of(ones)[1], 1, output_type="i64")
    later = op.greater(keys[None, None, None, :], positions[:, None, :, None])
    mask = op.select(later, np.float32(-1e9), np.float32(0))
    for at in range(layers):
        x = x + attention(graph, x, mask, rng, at)
    graph.result(x @ words.T, "logits")
    return graph


def test_a_stateful_decoder_gives_openvinos_own_results(tmp_path: Path) -> None:
    graph = decoder()
    assert irshape.validate(graph).ok
    graph.save(tmp_path / "decoder.xml")
    differences = compared(tmp_path / "decoder.xml")
    assert len(differences) == 12
    assert max(differences) < 1e-4


def test_there_and_back(tmp_path: Path) -> None:
    graph = decoder()
    states = [f"{layer}.{part}" for layer in (0, 1) for part in ("key", "value")]
    pairs = {f"past_key_values.{state}": f"present.{state}" for state in states}
    rng = np.random.default_rng(0)
    inputs = {
        "input_ids": rng.integers(0, WORDS, (2, 3)),
        "attention_mask": np.ones((2, 5), np.int64),
        "position_ids": np.tile(np.arange(2, 5), (2, 1)),
        **{name: rng.standard_normal((2, HEADS, 2, SIZE)).astype("f4") for name in pairs},
    }
    expected = irshape.run(graph, inputs)
    graph.make_stateful(pairs, beam_idx="beam_idx")
    check(graph)
    assert {layer.type for layer in graph} >= {"ReadValue", "Assign", "Gather"}
    back = graph.make_stateless()
    check(graph)
    assert set(back) == set(pairs)
    actual = irshape.run(graph, {**inputs, "beam_idx": np.arange(2, dtype=np.int32)})
    np.testing.assert_allclose(actual["logits"], expected["logits"], 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        ({"past_key_values.0.key": "present.0.value"}, {}, None),
        ({"past_key_values.0.key": "logits"}, {}, "variable"),
        ({"past_key_values.0.key": "past_key_values.0.key"}, {}, "not an output of the graph"),
        ({"input_ids": "present.0.key"}, {}, "Assign|variable"),
    ],
)
def test_a_pair_that_does_not_fit(
    pairs: dict[str, str], options: dict[str, str], message: str | None
) -> None:
    graph = decoder(1)
    before = seen(graph)
    if message is None:
        graph.make_stateful(pairs, **options)
        check(graph)
        return
    with pytest.raises(GraphError, match=message):
        graph.make_stateful(pairs, **options)
    assert seen(graph) == before


class Shared(NamedTuple):
    """Variables whose next values are tensors that the graph uses otherwise too.

    values: of the output y for x = 1, 2, 3. outputs: how many are left.
    """

    pairs: dict[str, str]
    values: list[float]
    outputs: int


SHARED = {
    "the next value is another variable": Shared({"p": "old q", "q": "2x"}, [1, 4, 9], 3),
    "the other one first": Shared({"q": "2x", "p": "old q"}, [1, 4, 9], 3),
    "both have the same next value": Shared({"p": "2x", "q": "2x"}, [1, 6, 11], 4),
    "the next value is an output twice": Shared({"p": "x+p"}, [1, 3, 6], 4),
}


def shared() -> Graph:
    """y = x + p + q, and what can be the next values of p and q."""
    graph = Graph(name="shared")
    x, p, q = (graph.parameter("f32", "[1]", name=name) for name in "xpq")
    graph.result(x + p + q, "y")
    for name, value in {"old q": q, "2x": x * 2.0, "x+p": x + p}.items():
        graph.result(value, name)
    graph.result(graph.tensor("x+p"), "again")
    return graph


@pytest.mark.parametrize("case", SHARED.values(), ids=SHARED)
def test_next_values_that_are_used_otherwise_too(case: Shared, tmp_path: Path) -> None:
    graph = shared()
    graph.make_stateful(case.pairs)
    for _ in range(2):
        check(graph)
        graph.save(tmp_path / "shared.xml")
        request = ov.Core().compile_model(tmp_path / "shared.xml", "CPU").create_infer_request()
        zero = {"q": np.zeros(1, "f4")} if "q" in graph and len(graph.parameters) > 1 else {}
        steps = [request.infer({"x": np.full(1, k, "f4"), **zero})["y"].item() for k in (1, 2, 3)]
        assert steps == case.values
        assert len(graph.outputs) == case.outputs
        graph.make_stateful(graph.make_stateless())


@pytest.mark.parametrize("parts", [2, 3, 4, 6])
def test_a_stateful_decoder_in_parts(parts: int) -> None:
    graph = decoder()
    pairs = {
        name: name.replace("past_key_values", "present")
        for layer in graph.parameters
        if (name := layer.name).startswith("past")
    }
    graph.make_stateful(pairs)
    whole = irshape.Session(graph.model())
    sessions = []
    split = graph.split(parts=parts)
    for part in split:
        reads, assigns = (
            [layer.attributes["variable_id"] for layer in part if layer.type == kind]
            for kind in ("ReadValue", "Assign")
        )
        assert sorted(reads) == sorted(assigns)
        assert all(output.users for output in part.inputs)
        sessions.append(irshape.Session(part.model()))
    for past in (0, 2):
        tensors = {
            "input_ids": np.array([[5, 6]]),
            "attention_mask": np.ones((1, past + 2), np.int64),
            "position_ids": np.array([[past, past + 1]]),
        }
        expected = whole.run(tensors)["logits"]
        for part, session in zip(split, sessions, strict=True):
            feed = {layer.name: tensors[layer.name] for layer in part.parameters}
            tensors.update(session.run(feed))
        np.testing.assert_allclose(tensors["logits"], expected, rtol=1e-4, atol=1e-5)


def test_a_cut_between_a_variable_and_its_next_value() -> None:
    graph = Graph()
    x = graph.parameter("f32", "[2]", name="x")
    state = graph.parameter("f32", "[2]", name="state")
    middle = graph.add("Relu", x + state, name="middle")
    graph.result(op.sigmoid(middle), "next")
    graph.make_stateful({"state": "next"})
    graph.result(middle * np.float32(2), "y")
    with pytest.raises(GraphError, match="'state' is read in part 1"):
        graph.split("middle")


@pytest.mark.parametrize(
    ("variable", "value"),
    [("other", "f32[2,3]"), ("v", "f16[2,3]"), ("v", "f32[2,4]"), ("v", "f32[2,3,1]")],
)
def test_an_assign_has_to_fit_its_read_value(variable: str, value: str) -> None:
    graph = Graph(name="variables")
    element_type, shape = value[:3], value[3:]
    new = graph.parameter(element_type, shape, name="x")
    read = graph.add("ReadValue", variable_id="v", variable_type="f32", variable_shape="2,3")
    graph.result(read, "y")
    before = seen(graph)
    with pytest.raises(GraphError):
        graph.add("Assign", new, variable_id=variable)
    assert seen(graph) == before
    fitting = graph.parameter("f32", "[?,3]", name="fits")
    assign = graph.add_layer("Assign", fitting, variable_id="v")
    changes: list[Callable[[], object]] = [
        lambda: read.layer.set(variable_shape="5,4"),
        lambda: read.layer.set(variable_id="w"),
        lambda: assign.set(variable_id="w"),
        lambda: graph.reshape({"fits": "[5,3]"}),
        lambda: graph.bind("fits", np.zeros((2, 5), "f4")),
    ]
    for change in changes:
        with pytest.raises(GraphError):
            change()
    with graph.batch():
        read.layer.set(variable_id="w")
        assign.set(variable_id="w")
    check(graph)
