"""Models written back: OpenVINO reads them, and infers the same."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differential.elements import NAMES, pack, precision
from differential.oracle import Answer, Oracle
from ir import Net, mean_net

import irshape
from irshape.cli import main
from irshape.element_types import ElementType
from irshape.formats.atomic import write_together
from irshape.model.weights import raw_bytes

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.xml"))
Rows = list[tuple[str, list[tuple[str, str]]]]


def layers_of(answer: Answer) -> Rows:
    """Layers with types and shapes, without the numbers that OpenVINO adds to generated names."""
    assert answer.status == "accepted", answer.message
    return sorted(
        (re.sub(r"_\d{3,}", "", name), outputs) for name, outputs in answer.layers.items()
    )


def constants_of(model: irshape.Model) -> list[tuple[tuple[str, ...], str, bytes | None]]:
    return [
        (layer.path, layer.id, raw_bytes(model.constant(layer)))
        for layer in model.walk()
        if layer.type == "Const"
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("inferred", [False, True], ids=["as read", "as inferred"])
def test_openvino_reads_the_same_model(
    path: Path, inferred: bool, tmp_path: Path, oracle: Oracle
) -> None:
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
        found += [layer.path, layer.id, layer.name, layer.type, layer.version, layer.output_names]
        found += [ports(layer.inputs), ports(layer.outputs)]
        found.append(layer.attributes if layer.type != "Const" else None)
        for tag, body in (layer.bodies or {}).items():
            found.append((tag, [edge[:2] for edge in body.back_edges]))
    return found


def test_back_edges_before_and_after_the_body_are_read() -> None:
    """OpenVINO writes them before the body."""
    model = irshape.load(next(path for path in EXAMPLES if path.stem == "control_flow"))
    loops = [layer for layer in model.walk() if layer.type in ("Loop", "TensorIterator")]
    assert loops
    assert all(layer.bodies and layer.bodies["body"].back_edges for layer in loops)


def test_new_shapes_are_what_openvino_reads(tmp_path: Path, oracle: Oracle) -> None:
    path = mean_net().save(tmp_path)
    written = tmp_path / "new.xml"
    for shape, seen in (
        ("[2..8,3,4]", "[2..8,1,4]"),
        ("[5,3,4]", "[5,1,4]"),
        ("[?,3,..9]", "[?,1,..9]"),
        ("[0,3,4]", "[0,1,4]"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["infer", str(path), "--shape", f"data={shape}", "--output", str(written)])
        assert ended.value.code == 0
        answer = oracle.ask_file(written)
        assert answer.layers["data"] == [("f32", shape)], answer.message
        assert answer.layers["mean"] == [("f32", seen)]
        assert {found.severity for found in irshape.validate(written).diagnostics} <= {"info"}


def test_a_shape_of_dynamic_rank_and_a_scalar(tmp_path: Path, oracle: Oracle) -> None:
    net = Net()
    net.result(net.parameter("2,3", name="data"), name="out")
    path = net.save(tmp_path)
    model = irshape.load(path)
    for shape in ("[...]", "[]", "[1..,..5]"):
        inference = irshape.infer(model, shapes={"data": shape})
        irshape.save(model, tmp_path / "new.xml", inference=inference)
        assert oracle.ask_file(tmp_path / "new.xml").layers["out"] == [("f32", shape)]


def test_a_model_that_does_not_fit_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = Net()
    net.result(net.add("ReduceMean-1(keep_dims=true data:f32[2,3] i64{[1]})", outputs=["FP32:2,1"]))
    path = net.save(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["infer", str(path), "--shape", "data=[7]", "--output", str(tmp_path / "new.xml")])
    assert ended.value.code == 1
    assert "was not written" in capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.bin", "m.xml"]


@pytest.mark.parametrize("output", ["new.xml", "new.bin", "absent/new.xml", "folder", "folder.xml"])
def test_what_cannot_be_written_leaves_nothing_behind(output: str, tmp_path: Path) -> None:
    source = mean_net().save(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.xml").mkdir()
    before = sorted(str(file) for file in tmp_path.rglob("*"))
    model = irshape.load(source, weights="none" if output == "new.xml" else "beside")
    with pytest.raises((ValueError, OSError)):
        irshape.save(model, tmp_path / output)
    assert sorted(str(file) for file in tmp_path.rglob("*")) == before


def test_an_output_without_bytes_is_a_matter_of_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = mean_net().save(tmp_path)
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
    path = mean_net().save(tmp_path)
    model = irshape.load(path)
    before = constants_of(model)
    irshape.save(model, path, inference=irshape.infer(model, shapes={"data": "[2,3,4]"}))
    assert constants_of(irshape.load(path)) == before
    assert oracle.ask_file(path).layers["mean"] == [("f32", "[2,1,4]")]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path = mean_net().save(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "real.xml", tmp_path / "new.xml"
    link.symlink_to(target)
    irshape.save(irshape.load(path), link)
    assert link.is_symlink()
    assert target.is_file()


def test_what_has_no_meaning_here_is_carried_over(tmp_path: Path, oracle: Oracle) -> None:
    """The rt_info of net, layers and ports, escaped names, commas in names, names of Results."""
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
            <input><port id="9" precision="FP32"><dim>1</dim><dim>3</dim><dim>-1</dim>\
<dim>-1</dim></port></input>
        </layer>
    </layers>
    <edges><edge from-layer="7" from-port="4" to-layer="3" to-port="9" /></edges>
    <rt_info><MO_version value="2024 &lt;x&gt;" /><conversion_parameters>\
<framework value="onnx" /></conversion_parameters></rt_info>
</net>
"""
    source, written = tmp_path / "source.xml", tmp_path / "written.xml"
    source.write_text(text)
    model = irshape.load(source)
    irshape.save(model, written)
    again = irshape.load(written)
    assert declared(again) == declared(model)
    assert again.name == model.name == 'a <b> & "c"'
    assert (
        again.rt_info
        == model.rt_info
        == {"MO_version": "2024 <x>", "conversion_parameters": {"framework": "onnx"}}
    )
    made = written.read_text()
    assert 'layout="[N,C,H,W]"' in made
    assert "old_api_map_order" in made
    assert layers_of(oracle.ask_file(written)) == layers_of(oracle.ask_file(source))
    assert not written.with_suffix(".bin").exists()


