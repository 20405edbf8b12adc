"""Reports leave the command in the formats asked for, to where they were asked for, whole."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import calling
import pytest

from irshape.diagnostics.renderers import formats

LAYERS = Path(__file__).resolve().parents[2] / "examples" / "layers"
WRONG = LAYERS / "wrong" / "keep_dims_forgotten.xml"
RIGHT = LAYERS / "right" / "keep_dims_true.xml"


call = partial(calling.said, "validate")


@pytest.mark.parametrize("form", formats())
def test_every_format_can_be_asked_for(form: str) -> None:
    status, output = call(WRONG, RIGHT, "--format", form)
    assert status == 1
    assert "IR201" in output or "output-shape-mismatch" in output


def test_several_formats_at_once(tmp_path: Path) -> None:
    sarif, junit, html = tmp_path / "r.sarif", tmp_path / "r.xml", tmp_path / "r.html"
    status, output = call(
        WRONG, "-f", "concise", "-f", f"sarif={sarif}", "-f", f"junit={junit}", "-f", f"html={html}"
    )
    assert (status, output.count("\n")) == (1, 1)
    assert output.startswith(f"{WRONG}:15:9: error[IR201] ")
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert ElementTree.parse(junit).getroot().tag == "testsuites"
    assert html.read_text().startswith("<!DOCTYPE html>")


def test_a_file_gets_what_stdout_would(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    status, output = call(WRONG, "-f", "json", "-o", path)
    assert (status, output) == (1, "")
    assert path.read_text() == call(WRONG, "-f", "json")[1]
    assert call(WRONG, "-q", "-f", "json", "-o", path) == (1, "")
    assert call(WRONG, "-q", "-f", "json") == (1, "")
    assert call(RIGHT, "-o", path, "--color", "always") == (0, "")
    assert "\033" not in path.read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["-f", "nothing"],
        ["-f", "json="],
        ["-f", "json", "-f", "sarif"],
        ["-f", "json=a", "-f", "sarif=a"],
        ["-f", "json=a", "-o", "b"],
        ["-f", "json=no/such/folder/a"],
        ["-o", "no/such/folder/a"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_usage(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from irshape.cli import main

    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(WRONG), *arguments])
    assert ended.value.code == 2
    assert list(tmp_path.iterdir()) == []


def test_annotations_choose_themselves_in_github_actions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(LAYERS))
    status, output = call(WRONG, RIGHT)
    assert status == 1
    assert output.startswith(
        "::error title=irshape IR201 output-shape-mismatch,file=wrong/keep_dims_forgotten.xml,"
        "line=15,col=9::wrong/keep_dims_forgotten.xml:15:9: IR201 "
    )
    assert summary.read_text().startswith("# before\n## irshape: 1 error\n")
    assert call(WRONG, "-f", "text")[1].count("::") == 0
    assert call(WRONG, "-o", tmp_path / "report.txt") == (1, "")
    assert "error[IR201]" in (tmp_path / "report.txt").read_text()
    assert summary.read_text().count("## irshape") == 1


def test_a_summary_that_cannot_be_written_fails_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "summary.md"))
    status, output = call(RIGHT, "-f", "github")
    assert (status, "step summary" in output) == (0, True)


def test_a_machine_reads_utf8_whatever_the_terminal_speaks(tmp_path: Path) -> None:
    path = tmp_path / "größe 中.xml"
    path.write_text(WRONG.read_text())
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    for form in formats():
        done = subprocess.run(
            [sys.executable, "-m", "irshape", "validate", str(path), "-f", form],
            capture_output=True,
            check=False,
            env=environment,
        )
        assert (done.returncode, done.stderr) == (1, b"")
        if form in ("text", "concise"):
            assert rb"gr\xf6\xdfe \u4e2d.xml:15:9: " in done.stdout
        else:
            assert done.stdout.decode("utf-8")
        if form == "json":
            assert json.loads(done.stdout)["files"][0]["path"] == str(path)


@pytest.mark.parametrize("form", ["json", "html"])
def test_the_same_files_give_the_same_bytes(form: str) -> None:
    command = [
        sys.executable,
        "-m",
        "irshape",
        "validate",
        str(LAYERS / "wrong"),
        str(LAYERS.parent / "control_flow.xml"),
        "-f",
        form,
    ]
    written = {
        subprocess.run(
            command, capture_output=True, check=False, env=os.environ | {"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(written) == 1


def test_one_format_is_not_imported_for_another() -> None:
    code = (
        "import sys; from irshape.cli import main\ntry: main(['validate', sys.argv[1]])\n"
        "except SystemExit: pass\nprint(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(WRONG)], capture_output=True, check=True, text=True
    )
    modules = done.stdout.splitlines()[-1]
    assert "renderers.as_text" in modules
    for other in ("as_html", "as_sarif", "as_json", "'numpy'", "'lxml'"):
        assert other not in modules


def test_the_document_shows_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(LAYERS.parents[1])
    document = Path("docs/formats.md").read_text(encoding="utf-8")
    shown = re.findall(r"```console\n\$ irshape validate (.+)\n((?s:.*?))```", document)
    assert shown
    for arguments, output in shown:
        assert call(*arguments.split())[1] == output
    assert sorted(re.findall(r"^\| \[`(.+?)`\]", document, re.MULTILINE)) == formats()
