"""Every version of every operation is inferred, evaluated and compared with OpenVINO.

The documents list the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from differential.coverage import PAGES, cases, counted

from irshape.execution.computing import supported

README = Path(__file__).parents[2] / "README.md"

THROUGH_OTHERS = {"Assign", "Const", "Parameter", "ReadValue", "Result"}
"""Layers that make the IR around every case; variables are in test_infrastructure.py."""

NOT_RUN = {"GroupedMatMul"}
"""Operations that OpenVINO 2026.4 cannot run, neither on the CPU nor by Model.evaluate.

Their values are compared with NumPy.
"""


def test_all_versions_are_inferred_and_evaluated() -> None:
    classes = list(counted())
    assert f"all {len(classes)} versions" in README.read_text(encoding="utf-8")
    assert [cls.__name__ for cls in classes if not cls.is_inferred() or not supported(cls)] == []


def test_all_versions_have_rows() -> None:
    """Rows for shapes and refusals, and rows that run."""
    counts = {
        (cls.type_name(), cls.since): rows
        for cls, rows in counted().items()
        if cls.type_name() not in THROUGH_OTHERS
    }
    assert [
        version
        for version, rows in counts.items()
        if rows.rows < 3 or not (rows.run or version[0] in NOT_RUN)
    ] == []


def test_rows_stand_where_the_name_of_the_category_says() -> None:
    """Those of `irshape/ops/CATEGORY.py`, or of a folder, in `test_*CATEGORY*.py`."""
    categories: dict[str, set[str]] = {}
    for cls in counted():
        category = cls.__module__.removeprefix("irshape.ops.").split(".")[0]
        categories.setdefault(category, set()).add(cls.type_name())
    for category, types in categories.items():
        here = {case.type for case in cases(f"test_*{category}*.py")}
        assert types - here - THROUGH_OTHERS == set(), category


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_page_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path](), (
        "run `python tests/differential/coverage.py`"
    )
