"""Times `irshape validate FILE` beside `openvino.Core().read_model(FILE)`.

As whole processes, with their peaks of memory, and called again and again in one process. The two
take turns. The script prints the ratios and asserts nothing.

python tests/benchmark_validate.py [--runs N] [--processor-time] [FILE…]

Without a file: the examples, models of 3,000 and 35,000 layers made of copies of one, and one of
35,000 layers of which no two are alike. --processor-time: the time that a process computes instead
of the time that passes, for a machine that does other work.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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


def port(number: int, sizes: Sequence[int], names: str = "") -> str:
    named = f' names="{names}"' if names else ""
    dims = "".join(f"\n\t\t\t\t\t<dim>{size}</dim>" for size in sizes)
    return f'\n\t\t\t\t<port id="{number}" precision="FP32"{named}>{dims}\n\t\t\t\t</port>'


class Growing:
    """A model in which a tensor grows from block to block, so that no two layers are alike."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.bytes = 0

    def add(
        self, type: str, data: str, inputs: list[tuple[str, Sequence[int]]], output: Sequence[int]
    ) -> str:
        """Adds a layer. inputs: where each comes from, and its sizes. Returns its output."""
        number = len(self.layers)
        version = "opset4" if type == "Swish" else "opset1"
        text = f'\t\t<layer id="{number}" name="{type}.{number}" type="{type}" version="{version}">'
        if data:
            text += f"\n\t\t\t<data {data} />"
        if inputs:
            ports = [port(i, sizes) for i, (_, sizes) in enumerate(inputs)]
            text += f"\n\t\t\t<input>{''.join(ports)}\n\t\t\t</input>"
        if output:
            outgoing = port(len(inputs), output, f"{type}.{number}")
            text += f"\n\t\t\t<output>{outgoing}\n\t\t\t</output>"
        self.layers.append(f"{text}\n\t\t</layer>\n")
        self.edges += [
            f'\t\t<edge {source} to-layer="{number}" to-port="{i}" />\n'
            for i, (source, _) in enumerate(inputs)
        ]
        return f'from-layer="{number}" from-port="{len(inputs)}"'

    def constant(self, sizes: Sequence[int]) -> str:
        shape, size = ", ".join(map(str, sizes)), 4 * math.prod(sizes)
        offset = self.bytes
        self.bytes += -(-size // 64) * 64
        data = f'element_type="f32" shape="{shape}" offset="{offset}" size="{size}"'
        return self.add("Const", data, [], sizes)

    def block(self, source: str, column: str, width: int) -> str:
        """A product and a sum with constants, an activation, and a column more."""
        sizes = (1, width)
        rule = 'auto_broadcast="numpy"'
        product = self.add(
            "Multiply", rule, [(source, sizes), (self.constant(sizes), sizes)], sizes
        )
        total = self.add("Add", rule, [(product, sizes), (self.constant(sizes), sizes)], sizes)
        active = self.add("Swish", "", [(total, sizes)], sizes)
        return self.add("Concat", 'axis="1"', [(active, sizes), (column, (1, 1))], (1, width + 1))


def growing(layers: int, folder: Path) -> Path:
    """A model of about so many layers, no two of which are alike."""
    model, width = Growing(), 8
    source = model.add("Parameter", f'shape="1,{width}" element_type="f32"', [], (1, width))
    column = model.constant((1, 1))
    while len(model.layers) < layers:
        source = model.block(source, column, width)
        width += 1
    model.add("Result", "", [(source, (1, width))], ())
    target = folder / f"growing_{layers}.xml"
    target.write_text(
        '<?xml version="1.0"?>\n<net name="growing" version="11">\n'
        f"\t<layers>\n{''.join(model.layers)}\t</layers>\n"
        f"\t<edges>\n{''.join(model.edges)}\t</edges>\n</net>\n",
        encoding="utf-8",
    )
    with open(target.with_suffix(".bin"), "wb") as weights:
        weights.truncate(model.bytes)
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
