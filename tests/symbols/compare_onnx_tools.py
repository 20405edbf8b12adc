"""Compares what tools say of the dimensions of ONNX models, in terms of those of the inputs.

    pip install onnx onnxruntime onnx-shape-inference sympy
    python tests/symbols/compare_onnx_tools.py MODEL.onnx …

Every dynamic dimension of an input gets a name. For two sizes of each name the model is run, with
every tensor as an output; a dimension that a tool gives as a number, or in terms of the names, is
right if it is what came out both times, and wrong otherwise. Printed is a row of a table for each
model and tool.
"""

from __future__ import annotations

import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime

import irshape

Said = dict[str, "list[str | None] | None"]
"""What a tool says of the dimensions of each tensor."""
ROUNDS = 3
"""How often each tool infers a model; the least CPU time counts."""
SIZES = (((2, 64), (3, 96)), ((2, 6), (3, 9)), ((1, 64), (1, 96)))
"""Pairs of a size of first axes and one of others; the first ones that the model takes count."""


def named(path: str) -> onnx.ModelProto:
    """The model, every dynamic dimension of an input with a name."""
    model = onnx.load(path)
    held = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in held:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                if not dim.HasField("dim_value") and not dim.dim_param:
                    dim.dim_param = f"{re.sub('[^a-z0-9]', '_', value.name.lower())}_{axis}"
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model


def of_graph(graph: onnx.GraphProto) -> Said:
    said: Said = {}
    for value in (*graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if tensor.HasField("shape"):
            said[value.name] = [
                str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or None
                for dim in tensor.shape.dim
            ]
    return said


def by_onnx(model: onnx.ModelProto) -> Said:
    return of_graph(onnx.shape_inference.infer_shapes(model, data_prop=True).graph)


def by_onnxruntime(model: onnx.ModelProto) -> Said:
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    inferred = SymbolicShapeInference.infer_shapes(model, auto_merge=True, guess_output_rank=True)
    return of_graph(inferred.graph)


def by_onnx_shape_inference(model: onnx.ModelProto) -> Said:
    import onnx_ir
    import onnx_shape_inference

    inferred = onnx_shape_inference.infer_symbolic_shapes(onnx_ir.from_proto(model))
    said: Said = {}
    for node in (inferred or model).graph:
        for value in node.outputs:
            if value.name and value.shape is not None:
                said[value.name] = [
                    str(dim) if isinstance(dim, int) else getattr(dim, "value", None)
                    for dim in value.shape
                ]
    return said


def by_irshape(model: onnx.ModelProto) -> Said:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        inference = irshape.infer(path, symbols=True)
    said: Said = {}
    for layer in inference.model.layers:
        for port, known in zip(layer.outputs, inference.expressions(layer), strict=False):
            for name in (*port.tensor_names, layer.name):
                if known is not None:
                    said.setdefault(name, [None if size is None else str(size) for size in known])
    return said


TOOLS: dict[str, Callable[[onnx.ModelProto], Said]] = {
    "onnx.shape_inference": by_onnx,
    "onnxruntime symbolic_shape_infer": by_onnxruntime,
    "onnx-shape-inference": by_onnx_shape_inference,
    "irshape": by_irshape,
}


def truth(model: onnx.ModelProto, sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of all tensors when the model is run."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    names = [name for node in watched.graph.node for name in node.output if name]
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(watched.SerializeToString(), options)
    fed = {}
    for value in session.get_inputs():
        shape = [sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in value.shape]
        fed[value.name] = np.ones(shape, np.int64 if "int64" in value.type else np.float32)
    return {name: array.shape for name, array in zip(names, session.run(names, fed), strict=True)}


def value_of(text: str, sizes: dict[str, int]) -> int | None:
    """The value of an expression of some tool; None where it has other names in it."""
    helpers = {"floor": math.floor, "ceiling": math.ceil, "Max": max, "Min": min, "Mod": math.fmod}
    try:
        return int(eval(text, {"max": max, "min": min, **helpers}, dict(sizes)))
    except Exception:
        return None


def measured(
    model: onnx.ModelProto, names: list[str]
) -> list[tuple[dict[str, int], dict[str, tuple[int, ...]]]]:
    """Sizes that the model takes, with the shapes of all tensors."""
    for pair in SIZES:
        try:
            rows = []
            for first, other in pair:
                sizes = {
                    name: first if "batch" in name or name.endswith("_0") else other
                    for name in names
                }
                rows.append((sizes, truth(model, sizes)))
            return rows
        except Exception as problem:
            print(f"sizes {pair}: {type(problem).__name__}", file=sys.stderr)
    return []


def compare(path: str) -> None:
    model = named(path)
    names = sorted(
        {
            dim.dim_param
            for value in model.graph.input
            for dim in value.type.tensor_type.shape.dim
            if dim.dim_param
        }
    )
    rows = measured(model, names)
    if not rows:
        print(f"{path}: no sizes were found that the model takes", file=sys.stderr)
        return
    title = os.path.basename(path)
    for tool, infer in TOOLS.items():
        spent = math.inf
        try:
            for _ in range(ROUNDS):
                start = time.process_time()
                said: Any = infer(model)
                spent = min(spent, time.process_time() - start)
        except Exception as problem:
            print(f"| {title} | {tool} | failed: {type(problem).__name__} | | | |")
            continue
        known = wrong = lost = 0
        for name, shape in rows[0][1].items():
            dims = said.get(name)
            if dims is None or len(dims) != len(shape):
                wrong += dims is not None
                lost += len(shape) if dims is None else 0
                continue
            for axis, text in enumerate(dims):
                values = [None if text is None else value_of(text, sizes) for sizes, _ in rows]
                if None in values:
                    lost += 1
                elif all(v == seen[name][axis] for v, (_, seen) in zip(values, rows, strict=True)):
                    known += 1
                else:
                    wrong += 1
        print(f"| {title} | {tool} | {known} | {wrong} | {lost} | {spent * 1000:,.0f} ms |")


if __name__ == "__main__":
    print("| model | tool | known | wrong | lost | time |\n|---|---|---|---|---|---|")
    for model_path in sys.argv[1:]:
        compare(model_path)
