"""Times `irshape validate FOLDER --jobs N` over thousands of models, beside `read_model` in a loop.

python tests/benchmark_zoo.py [--models N] [--jobs N…] [FILE…]

The models are copies of the files, without one the examples, each with small changes: every copy
has names of its own, and one in twenty a dimension that is wrong. The .bin is the same file, by a
hard link. Prints models a second without the cache of findings, then with an empty and with a full
one, and the memory that all processes of a command hold at their peak (the proportional set size);
asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FAULTY = 20
"""One copy in so many has a fault."""

LOOP = """
import pathlib, sys, openvino as ov
core = ov.Core()
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")):
    try:
        core.read_model(path)
    except RuntimeError:
        pass
"""


class Cost(NamedTuple):
    """Seconds that passed, and the peak of memory in MiB."""

    seconds: float
    memory: float


def copies(sources: list[Path], count: int, folder: Path) -> None:
    """Writes the models."""
    texts = [source.read_text(encoding="utf-8") for source in sources]
    for number in range(count):
        source, text = sources[number % len(sources)], texts[number % len(sources)]
        text = re.sub(r'(<layer id="\d+" name=")', rf"\g<1>model{number}/", text)
        if number % FAULTY == 0:
            dims = list(re.finditer(r"<dim>(\d+)</dim>", text))
            dim = dims[number // FAULTY * 7919 % len(dims)]
            text = f"{text[: dim.start(1)]}{int(dim[1]) + 1}{text[dim.end(1) :]}"
        path = folder / f"{source.stem}_{number:05}.xml"
        path.write_text(text, encoding="utf-8")
        weights = source.with_suffix(".bin")
        if weights.exists():
            first = folder / f"{source.stem}.weights"
            if not first.exists():
                first.write_bytes(weights.read_bytes())
            os.link(first, path.with_suffix(".bin"))


def memory(root: int) -> float:
    """What a process and its children hold, in MiB; shared pages count once."""
    total, left = 0, [root]
    while left:
        process = left.pop()
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
            for task in Path(f"/proc/{process}/task").iterdir():
                left += map(int, (task / "children").read_text(encoding="ascii").split())
        except OSError:  # it has ended
            continue
        total += sum(int(size) for size in re.findall(r"^Pss: +(\d+)", rollup, re.MULTILINE))
    return total / 1024


def measured(command: list[str]) -> Cost:
    peak = 0.0
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        ended = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not ended.wait(0.25):
                peak = max(peak, memory(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        process.wait()
        passed = time.perf_counter() - start
        ended.set()
        watcher.join()
    return Cost(passed, peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    given = parser.parse_args()
    sources = given.files or sorted(EXAMPLES.glob("*.xml"))
    with tempfile.TemporaryDirectory(prefix="irshape-zoo-") as made:
        folder = Path(made)
        copies(sources, given.models, folder)
        validate = [sys.executable, "-m", "irshape", "validate", str(folder), "-f", "jsonl"]
        cached = [*validate, "--cache-dir", str(folder / "cache"), "--jobs", str(given.jobs[-1])]
        commands = {
            f"irshape validate --jobs {jobs}": [*validate, "--no-cache", "--jobs", str(jobs)]
            for jobs in given.jobs
        }
        commands["… that writes its cache"] = commands["… that reads its cache"] = cached
        commands["read_model in a loop"] = [sys.executable, "-c", LOOP, str(folder)]
        print(f"{given.models:,} models, {os.cpu_count()} cores\n")
        print("| | seconds | models a second | MiB |\n|---|---|---|---|")
        for name, command in commands.items():
            cost = measured(command)
            rate = given.models / cost.seconds
            print(f"| {name} | {cost.seconds:.1f} | {rate:,.0f} | {cost.memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
