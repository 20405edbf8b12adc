"""The rows of the differential tests, asked of many releases of OpenVINO.

    python tests/differential/releases.py record FOLDER              # an hour and more
    python tests/differential/releases.py page FOLDER  # the tables of tests/measured/releases.md
    python tests/differential/releases.py check FOLDER --releases 2023.0 2026.4 --every 20

`record` makes an environment for each release in FOLDER, and adds to FOLDER/verdicts.jsonl a line
for each row: what irshape says of it, and what each release does with it. It goes on where it was
stopped. `check` asks a part of the rows, cross-checks the examples, and fails where a release
differs from irshape and nothing says that it would.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if not __package__:
    sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS / "ops")]

from differential.compare import NEWEST  # noqa: E402
from differential.coverage import cases, with_tables  # noqa: E402
from differential.environments import NEWEST_PATCHES, interpreter  # noqa: E402
from differential.known_differences import EXAMPLES, KNOWN, OLDER  # noqa: E402
from differential.older import (  # noqa: E402
    Row,
    Verdict,
    all_facts,
    compared,
    difference,
    differences,
    unexplained,
    with_claims,
)
from differential.oracle import Oracle  # noqa: E402
from irshape.releases import FIRST, parse_release, written  # noqa: E402

ROOT = TESTS.parent
PAGE = ROOT / "tests" / "measured" / "releases.md"
MODELS = sorted((ROOT / "examples").glob("*.xml"))
VERDICTS, CROSSCHECKS = "verdicts.jsonl", "crosschecks.json"

PASSES = 16
"""Rows are asked in so many passes over all of them: what is there early is a sample of all."""

TOGETHER = 10
"""How many rows a release is asked about at once."""


def asked(
    folder: Path, releases: Sequence[str], every: int, without: Iterable[int] = ()
) -> Iterator[tuple[int, Row]]:
    """What the releases do with each `every`-th row, by the number of the row."""
    all_cases, known = list(cases()), set(without)
    passes = [number for first in range(PASSES) for number in range(first, len(all_cases), PASSES)]
    numbers = [number for number in passes[::every] if number not in known]
    with ExitStack() as stack:
        oracles = {
            release: stack.enter_context(Oracle(python=interpreter(release, folder)))
            for release in releases
        }
        for start in range(0, len(numbers), TOGETHER):
            part = numbers[start : start + TOGETHER]
            yield from zip(
                part, compared([all_cases[number] for number in part], oracles), strict=True
            )


def record(folder: Path, releases: Sequence[str], every: int) -> None:
    """Adds the rows that FOLDER has not yet, and cross-checks the examples."""
    table = folder / VERDICTS
    recorded = [number for number, _ in rows(folder)] if table.exists() else []
    with table.open("a", encoding="utf-8") as file:
        for count, (number, row) in enumerate(asked(folder, releases, every, recorded)):
            entry = {"number": number, **asdict(row)}
            del entry["told"], entry["facts"]  # `page` asks irshape for them
            file.write(json.dumps(entry) + "\n")
            if count % TOGETHER == 0:
                file.flush()
                print(f"{count} rows", file=sys.stderr, flush=True)
    answers = folder / CROSSCHECKS
    crosschecked = json.loads(answers.read_text()) if answers.exists() else {}
    for release in releases:
        if release not in crosschecked:
            crosschecked[release] = crosschecks(folder, release)
            answers.write_text(json.dumps(crosschecked))


def rows(folder: Path) -> Iterator[tuple[int, Row]]:
    """The recorded rows, without what `--target` says of them."""
    with (folder / VERDICTS).open(encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            number, known = entry.pop("number"), tuple(entry.pop("known"))
            verdicts = {
                release: Verdict(**verdict) for release, verdict in entry.pop("verdicts").items()
            }
            yield number, Row(**entry, known=known, verdicts=verdicts)


def rows_with_claims(folder: Path) -> list[Row]:
    """The recorded rows, with what `--target` says of them now."""
    all_cases = list(cases())
    return [
        row if row.error else with_claims(row, all_cases[number]) for number, row in rows(folder)
    ]


def crosschecks(folder: Path, release: str) -> dict[str, str]:
    """What `irshape crosscheck` of each example says in the environment of a release."""
    python = str(interpreter(release, folder))
    answers = {}
    for model in MODELS:
        command = [python, "-m", "irshape", "crosscheck", "--format", "json", str(model)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        answers[model.stem] = _crosscheck(done.stdout) or done.stderr[-300:]
    return answers


def _crosscheck(answer: str) -> str:
    """`equal`, or what is not, in a few words."""
    if not answer:
        return ""
    document = json.loads(answer)
    problems = " ".join(document["problems"])
    if "refuses" in problems:
        return "refuses"
    if problems:
        return "crashes" if "crashed" in problems else "does not run"
    differing = sum(row["value_verdict"] == "differs" for row in document["outputs"])
    verb = "differs" if differing == 1 else "differ"
    return f"{differing} {verb}" if differing else "equal"


def check(folder: Path, releases: Sequence[str], every: int) -> int:
    """Prints what nothing explains, and of how many rows values were compared; returns how much is
    unexplained, a release without any such row included."""
    count = 0
    for release in releases:
        for example, answer in crosschecks(folder, release).items():
            if answer != EXAMPLES.get((example, release), "equal"):
                count += 1
                print(f"{release}  {example}: {answer}")
    older = [release for release in releases if parse_release(release) != NEWEST]
    print(f"{count} examples differ unexpectedly", flush=True)
    with_values = Counter[str]()
    for _, row in asked(folder, releases, every):
        with_values.update(each for each in older if row.verdicts[each].values)
        for release in older:
            difference = unexplained(row, parse_release(release))
            if difference:
                count += 1
                print(f"{release}  {difference[0]:8} {row.operation}  {row.id}  {difference[1]}")
    for release in older:
        count += not with_values[release]
        print(f"{release}  values of {with_values[release]:,} rows compared")
    return count


# the page


def page(folder: Path) -> str:
    recorded = rows_with_claims(folder)
    releases = sorted(recorded[0].verdicts, key=parse_release)
    return with_tables(
        PAGE,
        (
            _summary(recorded, releases),
            _examples(folder, releases),
            _told(recorded, releases),
            fact_rows(recorded),
            _older(recorded, releases),
            _by_version(recorded, releases),
        ),
    )


def _by_version(recorded: Sequence[Row], releases: Sequence[str]) -> Iterator[str]:
    yield f"| operation | {' | '.join(releases)} |"
    yield "|---" * (len(releases) + 1) + "|"
    by_version: dict[str, list[Row]] = {}
    for row in recorded:
        by_version.setdefault(row.operation, []).append(row)
    for version in sorted(by_version, key=str.lower):
        if " of " not in version:  # a row about an opset that lacks the operation
            cells = (_cell(by_version[version], release) for release in releases)
            yield f"| {version} | {' | '.join(cells)} |"


def _summary(recorded: Sequence[Row], releases: Sequence[str]) -> Iterator[str]:
    heads = (
        "reads and refuses as irshape says",
        "types and shapes agree",
        "values agree",
        "not run",
    )
    yield f"| release | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for release in releases:
        counts: Counter[str] = Counter()
        for row in recorded:
            verdict = row.verdicts[release]
            said = not row.error and "IR605" not in row.told[release]
            counts["claim"] += 1
            counts["claim right"] += (verdict.reads == "accepted") == said or _known_reading(row)
            counts["shapes"] += bool(verdict.shapes)
            counts["shapes right"] += _shapes_agree(row, verdict)
            counts["values"] += verdict.values in ("same", "other", "crashed")
            counts["values right"] += verdict.values == "same"
            counts["not run"] += verdict.values == "not run"
        shares = (
            f"{counts[f'{what} right']:,} of {counts[what]:,}"
            for what in ("claim", "shapes", "values")
        )
        yield f"| {NEWEST_PATCHES[release]} | {' | '.join(shares)} | {counts['not run']} |"


def _told(recorded: Sequence[Row], releases: Sequence[str]) -> Iterator[str]:
    """How often what `--target` says is so."""
    codes = ("IR605", "IR606", "IR607", "IR608")
    yield f"| release | {' | '.join(codes)} | of all that is known, right |"
    yield "|---" * (len(codes) + 2) + "|"
    for release in releases:
        counts: Counter[tuple[str, bool, bool]] = Counter()
        for row in recorded:
            for code, is_so in differences(row, release, releases[-1]).items():
                counts[code, code in row.told[release], is_so] += 1
        pairs = ((True, True), (True, False), (False, True))
        cells = [
            " · ".join(f"{counts[code, *pair]:,}" for pair in pairs[: 2 if code == "IR606" else 3])
            for code in codes
        ]
        del counts["IR606", False, True]
        right = sum(count for (_, says, is_so), count in counts.items() if says == is_so)
        share = f"{100 * right / max(counts.total(), 1):.2f} %"
        yield f"| {release} | {' | '.join(cells)} | {share} |"


def fact_rows(recorded: Sequence[Row]) -> Iterator[str]:
    """The tables of facts about details, with the number of rows that each concerns."""
    concerned = Counter(fact for row in recorded for fact in row.facts)
    doing = {"IR605": "refuses it", "IR607": "does not run it on the CPU"}
    yield "| rule | what | releases | what a release does | rows |"
    yield "|---" * 5 + "|"
    for code, fact in all_facts():
        before = f"before {written(fact.right)}"
        span = before if fact.since == FIRST else f"{written(fact.since)} to {before}"
        does = fact.consequence or doing[code]
        yield f"| {code} | {fact.what} | {span} | {does} | {concerned[code, fact]} |"


def _older(recorded: Sequence[Row], releases: Sequence[str]) -> Iterator[str]:
    """The list of what older releases do otherwise, with the number of rows that show it."""
    yield "| what | operations | releases | difference | rows |"
    yield "|---" * 5 + "|"
    shown = {entry: set[str]() for entry in OLDER}
    for row in recorded:
        for release in releases[:-1]:
            what = difference(row, release)
            for entry in OLDER if what else ():
                if entry.covers(row.operation, what, parse_release(release)):
                    shown[entry].add(row.id)
    for entry, ids in shown.items():
        operations = ", ".join(entry.operations)
        yield f"| {entry.what} | {operations} | {entry.span} | {entry.reason} | {len(ids)} |"


def _known_reading(row: Row) -> bool:
    """Whether irshape is known to be stricter or more lenient than OpenVINO about a row."""
    return any(KNOWN[key].kind in ("stricter", "lenient", "crash") for key in row.known)


def _shapes_agree(row: Row, verdict: Verdict) -> bool:
    opposite = {"tighter": "wider", "wider": "narrower"}
    known = {opposite.get(KNOWN[key].kind) for key in row.known}
    return verdict.shapes == "same" or verdict.shapes in known


def _cell(of_version: Sequence[Row], release: str) -> str:
    pairs = [(row, row.verdicts[release]) for row in of_version]
    read = [(row, verdict) for row, verdict in pairs if verdict.shapes]
    if not read:
        return "–"
    ran = [verdict for _, verdict in pairs if verdict.values in ("same", "other", "crashed")]
    shapes = _share(sum(_shapes_agree(row, verdict) for row, verdict in read), len(read))
    values = _share(sum(verdict.values == "same" for verdict in ran), len(ran))
    return f"{shapes} · {values}" if ran else shapes


def _share(right: int, count: int) -> str:
    return str(count) if right == count else f"{right}/{count}"


def _examples(folder: Path, releases: Sequence[str]) -> Iterator[str]:
    answers = json.loads((folder / CROSSCHECKS).read_text())
    yield "| example | equal in | others |"
    yield "|---|---|---|"
    for model in MODELS:
        spans: dict[str, list[str]] = {"equal": []}
        for answer, span in groupby(releases, key=lambda release: answers[release][model.stem]):
            first, *rest = span
            ends = f"{first} to {rest[-1]}" if rest else first
            spans.setdefault(re.sub(r"\s+", " ", answer), []).append(ends)
        equal = ", ".join(spans.pop("equal")) or "none"
        others = "; ".join(f"{', '.join(ends)}: {answer}" for answer, ends in spans.items())
        yield f"| {model.stem} | {equal} | {others or 'none'} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("do", choices=("record", "page", "check"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--releases", nargs="+", default=[*NEWEST_PATCHES], choices=NEWEST_PATCHES)
    parser.add_argument("--every", type=int, default=1, help="only every Nth row")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if given.do == "record":
        record(folder, given.releases, given.every)
    elif given.do == "page":
        PAGE.write_text(page(folder), encoding="utf-8")
    else:
        sys.exit(1 if check(folder, given.releases, given.every) else 0)


if __name__ == "__main__":
    main()