def test_constants_that_shared_bytes_share_them_still(tmp_path: Path) -> None:
    net = mean_net()
    path = net.save(tmp_path)
    path.with_suffix(".bin").write_bytes(net.weights + b"unused tail")
    twin = net.layers[1].replace('id="1"', 'id="90"').replace('"c1"', '"twin"')
    path.write_text(path.read_text().replace("</layers>", f"{twin}</layers>"))
    written = tmp_path / "new.xml"
    irshape.save(irshape.load(path), written)
    assert written.with_suffix(".bin").read_bytes() == net.weights
    constants = [layer for layer in irshape.load(written).layers if layer.type == "Const"]
    assert len({layer.attribute("offset") for layer in constants}) == 1


def round_trip(source: Path, oracle: Oracle) -> irshape.Model:
    """Writes a model as read and as inferred; OpenVINO and irshape see the first in both."""
    model = irshape.load(source)
    written = source.with_name("written.xml")
    theirs = layers_of(oracle.ask_file(source))
    for inference in (None, irshape.infer(model)):
        irshape.save(model, written, inference=inference)
        assert layers_of(oracle.ask_file(written)) == theirs
        again = irshape.load(written)
        assert constants_of(again) == constants_of(model)
        assert irshape.infer(again).to_dict()["layers"] == irshape.infer(model).to_dict()["layers"]
        if inference is None:
            assert declared(again) == declared(model)
    return again


def constant_net(
    element_type: str, shape: tuple[int, ...], raw: bytes, version: int, before: int = 0
) -> str:
    dims = "".join(f"<dim>{size}</dim>" for size in shape)
    port = f'precision="{precision(element_type)}"'
    return f"""<net name="constant" version="{version}"><layers>
    <layer id="4" name="constant" type="Const" version="opset1">
        <data element_type="{element_type}" shape="{", ".join(map(str, shape))}"\
 offset="{before}" size="{len(raw)}"/>
        <output><port id="1" {port}>{dims}</port></output></layer>
    <layer id="9" name="result" type="Result" version="opset1"><input><port id="0">\
{dims}</port></input></layer>
    </layers><edges><edge from-layer="4" from-port="1" to-layer="9" to-port="0"/></edges></net>"""


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("element_type", NAMES)
def test_constants_of_every_type_keep_their_bytes(
    element_type: str, version: int, tmp_path: Path, oracle: Oracle
) -> None:
    """Constants of packed types and strings too, from anywhere in the .bin; unused bytes go."""
    if element_type == "string":
        texts = np.empty(3, dtype=object)
        texts[:] = ["", "zwölf", "a,b"]
        shape, raw = (3,), pack(texts, "string")
    else:
        shape, raw = (7, 3), bytes(range(1, 200))[: ElementType.of(element_type).byte_size(21)]
    source = tmp_path / "m.xml"
    source.write_text(constant_net(element_type, shape, raw, version, before=5))
    source.with_suffix(".bin").write_bytes(b"\xffjunk" + raw + b"junk")
    again = round_trip(source, oracle)
    assert again.version == version
    assert (tmp_path / "written.bin").read_bytes() == raw


