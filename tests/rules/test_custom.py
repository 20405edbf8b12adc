"""Rules that a configuration states in XPath: reported and silenced like any other rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from calling import call, reported
from ir import Net

import irshape

GRAPHS = Path(__file__).parents[1] / "formats" / "onednn" / "graphs"


def network(folder: Path) -> Path:
    """f32 [2,3] through two ReLUs with a Convert to f64 between them."""
    net = Net()
    x = net.parameter("2,3", name="image")
    first = net.layer("ReLU", [x], outputs=["FP32:2,3"], name="first")
    wide = net.layer(
        "Convert", [first], 'destination_type="f64"', outputs=["FP64:2,3"], name="wide"
    )
    last = net.layer("ReLU", [wide], outputs=["FP64:2,3"], name="last")
    net.layers[int(last)] = net.layers[int(last)].replace(
        "<output><port", '<output><port names="y"'
    )
    net.result(last, "out")
    return net.save(folder)


def rule(code: str = "IR910", **keys: object) -> str:
    """A table of the configuration; JSON's texts and lists are TOML's too."""
    fields = {"code": code, "xpath": "//layer[@type='ReLU']", "message": "not here", **keys}
    return "[[rules.custom]]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in fields.items() if value is not None
    )


def findings(*arguments: str) -> list[tuple[str, str, str]]:
    """Code, severity and message of what is reported, in order."""
    return [(each["code"], each["severity"], each["message"]) for each in reported(*arguments, ".")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    network(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Case(NamedTuple):
    """A configuration, options, and what is reported with them."""

    configuration: str
    reported: list[tuple[str, str, str]]
    options: tuple[str, ...] = ()


TWICE = [("IR910", "error", "not here")] * 2
CASES = {
    "every match": Case(rule(), TWICE),
    "no match": Case(rule(xpath="//layer[@type='Tanh']"), []),
    "placeholders": Case(
        rule(
            xpath="//data/@destination_type[. = 'f64']",
            message="{type} '{name}' (id {id}, {version}) converts to {text} {{so}}",
        ),
        [("IR910", "error", "Convert 'wide' (id 2, opset1) converts to f64 {so}")],
    ),
    "severity": Case(
        rule(severity="info", xpath="//layer[@name='first']"), [("IR910", "info", "not here")]
    ),
    "inferred type": Case(
        rule(xpath="//layer[@type='ReLU'][element-type(.) = 'f64']", message="{name}"),
        [("IR910", "error", "last")],
    ),
    "producer": Case(
        rule(xpath="//layer[producer(.)/@type = 'Convert']", message="{name}"),
        [("IR910", "error", "last")],
    ),
    "truth": Case(
        rule(xpath="count(//layer) > 4", message="too many in {name}"),
        [("IR910", "error", "too many in m")],
    ),
    "untruth": Case(rule(xpath="count(//layer) > 5"), []),
    "other files": Case(rule(files=["other/**"]), []),
    "these files": Case(rule(files=["*.xml"]), TWICE),
    "ignored by code": Case(rule(), [], ("--ignore", "IR910")),
    "ignored by name": Case(rule(name="no-relu"), [], ("--ignore", "no-relu")),
    "ignored in the configuration": Case('ignore = ["no-relu"]\n' + rule(name="no-relu"), []),
    "ignored by file": Case(
        '[per-file-ignores]\n"m.xml" = ["no-relu"]\n' + rule(name="no-relu"), []
    ),
    "another family selected": Case(rule(), [], ("--select", "IR2")),
    "its family selected": Case(rule(), TWICE, ("--select", "IR91")),
}


def test_layers_that_one_place_declares_are_reported_each(folder: Path) -> None:
    (folder / "irshape.toml").write_text(rule(xpath="//layer[@type='Parameter']", message="{name}"))
    graph = GRAPHS / "binary-matmul-binary-f32.json"
    inputs = [layer.name for layer in irshape.load(graph).layers if layer.is_parameter]
    report = irshape.validate(graph, config=str(folder / "irshape.toml"))
    found = [each for each in report.diagnostics if each.code == "IR910"]
    assert sorted(each.message for each in found) == sorted(inputs)
    assert len({(each.line, each.column) for each in found}) < len(inputs)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_reported(folder: Path, case: Case) -> None:
    (folder / "irshape.toml").write_text(case.configuration)
    assert findings(*case.options) == case.reported


def test_an_unknown_function_is_reported(folder: Path) -> None:
    (folder / "irshape.toml").write_text(rule(xpath="//layer[nosuch(.)]"))
    [(code, severity, message)] = findings()
    assert (code, severity, "IR910" in message) == ("IR909", "error", True)
    assert "Unregistered function" in message


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_many_files_in_several_processes(folder: Path, jobs: str) -> None:
    for number in range(6):
        (folder / f"n{number}.xml").write_bytes((folder / "m.xml").read_bytes())
    (folder / "irshape.toml").write_text(rule())
    assert findings("--jobs", jobs, "--no-cache") == TWICE * 7


def test_it_has_a_place_and_exit_status(folder: Path) -> None:
    (folder / "irshape.toml").write_text(rule(xpath="//data/@destination_type", help="use f32"))
    status, output, _ = call("validate", "--color", "never", ".")
    assert status == 1
    before, _, _ = (folder / "m.xml").read_text().partition("f64")
    line = before.count("\n") + 1
    assert f"m.xml:{line}:" in output
    assert "error[IR910] not here" in output
    assert "help: use f32" in output


def test_a_comment_silences_it(folder: Path) -> None:
    (folder / "irshape.toml").write_text(rule(name="no-relu"))
    text = (folder / "m.xml").read_text()
    first = text.index(">", text.index('name="first"')) + 1
    (folder / "m.xml").write_text(f"{text[:first]}<!-- irshape: disable=no-relu -->{text[first:]}")
    assert findings() == TWICE[:1]


def test_in_python(folder: Path) -> None:
    (folder / "irshape.toml").write_text(rule(xpath="//layer[@name='first']"))
    report = irshape.validate(folder / "m.xml", config=folder / "irshape.toml")
    found = [(each.code, each.layer and each.layer["name"]) for each in report.diagnostics]
    assert found == [("IR910", "first")]


@pytest.mark.parametrize("form", ["sarif", "junit", "gitlab", "html", "markdown", "github"])
def test_every_report_has_it(folder: Path, form: str) -> None:
    (folder / "irshape.toml").write_text(rule(name="no-relu"))
    _, output, error = call("validate", "--format", form, ".")
    assert "IR910" in output, error


class Wrong(NamedTuple):
    """A configuration that cannot be used, and what is said of it."""

    configuration: str
    said: str


WRONG = {
    "a type": Wrong(rule(xpath="MatMul"), "rules.custom[0].xpath: an IR has no element <MatMul>"),
    "malformed": Wrong(rule(xpath="//layer["), "rules.custom[0].xpath: Invalid expression"),
    "no code": Wrong(rule(code=None), "rules.custom[0]: it has no code"),  # type: ignore[arg-type]
    "no xpath": Wrong(rule(xpath=None), "rules.custom[0]: it has no xpath"),
    "no message": Wrong(rule(message=None), "rules.custom[0]: it has no message"),
    "taken code": Wrong(rule("IR201"), "code: expected IR910 to IR949"),
    "taken name": Wrong(rule(name="cycle"), "the built-in rule IR114"),
    "one code twice": Wrong(rule() + rule(name="other"), "two rules have the code IR910"),
    "one name twice": Wrong(rule(name="a") + rule("IR911", name="a"), "two rules have the name a"),
    "placeholder": Wrong(rule(message="{colour}"), "'{colour}' is not a placeholder"),
    "access": Wrong(rule(message="{name.__class__}"), "is not a placeholder"),
    "brace": Wrong(rule(message="{name"), "rules.custom[0].message"),
    "unknown key": Wrong(rule(colour="red"), "unknown key"),
    "unknown severity": Wrong(rule(severity="bad"), "expected error, warning or info"),
    "no list": Wrong("[rules]\ncustom = 1\n", "expected tables [[rules.custom]]"),
    "no table": Wrong("rules = 1\n", "expected tables [[rules.custom]]"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_rule_that_cannot_be_used(folder: Path, case: Wrong) -> None:
    (folder / "irshape.toml").write_text(case.configuration)
    status, _, error = call("validate", ".")
    assert status == 2
    assert case.said in error
