"""The rows of the differential tests, asked of many releases of OpenVINO.

    python tests/differential/releases.py record FOLDER              # an hour and more
    python tests/differential/releases.py page FOLDER      # writes tests/measured/releases.md
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
from differential.coverage import cases  # noqa: E402
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
    number = len(list(cases()))
    sample = SAMPLE if len(recorded) < number else ""
    lines = [INTRODUCTION.format(rows=f"{len(recorded):,}", all=f"{number:,}", sample=sample)]
    lines += ["## All rows", "", *_summary(recorded, releases), "", NEWEST_TOO]
    lines += ["## The examples", "", EXAMPLES_INTRODUCTION, *_examples(folder, releases), ""]
    lines += ["## What `--target` says", "", TOLD_INTRODUCTION, *_told(recorded, releases), ""]
    lines += [FACTS_INTRODUCTION, *fact_rows(recorded), ""]
    lines += [NOT_TOLD, "## What older releases do otherwise", "", OLDER_INTRODUCTION]
    lines += _older(recorded, releases)
    lines += ["", "## By version of an operation", "", BY_VERSION_INTRODUCTION]
    lines += [f"| operation | {' | '.join(releases)} |", "|---" * (len(releases) + 1) + "|"]
    by_version: dict[str, list[Row]] = {}
    for row in recorded:
        by_version.setdefault(row.operation, []).append(row)
    for version in sorted(by_version, key=str.lower):
        if " of " not in version:  # a row about an opset that lacks the operation
            cells = (_cell(by_version[version], release) for release in releases)
            lines.append(f"| {version} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


INTRODUCTION = """# Agreement with OpenVINO releases

irshape's shapes and values are those of OpenVINO 2026.4. This page says how far they hold for the
releases before it. {rows} of the {all} rows of the differential tests were asked of each release:
small IRs with one operation each, in all versions, static and dynamic, many of them with inputs.
{sample}`python tests/differential/releases.py` makes the environments, asks, and writes this page.
`irshape requires` and `irshape validate --target` use the same facts. The rows are also built into
an archive for other readers of IR: `python tests/corpus/build.py ir-corpus.zip`.
"""

SAMPLE = """\
All rows that six of the releases did not treat alike are among them, and others from all tables.
"""

NEWEST_TOO = """\
Where the values of 2026.4 differ, [the known differences](../../docs/differences.md) say why.
`not run` are mostly rows with an input of any rank, which the CPU plugin of no release runs.
"""

NOT_TOLD = """\
## What `irshape requires` does not know

21 releases, from 2023.0 to 2026.4, were asked about 13,739 more IRs, which OpenVINO 2026.4 reads,
some of them altered on purpose. Of 288,519 answers irshape gives 99.994 % as they are, and it says
of no release that it refuses what it reads. It says that a release reads the model, and the release
refuses it, of one IR, in the 17 releases from 2023.2 to 2026.2. Its input was altered to the shape
`[0,1,10]`. A Loop joins this state with a constant `[1,1,10]` along another axis. The body declares
the state as `[?,?,10]`, which 2026.3 and later go by; the older releases infer the body with the
shape of the first iteration.

IR608 was compared with what the releases inferred of these IRs. Of 268,484 answers of releases that
read them, it is reported wrongly in 3, and missing in 35: one Loop in 19 releases, for the reason
above, and layers inside bodies.

Whole models were asked about as well: 31 networks, plain and quantized by NNCF; 219 modules of
PyTorch, of a few operations each; 39 decoders of language models, with caches, states, weights
compressed in ten ways, and paged attention; 44 architectures of transformers; 208 models of one
operation each; and 367 files that the 21 releases converted from ONNX and saved themselves. Of
16,598 answers whether a release reads them, irshape gives all but 12: once the CPU plugin is
loaded, 2026.2 and later read the paged attention that they refuse before, and that irshape calls an
internal operation. Of 15,160 answers whether a release compiles for the CPU what the newest does,
none is missing, and 49 say that it does not although it does: 45 of these models fail when they
run, 4 run (an Identity that is optimized away, and a Convert of u2 in 2025.4). All 15,569 answers
about types and shapes are right. The architectures were asked of ten releases, all others of 21.

