"""Faults that have no place in the one network: each beside its right form, which is clean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from ir import Net
from network import LAYERS, Told, agrees, found, network, position, serious, unexpected, validate
from test_faults import FAULTS
from test_rule import OF_THE_FILE

import irshape
from irshape.diagnostics.report import Report
from irshape.shapes import UNBOUNDED, Dimension

Text = tuple[str, bytes]
"""An IR and its .bin."""


def made(net: Net, *results: str) -> Text:
    for result in results:
        net.result(result)
    return net.text().replace('<net name="m"', '<net name="made"'), net.weights


def one(
    kind: str, *given: str | list[int] | list[float], output: str = "2,3", attributes: str = ""
) -> Text:
    """A layer of inputs of a shape, of which the first is `x`, and of constants."""
    net = Net()
    inputs = [
        net.parameter(each, name="" if index else "x")
        if isinstance(each, str)
        else net.constant(each, "f32" if isinstance(each[0], float) else "i64")
        for index, each in enumerate(given)
    ]
    return made(net, net.layer(kind, inputs, attributes, outputs=[f"FP32:{output}"]))


def reshape(shape: str, pattern: list[int], output: str) -> Text:
    return one("Reshape", shape, pattern, output=output, attributes='special_zero="true"')


def reshaped_relu(pattern: list[int]) -> Text:
    net = Net()
    relu = net.layer("ReLU", [net.parameter("2,3,4", name="x")], outputs=["FP32:2,3,4"])
    inputs = [relu, net.constant(pattern)]
    return made(net, net.layer("Reshape", inputs, 'special_zero="true"', outputs=["FP32:2,12"]))


def mean(axes: str) -> Text:
    """ReduceMean whose axes are a Const of a shape."""
    text, weights = one("ReduceMean", "2,3", [1], output="2,1", attributes='keep_dims="true"')
    dims = "".join(f"<dim>{size}</dim>" for size in axes.split(","))
    text = text.replace('shape="1" offset', f'shape="{axes}" offset')
    return text.replace('"I64"><dim>1</dim>', f'"I64">{dims}'), weights


def of_size(size: str) -> str:
    """A ReLU of an input of a shape as it is written."""
    return one("ReLU", "?", output="-1")[0].replace('shape="?"', f'shape="{size}"')


def variables(read: str, assigned: str | None, new: str = "", connected: bool = True) -> Text:
    net = Net()
    x = net.parameter("2,3", name="x")
    variable = f'variable_id="{read}" variable_type="f32" variable_shape="2,3"'
    value = net.layer("ReadValue", [x], variable, version="opset6", outputs=["FP32:2,3"])
    if assigned:
        given = net.parameter(new, name="new") if new else value
        outputs = [f"FP32:{new or '2,3'}"]
        net.layer("Assign", [given], f'variable_id="{assigned}"', version="opset6", outputs=outputs)
    return made(net, value if connected else x)


def unique(axis: bool) -> Text:
    net = Net()
    x = net.parameter("2,3", name="x")
    along = net.constant(0) if axis else net.parameter("", "i64", name="axis")
    outputs = ["FP32:-1,3" if axis else "FP32:-1,-1", "I64:-1", "I64:-1", "I64:-1"]
    return made(net, net.layer("Unique", [x, along], version="opset10", outputs=outputs))


def no_result() -> Text:
    net = Net()
    net.layer("ReLU", [net.parameter("2", name="x")], outputs=["FP32:2"])
    return made(net)


def prior(size: str) -> Text:
    net = Net()
    sizes = [net.constant([2, 2]), net.constant([32, 32])]
    attributes = (
        f'min_size="{size}" aspect_ratio="" flip="false" clip="false" step="16" offset="0.5" '
        'variance="0.1" scale_all_sizes="false"'
    )
    return made(net, net.layer("PriorBox", sizes, attributes, outputs=["FP32:2,16"]))


MEAN = """<layer id="7" name="mean" type="ReduceMean" version="opset1">
<data keep_dims="true"/>
<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>\
<port id="1" precision="I64"><dim>1</dim></port> <!-- value is [1] --></input>
<output><port id="2" precision="FP32"><dim>2</dim><dim>1</dim></port></output>
</layer>
"""
MEANS = (
    '<pre-process reference-layer-name="x">'
    + "".join(f'<channel id="{id}"><mean value="0.5"/></channel>' for id in range(3))
    + "</pre-process>"
)
JOINED = one("Concat", "?,3", "2,3", output="2,6", attributes='axis="1"')
LOOP = network("Loop")
WHOLE = network()
TENTH = WHOLE.replace('"11"', '"10"')
DEEP = 90


def nested(depth: int) -> str:
    """Bodies within bodies."""
    inner = LAYERS
    for _ in range(depth):
        inner = (
            f'<layer id="0" name="n" type="If" version="opset8"><then_body><layers>{inner}</layers>'
            "<edges/></then_body></layer>"
        )
    return network(layers=inner, edges="")


def edited(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@dataclass
class Row(Told):
    """A fault and its right form; the finding points at `at`, or at its layer."""

    wrong: str | Text
    right: str | Text
    at: str = ""
    others: tuple[str, ...] = ()


PORT = '<port id="1"/>'
RESULT = 'name="y" type="Result" version="opset1"'

ROWS = {
    "nested too deeply": Row("IR005", nested(DEEP), WHOLE),
    "a layer to be repaired": Row("IR007 7", edited(MEAN, 'id="7"', "id=7"), MEAN, at="id=7"),
    "ports left out": Row("IR008 7 warning", edited(MEAN, "</in", "...</in"), MEAN, at="..."),
    "no body": Row(
        "IR119 13: body",
        LOOP[: LOOP.index("<body>")] + LOOP[LOOP.index("</body>") + 7 :],
        LOOP,
        others=("IR408",),
    ),
    "a body that has no use": Row(
        "IR119 13: body, not then_body",
        edited(LOOP, "</body>", "</body><then_body/>"),
        LOOP,
        at="<then_body",
        others=("IR122",),
    ),
    "a variable that nobody reads": Row(
        "IR120 2: a, not b", variables("a", "b"), variables("a", "a"), at='variable_id="b"'
    ),
    "a ReadValue that leads nowhere": Row(
        "IR120 3: a ReadValue that leads to a Result or an Assign, not none",
        variables("a", "a", "2,3", connected=False),
        variables("a", "a", "2,3"),
        at='variable_id="a"/>',
        others=("IR115",),
    ),
    "a variable of another shape": Row(
        "IR129 3/input/0: f32[2,3], not f32[2,4]",
        variables("a", "a", "2,4"),
        variables("a", "a", "-1,3"),
    ),
    "a variable that nobody assigns": Row(
        "IR123 1 info: an Assign, not none",
        variables("a", None),
        variables("a", "a"),
        at='variable_id="a"',
    ),
    "no result": Row(
        "IR122 0 warning: a Result, not none", no_result(), one("ReLU", "2", output="2")
    ),
    "an empty net": Row(
        "IR122 warning: layers, not none", network(layers="", edges=""), WHOLE, at="<net"
    ),
    "an input without a name": Row(
        "IR125 0/output/0 info: names, not none",
        edited(WHOLE, ' names="x"', ""),
        WHOLE,
        at='<port id="0" precision="FP32"><dim>1</dim><dim>3</dim><dim>8</dim>',
    ),
    "an output without a name": Row(
        "IR125 4/output/2 info: names, not none",
        edited(WHOLE, ' names="y"', ""),
        WHOLE,
        at='<port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim>',
    ),
    "means of an input": Row(
        "IR017 warning: a Subtract, not pre-process",
        edited(WHOLE, "<layers>", f"{MEANS}<layers>"),
        edited(WHOLE, "<layers>", '<pre-process reference-layer-name="x"/><layers>'),
        at="<pre-process",
    ),
    "an input named as what makes the output, in version 10": Row(
        "IR128 4: a unique name, not mean", edited(TENTH, 'names="x"', 'names="x,mean"'), TENTH
    ),
    "names on two results": Row(
        "IR124 5 info: a unique name, not x",
        edited(WHOLE, RESULT, f'{RESULT} output_names="x"'),
        edited(WHOLE, RESULT, f'{RESULT} output_names="y,z"'),
        at="output_names=",
    ),
    "a size that nothing proves": Row(
        "IR203 1/output/1 warning: [?,3], not [2,3]",
        one("ReLU", "?,3"),
        one("ReLU", "?,3", output="-1,3"),
        at='<port id="1" precision="FP32"><dim>2</dim>',
    ),
    "a refusal behind a port that declares more": Row(
        "IR406 2/input/0: [7,?], not [2,3]",
        (edited(JOINED[0], 'shape="?,3"', 'shape="7,?"'), JOINED[1]),
        JOINED,
        at='<port id="0"/>',
        others=("IR203",),
    ),
    "values that are too many": Row(
        "IR207 7/input/1: [1], not 2",
        edited(MEAN, "is [1]", "is [0, 1]"),
        MEAN,
        at='<port id="1"',
        others=("IR201",),
    ),
    "a batch as a literal": Row(
        "IR208 3/input/1 info: 0 or -1, not 2", reshaped_relu([2, -1]), reshaped_relu([0, -1])
    ),
    "a dynamic batch as a literal": Row(
        "IR208 2/input/1 info: 0 or -1, not 2",
        reshape("?,3,4", [2, -1], "2,-1"),
        reshape("?,3,4", [0, -1], "-1,12"),
    ),
    "a pattern that fits one size": Row(
        "IR209 2 info: ?, not the target shape [8, 12]",
        reshape("2,?,4", [8, 12], "8,12"),
        reshape("2,?,4", [8, -1], "8,-1"),
    ),
    "a constant that fits one size": Row(
        "IR209 2 info: ?, not shape [2]",
        one("Add", "?,?", [1.0, 2.0], output="-1,2"),
        one("Add", "?,2", [1.0, 2.0], output="-1,2"),
    ),
    "a tensor too large": Row(
        "IR210 0/output/0 warning: fewer than, not 3000000000000",
        one("ReLU", "1000000000000,3", output="1000000000000,3"),
        one("ReLU", "1000,3", output="1000,3"),
        at='<port id="0" precision="FP32" names',
    ),
    "an index past the end of a table": Row(
        "IR212 3/input/1 info: -2 to 1, not 2",
        one("Gather", "2,3", [1, 2], [0], output="2,3"),
        one("Gather", "2,3", [1, -2], [0], output="2,3"),
    ),
    "a number past f64": Row(
        "IR304 1: f64, not 1e400",
        one("Elu", "2,3", attributes='alpha="1e400"'),
        one("Elu", "2,3", attributes='alpha="-1e39"'),
        at="alpha=",
    ),
    "a list with a number past f32": Row(
        "IR304 2: a list of numbers, not 1e39",
        prior("1e39"),
        prior("4"),
        at="min_size=",
        others=("IR201",),
    ),
    "an overflowing dimension": Row(
        f"IR304 0: not {2**63}", of_size(f"{2**63}"), of_size("?"), at="shape="
    ),
    "the largest int64 as a dimension": Row(
        f"IR304 0: not {2**63 - 1}", of_size(f"{2**63 - 1}"), of_size("?"), at="shape="
    ),
    "elements that do not match": Row(
        "IR401 2/input/1: 6 elements, not 8 elements",
        reshape("2,3", [4, 2], "4,2"),
        reshape("2,3", [3, 2], "3,2"),
        at=PORT,
    ),
    "an axis that is no constant": Row(
        "IR401 2/input/1: a Const, not Parameter", unique(False), unique(True), at=PORT
    ),
    "axes of rank 2": Row("IR404 2/input/1: 0, not 2", mean("1,1"), mean("1"), at=PORT),
    "shapes that do not broadcast": Row(
        "IR406 2/input/1: compatible with [2,3], not [2,4]",
        one("Add", "2,3", "2,4"),
        one("Add", "2,3", "2,1"),
        at=PORT,
    ),
    "a port map to no layer": Row(
        "IR408 13: not 55", edited(LOOP, 'internal_layer_id="5"', 'internal_layer_id="55"'), LOOP
    ),
    "a port map to no port": Row(
        "IR408 13: 0, 1, 2, not 7",
        edited(LOOP, 'external_port_id="2"', 'external_port_id="7"'),
        LOOP,
    ),
}


def checked(form: str | Text, folder: Path) -> Report:
    text, weights = form if isinstance(form, tuple) else (form, b"")
    return validate(text, folder, weights or FAULTS["NaN weights"].weights)


@pytest.mark.parametrize("name", ROWS)
def test_fault(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    text = row.wrong if isinstance(row.wrong, str) else row.wrong[0]
    report = checked(row.wrong, tmp_path)
    (finding,) = found(report, row.code)
    agrees(finding, row)
    if row.at or row.layer:
        layer = text.index(f'<layer id="{row.layer}"') if row.at in ("", PORT) else 0
        at = text.index(row.at, layer)
        assert (finding.line, finding.column) == position(text, at)
    assert unexpected(report, row, row.others) == []


@pytest.mark.parametrize("name", ROWS)
def test_right_form(name: str, tmp_path: Path) -> None:
    assert serious(report := checked(ROWS[name].right, tmp_path)) == []
    assert not found(report, ROWS[name].code)


@pytest.mark.parametrize("where", ["If", "TensorIterator", "Loop"])
@pytest.mark.parametrize(
    ("old", "actual"),
    [
        ('internal_layer_id="0"', "55"),
        ('internal_layer_id="5"', "55"),
        ('external_port_id="9"', "no number"),
        ('internal_layer_id="5"', "2"),
    ],
    ids=["no parameter", "no result", "no port", "a layer that is no result"],
)
def test_port_map(where: str, old: str, actual: str, tmp_path: Path) -> None:
    text = network(where)
    start = text.index("<then_port_map>" if where == "If" else "<port_map>")
    wrong = text[:start] + text[start:].replace(old, f'{old.partition("=")[0]}="{actual}"', 1)
    (finding,) = found(validate(wrong, tmp_path), "IR408")
    assert finding.layer is not None
    assert (finding.layer["id"], finding.actual) == ("13", actual)
    assert finding.expected
    assert finding.help


def test_dimension_past_int64() -> None:
    """Saturates."""
    assert Dimension(2**64).low == Dimension(2**63 - 1).high == UNBOUNDED


def test_no_tensor_has_a_name(tmp_path: Path) -> None:
    """Said once."""
    (finding,) = found(
        validate(network().replace(' names="x"', "").replace(' names="y"', ""), tmp_path), "IR125"
    )
    assert finding.message.startswith("no tensor of the model")


def test_the_names_of_a_result_are_those_of_the_input_that_feeds_it(tmp_path: Path) -> None:
    graph = irshape.Graph()
    graph.result(graph.parameter("f32", "[3]", name="x"), "y")
    graph.save(tmp_path / "m.xml")
    assert not found(irshape.validate(tmp_path / "m.xml"), "IR125")


def test_ids_repeated_on_both_sides(tmp_path: Path) -> None:
    """Each is said once."""
    net = Net()
    parts = [net.parameter("2,3", name="x"), net.constant([1]), net.constant([1, 2])]
    net.result(net.layer("VariadicSplit", parts, outputs=["FP32:1,3", "FP32:1,3"], name="split"))
    inner = net.text()
    split = inner[inner.index('type="VariadicSplit"') :].split("</layer>")[0]
    repeated = split.replace('<port id="1"', '<port id="0"').replace('<port id="4"', '<port id="3"')
    report = validate(inner.replace(split, repeated), tmp_path, net.weights)
    assert len(found(report, "IR107")) == 2


def test_names_of_version_10(tmp_path: Path) -> None:
    """OpenVINO takes the names of the layers there."""
    assert not found(
        validate(
            network().replace(' names="x"', "").replace('version="11"', 'version="10"'), tmp_path
        ),
        "IR125",
    )


def test_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irshape.formats.loading.MAX_XML_BYTES", 100)
    (finding,) = validate(network(), tmp_path).diagnostics
    assert (finding.code, finding.actual) == ("IR004", "more")
    assert finding.help


def test_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from irshape.ops.reduction import ReduceMean

    def broken(*_: object) -> None:
        raise KeyError("oh")

    monkeypatch.setattr(ReduceMean, "infer", broken)
    monkeypatch.delenv("IRSHAPE_DEBUG", raising=False)
    unseen = network().replace('keep_dims="true"', 'keep_dims="TRUE"')  # nothing is remembered
    (finding,) = found(validate(unseen, tmp_path), "IR011")
    assert finding.layer is not None
    assert finding.layer["id"] == "4"
    assert finding.help


def test_opt_in_rules_are_silent(tmp_path: Path) -> None:
    fault = FAULTS["NaN weights"]
    assert not found(validate(network(), tmp_path, fault.weights), "IR701")


def test_every_rule_has_a_row() -> None:
    shown = {fault.code for fault in FAULTS.values()} | {row.code for row in ROWS.values()}
    elsewhere = {"IR001", "IR002", "IR003", "IR004", "IR011", "IR501", "IR504", "IR601"}
    assert shown | elsewhere == OF_THE_FILE
