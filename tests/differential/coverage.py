"""Which operation versions the differential tests hold against OpenVINO, and the pages about it.

The pages are tests/measured/operations.md and docs/differences.md.

python tests/differential/coverage.py        writes the tables of both
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
if not __package__:
    sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS / "ops")]

from differential.cases import Case, Input, Node  # noqa: E402
from differential.known_differences import KNOWN  # noqa: E402
from irshape.ops import registry  # noqa: E402
from irshape.ops.declaration import Operation  # noqa: E402

OPERATIONS = TESTS / "measured" / "operations.md"
DIFFERENCES = TESTS.parent / "docs" / "differences.md"


@dataclass
class Rows:
    """How many rows of the differential tests a version has: of all, and of those that run."""

    rows: int = 0
    run: int = 0


def cases(pattern: str = "test_*.py") -> Iterator[Case]:
    """Every case that a test of tests/ops is parametrized with, in modules that match."""
    for path in sorted((TESTS / "ops").glob(pattern)):
        for function in vars(importlib.import_module(path.stem)).values():
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


def version_under_test(case: Case) -> str:
    """`Softmax-8`; the type with the opset where no operation is declared for it."""
    try:
        operation = registry.find(case.type, case.version)
    except registry.UnknownOperation:
        return f"{case.type} of {case.version}"
    return f"{operation.type_name()}-{operation.since}"


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


def with_tables(page: Path, tables: Iterable[Iterable[str]]) -> str:
    """The text of a page with these lines in the places of its tables, in their order."""
    parts = re.split(r"((?:^\|.*\n)+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    written = ["".join(f"{line}\n" for line in table) for table in tables]
    assert len(parts) == 2 * len(written) + 1, f"{page.name} has another number of tables"
    parts[1::2] = written
    return "".join(parts)


def operations_page() -> str:
    """tests/measured/operations.md."""
    from irshape.cli.ops import described

    lines = [
        "| operation | opsets | category | infer | evaluate | rows against OpenVINO | of these "
        "run |",
        "|---|---|---|---|---|---|---|",
    ]
    for cls, rows in sorted(
        counted().items(), key=lambda item: (item[0].type_name().lower(), item[0].since)
    ):
        row = described(cls)
        opsets = registry.opsets(cls)
        span = f"{opsets[0]} to {opsets[-1]}" if len(opsets) > 1 else f"{opsets[0]}"
        infer, evaluate = ("yes" if row[what] else "no" for what in ("infer", "evaluate"))
        lines.append(
            f"| {cls.type_name()} | {span} | {row['category']} | {infer} | {evaluate} | "
            f"{rows.rows or 'none'} | {rows.run or 'none'} |"
        )
    of_the_library = [
        "| operation | version | since openvino_tokenizers | infer | evaluate |",
        "|---|---|---|---|---|",
    ]
    for name in registry.library_type_names():
        row = described(registry.library_operation(name))
        infer, evaluate = ("yes" if row[what] else "no" for what in ("infer", "evaluate"))
        of_the_library.append(
            f"| {name} | {row['version']} | {row['introduced']} | {infer} | {evaluate} |"
        )
    return with_tables(OPERATIONS, (lines, of_the_library))


KINDS = ("stricter", "tighter", "wider", "values", "lenient", "crash")
"""Of known differences, in the order of their tables."""


def differences_page() -> str:
    """docs/differences.md."""
    return with_tables(
        DIFFERENCES,
        (
            [
                "| difference | details |",
                "|---|---|",
                *(f"| {key} | {each.reason} |" for key, each in KNOWN.items() if each.kind == kind),
            ]
            for kind in KINDS
        ),
    )


PAGES = {OPERATIONS: operations_page, DIFFERENCES: differences_page}

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")
    print(
        f"{sum(rows.rows > 0 for rows in counted().values())} of {len(counted())} versions "
        f"have rows; {len(KNOWN)} known differences"
    )
