"""How much longer a file with a single fault takes to validate for the search for its cause.

python tests/mutation/measure_speed.py [--places N] [--share S] [--unseen] [--rows FILE] FILE…

Faults of every kind of `planting` are planted at up to N places of each file, of those that do not
repeat each other. Each broken file is validated with the search and without it, in turns, in one
process that has done so before: the processor's time of the fastest of some runs. Without the
search, the same findings are reported, each by itself. Of a text that is not well-formed, the
parser reads no more than what stands before the fault: it is compared with the sound file, if that
takes longer.

With --unseen, each is validated in a process that has validated other files, sound and broken, but
none like it: nothing of it is remembered.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, TypeVar
from unittest.mock import patch

from judging import graver
from measure import sample
from planting import FORESEEN, UNFORESEEN, Original

import irshape
from irshape.checking import one
from irshape.diagnosis.text import several

Answer = TypeVar("Answer")
Run = Callable[[Callable[[], Answer]], Answer]
LIMIT = 2.0
"""How many times as long as without the search a file should take at most."""


@contextmanager
def no_search() -> Iterator[None]:
    """Findings are reported as the rules make them."""
    with (
        patch.object(one, "_diagnoses", lambda *_: []),
        patch.object(several, "malformed_causes", lambda *_: []),
    ):
        yield


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def here(work: Callable[[], Answer]) -> Answer:
    return work()


def apart(work: Callable[[], Answer]) -> Answer:
    """What some work gives in a process of its own, which leaves nothing behind."""
    answers, asked = os.pipe()
    if not os.fork():
        try:
            with os.fdopen(asked, "wb") as to:
                pickle.dump(work(), to)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(asked)
    with os.fdopen(answers, "rb") as answer:
        result: Answer = pickle.load(answer)
    os.wait()
    return result


def times(path: Path, rounds: int, run: Run[float]) -> tuple[float, float]:
    """Without the search and with it."""

    def validate() -> object:
        return irshape.validate(path)

    if run is here:
        validate()
    without = within = float("inf")
    for _ in range(rounds):
        within = min(within, run(lambda: seconds(validate)))
        with no_search():
            without = min(without, run(lambda: seconds(validate)))
    return without, within


def acquaint(models: list[Path], kinds: list[str]) -> None:
    """Validates models, and some faults in them."""
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            original, path = Original(model), Path(folder) / model.name
            if original.weights:
                path.with_suffix(".bin").write_bytes(original.weights)
            texts = [original.text]
            for kind in kinds[::10]:
                places = [each for each in original.places(kind, distinct=True) if each is not None]
                texts += [each.apply(original.text) for each in places[:1] if not each.in_weights]
            for text in texts:
                path.write_bytes(text)
                irshape.validate(path)


def is_read(path: Path) -> bool:
    """Whether any layer can be read."""
    return any(file.layers for file in irshape.validate(path).files)


def rows_of(
    model: Path, kinds: list[str], places: int, rounds: int, seed: str, run: Run[Any]
) -> Iterator[dict[str, Any]]:
    """What each place of a file takes."""
    with tempfile.TemporaryDirectory() as folder:
        original, path = Original(model), Path(folder) / model.name
        weights = path.with_suffix(".bin")
        if original.weights:
            weights.write_bytes(original.weights)
        path.write_bytes(original.text)
        if run(lambda: len(graver(irshape.validate(path).diagnostics))):
            print(f"{model} is not sound", file=sys.stderr)
            return
        sound = times(path, rounds, run)[0]
        for kind in kinds:
            every = [place for place in original.places(kind, distinct=True) if place is not None]
            for place in sample(kind, every, places, seed + model.name):
                changed = weights if place.in_weights else path
                before = changed.read_bytes()
                changed.write_bytes(place.apply(before))
                without, within = times(path, rounds, run)
                if within / without > LIMIT:  # again, lest the machine was busy
                    again = times(path, rounds, run)
                    without, within = min(without, again[0]), min(within, again[1])
                own = without if run(lambda: is_read(path)) else max(without, sound)
                changed.write_bytes(before)
                row = {"file": str(model), "kind": kind, "place": place.index}
                row |= {"where": str(place.where)}
                yield row | {"sound": sound, "without": own, "within": within}


def show(rows: list[dict[str, Any]]) -> None:
    """A table by file: the ratios, and how many are above the limit."""
    print("| model | places | median | 95 % | 99 % | worst | above 2 | in percent |")
    print("|---|---|---|---|---|---|---|---|")
    by_file: dict[str, list[float]] = {}
    for row in rows:
        by_file.setdefault(Path(row["file"]).stem, []).append(row["within"] / row["without"])
    for name, ratios in [*by_file.items(), ("all", [r for rs in by_file.values() for r in rs])]:
        ratios.sort()
        above = sum(ratio > LIMIT for ratio in ratios)
        cells = [median(ratios), *(ratios[int(at * (len(ratios) - 1))] for at in (0.95, 0.99, 1))]
        print(
            f"| {name} | {len(ratios)} | {' | '.join(f'{cell:.2f}' for cell in cells)} "
            f"| {above} | {100 * above / len(ratios):.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--places", type=int, default=2)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--share", type=float, default=1.0, help="of the kinds, in each file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", default="")
    parser.add_argument("--unseen", action="store_true", help="of files that are not known")
    parser.add_argument("--rows", type=Path, help="where each place goes, as a line of JSON")
    options = parser.parse_args()
    kinds = options.kinds.split(",") if options.kinds else [*FORESEEN, *UNFORESEEN]
    rows: list[dict[str, Any]] = []
    for model in options.files:
        chosen = random.Random(options.seed + model.name)
        of_file = [kind for kind in kinds if chosen.random() < options.share]

        def of_model(model: Path = model, of_file: list[str] = of_file) -> list[dict[str, Any]]:
            if options.unseen:
                acquaint([*islice((each for each in options.files if each != model), 3)], kinds)
            run = apart if options.unseen else here
            return list(rows_of(model, of_file, options.places, options.rounds, options.seed, run))

        rows += apart(of_model)
        print(model, file=sys.stderr)
        if options.rows:
            options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))
    show(rows)


if __name__ == "__main__":
    main()
