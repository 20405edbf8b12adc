"""The pre-commit hook and the GitHub action: what they run, run here."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WRONG = ROOT / "examples" / "layers" / "wrong" / "axes_missing.xml"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a right model, a wrong one and another .xml, and `irshape` on the path."""
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "irshape").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m irshape "$@"\n')
    (bin / "irshape").chmod(0o755)
    models = tmp_path / "checkout" / "models"
    models.mkdir(parents=True)
    shutil.copy(ROOT / "examples" / "ir_v10.xml", models)
    shutil.copy(ROOT / "examples" / "ir_v10.bin", models)
    shutil.copy(WRONG, models)
    (models / "pom.xml").write_text("<project/>")
    monkeypatch.chdir(tmp_path / "checkout")
    monkeypatch.setenv("PATH", f"{bin}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return tmp_path / "checkout"


def script(step: str) -> str:
    """The `run` of a step of the action."""
    text = (ROOT / "action.yml").read_text()
    match = re.search(rf"- name: {step}\n.*?run: \|\n((?: {{8}}[^\n]*\n|\n)+)", text, re.DOTALL)
    assert match
    return re.sub(r"^ {8}", "", match[1], flags=re.MULTILINE)


@pytest.mark.skipif(os.name == "nt" or shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("paths", "arguments", "status", "codes"),
    [
        (".", "", 1, ["IR402"]),
        ("models/*.xml", "--only-ir", 1, ["IR402"]),
        ("models/ir_v10.xml", "", 0, []),
        (".", "--ignore IR4 --target 2026.4", 0, []),
        (".", "--per-file-ignores '*.xml:IR4' --config 'my config.toml'", 0, []),
        ("models/ir_v10.xml\nmodels/with blanks.xml\n", "", 1, ["IR402"]),
        ("models/pom.xml $(touch${IFS}stolen) ;touch stolen", "", 2, None),
        (".", "$(touch${IFS}stolen) ;touch stolen", 2, None),
    ],
)
def test_the_action(
    tree: Path, paths: str, arguments: str, status: int, codes: list[str] | None
) -> None:
    shutil.copy(WRONG, tree / "models" / "with blanks.xml")
    if "blanks" not in paths:
        (tree / "models" / "with blanks.xml").unlink()
    (tree / "my config.toml").write_text("fail-level = 'error'\n")
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "RUNNER_TEMP": str(tree.parent),
        "GITHUB_OUTPUT": str(tree / "output"),
        "PATHS": paths,
        "ARGS": arguments,
        "SARIF": "out.sarif",
        "GITHUB_STEP_SUMMARY": str(tree / "summary.md"),
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script("irshape validate")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert not (tree / "stolen").exists()
    if codes is not None:
        results = json.loads((tree / "out.sarif").read_text())["runs"][0]["results"]
        assert [result["ruleId"] for result in results if result["level"] == "error"] == codes
        assert done.stdout.count("::error") == len(codes)
        assert (tree / "summary.md").exists()
        assert f"errors={len(codes)}" in (tree / "output").read_text().splitlines()


def hook(name: str) -> tuple[list[str], list[str]]:
    """The command of a hook, and the files of the commit that it is given."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (chosen,) = (each for each in hooks if each["id"] == name)
    files = sorted(str(path) for path in Path("models").iterdir())
    return shlex.split(chosen["entry"]), [
        path for path in files if re.search(chosen.get("files", ""), path)
    ]


def test_the_hook(tree: Path) -> None:
    entry, given = hook("irshape")
    assert len(given) == 4
    done = subprocess.run([*entry, *given], capture_output=True, text=True, check=False)
    assert (done.returncode, "IR402" in done.stdout, "IR003" in done.stdout) == (1, True, False)
    (tree / "models" / WRONG.name).unlink()
    assert (
        subprocess.run(
            [*entry, *(path for path in given if WRONG.name not in path)], check=False
        ).returncode
        == 0
    )


@pytest.mark.parametrize(
    ("committed", "status", "fixed"),
    [
        (["ir_v10.xml", "pom.xml"], 0, []),
        (["ir_v10.xml", "keep_dims_forgotten.xml", "pom.xml"], 0, ["keep_dims_forgotten.xml"]),
        (["axes_missing.xml", "keep_dims_forgotten.xml"], 1, ["keep_dims_forgotten.xml"]),
        (["pom.xml"], 0, []),
    ],
)
def test_the_hook_that_corrects(
    tree: Path, committed: list[str], status: int, fixed: list[str]
) -> None:
    models = tree / "models"
    shutil.copy(WRONG.with_name("keep_dims_forgotten.xml"), models)
    before = {path.name: path.read_bytes() for path in models.iterdir()}
    entry, given = hook("irshape-fix")
    assert len(given) == 4
    chosen = [path for path in given if Path(path).name in committed]
    done = subprocess.run([*entry, *chosen], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    after = {path.name: path.read_bytes() for path in models.iterdir()}
    assert [name for name, data in before.items() if after[name] != data] == fixed
