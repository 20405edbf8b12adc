"""A model in memory: attributes, copies, and constants as arrays."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import onnx
import openvino as ov
import pytest
from formats.onnx.models import model as onnx_model
from ir import Net

import irshape

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def small(folder: Path) -> Path:
    """A model that adds a constant vector to its input."""
    net = Net()
    data = net.parameter("2,3", name="x")
    total = net.layer(
        "Add",
        [data, net.constant([1.5, -2.0, 0.25], "f32")],
        'auto_broadcast="numpy"',
        outputs=["FP32:2,3"],
    )
    net.result(total)
    return net.save(folder)


def test_attributes_are_read_only(tmp_path: Path) -> None:
    layer = irshape.load(small(tmp_path)).layers[0]
    with pytest.raises(TypeError):
        layer.attributes["shape"] = "4,3"  # type: ignore[index]
    assert dict(layer.attributes) == {"shape": "2,3", "element_type": "f32"}


def test_attributes_are_changed_by_assignment(tmp_path: Path) -> None:
    model = irshape.load(small(tmp_path))
    layer = model.layers[0]
    layer.attributes = {**layer.attributes, "shape": "4,3"}
    assert layer.items == ("shape", "4,3", "element_type", "f32")
    assert str(irshape.infer(model).outputs("2")[0].shape) == "[4,3]"
    irshape.save(model, tmp_path / "changed.xml")
    inputs = ov.Core().read_model(tmp_path / "changed.xml").inputs
    assert str(inputs[0].get_partial_shape()) == "[4,3]"


def pickled(model: irshape.Model) -> irshape.Model:
    return pickle.loads(pickle.dumps(model))


class Copying(NamedTuple):
    name: str
    copied: Callable[[irshape.Model], irshape.Model]


COPYING = [Copying("deepcopy", copy.deepcopy), Copying("pickle", pickled)]


@pytest.mark.parametrize("copying", COPYING, ids=lambda row: row.name)
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.xml")), ids=lambda path: path.stem)
def test_a_copy_is_the_same_model(path: Path, copying: Copying) -> None:
    model = irshape.load(path)
    twin = copying.copied(model)
    assert irshape.infer(twin).to_dict() == irshape.infer(model).to_dict()
    assert irshape.validate(twin).to_dict() == irshape.validate(model).to_dict()
    for ours, theirs in zip(model.walk(), twin.walk(), strict=True):
        assert ours is not theirs
        if ours.is_constant:
            np.testing.assert_array_equal(
                model.constant(ours).array(), twin.constant(theirs).array()
            )


@pytest.mark.parametrize("copying", COPYING, ids=lambda row: row.name)
def test_a_copy_shares_nothing_that_changes(tmp_path: Path, copying: Copying) -> None:
    model = irshape.load(small(tmp_path))
    twin = copying.copied(model)
    twin.layers[0].attributes = {"shape": "7,3", "element_type": "f32"}
    twin.layers[0].outputs[0].dims = (7, 3)
    del twin.layers[-1]
    assert str(irshape.infer(model).outputs("2")[0].shape) == "[2,3]"
    assert len(model.layers) == len(twin.layers) + 1


def test_a_deep_copy_shares_the_mapped_weights(tmp_path: Path) -> None:
    model = irshape.load(small(tmp_path))
    twin = copy.deepcopy(model)
    ours, theirs = (m.constant(m.layers[1]).array() for m in (model, twin))
    assert np.shares_memory(ours, theirs)


@pytest.mark.parametrize("copying", COPYING, ids=lambda row: row.name)
def test_a_copy_of_a_model_in_another_format(tmp_path: Path, copying: Copying) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
    made = onnx_model(node, ["x:f32[2,3]"], ["y:f32[2,3]"], 13, constants={"w": values})
    onnx.save(made, tmp_path / "m.onnx")
    model = irshape.load(tmp_path / "m.onnx")
    twin = copying.copied(model)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(irshape.run(twin, {"x": x})["y"], values + 1)
    assert irshape.validate(twin).to_dict() == irshape.validate(model).to_dict()


def test_a_pickle_of_a_model_whose_weights_are_gone(tmp_path: Path) -> None:
    path = small(tmp_path)
    data = pickle.dumps(irshape.load(path))
    path.with_suffix(".bin").unlink()
    weights = pickle.loads(data).weights
    assert weights.state == "missing"


class Elements(NamedTuple):
    """A Const of these attributes, and its elements."""

    name: str
    element_type: str
    shape: str
    offset: int
    size: int
    expected: object


CONSTANTS = [
    Elements(name="a scalar", element_type="u8", shape="", offset=3, size=1, expected=3),
    Elements(
        name="no elements",
        element_type="f32",
        shape="0,4",
        offset=0,
        size=0,
        expected=np.empty((0, 4), np.float32),
    ),
    Elements(
        name="a view", element_type="u8", shape="2,2", offset=4, size=4, expected=[[4, 5], [6, 7]]
    ),
    Elements(
        name="not aligned", element_type="i16", shape="1", offset=1, size=2, expected=[0x0201]
    ),
    Elements(name="packed", element_type="u4", shape="4", offset=1, size=2, expected=[1, 0, 2, 0]),
]


@pytest.mark.parametrize("row", CONSTANTS, ids=lambda row: row.name)
def test_constants_as_arrays(tmp_path: Path, row: Elements) -> None:
    path = with_constant(tmp_path, row.element_type, row.shape, row.offset, row.size)
    model = irshape.load(path)
    elements = model.constant(model.layers[0]).array()
    assert elements.shape == np.shape(row.expected)
    np.testing.assert_array_equal(elements.astype(np.float64), row.expected)


class Refused(NamedTuple):
    name: str
    offset: int
    bin: Literal["there", "missing", "not asked for"]
    message: str
    element_type: str = "u8"


REFUSED = [
    Refused("past the end", 14, "there", r"m\.bin .* 4 bytes at offset 14"),
    Refused("malformed strings", 0, "there", r"holds \d+ strings", "string"),
    Refused("no .bin asked for", 0, "not asked for", r"read without its \.bin"),
    Refused("no such .bin", 0, "missing", r"there is no '.*m\.bin'"),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.name)
def test_constants_without_bytes(tmp_path: Path, row: Refused) -> None:
    path = with_constant(tmp_path, row.element_type, "4", row.offset, 4)
    if row.bin == "missing":
        path.with_suffix(".bin").unlink()
    model = irshape.load(path, weights="none" if row.bin == "not asked for" else "beside")
    with pytest.raises(ValueError, match=row.message):
        model.constant(model.layers[0]).array()


def test_a_layer_that_describes_no_constant(tmp_path: Path) -> None:
    model = irshape.load(small(tmp_path))
    with pytest.raises(ValueError, match="<Add id=2 'add2'> is not a Const"):
        model.constant(model.layers[2])


def with_constant(folder: Path, element_type: str, shape: str, offset: int, size: int) -> Path:
    """A model of one Const, and a .bin of 16 bytes `0 … 15`."""
    net = Net()
    net.layers.append(
        '<layer id="0" name="c" type="Const" version="opset1">'
        f'<data element_type="{element_type}" shape="{shape}" offset="{offset}" size="{size}"/>'
        '<output><port id="0"/></output></layer>'
    )
    net.weights = bytes(range(16))
    return net.save(folder)


def test_several_threads_may_look_at_the_ports_of_one_model() -> None:
    """Ports are made when they are first asked for."""

    def counts(model: irshape.Model) -> list[tuple[int, int]]:
        return [(len(layer.inputs), len(layer.outputs)) for layer in model.layers]

    expected = counts(irshape.load(EXAMPLES / "encoder.xml"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            for _ in range(40):
                model = irshape.load(EXAMPLES / "encoder.xml")
                assert list(threads.map(counts, [model] * 4)) == [expected] * 4
    finally:
        sys.setswitchinterval(interval)
