"""Messages name the sizes of inputs that contradict each other."""

from __future__ import annotations

import re
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
    assert found.message.endswith("; ids_1 is 128 in ids, 64 in mask")


def test_several_layers_that_misfit_for_two_inputs_are_no_slips(tmp_path: Path) -> None:
    """No attribute and no constant of theirs is blamed; the first names the sizes."""
    net = Net()
    first, second = net.parameter("?,128", name="ids"), net.parameter("?,64", name="mask")
    for _ in range(3):
        above = net.layer("Reshape", [first, net.constant([0, 128])], 'special_zero="true"')
        net.result(net.layer("Multiply", [above, second], 'auto_broadcast="numpy"'))
    report = irshape.validate(net.save(tmp_path))
    told = [seen for seen in report.diagnostics if seen.severity == "error"]
    assert [seen.code for seen in told] == ["IR406"] * 3
    assert told[0].message.endswith("; mask_1 is 64 in mask, not 128")


def contrary(folder: Path, shape: str) -> Path:
    """Two layers behind x, which need another size of it each."""
    net = Net()
    data = net.parameter(shape, name="x")
    for rows, name in ((4, "first"), (8, "second")):
        numbers = [net.constant([0.0] * rows, "f32"), net.constant([rows, 1])]
        beside = net.layer("Reshape", numbers, 'special_zero="false"')
        above = net.layer("Relu", [data])
        net.result(net.layer("Concat", [above, beside], 'axis="1"', name=name))
    return net.save(folder)


CONTRARY = "Concat 'second' needs x_0 == 8, but Concat 'first' needs x_0 == 4"


def unplaced(text: str) -> str:
    return re.sub(r" \(line \d+\)", "", text)


def test_validate_two_inner_layers(tmp_path: Path) -> None:
    report = irshape.validate(contrary(tmp_path, "4,3"))
    (seen,) = [seen for seen in report.diagnostics if seen.rule == "input-shapes"]
    assert unplaced(seen.message).endswith(f"; {CONTRARY}")


@pytest.mark.parametrize("size", [4, 8])
def test_run_two_inner_layers(size: int, tmp_path: Path) -> None:
    """Whichever of the two refuses a size, the message names both."""
    model = irshape.load(contrary(tmp_path, "?,3"))
    with pytest.raises(irshape.ExecutionError) as raised:
        irshape.run(model, {"x": np.ones((size, 3), np.float32)})
    assert CONTRARY.removeprefix("Concat 'second' ") in unplaced(str(raised.value))


def test_run(tmp_path: Path) -> None:
    model = irshape.load(attention(tmp_path))
    inputs = {"ids": np.ones((2, 6), np.float32), "mask": np.ones((2, 4), np.float32)}
    with pytest.raises(irshape.ExecutionError, match="ids_1 is 6 in ids, 4 in mask"):
        irshape.run(model, inputs)


def test_names_of_inputs_that_are_ids_of_others(tmp_path: Path) -> None:
    """Exporters name layers by numbers; shapes by id find their own inputs."""
    net = Net()
    inputs = [net.parameter("?,2", name="1"), net.parameter("?,3", name="b")]
    net.result(net.layer("Concat", inputs, 'axis="1"'))
    path = net.save(tmp_path)
    outcome = CliRunner().invoke(cli, ["run", str(path), "--random"])
    assert outcome.exit_code == 0, outcome.output
    inference = irshape.infer(irshape.load(path), shapes={"id:0": [4, 2], "id:1": [4, 3]})
    assert str(inference.outputs("2")[0].shape) == "[4,5]"


def test_sizes_that_go_together_are_drawn_together(tmp_path: Path) -> None:
    """A mask as long as the past and the new part together is found by name at once."""
    net = Net()
    past, new = net.parameter("?,?", name="past"), net.parameter("?,?", name="new")
    mask = net.parameter("?,?", name="mask")
    joined = net.layer("Concat", [past, new], 'axis="1"', outputs=["FP32"])
    net.result(net.layer("Multiply", [joined, mask], 'auto_broadcast="numpy"'))
    outcome = CliRunner().invoke(cli, ["run", str(net.save(tmp_path)), "--random"])
    assert outcome.exit_code == 0, outcome.output
