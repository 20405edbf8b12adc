"""Cross-checks of ONNX models with onnxruntime and onnx's reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from calling import call
from formats.onnx.models import model, reduction, written
from onnx import helper

import irshape

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


def test_a_device_that_the_format_has_not() -> None:
    status, _, error = call("crosscheck", str(NETWORKS / "resnet50.onnx"), "--device", "GPU")
    assert (status, "onnxruntime or reference" in error) == (1, True)


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
