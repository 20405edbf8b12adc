"""How well single faults are told and cured, kind by kind, as a Markdown table.

python tests/mutation/measure.py [--places N] [--kinds a,b] [--distinct] FILE…
python tests/mutation/measure.py --results FILE.jsonl [--until HH:MM] … FILE…
python tests/mutation/measure.py --show FILE.jsonl…
python tests/mutation/measure.py --two N FILE…

Every kind of `faults`, `single_faults`, `structure_faults`, `hand_faults` and `text_faults` is
planted at every place of each file, or at N of them. Of the places where the fault contradicts
anything: how often there is exactly one error or warning, how often it is at the element that was
changed (a dimension counts as its port; of what is missing, the layer that lacks it), how often the
safe fixes, and those with `unsafe`, give the original back, how often the original is among the
first three candidates, and how many fixes leave more errors and warnings than there were.

With --distinct, of places that repeat each other (see `planting`) one is taken. With --results,
each place is appended to a file as it is measured, in a random order that the seed decides, so that
what is done at any time is a fair sample; places that the file has are not measured again. With
--two, faults of two kinds are planted in two layers of one file, and it is counted how often an
error or warning stands at each.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent)]

from judging import ANSWERS, Judge  # noqa: E402
from pairs import two_faults  # noqa: E402
from planting import FORESEEN, UNFORESEEN, VALUES, Original, Place  # noqa: E402
from slip_faults import BLIND  # noqa: E402

LOST = {
    *VALUES,
    *("truncated-file", "ampersand", "deleted-layer", "bypassed-layer"),
    "contents-of-the-next-layer",
}
"""Kinds of faults after which nothing in the file says what was there."""
HEADINGS = ("exactly one", "at the element", "safe", "unsafe", "first three")
EVERY = 1 << 60


def sample(kind: str, places: list[Place], most: int, seed: str) -> list[Place]:
    """Some of the places of a kind in a file; more places hold those of fewer."""
    order = list(range(len(places)))
    random.Random(f"{seed} {kind}").shuffle(order)
    return [places[at] for at in sorted(order[:most])]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--places", type=int, default=EVERY, help="of each kind in each file")
    parser.add_argument("--share", type=float, default=1.0, help="of the kinds, in each file")
    parser.add_argument("--kinds", default=",".join(FORESEEN))
    parser.add_argument("--unforeseen", action="store_true", help="the kinds of `slip_faults`")
    parser.add_argument("--blind", action="store_true", help="the last of these kinds")
    parser.add_argument("--distinct", action="store_true", help="one of places that are alike")
    parser.add_argument("--results", type=Path, help="where each place is noted")
    parser.add_argument("--until", default="", help="HH:MM, when to stop")
    parser.add_argument("--misses", type=Path, help="where what falls short is noted")
    parser.add_argument("--show", action="store_true", help="the files are results")
    parser.add_argument("--seed", default="")
    parser.add_argument("--two", type=int, default=0, help="pairs of faults in each file")
    options = parser.parse_args()
    if options.blind:
        options.kinds = ",".join(BLIND)
    if options.unforeseen:
        options.kinds = ",".join(kind for kind in UNFORESEEN if kind not in BLIND)
    if options.two:
        print(two_faults(options.files, options.two, options.seed))
        return
    rows = read(options.files) if options.show else list(measured(options))
    if options.misses:
        misses = [row for row in rows if "told" in row]
        options.misses.write_text("".join(json.dumps(miss) + "\n" for miss in misses))
    show(rows)


def read(files: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each kind in each file, of how many places there are, then one for each place."""
    results = options.results
    old = read([results]) if results is not None and results.exists() else []
    done = {(row["file"], row["kind"], row.get("place")) for row in old}
    yield from old
    with ExitStack() as stack:
        log = None if results is None else stack.enter_context(results.open("a"))
        work: list[tuple[Judge, Place]] = []
        for model in options.files:
            judge = stack.enter_context(Judge(Original(model)))
            if not judge.sound():
                print(f"{model} is not sound", file=sys.stderr)
                continue
            for row, places in planned(judge.original, options):
                if (row["file"], row["kind"], None) not in done:
                    note(row, log)
                    yield row
                work += [(judge, each) for each in places]
            print(model, len(work), file=sys.stderr)
        gc.freeze()
        if log is not None:
            random.Random(options.seed).shuffle(work)
        now = commit()
        for judge, place in work:
            key = (str(judge.original.path), place.kind)
            if (*key, place.index) in done:
                continue
            if options.until and datetime.now().strftime("%H:%M") >= options.until:
                break
            row = {"file": key[0], "kind": key[1], "place": place.index, "commit": now}
            row |= judge.judge(place)
            note(row, log)
            yield row


