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
        "IR006",
        '<data keep_dims="true"/>',
        '<data keep_dims="true"/><colour/>',
        "<colour/>",
        "4",
        None,
        "<data>, <input>",
        "colour",
        severity="warning",
    ),
    "misspelt element": Fault(
        "IR009",
        '<data keep_dims="true"/>',
        '<dat keep_dims="true"/>',
        "<dat ",
        "4",
        None,
        "data",
        "dat",
    ),
    "repeated element": Fault(
        "IR010",
        '<data keep_dims="true"/>',
        '<data keep_dims="true"/>\n<data keep_dims="false"/>',
        '<data keep_dims="false"/>',
        "4",
        None,
        "one <data>",
        "data",
    ),
    # ids and ports
    "two layers with one id": Fault(
        "IR101",
        '<layer id="3" name="axes"',
        '<layer id="1" name="axes"',
        '<layer id="1" name="axes"',
        "1",
        None,
        "a unique id",
        "1",
    ),
    "no version": Fault(
        "IR102",
        MEAN,
        '<layer id="4" name="mean" type="ReduceMean">',
        '<layer id="4"',
        "4",
        None,
        "version",
        None,
    ),
    "no type": Fault(
        "IR102",
        MEAN,
        '<layer id="4" name="mean" version="opset1">',
        '<layer id="4"',
        "4",
        None,
        "type",
        None,
    ),
    "id that is a word": Fault(
        "IR103",
        MEAN,
        MEAN.replace('"4"', '"four"'),
        'id="four"',
        "four",
        None,
        "a whole number",
        "four",
    ),
    "port id that is a word": Fault(
        "IR103",
        MEAN_OUT,
        MEAN_OUT.replace('"2"', '"two"'),
        'id="two"',
        "4",
        ("output", "two"),
        "a whole number",
        "two",
    ),
    "a dim of -2": Fault(
        "IR104",
        CONV_OUT,
        CONV_OUT.replace("<dim>4</dim>", "<dim>-2</dim>"),
        "<dim>-2",
        "2",
        OUT,
        "a size, or -1",
        "-2",
    ),
    "a dim of 1s": Fault(
        "IR104",
        CONV_OUT,
        CONV_OUT.replace("<dim>4</dim>", "<dim>1s</dim>"),
        "<dim>1s",
        "2",
        OUT,
        "a size, or -1",
        "1s",
    ),
    "attribute of a layer": Fault(
        "IR105",
        MEAN,
        MEAN.replace('">', '" colour="blue">'),
        "colour=",
        "4",
        None,
        "id, name, type, version",
        "colour",
        severity="warning",
    ),
    "attribute of a port": Fault(
        "IR106",
        MEAN_OUT,
        MEAN_OUT.replace("names=", 'name="z" names='),
        'name="z" names',
        "4",
        OUT,
        "id, precision, names",
        "name",
        severity="warning",
    ),
    "two ports with one id": Fault(
        "IR107",
        MEAN_IN,
        MEAN_IN.replace('id="1"', 'id="0"'),
        '<port id="0" precision="I64"><dim>2</dim></port>\n</input>',
        "4",
        ("input", "0"),
        "a unique id",
        "0",
    ),
    "two outputs": Fault(
        "IR116",
        MEAN_OUT,
        MEAN_OUT.replace("</output>", '<port id="3" precision="FP32"/></output>'),
        '<port id="3"',
        "4",
        ("output", "3"),
        "1",
        "2",
    ),
    "no output": Fault("IR116", MEAN_OUT, "", '<layer id="4"', "4", None, "1", "0"),
    "no precision": Fault(
        "IR117",
        CONV_OUT,
        CONV_OUT.replace(' precision="FP32"', ""),
        '<port id="2"><dim>',
        "2",
        OUT,
        "precision",
        None,
    ),
    "unknown precision": Fault(
        "IR118",
        MEAN_OUT,
        MEAN_OUT.replace("FP32", "float32"),
        'precision="float32"',
        "4",
        OUT,
        "FP32",
        "float32",
    ),
    # edges
    "edge from no layer": Fault(
        "IR110", TO_AXES, TO_AXES.replace('"3"', '"33"'), 'from-layer="33"', "4", None, IDS, "33"
    ),
    "edge from no port": Fault(
        "IR110",
        LAST,
        LAST.replace('from-port="2"', 'from-port="8"'),
        'from-port="8"',
        "4",
        None,
        "2",
        "8",
    ),
    "edge without a port": Fault(
        "IR111",
        LAST,
        LAST.replace(' to-port="0"', ""),
        LAST.replace(' to-port="0"', ""),
        "5",
        None,
        "to-port",
        None,
    ),
    "edge that says too much": Fault(
        "IR121",
        LAST,
        LAST.replace("/>", ' via="z"/>'),
        "via=",
        None,
        None,
        "from-layer, from-port",
        "via",
        severity="warning",
    ),
    "an edge twice": Fault(
        "IR112",
        TO_AXES,
        TO_AXES + "\n" + TO_AXES.replace("/>", " />"),
        TO_AXES.replace("/>", " />"),
        "4",
        ("input", "1"),
        "one edge",
        "two",
    ),
    "an edge missing": Fault(
        "IR113",
        TO_AXES,
        "",
        '<port id="1" precision="I64"><dim>2</dim></port>\n</input>',
        "4",
        ("input", "1"),
        "one edge",
        "none",
    ),
    "a cycle": Fault(
        "IR114",
        '<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>',
        '<edge from-layer="4" from-port="2" to-layer="2" to-port="0"/>',
        '<layer id="2"',
        "2",
        None,
        "no cycles",
        "2 → 4 → 2",
    ),
    "a layer that feeds nothing": Fault(
        "IR115",
        RESULT,
        (
            '<layer id="6" name="lost" type="ReLU" version="opset1"><input><port id="0"/></input>'
            '<output><port id="1" precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim>'
            "<dim>1</dim></port></output></layer>\n"
        )
        + RESULT,
        '<layer id="6"',
        "6",
        None,
        "a path to a Result",
        "none",
        severity="warning",
        then=(LAST, LAST + '<edge from-layer="4" from-port="2" to-layer="6" to-port="0"/>'),
    ),
    # names
    "a tensor name twice": Fault(
        "IR124",
        MEAN_OUT,
        MEAN_OUT.replace('"y"', '"x"'),
        'names="x"><dim>1</dim><dim>4</dim>',
        "4",
        OUT,
        "a unique name",
        "x",
        severity="info",
    ),
    "rt_info twice": Fault(
        "IR126",
        MEAN_OUT,
        MEAN_OUT
        + (
            '<rt_info><attribute name="fused_names" version="0" value="a"/>\n'
            '<attribute name="fused_names" version="0" value="b"/></rt_info>'
        ),
        '<attribute name="fused_names" version="0" value="b"/>',
        "4",
        None,
        "one fused_names",
        "two",
    ),
    "rt_info that is no order": Fault(
        "IR126",
        MEAN_OUT,
        MEAN_OUT
        + '<rt_info><attribute name="old_api_map_order" version="0" value="zz"/></rt_info>',
        'value="zz"',
        "4",
        None,
        "a list of axes",
        "zz",
    ),
    # declared and inferred
    "wrong output dims": Fault(
        "IR201",
        CONV_OUT,
        CONV_OUT.replace("<dim>6</dim><dim>6</dim>", "<dim>6</dim><dim>7</dim>"),
        '<port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>6</dim><dim>7</dim>',
        "2",
        OUT,
        "[1,4,6,6]",
        "[1,4,6,7]",
    ),
    "wrong output rank": Fault(
        "IR201",
        MEAN_OUT,
        MEAN_OUT.replace("<dim>1</dim></port>", "</port>"),
        '<port id="2" precision="FP32" names="y">',
        "4",
        OUT,
        "[1,4,1,1]",
        "[1,4,1]",
    ),
    "wrong output precision": Fault(
        "IR202",
        MEAN_OUT,
        MEAN_OUT.replace("FP32", "FP16"),
        'precision="FP16"',
        "4",
        OUT,
        "FP32",
        "FP16",
    ),
    "constant whose port differs": Fault(
        "IR202",
        '<output><port id="0" precision="I64"><dim>2</dim></port></output>',
        '<output><port id="0" precision="U64"><dim>2</dim></port></output>',
        'precision="U64"',
        "3",
        ("output", "0"),
        "I64",
        "U64",
    ),
    "less than is certain": Fault(
        "IR204",
        MEAN_OUT,
        MEAN_OUT.replace("<dim>4</dim>", "<dim>-1</dim>"),
        '<port id="2" precision="FP32" names="y">',
        "4",
        OUT,
        "[1,4,1,1]",
        "[1,?,1,1]",
        severity="info",
    ),
    "wrong input dims": Fault(
        "IR205",
        MEAN_IN,
        MEAN_IN.replace("<dim>6</dim><dim>6</dim>", "<dim>6</dim><dim>7</dim>"),
        '<port id="0" precision="FP32"><dim>1</dim><dim>4</dim><dim>6</dim><dim>7</dim>',
        "4",
        ("input", "0"),
        "[1,4,6,6]",
        "[1,4,6,7]",
    ),
    "wrong input precision": Fault(
        "IR206",
        MEAN_IN,
        MEAN_IN.replace("FP32", "FP16"),
        'precision="FP16"',
        "4",
        ("input", "0"),
        "FP32",
        "FP16",
    ),
    # attributes
    "unknown attribute": Fault(
        "IR301",
        '<data keep_dims="true"/>',
        '<data keep_dims="true" colour="blue"/>',
        "colour=",
        "4",
        None,
        "keep_dims",
        "colour",
        severity="warning",
    ),
    "misspelt attribute": Fault(
        "IR302",
        CONV,
        CONV.replace("dilations", "dilatons"),
        "dilatons=",
        "2",
        None,
        "dilations",
        "dilatons",
    ),
    "missing attribute": Fault(
        "IR303",
        CONV,
        CONV.replace('strides="1, 1" ', ""),
        CONV.replace('strides="1, 1" ', ""),
        "2",
        None,
        "a list",
        None,
    ),
    "keep_dims of maybe": Fault(
        "IR304",
        'keep_dims="true"',
        'keep_dims="maybe"',
        "keep_dims=",
        "4",
        None,
        '"true" or "false"',
        "maybe",
    ),
    "auto_pad of banana": Fault(
        "IR304",
        'auto_pad="explicit"',
        'auto_pad="banana"',
        "auto_pad=",
        "2",
        None,
        '"explicit"',
        "banana",
    ),
    "strides of 0": Fault(
        "IR304", 'strides="1, 1"', 'strides="0,0"', "strides=", "2", None, "1", "0"
    ),
    # constraints
    "one input": Fault(
        "IR402", MEAN_IN, MEAN_IN.partition("\n")[0], '<layer id="4"', "4", None, "2", "1"
    ),
    "axes of f32": Fault(
        "IR403",
        AXES + '\n<output><port id="0" precision="I64">',
        AXES.replace("i64", "f32").replace('"16"', '"8"')
        + '\n<output><port id="0" precision="FP32">',
        '<port id="1" precision="FP32"><dim>2</dim></port>\n</input>',
        "4",
        ("input", "1"),
        "an integer",
        "f32",
        weights=KERNEL + bytes(8),
        then=(MEAN_IN, MEAN_IN.replace("I64", "FP32")),
    ),
    "axis out of range": Fault(
        "IR405",
        "",
        "",
        '<port id="1" precision="I64"><dim>2</dim></port>\n</input>',
        "4",
        ("input", "1"),
        "[-4, 3]",
        "7",
        weights=axes(2, 7),
    ),
    "an axis twice": Fault(
        "IR407",
        "",
        "",
        '<port id="1" precision="I64"><dim>2</dim></port>\n</input>',
        "4",
        ("input", "1"),
        "unique",
        "3",
        weights=axes(3, 3),
        others=("IR201",),
    ),
    # weights
    "a .bin that is too short": Fault(
        "IR502",
        "",
        "",
        '<data element_type="i64"',
        "3",
        None,
        "at most 440",
        "448",
        weights=WEIGHTS[:440],
    ),
    "a constant that is too small": Fault(
        "IR503", AXES, AXES.replace('"16"', '"8"'), "size=", "3", None, "16", "8"
    ),
    "a constant that is too large": Fault(
        "IR503",
        AXES,
        AXES.replace('offset="432" size="16"', 'offset="416" size="32"'),
        "size=",
        "3",
        None,
        "16",
        "32",
        weights=KERNEL[:416] + struct.pack("<2q", 2, 3) + bytes(16),
    ),
    "a constant at an odd place": Fault(
        "IR505",
        AXES,
        AXES.replace("432", "433"),
        "offset=",
        "3",
        None,
        "a multiple of 8",
        "433",
        weights=KERNEL + b"\0" + WEIGHTS[432:],
        severity="info",
    ),
    "constants that overlap": Fault(
        "IR506",
        AXES,
        AXES.replace("432", "424"),
        "offset=",
        "3",
        None,
        None,
        "424",
        weights=KERNEL[:424] + WEIGHTS[432:] + bytes(8),
        severity="info",
    ),
    "a constant that says another type": Fault(
        "IR507",
        '<data element_type="f32" shape="4,3,3,3"',
        '<data element_type="i32" shape="4,3,3,3"',
        'element_type="i32"',
        "1",
        ("output", "0"),
        "f32",
        "i32",
    ),
    # versions
    "unknown type": Fault(
        "IR602",
        'type="ReduceMean"',
        'type="ReduceMeen"',
        "type=",
        "4",
        None,
        "ReduceMean",
        "ReduceMeen",
    ),
    "unknown version": Fault(
        "IR603", MEAN, MEAN.replace("opset1", "opset99"), "version=", "4", None, None, "opset99"
    ),
    "custom operation": Fault(
        "IR604",
        MEAN,
        MEAN.replace("ReduceMean", "Mine").replace("opset1", "custom_opset"),
        "version=",
        "4",
        None,
        None,
        "Mine",
    ),
    # numerics
    "NaN weights": Fault(
        "IR701",
        "",
        "",
        '<layer id="1"',
        "1",
        ("output", "0"),
        "no NaN",
        "nan",
        weights=kernel(float("nan")),
        also=("IR701",),
        severity="warning",
    ),
    "infinite weights": Fault(
        "IR702",
        "",
        "",
        '<layer id="1"',
        "1",
        ("output", "0"),
        "finite numbers",
        "-inf",
        weights=kernel(float("-inf")),
        also=("infinite-weights",),
        severity="info",
    ),
    "too large for f16": Fault(
        "IR703",
        "",
        "",
        '<layer id="1"',
        "1",
        ("output", "0"),
        "numbers up to 65504",
        "1e+06",
        weights=kernel(1e6),
        also=("IR703",),
        severity="info",
    ),
    "subnormal in f16": Fault(
        "IR704",
        "",
        "",
        '<layer id="1"',
        "1",
        ("output", "0"),
        "0, or numbers",
        "1e-06",
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
    "a dim of 1s",
    "attribute of a layer",
    "attribute of a port",
    "edge that says too much",
    "a layer that feeds nothing",
    "a tensor name twice",
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


@pytest.mark.parametrize(
    ("code", "old", "new", "at", "expected", "actual"),
    [
        ("IR001", 'id="4" name', "id=4 name", "4 name=", None, None),
        (
            "IR002",
            '<?xml version="1.0"?>',
            '<?xml version="1.0"?>\n<!DOCTYPE net [<!ENTITY a "b">]>',
            "<!DOCTYPE",
            None,
            None,
        ),
        ("IR003", "<net ", "<model ", "<model", "net", "model"),
        ("IR601", 'version="11"', 'version="12"', 'version="12"', "10 or 11", "12"),
        ("IR601", 'version="11"', 'version="6"', 'version="6"', "10 or 11", "6"),
    ],
    ids=["malformed", "doctype", "another root", "a version to come", "a version before 2020"],
)
def test_no_model(
    code: str, old: str, new: str, at: str, expected: str | None, actual: str | None, tmp_path: Path
) -> None:
    text = network().replace(old, new, 1)
    (finding,) = validate(text, tmp_path).diagnostics
    assert finding.code == code
    line, column = place(text, at)
    assert finding.line == line
    assert code == "IR001" or finding.column == column
    assert (finding.expected, finding.actual) == (expected, actual)
    assert finding.help
