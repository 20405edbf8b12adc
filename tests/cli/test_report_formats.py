"""Every command that reports takes every format; a format is one module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner, Result
from ir import Net

from irshape.cli import cli
from irshape.diagnostics import renderers
from irshape.ops import Tensor
from irshape.ops.activation import Sigmoid

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "int8.xml"
WRONG = ROOT / "examples/layers/wrong/axis_not_reduced.xml"
STRICT = ("--rtol", "1e-12", "--atol", "1e-12")
"""Tolerances that rounding alone exceeds, so that something is reported."""


class Command(NamedTuple):
    """A command that reports something, and the code that its report has."""

    arguments: tuple[str, ...]
    code: str


COMMANDS = {
    "validate": Command(arguments=("validate", str(WRONG)), code="IR201"),
    "crosscheck": Command(arguments=("crosscheck", str(MODEL), *STRICT), code="IR711"),
}


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture(scope="module")
def altered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with one weight changed."""
    folder = tmp_path_factory.mktemp("altered")
    data = bytearray(MODEL.with_suffix(".bin").read_bytes())
    data[0] ^= 0x40
    (folder / "m.bin").write_bytes(data)
    (folder / "m.xml").write_bytes(MODEL.read_bytes())
    return folder / "m.xml"


@pytest.mark.parametrize("form", renderers.formats())
def test_every_format_of_every_command(form: str, altered: Path) -> None:
    compared = Command(arguments=("compare", str(MODEL), str(altered)), code="IR711")
    for command in (*COMMANDS.values(), compared):
        result = invoke(*command.arguments, "--format", form)
        assert result.exit_code == 1, result.output
        own = command.arguments[0] != "validate" and form in ("text", "json", "junit")
        assert own or command.code in result.stdout
        if form in ("json", "sarif", "gitlab"):
            json.loads(result.stdout)


def test_a_comparison_names_what_was_changed(altered: Path) -> None:
    result = invoke("compare", str(MODEL), str(altered), "--format", "jsonl")
    findings = [json.loads(line) for line in result.stdout.splitlines()]
    assert findings
    assert {finding["code"] for finding in findings} == {"IR711"}
    assert all(finding["line"] > 1 and finding["layer"] for finding in findings)
    blamed = json.loads(invoke("compare", str(MODEL), str(altered), "-f", "json").stdout)["blamed"]
    assert blamed["b"]["id"] in {finding["layer"]["id"] for finding in findings}


def test_two_equal_models_report_nothing() -> None:
    result = invoke("compare", str(MODEL), str(MODEL), "--format", "jsonl")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_new_format_is_one_module(tmp_path: Path, altered: Path) -> None:
    (tmp_path / "as_tap.py").write_text(
        "def render(report, options=None):\n"
        "    findings = report.diagnostics\n"
        "    lines = [f'1..{len(findings)}']\n"
        "    lines += [f'not ok {at} {d.code}' for at, d in enumerate(findings, 1)]\n"
        "    return '\\n'.join(lines) + '\\n'\n"
    )
    code = (
        "import sys; from irshape.diagnostics import renderers\n"
        "renderers.__path__.append(sys.argv.pop(1))\n"
        "from irshape.cli import main; main()"
    )
    compared = Command(arguments=("compare", str(MODEL), str(altered)), code="IR711")
    for command in (*COMMANDS.values(), compared):
        arguments = (str(tmp_path), *command.arguments, "--format", "tap")
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert done.stdout.startswith("1.."), done.stderr
        assert f"not ok 1 {command.code}" in done.stdout


def test_a_format_that_is_none() -> None:
    for command in COMMANDS.values():
        result = invoke(*command.arguments, "--format", "taps")
        assert result.exit_code == 2
        assert "sarif" in result.output


def codes_of_crosscheck(path: Path) -> set[str]:
    output = invoke("crosscheck", str(path), "--force", "--format", "jsonl").stdout
    return {json.loads(line)["code"] for line in output.splitlines()}


def test_another_shape_of_the_device_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net()  # of a shape that no other test has, since inference remembers what it inferred
    net.result(net.layer("Sigmoid", [net.parameter("3,1,4,1,5", name="x")]))
    monkeypatch.setattr(Sigmoid, "infer", lambda self, data: Tensor(data.element_type, "[9]"))
    assert "IR712" in codes_of_crosscheck(net.save(tmp_path))


def test_what_the_device_refuses_is_a_finding(tmp_path: Path) -> None:
    net = Net()
    net.result(net.layer("Swish6", [net.parameter("2,3")], version="mine", outputs=["FP32:2,3"]))
    assert "IR713" in codes_of_crosscheck(net.save(tmp_path))
