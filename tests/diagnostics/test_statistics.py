"""`irshape validate --statistics`: the rules are counted, and nothing else changes."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

import calling
import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "statistics.schema.json").read_text())
SUBJECTS = ["examples/layers/wrong", "examples/layers", "examples/encoder.xml"]
NET = (
    '<net name="m" version="11"><layers>{}</layers><edges>'
    '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
)
LAYERS = (
    '<layer id="0" name="x" type="Parameter" version="opset1">'
    '<data shape="2,3" element_type="f32"/>'
    '<output><port id="0" precision="FP32"><dim>2</dim><dim>{}</dim></port></output></layer>'
    '<layer id="1" name="y" type="Result" version="opset1">'
    '<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input></layer>'
)


call = partial(calling.said, "validate", "--isolated", "--no-cache")


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_counts_are_those_of_the_report(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    status, text = call("-f", "json", subject)
    report = json.loads(text)
    counted_status, text = call("-f", "json", "--statistics", subject)
    counted = json.loads(text)
    jsonschema.validate(counted, SCHEMA)
    assert counted_status == status
    assert counted["summary"] == report["summary"]
    found = [
        (file["path"], each, (lead.get("fixes") or [{"safe": None}])[0]["safe"])
        for file in report["files"]
        for lead in file["diagnostics"]
        for each in (lead, *lead.get("related", ()))
    ]
    codes = Counter(each["code"] for _, each, _ in found)
    assert {row["code"]: row["findings"] for row in counted["rules"]} == codes
    for row in counted["rules"]:
        own = [each for each in found if each[1]["code"] == row["code"]]
        severities = Counter(each["severity"] for _, each, _ in own)
        assert [row["errors"], row["warnings"], row["infos"]] == [
            severities[severity] for severity in ("error", "warning", "info")
        ]
        assert row["files"] == len({path for path, _, _ in own})
        safe = [each for _, _, each in own]
        assert (row["fixable"], row["unsafely_fixable"]) == (safe.count(True), safe.count(False))
    order = [(-row["findings"], row["code"]) for row in counted["rules"]]
    assert order == sorted(order)


class Row(NamedTuple):
    arguments: str
    status: int
    lines: list[str]


TABLE = "2  IR201  output-shape-mismatch  error  2 files  2 fixable"
ROWS = {
    "text": Row(
        "--statistics .",
        1,
        [
            TABLE,
            "",
            "3 files, 6 layers: 2 errors, 3 infos (shown with --verbose)",
            "`irshape fix --in-place` can fix 2 findings (shown with --show-fixes)",
        ],
    ),
    "infos too": Row(
        "--statistics -v .",
        1,
        [
            "3  IR125  missing-tensor-name    info   3 files",
            TABLE,
            "",
            "3 files, 6 layers: 2 errors, 3 infos",
            "`irshape fix --in-place` can fix 2 findings (shown with --show-fixes)",
        ],
    ),
    "a selection": Row(
        "--statistics --ignore IR2,IR125 .", 0, ["3 files, 6 layers: no errors, no warnings"]
    ),
    "a sound file": Row(
        "--statistics sound.xml --ignore IR125", 0, ["1 file, 2 layers: no errors, no warnings"]
    ),
    "silence": Row("--statistics -q .", 1, []),
    "a file": Row("--statistics . -o counts.txt", 1, []),
}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")  # annotations would be the default
    for name, size in (("sound", 3), ("one", 4), ("other", 5)):
        (tmp_path / f"{name}.xml").write_text(NET.format(LAYERS.format(size)))
    return tmp_path


@pytest.mark.parametrize("name", ROWS)
def test_the_table(name: str, models: Path) -> None:
    row = ROWS[name]
    status, output = call(*row.arguments.split())
    assert status == row.status, output
    if "-o" in row.arguments:
        assert (models / "counts.txt").read_text().splitlines()[0] == TABLE
    assert output.splitlines() == row.lines


@pytest.mark.parametrize("form", ["text", "concise"])
def test_both_formats_of_one_run(form: str, models: Path) -> None:
    status, output = call("--statistics", "-f", form, "-f", "json=counts.json", ".")
    assert (status, output.splitlines()[0]) == (1, TABLE)
    jsonschema.validate(json.loads((models / "counts.json").read_text()), SCHEMA)


@pytest.mark.parametrize("form", ["sarif", "github", "jsonl", "html=page.html"])
def test_other_formats_are_refused(form: str, models: Path) -> None:
    status, output = call("--statistics", "-f", form, ".")
    assert status == 2
    assert f"not {form.partition('=')[0]}" in output
    assert not (models / "page.html").exists()
