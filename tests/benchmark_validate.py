"""Times `irshape validate FILE` beside `openvino.Core().read_model(FILE)`, as whole processes.

The two take turns. The script prints the ratios and asserts nothing.

python tests/benchmark_validate.py [--runs N] FILE...

Without a file: the examples, and models of 3,000 and 35,000 layers made of copies of one
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

READ = "import sys, openvino as ov; ov.Core().read_model(sys.argv[1])"


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds and peak memory in MiB of a process, with its output thrown away."""
    start = time.perf_counter()
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, _, usage = os.wait4(child, 0)
    return time.perf_counter() - start, usage.ru_maxrss / 1024


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        files = options.files or [
            *sorted(EXAMPLES.glob("*.xml")),
            *(repeated(EXAMPLES / "encoder.xml", layers, Path(made)) for layers in (3_000, 35_000)),
        ]
        report(files, options.runs)


def report(files: list[Path], runs: int) -> None:
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"{platform.processor() or platform.machine()}; medians of {runs} paired runs"
    )
    print(
        f"{'file':<28} {'MB':>6} {'layers':>7} {'irshape s':>10} {'OpenVINO s':>11} "
        f"{'time ratio':>11} {'irshape MiB':>12} {'OpenVINO MiB':>13}"
    )
    for file in files:
        ours = [sys.executable, "-m", "irshape", "validate", str(file)]
        theirs = [sys.executable, "-c", READ, str(file)]
        measured(ours), measured(theirs)
        pairs = [(measured(ours), measured(theirs)) for _ in range(runs)]
        here, there = (statistics.median(pair[side][0] for pair in pairs) for side in (0, 1))
        ratio = statistics.median(a[0] / b[0] for a, b in pairs)
        memory = [statistics.median(pair[side][1] for pair in pairs) for side in (0, 1)]
        layers = file.read_bytes().count(b"<layer ")
        size = file.stat().st_size / 1e6
        print(
            f"{file.name[:28]:<28} {size:>6.2f} {layers:>7} {here:>10.3f} {there:>11.3f} "
            f"{ratio:>11.2f} {memory[0]:>12.0f} {memory[1]:>13.0f}"
        )


if __name__ == "__main__":
    main()
