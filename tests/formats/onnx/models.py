"""Small ONNX models for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

import irshape

TYPES = {
    "f32": TensorProto.FLOAT,
    "f64": TensorProto.DOUBLE,
    "f16": TensorProto.FLOAT16,
    "bf16": TensorProto.BFLOAT16,
    "i64": TensorProto.INT64,
    "i32": TensorProto.INT32,
    "i8": TensorProto.INT8,
    "boolean": TensorProto.BOOL,
    "string": TensorProto.STRING,
}


def value(text: str) -> Any:
    """A value with its type and shape from `x:f32[2,n]`; without brackets of any rank."""
    name, _, rest = text.partition(":")
    kind, bracket, sizes = rest.partition("[")
    dims = (
        [int(size) if size.isdigit() else size for size in sizes.rstrip("]").split(",") if size]
        if bracket
        else None
    )
    return helper.make_tensor_value_info(name, TYPES[kind], dims)


def model(
    nodes: Any,
    inputs: Sequence[str],
    outputs: Sequence[str],
    opset: int,
    *,
    constants: dict[str, Any] | None = None,
    info: Sequence[str] = (),
    **more: Any,
) -> Any:
    tensors = [
        numpy_helper.from_array(np.asarray(array), name)
        for name, array in (constants or {}).items()
    ]
    many = nodes if isinstance(nodes, list) else [nodes]
    graph = helper.make_graph(
        many,
        "graph",
        [value(text) for text in inputs],
        [value(text) for text in outputs],
        tensors,
        value_info=[value(text) for text in info],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], **more)


def reduction(
    opset: int,
    *,
    kind: str = "ReduceMean",
    x: str = "f32[2,3,4]",
    y: str = "f32[2,1,4]",
    axes: Any = None,
    **attributes: Any,
) -> Any:
    """One reduction; `axes` as an array is a constant input."""
    constant = {"axes": axes} if isinstance(axes, np.ndarray) else None
    if axes is not None and constant is None:
        attributes["axes"] = axes
    node = helper.make_node(
        kind, ["x", "axes"] if constant else ["x"], ["y"], name="mean", **attributes
    )
    return model(node, [f"x:{x}"], [f"y:{y}"], opset, constants=constant)


def written(found: Any, folder: Path) -> Path:
    path = folder / "model.onnx"
    save_model(found, path)
    return path


def codes(found: Any, folder: Path, *, infos: bool = False) -> list[str]:
    """The codes of what is found in a model, as errors and warnings."""
    report = irshape.validate(written(found, folder))
    return [
        diagnostic.code
        for diagnostic in report.diagnostics
        if infos or diagnostic.severity != "info"
    ]


def product_and_relu() -> Any:
    """`y`, the positive part of `h`, the product of `x` and weights of 0.5."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    weights = {"w": np.full((5, 5), 0.5, np.float32)}
    return model(nodes, ["x:f32[2,5]"], ["y:f32[2,5]"], 13, constants=weights)
