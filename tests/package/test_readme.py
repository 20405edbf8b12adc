"""The README and the documents: commands work, links lead somewhere, the picture is current."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash") or "bash"
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDERS = ("docs", "examples", "tests/differential", "tests/measured")
DOCUMENTS = sorted(
    path for folder in (ROOT, *(ROOT / name for name in FOLDERS)) for path in folder.glob("*.md")
)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def code_blocks(text: str) -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The headings as GitHub makes anchors of them; of equal ones, the later have a number."""
    names: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        earlier = sum(
            re.fullmatch(re.escape(name) + r"(-\d+)?", other) is not None for other in names
        )
        names.append(f"{name}-{earlier}" if earlier else name)
    return set(names)


# The commands


def test_the_first_two_code_blocks_are_a_short_command_each() -> None:
    assert code_blocks(README)[:2] == ["bash examples/run.sh\n", "bash tests/run.sh\n"]


def test_the_picture_comes_before_the_commands_and_the_installation_is_named_between() -> None:
    picture = README.index("![")
    install = README.index("pip install irshape")
    assert picture < install < README.index("```")


def test_the_extras_that_the_readme_names_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(re.findall(r"'(?:irshape|\.)\[([\w-]+)\]'", README))
    assert named == set(project["optional-dependencies"])


@pytest.mark.parametrize("script", [".ci/run", "examples/run.sh", "tests/run.sh"])
def test_a_script_is_sound(script: str) -> None:
    subprocess.run([BASH, "-n", script], cwd=ROOT, check=True)


def test_ci_runs_the_second_command_of_the_readme(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name in (".ci/run", "README.md"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    (checkout / "tests").mkdir()
    script = "echo ran; test -f README.md && exit 3\n"
    (checkout / "tests" / "run.sh").write_text(script, encoding="utf-8", newline="\n")
    (tmp_path / "bin").mkdir()
    for name in ("chromium", "chromedriver"):  # nothing is to be installed
        (tmp_path / "bin" / name).write_text("#!/bin/sh\necho 1.0\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [BASH, "checkout/.ci/run"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["+ bash tests/run.sh", "ran"]
    assert done.returncode == 3


# The picture and the links


def test_the_picture_shows_what_the_commands_print() -> None:
    command = [sys.executable, "docs/pictures/make.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    text = CODE.sub("", document.read_text(encoding="utf-8"))
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = unquote(target).partition("#")
        path = document.parent / name if name else document
        if not path.exists() or (
            anchor and anchor not in anchors(path.read_text(encoding="utf-8"))
        ):
            dead.append(target)
    assert dead == []


def test_every_page_is_a_link_away_from_the_readme() -> None:
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert pages <= set(re.findall(r"\]\(([^)#\s]+)", README))


# CONTRIBUTING.md


def test_the_floors_are_those_that_imports_are_held_to() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("| level | contents |\n|---|---|\n| `__init__.py` | ")[2]
    rows = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines()[1:]]
    floors = [re.findall(r"`(\w+)(?:/|\.py)`", row) for row in rows]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert floors == [floor.split(" | ") for floor in contract]
