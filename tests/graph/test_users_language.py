"""Graph takes what its users have: types and shapes of NumPy and OpenVINO, models, files, bytes."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import openvino as ov
import pytest
from openvino import opset13

import irshape
from irshape import Graph, GraphError, Pattern, op, rewrite

from .states import check


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("f32", "f32"), ("FP32", "f32"), ("float32", "f32"), (np.float32, "f32"),
        (np.dtype("float16"), "f16"), (ov.Type.f16, "f16"), (ov.Type.bf16, "bf16"),
        (ml_dtypes.bfloat16, "bf16"), ("bfloat16", "bf16"), (bool, "boolean"), ("BOOL", "boolean"),
        (np.int64, "i64"), ("int8", "i8"), (ov.Type.u4, "u4"), ("uint4", "u4"), (int, "i64"),
        (ov.Type.string, "string"), (ov.Type.nf4, "nf4"), ("dynamic", "dynamic"),
    ],
)  # fmt: skip
def test_element_types(given: Any, expected: str) -> None:
    graph = Graph()
    x = graph.parameter(given, [2])
    assert str(x.element_type) == expected
    if expected not in ("string", "dynamic"):
        converted = op.convert(graph.parameter("i32", [2]), destination_type=given)
        assert str(converted.element_type) == expected
        assert str(graph.constant([0, 1], given).element_type) == expected


@pytest.mark.parametrize("given", ["f33", np.complex64, 3, None, [1]], ids=str)
def test_what_is_no_element_type(given: Any) -> None:
    with pytest.raises(GraphError):
        Graph().parameter(given, [2])


@pytest.mark.parametrize(
    "given",
    [
        [None, 3, "1..4"],
        ["?", 3, "1..4"],
        "[?,3,1..4]",
        (-1, 3, (1, 4)),
        np.array([-1, 3, "1..4"], object),
        ov.PartialShape("?,3,1..4"),
        [ov.Dimension(), 3, ov.Dimension(1, 4)],
    ],
)
def test_shapes(given: Any) -> None:
    graph = Graph()
    x = graph.parameter("f32", given, name="x")
    read = graph.op.read_value(x, variable_id="v", variable_type="f32", variable_shape=given)
    assert str(x.shape) == str(read.layer.attributes["variable_shape"]) == "[?,3,1..4]"
    graph.reshape({"x": given})
    for wrong in ("[oops]", 3, b"[1]", {1: 2}):
        with pytest.raises(GraphError):
            graph.parameter("f32", wrong)  # type: ignore[arg-type]


def test_constants_are_numbers_of_the_tensor() -> None:
    graph = Graph()
    x, number = graph.parameter("f32", [3], name="x"), graph.parameter("i64", [3], name="number")
    graph.result(x + np.arange(3, dtype=">f4"), "swapped")
    graph.result(number * np.arange(3, dtype=np.int8), "product")
    results = irshape.run(graph, {"x": np.zeros(3, "f4"), "number": np.arange(3)})
    assert [list(each) for each in results.values()] == [[0, 1, 2], [0, 1, 4]]
    for wrong in (2.0, np.float32(2), [1.0, 2.0, 3.0], [[1], [2, 3]]):
        with pytest.raises(GraphError):  # else a division by 2.0 would drop the remainder
            number / wrong


def test_what_belongs_to_another_graph_is_refused() -> None:
    graph, other = small(), small()
    end = other.results[0].inputs[0]
    for change in (
        lambda: graph.around(end.source.layer),
        lambda: graph.split(end.source),
        lambda: graph.extract(inputs=[end.source]),
        lambda: graph.inputs[0].replace_uses(graph.outputs[0], [end]),
    ):
        with pytest.raises(GraphError):
            change()
    graph.result(op.exp(op.relu(graph.outputs[0])))
    assert len(graph.split(graph["ReLU_4"].output)) == 2


def small() -> Graph:
    graph = Graph(name="small")
    x = graph.parameter("f32", "[2,3]", name="x")
    graph.result(x @ np.eye(3, dtype=np.float32), "y")
    return graph


def test_models_of_openvino() -> None:
    x = opset13.parameter([-1, 3], np.float32, name="x")
    model = ov.Model([opset13.relu(opset13.matmul(x, np.eye(3, dtype="f4"), False, False))], [x])
    graph = Graph.from_openvino(model)
    graph.result(op.exp(graph.outputs[0]), "exp")
    check(graph)
    back = graph.to_openvino()
    values = np.array([[1, -2, 3]], "f4")
    results = ov.Core().compile_model(back, "CPU")(values)
    np.testing.assert_allclose(results[1], np.exp(np.maximum(values, 0)), 1e-3)


def test_bytes_files_and_sessions(tmp_path: Path) -> None:
    graph = small()
    text, weights = graph.to_bytes()
    files = io.BytesIO(), io.BytesIO()
    graph.save(*files)
    assert (files[0].getvalue(), files[1].getvalue()) == (text, weights)
    read = ov.Core().read_model(text, weights)
    assert read.outputs[0].names == {"y"}
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    graph.save(tmp_path / "saved.xml")
    assert (tmp_path / "saved.xml").read_bytes() == text
    assert (tmp_path / "saved.bin").read_bytes() == weights
    again = Graph.load(tmp_path / "saved.xml")
    opened = Graph.load(io.BytesIO(text), weights=weights)
    for each in (graph, again, opened):
        assert np.array_equal(irshape.Session(each).run({"x": array})["y"], array)
    path: Any = tmp_path / "again.xml"
    for wrong in ((io.BytesIO(),), (path, io.BytesIO()), (None,), (3,)):
        with pytest.raises(GraphError):
            graph.save(*wrong)
    assert not path.exists()


class Unbuffered(io.RawIOBase):
    """A stream that has no positions, and takes a few bytes at a time."""

    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += bytes(data[:999])
        return len(data[:999])


def test_files_that_are_not_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    graph = Graph()
    constant = graph.constant(np.arange(40000, dtype=np.float32))
    graph.result(constant + graph.parameter("f32", [40000]), "y")
    graph.save(path)
    graph = Graph.load(path)  # its constants are bytes of a file
    expected = graph.to_bytes()
    streams = Unbuffered(), Unbuffered()
    graph.save(*streams)  # type: ignore[arg-type]
    assert tuple(stream.content for stream in streams) == expected
    with gzip.open(tmp_path / "text", "wb") as text, gzip.open(tmp_path / "bytes", "wb") as weights:
        graph.save(text, weights)  # type: ignore[arg-type]
    zipped = [gzip.decompress((tmp_path / name).read_bytes()) for name in ("text", "bytes")]
    assert tuple(zipped) == expected


def test_every_refusal_is_a_graph_error() -> None:
    graph = small()
    for change in (
        lambda: graph["nothing"],
        lambda: graph.tensor("nothing"),
        lambda: graph.add("Relu", object()),
        lambda: graph.reshape({"x": "[3,4]"}),
        lambda: graph.reshape(3),  # type: ignore[arg-type]
        lambda: graph.split("y", parts=2),
        lambda: graph.split(parts=0),
        lambda: graph.split(parts=1.5),  # type: ignore[arg-type]
        lambda: graph.around("y", -1),
        lambda: graph.preprocess("x", layout=("NC",)),  # type: ignore[arg-type]
        lambda: graph.preprocess("x", layout="NC"),  # type: ignore[arg-type]
        lambda: graph.outputs[0].layer.graph.match(3),  # type: ignore[arg-type]
        lambda: op.relu(1.0),
        lambda: graph.result(graph.outputs[0], ["z"]),  # type: ignore[arg-type]
        lambda: graph.rename({"x": ["z"]}),  # type: ignore[dict-item]
    ):
        with pytest.raises(GraphError):
            change()
    with pytest.raises(KeyError):
        graph["nothing"]


def test_equal_constants_are_stored_once() -> None:
    graph = Graph()
    for _ in range(3):
        graph.constant(np.arange(1000))
    assert len(graph.bytes) == 8000


def test_alternatives_are_one_pattern() -> None:
    p = Pattern()
    x = p.any("x")
    by_erf = p.add("Erf", p.add("Divide", x, p.constant(np.sqrt(2))))
    scaled = p.add("Erf", p.add("Multiply", x, p.constant(np.sqrt(0.5))))
    grown = p.add("Add", p.either(by_erf, scaled), p.constant(1))
    gelu = p.either(
        p.add("Multiply", p.add("Multiply", x, p.constant(0.5)), grown),
        p.add("Multiply", x, p.add("Multiply", grown, p.constant(0.5))),
    )

    @rewrite(gelu)
    def to_gelu(graph, match):
        return graph.add("Gelu", match["x"], approximation_mode="ERF")

    graph = Graph(name="gelus")
    x = graph.parameter("f32", "[?,3]", name="x")
    x = (x * 0.5) * (op.erf(x / np.sqrt(2)) + 1)
    x = (x * 0.5) * (op.erf(x * np.sqrt(0.5)) + 1)
    x = x * ((op.erf(x / np.sqrt(2)) + 1) * 0.5)
    graph.result(x, "y")
    assert graph.rewrite(to_gelu, check=True) == 3
    assert sum(layer.type == "Gelu" for layer in graph.layers) == 3
    assert len(graph) == 5
    assert graph.rewrite(to_gelu) == 0
    check(graph)
