"""`irshape convert`: ONNX models become IRs with the same values and other input shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from calling import call
from formats.onnx.models import model, reduction, written
from onnx import helper

import irshape

NETWORKS = Path(__file__).parent / "networks"


def test_convert(tmp_path: Path) -> None:
    assert call("convert", str(NETWORKS / "resnet50.onnx"), "-o", str(tmp_path / "net.xml"))[0] == 0
    assert [
        found
        for found in irshape.validate(tmp_path / "net.xml").diagnostics
        if found.severity != "info"
    ] == []
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32)).astype(np.float32)
    a, b = (
        irshape.run(irshape.load(path), {"pixel_values": x})["logits"]
        for path in (NETWORKS / "resnet50.onnx", tmp_path / "net.xml")
    )
    np.testing.assert_array_equal(a, b)


def test_convert_to_another_shape(tmp_path: Path) -> None:
    found = written(
        model(helper.make_node("Relu", ["x"], ["y"]), ["x:f32[n,3]"], ["y:f32[n,3]"], 13), tmp_path
    )
    assert call("convert", str(found), "-o", str(tmp_path / "net.xml"), "-s", "x=[5,3]")[0] == 0
    assert str(irshape.infer(irshape.load(tmp_path / "net.xml")).outputs("1")[0].shape) == "[5,3]"


def test_layers_have_names_of_their_own(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["h"], name="conv", group=2),
        helper.make_node("Relu", ["h"], ["i"], name="conv/Reshape"),
        helper.make_node("Relu", ["i"], ["y"], name="conv/Reshape"),
    ]
    constants = {"w": np.ones((4, 1, 1, 1), np.float32), "b": np.ones(4, np.float32)}
    found = model(nodes, ["x:f32[1,2,3,3]"], ["y:f32[1,4,3,3]"], 13, constants=constants)
    out = tmp_path / "net.xml"
    assert call("convert", str(written(found, tmp_path)), "-o", str(out))[0] == 0
    assert [layer.type for layer in irshape.load(out).layers].count("Reshape") == 2
    assert call("validate", "--target", "2024.0", str(out))[0] == 0
    (kept,) = (layer for layer in irshape.load(out).layers if layer.name == "conv/Reshape")
    assert kept.outputs[0].tensor_names == ["i"]


def test_nothing_is_written_of_a_model_that_cannot_be_read(tmp_path: Path) -> None:
    path = written(reduction(10, axes=[-2]), tmp_path)
    status, _, error = call("convert", str(path), "-o", str(tmp_path / "net.xml"))
    assert (status, "opset 11" in error) == (1, True)
    assert not (tmp_path / "net.xml").exists()
