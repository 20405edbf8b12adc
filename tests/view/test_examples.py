"""The pages of the examples: their script writes each, with the findings or values it is about."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "pages" / "make.py"
DATA = re.compile(r'<script type="application/json" id="document">(.*?)</script>', re.DOTALL)

# a page, how many models it shows, a text that it has
PAGES = {
    "control_flow.html": (1, "2020.1"),
    "two_inputs_that_do_not_fit.html": (1, "IR406"),
    "first_layer_that_departs.html": (1, "departs"),
    "ranges.html": (1, "range"),
    "what_changed.html": (2, "stem/swish"),
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    script.pages(folder, False)
    return folder


def document(page: Path) -> Any:
    match = DATA.search(page.read_text(encoding="utf-8"))
    assert match is not None
    return json.loads(match[1])


@pytest.mark.parametrize(("name", "models", "text"), [(name, *row) for name, row in PAGES.items()])
def test_a_page(name: str, models: int, text: str, folder: Path) -> None:
    shown = document(folder / name)
    assert len(shown["models"]) == models
    assert text in json.dumps(shown)


def test_every_page_is_tested(script: ModuleType) -> None:
    assert set(script.COMMANDS) == PAGES.keys()
