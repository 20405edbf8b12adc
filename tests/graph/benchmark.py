"""What building, changing and loading a graph of 4,000 layers costs, in milliseconds of CPU time.

    python -m tests.graph.benchmark [MODEL.xml …]

A change reaches ten layers: they hang on the middle of the graph as a branch. Loading a model
as a graph is compared with loading it to look at: when both were done before in the process, by
turns and the best of all, and as the first call of a process, the best of five.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
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
            looked, opened = in_turn(irshape.load, Graph.load, path)
            first_look, first_open = first_call("load", path), first_call("Graph.load", path)
            print(f"{Path(path).name}, {len(Graph.load(path))} layers: load {looked:.2f}, "
                  f"Graph.load {opened:.2f}: {opened / looked:.2f} times; first call "
                  f"{first_look:.1f} and {first_open:.1f}")  # fmt: skip


def in_turn(*arguments: Any) -> list[float]:
    """The best times of functions, which are called by turns with the last argument."""
    *functions, path = arguments
    best = [float("inf")] * len(functions)
    for _ in range(_REPEAT):
        for index, function in enumerate(functions):
            gc.collect()
            start = time.process_time()
            loaded = function(path)
            best[index] = min(best[index], 1000 * (time.process_time() - start))
            del loaded
    return best


def first_call(function: str, path: str) -> float:
    """The time of a call in a process that has imported irshape and made no other."""
    code = (
        "import sys, time, irshape; irshape.Graph; start = time.process_time(); "
        f"irshape.{function}(sys.argv[1]); print(1000 * (time.process_time() - start))"
    )
    return min(
        float(subprocess.check_output([sys.executable, "-c", code, path], text=True))
        for _ in range(5)
    )


_REPEAT = 30


if __name__ == "__main__":
    main(sys.argv[1:])
