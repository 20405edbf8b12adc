"""Which operation versions the differential tests hold against OpenVINO, and the pages about it.

The pages are tests/measured/operations.md and docs/differences.md.

python tests/differential/coverage.py        writes both
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
    sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS / "ops")]

from differential.cases import Case, Input, Node  # noqa: E402
from differential.known_differences import KNOWN  # noqa: E402
from irshape.ops import registry  # noqa: E402
from irshape.ops.declaration import Operation  # noqa: E402
from irshape.releases import OPSETS  # noqa: E402

OPERATIONS = TESTS / "measured" / "operations.md"
DIFFERENCES = TESTS.parent / "docs" / "differences.md"


@dataclass
class Rows:
    """How many rows of the differential tests a version has: of all, and of those that run."""

    rows: int = 0
    run: int = 0


def cases() -> Iterator[Case]:
    """Every case that a test of tests/ops is parametrized with."""
    for path in sorted((TESTS / "ops").glob("test_*.py")):
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


def operations_page() -> str:
    """tests/measured/operations.md."""
    from irshape.cli.ops import described

    lines = [
        "# Operations",
        "",
        (
            "Every version of every operation of OpenVINO's opset1 to "
            f"opset{max(OPSETS)}: whether irshape "
            "infers its types and shapes, whether it evaluates it in NumPy, and how many rows of"
        ),
        (
            "the differential tests compare it with OpenVINO (of these, how many also compare "
            "values). Made by `python tests/differential/coverage.py`."
        ),
        "",
        (
            "| operation | opsets | category | infer | evaluate | rows against OpenVINO | of these "
            "run |"
        ),
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
    lines += [
        "",
        "## Operations of openvino_tokenizers",
        "",
        (
            "They belong to no opset: the library of the package `openvino-tokenizers` adds them "
            "to OpenVINO (2026.4). The tests hold those that are evaluated against that library."
        ),
        "",
        "| operation | version | since openvino_tokenizers | infer | evaluate |",
        "|---|---|---|---|---|",
    ]
    for name in registry.library_type_names():
        row = described(registry.library_operation(name))
        infer, evaluate = ("yes" if row[what] else "no" for what in ("infer", "evaluate"))
        lines.append(f"| {name} | {row['version']} | {row['introduced']} | {infer} | {evaluate} |")
    return "\n".join(lines) + "\n"


KINDS = {
    "stricter": "OpenVINO accepts what the specification forbids; irshape reports an error",
    "tighter": "irshape infers a narrower shape within OpenVINO's",
    "wider": "irshape infers a wider shape, because OpenVINO's excludes possible sizes",
    "values": "The results differ; irshape follows the specification",
    "lenient": "OpenVINO refuses a legal layer; irshape reports no error",
    "crash": "OpenVINO crashes or hangs while reading a legal layer; irshape reports no error",
}

READING = """# Known differences from OpenVINO

This page lists the intended differences between irshape and OpenVINO 2026.4. "Specification" means
OpenVINO's specification of an operation, "CPU plugin" its plugin in f32, and "Model.evaluate" the
method of `openvino.Model`. The differential tests use the same list
(`tests/differential/known_differences.tsv`), and fail if a difference no longer exists.
`python tests/differential/coverage.py` writes this page.

## While reading

- IR v10: OpenVINO converts inputs and outputs of f16, f64, i64, u64, u1 and boolean to f32 and i32
  while it reads, because the old API had no other types. It gives the Convert layers the names of
  the original layers. irshape keeps the types of the file; `crosscheck` still compares layer by
  layer.
- If the declared type or shape of a port differs from the inferred one, irshape reports the port
  and continues with the declared one, because the later layers were made for it. OpenVINO continues
  with the inferred shape, and may refuse a later layer instead.
- irshape also reads and checks layers without a path to a Result or an Assign. OpenVINO drops them.
"""


def differences_page() -> str:
    """docs/differences.md."""
    lines = [READING]
    for kind, words in KINDS.items():
        rows = [f"| {key} | {known.reason} |" for key, known in KNOWN.items() if known.kind == kind]
        if rows:
            lines.append(
                "\n".join([f"## {words}", "", "| difference | details |", "|---|---|", *rows, ""])
            )
    return "\n".join(lines)


PAGES = {OPERATIONS: operations_page, DIFFERENCES: differences_page}

if __name__ == "__main__":
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")
    print(
        f"{sum(rows.rows > 0 for rows in counted().values())} of {len(counted())} versions "
        f"have rows; {len(KNOWN)} known differences"
    )
