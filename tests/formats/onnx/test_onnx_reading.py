"""What an ONNX file says, and what is wrong with it."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest
from formats.onnx.models import codes, model, reduction, written
from onnx import TensorProto, helper, numpy_helper

import irshape
from irshape.cli import main

RIGHT = Path(__file__).parents[3] / "examples" / "layers" / "right" / "all_axes.xml"
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def run(folder: Path, inputs: Any = None) -> dict[str, np.ndarray]:
    """What the model computes that was written last."""
    return irshape.run(irshape.load(folder / "model.onnx"), inputs)


@pytest.mark.parametrize(
    ("opset", "arguments", "expected"),
    [
        (1, {"axes": [1]}, X.mean(1, keepdims=True)),
        (1, {"axes": [1], "keepdims": 0, "y": "f32[2,4]"}, X.mean(1)),
        (1, {"y": "f32[1,1,1]"}, X.mean(keepdims=True)),
        (11, {"axes": [-2]}, X.mean(1, keepdims=True)),
        (13, {"axes": [0, 2], "keepdims": 0, "y": "f32[3]"}, X.mean((0, 2))),
        (18, {"axes": np.array([1])}, X.mean(1, keepdims=True)),
        (18, {"axes": np.array([-1, 0]), "keepdims": 0, "y": "f32[3]"}, X.mean((0, 2))),
        (18, {"axes": np.zeros(0, np.int64), "y": "f32[1,1,1]"}, X.mean(keepdims=True)),
        (18, {"axes": np.zeros(0, np.int64), "noop_with_empty_axes": 1, "y": "f32[2,3,4]"}, X),
        (18, {"noop_with_empty_axes": 1, "y": "f32[2,3,4]"}, X),
        (18, {"keepdims": 0, "y": "f32[]"}, X.mean()),
        (18, {"x": "f32", "y": "f32", "keepdims": 0}, X.mean()),
    ],
)
def test_every_form_of_reduce_mean(
    opset: int, arguments: dict[str, Any], expected: Any, tmp_path: Path
) -> None:
    found = reduction(opset, **arguments)
    assert codes(found, tmp_path) == []
    np.testing.assert_allclose(run(tmp_path, {"x": X})["y"], expected)


@pytest.mark.parametrize(
    ("opset", "arguments", "expected"),
    [
        (10, {"axes": [-2]}, ["IR304"]),
        (11, {"axes": [3]}, ["IR405"]),
        (11, {"axes": [-4]}, ["IR405"]),
        (18, {"axes": np.array([3])}, ["IR405"]),
        # an input from 18 on: the attribute is unknown, and all axes are reduced
        (18, {"axes": [1]}, ["IR301"]),
        (13, {"axes": [1], "keepdims": 2}, ["IR304"]),
        (13, {"axes": [1], "keepdims": 1.5}, ["IR304"]),
        (13, {"axes": [1], "keep_dims": 1}, ["IR302"]),
        (13, {"axes": [1], "colour": 1}, ["IR301"]),
        (13, {"axes": [1], "noop_with_empty_axes": 1}, ["IR301"]),
        (11, {"axes": [1], "x": "bf16[2,3,4]", "y": "bf16[2,1,4]"}, ["IR403"]),
        (13, {"axes": [1], "x": "bf16[2,3,4]", "y": "bf16[2,1,4]"}, []),
        (18, {"x": "boolean[2,3,4]", "y": "boolean[1,1,1]"}, ["IR403"]),
        (18, {"x": "i8[2,3,4]", "y": "i8[1,1,1]"}, ["IR403"]),
        (18, {"kind": "ReduceMax", "x": "boolean[2,3,4]", "y": "boolean[1,1,1]"}, ["IR403"]),
        (20, {"kind": "ReduceMax", "x": "boolean[2,3,4]", "y": "boolean[1,1,1]"}, []),
        (13, {"axes": [1], "y": "f32[2,3,1]"}, ["IR201"]),
        (13, {"axes": [1], "y": "f32[2,4]"}, ["IR201"]),
        (13, {"axes": [1], "y": "f64[2,1,4]"}, ["IR202"]),
        (13, {"axes": [1], "x": "f32[n,3,4]", "y": "f32[n,1,4]"}, []),
        (13, {"axes": [1], "kind": "ReduceMeen"}, ["IR602"]),
        (12, {"kind": "Gelu", "y": "f32[2,3,4]"}, ["IR603"]),
    ],
)
def test_findings(
    opset: int, arguments: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    found = codes(reduction(opset, **arguments), tmp_path)
    assert [code for code in found if code != "IR201" or expected == ["IR201"]] == expected


def test_a_finding_on_an_input_shows_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.onnx").write_bytes(reduction(13, axes=[1]).SerializeToString())
    (tmp_path / "irshape.toml").write_text('[policy]\nallowed-element-types = ["i64"]\n')
    with pytest.raises(SystemExit):
        main(["validate", str(tmp_path), "--config", str(tmp_path / "irshape.toml")])
    assert '| <input name="x"/>' in capsys.readouterr().out


def test_a_finding_names_the_node_and_its_attribute(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("ReduceMean", ["r"], ["y"], name="mean", axes=[-2]),
    ]
    report = irshape.validate(written(model(nodes, ["x:f32[2,3]"], ["y:f32[1,3]"], 10), tmp_path))
    (found,) = report.diagnostics
    assert (found.line, found.layer and found.layer["name"]) == (2, "mean")
    assert "`axes` contains -2" in found.message
    assert "opset 11" in found.message
    source = irshape.load(tmp_path / "model.onnx").source
    assert source.line(2) == '<ReduceMean name="mean" inputs="r" outputs="y" axes="-2"/>'
    assert source.line(2)[found.column - 1 :].startswith('axes="-2"')


@pytest.mark.parametrize("opset", [1, 6, 8, 13])
def test_mean_of_several(opset: int, tmp_path: Path) -> None:
    attributes = {"consumed_inputs": [0, 0]} if opset == 1 else {}
    node = helper.make_node("Mean", ["a", "b"], ["y"], **attributes)
    assert codes(model(node, ["a:f32[2,3]", "b:f32[2,3]"], ["y:f32[2,3]"], opset), tmp_path) == []
    wide = model(node, ["a:f32[2,3]", "b:f32[3]"], ["y:f32[2,3]"], opset)
    assert codes(wide, tmp_path) == (["IR406"] if opset < 8 else [])
    if opset >= 8:
        a, b = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
        np.testing.assert_allclose(run(tmp_path, [a, b])["y"], (a + b) / 2)


def test_mean_of_one(tmp_path: Path) -> None:
    found = model(helper.make_node("Mean", ["x"], ["y"]), ["x:f32[2]"], ["y:f32[2]"], 13)
    assert codes(found, tmp_path) == []
    assert run(tmp_path, [np.ones(2, np.float32)])["y"].tolist() == [1, 1]


def test_value_info_is_held_against_what_is_inferred(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])]
    report = irshape.validate(
        written(model(nodes, ["x:f32[2,3]"], ["y:f32[2,3]"], 13, info=["r:f32[2,4]"]), tmp_path)
    )
    first = report.diagnostics[0]
    assert (first.code, first.layer and first.layer["type"]) == ("IR201", "ReLU")
    assert (first.expected, first.actual, first.fixes) == ("[2,3]", "[2,4]", ())


def test_a_node_that_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Mine", ["x"], ["m"], domain="own"),
        helper.make_node("Neg", ["m"], ["y"]),
    ]
    found = model(nodes, ["x:f32[2,3]"], ["y:f32[5]"], 13, info=["m:f32[5]"])
    found.opset_import.append(helper.make_opsetid("own", 1))
    assert codes(found, tmp_path) == ["IR604"]
    rows = irshape.infer(irshape.load(tmp_path / "model.onnx")).to_dict()["layers"]
    seen = [f"{row['type']} {row['outputs'][0]['shape']}" for row in rows]
    assert seen == ["Parameter [2,3]", "Mine [5]", "Negative [5]", "Result [5]"]


def test_names(tmp_path: Path) -> None:
    """An output that is an input, or another output, under a second name."""
    nodes = [
        helper.make_node("Identity", ["x"], ["y"]),
        helper.make_node("Neg", ["x"], ["z"]),
        helper.make_node("Identity", ["z"], ["w,1"]),
    ]
    outputs = ["y:f32[2]", "z:f32[2]", "w,1:f32[2]"]
    written(model(nodes, ["x:f32[2]"], outputs, 13), tmp_path)
    made = run(tmp_path, {"x": np.ones(2, np.float32)})
    values = {name: array.tolist() for name, array in made.items()}
    assert values == {"y": [1, 1], "z": [-1, -1], "w,1": [-1, -1]}


def test_functions_of_the_model_are_written_out(tmp_path: Path) -> None:
    body = [
        helper.make_node("Mul", ["a", "a"], ["s"]),
        helper.make_node("ReduceSum", ["s"], ["b"], keepdims=0),
    ]
    body[1].attribute[0].ref_attr_name = "keep"
    body[1].attribute[0].ClearField("i")
    function = helper.make_function(
        "own", "Norm", ["a"], ["b"], body, [helper.make_opsetid("", 13)], ["keep"]
    )
    node = helper.make_node("Norm", ["x"], ["y"], domain="own", keep=1)
    found = model(node, ["x:f32[3]"], ["y:f32[1]"], 13, functions=[function])
    found.opset_import.append(helper.make_opsetid("own", 1))
    assert codes(found, tmp_path) == []
    np.testing.assert_allclose(run(tmp_path, [np.array([1, 2, 2], np.float32)])["y"], [9])


def test_a_function_without_end(tmp_path: Path) -> None:
    body = [helper.make_node("F", ["a"], ["b"], domain="own")]
    opsets = [helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "F", ["a"], ["b"], body, opsets)
    node = helper.make_node("F", ["x"], ["y"], domain="own")
    found = model(node, ["x:f32[3]"], ["y:f32[3]"], 13, functions=[function])
    found.opset_import.append(helper.make_opsetid("own", 1))
    assert codes(found, tmp_path) == ["IR005"]


def test_constants_of_all_types(tmp_path: Path) -> None:
    texts = helper.make_tensor("s", TensorProto.STRING, [2], [b"one", b"two"])
    small = helper.make_tensor("t", TensorProto.INT4, [3], [-8, 7, 1])
    nodes = [
        helper.make_node("Constant", [], ["y"], value=texts),
        helper.make_node("Constant", [], ["z"], value_floats=[1.5, 2]),
        helper.make_node("Constant", [], ["w"], value=small),
        helper.make_node("Cast", ["w"], ["c"], to=TensorProto.INT32),
    ]
    written(model(nodes, [], ["y:string[2]", "z:f32[2]", "c:i32[3]"], 21), tmp_path)
    assert [array.tolist() for array in run(tmp_path).values()] == [
        [b"one", b"two"],
        [1.5, 2.0],
        [-8, 7, 1],
    ]


# data outside the file


def external(folder: Path, **entries: str) -> Path:
    found = model(helper.make_node("Add", ["x", "w"], ["y"]), ["x:f32[2]"], ["y:f32[2]"], 13)
    tensor = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in {"location": "w.data", **entries}.items():
        tensor.external_data.add(key=key, value=text)
    found.graph.initializer.append(tensor)
    (folder / "model.onnx").write_bytes(found.SerializeToString())
    return folder / "model.onnx"


def test_external_data(tmp_path: Path) -> None:
    (tmp_path / "w.data").write_bytes(b"\0" * 8 + np.array([1, 2], np.float32).tobytes())
    path = external(tmp_path, offset="8", length="8")
    assert irshape.validate(path).diagnostics == []
    irshape.save(irshape.load(path), tmp_path / "model.xml")
    for each in (path, tmp_path / "model.xml"):
        assert irshape.run(each, [np.ones(2, np.float32)])["y"].tolist() == [2, 3]


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ({"location": "absent.data"}, "IR501"),
        ({"location": "../w.data"}, "IR501"),
        ({"location": "/etc/hostname"}, "IR501"),
        ({"location": "a/../../w.data"}, "IR501"),
        ({"location": "link.data"}, "IR501"),
        ({"location": "folder"}, "IR501"),
        ({"location": ""}, "IR501"),
        ({"offset": "4"}, "IR502"),
        ({"offset": "-8"}, "IR502"),
        ({"offset": "many"}, "IR502"),
        ({"length": "4"}, "IR502"),
    ],
)
def test_external_data_that_is_not_there(
    entries: dict[str, str], code: str, tmp_path: Path
) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (folder / "folder").mkdir()
    for place in (tmp_path, folder):
        (place / "w.data").write_bytes(b"\0" * 8)
    os.symlink(tmp_path / "w.data", folder / "link.data")
    report = irshape.validate(external(folder, **entries))
    assert [found.code for found in report.diagnostics] == [code]


# files that are no model


@pytest.mark.parametrize("keep", [20, 60])
def test_a_truncated_file(keep: int, tmp_path: Path) -> None:
    path = written(reduction(13, axes=[1]), tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    assert [found.code for found in irshape.validate(path).diagnostics] == ["IR003"]


def test_recognised_by_content(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(reduction(13, axes=[1]), tmp_path).read_bytes()
    (tmp_path / "model.bin").write_bytes(data)
    assert irshape.load(tmp_path / "model.bin").format.name == "ONNX"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(SystemExit) as done:
        main(["validate", "-"])
    assert done.value.code == 0


def test_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file itself is an error; in a folder of other models it is skipped, as stderr says."""
    from irshape.formats.onnx import package

    path = written(reduction(13, axes=[1]), tmp_path)
    package.onnx.cache_clear()
    monkeypatch.setitem(sys.modules, "onnx", None)
    (found,) = irshape.validate(path).diagnostics
    package.onnx.cache_clear()
    assert (found.code, "onnx" in found.help) == ("IR012", True)
    copy(RIGHT, tmp_path)
    with pytest.raises(SystemExit) as done:
        main(["validate", str(tmp_path)])
    assert not done.value.code
    assert "1 ONNX model in" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(60))
