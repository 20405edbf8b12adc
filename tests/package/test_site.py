"""The sources of the documentation site: complete, and every link in them leads to a page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import irshape
from irshape.ops import registry
from irshape.reduction import sizes
from irshape.rules import all_rules

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import pages  # noqa: E402
import programs  # noqa: E402


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, without the programs and tables of shapes of the operations."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "shape_rows", lambda operation: [])
        patch.setattr(pages, "program", lambda operation: programs.Program("", "", ""))
        patch.setattr(pages, "rows", lambda: {key: [] for key in pages.all_operations()})
        pages.main([str(folder)])
    return folder


def test_every_name_is_in_the_reference(source: Path) -> None:
    listed = [path.read_text(encoding="utf-8") for path in (source / "api").glob("*.md")]
    named = re.findall(
        r"^\.\. (?:autofunction|autoclass|py:data):: (\S+)$", "\n".join(listed), re.M
    )
    assert sorted(named) == irshape.__all__


def test_every_rule_and_version_has_a_page(source: Path) -> None:
    assert {path.stem for path in (source / "rules").iterdir()} == {r.code for r in all_rules()}
    versions = [cls for name in registry.type_names() for cls in registry.versions(name)]
    assert len(list((source / "operations").iterdir())) == len(versions) + len(
        registry.library_type_names()
    )


def test_every_link_leads_to_a_page(source: Path) -> None:
    dead = []
    for path in sorted(source.rglob("*.md")):
        text = pages.CODE.sub("", path.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)", text):
            if not (path.parent / target).is_file():
                dead.append(f"{path.relative_to(source)}: {target}")
    assert dead == []


def test_every_document_is_in_the_contents(source: Path) -> None:
    contents = set((source / "index.md").read_text(encoding="utf-8").splitlines())
    documents = {path.stem for path in source.glob("*.md")} - {"index"}
    assert documents - contents == set(), "add them to docs/site/index.md"


def test_a_name_without_a_text_is_an_error() -> None:
    assert pages.documented_assignment("SMALL", sizes)[1].startswith("The sizes")
    with pytest.raises(LookupError, match="nowhere"):
        pages.documented_assignment("gone", sizes)


@pytest.mark.parametrize("kind", ["Loop", "ReduceMean", "TopK", "Const", "Einsum"])
def test_programs_run(kind: str) -> None:
    for operation in registry.versions(kind):
        example = programs.program(operation)
        assert example.printed
        assert f'type="{kind}"' in example.layer
        assert f'version="opset{operation.since}"' in example.layer
