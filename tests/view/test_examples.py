"""The pages in examples/pages are what their script writes now."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import zlib
from pathlib import Path
from types import ModuleType

import pytest

import irshape

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "examples" / "pages"
DATA = re.compile(r'(<script type="application/json" id="document">)(.*?)</script>', re.DOTALL)


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pages", PAGES / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contents(page: Path) -> tuple[str, object]:
    """The page without its data, and these; compressed parts as they were before."""
    text = page.read_text(encoding="utf-8")
    match = DATA.search(text)
    assert match is not None
    document = json.loads(match[2])
    for model in document["models"]:
        model["xml"] = [zlib.decompress(base64.b64decode(each)).decode() for each in model["xml"]]
    document["irshape"] = ""
    return DATA.sub(r"\1", text).replace(irshape.__version__, ""), document


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    script().pages(folder, False)
    return folder


@pytest.mark.parametrize("name", sorted(path.name for path in PAGES.glob("*.html")))
def test_the_pages_are_current(name: str, fresh: Path) -> None:
    """If this fails: python examples/pages/make.py"""
    assert contents(PAGES / name) == contents(fresh / name)


def test_every_page_has_its_command() -> None:
    assert set(script().COMMANDS) == {path.name for path in PAGES.glob("*.html")}