def test_any_bytes_give_diagnostics(seed: int, tmp_path: Path) -> None:
    """Bytes of a model changed at random: never a traceback."""
    generator = np.random.default_rng(seed)
    data = bytearray(written(reduction(18, axes=np.array([1])), tmp_path).read_bytes())
    for _ in range(int(generator.integers(1, 6))):
        data[int(generator.integers(len(data)))] = int(generator.integers(256))
    (tmp_path / "model.onnx").write_bytes(bytes(data))
    irshape.validate(tmp_path / "model.onnx")


def test_a_large_declared_shape_costs_nothing(tmp_path: Path) -> None:
    size = "f32[1000000000,1000000000]"
    found = model(helper.make_node("Neg", ["x"], ["y"]), [f"x:{size}"], [f"y:{size}"], 13)
    assert irshape.validate(written(found, tmp_path)).ok


# graphs inside nodes


def branch(name: str, nodes: list[Any], output: str) -> Any:
    return helper.make_graph(
        nodes, name, [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
    )


def branching() -> Any:
    """If c: if d: x + w, else x - 1; else sum of x over the axes of a constant outside."""
    one = helper.make_node("Constant", [], ["one"], value_float=1.0)
    inner = [
        branch("yes", [helper.make_node("Add", ["x", "w"], ["p"])], "p"),
        branch("no", [one, helper.make_node("Sub", ["x", "one"], ["m"])], "m"),
    ]
    choice = helper.make_node("If", ["d"], ["q"], then_branch=inner[0], else_branch=inner[1])
    outer = branch("then", [choice], "q")
    other = branch("else", [helper.make_node("ReduceSum", ["x", "axes"], ["s"])], "s")
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=outer, else_branch=other)
    constants = {"w": np.array([10, 20], np.float32), "axes": np.array([0])}
    inputs = ["c:boolean[]", "d:boolean[]", "x:f32[2,2]"]
    return model(node, inputs, ["y:f32[n,2]"], 13, constants=constants)


