"""Times `irshape.Session.run` beside OpenVINO's CPU plugin (f32), and prints a table in Markdown.

    python tests/benchmark_run.py [--shape NAME=SHAPE] [--runs N] [--processor-time] MODEL.xml…

Each run of one side is followed by one of the other: the medians of the runs, and of the ratios of
the pairs; then the geometric mean of those ratios. Models run on random inputs.

With `--processor-time`, both sides compute in one thread, and what counts is the processor's time:
the figures for a machine that does other work as well.

The last column is `irshape.run`, called again and again with the same model, beside the session.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def with_openvino(path: Path, inputs: dict[Any, Any], threads: int = 0) -> Callable[[], Any]:
    """A run of the CPU plugin; with `threads` in so many, else in as many as it chooses."""
    import openvino as ov

    core = ov.Core()
    read = core.read_model(path)
    by_name = {layer.name: array for layer, array in inputs.items()}
    arrays = [by_name[parameter.get_friendly_name()] for parameter in read.get_parameters()]
    read.reshape({position: list(array.shape) for position, array in enumerate(arrays)})
    settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"}
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    request = core.compile_model(read, "CPU", settings).create_infer_request()
    return lambda: request.infer(arrays)


def measure(path: Path, shapes: dict[str, str], runs: int, *, processor: bool) -> tuple[str, float]:
    """A row of the table, and the ratio in it."""
    import irshape
    from irshape.execution.inputs import random_inputs

    model = irshape.load(path)
    known = {
        name for layer in model.parameters for name in (layer.name, *layer.outputs[0].tensor_names)
    }
    shapes = {name: shape for name, shape in shapes.items() if name in known}
    drawn = random_inputs(model, shapes=shapes)
    inputs = {layer.name: array for layer, array in drawn.items()}
    session = irshape.Session(model)
    theirs = with_openvino(path, drawn, 1 if processor else 0)
    sides = [lambda: session.run(inputs), theirs, lambda: irshape.run(model, inputs)]
    clock = time.process_time if processor else time.perf_counter

    def timed(side: Callable[[], Any]) -> float:
        start = clock()
        side()
        return clock() - start

    for side in sides * 3:
        side()
    rows = [[timed(side) for side in sides] for _ in range(runs)]
    ours, plugin, _ = (statistics.median(column) * 1000 for column in zip(*rows, strict=True))
    ratio = statistics.median(row[0] / row[1] for row in rows)
    again = statistics.median(row[2] / row[0] for row in rows)
    layers = sum(1 for _ in model.walk())
    cells = (
        path.stem,
        ", ".join(str(list(array.shape)).replace(" ", "") for array in inputs.values()),
        f"{layers:,}",
        f"{ours:.1f} ms",
        f"{plugin:.1f} ms",
        f"{ratio:.1f}",
        f"{again:.2f}",
    )
    return f"| {' | '.join(cells)} |", ratio


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.xml")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=SHAPE")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    if options.processor_time and os.environ.get("OMP_NUM_THREADS") != "1":
        # NumPy's BLAS reads it when it is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    shapes = dict(each.split("=", 1) for each in options.shape)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; "
        f"medians of {options.runs} paired runs"
    )
    print("| network | inputs | layers | session | CPU plugin | ratio | run/session |")
    print("|---|---|---|---|---|---|---|")
    ratios = []
    for path in options.models:
        row, ratio = measure(path, shapes, options.runs, processor=options.processor_time)
        ratios.append(ratio)
        print(row, flush=True)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f}, worst {max(ratios):.1f}")


if __name__ == "__main__":
    main()
