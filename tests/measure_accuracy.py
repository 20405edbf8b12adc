"""Runs the operation tests, cross-checks the examples, and writes tests/measured/accuracy.md.

The page has the largest error against OpenVINO's CPU plugin for each operation version and element
type.

python tests/measure_accuracy.py [pytest arguments]          tests/ops, where nothing is named

What counts is what the tests compare: a case listed in known_differences.py is marked, not counted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import irshape  # noqa: E402
from irshape.numbers.statistics import Errors, errors  # noqa: E402
from irshape.ops import registry  # noqa: E402

HEAD = """# Accuracy

This page lists the largest error of irshape against the CPU plugin of OpenVINO {version}, which
computes in f32, by operation version and element type of the result. It covers every case of the
operation tests that both run, and every layer of the examples, which irshape computes from the
plugin's own inputs. `python tests/measure_accuracy.py` writes this page.

- *relative* is the largest absolute error, divided by the largest magnitude in its tensor.
- *ulp* is the largest error in units in the last place of the element type. Near zero these say
  little; for f64 they say nothing, since the plugin computes it as f32.
- *exact* means that every element of every case is the same.
- *known differences* counts the cases whose values differ for a reason that
  [known_differences.py](../differential/known_differences.py) gives. They are in no other
  column.

{cases} results of {total} of the {operations} operation versions were compared.{missing}

## The examples, cross-checked

The results of `irshape crosscheck` for every model in examples/. The last three columns show the
output with the largest error, and how much of the
[tolerance](../../docs/debugging.md#tolerances) it uses.

{examples}

## By operation version

| operation | element type | results | largest error | relative | ulp | known differences |
|---|---|---|---|---|---|---|
"""


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
        self.version = "?"

    def pytest_collection_finish(self) -> None:
        from differential import compare

        original, of_types = compare._difference, compare._difference_of_types

        def compare_values(talk: Any, known: Any, model: Any, inputs: Any, promised: Any) -> None:
            self.version = talk.answer.version.split("-")[0]
            against_openvino = False  # a case is held against the values that it states, too

            def difference_of_types(our_type: str, array: Any, theirs: Any) -> str:
                nonlocal against_openvino
                against_openvino = True
                return of_types(our_type, array, theirs)

            layer = next(layer for layer in model.layers if layer.name == "op")
            operation = registry.find(layer.type, layer.version)

            def difference(ours: Any, other: Any, element_type: str, case: Any) -> str:
                if against_openvino and ours.shape == other.shape:
                    row = self.rows.setdefault(
                        (operation.type_name(), f"{operation.since:02}", element_type), Row()
                    )
                    if "values" in known:
                        row.known += 1
                    else:
                        row.add(ours, other, errors(other, ours))
                return original(ours, other, element_type, case)

            compare._difference, compare._difference_of_types = difference, difference_of_types
            try:
                values(talk, known, model, inputs, promised)
            finally:
                compare._difference, compare._difference_of_types = original, of_types

        values = compare._compare_values
        compare._compare_values = compare_values

    def examples(self) -> str:
        """Cross-checks the examples; returns their table. Errors of layers go into the rows."""
        lines = [
            (
                "| model | outputs | values compared | equal | largest error | of what is allowed "
                "| at |"
            ),
            "|---|---|---|---|---|---|---|",
        ]
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
                    key = (
                        operation.type_name(),
                        f"{operation.since:02}",
                        row.inferred.partition(" ")[0],
                    )
                    self.rows.setdefault(key, Row()).add_errors(found)
            worst = (comparison.worst(1) or rows[:1])[0]
            equal = (
                f"{comparison.count('equal')}{'' if comparison.ok else ', and something departs'}"
            )
            at = f"{worst.layer.type} `{worst.layer.name}`"
            lines.append(
                f"| {path.stem} | {len(comparison.rows)} | {len(rows)} | {equal} | "
                f"{worst.error or 0:.2g} | {worst.excess:.1%} | {at} |"
            )
        return "\n".join(lines)

    def page(self) -> str:
        examples = self.examples()
        lines = [
            f"| {name}-{int(since)} | {kind} | {row.cells()} |"
            for (name, since, kind), row in sorted(self.rows.items())
        ]
        versions = {key[:2] for key in self.rows}
        every = {
            (found.type_name(), f"{found.since:02}")
            for name in registry.type_names()
            for found in registry.versions(name)
        }
        absent = ", ".join(f"{name}-{int(since)}" for name, since in sorted(every - versions))
        missing = (
            (
                " Not compared, because no engine of OpenVINO runs them, or their value is only "
                f"what a caller or another layer put there: {absent}."
            )
            if absent
            else ""
        )
        total = sum(row.results for row in self.rows.values())
        return (
            HEAD.format(
                version=self.version,
                total=len(versions),
                operations=len(every),
                cases=f"{total:,}",
                missing=missing,
                examples=examples,
            )
            + "\n".join(lines)
            + "\n"
        )


def main() -> None:
    recorder = Recorder()
    status = pytest.main(sys.argv[1:] or [str(ROOT / "tests" / "ops"), "-q"], plugins=[recorder])
    if recorder.rows and not sys.argv[1:]:
        (ROOT / "tests" / "measured" / "accuracy.md").write_text(recorder.page())
    elif recorder.rows:
        print(recorder.page())
    sys.exit(int(status))


if __name__ == "__main__":
    main()
