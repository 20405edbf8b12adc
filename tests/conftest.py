"""What all tests share: the repository on the path, and one OpenVINO worker a session."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

if TYPE_CHECKING:
    from differential.oracle import Oracle


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The real OpenVINO in a process of its own (under xdist: one for each worker), started at the first question."""
    pytest.importorskip("openvino")
    from differential.oracle import Oracle

    with Oracle() as made:
        yield made
