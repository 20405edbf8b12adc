"""What changing and saving a graph of 35,000 layers costs beside openvino's own, in CPU time.

    python -m tests.graph.benchmark_openvino [LAYERS]

The best of three runs of each, and their ratio.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13
from openvino.passes import AnyInput, Manager, Matcher, MatcherPass, WrapType

from irshape import Graph, Pattern, op, rewrite

WEIGHTS = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
SHAPE = {"x": "[2,8,16]"}

p = Pattern()
_x = p.any("x")


@rewrite(p.add("Multiply", _x, p.add("Sigmoid", _x)))
def to_swish(graph: Any, match: Any) -> Any:
    return graph.add("Swish", match["x"])


class ToSwish(MatcherPass):
    def __init__(self) -> None:
        super().__init__()
        sigmoid = WrapType("opset1.Sigmoid", AnyInput().output(0))
        product = WrapType("opset1.Multiply", [AnyInput().output(0), sigmoid.output(0)])

        def replace(matcher: Any) -> bool:
            root = matcher.get_match_root()
            swish = opset13.swish(root.input_value(1).get_node().input_value(0))
            return bool(ov.utils.replace_node(root, swish))

        self.register_matcher(Matcher(product, "ToSwish"), replace)


def built(layers: int) -> Graph:
    graph = Graph(name="large")
    start = x = graph.parameter("f32", "[?,?,16]", name="x")
    weights = graph.constant(WEIGHTS)
    for _ in range(layers // 7):
        x = op.matmul(x, weights)
        x = op.relu(x * op.sigmoid(x) + start) + 0.5
    graph.result(x, "y")
    return graph


def built_by_openvino(layers: int) -> ov.Model:
    start = x = opset13.parameter(ov.PartialShape([-1, -1, 16]), ov.Type.f32, name="x")
    weights = opset13.constant(WEIGHTS)
    for _ in range(layers // 7):
        x = opset13.matmul(x, weights, False, False)
        x = opset13.add(opset13.multiply(x, opset13.sigmoid(x)), start)
        x = opset13.add(opset13.relu(x), opset13.constant(np.float32(0.5)))
    return ov.Model([opset13.result(x)], [start], "large")


def seconds(task: Callable[[Any], Any], given: Callable[[], Any]) -> float:
    """The best CPU time of a task; what it is given does not count."""
    best = float("inf")
    for _ in range(3):
        value = given()
        gc.collect()
        start = time.process_time()
        result = task(value)
        best = min(best, time.process_time() - start)
        del result
    return best


def renamed(graph: Graph) -> Graph:
    twin = graph.copy()
    twin.matching("ReLU")[0].name = "other"
    return twin


def rewritten(model: ov.Model) -> ov.Model:
    manager = Manager()
    manager.register_pass(ToSwish())
    manager.run_passes(model)
    return model


def after(change: Callable[[Any], object], value: Any) -> Any:
    change(value)
    return value


def main(layers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, other = str(Path(folder) / "large.xml"), str(Path(folder) / "other.xml")
        built(layers).save(path)
        graph = Graph.load(path)

        def save(given: Graph) -> None:
            given.save(other)

        def save_model(given: ov.Model) -> None:
            ov.save_model(given, other, compress_to_fp16=False)

        def read() -> ov.Model:
            return ov.Core().read_model(path)

        def reshape(given: Any) -> None:
            given.reshape(SHAPE if isinstance(given, Graph) else {"x": [2, 8, 16]})

        def swish(given: Graph) -> None:
            given.rewrite(to_swish)

        rows = {
            "build": (seconds(built, lambda: layers), seconds(built_by_openvino, lambda: layers)),
            "save": (seconds(save, lambda: graph), seconds(save_model, read)),
            "save after a reshape": (
                seconds(save, lambda: after(reshape, graph.copy())),
                seconds(save_model, lambda: after(reshape, read())),
            ),
            "save after rewriting": (
                seconds(save, lambda: after(swish, graph.copy())),
                seconds(save_model, lambda: rewritten(read())),
            ),
            "copy with a change": (seconds(renamed, lambda: graph), seconds(ov.Model.clone, read)),
            "reshape": (seconds(reshape, graph.copy), seconds(reshape, read)),
            "rewrite": (seconds(swish, graph.copy), seconds(rewritten, read)),
        }
    for name, (ours, theirs) in rows.items():
        print(f"{name:22} {ours * 1000:6.0f} ms  {theirs * 1000:6.0f} ms  {ours / theirs:5.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 35000)