@pytest.mark.parametrize("converted", [False, True])
def test_branches_use_what_is_around_them(converted: bool, tmp_path: Path) -> None:
    found = branching()
    assert codes(found, tmp_path) == []
    loaded = irshape.load(tmp_path / "model.onnx")
    if converted:
        irshape.save(loaded, tmp_path / "model.xml", inference=irshape.infer(loaded))
        assert [
            row.code
            for row in irshape.validate(tmp_path / "model.xml").diagnostics
            if row.severity == "error"
        ] == []
        loaded = irshape.load(tmp_path / "model.xml")
    x = np.array([[1, 2], [3, 4]], np.float32)
    for c, d, expected in (
        (True, True, x + np.array([10, 20])),
        (True, False, x - 1),
        (False, True, x.sum(0, keepdims=True)),
    ):
        np.testing.assert_array_equal(
            irshape.run(loaded, {"c": np.array(c), "d": np.array(d), "x": x})["y"], expected
        )


def test_a_finding_inside_a_branch(tmp_path: Path) -> None:
    found = branching()
    found.graph.node[0].attribute[1].g.node[0].input[0] = "absent"
    report = irshape.validate(written(found, tmp_path))
    first = next(row for row in report.diagnostics if row.severity == "error")
    assert (first.code, first.line) == ("IR110", 1)
    assert first.layer is not None
    assert first.layer["path"][1:] == ["then_body"] or first.layer["path"][1:] == ["else_body"]


def test_functions_that_call_each_other_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written out it would be ten thousand nodes."""
    monkeypatch.setattr("irshape.formats.onnx.reader.MAX_WRITTEN_OUT", 2_000)
    functions = []
    for level in range(4):
        callee = (
            helper.make_node(f"F{level + 1}", ["a"], ["b"], domain="own")
            if level < 3
            else helper.make_node("Neg", ["a"], ["b"])
        )
        opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 13)]
        functions.append(
            helper.make_function("own", f"F{level}", ["a"], ["b"], [callee] * 10, opsets)
        )
    found = model(
        helper.make_node("F0", ["x"], ["y"], domain="own"),
        ["x:f32[3]"],
        ["y:f32[3]"],
        13,
        functions=functions,
    )
    found.opset_import.append(helper.make_opsetid("own", 1))
    assert codes(found, tmp_path) == ["IR004"]
