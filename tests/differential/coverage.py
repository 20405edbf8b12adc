"""Which operation versions the differential tests hold against OpenVINO, and docs/operations.md, the table of it.

python tests/differential/coverage.py        writes docs/operations.md
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
if not __package__:
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from differential.cases import Case, Input, Node  # noqa: E402

from irshape.ops import registry  # noqa: E402
from irshape.ops.declaration import Operation  # noqa: E402

PAGE = TESTS.parent / "docs" / "operations.md"


@dataclass
class Rows:
    """How many rows of the differential tests a version has: of all, and of those that run."""

    rows: int = 0
    run: int = 0


def cases() -> Iterator[Case]:
    """Every case that a test of tests/ops is parametrized with."""
    for path in sorted((TESTS / "ops").glob("test_*.py")):
        module = importlib.import_module(path.stem) if not (path.parent / "__init__.py").exists() else importlib.import_module(f"ops.{path.stem}")
        for function in vars(module).values():
            for mark in getattr(function, "pytestmark", ()):
                if mark.name == "parametrize":
                    yield from _cases_in(mark.args[1])


def _cases_in(given: Any) -> Iterator[Case]:
    if isinstance(given, Case):
        yield given
    elif isinstance(given, (list, tuple)):
        for item in given:
            yield from _cases_in(item)
    elif hasattr(given, "values") and hasattr(given, "marks"):  # pytest.param
        yield from _cases_in(given.values)


def counted() -> dict[type[Operation], Rows]:
    """The rows of each version that irshape declares."""
    found = {cls: Rows() for name in registry.type_names() for cls in registry.versions(name)}
    for case in cases():
        for kind, version in _under_test(case):
            try:
                rows = found[registry.find(kind, version)]
            except (registry.UnknownOperation, KeyError):
                continue  # a case about a version that does not exist
            rows.rows += 1
            rows.run += case.run is not False
    return found


def _under_test(case: Case) -> Iterator[tuple[str, str]]:
    """The layer under test, and those that feed it."""
    yield case.type, case.version
    waiting: list[Input] = list(case.inputs)
    while waiting:
        given = waiting.pop()
        node = given[0] if isinstance(given, tuple) else given
        if isinstance(node, Node):
            yield node.type, node.version
            waiting += node.inputs


def page() -> str:
    """docs/operations.md."""
    from irshape.cli.ops import described

    lines = [
        "# Operations",
        "",
        "Every version of every operation of OpenVINO's opset1 to opset17: whether irshape infers its types and shapes, whether it evaluates it in NumPy, and how many rows of",
        "the differential tests hold it against OpenVINO (of these, how many also compare values). Made by `python tests/differential/coverage.py`.",
        "",
        "| operation | opsets | category | infer | evaluate | rows against OpenVINO | of these run |",
        "|---|---|---|---|---|---|---|",
    ]
    for cls, rows in sorted(counted().items(), key=lambda item: (item[0].type_name().lower(), item[0].since)):
        row = described(cls)
        span = f"{cls.since} to {cls.until}" if cls.since != cls.until else f"{cls.since}"
        infer, evaluate = ("yes" if row[what] else "no" for what in ("infer", "evaluate"))
        lines.append(f"| {cls.type_name()} | {span} | {row['category']} | {infer} | {evaluate} | {rows.rows or 'none'} | {rows.run or 'none'} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(TESTS.parent)}: {sum(rows.rows > 0 for rows in counted().values())} of {len(counted())} versions have rows")
