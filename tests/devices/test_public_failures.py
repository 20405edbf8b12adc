"""Failures on devices that people reported, rebuilt from what the reports tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import pytest
from openvino import opset14 as ops

import irshape
from irshape.devices.facts import DEVICES


def data(shape: Any, element_type: str = "f32") -> Any:
    return ops.parameter(ov.PartialShape(shape), getattr(ov.Type, element_type))


def branches(condition: Any, x: Any) -> Any:
    """An If whose branches give ranks 2 and 3."""
    inner = data([1, -1, 4]), data([1, -1, 4])
    bodies = [
        ov.Model([ops.squeeze(inner[0], [0])], [inner[0]], "then"),
        ov.Model([ops.relu(inner[1])], [inner[1]], "else"),
    ]
    layer = ops.if_op(condition)
    layer.set_then_body(bodies[0])
    layer.set_else_body(bodies[1])
    layer.set_input(x.output(0), *inner)
    layer.set_output(bodies[0].results[0], bodies[1].results[0])
    return ops.relu(layer)


def halves(x: Any) -> Any:
    """HardSigmoid of a constant, and an input."""
    constants = (ops.constant(np.full(shape, 0.5, np.float32)) for shape in ((1, 1), (), ()))
    return ops.concat([x, ops.hard_sigmoid(*constants)], 0)


ANY = ov.PartialShape.dynamic()
REPORTS: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
    "openvino 33716": (ops.relu, [data(ANY)], "fails:Parameter fails:Parameter likely:Parameter"),
    "onnxruntime 23757": (
        branches,
        [data([], "boolean"), data([1, -1, 4])],
        "likely:If likely:If likely:Parameter",
    ),
    "openvino 32466": (ops.relu, [data([-1, 4])], "clear clear likely:Parameter"),
    "openvino 33448": (ops.add, [data([2, 3], "f64"), data([2, 3], "f64")], "clear clear clear"),
    "openvino 33240": (
        lambda x, y: ops.add(x, ops.convert(y, "f64")),
        [data([2, 3], "f64"), data([2, 3])],
        "clear unknown clear",
    ),
    "openvino 33620": (ops.divide, [data([1, 1, 1, 8]), data([1, 4, 1, 8])], "clear clear clear"),
    "openvino 34856": (
        lambda x: ops.broadcast(x, [40_000, 40_000]),
        [data([1, 1])],
        "clear likely:Broadcast clear",
    ),
    "openvino 37764": (halves, [data([1, 1])], "clear clear clear"),
}
"""The model, its inputs, and on CPU, GPU and NPU the verdict and the layers that are obstacles."""


@pytest.mark.parametrize("report", REPORTS)
def test_reports(report: str, tmp_path: Path) -> None:
    build, inputs, expected = REPORTS[report]
    path = tmp_path / "model.xml"
    ov.save_model(ov.Model([build(*inputs)], inputs, "m"), path, compress_to_fp16=False)
    devices = irshape.requires(path).devices
    seen = [
        ":".join([devices[name].verdict, *(layer.type for layer in devices[name].layers)])
        for name in DEVICES
    ]
    assert " ".join(seen) == expected