def test_constants_inside_bodies(tmp_path: Path, oracle: Oracle) -> None:
    """Both branches of an If, and constants that outer and inner bodies share."""
    net = Net()
    data = net.parameter("?,4", name="data")
    condition = net.parameter("", "boolean", name="condition")
    shared = 'element_type="i64" shape="1" offset="0" size="8"'

    def const(id: int, data: str, precision: str = "I64", dims: str = "<dim>1</dim>") -> str:
        return (
            f'<layer id="{id}" name="k{id}" type="Const" version="opset1"><data {data}/><output>'
            f'<port id="0" precision="{precision}">{dims}</port></output></layer>'
        )

    parameter = (
        '<layer id="0" name="in" type="Parameter" version="opset1">'
        '<data shape="?,4" element_type="f32"/><output>'
        '<port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></output></layer>'
    )
    result = (
        '<layer id="9" name="out" type="Result" version="opset1"><input>'
        '<port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input></layer>'
    )
    gather = (
        '<layer id="3" name="g" type="ReduceSum" version="opset1"><data keep_dims="true"/><input>'
        '<port id="0"/><port id="1"/></input><output>'
        '<port id="2" precision="FP32"><dim>1</dim><dim>4</dim></port></output></layer>'
    )
    then = f"""<then_body><layers>{parameter}{const(2, shared)}{gather}{result}</layers><edges>
        <edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>\
<edge from-layer="2" from-port="0" to-layer="3" to-port="1"/>
        <edge from-layer="3" from-port="2" to-layer="9" to-port="0"/></edges></then_body>"""
    otherwise = f"""<else_body><layers>{parameter}{result}</layers><edges>\
<edge from-layer="0" from-port="0" to-layer="9" to-port="0"/></edges>
        <rt_info><kept value="1"/></rt_info></else_body>"""
    maps = "".join(
        (
            f'<{name}_port_map><input external_port_id="1" internal_layer_id="0"/>'
            f'<output external_port_id="0" internal_layer_id="9"/></{name}_port_map>'
        )
        for name in ("then", "else")
    )
    chosen = net.layer(
        "If",
        [condition, data],
        outputs=["FP32:-1,4"],
        version="opset8",
        inside=maps + then + otherwise,
        name="choice",
    )
    net.result(
        net.layer(
            "ReduceMean",
            [chosen, net.constant([0])],
            'keep_dims="false"',
            outputs=["FP32:4"],
            name="mean",
        ),
        name="end",
    )
    again = round_trip(net.save(tmp_path), oracle)
    assert (tmp_path / "written.bin").read_bytes() == net.weights
    assert {layer.attribute("offset") for layer in again.walk() if layer.type == "Const"} == {"0"}


@pytest.mark.parametrize("shape", ["?,3,4", "1..10,3,?", "2..,..5,4", "...", "", "0,3", "100000,3"])
@pytest.mark.parametrize("version", [10, 11])
def test_shapes_of_every_kind(shape: str, version: int, tmp_path: Path, oracle: Oracle) -> None:
    net = Net()
    net.result(
        net.layer("ReLU", [net.parameter(shape, name="a,b")], outputs=["FP32"], name="relu"),
        name="end",
    )
    path = net.save(tmp_path)
    path.write_text(
        path.read_text()
        .replace('version="11"', f'version="{version}"')
        .replace('names="a,b"', 'names="a\\,b"')
    )
    again = round_trip(path, oracle)
    assert again.version == version
    assert again.parameters[0].outputs[0].tensor_names == ["a,b"]
    assert irshape.validate(path.with_name("written.xml")).ok


def test_what_is_declared_wrongly_is_written_as_inferred(tmp_path: Path, oracle: Oracle) -> None:
    """What a file declares wrongly is right in the one written with what was inferred."""
    net = mean_net()
    path = net.save(tmp_path)
    path.write_text(
        path.read_text().replace(
            'precision="FP32"><dim>-1</dim><dim>1</dim>', 'precision="I8"><dim>-1</dim><dim>9</dim>'
        )
    )
    assert not irshape.validate(path).ok
    model = irshape.load(path)
    irshape.save(model, tmp_path / "new.xml", inference=irshape.infer(model))
    assert irshape.validate(tmp_path / "new.xml").ok
    assert layers_of(oracle.ask_file(tmp_path / "new.xml")) == layers_of(oracle.ask_file(path))


def test_the_new_file_has_its_own_weights(tmp_path: Path, oracle: Oracle) -> None:
    """`infer --output` into another folder, with another .bin: the new model loads by itself."""
    path = mean_net().save(tmp_path)
    weights = tmp_path / "elsewhere.bin"
    path.with_suffix(".bin").rename(weights)
    (tmp_path / "new").mkdir()
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "infer",
                str(path),
                "--weights",
                str(weights),
                "--shape",
                "data=[2,3,4]",
                "--output",
                str(tmp_path / "new" / "model.xml"),
            ]
        )
    assert ended.value.code == 0
    weights.unlink()
    assert oracle.ask_file(tmp_path / "new" / "model.xml").layers["mean"] == [("f32", "[2,1,4]")]
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["model.bin", "model.xml"]


def test_layers_on_their_own_are_no_model_to_write(tmp_path: Path) -> None:
    path = tmp_path / "layer.xml"
    path.write_text(
        '<layer type="ReLU" ...><input><port id="0"><dim>1</dim></port></input><output>'
        '<port id="1"><dim>1</dim></port></output></layer>'
    )
    with pytest.raises(ValueError, match="single layers"):
        irshape.save(irshape.load(path), tmp_path / "new.xml")
