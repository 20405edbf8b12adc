"""Messages name the sizes of inputs that contradict each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from ir import Net

import irshape
from irshape.cli import cli


def attention(folder: Path, ids: str = "?,?", mask: str = "?,?") -> Path:
    """x [batch,seq] times a mask of [batch,seq], and both side by side."""
    net = Net()
    first, second = net.parameter(ids, name="ids"), net.parameter(mask, name="mask")
    net.result(net.layer("Multiply", [first, second], 'auto_broadcast="numpy"'))
    return net.save(folder)


def test_validate(tmp_path: Path) -> None:
    report = irshape.validate(attention(tmp_path, "2,128", "2,64"))
    (found,) = [seen for seen in report.diagnostics if seen.severity == "error"]
    assert found.message.endswith("; ids_1 is 128 by ids, 64 by mask")


def test_run(tmp_path: Path) -> None:
    model = irshape.load(attention(tmp_path))
    inputs = {"ids": np.ones((2, 6), np.float32), "mask": np.ones((2, 4), np.float32)}
    with pytest.raises(irshape.ExecutionError, match="ids_1 is 6 by ids, 4 by mask"):
        irshape.run(model, inputs)


def test_infer(tmp_path: Path) -> None:
    path = attention(tmp_path)
    outcome = CliRunner().invoke(
        cli, ["infer", str(path), "--shape", "ids=[2,6]", "--shape", "mask=[2,4]"]
    )
    assert outcome.exit_code == 1
    assert "irshape: ids_1 is 6 by ids, 4 by mask" in outcome.output


def test_sizes_that_go_together_are_drawn_together(tmp_path: Path) -> None:
    """A mask as long as the past and the new part together is found by name at once."""
    net = Net()
    past, new = net.parameter("?,?", name="past"), net.parameter("?,?", name="new")
    mask = net.parameter("?,?", name="mask")
    joined = net.layer("Concat", [past, new], 'axis="1"', outputs=["FP32"])
    net.result(net.layer("Multiply", [joined, mask], 'auto_broadcast="numpy"'))
    outcome = CliRunner().invoke(cli, ["run", str(net.save(tmp_path)), "--random"])
    assert outcome.exit_code == 0, outcome.output
