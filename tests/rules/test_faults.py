"""One fault, one finding, in the net and in the body of every control-flow operation.

A row has the finding's code, layer, line, column, port, expected, actual and help.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from network import (
    PATHS,
    WEIGHTS,
    Fault,
    agrees,
    dims,
    found,
    network,
    place,
    serious,
    unexpected,
    validate,
)

if TYPE_CHECKING:
    from differential.oracle import Oracle

KERNEL = WEIGHTS[:432]


def axes(*values: int) -> bytes:
    return KERNEL + struct.pack(f"<{len(values)}q", *values)


def swap(whole: str, part: str, instead: str) -> tuple[str, str]:
    """What stands in the network, and the same with a part replaced."""
    assert whole.count(part) == 1, (whole, part)
    return whole, whole.replace(part, instead)


def numeric(told: str, weight: float, also: str = "") -> Fault:
    """A rule about one weight, which is asked for by its code or its name."""
    weights = struct.pack("<f", weight) + WEIGHTS[4:]
    return Fault(told, weights=weights, also=(also or told.split(maxsplit=1)[0],))


FP32 = 'precision="FP32"'
PORT = f'<port id="2" {FP32}>'
CONV_OUT = f"<output>{PORT}{dims(1, 4, 6, 6)}</port></output>"
MEAN_OUT = f'<output><port id="2" {FP32} names="y">{dims(1, 4, 1, 1)}</port></output>'
AXES_PORT = '<port id="1" precision="I64"><dim>2</dim></port>'
MEAN_IN = f'<port id="0" {FP32}>{dims(1, 4, 6, 6)}</port>\n{AXES_PORT}'
MEAN = '<layer id="4" name="mean" type="ReduceMean" version="opset1">'
CONV = (
    '<data strides="1, 1" dilations="1, 1" pads_begin="0, 0" pads_end="0, 0" auto_pad="explicit"/>'
)
KEEP = '<data keep_dims="true"/>'
AXES = '<data element_type="i64" shape="2" offset="432" size="16"/>'
LAST = '<edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>'
TO_AXES = '<edge from-layer="3" from-port="0" to-layer="4" to-port="1"/>'
LOST = f"""<layer id="6" name="lost" type="ReLU" version="opset1">
<input><port id="0" {FP32}>{dims(1, 4, 1, 1)}</port></input>
<output><port id="1" {FP32}>{dims(1, 4, 1, 1)}</port></output></layer>"""
NAMES = '<attribute name="fused_names" version="0" value="a"/>'
OTHER_NAMES = NAMES.replace('"a"', '"b"')
ORDER = '<attribute name="old_api_map_order" version="0" »value="zz"/>'

FAULTS = {
    # the file and its elements
    "unknown element": Fault(
        "IR006 4 warning taken: <data>, <input>, not colour", KEEP, f"{KEEP}»<colour/>"
    ),
    "misspelt element": Fault(
        "IR009 4 taken: data, not dat", KEEP, f"»{KEEP.replace('ta ', 't ')}"
    ),
    "repeated element": Fault(
        "IR010 4 taken: one <data>, not data", KEEP, f'{KEEP}\n»<data keep_dims="false"/>'
    ),
    "text between elements": Fault(
        "IR016 warning taken: elements only, not =======", KEEP, f"{KEEP}\n»======="
    ),
    # ids and ports
    "two layers with one id": Fault(
        "IR101 1: a unique id, not 1", '<layer id="3"', '»<layer id="1"'
    ),
    "no version": Fault("IR102 4: version", *swap(MEAN, ' version="opset1"', "")),
    "no type": Fault("IR102 4: type", *swap(MEAN, ' type="ReduceMean"', "")),
    "id that is a word": Fault(
        "IR103 four: a whole number, not four", *swap(MEAN, 'id="4"', '»id="four"')
    ),
    "port id that is a word": Fault(
        "IR103 4/output/two: a whole number, not two", *swap(MEAN_OUT, 'id="2"', '»id="two"')
    ),
    "a dim of -2": Fault(
        "IR104 2/output/2: a size, or -1, not -2", *swap(CONV_OUT, "<dim>4", "»<dim>-2")
    ),
    "a dim of 1s": Fault(
        "IR104 2/output/2 taken: a size, or -1, not 1s", *swap(CONV_OUT, "<dim>4", "»<dim>1s")
    ),
    "attribute of a layer": Fault(
        "IR105 4 warning taken: id, name, type, version, not colour",
        MEAN,
        f'{MEAN[:-1]} »colour="blue">',
    ),
    "attribute of a port": Fault(
        "IR106 4/output/2 warning taken: id, precision, names, not name",
        *swap(MEAN_OUT, "names=", '»name="z" names='),
    ),
    "two ports with one id": Fault(
        "IR107 4/input/0: a unique id, not 0", *swap(MEAN_IN, '<port id="1"', '»<port id="0"')
    ),
    "two outputs": Fault(
        "IR116 4/output/3: 1, not 2",
        *swap(MEAN_OUT, "</output>", '»<port id="3" precision="FP32"/></output>'),
    ),
    "no output": Fault("IR116 4: 1, not 0", MEAN_OUT, ""),
    "no precision": Fault(
        "IR117 2/output/2: precision",
        *swap(CONV_OUT, '<port id="2" precision="FP32"', '»<port id="2"'),
    ),
    "unknown precision": Fault(
        "IR118 4/output/2: FP32, not float32", *swap(MEAN_OUT, FP32, '»precision="float32"')
    ),
    # edges
    "edge from no layer": Fault(
        "IR110 4: the id of a layer, not 33", *swap(TO_AXES, 'from-layer="3"', '»from-layer="33"')
    ),
    "edge from no port": Fault("IR110 4: 2, not 8", *swap(LAST, 'from-port="2"', '»from-port="8"')),
    "edge without a port": Fault("IR111 5: to-port", LAST, "»" + LAST.replace(' to-port="0"', "")),
    "edge that says too much": Fault(
        "IR121 warning taken: from-layer, from-port, not via", *swap(LAST, "/>", ' »via="z"/>')
    ),
    "an edge twice": Fault("IR112 4/input/1: one edge, not two", TO_AXES, f"{TO_AXES}\n»{TO_AXES}"),
    "an edge missing": Fault("IR113 4/input/1: one edge, not none", TO_AXES, "", at=AXES_PORT),
    "a cycle": Fault(
        "IR114 2: no cycles, not 2 → 4 → 2",
        '<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>',
        '<edge from-layer="4" from-port="2" to-layer="2" to-port="0"/>',
    ),
    "a layer that feeds nothing": Fault(
        "IR115 6 warning taken: a path to a Result, not none",
        "</layers>",
        f"{LOST}</layers>",
        then=(LAST, LAST + '<edge from-layer="4" from-port="2" to-layer="6" to-port="0"/>'),
    ),
    # names
    "a tensor name twice": Fault(
        "IR124 4/output/2 info taken: a unique name, not x",
        *swap(MEAN_OUT, 'names="y"', '»names="x"'),
    ),
    "a tensor name twice, beside one with a comma": Fault(
        "IR124 4/output/2 info taken: a unique name, not x",
        *swap(MEAN_OUT, 'names="y"', '»names="y\\,z,x"'),
    ),
    "rt_info twice": Fault(
        "IR126 4: one fused_names, not two",
        MEAN_OUT,
        f"{MEAN_OUT}<rt_info>{NAMES}\n»{OTHER_NAMES}</rt_info>",
    ),
    "rt_info that is no order": Fault(
        "IR126 4: a list of axes, not zz", MEAN_OUT, f"{MEAN_OUT}<rt_info>{ORDER}</rt_info>"
    ),
    # declared and inferred
    "wrong output dims": Fault(
        "IR201 2/output/2 taken: [1,4,6,6], not [1,4,6,7]",
        *swap(CONV_OUT, f"{PORT}{dims(1, 4, 6, 6)}", f"»{PORT}{dims(1, 4, 6, 7)}"),
    ),
    "wrong output rank": Fault(
        "IR201 4/output/2 taken: [1,4,1,1], not [1,4,1]",
        MEAN_OUT,
        f'<output>»<port id="2" {FP32} names="y">{dims(1, 4, 1)}</port></output>',
    ),
    "wrong output precision": Fault(
        "IR202 4/output/2 taken: FP32, not FP16", *swap(MEAN_OUT, FP32, '»precision="FP16"')
    ),
    "constant whose port differs": Fault(
        "IR202 3/output/0 taken: I64, not U64",
        '<output><port id="0" precision="I64">',
        '<output><port id="0" »precision="U64">',
    ),
    "less than is certain": Fault(
        "IR204 4/output/2 info taken: [1,4,1,1], not [1,?,1,1]",
        MEAN_OUT,
        f'<output>»<port id="2" {FP32} names="y">{dims(1, -1, 1, 1)}</port></output>',
    ),
    "wrong input dims": Fault(
        "IR205 4/input/0 taken: [1,4,6,6], not [1,4,6,7]",
        MEAN_IN,
        f'»<port id="0" {FP32}>{dims(1, 4, 6, 7)}</port>\n{AXES_PORT}',
    ),
    "wrong input precision": Fault(
        "IR206 4/input/0 taken: FP32, not FP16", *swap(MEAN_IN, FP32, '»precision="FP16"')
    ),
    # attributes
    "unknown attribute": Fault(
        "IR301 4 warning taken: keep_dims, not colour",
        KEEP,
        '<data keep_dims="true" »colour="blue"/>',
    ),
    "misspelt attribute": Fault(
        "IR302 2 taken: dilations, not dilatons", *swap(CONV, "dilations", "»dilatons")
    ),
    "missing attribute": Fault(
        "IR303 2 taken: a list", CONV, "»" + CONV.replace('strides="1, 1" ', "")
    ),
    "keep_dims of maybe": Fault(
        'IR304 4 taken: "true" or "false", not maybe', KEEP, '<data »keep_dims="maybe"/>'
    ),
    "auto_pad of banana": Fault(
        'IR304 2: "explicit", not banana', 'auto_pad="explicit"', '»auto_pad="banana"'
    ),
    "strides of 0": Fault(
        "IR304 2: a number other than 0, not 0", 'strides="1, 1"', '»strides="0,0"'
    ),
    # constraints
    "one input": Fault("IR402 4: 2, not 1", MEAN_IN, MEAN_IN.partition("\n")[0]),
    "axes of f32": Fault(
        "IR403 4/input/1: an integer, not f32",
        f'{AXES}\n<output><port id="0" precision="I64">',
        f'<data element_type="f32" shape="2" offset="432" size="8"/>\n<output><port id="0" {FP32}>',
        weights=KERNEL + bytes(8),
        then=swap(MEAN_IN, '<port id="1" precision="I64"', f'»<port id="1" {FP32}'),
    ),
    "axis out of range": Fault("IR405 4/input/1: [-4, 3], not 7", at=AXES_PORT, weights=axes(2, 7)),
    "an axis twice": Fault(
        "IR407 4/input/1 taken: distinct, not 3",
        at=AXES_PORT,
        weights=axes(3, 3),
        others=("IR201",),
    ),
    # weights
    "a .bin that is too short": Fault(
        "IR502 3: at most 440, not 448", AXES, f"»{AXES}", weights=WEIGHTS[:440]
    ),
    "a constant that is too small": Fault(
        "IR503 3: 16, not 8", *swap(AXES, 'size="16"', '»size="8"')
    ),
    "a constant that is too large": Fault(
        "IR503 3 taken: 16, not 32",
        *swap(AXES, 'size="16"', '»size="32"'),
        weights=WEIGHTS + bytes(16),
    ),
    "constants that overlap": Fault(
        "IR506 3 warning taken: not 424",
        *swap(AXES, 'offset="432"', '»offset="424"'),
        weights=KERNEL[:424] + WEIGHTS[432:] + bytes(16),
    ),
    "a constant that says another type": Fault(
        "IR507 1/output/0: f32, not i32",
        'element_type="f32" shape="4,3,3,3"',
        '»element_type="i32" shape="4,3,3,3"',
    ),
    # versions
    "unknown type": Fault(
        "IR602 4: ReduceMean, not ReduceMeen", 'type="ReduceMean"', '»type="ReduceMeen"'
    ),
    "unknown version": Fault(
        "IR603 4: not opset99", *swap(MEAN, 'version="opset1"', '»version="opset99"')
    ),
    "custom operation": Fault(
        "IR604 4: not Mine",
        *swap(MEAN, 'ReduceMean" version="opset1"', 'Mine" »version="custom_opset"'),
    ),
    # numerics
    "NaN weights": numeric("IR701 1/output/0 warning taken: no NaN, not nan", float("nan")),
    "infinite weights": numeric(
        "IR702 1/output/0 info taken: finite numbers, not -inf", float("-inf"), "infinite-weights"
    ),
    "too large for f16": numeric(
        "IR703 1/output/0 info taken: numbers up to 65504, not 1e+06", 1e6
    ),
    "subnormal in f16": numeric("IR704 1/output/0 info taken: 0, or numbers, not 1e-06", 1e-6),
}


@pytest.mark.parametrize("where", PATHS)
def test_network_is_clean(where: str, tmp_path: Path) -> None:
    assert (
        serious(validate(network(where), tmp_path, also=("IR701", "IR702", "IR703", "IR704"))) == []
    )


@pytest.mark.parametrize("where", PATHS)
@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(name: str, where: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    report = validate(fault.put(where), tmp_path, fault.weights, fault.also)
    (finding,) = (
        each
        for each in found(report, fault.code)
        if each.layer is None or each.layer["path"] == PATHS[where]
        if fault.code != "IR506" or each.layer["id"] == fault.layer  # others share bytes too
    )
    agrees(finding, fault)
    assert (finding.line, finding.column) == fault.place(where)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_told_once(name: str, tmp_path: Path) -> None:
    """Nothing but the fault itself is reported at error or warning."""
    fault = FAULTS[name]
    report = validate(fault.put(), tmp_path, fault.weights, fault.also)
    assert unexpected(report, fault, fault.others) == []


@pytest.mark.parametrize("name", FAULTS)
def test_what_openvino_does(name: str, oracle: Oracle) -> None:
    fault = FAULTS[name]
    answer = oracle.ask(fault.put(), fault.weights)
    assert answer.status == ("accepted" if fault.taken else "refused")
    assert fault.taken or fault.severity == "error"


@pytest.mark.parametrize("where", PATHS)
def test_openvino_takes_the_network(where: str, oracle: Oracle) -> None:
    answer = oracle.ask(network(where), WEIGHTS)
    assert answer.status == "accepted", answer.message


# what has no place in the network


def test_legal_in_a_later_opset(tmp_path: Path) -> None:
    text = network().replace('ReduceMean" version="opset1"', 'ReduceMean" version="opset9"')
    assert "opset9" in text
    assert serious(validate(text, tmp_path)) == []


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
    "malformed": Fault("IR001", 'id="4" name', "id=»4 name"),
    "doctype": Fault("IR002", "<net ", '»<!DOCTYPE net [<!ENTITY a "b">]>\n<net '),
    "another root": Fault("IR003: net, not model", "<net ", "»<model "),
    "a version to come": Fault("IR601: 10 or 11, not 12", 'version="11"', '»version="12"'),
    "a version before 2020": Fault("IR601: 10 or 11, not 6", 'version="11"', '»version="6"'),
}


@pytest.mark.parametrize("fault", NO_MODEL.values(), ids=list(NO_MODEL))
def test_no_model(fault: Fault, tmp_path: Path) -> None:
    text = network().replace(fault.old, fault.new.replace("»", ""), 1)
    (finding,) = validate(text, tmp_path).diagnostics
    line, column = place(text, fault.new.partition("»")[2])
    assert (finding.code, finding.line) == (fault.code, line)
    assert fault.code == "IR001" or finding.column == column
    assert (finding.expected, finding.actual) == (fault.expected, fault.actual)
    assert finding.help
