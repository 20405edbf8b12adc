"""Models written back: OpenVINO reads them, and infers the same."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from differential.oracle import Answer, Oracle
from ir import Net

import irshape
from irshape.cli import main
from irshape.formats.atomic import write_together
from irshape.formats.weights import raw_bytes

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.xml"))
Rows = list[tuple[str, list[tuple[str, str]]]]


def layers_of(answer: Answer) -> Rows:
    """Layers with their types and shapes; the numbers that OpenVINO gives to nodes that it makes up are left out."""
    assert answer.status == "accepted", answer.message
    return sorted((re.sub(r"_\d{3,}", "", name), outputs) for name, outputs in answer.layers.items())


def constants_of(model: irshape.Model) -> list[tuple[tuple[str, ...], str, bytes | None]]:
    return [(layer.path, layer.id, raw_bytes(model.constant(layer))) for layer in model.walk() if layer.type == "Const"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("inferred", [False, True], ids=["as read", "as inferred"])
def test_openvino_reads_the_same_model(path: Path, inferred: bool, tmp_path: Path, oracle: Oracle) -> None:
    model = irshape.load(path)
    written = tmp_path / "written.xml"
    irshape.save(model, written, inference=irshape.infer(model) if inferred else None)
    assert layers_of(oracle.ask_file(written)) == layers_of(oracle.ask_file(path))
    again = irshape.load(written)
    assert constants_of(again) == constants_of(model)
    assert irshape.infer(again).to_dict()["layers"] == irshape.infer(model).to_dict()["layers"]
    if not inferred:
        assert declared(again) == declared(model)
        assert again.rt_info == model.rt_info
    assert sorted(file.name for file in tmp_path.iterdir()) == ["written.bin", "written.xml"]


def declared(model: irshape.Model) -> list[Any]:
    def ports(of: list[irshape.Port]) -> list[Any]:
        return [(port.id, port.precision, port.names, port.dims) for port in of]

    found: list[Any] = []
    for layer in model.walk():
        found.append((layer.path, layer.id, layer.name, layer.type, layer.version, layer.output_names, ports(layer.inputs), ports(layer.outputs)))
        found.append(layer.attributes if layer.type != "Const" else None)
        found.append({tag: [edge[:2] for edge in body.back_edges] for tag, body in (layer.bodies or {}).items()})
    return found


def test_back_edges_before_and_after_the_body_are_read() -> None:
    """OpenVINO writes them before the body."""
    model = irshape.load(next(path for path in EXAMPLES if path.stem == "control_flow"))
    loops = [layer for layer in model.walk() if layer.type in ("Loop", "TensorIterator")]
    assert loops
    assert all(layer.bodies and layer.bodies["body"].back_edges for layer in loops)


def a_net() -> Net:
    net = Net()
    data = net.parameter("?,3,4", name="data")
    net.result(net.layer("ReduceMean", [data, net.constant([1])], 'keep_dims="true"', outputs=["FP32:-1,1,4"]), name="mean")
    return net


def test_new_shapes_are_what_openvino_reads(tmp_path: Path, oracle: Oracle) -> None:
    path = a_net().save(tmp_path)
    written = tmp_path / "new.xml"
    for shape, seen in (("[2..8,3,4]", "[2..8,1,4]"), ("[5,3,4]", "[5,1,4]"), ("[?,3,..9]", "[?,1,..9]"), ("[0,3,4]", "[0,1,4]")):
        with pytest.raises(SystemExit) as ended:
            main(["infer", str(path), "--shape", f"data={shape}", "--output", str(written)])
        assert ended.value.code == 0
        answer = oracle.ask_file(written)
        assert answer.layers["data"] == [("f32", shape)], answer.message
        assert answer.layers["mean"] == [("f32", seen)]
        assert not [found for found in irshape.validate(written).files[0].diagnostics if found.severity != "info"]


def test_a_shape_of_dynamic_rank_and_a_scalar(tmp_path: Path, oracle: Oracle) -> None:
    net = Net()
    net.result(net.parameter("2,3", name="data"), name="out")
    path = net.save(tmp_path)
    model = irshape.load(path)
    for shape in ("[...]", "[]", "[1..,..5]"):
        irshape.save(model, tmp_path / "new.xml", inference=irshape.infer(model, shapes={"data": shape}))
        assert oracle.ask_file(tmp_path / "new.xml").layers["out"] == [("f32", shape)]


def test_a_model_that_does_not_fit_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = Net()
    data = net.parameter("2,3", name="data")
    net.result(net.layer("ReduceMean", [data, net.constant([1])], 'keep_dims="true"', outputs=["FP32:2,1"]))
    path = net.save(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["infer", str(path), "--shape", "data=[7]", "--output", str(tmp_path / "new.xml")])
    assert ended.value.code == 1
    assert "was not written" in capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.bin", "m.xml"]


@pytest.mark.parametrize("output", ["new.xml", "new.bin", "absent/new.xml", "folder", "folder.xml"])
def test_what_cannot_be_written_leaves_nothing_behind(output: str, tmp_path: Path) -> None:
    source = a_net().save(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.xml").mkdir()
    before = sorted(str(file) for file in tmp_path.rglob("*"))
    model = irshape.load(source, weights="none" if output == "new.xml" else "beside")
    with pytest.raises((ValueError, OSError)):
        irshape.save(model, tmp_path / output)
    assert sorted(str(file) for file in tmp_path.rglob("*")) == before


def test_an_output_without_bytes_is_a_matter_of_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = a_net().save(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["infer", str(source), "--weights", "none", "--output", str(tmp_path / "new.xml")])
    assert ended.value.code == 2
    assert "has no bytes to write" in capsys.readouterr().err


def test_a_failure_midway_keeps_what_was_there(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"old")

    def breaks() -> Iterable[bytes]:
        yield b"some"
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="space"):
        write_together({first: b"new", second: breaks()})
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("first", b"old")]


def test_a_model_may_be_written_over_itself(tmp_path: Path, oracle: Oracle) -> None:
    path = a_net().save(tmp_path)
    model = irshape.load(path)
    before = constants_of(model)
    irshape.save(model, path, inference=irshape.infer(model, shapes={"data": "[2,3,4]"}))
    assert constants_of(irshape.load(path)) == before
    assert oracle.ask_file(path).layers["mean"] == [("f32", "[2,1,4]")]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path = a_net().save(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "real.xml", tmp_path / "new.xml"
    link.symlink_to(target)
    irshape.save(irshape.load(path), link)
    assert link.is_symlink()
    assert target.is_file()


def test_what_has_no_meaning_here_is_carried_over(tmp_path: Path, oracle: Oracle) -> None:
    """The rt_info of net, layers and ports, names that need escaping, tensor names with commas, the names on a Result."""
    text = """<?xml version="1.0"?>
