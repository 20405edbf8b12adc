"""The neighbourhood of a layer with a finding: its producers, its users, the tensors between."""

from __future__ import annotations

from pathlib import Path

import pytest
from ir import Net

import irshape
from irshape.diagnostics.neighbourhood import Connection, Neighbourhood, neighbourhoods
from irshape.diagnostics.report import FileReport


def around(path: Path, layer: str) -> Neighbourhood:
    file = irshape.validate(path).files[0]
    found = {key[1]: one for key, one in neighbourhoods(file).items()}
    assert layer in found, [one.message for one in file.diagnostics]
    return found[layer]


def ends(edges: list[Connection]) -> list[str | None]:
    return [edge.other.name if edge.other is not None else None for edge in edges]


def reduced(declared: str = "FP32:2,3") -> tuple[Net, str]:
    net = Net()
    data = net.parameter("2,3,4", name="data")
    mean = net.layer(
        "ReduceMean", [data, net.constant([1])], 'keep_dims="false"', outputs=[declared]
    )
    net.result(net.layer("Relu", [mean], outputs=["FP32:2,4"], name="one"))
    net.result(net.layer("Relu", [mean], outputs=["FP32:2,4"], name="two"))
    return net, mean


def test_declared_and_inferred_stand_beside_each_other(tmp_path: Path) -> None:
    net, mean = reduced()
    found = around(net.save(tmp_path), mean)
    assert ends(found.inputs) == ["data", "c1"]
    assert [(edge.inferred, edge.value) for edge in found.inputs] == [
        ("f32 [2,3,4]", None),
        ("i64 [1]", "[1]"),
    ]
    assert ends(found.outputs) == ["one", "two"]
    for edge in found.outputs:
        assert (edge.declared, edge.inferred, edge.clash) == ("f32 [2,3]", "f32 [2,4]", True)


def test_bounds_that_a_port_cannot_write_are_no_difference(tmp_path: Path) -> None:
    net = Net()
    wide = net.layer("Relu", [net.parameter("?,3", name="x")], 'beta="1"', outputs=["FP32:-1,3"])
    net.layers[0] = net.layers[0].replace('shape="?,3"', 'shape="1..8,3"')
    net.result(wide)
    found = around(net.save(tmp_path), wide)
    assert [
        (edge.declared, edge.inferred, edge.clash) for edge in (*found.inputs, *found.outputs)
    ] == [("f32 [1..8,3]", "f32 [1..8,3]", False)] * 2


def test_a_port_that_nothing_feeds_has_nothing_at_its_other_end(tmp_path: Path) -> None:
    net, mean = reduced("FP32:2,4")
    net.edges = [edge for edge in net.edges if f'to-layer="{mean}" to-port="0"' not in edge]
    found = around(net.save(tmp_path), mean)
    assert ends(found.inputs) == [None, "c1"]
    assert found.inputs[0].clash


def test_what_the_consumer_says_instead_is_kept(tmp_path: Path) -> None:
    net, _ = reduced("FP32:2,4")
    net.layers[3] = net.layers[3].replace(
        '<port id="0"/>', '<port id="0" precision="FP32"><dim>2</dim><dim>5</dim></port>'
    )
    found = around(net.save(tmp_path), "3")
    assert [(edge.inferred, edge.repeated) for edge in found.inputs] == [("f32 [2,4]", "f32 [2,5]")]


def test_a_layer_on_its_own_shows_the_value_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "layer.xml"
    path.write_text(
        '<layer id="1" type="ReduceMean" version="opset1"><data keep_dims="true"/><input>'
        '<port id="0"><dim>6</dim><dim>12</dim></port>'
        '<port id="1"><dim>1</dim><!-- value is [1] --></port></input><output>'
        '<port id="2"><dim>6</dim></port></output></layer>'
    )
    found = around(path, "1")
    assert [(edge.declared, edge.value, edge.clash) for edge in found.inputs] == [
        ("[6,12]", None, False),
        ("[1]", "[1]", False),
    ]
    assert [(edge.declared, edge.inferred, edge.clash) for edge in found.outputs] == [
        ("[6]", "[6,1]", True)
    ]


@pytest.mark.parametrize("content", [b"<net", b"", b"\0\0"])
def test_where_there_is_no_model_there_is_nothing_around(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.xml"
    path.write_bytes(content)
    assert neighbourhoods(irshape.validate(path).files[0]) == {}


def test_a_report_without_its_source_is_read_from_its_path(tmp_path: Path) -> None:
    net, mean = reduced()
    file = irshape.validate(net.save(tmp_path)).files[0]._replace(source=None)
    assert mean in [key[1] for key in neighbourhoods(file)]
    assert neighbourhoods(FileReport(str(tmp_path / "gone.xml"), 1, file.diagnostics)) == {}
