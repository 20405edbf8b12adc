"""`irshape rule`: the pages of all rules have the same headings, and their examples are true."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from network import found, validate

from irshape import rule_ids
from irshape.cli.rule import command, fields, markdown
from irshape.rules import HEADINGS, Rule, all_rules, rule_named

RULES = {rule.code: rule for rule in all_rules()}


def test_codes_and_names_are_unique() -> None:
    assert (
        len({rule.code for rule in all_rules()})
        == len({rule.name for rule in all_rules()})
        == len(all_rules())
    )
    for rule in all_rules():
        assert re.fullmatch(r"IR[0-9]{3}", rule.code)
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
        assert rule.severity in ("error", "warning", "info")
        assert rule_named(rule.code) is rule_named(rule.name) is rule


@pytest.mark.parametrize("code", RULES)
def test_headings(code: str) -> None:
    page = RULES[code].page()
    assert page.summary.endswith(".")
    assert "\n" not in page.summary
    wanted = list(HEADINGS) if "Use instead" in page.sections else list(HEADINGS[:-1])
    assert list(page.sections) == wanted
    assert all(page.sections.values())
    for heading in ("Example", "Use instead"):
        assert page.sections.get(heading, "``````").count("```") == 2


def test_every_rule_id_has_a_page() -> None:
    """Each constant of `rule_ids` that is reported has a rule, and each code and name is unique."""
    ids = [value for value in vars(rule_ids).values() if isinstance(value, rule_ids.RuleId)]
    assert sorted(ids) == sorted(rule.id for rule in all_rules())
    assert len({rule.code for rule in ids}) == len({rule.name for rule in ids}) == len(ids)
    assert not {rule.code for rule in ids} & rule_ids.RETIRED.keys()


# the command


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_markdown_has_every_rule() -> None:
    text = invoke("--all", "--format", "markdown")
    assert re.findall(r"^## (IR\d{3}) ", text, re.MULTILINE) == list(RULES)
    assert set(re.findall(r"\]\(#(ir\d{3}-[a-z0-9-]+)\)", text)) <= {
        f"{rule.code}-{rule.name}".lower() for rule in all_rules()
    }


def test_json() -> None:
    rows = json.loads(invoke("--all", "--format", "json"))
    assert [row["code"] for row in rows] == list(RULES)
    for row in rows:
        assert set(row) == {"code", "name", "severity", "default", "summary"} | {
            heading.lower().replace(" ", "_") for heading in HEADINGS
        }
    assert json.loads(invoke("IR701", "--format", "json")) == fields(RULES["IR701"])
    assert not fields(RULES["IR701"])["default"]


def test_text() -> None:
    text = invoke("ir113")
    assert text.startswith(
        "IR113 missing-edge (error)\n\nNothing feeds an input port.\n\nWhat it does\n  "
    )
    assert "```" not in text
    assert "##" not in text
    assert invoke("missing-edge") == text
    assert len(invoke().splitlines()) == len(RULES)
    assert invoke("--all").count("How to fix it") == len(RULES)


def test_markdown_links() -> None:
    text = markdown(all_rules())
    for anchor in re.findall(r"\]\(#(.+?)\)", text):
        code, _, name = anchor.partition("-")
        assert f"\n## {code.upper()} {name}\n" in text


# the examples

PORTS = """\
<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>\
<port id="1" precision="I64"><dim>1</dim></port></input>
<output><port id="2" precision="FP32" names="mean"><dim>2</dim><dim>1</dim></port></output>
"""
X = """\
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32" names="x"><dim>2</dim><dim>3</dim></port></output></layer>
"""
AXES = """\
<layer id="1" name="axes" type="Const" version="opset1">
<data element_type="i64" shape="1" offset="0" size="8"/>
<output><port id="0" precision="I64"><dim>1</dim></port></output></layer>
"""
RESULT = """\
<layer id="3" name="y" type="Result" version="opset1"><input>\
<port id="0" precision="FP32"><dim>2</dim><dim>1</dim></port></input></layer>
"""
EDGES = {
    ("2", "0"): '<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>',
    ("2", "1"): '<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>',
    ("3", "0"): '<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>',
}


def net(
    middle: str,
    *,
    edges: str | None = None,
    x: str = X,
    axes: str = AXES,
    head: str = '<net name="model" version="11">',
) -> str:
    lines = "\n".join(EDGES.values()) if edges is None else edges
    return (
        f"{head}\n<layers>\n{x}{axes}{middle}{RESULT}</layers>\n<edges>\n{lines}\n</edges>\n"
        "</net>\n"
    )


def mean(inside: str) -> str:
    return f'<layer id="2" name="mean" type="ReduceMean" version="opset1">\n{inside}</layer>\n'


MEAN = mean(f'<data keep_dims="true"/>\n{PORTS}')


def a_layer(code: str) -> str:
    """A text in place of the middle layer; `…` is its ports, and so is a missing end."""
    code = code.replace("…", PORTS)
    return net(code if "</layer>" in code else f"{code}\n{PORTS}</layer>\n")


def one_more(code: str) -> str:
    edges = "\n".join(
        [
            *EDGES.values(),
            *(EDGES["2", port].replace('to-layer="2"', 'to-layer="4"') for port in "01"),
        ]
    )
    return net(MEAN + code.replace("…", PORTS), edges=edges)


def ports(code: str) -> str:
    """In the place of the input or the output ports of the layer in the middle."""
    given, output = PORTS.splitlines()
    return net(
        mean(
            '<data keep_dims="true"/>\n'
            + (f"{code}\n{output}\n" if "<input>" in code else f"{given}\n{code}\n")
        )
    )


def some_edges(code: str) -> str:
    """Instead of those edges into the same ports, and of the one that lacks its port."""
    kept = dict(EDGES)
    for edge in re.findall(r"<edge [^>]*>", code):
        given = dict(re.findall(r'([a-z-]+)="([^"]*)"', edge))
        kept.pop((given["to-layer"], given.get("to-port", "1")), None)
    return net(MEAN, edges="\n".join([*kept.values(), code]))


def unfed(code: str) -> str:
    edges = "\n".join(edge for target, edge in EDGES.items() if target != ("2", "1"))
    return (
        net(MEAN, edges=edges)
        if "to-port" in code.partition("<!--")[0] is None
        else ports(code).replace(EDGES["2", "1"], "")
    )


def in_a_circle(code: str) -> str:
    relu = (
        '<layer id="{id}" name="l{id}" type="{type}" version="opset1"><input>{inputs}</input>'
        '<output><port id="{out}" precision="FP32"><dim>2</dim>'
        "<dim>3</dim></port></output></layer>\n"
    )
    port = '<port id="{}" precision="FP32"><dim>2</dim><dim>3</dim></port>'
    layers = relu.format(
        id=2, type="Add", inputs=port.format(0) + port.format(1), out=2
    ) + relu.format(id=3, type="ReLU", inputs=port.format(0), out=1)
    result = (
        '<layer id="4" name="y" type="Result" version="opset1"><input>'
        '<port id="0"/></input></layer>\n'
    )
    more = (
        '<edge from-layer="0" from-port="0" to-layer="2" to-port="1"/>'
        '<edge from-layer="3" from-port="1" to-layer="4" to-port="0"/>'
    )
    return net("", x=X, axes=layers + result, edges=code + more).replace(RESULT, "")


def the_first(code: str) -> str:
    """In the place of the input."""
    return net(MEAN, x=code + "\n")


def huge(code: str) -> str:
    """In the place of the input, with the size that it declares in all ports behind it."""
    text = the_first(code)
    return text.replace("<dim>2</dim>", re.findall(r"<dim>\d+</dim>", code)[0])


def rt_info(code: str) -> str:
    return net(MEAN.replace("</layer>", code + "</layer>"))


def root(code: str) -> str:
    return net(MEAN, head=code)


def alone(code: str) -> str:
    """A single layer; the ports are closed where the example breaks off."""
    return code if "</layer>" in code or "<layer" not in code else f"{code}\n{PORTS}</layer>\n"


def alone_ports(code: str) -> str:
    return mean(f'<data keep_dims="true"/>\n{code}\n{PORTS.splitlines()[1]}\n')


def constants(code: str) -> str:
    """Constants with those attributes, and nothing else."""
    layers = ""
    for number, data in enumerate(re.findall(r"<data [^>]*/>", code)):
        layers += (
            f'<layer id="{number}" name="c{number}" type="Const" version="opset1">{data}<output>'
            '<port id="0" precision="I64"><dim>1</dim></port></output></layer>\n'
        )
    return f'<net name="model" version="11"><layers>{layers}</layers><edges/></net>\n'


def mistyped(code: str) -> str:
    return net(MEAN.replace('"I64"', '"I32"'), axes=code + "\n")


def variables(code: str) -> str:
    code = code.replace(
        "…",
        (
            '<input><port id="0"/></input><output>'
            '<port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output>'
        ),
    )
    edges = (
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>'
    )
    return net(
        code,
        axes="",
        edges=edges
        + (
            '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>'
            if 'id="2"' in code
            else ""
        ),
    )


Host = Callable[[str], str]
EXAMPLES: dict[str, Host] = {
    "IR001": a_layer,
    "IR002": root,
    "IR003": root,
    "IR006": a_layer,
    "IR007": alone,
    "IR008": alone_ports,
    "IR009": a_layer,
    "IR010": a_layer,
    "IR016": a_layer,
    "IR101": a_layer,
    "IR102": a_layer,
    "IR103": a_layer,
    "IR104": ports,
    "IR105": a_layer,
    "IR106": ports,
    "IR107": ports,
    "IR110": some_edges,
    "IR111": some_edges,
    "IR112": some_edges,
    "IR113": unfed,
    "IR114": in_a_circle,
    "IR115": one_more,
    "IR116": ports,
    "IR117": ports,
    "IR118": ports,
    "IR119": a_layer,
    "IR120": variables,
    "IR121": some_edges,
    "IR123": variables,
    "IR125": the_first,
    "IR126": rt_info,
    "IR201": ports,
    "IR202": ports,
    "IR203": alone,
    "IR204": alone,
    "IR205": ports,
    "IR206": ports,
    "IR207": alone_ports,
    "IR210": huge,
    "IR301": a_layer,
    "IR302": a_layer,
    "IR303": a_layer,
    "IR304": a_layer,
    "IR402": alone_ports,
    "IR501": constants,
    "IR502": constants,
    "IR503": constants,
    "IR504": constants,
    "IR506": constants,
    "IR507": mistyped,
    "IR601": root,
    "IR602": a_layer,
    "IR603": a_layer,
    "IR604": a_layer,
    "IR701": constants,
    "IR702": constants,
    "IR703": constants,
    "IR704": constants,
}
BYTES = {
    "IR501": None,
    "IR504": bytes(16),
    "IR506": bytes(32),
    "IR701": struct.pack("<f", float("nan")),
    "IR702": struct.pack("<f", float("inf")),
    "IR703": struct.pack("<f", 1e6),
    "IR704": struct.pack("<f", 1e-6),
}
"""The .bin of an example, eight bytes for the others."""
OTHER_HOSTS: dict[str, Host] = {"IR113": some_edges}
NOT_ALONE = {
    "IR004",
    "IR005",
    "IR011",
    "IR017",
    "IR122",
    "IR124",
    "IR128",
    "IR129",
    "IR208",
    "IR209",
    "IR212",
    "IR401",
    "IR403",
    "IR404",
    "IR405",
    "IR406",
    "IR407",
    "IR408",
}
"""Examples that only show a part; the faults of the other tests stand for them."""


def code_of(rule: type[Rule], heading: str) -> str:
    return rule.page().sections[heading].partition("```xml\n")[2].partition("\n```")[0]


FAMILIES = (
    "file",
    "structure",
    "precisions",
    "edges",
    "names",
    "inputs_and_outputs",
    "declared_outputs",
    "declared_inputs",
    "shapes",
    "attributes",
    "constraints",
    "weights",
    "versions",
    "numerics",
)
OF_THE_FILE = {
    rule.code
    for rule in all_rules()
    if rule.__module__ in {f"irshape.rules.{family}" for family in FAMILIES}
}
"""The rules about an IR alone; others have tests of their own."""


def test_every_example_is_tried() -> None:
    assert set(EXAMPLES) | NOT_ALONE == OF_THE_FILE
    assert not set(EXAMPLES) & NOT_ALONE


@pytest.mark.parametrize("code", EXAMPLES)
def test_example(code: str, tmp_path: Path) -> None:
    report = validate(
        EXAMPLES[code](code_of(RULES[code], "Example")),
        tmp_path,
        BYTES.get(code, struct.pack("<q", 1)),
        (code,),
    )
    assert found(report, code), [
        f"{finding.code} {finding.message}" for finding in report.diagnostics
    ]


@pytest.mark.parametrize(
    "code",
    [code for code in EXAMPLES if "Use instead" in RULES[code].page().sections and code != "IR115"],
)
def test_use_instead(code: str, tmp_path: Path) -> None:
    host = OTHER_HOSTS.get(code, EXAMPLES[code])
    report = validate(
        host(code_of(RULES[code], "Use instead")),
        tmp_path,
        BYTES.get(code, struct.pack("<q", 1)),
        (code,),
    )
    assert not found(report, code)
