"""Cross-checks of ONNX models with onnxruntime and onnx's reference; `irshape convert`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from formats.onnx.models import model, reduction, written
from onnx import helper

import irshape
from irshape.cli import main

NETWORKS = Path(__file__).parent / "networks"


@pytest.mark.parametrize("device", ["CPU", "onnxruntime", "reference"])
def test_every_value_of_a_network_is_compared(device: str) -> None:
    comparison = irshape.crosscheck(irshape.load(NETWORKS / "resnet50.onnx"), device=device)
    assert comparison.ok, comparison.problems
    assert len(comparison.rows) > 20
    assert comparison.to_dict()["runtime"].startswith("onnx")


def test_what_the_runtime_refuses_is_a_problem(tmp_path: Path) -> None:
    path = written(reduction(13, axes=[5]), tmp_path)
    comparison = irshape.crosscheck(irshape.load(path), force=True)
    assert not comparison.ok
    assert comparison.problems[0].startswith("onnxruntime 1.")


def test_a_difference_is_found(tmp_path: Path) -> None:
    """The runtime reads the file, in which another operation stands by then."""
    nodes = [
        helper.make_node(name, ["x"], ["y"], keepdims=0) for name in ("ReduceMax", "ReduceSum")
    ]
    first, second = (model(node, ["x:f32[2,3]"], ["y:f32[]"], 13) for node in nodes)
    loaded = irshape.load(written(first, tmp_path))
    written(second, tmp_path)
    comparison = irshape.crosscheck(loaded, [np.ones((2, 3), np.float32)])
    assert comparison.first is not None
    assert comparison.first.layer.type == "ReduceMax"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as done:
        main(list(arguments))
    return int(done.value.code or 0)


def test_a_device_that_the_format_has_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("crosscheck", str(NETWORKS / "resnet50.onnx"), "--device", "GPU") == 1
    assert "onnxruntime or reference" in capsys.readouterr().err


def test_convert(tmp_path: Path) -> None:
    assert run("convert", str(NETWORKS / "resnet50.onnx"), "-o", str(tmp_path / "net.xml")) == 0
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
    assert run("convert", str(found), "-o", str(tmp_path / "net.xml"), "-s", "x=[5,3]") == 0
    assert str(irshape.infer(irshape.load(tmp_path / "net.xml")).outputs("1")[0].shape) == "[5,3]"


def test_nothing_is_written_of_a_model_that_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(reduction(10, axes=[-2]), tmp_path)
    assert run("convert", str(path), "-o", str(tmp_path / "net.xml")) == 1
    assert not (tmp_path / "net.xml").exists()
    assert "opset 11 introduced negative axes" in capsys.readouterr().err


@pytest.mark.parametrize("axes", [[], [1], [-2, 0]])
@pytest.mark.parametrize("noop", [0, 1])
@pytest.mark.parametrize("kind", ["ReduceSum", "ReduceL2", "ReduceLogSumExp"])
def test_axes_that_come_at_run_time(kind: str, noop: int, axes: list[int], tmp_path: Path) -> None:
    node = helper.make_node(kind, ["x", "axes"], ["y"], noop_with_empty_axes=noop)
    made = model(node, ["x:f32[2,3]", "axes:i64[n]"], ["y:f32"], 18, ir_version=9)
    given = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array(axes, np.int64)]
    assert irshape.crosscheck(irshape.load(written(made, tmp_path)), given).ok


@pytest.mark.parametrize("starts", [True, False])
@pytest.mark.parametrize("given", ["", "[]", "[1]"], ids=["none", "scalar", "one"])
@pytest.mark.parametrize("returned", [[], [1]], ids=["scalar", "one"])
def test_the_condition_of_a_loop(
    returned: list[int], given: str, starts: bool, tmp_path: Path
) -> None:
    """The body adds 1 to the state while its sum is below 10."""
    condition = ["condition:boolean" + given] if given else []
    constants = {"one": np.float32(1), "ten": np.float32(10), "shape": np.array(returned, np.int64)}
    body = model(
        [
            helper.make_node("Add", ["before", "one"], ["after"]),
            helper.make_node("ReduceSum", ["after"], ["sum"], keepdims=0),
            helper.make_node("Less", ["sum", "ten"], ["less"]),
            helper.make_node("Reshape", ["less", "shape"], ["goes_on"]),
        ],
        ["iteration:i64[]", f"c:boolean{given or '[]'}", "before:f32[2,3]"],
        ["goes_on:boolean", "after:f32[2,3]"],
        17,
        constants=constants,
    ).graph
    names = ["trips", "condition" if given else "", "x"]
    node = helper.make_node("Loop", names, ["y"], body=body)
    inputs = ["trips:i64[]", *condition, "x:f32[2,3]"]
    made = model(node, inputs, ["y:f32[2,3]"], 17, ir_version=8)
    truth = [np.array(starts).reshape([1] if given == "[1]" else [])] if given else []
    arrays = [np.array(5), *truth, np.zeros((2, 3), np.float32)]
    assert irshape.crosscheck(irshape.load(written(made, tmp_path)), arrays).ok
