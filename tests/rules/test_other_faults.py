"""Faults that have no place in the one network: each beside its right form, which is clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from ir import Net
from network import LAYERS, found, network, place, serious, validate
from test_faults import FAULTS
from test_pages import OF_THE_FILE

from irshape.diagnostics.report import Diagnostic
from irshape.shapes import UNBOUNDED, Dimension

Text = tuple[str, bytes]


def made(net: Net, *results: str) -> Text:
    for result in results:
        net.result(result)
    return net.text().replace('<net name="m"', '<net name="made"'), net.weights


def mean(axes: str, *, shape: str = "2,3") -> Text:
    """ReduceMean whose axes are a Const of a shape, or a Parameter where none is given."""
    net = Net()
    x, axis = net.parameter(shape, name="x"), net.constant([1])
    text, weights = made(
        net,
        net.layer("ReduceMean", [x, axis], 'keep_dims="true"', outputs=["FP32:2,1"], name="mean"),
    )
    return text.replace('shape="1" offset', f'shape="{axes}" offset').replace(
        '"I64"><dim>1</dim>', '"I64">' + "".join(f"<dim>{size}</dim>" for size in axes.split(","))
    ), weights


def two(
    kind: str,
    left: str,
    right: str,
    output: str,
    attributes: str = "",
    version: str = "opset1",
    element_type: str = "f32",
) -> Text:
    net = Net()
    one, other = net.parameter(left, name="x"), net.parameter(right, element_type, name="other")
    return made(
        net,
        net.layer(kind, [one, other], attributes, version=version, outputs=[output], name="two"),
    )


def reshape(shape: str, pattern: list[int], output: str, *, relu: bool = False) -> Text:
    net = Net()
    x = net.parameter(shape, name="x")
    dims = ",".join(size if size.isdigit() else "-1" for size in shape.split(","))
    data = net.layer("ReLU", [x], outputs=[f"FP32:{dims}"]) if relu else x
    return made(
        net,
        net.layer(
            "Reshape",
            [data, net.constant(pattern)],
            'special_zero="true"',
            outputs=[f"FP32:{output}"],
            name="reshape",
        ),
    )


def add(shape: str, constant: list[float], output: str) -> Text:
    net = Net()
    x, c = net.parameter(shape, name="x"), net.constant(constant, "f32")
    return made(net, net.layer("Add", [x, c], outputs=[f"FP32:{output}"], name="add"))


def relu(given: str, declared: str) -> Text:
    net = Net()
    return made(
        net,
        net.layer(
            "ReLU", [net.parameter(given, name="x")], outputs=[f"FP32:{declared}"], name="relu"
        ),
    )


def variables(read: str, assigned: str | None, new: str = "") -> Text:
    net = Net()
    x = net.parameter("2,3", name="x")
    value = net.layer(
        "ReadValue",
        [x],
        f'variable_id="{read}" variable_type="f32" variable_shape="2,3"',
        version="opset6",
        outputs=["FP32:2,3"],
        name="read",
    )
    if assigned:
        net.layer(
            "Assign",
            [net.parameter(new, name="new") if new else value],
            f'variable_id="{assigned}"',
            version="opset6",
            outputs=[f"FP32:{new or '2,3'}"],
            name="assign",
        )
    return made(net, value)


def unnamed(old: str = "") -> Text:
    return network().replace(old, ""), b""


def unique(axis: bool) -> Text:
    net = Net()
    x = net.parameter("2,3", name="x")
    along = net.constant(0) if axis else net.parameter("", "i64", name="axis")
    return made(
        net,
        net.layer(
            "Unique",
            [x, along],
            version="opset10",
            outputs=["FP32:-1,3" if axis else "FP32:-1,-1", "I64:-1", "I64:-1", "I64:-1"],
            name="unique",
        ),
    )


def elu(alpha: str) -> Text:
    net = Net()
    return made(
        net,
        net.layer(
            "Elu",
            [net.parameter("2,3", name="x")],
            f'alpha="{alpha}"',
            outputs=["FP32:2,3"],
            name="elu",
        ),
    )


def roi(scale: str) -> Text:
    net = Net()
    prior = net.layer(
        "PriorBox",
        [net.constant([2, 2]), net.constant([32, 32])],
        (
            f'min_size="{scale}" aspect_ratio="" flip="false" clip="false" step="16" offset="0.5" '
            'variance="0.1" scale_all_sizes="false"'
        ),
        outputs=["FP32:2,16"],
        name="prior",
    )
    return made(net, prior)


def no_result() -> Text:
    net = Net()
    net.layer("ReLU", [net.parameter("2", name="x")], outputs=["FP32:2"])
    return made(net)


def layer(text: str) -> Callable[[], Text]:
    return lambda: (text, b"")


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
LOOP = network("Loop")
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


def constants(old: str = "", new: str = "") -> Text:
    """Five constants of 8 to 40 bytes behind each other."""
    net = Net()
    parts = [net.constant(list(range(count, 2 * count))) for count in range(1, 6)]
    text, weights = made(
        net, net.layer("Concat", parts, 'axis="0"', outputs=["I64:15"], name="all")
    )
    assert old in text
    return text.replace(old, new), weights


class Row(NamedTuple):
    """A fault and its right form; where the finding should point, and what it should say."""

    code: str
    wrong: Callable[[], Text]
    right: Callable[[], Text]
    at: str
    layer: str | None = None
    port: tuple[str, str] | None = None
    expected: str | None = None
    actual: str | None = None
    severity: str = "error"
    others: tuple[str, ...] = ()


def loop(old: str, new: str) -> Callable[[], Text]:
    assert LOOP.count(old) == 1
    return layer(LOOP.replace(old, new))


def whole(old: str = "", new: str = "") -> Callable[[], Text]:
    return layer(network().replace(old, new) if old else network())


ROWS = {
    "nested too deeply": Row(code="IR005", wrong=layer(nested(DEEP)), right=whole(), at=""),
    "a layer to be repaired": Row(
        code="IR007",
        wrong=layer(MEAN.replace('id="7"', "id=7")),
        right=layer(MEAN),
        at="id=7",
        layer="7",
    ),
    "ports left out": Row(
        code="IR008",
        wrong=layer(MEAN.replace("</input>", "...</input>")),
        right=layer(MEAN),
        at="...",
        layer="7",
        severity="warning",
    ),
    "no body": Row(
        code="IR119",
        wrong=layer(LOOP[: LOOP.index("<body>")] + LOOP[LOOP.index("</body>") + 7 :]),
        right=loop("</body>", "</body>"),
        at='<layer id="13"',
        layer="13",
        expected="body",
        others=("IR408",),
    ),
    "a body that has no use": Row(
        code="IR119",
        wrong=loop("</body>", "</body><then_body/>"),
        right=loop("</body>", "</body>"),
        at="<then_body",
        layer="13",
        expected="body",
        actual="then_body",
        others=("IR122",),
    ),
    "a variable that nobody reads": Row(
        code="IR120",
        wrong=lambda: variables("a", "b"),
        right=lambda: variables("a", "a"),
        at='variable_id="b"',
        layer="2",
        expected="a",
        actual="b",
    ),
    "a variable of another shape": Row(
        code="IR129",
        wrong=lambda: variables("a", "a", "2,4"),
        right=lambda: variables("a", "a", "-1,3"),
        at='<layer id="3" name="assign"',
        layer="3",
        port=("input", "0"),
        expected="f32[2,3]",
        actual="f32[2,4]",
    ),
    "a variable that nobody assigns": Row(
        code="IR123",
        wrong=lambda: variables("a", None),
        right=lambda: variables("a", "a"),
        at='variable_id="a"',
        layer="1",
        expected="an Assign",
        actual="none",
        severity="info",
    ),
    "no result": Row(
        code="IR122",
        wrong=no_result,
        right=lambda: relu("2", "2"),
        at='<layer id="0"',
        layer="0",
        expected="a Result",
        actual="none",
        severity="warning",
    ),
    "an empty net": Row(
        code="IR122",
        wrong=layer(network(layers="", edges="")),
        right=whole(),
        at="<net",
        expected="layers",
        actual="none",
        severity="warning",
    ),
    "an input without a name": Row(
        code="IR125",
        wrong=whole(' names="x"', ""),
        right=whole(),
        at=(
            '<port id="0" precision="FP32"><dim>1</dim><dim>3</dim><dim>8</dim>'
            "<dim>8</dim></port></output>"
        ),
        layer="0",
        port=("output", "0"),
        expected="names",
        actual="none",
        severity="info",
    ),
    "an output without a name": Row(
        code="IR125",
        wrong=whole(' names="y"', ""),
        right=whole(),
        at='<port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim>',
        layer="4",
        port=("output", "2"),
        expected="names",
        actual="none",
        severity="info",
    ),
    "means of an input": Row(
        code="IR017",
        wrong=whole("<layers>", f"{MEANS}<layers>"),
        right=whole("<layers>", '<pre-process reference-layer-name="x"/><layers>'),
        at="<pre-process",
        expected="a Subtract",
        actual="pre-process",
        severity="warning",
    ),
    "an input named as what makes the output, in version 10": Row(
        code="IR128",
        wrong=layer(network().replace('"11"', '"10"').replace('names="x"', 'names="x,mean"')),
        right=layer(network().replace('"11"', '"10"')),
        at='name="mean"',
        layer="4",
        expected="a unique name",
        actual="mean",
    ),
    "names on two results": Row(
        code="IR124",
        wrong=layer(
            network(
                layers=LAYERS.replace(
                    'name="y" type="Result" version="opset1"',
                    'name="y" type="Result" version="opset1" output_names="x"',
                )
            )
        ),
        right=layer(
            network(
                layers=LAYERS.replace(
                    'name="y" type="Result" version="opset1"',
                    'name="y" type="Result" version="opset1" output_names="y,z"',
                )
            )
        ),
        at="output_names=",
        layer="5",
        expected="a unique name",
        actual="x",
        severity="info",
    ),
    "a size that nothing proves": Row(
        code="IR203",
        wrong=lambda: relu("?,3", "2,3"),
        right=lambda: relu("?,3", "-1,3"),
        at='<port id="1" precision="FP32"><dim>2</dim>',
        layer="1",
        port=("output", "1"),
        expected="[?,3]",
        actual="[2,3]",
        severity="warning",
    ),
    "values that are too many": Row(
        code="IR207",
        wrong=layer(MEAN.replace("is [1]", "is [0, 1]")),
        right=layer(MEAN),
        at='<port id="1"',
        layer="7",
        port=("input", "1"),
        expected="[1]",
        actual="2",
        others=("IR201",),
    ),
    "a batch as a literal": Row(
        code="IR208",
        wrong=lambda: reshape("2,3,4", [2, -1], "2,12", relu=True),
        right=lambda: reshape("2,3,4", [0, -1], "2,12", relu=True),
        at='name="reshape"',
        layer="3",
        port=("input", "1"),
        expected="0 or -1",
        actual="2",
        severity="info",
    ),
    "a dynamic batch as a literal": Row(
        code="IR208",
        wrong=lambda: reshape("?,3,4", [2, -1], "2,-1"),
        right=lambda: reshape("?,3,4", [0, -1], "-1,12"),
        at='name="reshape"',
        layer="2",
        port=("input", "1"),
        expected="0 or -1",
        actual="2",
        severity="info",
    ),
    "a pattern that fits one size": Row(
        code="IR209",
        wrong=lambda: reshape("2,?,4", [8, 12], "8,12"),
        right=lambda: reshape("2,?,4", [8, -1], "8,-1"),
        at='name="reshape"',
        layer="2",
        expected="?",
        actual="the pattern [8, 12]",
        severity="info",
    ),
    "a constant that fits one size": Row(
        code="IR209",
        wrong=lambda: add("?,?", [1.0, 2.0], "-1,2"),
        right=lambda: add("?,2", [1.0, 2.0], "-1,2"),
        at='name="add"',
        layer="2",
        expected="?",
        actual="shape [2]",
        severity="info",
    ),
    "a tensor too large": Row(
        code="IR210",
        wrong=lambda: relu("1000000000000,3", "1000000000000,3"),
        right=lambda: relu("1000,3", "1000,3"),
        at='<port id="0" precision="FP32" names',
        layer="0",
        port=("output", "0"),
        expected="fewer than",
        actual="3000000000000",
        severity="warning",
    ),
    "a number past f64": Row(
        code="IR304",
        wrong=lambda: elu("1e400"),
        right=lambda: elu("-1e39"),
        at="alpha=",
        layer="1",
        expected="f64",
        actual="1e400",
    ),
    "a list with a number past f32": Row(
        code="IR304",
        wrong=lambda: roi("1e39"),
        right=lambda: roi("4"),
        at="min_size=",
        layer="2",
        expected="a list of numbers",
        actual="1e39",
        others=("IR201",),
    ),
    "an overflowing dimension": Row(
        code="IR304",
        wrong=lambda: (relu("?", "-1")[0].replace('shape="?"', 'shape="9223372036854775808"'), b""),
        right=lambda: relu("?", "-1"),
        at="shape=",
        layer="0",
        actual="9223372036854775808",
    ),
    "the largest int64 as a dimension": Row(
        code="IR304",
        wrong=lambda: (relu("?", "-1")[0].replace('shape="?"', 'shape="9223372036854775807"'), b""),
        right=lambda: relu("?", "-1"),
        at="shape=",
        layer="0",
        actual="9223372036854775807",
    ),
    "elements that do not match": Row(
        code="IR401",
        wrong=lambda: reshape("2,3", [4, 2], "4,2"),
        right=lambda: reshape("2,3", [3, 2], "3,2"),
        at='<port id="1"/>',
        layer="2",
        port=("input", "1"),
        expected="6 elements",
        actual="8 elements",
    ),
    "an axis that is no constant": Row(
        code="IR401",
        wrong=lambda: unique(False),
        right=lambda: unique(True),
        at='<port id="1"/>',
        layer="2",
        port=("input", "1"),
        expected="a Const",
        actual="Parameter",
    ),
    "axes of rank 2": Row(
        code="IR404",
        wrong=lambda: mean("1,1"),
        right=lambda: mean("1"),
        at='<port id="1"/>',
        layer="2",
        port=("input", "1"),
        expected="0",
        actual="2",
    ),
    "shapes that do not broadcast": Row(
        code="IR406",
        wrong=lambda: two("Add", "2,3", "2,4", "FP32:2,3"),
        right=lambda: two("Add", "2,3", "2,1", "FP32:2,3"),
        at='<port id="1"/>',
        layer="2",
        port=("input", "1"),
        expected="compatible with [2,3]",
        actual="[2,4]",
    ),
    "a port map to no layer": Row(
        code="IR408",
        wrong=loop('internal_layer_id="5"', 'internal_layer_id="55"'),
        right=loop('internal_layer_id="5"', 'internal_layer_id="5"'),
        at='<layer id="13"',
        layer="13",
        expected="",
        actual="55",
    ),
    "a port map to no port": Row(
        code="IR408",
        wrong=loop('external_port_id="2"', 'external_port_id="7"'),
        right=loop('external_port_id="2"', 'external_port_id="2"'),
        at='<layer id="13"',
        layer="13",
        expected="0, 1, 2",
        actual="7",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_fault(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    text, weights = row.wrong()
    report = validate(text, tmp_path, weights or FAULTS["NaN weights"].weights)
    findings = found(report, row.code)
    assert len(findings) == 1, [f"{d.code} {d.message}" for d in report.diagnostics]
    finding: Diagnostic = findings[0]
    assert finding.severity == row.severity
    assert (finding.layer["id"] if finding.layer else None) == row.layer
    assert finding.port == (
        None if row.port is None else {"direction": row.port[0], "id": row.port[1]}
    )
    if row.at.startswith("name="):
        line, column = place(text, f'<layer id="{row.layer}" {row.at}')
    elif row.at == '<port id="1"/>':
        line, column = place(text, f'<layer id="{row.layer}" name')
        column += text.splitlines()[line - 1].index(row.at)
    else:
        before = text[: text.index(row.at)]
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    if row.at:
        assert (finding.line, finding.column) == (line, column)
    for wanted, seen in ((row.expected, finding.expected), (row.actual, finding.actual)):
        assert wanted is None or wanted in (seen or "")
    assert finding.help
    others = {found.code for found in report.diagnostics if found.severity != "info"} - {
        row.code,
        *row.others,
    }
    assert not others, serious(report)


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


@pytest.mark.parametrize("name", ROWS)
def test_right_form(name: str, tmp_path: Path) -> None:
    text, weights = ROWS[name].right()
    report = validate(text, tmp_path, weights or FAULTS["NaN weights"].weights)
    assert not found(report, ROWS[name].code)
    assert serious(report) == []


def test_no_tensor_has_a_name(tmp_path: Path) -> None:
    """Said once."""
    (finding,) = found(
        validate(network().replace(' names="x"', "").replace(' names="y"', ""), tmp_path), "IR125"
    )
    assert finding.message.startswith("no tensor of the model has a name")


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