69 more IRs were made by the Model Optimizer of 2022.3 and 2024.6 from ONNX, and by five releases
from TensorFlow, TensorFlow Lite and ONNX. All 1,449 answers whether a release reads them were
right; a crash of Unique in four releases, and a wider shape in two, were not known and are told
since. Six tokenizers and detokenizers were asked of eight releases from 2024.0 to 2026.0, and six
altered ones of the six from 2024.2 to 2025.2, with the package openvino-tokenizers of the same
release: all 84 answers are right since it is known that each release of the package demands its own
OpenVINO.

90 more IRs were made by the Model Optimizer of 2021.4 to 2023.2 from 22 networks in ONNX, and
2,045 rows of the differential tests were given attributes, element types, shapes and opsets drawn
anew, over all versions of all operations. The answers of the 21 releases whether they read them
were known for all the IRs, and for 38,495 of 38,500 of the rows.

1,938 more rows were drawn with other weights: element types that are new, packed or rare, ranks of
0, sizes of 0. Of 36,140 answers whether a release reads them, 16 were wrong: constants of i4, u4,
u2, u3 and u6 that decide shapes, which older releases read for other numbers, and the newest too
where there are several. Those are errors now, and the others are facts. 35,396 of the 35,400
answers about rows that are no errors are right since, and none says that a release reads what it
refuses; nor does one about the rows drawn before. 24 networks, exported from PyTorch as ONNX, were
converted by the converter of each of the 21 releases: all 4,074 answers about the 194 IRs that
differ are right, and all 915 about 48 of them that the CPU plugin was to compile.
"""

EXAMPLES_INTRODUCTION = """\
`irshape crosscheck` of each model in `examples/`, run in an environment with the release: `equal`
means that all types, shapes and values agree, layer by layer; otherwise the number of outputs that
differ by themselves or behind others is given.
"""

TOLD_INTRODUCTION = """\
Of each row that irshape and the newest release read, what `irshape validate --target` reports is
compared with what the release did: whether it reads the row (IR605), whether its values are those
of the newest (IR606), whether its CPU plugin runs what that of the newest runs (IR607), and whether
it infers the same types and shapes as the newest (IR608). Three counts: how often a code is
reported and true, reported and false, and not reported where it would be true. The last is not
counted for IR606, which is about inputs and attributes that a release ignores: values that differ
for other reasons are listed [below](#what-older-releases-do-otherwise).
"""

FACTS_INTRODUCTION = """\
These are the facts, from `irshape/releases.py`. IR605 is also reported by the release that brought
an opset, an operation, an element type or a version of the IR. The last column has the number of
rows that a fact concerns; where it is 0, other IRs were asked about.

| rule | what | releases | what a release does | rows |
|---|---|---|---|---|"""

OLDER_INTRODUCTION = """\
The list of `tests/differential/known_differences.py`. `takes`: the release reads what the newest
and irshape refuse. `reads`: it reads what irshape says that it refuses. `refuses`, `crashes`: it
does not read, or does not survive, what the newest reads. `not run`: its CPU plugin does not run
it. `shapes`, `values`: they are others. What `--target` reports (IR605 to IR608) is not repeated.
The number is that of the rows that show it in one release or more.

| what | operations | releases | difference | rows |
|---|---|---|---|---|"""

BY_VERSION_INTRODUCTION = """\
A cell has two counts: the rows whose types and shapes agree with irshape's, of those that the
release reads; then the rows whose values agree, of those that its CPU plugin runs. One number
stands for both where all agree. A dash stands for a version that the release does not read. A wider
shape agrees where irshape is known to be tighter than OpenVINO.
"""


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
    for code, fact in all_facts():
        before = f"before {written(fact.right)}"
        span = before if fact.since == FIRST else f"{written(fact.since)} to {before}"
        does = fact.consequence or doing[code]
        yield f"| {code} | {fact.what} | {span} | {does} | {concerned[code, fact]} |"


def _older(recorded: Sequence[Row], releases: Sequence[str]) -> Iterator[str]:
    """The list of what older releases do otherwise, with the number of rows that show it."""
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
