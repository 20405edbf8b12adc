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
from irshape.types import UNBOUNDED, Dimension

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


def variables(read: str, assigned: str | None) -> Text:
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
            [value],
            f'variable_id="{assigned}"',
            version="opset6",
            outputs=["FP32:2,3"],
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
    "nested too deeply": Row("IR005", layer(nested(DEEP)), whole(), "", None, None, None, None),
    "a layer to be repaired": Row(
        "IR007", layer(MEAN.replace('id="7"', "id=7")), layer(MEAN), "id=7", "7"
    ),
    "ports left out": Row(
        "IR008",
        layer(MEAN.replace("</input>", "...</input>")),
        layer(MEAN),
        "...",
        "7",
        severity="warning",
    ),
    "no body": Row(
        "IR119",
        layer(LOOP[: LOOP.index("<body>")] + LOOP[LOOP.index("</body>") + 7 :]),
        loop("</body>", "</body>"),
        '<layer id="13"',
        "13",
        None,
        "body",
        None,
        others=("IR408",),
    ),
    "a body that has no use": Row(
        "IR119",
        loop("</body>", "</body><then_body/>"),
        loop("</body>", "</body>"),
        "<then_body",
        "13",
        None,
        "body",
        "then_body",
        others=("IR122",),
    ),
    "a variable that nobody reads": Row(
        "IR120",
        lambda: variables("a", "b"),
        lambda: variables("a", "a"),
        'variable_id="b"',
        "2",
        None,
        "a",
        "b",
    ),
    "a variable that nobody assigns": Row(
        "IR123",
        lambda: variables("a", None),
        lambda: variables("a", "a"),
        'variable_id="a"',
        "1",
        None,
        "an Assign",
        "none",
        "info",
    ),
    "no result": Row(
        "IR122",
        no_result,
        lambda: relu("2", "2"),
        '<layer id="0"',
        "0",
        None,
        "a Result",
        "none",
        "warning",
    ),
    "an empty net": Row(
        "IR122",
        layer(network(layers="", edges="")),
        whole(),
        "<net",
        None,
        None,
        "layers",
        "none",
        "warning",
    ),
    "an input without a name": Row(
        "IR125",
        whole(' names="x"', ""),
        whole(),
        (
            '<port id="0" precision="FP32"><dim>1</dim><dim>3</dim><dim>8</dim>'
            "<dim>8</dim></port></output>"
        ),
        "0",
        ("output", "0"),
        "names",
        "none",
        "info",
    ),
    "an output without a name": Row(
        "IR125",
        whole(' names="y"', ""),
        whole(),
        '<port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>1</dim>',
        "4",
        ("output", "2"),
        "names",
        "none",
        "info",
    ),
    "names on two results": Row(
        "IR124",
        layer(
            network(
                layers=LAYERS.replace(
                    'name="y" type="Result" version="opset1"',
                    'name="y" type="Result" version="opset1" output_names="x"',
                )
            )
        ),
        layer(
            network(
                layers=LAYERS.replace(
                    'name="y" type="Result" version="opset1"',
                    'name="y" type="Result" version="opset1" output_names="y,z"',
                )
            )
        ),
        "output_names=",
        "5",
        None,
        "a unique name",
        "x",
        "info",
    ),
    "a size that nothing proves": Row(
        "IR203",
        lambda: relu("?,3", "2,3"),
        lambda: relu("?,3", "-1,3"),
        '<port id="1" precision="FP32"><dim>2</dim>',
        "1",
        ("output", "1"),
        "[?,3]",
        "[2,3]",
        "warning",
    ),
    "values that are too many": Row(
        "IR207",
        layer(MEAN.replace("is [1]", "is [0, 1]")),
        layer(MEAN),
        '<port id="1"',
        "7",
        ("input", "1"),
        "[1]",
        "2",
        others=("IR201",),
    ),
    "a batch as a literal": Row(
        "IR208",
        lambda: reshape("2,3,4", [2, -1], "2,12", relu=True),
        lambda: reshape("2,3,4", [0, -1], "2,12", relu=True),
        'name="reshape"',
        "3",
        ("input", "1"),
        "0 or -1",
        "2",
        "info",
    ),
    "a dynamic batch as a literal": Row(
        "IR208",
        lambda: reshape("?,3,4", [2, -1], "2,-1"),
        lambda: reshape("?,3,4", [0, -1], "-1,12"),
        'name="reshape"',
        "2",
        ("input", "1"),
        "0 or -1",
        "2",
        "info",
    ),
    "a pattern that fits one size": Row(
        "IR209",
        lambda: reshape("2,?,4", [8, 12], "8,12"),
        lambda: reshape("2,?,4", [8, -1], "8,-1"),
        'name="reshape"',
        "2",
        None,
        "?",
        "the pattern [8, 12]",
        "info",
    ),
    "a constant that fits one size": Row(
        "IR209",
        lambda: add("?,?", [1.0, 2.0], "-1,2"),
        lambda: add("?,2", [1.0, 2.0], "-1,2"),
        'name="add"',
        "2",
        None,
        "?",
        "shape [2]",
        "info",
    ),
    "a tensor too large": Row(
        "IR210",
        lambda: relu("1000000000000,3", "1000000000000,3"),
        lambda: relu("1000,3", "1000,3"),
        '<port id="0" precision="FP32" names',
        "0",
        ("output", "0"),
        "fewer than",
        "3000000000000",
        "warning",
    ),
    "a number past f32": Row(
        "IR304", lambda: elu("1e39"), lambda: elu("1e38"), "alpha=", "1", None, "f32", "1e39"
    ),
    "a number past f64": Row(
        "IR304", lambda: elu("1e400"), lambda: elu("inf"), "alpha=", "1", None, "f64", "1e400"
    ),
    "no limit": Row(
        "IR304",
        lambda: elu("-1e39"),
        lambda: elu("1.7976931348623157e+308"),
        "alpha=",
        "1",
        None,
        "f32",
        "-1e39",
    ),
    "a list with a number past f32": Row(
        "IR304",
        lambda: roi("1e39"),
        lambda: roi("4"),
        "min_size=",
        "2",
        None,
        "a list of numbers",
        "1e39",
        others=("IR201",),
    ),
    "an overflowing dimension": Row(
        "IR304",
        lambda: (relu("?", "-1")[0].replace('shape="?"', 'shape="9223372036854775808"'), b""),
        lambda: relu("?", "-1"),
        "shape=",
        "0",
        None,
        None,
        "9223372036854775808",
    ),
    "the largest int64 as a dimension": Row(
        "IR304",
        lambda: (relu("?", "-1")[0].replace('shape="?"', 'shape="9223372036854775807"'), b""),
        lambda: relu("?", "-1"),
        "shape=",
        "0",
        None,
        None,
        "9223372036854775807",
    ),
    "elements that do not match": Row(
        "IR401",
        lambda: reshape("2,3", [4, 2], "4,2"),
        lambda: reshape("2,3", [3, 2], "3,2"),
        '<port id="1"/>',
        "2",
        ("input", "1"),
        "6 elements",
        "8 elements",
    ),
    "an axis that is no constant": Row(
        "IR401",
        lambda: unique(False),
        lambda: unique(True),
        '<port id="1"/>',
        "2",
        ("input", "1"),
        "a Const",
        "Parameter",
    ),
    "axes of rank 2": Row(
        "IR404",
        lambda: mean("1,1"),
        lambda: mean("1"),
        '<port id="1"/>',
        "2",
        ("input", "1"),
        "0",
        "2",
    ),
    "shapes that do not broadcast": Row(
        "IR406",
        lambda: two("Add", "2,3", "2,4", "FP32:2,3"),
        lambda: two("Add", "2,3", "2,1", "FP32:2,3"),
        '<port id="1"/>',
        "2",
        ("input", "1"),
        "compatible with [2,3]",
        "[2,4]",
    ),
    "a port map to no layer": Row(
        "IR408",
        loop('internal_layer_id="5"', 'internal_layer_id="55"'),
        loop('internal_layer_id="5"', 'internal_layer_id="5"'),
        '<layer id="13"',
        "13",
        None,
        "",
        "55",
    ),
    "a port map to no port": Row(
        "IR408",
        loop('external_port_id="2"', 'external_port_id="7"'),
        loop('external_port_id="2"', 'external_port_id="2"'),
        '<layer id="13"',
        "13",
        None,
        "0, 1, 2",
        "7",
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
    (finding,) = found(validate(network(), tmp_path), "IR011")
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