def planned(
    original: Original, options: argparse.Namespace
) -> Iterator[tuple[dict[str, Any], list[Place]]]:
    drawn = random.Random(f"{options.seed} {original.path.name}")
    for kind in options.kinds.split(","):
        if drawn.random() >= options.share:
            continue
        every = list(original.places(kind, distinct=options.distinct, chosen=()))
        places = [place for place in every if place is not None]
        row = {"file": str(original.path), "kind": kind, "every": len(every)}
        seed = f"{options.seed} {original.path.name}"
        wanted = {place.index for place in sample(kind, places, options.places, seed)}
        texts = original.places(kind, distinct=options.distinct, chosen=wanted) if wanted else ()
        chosen = [place for place in texts if place is not None and place.index in wanted]
        yield row | {"distinct": len(places)}, chosen


def note(row: dict[str, Any], log: Any) -> None:
    if log is not None:
        log.write(json.dumps(row) + "\n")
        log.flush()


def commit() -> str:
    """The commit of the code, with a plus where files differ from it."""
    answers = [
        subprocess.check_output(["git", *words], cwd=HERE, text=True).strip()
        for words in (("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "-uno"))
    ]
    return answers[0] + "+" * bool(answers[1])


def show(rows: list[dict[str, Any]]) -> None:
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        count = counts.setdefault(row["kind"], Counter())
        if "place" in row:
            count["places"] += 1
        for name in ("every", "distinct", "silent", "worse", *ANSWERS):
            count[name] += row.get(name, 0)
    total: Counter[str] = Counter()
    print(f"| fault | places | measured | silent | {' | '.join(HEADINGS)} | worse |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in sorted(counts, key=(*FORESEEN, *UNFORESEEN).index):
        total.update(counts[kind])
        print(table_row(kind.replace("-", " "), counts[kind], kind in LOST))
    print(table_row("all", total, False))
    print()
    seen = total["places"] - total["silent"]
    for name, heading in zip(ANSWERS, HEADINGS, strict=True):
        low, high = interval(total[name], seen)
        shares = [share(count, name) for count in counts.values()]
        known = [each for each in shares if each is not None]
        print(
            f"{heading}: {total[name]} of {seen}, {100 * total[name] / max(1, seen):.2f} % "
            f"({100 * low:.2f} to {100 * high:.2f}); mean of kinds "
            f"{100 * sum(known) / max(1, len(known)):.1f} %"
        )
    commits = sorted({row["commit"] for row in rows if "commit" in row})
    print(
        f"{total['every']} places, {total['distinct']} of them distinct, "
        f"{total['places']} measured; by {', '.join(commits)}"
    )


def interval(hits: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson."""
    if not count:
        return 0.0, 1.0
    p = hits / count
    centre = (p + z * z / (2 * count)) / (1 + z * z / count)
    half = z * (p * (1 - p) / count + z * z / (4 * count * count)) ** 0.5 / (1 + z * z / count)
    return max(0.0, centre - half), min(1.0, centre + half)


def share(count: Counter[str], name: str) -> float | None:
    seen = count["places"] - count["silent"]
    return count[name] / seen if seen else None


def table_row(name: str, count: Counter[str], lost: bool) -> str:
    shares = [
        "–"
        if (each := share(count, column)) is None or (lost and column not in ("one", "at"))
        else f"{100 * each:.1f}"
        for column in ANSWERS
    ]
    numbers = [f"{count[column]:,}" for column in ("every", "places", "silent")]
    return f"| {' | '.join([name, *numbers, *shares, str(count['worse'])])} |"


if __name__ == "__main__":
    main()
