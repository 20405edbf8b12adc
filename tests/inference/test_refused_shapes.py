"""`infer --shape` names the two dimensions that do not fit, and the inputs that have them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from ir import Net

import irshape
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
    given = ["--shape", f"p0={one}", "--shape", f"p1={other}"]
    lines = refused(path, *given)
    assert len(lines) <= 5
    assert "Add" in lines[0]
    sizes = [shape.strip("[]").split(",")[axis] for shape in (one, other)]
    assert f"p0_{axis} is {sizes[0]} in p0, {sizes[1]} in p1" in lines[1]
    assert len(refused(path, "--verbose", *given)) > 5


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


def test_in_python_and_json(tmp_path: Path) -> None:
    path = model(tmp_path)
    inference = irshape.infer(path, shapes={"p0": "[4,8]", "p1": "[4,9]"})
    assert [(each.layer.type, each.layer.id) for each in inference.refused] == [("Add", "42")]
    given = ["--shape", "p0=[4,8]", "--shape", "p1=[4,9]", "--format", "json"]
    document = json.loads(CliRunner().invoke(cli, ["infer", str(path), *given]).stdout)
    assert [row["line"] for row in document["refused"]] == [inference.refused[0].line]
    assert not irshape.infer(path).refused


def positions(folder: Path, stride: int) -> Path:
    """A table of 8 rows is sliced to the length of an input, or added to what a stride leaves.

    With a stride of 0, the numbers of a table [1,8] are added.
    """
    net = Net()
    if not stride:
        x, table = net.parameter("?,?", "i64"), net.constant([5, 5, 5, 5, 5, 5, 5, 6])
        net.layers[-1] = net.layers[-1].replace('shape="8"', 'shape="1,8"')
        net.result(net.layer("Add", [x, table], outputs=["I64"]))
        return net.save(folder)
    x = net.parameter("?,?", name="x")
    table = net.constant([float(row) for row in range(8)], "f32")
    zero, step, axes = net.constant([0]), net.constant([stride]), net.constant([1])
    end = net.constant([2**31 - 1])
    strided = net.layer("Slice", [x, zero, end, step, axes], version="opset8", name="strided")
    if stride == 1:
        shape = net.add("ShapeOf-3(output_type=i64 @)", x, outputs=["I64"])
        length = net.add("Gather-8(@ @ i64{0})", shape, axes, outputs=["I64"])
        first = net.constant([0])
        table = net.layer("Slice", [table, zero, length, step, first], version="opset8")
    net.result(net.layer("Add", [strided, table], name="add"))
    return net.save(folder)


def test_a_constant_gives_its_elements_where_they_are_a_shape(tmp_path: Path) -> None:
    """The order has a shape of [4] and allows nothing; the pattern of heads allows 4."""
    net = Net()
    pattern, order = net.constant([0, 0, 4, 2]), net.constant([0, 2, 1, 3])
    heads = net.layer("Reshape", [net.parameter("?,?,8"), pattern], 'special_zero="true"')
    net.result(net.layer("Add", [net.layer("Transpose", [heads, order]), heads]))
    said = refused(net.save(tmp_path), "--shape", "[2,5,8]")[1]
    assert "'c0' (id 0) [0,0,4,2] allows 4" in said


@pytest.mark.parametrize("command", ["infer", "run --random", "crosscheck", "compare"])
def test_every_command_names_the_constant_that_does_not_fit(command: str, tmp_path: Path) -> None:
    name, *options = command.split()
    paths = [str(positions(tmp_path, 1))] * (2 if name == "compare" else 1)
    done = CliRunner().invoke(cli, [name, *paths, *options, "--shape", "[2,20]"])
    assert (done.exit_code, "'c1' (id 1) [8]" in done.stderr) == (1, True)


@pytest.mark.parametrize("size", [64, 70])
@pytest.mark.parametrize("token", [0, 1])
def test_a_table_of_patches_tells_the_side_of_the_image(
    token: int, size: int, tmp_path: Path
) -> None:
    graph = irshape.Graph()
    op, x = graph.op, graph.parameter("f32", "[1,3,?,?]", name="image")
    kernel = np.ones((4, 3, 8, 8), np.float32)
    patches = op.convolution(
        x, kernel, strides=[8, 8], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1]
    )
    rows = op.reshape(patches, [1, 4, -1], special_zero=False)
    if token:
        rows = op.concat([np.zeros((1, 4, 1), np.float32), rows], axis=2)
    graph.result(op.add(rows, np.ones((1, 4, 36 + token), np.float32)), "y")
    path = tmp_path / "patches.xml"
    graph.save(path)
    assert "allows 48" in refused(path, "--shape", f"[1,3,{size},{size}]")[1]


@pytest.mark.parametrize(
    ("stride", "shape", "allowed"),
    [
        (0, "[2,20]", "allows 8"),
        (1, "[2,20]", "allows up to 8"),
        (2, "[2,20]", "allows 16"),
        (2, "[20,20]", ""),
        (1, "[2,20..]", "allows up to 8"),
        (2, "[2,20..30]", "allows 16"),
    ],
    ids=[
        "a table of numbers",
        "a table of positions",
        "behind a stride",
        "two axes of one size",
        "a range beyond a table of positions",
        "a range behind a stride",
    ],
)
def test_the_constant_that_does_not_fit_and_what_would(
    stride: int, shape: str, allowed: str, tmp_path: Path
) -> None:
    path = positions(tmp_path, stride)
    said = refused(path, "--shape", shape)[1]
    assert allowed in said
    if allowed:
        assert "constant 'c1'" in said
        size = allowed.rsplit(maxsplit=1)[-1]
        for fitting, status in ((int(size), 0), (int(size) + 1, 1)):
            arguments = ["infer", str(path), "--shape", f"[2,{fitting}]"]
            assert CliRunner().invoke(cli, arguments).exit_code == status
