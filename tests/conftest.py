"""What all tests share: the repository on the path, and one OpenVINO worker a session."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

os.environ["IRSHAPE_DEBUG"] = "1"  # a bug in an operation is a traceback here, not a diagnostic
os.environ["IRSHAPE_CACHE_DIR"] = os.path.join(
    tempfile.gettempdir(), f"irshape-tests-{os.getpid()}"
)
atexit.register(shutil.rmtree, os.environ["IRSHAPE_CACHE_DIR"], ignore_errors=True)
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"  # those of other packages, such as an event loop's
os.environ.pop("COLUMNS", None)  # xdist gives its workers the width of a terminal
os.environ.pop("GITHUB_ACTIONS", None)  # tests that run there see what tests elsewhere see

if TYPE_CHECKING:
    from differential.oracle import Oracle
    from view.browser import Browser


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, bool | None, bool | None]:
    """pytest's own variable, another in each test, would ask for another process of a runtime."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tables of cases are asked of OpenVINO in parts, not a case at a time.

    Thousands of tests stay to the end: the garbage collector need not look at them each time.
    """
    from differential import tables

    tables.collect(session.items)
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """OpenVINO in a process of its own, one per xdist worker, started at the first question."""
    from differential.oracle import Oracle

    with Oracle() as made:
        yield made


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser per xdist worker, started by the first test that opens a page."""
    from view.browser import opened

    with opened() as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """The browser; what a page said in its console and no test has asked for is an error."""
    yield chromium
    assert chromium.console() == []


@pytest.fixture
def registrations() -> Iterator[None]:
    """Forgets after the test what it has registered: operations, rules, plugin files."""
    yield
    from irshape.settings import plugin_files

    plugin_files.unload()
