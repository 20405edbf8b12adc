"""Inputs and outputs by name: one meaning of a name, whichever door it comes through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import irshape
from irshape.cli import cli

PORT = '<port id="0" precision="FP32"{}><dim>2</dim></port>'
X, Y = np.array([1, 2], np.float32), np.array([10, 30], np.float32)


def subtraction(folder: Path, names: tuple[str, str] = ("", "")) -> Path:
    """y - x of two Parameters, each with the other's id as its name, and two Results of it.

    names: tensor names of the Parameters.
    """
    parameter = (
        '<layer id="{}" name="{}" type="Parameter" version="opset1">'
        '<data shape="2" element_type="f32"/><output>{}</output></layer>'
    )
    port = [PORT.format(f' names="{name}"' * bool(name)) for name in names]
    results = "".join(
        f'<layer id="{4 + index}" name="r{index}" type="Result" version="opset1" '
        f'output_names="{name}"><input>{PORT.format("")}</input></layer>'
        for index, name in enumerate(("first", "second,other"))
    )
    path = folder / "model.xml"
    path.write_text(
        '<net name="n" version="11"><layers>'
        + parameter.format(1, "0", port[0])
        + parameter.format(0, "1", port[1])
        + '<layer id="3" name="s" type="Subtract" version="opset1"><input>'
        + PORT.format("")
        + PORT.format("").replace("0", "1", 1)
        + "</input><output>"
        + PORT.format(' names="inner"').replace("0", "2", 1)
        + f"</output></layer>{results}</layers><edges>"
        + "".join(
            f'<edge from-layer="{one}" from-port="{port}" to-layer="{other}" to-port="{at}"/>'
            for one, port, other, at in ((0, 0, 3, 0), (1, 0, 3, 1), (3, 2, 4, 0), (3, 2, 5, 0))
        )
        + "</edges></net>"
    )
    (folder / "model.bin").write_bytes(b"\0")
    return path


WAYS = [
    ("layer names", ("", ""), "0", "1"),
    ("tensor names before layer names", ("1", "0"), "1", "0"),
    ("positions where no name is so", ("a", "b"), "0", "1"),
    ("one named, one by its id", ("a", ""), "a", "id:0"),
    ("ids", ("", ""), "id:1", "id:0"),
]


@pytest.mark.parametrize(("names", "x", "y"), [way[1:] for way in WAYS], ids=[w[0] for w in WAYS])
def test_a_name_means_one_input_at_every_door(
    tmp_path: Path, names: tuple[str, str], x: str, y: str
) -> None:
    path = subtraction(tmp_path, names)
    model, given = irshape.load(path), {y: Y, x: X}
    for outputs in (irshape.run(model, given), irshape.Session(model).run(given)):
        assert [array.tolist() for array in outputs.values()] == [(Y - X).tolist()] * 2
    assert irshape.crosscheck(model, given).ok
    assert irshape.compare(model, irshape.load(path), given).ok
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    named = [f"--input={name}={tmp_path / file}" for name, file in ((y, "y.npy"), (x, "x.npy"))]
    done = CliRunner().invoke(cli, ["run", str(path), *named, "-d", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert np.load(tmp_path / "out" / "first.npy").tolist() == (Y - X).tolist()
    inferred = irshape.infer(model, shapes={x: "[1]", y: "[7]"})
    assert [str(inferred.outputs(layer)[0].shape) for layer in model.parameters] == ["[1]", "[7]"]
    edit(path, "--reshape", f"{y}=[7]", f"{x}=[1]")
    shapes = [str(each.shape) for each in irshape.Graph.load(tmp_path / "new.xml").inputs]
    assert shapes == ["[1]", "[7]"]


def edit(path: Path, *options: str) -> None:
    new = str(path.with_name("new.xml"))
    done = CliRunner().invoke(cli, ["edit", str(path), *options, "-o", new])
    assert done.exit_code == 0, done.output


def test_two_results_of_one_port_are_two_outputs(tmp_path: Path) -> None:
    outputs = irshape.run(subtraction(tmp_path), [X, Y])
    assert list(outputs) == ["first", "second"]


@pytest.mark.parametrize(
    ("name", "halves"),
    [("first", [0]), ("a=b", [1]), ("other", [1]), ("id:5", [1]), ("r1", [1]), ("inner", [0, 1])],
)
def test_an_output_is_changed_alone(tmp_path: Path, name: str, halves: list[int]) -> None:
    path = subtraction(tmp_path)
    path.write_text(path.read_text().replace("second,other", "a=b,other"))
    edit(path, "--output-type", f"{name}=f16")
    outputs = irshape.run(tmp_path / "new.xml", [X, Y])
    types = [array.dtype.name for array in outputs.values()]
    assert types == ["float16" if at in halves else "float32" for at in (0, 1)]


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"2": X, "1": Y}, "no input '2'"),
        ({"3": X}, "no input '3'"),
        ({"a": X, "id:0": Y, "id:1": Y}, "given twice"),
    ],
)
def test_a_name_that_no_input_has_is_refused(
    tmp_path: Path, given: dict[str, irshape.Array], part: str
) -> None:
    with pytest.raises(irshape.ExecutionError, match=part):
        irshape.run(subtraction(tmp_path, ("a", "b")), given)
