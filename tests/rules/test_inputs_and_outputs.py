"""The names of inputs and outputs in IRs of version 10: what OpenVINO refuses is an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import openvino
import pytest
from ir import Net

import irshape


class Names(NamedTuple):
    """The names of a chain of an input, a layer and an output, and of the tensors of both."""

    input: str = "x"
    of_input: str = ""
    layer: str = "a"
    of_layer: str = ""
    output: str = "y"


def chain(names: Names, *, branches: int = 1, through: bool = False) -> Net:
    """branches: how many outputs the layer has. through: the input is an output as well."""
    net = Net()
    data = net.parameter("4,2", name=names.input)
    net.layers[0] = net.layers[0].replace(f'names="{names.input}"', f'names="{names.of_input}"')
    if branches == 1:
        made = net.layer("ReLU", [data], outputs=["FP32:4,2"], name=names.layer)
    else:
        axis, outputs = net.constant(0), [f"FP32:{4 // branches},2"] * branches
        made = net.layer(
            "Split", [data, axis], f'num_splits="{branches}"', outputs=outputs, name=names.layer
        )
    net.layers[-1] = "".join(
        part if at == 0 else f'<port names="{names.of_layer if at == branches else ""}"{part}'
        for at, part in enumerate(_outputs_of(net.layers[-1]))
    )
    for branch in range(branches):
        net.result(f"{made}:{branch}", name=f"{names.output}{branch or ''}")
    if through:
        net.result(data, name="through")
    return net


def _outputs_of(layer: str) -> list[str]:
    """A layer before its first output port, then what follows the beginning of each."""
    head, tag, ports = layer.partition("<output>")
    return [head + tag, *ports.split("<port")[1:]]


class Row(NamedTuple):
    id: str
    build: Callable[[], Net]
    errors: int
    """How many are told in version 10; in version 11 there are none."""


ROWS = [
    Row("no tensor names", lambda: chain(Names()), 0),
    Row("tensors named as layers", lambda: chain(Names(of_input="x", of_layer="a")), 0),
    Row("an input named as the last layer", lambda: chain(Names(of_input="a")), 1),
    Row("an output named as the input", lambda: chain(Names(of_layer="x")), 1),
    Row("both", lambda: chain(Names(of_input="a", of_layer="x")), 2),
    Row("one of several names", lambda: chain(Names(of_input="x,a")), 1),
    Row("an input named as the Result", lambda: chain(Names(of_input="y")), 0),
    Row("a layer named as the input", lambda: chain(Names(layer="x")), 1),
    Row("a Result named as the input", lambda: chain(Names(output="x")), 0),
    Row("tensors of one name", lambda: chain(Names(of_input="t", of_layer="t")), 0),
    Row("two outputs of a layer", lambda: chain(Names(), branches=2), 0),
    Row("a layer with several outputs", lambda: chain(Names(of_input="a"), branches=2), 0),
    Row("an output with its number", lambda: chain(Names(of_input="a.1"), branches=2), 1),
    Row("another number", lambda: chain(Names(of_input="a.2"), branches=2), 0),
    Row("one output as the other", lambda: chain(Names(of_layer="a.0"), branches=2), 1),
    Row("an input that is an output", lambda: chain(Names(), through=True), 0),
    Row("with a name", lambda: chain(Names(of_input="t"), through=True), 1),
    Row("with its own name", lambda: chain(Names(of_input="x"), through=True), 1),
]


def saved(folder: Path, net: Net, version: str) -> Path:
    path = folder / f"m{version}.xml"
    text = net.text().replace(' names=""', "").replace('version="11"', f'version="{version}"')
    path.write_text(text)
    path.with_suffix(".bin").write_bytes(net.weights)
    return path


@pytest.mark.parametrize("version", ["10", "11"])
@pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])
def test_names_that_collide(tmp_path: Path, row: Row, version: str) -> None:
    path = saved(tmp_path, row.build(), version)
    errors = [each for each in irshape.validate(path).diagnostics if each.severity == "error"]
    assert [each.code for each in errors] == ["IR128"] * (row.errors if version == "10" else 0)
    if errors:
        with pytest.raises(RuntimeError, match="names have collisions"):
            openvino.Core().read_model(path)
    else:
        openvino.Core().read_model(path)


def test_the_message_names_both(tmp_path: Path) -> None:
    path = saved(tmp_path, chain(Names(of_input="a")), "10")
    (error,) = [each for each in irshape.validate(path).diagnostics if each.severity == "error"]
    assert "the output 'y'" in error.message
    assert "the input 'x'" in error.message
    assert error.layer is not None
    assert error.layer["name"] == "a"
