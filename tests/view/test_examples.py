"""The pages of the examples: their script writes each, and each shows what it is about."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[2] / "examples" / "pages" / "make.py"))
DATA = re.compile(r'<script type="application/json" id="document">(.*?)</script>', re.DOTALL)

# what the page of each model shows that no other page does: an overlay, or a text
PAGES = {
    "control_flow.html": (1, '"id": "dynamic"'),
    "two_inputs_that_do_not_fit.html": (1, "IR406"),
    "first_layer_that_differs.html": (1, '"id": "crosscheck"'),
    "ranges.html": (1, '"id": "ranges"'),
    "what_changed.html": (2, "stem/swish"),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("pages")
    SCRIPT["pages"](folder, False)
    pages = {path.name: DATA.search(path.read_text("utf-8")) for path in folder.glob("*.html")}
    return {name: json.loads(match[1]) for name, match in pages.items() if match is not None}


def test_each_page_is_about_what_no_other_shows(shown: dict[str, Any]) -> None:
    assert shown.keys() == SCRIPT["COMMANDS"].keys()
    for name, (models, text) in PAGES.items():
        assert len(shown[name]["models"]) == models
        assert [each for each, page in shown.items() if text in json.dumps(page)] == [name]
