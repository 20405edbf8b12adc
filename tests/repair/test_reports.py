"""What reports say besides the findings: retired codes, what was tried, findings under others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from calling import call
from ir import Net

import irshape
from irshape.diagnostics.report import Diagnostic, filtered
from irshape.rule_ids import RETIRED

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def mean(folder: Path) -> Path:
    """A reduction whose port was declared for another keep_dims."""
    net = Net()
    data = [net.parameter("2,3"), net.constant([1])]
    net.result(net.layer("ReduceMean", data, 'keep_dims="false"', outputs=["FP32:2,1"]))
    return net.save(folder)


@pytest.mark.parametrize("code", RETIRED)
def test_a_retired_code_is_known_and_stops_nothing(code: str, tmp_path: Path) -> None:
    net = Net()
    net.result(net.layer("ReLU", [net.parameter("2")], outputs=["FP32:2"]))
    path = net.save(tmp_path)
    status, _, stderr = call("validate", "--ignore", code, str(path))
    assert (status, stderr) == (0, "")
    assert call("rule", code)[0] == 0
    text = path.read_text()
    path.write_text(text.replace("<net", f"<!-- irshape: disable={code} -->\n<net", 1))
    assert call("validate", "--fail-level", "warning", str(path))[0] == 0


def test_trace_says_what_was_tried(tmp_path: Path) -> None:
    status, stdout, stderr = call("validate", "--trace", str(mean(tmp_path)))
    assert status == 1
    assert "OutputShapeMismatch suspects ports, attributes" in stderr
    assert "ops.reduction.ReduceMean" in stderr
    assert "safe fix" in stderr
    assert "cost" in stderr
    assert 'keep_dims="true"' in stderr
    assert "cost" not in stdout


def test_trace_says_what_was_tried_for_the_findings_under_another(tmp_path: Path) -> None:
    _, _, stderr = call("validate", "--trace", str(two_edges_into_one_port(tmp_path)))
    assert "add an edge" in stderr
    assert "remove the edge" in stderr


def two_edges_into_one_port(folder: Path) -> Path:
    """The classifier, with the second edge of its first layer at the first port."""
    path = folder / "classifier.xml"
    shutil.copy(EXAMPLES / "classifier.bin", folder)
    text = (EXAMPLES / path.name).read_text()
    path.write_text(text.replace('to-layer="3" to-port="1"', 'to-layer="3" to-port="0"', 1))
    return path


def test_every_fix_removes_the_finding_that_it_stands_under(tmp_path: Path) -> None:
    path = two_edges_into_one_port(tmp_path)
    (finding,) = [each for each in irshape.validate(path).diagnostics if each.severity == "error"]
    lines = path.read_text().splitlines(keepends=True)
    assert len(finding.fixes) == 2
    for fix in finding.fixes:
        changed = list(lines)
        for edit in fix["edits"]:
            row, end = edit["line"] - 1, edit["end_line"] - 1
            before, after = (
                changed[row][: edit["column"] - 1],
                changed[end][edit["end_column"] - 1 :],
            )
            changed[row : end + 1] = [before + edit["text"] + after]
        path.write_text("".join(changed))
        remaining = irshape.validate(path).diagnostics
        assert finding.code not in [each.code for one in remaining for each in one.whole]


def test_a_finding_names_the_attribute_that_decides(tmp_path: Path) -> None:
    (finding,) = [
        each for each in irshape.validate(mean(tmp_path)).diagnostics if each.severity != "info"
    ]
    assert finding.code == "IR201"
    assert "keep_dims=false" in finding.message
    assert [fix["applicability"] for fix in finding.fixes] == ["safe", "unsafe"]
    (cause,) = finding.causes
    assert finding.fixes[cause["fix"]]["applicability"] == "unsafe"


def test_a_finding_under_one_that_is_left_out_takes_its_place() -> None:
    under = Diagnostic("IR201", "output-shape-mismatch", "error", "wrong", 2, 1)
    row = {
        name: value
        for name, value in under._asdict().items()
        if name not in ("related", "causes", "fixes")
    }
    lead = Diagnostic("IR602", "unknown-type", "error", "unknown", 1, 1, related=(row,))
    assert lead.count("error") == 2
    assert filtered([lead], lambda each: each.code != "IR602") == [under]
    (kept,) = filtered([lead], lambda each: each.code != "IR201")
    assert (kept.code, kept.related) == ("IR602", ())
