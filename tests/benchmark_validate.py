"""Times `irshape validate FILE` beside `openvino.Core().read_model(FILE)`.

As whole processes, with their peaks of memory, and called again and again in one process. The two
take turns. The script prints the ratios and asserts nothing.

python tests/benchmark_validate.py [--runs N] [--processor-time] [FILE…]

Without a file: the examples, models of 3,000 and 35,000 layers made of copies of one, and two of
35,000 layers of which no two are alike. --processor-time: the time that a process computes instead
of the time that passes, for a machine that does other work.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from irshape import Graph, Output, op

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

READ = "import sys, openvino as ov; ov.Core().read_model(sys.argv[1])"


IN_ONE_PROCESS = """
import statistics, sys, time
import irshape, openvino as ov
core, runs, clock = ov.Core(), int(sys.argv[2]), getattr(time, sys.argv[3])
def seconds(call):
    start = clock()
    call(sys.argv[1])
    return clock() - start
pairs = [(seconds(irshape.validate), seconds(core.read_model)) for _ in range(runs + 1)][1:]
print(*(statistics.median(times) for times in zip(*pairs)))
print(statistics.median(ours / theirs for ours, theirs in pairs))
"""


class Cost(NamedTuple):
    """What a process took: the time that passed, that of the processor, and memory in MiB."""

    passed: float
    computed: float
    memory: float


def measured(command: list[str]) -> Cost:
    """The cost of a process, with its output thrown away."""
    start = time.perf_counter()
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, _, usage = os.wait4(child, 0)
    passed = time.perf_counter() - start
    return Cost(passed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def in_one_process(file: Path, runs: int, clock: str) -> list[float]:
    """Seconds of a call of `irshape.validate` and of `read_model`, and their ratio."""
    command = [sys.executable, "-c", IN_ONE_PROCESS, str(file), str(runs), clock]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(number) for number in output.split()]


def repeated(source: Path, layers: int, folder: Path) -> Path:
    """A model of about so many layers: copies of another side by side, which share its weights."""
    text = source.read_text(encoding="utf-8")
    inner, edges = (
        text[text.index(f"<{tag}>") + len(tag) + 2 : text.rindex(f"</{tag}>")]
        for tag in ("layers", "edges")
    )
    each = inner.count("<layer ")
    parts: tuple[list[str], list[str]] = ([], [])
    for copy in range(round(layers / each)):

        def renamed(match: re.Match[str], copy: int = copy) -> str:
            return match[1] + ",".join(f"{name}.{copy}" for name in match[2].split(",")) + '"'

        def moved(match: re.Match[str], copy: int = copy) -> str:
            return f'{match[1]}{int(match[2]) + copy * each}"'

        parts[0].append(
            re.sub(
                r'(<layer id=")(\d+)"',
                moved,
                re.sub(r'((?:output_)?names?=")([^"]+)"', renamed, inner),
            )
        )
        parts[1].append(re.sub(r'((?:from|to)-layer=")(\d+)"', moved, edges))
    target = folder / f"{source.stem}_{layers}.xml"
    target.write_text(
        (
            f"{text[: text.index('<layers>')]}<layers>{''.join(parts[0])}</layers><edges>"
            f"{''.join(parts[1])}</edges></net>"
        ),
        encoding="utf-8",
    )
    shutil.copyfile(source.with_suffix(".bin"), target.with_suffix(".bin"))
    return target


def growing(layers: int, folder: Path) -> Path:
    """A model of about so many layers, in which a tensor grows from block to block.

    A block is a product and a sum with constants, an activation, and one more column.
    """
    graph = Graph()
    x = graph.parameter("f32", [1, 8])
    while len(graph) < layers:
        shape = [dim.low for dim in x.shape]
        x = op.swish(x * np.zeros(shape, np.float32) + np.zeros(shape, np.float32))
        x = op.concat([x, np.zeros((1, 1), np.float32)], axis=1)
    return written(graph, x, folder / f"growing_{layers}.xml")


def varied(layers: int, folder: Path) -> Path:
    """A model of about so many layers of many types, in which small constants decide shapes.

    A block is a convolution, an image resized, and a product of matrices.
    """
    graph = Graph()
    x = graph.parameter("f32", [1, 8, 9, 9])
    number = 0
    while len(graph) < layers:
        wide, high, long = 3 + number * 7 % 61, 5 + number * 11 % 53, 4 + number % 7
        columns = wide + number % 5
        x = op.convolution(
            x,
            np.zeros((wide, x.shape[1].low, 1, 1), np.float32),
            strides=[1, 1],
            dilations=[1, 1],
            pads_begin=[number % 3, 1],
            pads_end=[0, number % 4],
        )
        x = op.interpolate(
            op.clamp(x, min=-number - 0.5, max=number + 0.25),
            [high, long],
            [2, 3],
            mode="nearest",
            shape_calculation_mode="sizes",
            nearest_mode="floor",
        )
        flat = op.reshape(op.transpose(x, [0, 2, 3, 1]), [0, -1, wide], special_zero=True)
        product = op.matmul(flat, np.zeros((columns, wide), np.float32), transpose_b=True)
        split = op.reshape(product, [0, high, long, columns], special_zero=True)
        x = op.transpose(split, [0, 3, 1, 2])
        number += 1
    return written(graph, x, folder / f"varied_{layers}.xml")


def written(graph: Graph, output: Output, target: Path) -> Path:
    graph.result(output)
    graph.save(target)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        files = options.files or [
            *sorted(EXAMPLES.glob("*.xml")),
            *(repeated(EXAMPLES / "encoder.xml", layers, Path(made)) for layers in (3_000, 35_000)),
            growing(35_000, Path(made)),
            varied(35_000, Path(made)),
        ]
        report(files, options.runs, processor_time=options.processor_time)


def report(files: list[Path], runs: int, *, processor_time: bool) -> None:
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.processor() or platform.machine()}; medians of {runs} paired runs, "
        f"{'processor time' if processor_time else 'time passed'}"
    )
    print(f"{'':<43} {'as a process':^47} {'in one process':^30}")
    print(
        f"{'file':<28} {'MB':>6} {'layers':>7} {'irshape s':>10} {'OpenVINO s':>11} {'ratio':>6} "
        f"{'MiB':>8} {'MiB':>8} {'irshape ms':>11} {'OpenVINO ms':>12} {'ratio':>6}"
    )
    clock = "process_time" if processor_time else "perf_counter"
    for file in files:
        ours = [sys.executable, "-m", "irshape", "validate", str(file)]
        theirs = [sys.executable, "-c", READ, str(file)]
        measured(ours), measured(theirs)
        pairs = [(measured(ours), measured(theirs)) for _ in range(runs)]
        times = [
            [cost.computed if processor_time else cost.passed for cost in pair] for pair in pairs
        ]
        here, there = (statistics.median(pair[side] for pair in times) for side in (0, 1))
        ratio = statistics.median(pair[0] / pair[1] for pair in times)
        memory = [statistics.median(pair[side].memory for pair in pairs) for side in (0, 1)]
        inside = in_one_process(file, runs, clock)
        with open(file, "rb") as lines:  # memory here counts in processes that it starts
            layers = sum(line.count(b"<layer ") for line in lines)
        print(
            f"{file.name[:28]:<28} {file.stat().st_size / 1e6:>6.2f} {layers:>7} {here:>10.3f} "
            f"{there:>11.3f} {ratio:>6.2f} {memory[0]:>8.0f} {memory[1]:>8.0f} "
            f"{1e3 * inside[0]:>11.2f} {1e3 * inside[1]:>12.2f} {inside[2]:>6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
