"""`irshape validate`: single layers, folders and standard input, exit status, colours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import said as call

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RIGHT = sorted((EXAMPLES / "layers" / "right").glob("*.xml"))
WRONG = sorted((EXAMPLES / "layers" / "wrong").glob("*.xml"))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_right_layers_give_nothing(path: Path) -> None:
    status, output = call("validate", "--fail-level", "warning", str(path))
    assert (status, "no errors, no warnings" in output) == (0, True)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_layers_are_found_and_placed(path: Path) -> None:
    status, output = call("validate", "--fail-level", "warning", "--format", "json", str(path))
    findings = json.loads(output)["files"][0]["diagnostics"]
    assert status == 1
    assert all(
        found["line"] >= 1 and found["column"] >= 1 and found["message"] for found in findings
    )
    assert findings[0]["code"][:2] == "IR"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 0),
        (["validate", "no/such/file.xml"], 2),
        (["validate"], 2),
        (["validate", "--format", "nothing", "x.xml"], 2),
        (["infer", "no/such/file.xml"], 2),
        (["rule", "IR201"], 0),
        (["rule", "output-shape-mismatch"], 0),
        (["rule", "IR999"], 2),
        (["rule"], 0),
        (["ops"], 0),
        (["ops", "ReduceMean"], 0),
        (["ops", "Nonsense"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_status(arguments: list[str], status: int) -> None:
    from irshape.cli import main

    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert (ended.value.code or 0) == status


def test_a_folder_is_searched_and_a_layer_read_from_standard_input() -> None:
    assert call("validate", str(EXAMPLES / "layers" / "right"))[0] == 0
    text = (EXAMPLES / "layers" / "right" / "keep_dims_true.xml").read_bytes()
    assert call("validate", "-", stdin=text)[0] == 0


def test_colours_are_asked_for_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(WRONG[0])
    assert "\033[" not in call("validate", path)[1]
    assert "\033[" in call("validate", "--color", "always", path)[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\033[" in call("validate", path)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[" not in call("validate", path)[1]
