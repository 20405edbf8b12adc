"""`infer --shape` names the two dimensions that do not fit, and the inputs that have them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from ir import Net

from irshape.cli import cli

LAYERS = 40


def model(folder: Path) -> Path:
    """Two inputs that are added after many layers, of which one could follow the wrong chain."""
    net = Net()
    left, right = net.parameter("?,?"), net.parameter("?,?")
    last = left
    for _ in range(LAYERS):
        last = net.layer("ReLU", [last])
    for _ in range(3):
        last = net.layer("Add", [last, right])
    net.result(last)
    return net.save(folder)


def refused(path: Path, *arguments: str) -> list[str]:
    answer = CliRunner().invoke(cli, ["infer", str(path), *arguments])
    assert answer.exit_code == 1
    return answer.stderr.strip().split("\n")


@pytest.mark.parametrize(("one", "other", "axis"), [("[4,8]", "[4,9]", 1), ("[2,8]", "[3,8]", 0)])
def test_two_dimensions(one: str, other: str, axis: int, tmp_path: Path) -> None:
    path = model(tmp_path)
    names = ["p0", "p1"]
    lines = refused(path, "--shape", f"{names[0]}={one}", "--shape", f"{names[1]}={other}")
    assert len(lines) <= 5
    assert "Add" in lines[0]
    assert lines[1].count(f"dimension {axis} of") == 2
    assert all(f"'{name}'" in lines[1] for name in names)
    many = refused(
        path, "--verbose", "--shape", f"{names[0]}={one}", "--shape", f"{names[1]}={other}"
    )
    assert len(many) > 5


def test_against_a_constant(tmp_path: Path) -> None:
    """No dimension of an input would help: the chain is short all the same."""
    net = Net()
    last = net.parameter("?,3")
    for _ in range(LAYERS):
        last = net.layer("ReLU", [last])
    net.result(net.layer("Add", [last, net.constant([1.0, 2.0], "f32")]))
    lines = refused(net.save(tmp_path), "--shape", "p0=[4,3]")
    assert len(lines) <= 5
    assert "[4,3]" in "\n".join(lines)
