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
import math
import os
import platform
import re
import shutil
import statistics
import struct
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


class Tensor(NamedTuple):
    """An output: the end of an edge that names it, its sizes, and its precision."""

    source: str
    sizes: Sequence[int]
    precision: str = "FP32"


def port(number: int, tensor: Tensor, names: str = "") -> str:
    named = f' names="{names}"' if names else ""
    dims = "".join(f"\n\t\t\t\t\t<dim>{size}</dim>" for size in tensor.sizes)
    return (
        f'\n\t\t\t\t<port id="{number}" precision="{tensor.precision}"{named}>{dims}'
        "\n\t\t\t\t</port>"
    )


class Unlike:
    """A model in which no two layers are alike, as it grows."""

    def __init__(self) -> None:
        self.layers: list[str] = []
        self.edges: list[str] = []
        self.values: list[tuple[int, bytes]] = []
        """Bytes in the .bin that are not 0, and where they are."""
        self.bytes = 0

    def add(
        self, type: str, data: str, inputs: Sequence[Tensor], sizes: Sequence[int], of: str = "FP32"
    ) -> Tensor:
        """Adds a layer; returns its output, of that precision. data: its attributes."""
        number = len(self.layers)
        version = VERSIONS.get(type, "opset1")
        output = Tensor(f'from-layer="{number}" from-port="{len(inputs)}"', sizes, of)
        text = f'\t\t<layer id="{number}" name="{type}.{number}" type="{type}" version="{version}">'
        if data:
            text += f"\n\t\t\t<data {data} />"
        if inputs:
            ports = [port(i, tensor) for i, tensor in enumerate(inputs)]
            text += f"\n\t\t\t<input>{''.join(ports)}\n\t\t\t</input>"
        if type != "Result":
            outgoing = port(len(inputs), output, f"{type}.{number}")
            text += f"\n\t\t\t<output>{outgoing}\n\t\t\t</output>"
        self.layers.append(f"{text}\n\t\t</layer>\n")
        self.edges += [
            f'\t\t<edge {tensor.source} to-layer="{number}" to-port="{i}" />\n'
            for i, tensor in enumerate(inputs)
        ]
        return output

    def constant(self, sizes: Sequence[int], of: str = "f32", width: int = 4) -> Tensor:
        """Adds a constant of zeros. width: the bytes of an element."""
        shape, size = ", ".join(map(str, sizes)), width * math.prod(sizes)
        data = f'element_type="{of}" shape="{shape}" offset="{self.bytes}" size="{size}"'
        self.bytes += -(-size // 64) * 64
        return self.add("Const", data, [], sizes, "FP32" if of == "f32" else "I64")

    def integers(self, *numbers: int) -> Tensor:
        """Adds a constant of these."""
        self.values.append((self.bytes, struct.pack(f"<{len(numbers)}q", *numbers)))
        return self.constant((len(numbers),), "i64", 8)

    def growing_block(self, x: Tensor, column: Tensor) -> Tensor:
        """A product and a sum with constants, an activation, and a column more."""
        rule, sizes = 'auto_broadcast="numpy"', x.sizes
        product = self.add("Multiply", rule, [x, self.constant(sizes)], sizes)
        total = self.add("Add", rule, [product, self.constant(sizes)], sizes)
        active = self.add("Swish", "", [total], sizes)
        return self.add("Concat", 'axis="1"', [active, column], (1, sizes[1] + 1))

    def varied_block(self, x: Tensor, number: int) -> Tensor:
        """A convolution, an image resized, and a product of matrices: sizes, orders and shapes are
        constants."""
        _, channels, rows, columns = x.sizes
        wide, high, long = 3 + number * 7 % 61, 5 + number * 11 % 53, 4 + number % 7
        filtered = self.add(
            "Convolution",
            f'strides="1, 1" dilations="1, 1" pads_begin="{number % 3}, 1" '
            f'pads_end="0, {number % 4}" auto_pad="explicit"',
            [x, self.constant((wide, channels, 1, 1))],
            (1, wide, rows + number % 3, columns + 1 + number % 4),
        )
        clamped = self.add(
            "Clamp", f'min="-{number}.5" max="{number}.25"', [filtered], filtered.sizes
        )
        image = self.add(
            "Interpolate",
            'mode="nearest" shape_calculation_mode="sizes" '
            'coordinate_transformation_mode="half_pixel" nearest_mode="floor" antialias="false" '
            'pads_begin="0" pads_end="0" cube_coeff="-0.75"',
            [clamped, self.integers(high, long), self.integers(2, 3)],
            (1, wide, high, long),
        )
        last = self.add("Transpose", "", [image, self.integers(0, 2, 3, 1)], (1, high, long, wide))
        flat = self.add(
            "Reshape",
            'special_zero="true"',
            [last, self.integers(0, -1, wide)],
            (1, high * long, wide),
        )
        product = self.add(
            "MatMul",
            'transpose_a="false" transpose_b="true"',
            [flat, self.constant((wide + number % 5, wide))],
            (1, high * long, wide + number % 5),
        )
        split = self.add(
            "Reshape",
            'special_zero="true"',
            [product, self.integers(0, high, long, wide + number % 5)],
            (1, high, long, wide + number % 5),
        )
        return self.add(
            "Transpose", "", [split, self.integers(0, 3, 1, 2)], (1, wide + number % 5, high, long)
        )

    def write(self, target: Path) -> Path:
        target.write_text(
            f'<?xml version="1.0"?>\n<net name="{target.stem}" version="11">\n'
            f"\t<layers>\n{''.join(self.layers)}\t</layers>\n"
            f"\t<edges>\n{''.join(self.edges)}\t</edges>\n</net>\n",
            encoding="utf-8",
        )
        with open(target.with_suffix(".bin"), "wb") as weights:
            for offset, value in self.values:
                weights.seek(offset)
                weights.write(value)
            weights.truncate(self.bytes)
        return target


VERSIONS = {"Swish": "opset4", "Interpolate": "opset11"}


def growing(layers: int, folder: Path) -> Path:
    """A model of about so many layers, in which a tensor grows from block to block."""
    model = Unlike()
    x = model.add("Parameter", 'shape="1,8" element_type="f32"', [], (1, 8))
    column = model.constant((1, 1))
    while len(model.layers) < layers:
        x = model.growing_block(x, column)
    model.add("Result", "", [x], ())
    return model.write(folder / f"growing_{layers}.xml")


def varied(layers: int, folder: Path) -> Path:
    """A model of about so many layers of many types, in which small constants decide shapes."""
    model = Unlike()
    x = model.add("Parameter", 'shape="1,8,9,9" element_type="f32"', [], (1, 8, 9, 9))
    number = 0
    while len(model.layers) < layers:
        x = model.varied_block(x, number)
        number += 1
    model.add("Result", "", [x], ())
    return model.write(folder / f"varied_{layers}.xml")


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
