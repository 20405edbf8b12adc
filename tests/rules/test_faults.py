"""One fault, one finding, in the net and in the body of every control-flow operation.

A row has the finding's code, layer, line, column, port, expected, actual and help.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from network import PATHS, WEIGHTS, Fault, found, network, place, serious, validate

if TYPE_CHECKING:
    from differential.oracle import Oracle

KERNEL = WEIGHTS[:432]


def kernel(first: float) -> bytes:
    return struct.pack("<f", first) + WEIGHTS[4:]


def axes(*values: int) -> bytes:
    return KERNEL + struct.pack(f"<{len(values)}q", *values)


OUT = ("output", "2")
MEAN_OUT = (
    '<output><port id="2" precision="FP32" names="y"><dim>1</dim><dim>4</dim><dim>1</dim>'
    "<dim>1</dim></port></output>"
)
CONV_OUT = (
    '<output><port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>6</dim>'
    "<dim>6</dim></port></output>"
)
MEAN_IN = (
    '<port id="0" precision="FP32"><dim>1</dim><dim>4</dim><dim>6</dim><dim>6</dim></port>\n'
    '<port id="1" precision="I64"><dim>2</dim></port>'
)
MEAN = '<layer id="4" name="mean" type="ReduceMean" version="opset1">'
CONV = (
    '<data strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" auto_pad="explicit"/>'
)
AXES = '<data element_type="i64" shape="2" offset="432" size="16"/>'
LAST = '<edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>'
TO_AXES = '<edge from-layer="3" from-port="0" to-layer="4" to-port="1"/>'
SHAPE = '<data shape="1,3,8,8" element_type="f32"/>'
RESULT = '<layer id="5" name="y" type="Result" version="opset1">'

IDS = "the id of a layer"

FAULTS = {
    # the file and its elements
    "unknown element": Fault(
        code="IR006",
        old='<data keep_dims="true"/>',
        new='<data keep_dims="true"/><colour/>',
        at="<colour/>",
        layer="4",
        expected="<data>, <input>",
        actual="colour",
        severity="warning",
    ),
    "misspelt element": Fault(
        code="IR009",
        old='<data keep_dims="true"/>',
        new='<dat keep_dims="true"/>',
        at="<dat ",
        layer="4",
        expected="data",
        actual="dat",
    ),
    "repeated element": Fault(
        code="IR010",
        old='<data keep_dims="true"/>',
        new='<data keep_dims="true"/>\n<data keep_dims="false"/>',
        at='<data keep_dims="false"/>',
        layer="4",
        expected="one <data>",
        actual="data",
    ),
    "text between elements": Fault(
        code="IR016",
        old='<data keep_dims="true"/>',
        new='<data keep_dims="true"/>\n=======',
        at="=======",
        layer=None,
        expected="elements only",
        actual="=======",
        severity="warning",
    ),
    # ids and ports
    "two layers with one id": Fault(
        code="IR101",
        old='<layer id="3" name="axes"',
        new='<layer id="1" name="axes"',
        at='<layer id="1" name="axes"',
        layer="1",
        expected="a unique id",
        actual="1",
    ),
    "no version": Fault(
        code="IR102",
        old=MEAN,
        new='<layer id="4" name="mean" type="ReduceMean">',
        at='<layer id="4"',
        layer="4",
        expected="version",
    ),
    "no type": Fault(
        code="IR102",
        old=MEAN,
        new='<layer id="4" name="mean" version="opset1">',
        at='<layer id="4"',
        layer="4",
        expected="type",
    ),
    "id that is a word": Fault(
        code="IR103",
        old=MEAN,
        new=MEAN.replace('"4"', '"four"'),
        at='id="four"',
        layer="four",
        expected="a whole number",
        actual="four",
    ),
    "port id that is a word": Fault(
        code="IR103",
        old=MEAN_OUT,
        new=MEAN_OUT.replace('"2"', '"two"'),
        at='id="two"',
        layer="4",
        port=("output", "two"),
        expected="a whole number",
        actual="two",
    ),
    "a dim of -2": Fault(
        code="IR104",
        old=CONV_OUT,
        new=CONV_OUT.replace("<dim>4</dim>", "<dim>-2</dim>"),
        at="<dim>-2",
        layer="2",
        port=OUT,
        expected="a size, or -1",
        actual="-2",
    ),
    "a dim of 1s": Fault(
        code="IR104",
        old=CONV_OUT,
        new=CONV_OUT.replace("<dim>4</dim>", "<dim>1s</dim>"),
        at="<dim>1s",
        layer="2",
        port=OUT,
        expected="a size, or -1",
        actual="1s",
    ),
    "attribute of a layer": Fault(
        code="IR105",
        old=MEAN,
        new=MEAN.replace('">', '" colour="blue">'),
        at="colour=",
        layer="4",
        expected="id, name, type, version",
        actual="colour",
        severity="warning",
    ),
    "attribute of a port": Fault(
        code="IR106",
        old=MEAN_OUT,
        new=MEAN_OUT.replace("names=", 'name="z" names='),
        at='name="z" names',
        layer="4",
        port=OUT,
        expected="id, precision, names",
        actual="name",
        severity="warning",
    ),
    "two ports with one id": Fault(
        code="IR107",
        old=MEAN_IN,
        new=MEAN_IN.replace('id="1"', 'id="0"'),
        at='<port id="0" precision="I64"><dim>2</dim></port>\n</input>',
        layer="4",
        port=("input", "0"),
        expected="a unique id",
        actual="0",
    ),
    "two outputs": Fault(
        code="IR116",
        old=MEAN_OUT,
        new=MEAN_OUT.replace("</output>", '<port id="3" precision="FP32"/></output>'),
        at='<port id="3"',
        layer="4",
        port=("output", "3"),
        expected="1",
        actual="2",
    ),
    "no output": Fault(
        code="IR116", old=MEAN_OUT, new="", at='<layer id="4"', layer="4", expected="1", actual="0"
    ),
    "no precision": Fault(
        code="IR117",
        old=CONV_OUT,
        new=CONV_OUT.replace(' precision="FP32"', ""),
        at='<port id="2"><dim>',
        layer="2",
        port=OUT,
        expected="precision",
    ),
    "unknown precision": Fault(
        code="IR118",
        old=MEAN_OUT,
        new=MEAN_OUT.replace("FP32", "float32"),
        at='precision="float32"',
        layer="4",
        port=OUT,
        expected="FP32",
        actual="float32",
    ),
    # edges
    "edge from no layer": Fault(
        code="IR110",
        old=TO_AXES,
        new=TO_AXES.replace('"3"', '"33"'),
        at='from-layer="33"',
        layer="4",
        expected=IDS,
        actual="33",
    ),
    "edge from no port": Fault(
        code="IR110",
        old=LAST,
        new=LAST.replace('from-port="2"', 'from-port="8"'),
        at='from-port="8"',
        layer="4",
        expected="2",
        actual="8",
    ),
    "edge without a port": Fault(
        code="IR111",
        old=LAST,
        new=LAST.replace(' to-port="0"', ""),
        at=LAST.replace(' to-port="0"', ""),
        layer="5",
        expected="to-port",
    ),
    "edge that says too much": Fault(
        code="IR121",
        old=LAST,
        new=LAST.replace("/>", ' via="z"/>'),
        at="via=",
        expected="from-layer, from-port",
        actual="via",
        severity="warning",
    ),
    "an edge twice": Fault(
        code="IR112",
        old=TO_AXES,
        new=TO_AXES + "\n" + TO_AXES.replace("/>", " />"),
        at=TO_AXES.replace("/>", " />"),
        layer="4",
        port=("input", "1"),
        expected="one edge",
        actual="two",
    ),
    "an edge missing": Fault(
        code="IR113",
        old=TO_AXES,
        new="",
        at='<port id="1" precision="I64"><dim>2</dim></port>\n</input>',
        layer="4",
        port=("input", "1"),
        expected="one edge",
        actual="none",
    ),
    "a cycle": Fault(
        code="IR114",
        old='<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>',
        new='<edge from-layer="4" from-port="2" to-layer="2" to-port="0"/>',
        at='<layer id="2"',
        layer="2",
        expected="no cycles",
        actual="2 → 4 → 2",
    ),
    "a layer that feeds nothing": Fault(
        code="IR115",
        old=RESULT,
        new=(
            '<layer id="6" name="lost" type="ReLU" version="opset1"><input><port id="0" '
            'precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim><dim>1</dim></port></input>'
            '<output><port id="1" precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim>'
            "<dim>1</dim></port></output></layer>\n"
        )
        + RESULT,
        at='<layer id="6"',
        layer="6",
        expected="a path to a Result",
        actual="none",
        severity="warning",
        then=(LAST, LAST + '<edge from-layer="4" from-port="2" to-layer="6" to-port="0"/>'),
    ),
    # names
    "a tensor name twice": Fault(
        code="IR124",
        old=MEAN_OUT,
        new=MEAN_OUT.replace('"y"', '"x"'),
        at='names="x"><dim>1</dim><dim>4</dim>',
        layer="4",
        port=OUT,
        expected="a unique name",
        actual="x",
        severity="info",
    ),
    "a tensor name twice, beside one with a comma": Fault(
        code="IR124",
        old=MEAN_OUT,
        new=MEAN_OUT.replace('"y"', '"y\\,z,x"'),
        at='names="y\\,z,x"',
        layer="4",
        port=OUT,
        expected="a unique name",
        actual="x",
        severity="info",
    ),
    "rt_info twice": Fault(
        code="IR126",
        old=MEAN_OUT,
        new=MEAN_OUT
        + (
            '<rt_info><attribute name="fused_names" version="0" value="a"/>\n'
            '<attribute name="fused_names" version="0" value="b"/></rt_info>'
        ),
        at='<attribute name="fused_names" version="0" value="b"/>',
        layer="4",
        expected="one fused_names",
        actual="two",
    ),
    "rt_info that is no order": Fault(
        code="IR126",
        old=MEAN_OUT,
        new=MEAN_OUT
        + '<rt_info><attribute name="old_api_map_order" version="0" value="zz"/></rt_info>',
        at='value="zz"',
        layer="4",
        expected="a list of axes",
        actual="zz",
    ),
    # declared and inferred
    "wrong output dims": Fault(
        code="IR201",
        old=CONV_OUT,
        new=CONV_OUT.replace("<dim>6</dim><dim>6</dim>", "<dim>6</dim><dim>7</dim>"),
        at='<port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>6</dim><dim>7</dim>',
        layer="2",
        port=OUT,
        expected="[1,4,6,6]",
        actual="[1,4,6,7]",
    ),
    "wrong output rank": Fault(
        code="IR201",
        old=MEAN_OUT,
        new=MEAN_OUT.replace("<dim>1</dim></port>", "</port>"),
        at='<port id="2" precision="FP32" names="y">',
        layer="4",
        port=OUT,
        expected="[1,4,1,1]",
        actual="[1,4,1]",
    ),
    "wrong output precision": Fault(
        code="IR202",
        old=MEAN_OUT,
        new=MEAN_OUT.replace("FP32", "FP16"),
        at='precision="FP16"',
        layer="4",
        port=OUT,
        expected="FP32",
        actual="FP16",
    ),
    "constant whose port differs": Fault(
        code="IR202",
        old='<output><port id="0" precision="I64"><dim>2</dim></port></output>',
        new='<output><port id="0" precision="U64"><dim>2</dim></port></output>',
        at='precision="U64"',
        layer="3",
        port=("output", "0"),
        expected="I64",
        actual="U64",
    ),
    "less than is certain": Fault(
        code="IR204",
        old=MEAN_OUT,
        new=MEAN_OUT.replace("<dim>4</dim>", "<dim>-1</dim>"),
        at='<port id="2" precision="FP32" names="y">',
        layer="4",
        port=OUT,
        expected="[1,4,1,1]",
        actual="[1,?,1,1]",
        severity="info",
    ),
    "wrong input dims": Fault(
        code="IR205",
        old=MEAN_IN,
        new=MEAN_IN.replace("<dim>6</dim><dim>6</dim>", "<dim>6</dim><dim>7</dim>"),
        at='<port id="0" precision="FP32"><dim>1</dim><dim>4</dim><dim>6</dim><dim>7</dim>',
        layer="4",
        port=("input", "0"),
        expected="[1,4,6,6]",
        actual="[1,4,6,7]",
    ),
    "wrong input precision": Fault(
        code="IR206",
        old=MEAN_IN,
        new=MEAN_IN.replace("FP32", "FP16"),
        at='precision="FP16"',
        layer="4",
        port=("input", "0"),
        expected="FP32",
        actual="FP16",
    ),
    # attributes
    "unknown attribute": Fault(
        code="IR301",
        old='<data keep_dims="true"/>',
        new='<data keep_dims="true" colour="blue"/>',
        at="colour=",
        layer="4",
        expected="keep_dims",
        actual="colour",
        severity="warning",
    ),
    "misspelt attribute": Fault(
        code="IR302",
        old=CONV,
        new=CONV.replace("dilations", "dilatons"),
        at="dilatons=",
        layer="2",
        expected="dilations",
        actual="dilatons",
    ),
    "missing attribute": Fault(
        code="IR303",
        old=CONV,
        new=CONV.replace('strides="1, 1" ', ""),
        at=CONV.replace('strides="1, 1" ', ""),
        layer="2",
        expected="a list",
    ),
    "keep_dims of maybe": Fault(
        code="IR304",
        old='keep_dims="true"',
        new='keep_dims="maybe"',
        at="keep_dims=",
        layer="4",
        expected='"true" or "false"',
        actual="maybe",
    ),
    "auto_pad of banana": Fault(
        code="IR304",
        old='auto_pad="explicit"',
        new='auto_pad="banana"',
        at="auto_pad=",
        layer="2",
        expected='"explicit"',
        actual="banana",
    ),
    "strides of 0": Fault(
        code="IR304",
        old='strides="1, 1"',
        new='strides="0,0"',
        at="strides=",
        layer="2",
        expected="1",
        actual="0",
    ),
    # constraints
    "one input": Fault(
        code="IR402",
        old=MEAN_IN,
        new=MEAN_IN.partition("\n")[0],
        at='<layer id="4"',
        layer="4",
        expected="2",
        actual="1",
    ),
    "axes of f32": Fault(
        code="IR403",
        old=AXES + '\n<output><port id="0" precision="I64">',
        new=AXES.replace("i64", "f32").replace('"16"', '"8"')
        + '\n<output><port id="0" precision="FP32">',
        at='<port id="1" precision="FP32"><dim>2</dim></port>\n</input>',
        layer="4",
        port=("input", "1"),
        expected="an integer",
        actual="f32",
        weights=KERNEL + bytes(8),
        then=(MEAN_IN, MEAN_IN.replace("I64", "FP32")),
    ),
    "axis out of range": Fault(
        code="IR405",
        old="",
        new="",
        at='<port id="1" precision="I64"><dim>2</dim></port>\n</input>',
        layer="4",
        port=("input", "1"),
        expected="[-4, 3]",
        actual="7",
        weights=axes(2, 7),
    ),
    "an axis twice": Fault(
        code="IR407",
        old="",
        new="",
        at='<port id="1" precision="I64"><dim>2</dim></port>\n</input>',
        layer="4",
        port=("input", "1"),
        expected="distinct",
        actual="3",
        weights=axes(3, 3),
        others=("IR201",),
    ),
    # weights
    "a .bin that is too short": Fault(
        code="IR502",
        old="",
        new="",
        at='<data element_type="i64"',
        layer="3",
        expected="at most 440",
        actual="448",
        weights=WEIGHTS[:440],
    ),
    "a constant that is too small": Fault(
        code="IR503",
        old=AXES,
        new=AXES.replace('"16"', '"8"'),
        at="size=",
        layer="3",
        expected="16",
        actual="8",
    ),
    "a constant that is too large": Fault(
        code="IR503",
        old=AXES,
        new=AXES.replace('offset="432" size="16"', 'offset="416" size="32"'),
        at="size=",
        layer="3",
        expected="16",
        actual="32",
        weights=KERNEL[:416] + struct.pack("<2q", 2, 3) + bytes(16),
    ),
    "a constant at an odd place": Fault(
        code="IR505",
        old=AXES,
        new=AXES.replace("432", "433"),
        at="offset=",
        layer="3",
        expected="a multiple of 8",
        actual="433",
        weights=KERNEL + b"\0" + WEIGHTS[432:],
        severity="info",
    ),
    "constants that overlap": Fault(
        code="IR506",
        old=AXES,
        new=AXES.replace("432", "424"),
        at="offset=",
        layer="3",
        actual="424",
        weights=KERNEL[:424] + WEIGHTS[432:] + bytes(16),
        severity="info",
    ),
    "a constant that says another type": Fault(
        code="IR507",
        old='<data element_type="f32" shape="4,3,3,3"',
        new='<data element_type="i32" shape="4,3,3,3"',
        at='element_type="i32"',
        layer="1",
        port=("output", "0"),
        expected="f32",
        actual="i32",
    ),
    # versions
    "unknown type": Fault(
        code="IR602",
        old='type="ReduceMean"',
        new='type="ReduceMeen"',
        at="type=",
        layer="4",
        expected="ReduceMean",
        actual="ReduceMeen",
    ),
    "unknown version": Fault(
        code="IR603",
        old=MEAN,
        new=MEAN.replace("opset1", "opset99"),
        at="version=",
        layer="4",
        actual="opset99",
    ),
    "custom operation": Fault(
        code="IR604",
        old=MEAN,
        new=MEAN.replace("ReduceMean", "Mine").replace("opset1", "custom_opset"),
        at="version=",
        layer="4",
        actual="Mine",
    ),
    # numerics
    "NaN weights": Fault(
        code="IR701",
        old="",
        new="",
        at='<layer id="1"',
        layer="1",
        port=("output", "0"),
        expected="no NaN",
        actual="nan",
        weights=kernel(float("nan")),
        also=("IR701",),
        severity="warning",
    ),
    "infinite weights": Fault(
        code="IR702",
        old="",
        new="",
        at='<layer id="1"',
        layer="1",
        port=("output", "0"),
        expected="finite numbers",
        actual="-inf",
        weights=kernel(float("-inf")),
        also=("infinite-weights",),
        severity="info",
    ),
    "too large for f16": Fault(
        code="IR703",
        old="",
        new="",
        at='<layer id="1"',
        layer="1",
        port=("output", "0"),
        expected="numbers up to 65504",
        actual="1e+06",
        weights=kernel(1e6),
        also=("IR703",),
        severity="info",
    ),
    "subnormal in f16": Fault(
        code="IR704",
        old="",
        new="",
        at='<layer id="1"',
        layer="1",
        port=("output", "0"),
        expected="0, or numbers",
        actual="1e-06",
        weights=kernel(1e-6),
        also=("IR704",),
        severity="info",
    ),
}


@pytest.mark.parametrize("where", PATHS)
def test_network_is_clean(where: str, tmp_path: Path) -> None:
    assert (
        serious(validate(network(where), tmp_path, also=("IR701", "IR702", "IR703", "IR704"))) == []
    )


def anchored(fault: Fault, text: str) -> tuple[int, int]:
    """Where the finding should point: within the layer, since others may have the same text."""
    start = (
        text.index('name="x" type="Parameter"')
        if fault.at not in ("size=", "offset=", "type=", "version=")
        else text.index(f'<layer id="{fault.layer}" name="')
    )
    if fault.at == "strides=" or fault.at == "auto_pad=":
        start = text.index('name="conv"')
    before = text[: text.index(fault.at, start)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize("where", PATHS)
@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(name: str, where: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    text = fault.put(where)
    report = validate(text, tmp_path, fault.weights, fault.also)
    findings = [
        finding
        for finding in found(report, fault.code)
        if finding.layer is None or finding.layer["path"] == PATHS[where]
    ]
    findings = [
        finding
        for finding in findings
        if fault.code != "IR506" or finding.layer["id"] == fault.layer
    ]  # the layers around share bytes too
    assert len(findings) == 1, [f"{d.code} {d.message}" for d in report.diagnostics]
    finding = findings[0]
    assert finding.severity == fault.severity
    assert (finding.line, finding.column) == anchored(fault, text)
    assert (finding.layer["id"] if finding.layer else None) == fault.layer
    assert finding.port == (
        None if fault.port is None else {"direction": fault.port[0], "id": fault.port[1]}
    )
    for wanted, seen in ((fault.expected, finding.expected), (fault.actual, finding.actual)):
        assert (wanted in seen) if wanted is not None and seen is not None else wanted is None, (
            wanted,
            seen,
        )
    assert finding.help
    assert finding.message


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_told_once(name: str, tmp_path: Path) -> None:
    """Nothing but the fault itself is reported at error or warning."""
    fault = FAULTS[name]
    report = validate(fault.put(), tmp_path, fault.weights, fault.also)
    others = {finding.code for finding in report.diagnostics if finding.severity != "info"} - {
        fault.code,
        *fault.others,
    }
    assert not others, serious(report)


TAKEN = {
    "unknown element",
    "misspelt element",
    "repeated element",
    "text between elements",
    "a dim of 1s",
    "attribute of a layer",
    "attribute of a port",
    "edge that says too much",
    "a layer that feeds nothing",
    "a tensor name twice",
    "a tensor name twice, beside one with a comma",
    "wrong output dims",
    "wrong output rank",
    "wrong output precision",
    "constant whose port differs",
    "less than is certain",
    "wrong input dims",
    "wrong input precision",
    "unknown attribute",
    "misspelt attribute",
    "missing attribute",
    "keep_dims of maybe",
    "an axis twice",
    "a constant that is too large",
    "a constant at an odd place",
    "constants that overlap",
    "NaN weights",
    "infinite weights",
    "too large for f16",
    "subnormal in f16",
}
"""What OpenVINO takes in silence; the rest it refuses."""


@pytest.mark.parametrize("name", FAULTS)
def test_what_openvino_does(name: str, oracle: Oracle) -> None:
    fault = FAULTS[name]
    assert oracle.ask(fault.put(), fault.weights).status == (
        "accepted" if name in TAKEN else "refused"
    )
    assert name in TAKEN or fault.severity == "error"


@pytest.mark.parametrize("where", PATHS)
def test_openvino_takes_the_network(where: str, oracle: Oracle) -> None:
    answer = oracle.ask(network(where), WEIGHTS)
    assert answer.status == "accepted", answer.message


# what has no place in the network


def test_legal_in_a_later_opset(tmp_path: Path) -> None:
    assert (
        serious(
            validate(
                network().replace(
                    'type="ReduceMean" version="opset1"', 'type="ReduceMean" version="opset9"'
                ),
                tmp_path,
            )
        )
        == []
    )


def test_unused_tail(tmp_path: Path) -> None:
    (finding,) = found(validate(network(), tmp_path, WEIGHTS + bytes(8)), "IR504")
    assert (finding.severity, finding.expected, finding.actual) == ("info", "448", "456")
    assert finding.help


@pytest.mark.parametrize(
    ("content", "actual"),
    [
        (None, "missing"),
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "lfs"),
    ],
    ids=["missing", "empty", "lfs"],
)
def test_missing_weights(content: bytes | None, actual: str, tmp_path: Path) -> None:
    text = network()
    (finding,) = found(validate(text, tmp_path, content), "IR501")
    assert (finding.line, finding.column) == place(text, '<layer id="1"')
    assert (finding.expected, finding.actual) == ("448 bytes", actual)
    assert finding.help


NO_MODEL = {
    "malformed": Fault(code="IR001", old='id="4" name', new="id=4 name", at="4 name="),
    "doctype": Fault(
        code="IR002",
        old='<?xml version="1.0"?>',
        new='<?xml version="1.0"?>\n<!DOCTYPE net [<!ENTITY a "b">]>',
        at="<!DOCTYPE",
    ),
    "another root": Fault(
        code="IR003", old="<net ", new="<model ", at="<model", expected="net", actual="model"
    ),
    "a version to come": Fault(
        code="IR601",
        old='version="11"',
        new='version="12"',
        at='version="12"',
        expected="10 or 11",
        actual="12",
    ),
    "a version before 2020": Fault(
        code="IR601",
        old='version="11"',
        new='version="6"',
        at='version="6"',
        expected="10 or 11",
        actual="6",
    ),
}


@pytest.mark.parametrize("fault", NO_MODEL.values(), ids=list(NO_MODEL))
def test_no_model(fault: Fault, tmp_path: Path) -> None:
    text = network().replace(fault.old, fault.new, 1)
    (finding,) = validate(text, tmp_path).diagnostics
    assert finding.code == fault.code
    line, column = place(text, fault.at)
    assert finding.line == line
    assert fault.code == "IR001" or finding.column == column
    assert (finding.expected, finding.actual) == (fault.expected, fault.actual)
    assert finding.help
