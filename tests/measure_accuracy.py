"""Runs the operation tests, cross-checks the examples, and writes the tables of accuracy.md.

The page has the largest error against OpenVINO's CPU plugin for each operation version and element
type.

python tests/measure_accuracy.py [pytest arguments]          tests/ops, where nothing is named

What counts is what the tests compare: a case listed in known_differences.py is marked, not counted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from differential.coverage import with_tables  # noqa: E402

import irshape  # noqa: E402
from irshape.numbers.statistics import Errors, errors  # noqa: E402
from irshape.ops import registry  # noqa: E402

PAGE = ROOT / "tests" / "measured" / "accuracy.md"


class Row:
    """What was seen of one operation version and element type."""

    def __init__(self) -> None:
        self.results = 0
        self.known = 0
        self.absolute = self.relative = 0.0
        self.ulp = 0
        self.exact = True

    def add(self, ours: Any, theirs: Any, found: Errors) -> None:
        if found.max_abs is None:
            self.results += 1
            self.exact = self.exact and bool(
                np.array_equal(ours, theirs, equal_nan=ours.dtype.kind not in "OUSb")
            )
        else:
            self.add_errors(found)

    def add_errors(self, found: Errors) -> None:
        assert found.max_abs is not None
        self.results += 1
        self.absolute = max(self.absolute, found.max_abs)
        self.relative = max(self.relative, found.max_abs / found.scale if found.scale else 0.0)
        self.ulp = max(self.ulp, found.ulp or 0)
        self.exact = (
            self.exact
            and found.max_abs == 0
            and found.nan[0] == found.nan[1]
            and found.inf[0] == found.inf[1]
        )

    def cells(self) -> str:
        known = str(self.known) if self.known else ""
        if not self.results:
            return f"0 | | | | {known}"
        if self.exact:
            return f"{self.results} | exact | | | {known}"
        return (
            f"{self.results} | {self.absolute:.2g} | {self.relative:.1e} | "
            f"{self.ulp if self.ulp < 100_000 else f'{self.ulp:.0e}'} | {known}"
        )


class Recorder:
    """Looks over the shoulder of `differential.compare`."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}

    def pytest_collection_finish(self) -> None:
        from differential import compare

        original = compare.compare_with_theirs

        def recorded(talk: Any, known: Any, arrays: list[tuple[str, Any]]) -> None:
            theirs = talk.answer.execution.results.values()
            for (element_type, array), other in zip(arrays, theirs, strict=True):
                if array.shape == other.shape:
                    row = self.row(registry.find(talk.case.type, talk.case.version), element_type)
                    if "values" in known:
                        row.known += 1
                    else:
                        row.add(array, other.array, errors(other.array, array))
            original(talk, known, arrays)

        compare.compare_with_theirs = recorded

    def row(self, operation: Any, element_type: str) -> Row:
        key = operation.type_name(), f"{operation.since:02}", element_type
        return self.rows.setdefault(key, Row())

    def examples(self) -> Iterator[str]:
        """Cross-checks the examples; yields their table. Errors of layers go into the rows."""
        yield (
            "| model | outputs | values compared | equal | largest error | of what is allowed "
            "| at |"
        )
        yield "|---" * 7 + "|"
        for path in sorted((ROOT / "examples").glob("*.xml")):
            comparison = irshape.crosscheck(irshape.load(path))
            rows = [row for row in comparison.rows if row.value_verdict != "not compared"]
            for row in rows:
                found = row.own_errors or row.errors
                operation = registry.find(row.layer.type, row.layer.version)
                if (
                    found.max_abs is not None
                    and (
                        row.own_verdict if row.own_verdict != "not compared" else row.value_verdict
                    )
                    == "equal"
                    and not isinstance(operation, registry.UnknownOperation)
                ):
                    self.row(operation, row.inferred.element_type).add_errors(found)
            worst = (comparison.worst(1) or rows[:1])[0]
            equal = (
                f"{comparison.count('equal')}{'' if comparison.ok else ', and something departs'}"
            )
            at = f"{worst.layer.type} `{worst.layer.name}`"
            yield (
                f"| {path.stem} | {len(comparison.rows)} | {len(rows)} | {equal} | "
                f"{worst.error or 0:.2g} | {worst.excess:.1%} | {at} |"
            )

    def versions(self) -> Iterator[str]:
        """How many results of operation versions were compared, and which versions were not."""
        versions = {key[:2] for key in self.rows}
        every = {
            (found.type_name(), f"{found.since:02}")
            for name in registry.type_names()
            for found in registry.versions(name)
        }
        absent = ", ".join(f"{name}-{int(since)}" for name, since in sorted(every - versions))
        total = sum(row.results for row in self.rows.values())
        yield "| results | operation versions | not compared |"
        yield "|---|---|---|"
        yield f"| {total:,} | {len(versions)} of {len(every)} | {absent} |"

    def errors(self) -> Iterator[str]:
        """The largest error by operation version and element type."""
        yield (
            "| operation | element type | results | largest error | relative | ulp "
            "| known differences |"
        )
        yield "|---" * 7 + "|"
        for (name, since, kind), row in sorted(self.rows.items()):
            yield f"| {name}-{int(since)} | {kind} | {row.cells()} |"

    def page(self) -> str:
        examples = list(self.examples())
        return with_tables(PAGE, (self.versions(), examples, self.errors()))


def main() -> None:
    recorder = Recorder()
    status = pytest.main(sys.argv[1:] or [str(ROOT / "tests" / "ops"), "-q"], plugins=[recorder])
    if recorder.rows and not sys.argv[1:]:
        PAGE.write_text(recorder.page())
    elif recorder.rows:
        print(recorder.page())
    sys.exit(int(status))


if __name__ == "__main__":
    main()
