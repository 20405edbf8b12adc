"""Runs an ONNX model for a cross-check, in a separate process.

It uses onnxruntime, which is imported here and nowhere else, or onnx's ReferenceEvaluator. `python
-m irshape.comparison.onnx_runtime` receives folders. In each it reads `request.json` and the
inputs, runs the model with every value as an output, and writes `answer.json` and the values.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .processes import Request, serve


def run(request: Request, folder: Path, answer: Request, save: Callable[[], None]) -> None:
    """Runs the model. Adds the version and the files with the values to the answer."""
    import onnx

    model = onnx.load(request["model"], load_external_data=request["runtime"] != "onnxruntime")
    graph, given = model.graph, request["given"]
    fed = {
        name: np.load(folder / file, allow_pickle=False)
        for name, file in (request["inputs"] | given).items()
    }
    held = {output.name for output in graph.output}
    wanted = [name for name in request["values"] if name not in held]
    ends = [*graph.output, *(onnx.ValueInfoProto(name=name) for name in wanted)]
    names = [name for name in (*request["results"], *wanted) if name not in given]
    for part, kept in (
        (graph.output, [each for each in ends if each.name not in given]),
        (graph.node, [node for node in graph.node if given.keys().isdisjoint(node.output)]),
    ):
        del part[:]
        part.extend(kept)
    for name in given:
        kind = onnx.helper.np_dtype_to_tensor_dtype(fed[name].dtype)
        graph.input.append(onnx.helper.make_tensor_value_info(name, kind, None))
    if request["runtime"] == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        answer["version"] = f"onnxruntime {onnxruntime.__version__}"
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        outputs = session.run(names, fed)
    else:
        from onnx.reference import ReferenceEvaluator

        answer["version"] = f"onnx {onnx.__version__}, ReferenceEvaluator"
        outputs = ReferenceEvaluator(model).run(names, fed)
    values = answer["values"] = {}
    for number, (name, array) in enumerate(zip(names, outputs, strict=True)):
        value = np.asarray(array)
        if value.dtype.kind in "biuf" and value.dtype.name in np.sctypeDict:
            file = f"value{number}.npy"
            np.save(folder / file, value)
            values[name] = file


if __name__ == "__main__":
    serve(run)
