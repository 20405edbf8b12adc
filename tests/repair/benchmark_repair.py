"""Times `irshape validate` of a faulty file beside its sound one, as processes that take turns.

python tests/repair/benchmark_repair.py [--runs N] [NETWORK.xml…]

Each fault of `faults.py` in its small network; in examples, and in the networks that are named, an
attribute of one layer, and of all layers at once; one layer with 5,000 attributes, ports or edges.
Prints the time that the processor computes, the minimum of the runs, and asserts nothing.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from benchmark_validate import measured, repeated  # noqa: E402

from repair.edits import edited  # noqa: E402
from repair.faults import FAULTS  # noqa: E402
from repair.networks import File, image_network, layer, replaced, written  # noqa: E402

EXAMPLES = TESTS.parent / "examples"
MANY = 5_000
EDGE = '<edge from-layer="4" from-port="2" to-layer="5" to-port="0" />'


def wide() -> Iterator[tuple[str, File]]:
    """Small networks in which one thing is there thousands of times."""
    text, weights = written(image_network)
    numbers = range(MANY)
    changes = {
        "unknown attributes": layer(
            "mean", "keep_dims", " ".join(f'a{number}="1"' for number in numbers) + " keep_dims"
        ),
        "misspelt attributes": layer(
            "pool", "kernel", " ".join(f'kernel{number}="1"' for number in numbers) + " kernel"
        ),
        "equal attributes": layer("mean", "keep_dims", 'keep_dims="false" ' * MANY + "keep_dims"),
        "attributes of a layer": layer(
            "relu", 'name="relu"', 'name="relu" ' + " ".join(f'a{each}="1"' for each in numbers)
        ),
        "input ports": layer(
            "relu",
            "</input>",
            "".join(f'<port id="{each + 9}" />' for each in numbers) + "</input>",
        ),
        "edges into one port": replaced(EDGE, EDGE * MANY),
        "edges from no layer": replaced(EDGE, EDGE + EDGE.replace('"4"', '"44"') * MANY),
    }
    for name, change in changes.items():
        yield f"{MANY:,} {name}", change(text, weights)


def file_of(path: Path) -> File:
    beside = path.with_suffix(".bin")
    return path.read_text(encoding="utf-8"), beside.read_bytes() if beside.exists() else b""


def edits(path: Path) -> Iterator[tuple[str, File, File]]:
    sound = file_of(path)
    for kind in ("keep_dims", "transpose", "sizes", "axis", "special_zero"):
        for which in (5, None):
            made = edited(kind, *sound, which)
            if made is not None:
                name = f"{path.stem}: {kind}{' everywhere' if which is None else ''}"
                yield name, sound, (made.text, made.weights)


def seconds(file: File, path: Path, runs: int, beside: Path) -> tuple[float, float]:
    """The least time for a file, and for a sound one with which it takes turns."""
    path.write_text(file[0], encoding="utf-8")
    path.with_suffix(".bin").write_bytes(file[1])
    call = [sys.executable, "-m", "irshape", "validate", "--no-cache", "--quiet"]
    pairs = [
        [measured([*call, str(each)]).computed for each in (path, beside)] for _ in range(runs)
    ]
    faulty, sound = (min(times) for times in zip(*pairs, strict=True))
    return faulty, sound


def table(title: str, rows: Iterator[tuple[str, File, File]], folder: Path, runs: int) -> None:
    print(f"\n{title}: faulty, sound, ratio")
    ratios = []
    for name, sound, faulty in rows:
        beside = folder / "sound.xml"
        beside.write_text(sound[0], encoding="utf-8")
        beside.with_suffix(".bin").write_bytes(sound[1])
        times = seconds(faulty, folder / "faulty.xml", runs, beside)
        ratios.append(times[0] / times[1])
        print(f"{times[0]:7.2f} {times[1]:7.2f} {ratios[-1]:6.2f}  {name}", flush=True)
    ratios.sort()
    if ratios:
        tenth = ratios[min(len(ratios) - 1, round(0.9 * len(ratios)))]
        print(f"median {statistics.median(ratios):.2f}, nine of ten within {tenth:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted = (
            (name, written(fault.network), fault.change(*written(fault.network)))
            for name, fault in FAULTS.items()
        )
        table("small networks", planted, folder, given.runs)
        sound = written(image_network)
        table("one wide layer", ((name, sound, file) for name, file in wide()), folder, given.runs)
        large = repeated(EXAMPLES / "encoder.xml", 35_000, folder)
        for path in (*sorted(EXAMPLES.glob("*.xml")), *given.networks, large):
            table(path.stem, edits(path), folder, given.runs)


if __name__ == "__main__":
    main()
