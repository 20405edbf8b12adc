"""Models from memory, from open files, and the values of single layers."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir import Net

import irshape

LAYER = """<layer id="1" name="mean" type="ReduceMean" version="opset1">
<data keep_dims="true"/><input><port id="0"><dim>6</dim><dim>12</dim><dim>10</dim></port>
<port id="1" precision="I64"><dim>2</dim></port></input><output><port id="2"><dim>6</dim>
<dim>1</dim><dim>1</dim></port></output></layer>"""


def net(folder: Path) -> Path:
    made_of = Net()
    x = made_of.parameter("2,3", name="x")
    made_of.result(made_of.layer("Add", [x, made_of.constant([1, 2, 3], "f32")], name="total"))
    return made_of.save(folder)


SOURCES: dict[str, Callable[[Path], irshape.Model]] = {
    "text": lambda path: irshape.loads(
        path.read_text(), weights=path.with_suffix(".bin").read_bytes()
    ),
    "bytes": lambda path: irshape.loads(
        path.read_bytes(), weights=path.with_suffix(".bin").read_bytes()
    ),
    "bytes and the path of the .bin": lambda path: irshape.loads(
        path.read_bytes(), weights=path.with_suffix(".bin")
    ),
    "UTF-16": lambda path: irshape.loads(
        path.read_text().replace('<?xml version="1.0"?>', "").encode("utf-16"),
        weights=path.with_suffix(".bin").read_bytes(),
    ),
    "text that declares another encoding": lambda path: irshape.loads(
        path.read_text().replace("?>", ' encoding="utf-16"?>', 1),
        weights=bytearray(path.with_suffix(".bin").read_bytes()),
    ),
    "two files": lambda path: irshape.load(
        io.BytesIO(path.read_bytes()), weights=io.BytesIO(path.with_suffix(".bin").read_bytes())
    ),
    "a file of bytes": lambda path: irshape.load(
        io.BytesIO(path.read_bytes()), weights=path.with_suffix(".bin").read_bytes()
    ),
    "a file of text": lambda path: irshape.load(
        io.StringIO(path.read_text()), weights=path.with_suffix(".bin")
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_model_from_memory_is_that_of_the_file(source: str, tmp_path: Path) -> None:
    path = net(tmp_path)
    model = SOURCES[source](path)
    x = np.ones((2, 3), np.float32)
    assert irshape.validate(model).ok
    assert irshape.infer(model).to_dict()["layers"] == irshape.infer(path).to_dict()["layers"]
    assert np.array_equal(*(irshape.run(each, [x])["total"] for each in (model, path)))


def test_functions_take_an_open_file(tmp_path: Path) -> None:
    path = net(tmp_path)
    with path.open("rb") as file:
        assert len(irshape.infer(file).model.layers) == 4
    with path.open("rb") as file:
        assert irshape.validate(file, also=()).files[0].layers == 4


@pytest.mark.parametrize(
    "axes", ["[1,2]", [1, 2], (1, 2), range(1, 3), np.array([1, 2]), [*np.array([1, 2])]]
)
def test_the_values_of_a_layer_on_its_own(axes: Any, tmp_path: Path) -> None:
    path = tmp_path / "mean.xml"
    path.write_text(LAYER)
    for model in (
        irshape.loads(LAYER, values={"axes": axes}),
        irshape.load(path, values={"1": axes}),
    ):
        assert str(irshape.infer(model).outputs(model.layers[0])[0].shape) == "[6,1,1]"
    inference = irshape.infer(path, values={"axes": axes})
    assert str(inference.outputs(inference.model.layers[0])[0].shape) == "[6,1,1]"
    for target in (str(path), irshape.load(path), io.StringIO(LAYER), [io.StringIO(LAYER)]):
        assert irshape.validate(target, values={"axes": [7, 8]}).count("error") == 1
    assert irshape.validate(path, values={"axes": axes}).count("error") == 0
    by_position: Any = {1: axes}
    with path.open() as file:
        assert irshape.validate(file, values=by_position).files[0].diagnostics == []
    assert irshape.validate([irshape.loads(LAYER)], values={"axes": [7, 8]}).count("error") == 1


def test_an_open_file_without_a_model_is_a_finding() -> None:
    assert irshape.validate(io.BytesIO(b"<net")).count("error") == 1


REFUSED: dict[str, tuple[Callable[[], object], type[Exception]]] = {
    "no model": (lambda: irshape.loads("<nothing/>"), irshape.LoadError),
    "not well-formed": (lambda: irshape.loads(b"<net"), irshape.LoadError),
    "half a character": (lambda: irshape.loads("<net name='\ud800'/>"), irshape.LoadError),
    "no weights": (lambda: irshape.loads("<net/>", weights=3), TypeError),  # type: ignore[arg-type]
    "no text": (lambda: irshape.loads(3), TypeError),  # type: ignore[arg-type]
    "no file": (lambda: irshape.load(3), TypeError),  # type: ignore[arg-type]
    "bytes for a path": (lambda: irshape.load("a.xml", weights=b"1"), TypeError),
    "an input that no layer has": (lambda: irshape.loads(LAYER, values={"a": 1}), ValueError),
    "no value": (lambda: irshape.loads(LAYER, values={"axes": "x"}), ValueError),
    "no mapping": (lambda: irshape.loads(LAYER, values=[1]), TypeError),  # type: ignore[arg-type]
    "a fraction": (lambda: irshape.loads(LAYER, values={"axes": 1.5}), ValueError),
    "two names": (lambda: irshape.loads(LAYER, values={"axes": [1, 2], "1": [0, 2]}), ValueError),
    "a whole model": (
        lambda: irshape.loads('<net name="m" version="11"/>', values={"axes": 1}),
        (ValueError, irshape.LoadError),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, error = REFUSED[name]
    with pytest.raises(error):
        call()
