"""What building, changing and loading a graph of 4,000 layers costs, in milliseconds of CPU time.

    python -m tests.graph.benchmark [MODEL.xml …]

A change reaches ten layers: they hang on the middle of the graph as a branch. Loading a model
as a graph is compared with loading it to look at.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import irshape
from irshape import Graph, op


def milliseconds(task: Callable[[], Any], repeat: int) -> float:
    """The median time of a task, after one that is not counted."""
    task()
    times = []
    for _ in range(repeat):
        gc.collect()
        start = time.process_time()
        task()
        times.append(1000 * (time.process_time() - start))
    return statistics.median(times)


def block(x: Any, weights: Any) -> Any:
    """Twenty layers, constants included, as in an encoder."""
    mean = op.reduce_mean(x, [-1], keep_dims=True)
    centred = x - mean
    scale = op.sqrt(op.reduce_mean(centred * centred, [-1], keep_dims=True) + 1e-5)
    hidden = op.gelu(op.matmul(centred / scale, weights) + 0.5)
    return x + op.matmul(hidden, weights, transpose_b=True) * 0.1


def built(layers: int) -> Graph:
    graph = Graph(name="large")
    x = graph.parameter("f32", "[?,?,16]", name="x")
    weights = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    while len(graph) < layers:
        shared = graph.constant(weights)
        x = block(x, shared)
        if len(graph) > layers // 2 and "branch" not in graph:
            branch = op.reduce_mean(x, [-1], keep_dims=True, name="branch")
            for _ in range(9):
                branch = op.exp(branch)
            graph.result(branch, "side")
    graph.result(x, "y")
    return graph


def main(paths: list[str]) -> None:
    print(f"building 4,000 layers: {milliseconds(lambda: built(4000), 3):.0f}")
    graph = built(4000)
    flag = [True]

    def change() -> None:
        flag[0] = not flag[0]
        graph["branch"].set(keep_dims=flag[0])

    print(f"changing a layer that ten depend on: {milliseconds(change, 50):.2f}")
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "large.xml")
        graph.save(target)
        for path in [target, *paths]:
            looked = milliseconds(lambda path=path: irshape.load(path), 15)  # type: ignore[misc]
            opened = milliseconds(lambda path=path: Graph.load(path), 15)  # type: ignore[misc]
            count = len(Graph.load(path))
            print(f"{Path(path).name}, {count} layers: load {looked:.0f}, Graph.load {opened:.0f}: "
                  f"{opened / looked:.2f} times")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
