"""Weights in f16: the layers, bytes and rt_info that OpenVINO's `save_model` writes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest

import irshape
from irshape import Graph, op

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

CONSTANTS = [
    ("a matrix", np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)),
    ("one exact number", np.float32(0.5)),
    ("one number that f16 lacks", np.float32(0.1)),
    ("one number within 0.01 %", np.float32(1 + 9.9e-5)),
    ("one number beyond 0.01 %", np.float32(1 + 1.01e-4)),
    ("numbers that f16 lacks", np.float32([0.1, 0.2, 0.3])),
    ("too large for f16", np.float32([1e6, 1e6, 1e6, 1])),
    ("half of them too large", np.float32([1e6, 1e6, 1, 1])),
    ("subnormal in f16", np.float32([1e-6, 1e-6, 1e-6, 1])),
    ("half of them subnormal in f16", np.float32([1e-6, 1e-6, 1, 1])),
    ("the largest of f16", np.float32([65504, -65504, 65504])),
    ("infinite", np.float32([np.inf, -np.inf, 1, 1, 1])),
    ("zeros", np.zeros(5, np.float32)),
    ("f64", np.float64([0.1, 0.2, 1e9])),
    ("i64", np.int64([1, 2])),
]


def described(graph: Graph) -> dict[Any, Any]:
    """The constants and conversions of a graph, by depth and name; OpenVINO numbers layers anew."""
    return {
        (layer.graph.depth, layer.name): (
            layer.type,
            str(layer.output),
            None if layer.value is None else layer.value.tobytes(),
            "decompression" in layer.rt_info,
        )
        for layer in graph.walk()
        if layer.type in ("Const", "Convert")
    }


def saved_by_openvino(path: Path, target: Path) -> Graph:
    ov.save_model(ov.Core().read_model(path), target, compress_to_fp16=True)
    return Graph.load(target)


@pytest.mark.parametrize(("case", "value"), CONSTANTS, ids=[case for case, _ in CONSTANTS])
def test_a_constant_is_compressed_as_save_model_does(case: str, value: Any, tmp_path: Path) -> None:
    graph = Graph(name=case)
    constant = graph.constant(value, name="weights")
    graph.result(graph.add("Broadcast", constant, np.int64([2, *value.shape])), "y")
    graph.save(tmp_path / "plain.xml")
    expected = described(saved_by_openvino(tmp_path / "plain.xml", tmp_path / "half.xml"))
    graph.compress_to_f16()
    actual = described(graph)
    assert {key: actual[key] for key in actual if key[1].startswith("weights")} == {
        key: expected[key] for key in expected if key[1].startswith("weights")
    }


@pytest.mark.parametrize(
    "model", ["encoder", "classifier", "recurrent", "control_flow", "decoder", "int8", "compressed"]
)
def test_a_model_is_compressed_as_save_model_does(model: str, tmp_path: Path) -> None:
    path = EXAMPLES / f"{model}.xml"
    expected = described(saved_by_openvino(path, tmp_path / "half.xml"))
    graph = Graph.load(path)
    graph.compress_to_f16()
    assert irshape.validate(graph).ok
    graph.save(tmp_path / "ours.xml")
    assert described(Graph.load(tmp_path / "ours.xml")) == expected


@pytest.mark.parametrize(
    ("type", "at", "value"),
    [("Reshape", 1, [2, 3]), ("Tile", 1, [1, 2]), ("ReduceMean", 1, [1]), ("Gather", 1, [1, 2])],
)
def test_what_decides_a_shape_stays(type: str, at: int, value: list[int], tmp_path: Path) -> None:
    graph = Graph(name="shape")
    x = graph.parameter("f32", "[2,3]", name="x")
    shape = graph.add("Convert", graph.constant(np.float32(value)), destination_type="i64")
    extra = {"Reshape": {"special_zero": False}}.get(type, {})
    more = {"Gather": [0]}.get(type, [])
    graph.result(graph.add(type, x, shape, *more, **extra), "y")
    graph.save(tmp_path / "plain.xml")
    expected = described(saved_by_openvino(tmp_path / "plain.xml", tmp_path / "half.xml"))
    graph.compress_to_f16()
    assert described(graph) == expected


def test_constants_in_f16_keep_their_names(tmp_path: Path) -> None:
    graph = Graph.load(EXAMPLES / "encoder.xml")
    constants = [layer for layer in graph if layer.type == "Const"]
    before = {layer.name: layer.output.names for layer in constants}
    single = [layer.name for layer in constants if str(layer.output.element_type) == "f32"]
    graph.to_f16(keep="*norm*")
    graph.save(tmp_path / "half.xml")
    after = Graph.load(tmp_path / "half.xml")
    assert {name: after[name].output.names for name in before} == before
    assert "f16" in {str(after[name].output.element_type) for name in single}


def test_weights_that_are_compressed_already_feed_layers_in_f16(tmp_path: Path) -> None:
    path = EXAMPLES / "classifier.xml"
    ov.save_model(ov.Core().read_model(path), tmp_path / "compressed.xml")
    graph = Graph.load(tmp_path / "compressed.xml")
    assert graph.to_f16()
    assert not [
        layer.name
        for layer in graph
        if layer.type == "Convert"
        and layer.output.element_type is layer.inputs[0].source.element_type
    ]
    graph.save(tmp_path / "half.xml")
    exact = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    image = np.random.default_rng(0).random([1, 3, 32, 32], np.float32)
    half, whole = (
        ov.Core().compile_model(each, "CPU", exact)([image])[0]
        for each in (tmp_path / "half.xml", path)
    )
    np.testing.assert_allclose(half, whole, atol=1e-2)


def test_compression_needs_no_more_memory_for_larger_constants(tmp_path: Path) -> None:
    def peak(columns: int) -> int:
        graph = Graph(name="large")
        x = graph.parameter("f32", [1, 4096], name="x")
        graph.result(op.matmul(x, np.full((4096, columns), 0.1, np.float32)), "y")
        graph.save(tmp_path / "large.xml")
        graph = Graph.load(tmp_path / "large.xml")
        tracemalloc.start()
        try:
            assert graph.compress_to_f16() == 1
            assert graph.clean() == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(4096) < 1.1 * peak(2048)