<net name="a &lt;b&gt; &amp; &quot;c&quot;" version="11">
    <layers>
        <layer id="7" name="in &amp; out &#10;" type="Parameter" version="opset1">
            <data shape="1,3,?,?" element_type="f32" />
            <rt_info><attribute name="old_api_map_order" version="0" value="0,2,3,1" /></rt_info>
            <output><port id="4" precision="FP32" names="a\\,b,c>d">
                <dim>1</dim> <dim>3</dim> <dim>-1</dim> <dim>-1</dim>
                <rt_info><attribute name="layout" version="0" layout="[N,C,H,W]" /></rt_info>
            </port></output>
        </layer>
        <layer id="3" name="out" type="Result" version="opset1" output_names="x,y">
            <input><port id="9" precision="FP32"><dim>1</dim><dim>3</dim><dim>-1</dim><dim>-1</dim></port></input>
        </layer>
    </layers>
    <edges><edge from-layer="7" from-port="4" to-layer="3" to-port="9" /></edges>
    <rt_info><MO_version value="2024 &lt;x&gt;" /><conversion_parameters><framework value="onnx" /></conversion_parameters></rt_info>
</net>
"""
    source, written = tmp_path / "source.xml", tmp_path / "written.xml"
    source.write_text(text)
    model = irshape.load(source)
    irshape.save(model, written)
    again = irshape.load(written)
    assert declared(again) == declared(model)
    assert again.name == model.name == 'a <b> & "c"'
    assert again.rt_info == model.rt_info == {"MO_version": "2024 <x>", "conversion_parameters": {"framework": "onnx"}}
    made = written.read_text()
    assert 'layout="[N,C,H,W]"' in made
    assert "old_api_map_order" in made
    assert layers_of(oracle.ask_file(written)) == layers_of(oracle.ask_file(source))
    assert not written.with_suffix(".bin").exists()


def test_constants_that_shared_bytes_share_them_still(tmp_path: Path) -> None:
    net = a_net()
    path = net.save(tmp_path)
    path.with_suffix(".bin").write_bytes(net.weights + b"unused tail")
    text = path.read_text().replace("</layers>", net.layers[1].replace('id="1"', 'id="90"').replace('"c1"', '"twin"') + "</layers>")
    path.write_text(text)
    written = tmp_path / "new.xml"
    irshape.save(irshape.load(path), written)
    assert written.with_suffix(".bin").read_bytes() == net.weights
    assert len({layer.attribute("offset") for layer in irshape.load(written).layers if layer.type == "Const"}) == 1


def test_layers_on_their_own_are_no_model_to_write(tmp_path: Path) -> None:
    path = tmp_path / "layer.xml"
    path.write_text('<layer type="ReLU" ...><input><port id="0"><dim>1</dim></port></input><output><port id="1"><dim>1</dim></port></output></layer>')
    with pytest.raises(ValueError, match="layers on their own"):
        irshape.save(irshape.load(path), tmp_path / "new.xml")
