"""What a model requires of OpenVINO, what a target cannot read, and operations outside of it."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from calling import call, reported
from ir import Net

import irshape
from irshape.diagnostics.renderers import formats
from irshape.releases import (
    ELEMENT_TYPES,
    MINOR_RELEASES,
    OPSETS,
    newest_opset,
    parse_release,
    written,
)

NEWEST = max((year, last) for year, (_, last) in MINOR_RELEASES.items())

TOKENIZERS = Path(__file__).parents[1] / "tokenizers"


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def findings(*arguments: str) -> list[tuple[str, str, str, str]]:
    """Code, severity, message and help."""
    return [
        (found["code"], found["severity"], found["message"], found["help"])
        for found in reported(*arguments)
    ]


def test_requires_of_a_model_that_openvino_refuses(tmp_path: Path) -> None:
    path = network("ShapeOf", "opset1").save(tmp_path)
    path.write_text(path.read_text().replace("ShapeOf", "NonMaxSuppression"))
    status, output, errors = call("requires", "--format", "json", str(path))
    assert (status, "NonMaxSuppression" in errors) == (1, True)
    verdicts = [device["verdict"] for device in json.loads(output)["devices"].values()]
    assert verdicts == ["unknown"] * 3


def requires(path: Path) -> tuple[str, list[tuple[str, str, int]]]:
    """The release, and its reasons: release, what, how many layers."""
    status, output, _ = call("requires", "--format", "json", str(path))
    assert status == 0
    found = json.loads(output)
    return found["requires"], [
        (reason["release"], reason["reason"], len(reason["layers"])) for reason in found["reasons"]
    ]


def network(
    type: str = "ReLU",
    version: str = "opset1",
    *,
    precision: str = "FP32",
    ir: str = "11",
    attributes: str = "",
) -> Net:
    """`type` between an input and an output; `ir` is the version of the file."""
    net = Net()
    x = net.parameter("2,3", name="x")
    made = net.layer(
        type, [x], attributes, version=version, outputs=[f"{precision}:2,3"], name="layer"
    )
    net.layers[int(made)] = net.layers[int(made)].replace("precision=", 'names="y" precision=')
    net.result(made, "y")
    text = net.text()
    net.text = lambda: text.replace('version="11">', f'version="{ir}">', 1)  # type: ignore[method-assign]
    return net


def converted(element_type: str, ir: str = "11") -> Net:
    attributes = f'destination_type="{element_type}"'
    return network("Convert", precision=element_type.upper(), attributes=attributes, ir=ir)


@pytest.mark.parametrize(
    ("net", "release", "reason"),
    [
        (network(ir="10"), "2020.1", "opset1"),
        (network(), "2022.1", "IR version 11"),
        (network("Mish", "opset4", ir="10"), "2021.1", "opset4"),
        (network("Mish", "opset4"), "2022.1", "IR version 11"),
        (network("SoftSign", "opset9"), "2022.2", "opset9"),
        (network("ReLU", "opset13"), "2023.2", "opset13"),
        (network("Identity", "opset16"), "2025.0", "opset16"),
        (network("ShapeOf", "opset17", attributes='output_type="i64"'), "2026.2", "opset17"),
        (converted("nf4"), "2023.2", "element type nf4"),
        (converted("f8e4m3"), "2024.0", "element type f8e4m3"),
        (converted("u2"), "2024.1", "element type u2"),
        (converted("f4e2m1"), "2024.3", "element type f4e2m1"),
        (converted("i4", ir="10"), "2021.4", "element type i4"),
        (converted("f16", ir="10"), "2020.1", "opset1"),
    ],
)
def test_requires(tmp_path: Path, net: Net, release: str, reason: str) -> None:
    found, reasons = requires(net.save(tmp_path))
    assert found == release
    assert (release, reason) in [row[:2] for row in reasons]


def test_requires_in_words(tmp_path: Path) -> None:
    status, output, _ = call("requires", str(network("SoftSign", "opset9").save(tmp_path)))
    lines = output.splitlines()
    assert (status, lines[0].endswith("m.xml: OpenVINO 2022.2 or newer")) == (0, True)
    assert [" ".join(line.split()) for line in lines[1:3]] == [
        "read by 2022.2 opset9, 1 layer",
        "SoftSign 'layer' (id 1), line 5",
    ]


def test_a_release_that_reads_a_model_and_does_not_run_it(tmp_path: Path) -> None:
    path = str(EXAMPLES / "reductions.xml")
    status, output, _ = call("requires", "-f", "json", path)
    document = json.loads(output)
    assert (status, document["requires"], document["runs"]) == (0, "2022.1", "2024.1")
    (reason,) = document["running_reasons"]
    assert {layer["type"][:6] for layer in reason["layers"]} == {"Reduce"}
    found = [each for target in ("2024.0", "2024.1") for each in findings("--target", target, path)]
    assert {code for code, severity, *_ in found if severity == "error"} == {"IR607"}
    assert "2024.1 or newer runs it" in call("requires", path)[1]


def test_requires_of_bodies_and_of_what_nobody_knows(tmp_path: Path) -> None:
    path = network("Mine", "custom_opset").save(tmp_path)
    status, output, _ = call("requires", "--format", "json", str(path))
    found = json.loads(output)
    unknown = [layer["type"] for layer in found["unknown"]]
    assert (status, found["requires"], unknown) == (0, "2022.1", ["Mine"])
    for options in ((), ("--extension", "Mine")):
        words = call("requires", str(path), *options)[1].split()
        assert "no release reads it without its library" in " ".join(words)
        assert "opset6," not in words
    declared = json.loads(call("requires", "-f", "json", "--extension", "Mine", str(path))[1])
    (library,) = declared["libraries"]
    assert (library["install"], [each["type"] for each in library["layers"]]) == (None, ["Mine"])
    inside = json.loads(call("requires", "--format", "json", str(EXAMPLES / "control_flow.xml"))[1])
    import jsonschema

    schema = json.loads((EXAMPLES.parent / "schemas" / "requires.schema.json").read_text())
    for answer in (found, declared, inside):
        jsonschema.validate(answer, schema)
    assert any(layer["path"] for reason in inside["reasons"] for layer in reason["layers"])


def test_requires_of_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net")
    assert call("requires", str(path))[0] == 1


@pytest.mark.parametrize("command", [("requires",), ("query", "//layer")], ids=lambda row: row[0])
def test_what_cannot_be_opened_among_several(tmp_path: Path, command: tuple[str, ...]) -> None:
    model = str(EXAMPLES / "recurrent.xml")
    (tmp_path / "gone.xml").symlink_to("nowhere.xml")
    (tmp_path / "text.xml").write_text("<net")
    alone, both = call(*command, model), call(*command, str(tmp_path), model)
    assert (alone[0], both[0]) == (0, 2)
    assert both[1].startswith(alone[1].splitlines()[0])
    assert "gone.xml': No such file" in both[2]
    assert "text.xml:1:1: error[IR001]" in both[2]


def test_the_tables_are_in_order() -> None:
    assert list(OPSETS.values()) == sorted(OPSETS.values())
    newest = "2020.1:1 2020.3:2 2022.1:8 2023.3:13 2024.6:15 2025.4:15 2026.4:17"
    for release, _, opset in (each.partition(":") for each in newest.split()):
        assert newest_opset(parse_release(release)) == int(opset), release
    assert newest_opset((2019, 4)) == 0
    assert parse_release("2024.6.0") == (2024, 6)


@pytest.mark.parametrize("text", ["2019.4", "2020.0", "2022.4", "2026.9", "2030.1", "2030.0"])
def test_a_release_that_is_not_known_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"from 2020\.1 to {re.escape(written(NEWEST))}"):
        parse_release(text)
    status, _, error = call("validate", "--target", text, str(network().save(tmp_path)))
    assert (status, f"there is no OpenVINO release '{text}'" in error) == (2, True)


def test_the_newest_release_is_the_one_installed() -> None:
    import openvino

    year, minor = map(int, openvino.__version__.split(".")[:2])
    assert (year, minor) == NEWEST
    assert set(OPSETS.values()) <= {
        (year, minor)
        for year, (first, last) in MINOR_RELEASES.items()
        for minor in range(first, last + 1)
    }


def test_several_models_and_a_folder(tmp_path: Path) -> None:
    first = network("SoftSign", "opset9").save(tmp_path, "first")
    network("ReLU", "opset13").save(tmp_path, "second")
    (tmp_path / "other.xml").write_text("<project/>")
    status, output, _ = call("requires", str(tmp_path))
    assert (status, output.splitlines()[-1]) == (0, "all 2 models: OpenVINO 2023.2 or newer")
    _, output, _ = call("requires", "-f", "json", str(tmp_path))
    answer = json.loads(output)
    assert [model["requires"] for model in answer["models"]] == ["2022.2", "2023.2"]
    assert answer["requires"] == "2023.2"
    broken = tmp_path / "broken.xml"
    broken.write_text("<net")
    status, output, error = call("requires", str(broken), str(first))
    assert (status, output.splitlines()[0]) == (1, f"{first}: OpenVINO 2022.2 or newer")
    assert "broken.xml:1:1: error[IR001]" in error
    assert call("requires", str(tmp_path / "gone.xml"))[0] == 2


def test_the_tables_cover_what_openvino_has() -> None:
    import openvino

    assert {f"opset{number}" for number in OPSETS} == {
        name for name in dir(openvino) if name.startswith("opset")
    }
    assert ELEMENT_TYPES.keys() <= set(dir(openvino.Type))


@pytest.mark.parametrize(
    ("net", "target", "expected"),
    [
        (network("SoftSign", "opset9"), "2022.2", []),
        (network("SoftSign", "opset9"), "2022.1", ["SoftSign of opset9: 2022.2, up to opset8"]),
        (
            network("FakeConvert", "opset13"),
            "2023.2",
            ["FakeConvert of opset13: 2023.3, opset13, but without this operation"],
        ),
        (
            network("MVN", "opset6"),
            "2021.1.0",
            [
                "IR version 11: 2022.1, ",
                "MVN of opset6: 2021.3, up to opset4 (the newest version that it reads is MVN of "
                "opset4)",
            ],
        ),
        (converted("nf4"), "2023.1", ["element type nf4: 2023.2, "]),
    ],
)
def test_target(tmp_path: Path, net: Net, target: str, expected: list[str]) -> None:
    """Expected: what it is, the release that it needs, and what the target reads instead."""
    path = net.save(tmp_path)
    needs = re.compile(
        r"(.*) needs OpenVINO (\S+) or newer; the target (?:is )?\S+(?: reads (.*))?"
    )
    found = findings("--target", target, "--select", "IR605", str(path))
    said = [needs.fullmatch(message) for *_, message, _ in found]
    assert [one and "{}: {}, {}".format(*one.groups("")) for one in said] == expected
    assert {(code, severity) for code, severity, *_ in found} <= {("IR605", "error")}
    config = irshape.Configuration(target=parse_release(target), select=("IR605",))
    diagnostics = irshape.validate(path, config=config).diagnostics
    assert [one.message for one in diagnostics] == [message for *_, message, _ in found]


def test_a_target_that_has_the_same_operation(tmp_path: Path) -> None:
    path = network("ReLU", "opset13").save(tmp_path)
    ((_, _, _, hint),) = findings("--target", "2022.1", "--select", "IR605", str(path))
    assert hint == 'write version="opset8": it is the same operation'
    path.write_text(path.read_text().replace("opset13", "opset8"))
    assert findings("--target", "2022.1", "--select", "IR605", str(path)) == []


# Extensions


@pytest.mark.parametrize(
    ("type", "version", "extensions", "severity"),
    [
        ("Mine", "custom_opset", "", "error"),
        ("Mine", "custom_opset", "Mine", "info"),
        ("Mine", "custom_opset", "Mine@custom_opset", "info"),
        ("Mine", "custom_opset", "Mine@other", "error"),
        ("Mine", "custom_opset", "mine", "error"),  # OpenVINO looks them up as they are written
        ("Mine", "custom_opset", "Other Mine", "info"),
        ("Mine", "opset1", "", "error"),
        ("Mine", "opset1", "Mine", "info"),
        ("ReLU", "extension", "", "error"),
        ("ReLU", "extension", "ReLU@extension", "info"),
    ],
)
def test_extensions(
    tmp_path: Path, type: str, version: str, extensions: str, severity: str
) -> None:
    path = network(type, version).save(tmp_path)
    options = [option for name in extensions.split() for option in ("--extension", name)]
    ((code, found, message, hint),) = findings(*options, str(path))
    assert found == severity
    if severity == "info":
        assert (code, "its declared ports are used" in message) == ("IR604", True)
    else:
        assert code in ("IR602", "IR604")
        assert f"--extension {type}" in hint
        assert code == "IR602" or "--plugin FILE.py" in hint


@pytest.mark.parametrize(
    ("type", "version", "named"), [("Mine", "custom_opset", True), ("ReLU", "opset1", False)]
)
def test_crosscheck_says_how_to_load_a_library(
    tmp_path: Path, type: str, version: str, named: bool
) -> None:
    path = str(network(type, version).save(tmp_path))
    said = "".join(call("crosscheck", path, "--extension", "Mine", "--force")[1:])
    assert ("--extension-library FILE" in said) == named


def test_extensions_of_the_configuration(tmp_path: Path) -> None:
    path = network("Mine", "custom_opset").save(tmp_path)
    (tmp_path / "irshape.toml").write_text('extensions = ["Mine@custom_opset"]')
    options = ("--config", str(tmp_path / "irshape.toml"), str(path))
    assert [row[:2] for row in findings(*options)] == [("IR604", "info")]
    assert call("validate", *options)[0] == 0
    (found,) = irshape.validate(
        path, config=irshape.Configuration(extensions=("Mine",))
    ).diagnostics
    assert (found.code, found.severity) == ("IR604", "info")


# Plugins: packages on the path, with entry points

OPERATION = '''
from irshape.ops.declaration import ANY, Operation, operand
from irshape.ops.tensors import Tensor

class {name}(Operation):
    """Its input twice along the last axis."""
    since = 1
    custom_version = "custom_opset"
    data = operand(ANY)

    def infer(self, data):
        dims = data.shape.dims
        return Tensor(data.element_type, type(data.shape)([*dims[:-1], dims[-1] * 2]))
'''

RULE = '''
from irshape.rules import Rule

class NoLayerNamedLayer(Rule):
    """A name that says nothing.

    ## What it does
    Reports layers named layer.
    """
    code, name, severity = "{code}", "{name}", "warning"

    @classmethod
    def check(cls, context):
        for layer in context.model.walk():
            if layer.name == "layer":
                yield cls.finding("this name says nothing", layer.offset, layer)
'''


Install = Callable[[str, str, str], None]
"""Installs a module: its name, its text and its entry points."""


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Install]:
    """Installs a module with entry points, in a folder on the path, for one test."""
    from irshape.ops import registry
    from irshape.rules import _by_name, all_rules, plugins

    caches = [
        registry._of_packages,
        registry.of_plugins,
        registry.versions,
        registry._declared_as,
        all_rules,
        _by_name,
        plugins._of_packages,
        plugins.declares,
        plugins.entry_point_files,
    ]
    site = tmp_path / "site"
    made: list[str] = []

    def install(module: str, text: str, points: str) -> None:
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        (site / f"{module}.py").write_text(text)
        made.append(module)
        forget()

    def forget() -> None:
        importlib.invalidate_caches()
        for cached in caches:
            cached.cache_clear()

    sys.path.insert(0, str(site))
    yield install
    sys.path.remove(str(site))
    for module in made:
        sys.modules.pop(module, None)
    forget()


def test_an_operation_of_a_plugin(tmp_path: Path, plugin: Install) -> None:
    points = "[irshape.operations]\ndoubled = their_ops:Doubled\n"
    plugin("their_ops", OPERATION.format(name="Doubled"), points)
    path = network("Doubled", "custom_opset").save(tmp_path)
    assert [row[:2] for row in findings(str(path))] == [("IR604", "info"), ("IR201", "error")]
    end = '</dim></port></output></layer>\n<layer id="2"'
    path.write_text(
        path.read_text().replace(f"<dim>2</dim><dim>3{end}", f"<dim>2</dim><dim>6{end}")
    )
    assert [row[:2] for row in findings(str(path))] == [("IR604", "info")]


NO_LAYER = "x = bad_plugin:NoLayerNamedLayer"


@pytest.mark.parametrize(
    ("text", "points", "words"),
    [
        (
            OPERATION.format(name="ReLU").replace('custom_version = "custom_opset"', ""),
            "x = bad_plugin:ReLU",
            "declares ReLU, which is declared already",
        ),
        (OPERATION.format(name="A"), "x = bad_plugin:A\ny = bad_plugin:A", "A, which is declared"),
        (OPERATION.format(name="A"), "x = bad_plugin:B", "cannot be loaded"),
        ("A = 1", "x = bad_plugin:A", "is not an irshape.ops.Operation"),
        (RULE.format(code="IR201", name="mine"), NO_LAYER, "codes from IR950 to IR999"),
        (RULE.format(code="IR950", name="My Rule"), NO_LAYER, "needs a name of lower-case words"),
        (
            RULE.format(code="IR950", name="mine"),
            f"{NO_LAYER}\ny{NO_LAYER[1:]}",
            "declares already",
        ),
        (RULE.format(code="IR950", name="cycle"), NO_LAYER, "'cycle', the name of IR114; choose"),
        ("raise OSError('no')", "x = bad_plugin:Rule", "cannot be loaded: OSError: no"),
        ("Rule = 1", "x = bad_plugin:Rule", "is not an irshape.rules.Rule"),
    ],
)
def test_a_plugin_that_cannot_be_used(
    tmp_path: Path, plugin: Install, text: str, points: str, words: str
) -> None:
    group = "rules" if "Rule" in text + points or "Layer" in points else "operations"
    plugin("bad_plugin", text, f"[irshape.{group}]\n{points}\n")
    status, output, error = call("validate", str(network().save(tmp_path)))
    assert (status, output) == (2, "")
    assert words in error
    with pytest.raises(ValueError, match="plugin"):
        irshape.validate([tmp_path / "m.xml"])


def test_a_rule_of_a_plugin(tmp_path: Path, plugin: Install) -> None:
    path = network().save(tmp_path)
    assert findings(str(path)) == []
    text = RULE.format(code="IR950", name="no-layer-named-layer")
    plugin("their_rules", text, "[irshape.rules]\nmine = their_rules:NoLayerNamedLayer\n")
    found = [row[:3] for row in findings(str(path))]
    assert found == [("IR950", "warning", "this name says nothing")]
    assert findings("--ignore", "no-layer-named-layer", str(path)) == []
    assert [row[0] for row in findings("--select", "IR9", str(path))] == ["IR950"]
    assert "A name that says nothing." in call("rule", "IR950")[1]


OPERATION_WITH_A_RULE = '''
from irshape.ops import ANY, FLOAT, Operation, RuleId, Tensor, attribute, fault, operand, require
from irshape.rules import Rule

SCALE = RuleId("IR960", "negative-scale", "error", "write a scale of 0 or more")
LARGE = RuleId("IR961", "large-scale", "warning")

class Scaled(Operation):
    """Its input, scaled."""
    since = 1
    custom_version = "custom_opset"
    data = operand(ANY)
    scale: float = attribute(FLOAT, default=1.0)

    def infer(self, data):
        require(self.scale >= 0, f"the scale is {self.scale}", at="scale", rule=SCALE)
        return Tensor(data.element_type, data.shape)

    def check(self, data):
        if self.scale > 100:
            yield fault(f"the scale is {self.scale}", at="scale", rule=LARGE)

class NegativeScale(Rule):
    """A scale below 0."""
    id = SCALE

class Checked(Rule):
    """A scale that is large, and an output named layer."""
    id = LARGE

    @classmethod
    def check(cls, context):
        yield cls.finding("also checked", 0)
'''
SCALED = "[irshape.operations]\nscaled = their_ops:Scaled\n"


def scaled(tmp_path: Path, scale: str) -> Path:
    """The operation of the plugin, with a port that declares too few rows where it is at fault."""
    return network("Scaled", "custom_opset", attributes=f'scale="{scale}"').save(tmp_path)


NEGATIVE = ("IR960", "error", "the scale is -1.0", "write a scale of 0 or more")
LARGE = ("IR961", "warning", "the scale is 200.0", None)


@pytest.mark.parametrize(
    ("rules", "scale", "expected"),
    [
        ("", "2.0", []),
        ("", "-1.0", [NEGATIVE]),
        ("", "200.0", [LARGE]),
        ("negative = their_ops:NegativeScale", "-1.0", [NEGATIVE]),
        ("large = their_ops:Checked", "200.0", [("IR961", "warning", "also checked", None), LARGE]),
    ],
    ids=["sound", "from-infer", "from-check", "with-a-page", "with-a-check-of-its-own"],
)
def test_an_operation_of_a_plugin_with_a_rule_of_its_own(
    tmp_path: Path,
    plugin: Install,
    rules: str,
    scale: str,
    expected: list[tuple[str, str, str, str | None]],
) -> None:
    plugin("their_ops", OPERATION_WITH_A_RULE, f"{SCALED}[irshape.rules]\n{rules}\n")
    path = scaled(tmp_path, scale)
    rows = [row for row in findings(str(path)) if row[0] != "IR604"]
    assert rows == expected
    diagnostics = [d for d in irshape.validate(path).diagnostics if d.code != "IR604"]
    assert [(d.code, d.severity, d.message, d.help) for d in diagnostics] == expected


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ("--select IR960", "IR960"),
        ("--select IR9", "IR960"),
        ("--select ALL", "IR604 IR960"),
        ("--select IR2", ""),
        ("--extend-select IR701", "IR604 IR960"),
        ("--ignore IR960", "IR604"),
        ("--ignore IR9", "IR604"),
        ("--per-file-ignores *.xml:IR96", "IR604"),
    ],
)
def test_a_rule_of_an_operation_without_a_page_is_selected_by_its_code(
    tmp_path: Path, plugin: Install, options: str, codes: str
) -> None:
    plugin("their_ops", OPERATION_WITH_A_RULE, SCALED)
    found = findings(*options.split(), str(scaled(tmp_path, "-1.0")))
    assert [row[0] for row in found] == codes.split()


@pytest.mark.parametrize("form", formats())
def test_a_rule_without_a_page_in_every_report(tmp_path: Path, plugin: Install, form: str) -> None:
    plugin("their_ops", OPERATION_WITH_A_RULE, SCALED)
    status, output, _ = call("validate", "-f", form, str(scaled(tmp_path, "-1.0")))
    assert status == 1
    assert "IR960" in output


def test_a_rule_without_a_page_elsewhere(tmp_path: Path, plugin: Install) -> None:
    """A comment silences it, and `fix` changes no port of a layer that it is about."""
    plugin("their_ops", OPERATION_WITH_A_RULE, SCALED)
    path = scaled(tmp_path, "-1.0")
    sound = path.read_text()
    path.write_text(sound.replace("<net ", "<!-- irshape: disable=IR960 -->\n<net ", 1))
    assert [row[0] for row in findings(str(path))] == ["IR604"]
    path.write_text(sound.replace('names="x"><dim>2</dim>', 'names="x"><dim>5</dim>'))
    fixes = irshape.fix(path, unsafe=True)
    assert [fixed.code for fixed in fixes.fixed] == ["IR201"]
    assert "IR960" in [left.code for left in fixes.remaining]
    assert call("rule", "IR960")[0] == 2


def test_the_plugin_of_the_documentation(tmp_path: Path, plugin: Install) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "custom-operations.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    points = text.split("# pyproject.toml of the package\n")[1].split("```")[0]
    points = points.replace('project.entry-points."', "").replace('"]', "]").replace('"', "")
    plugin("my_package", blocks[0] + blocks[-1], points)
    path = network("ScaledSwish", "extension").save(tmp_path)
    assert [row[:2] for row in findings(str(path))] == [("IR950", "warning"), ("IR604", "info")]
    path = network("ScaledSwish", "extension", attributes='scale="-1"').save(tmp_path)
    assert ("IR401", "error") in [row[:2] for row in findings(str(path))]


@pytest.mark.parametrize(
    ("type_name", "version", "meaning"),
    [
        ("PagedAttentionExtension", "extension", "attention over a cache of keys and values"),
        ("GatedDeltaNet", "ie_internal_opset", "linear attention by the gated delta rule"),
        ("RoPE", "ie_internal_opset", "rotary position embedding"),
        ("NewName", "ie_internal_opset", "OpenVINO's transformations insert it"),
        ("Relu", "type_relaxed_opset", "other element types"),
        ("LLMMLP", "cpu_plugin_opset", "the feed-forward block"),
        ("ONNXFrameworkNode", "util", "an operation that it cannot convert"),
        ("PtFrameworkNode", "util", "an operation that it cannot convert"),
    ],
)
def test_internal_operations_of_openvino_are_known_by_name(
    type_name: str, version: str, meaning: str
) -> None:
    from irshape.ops import registry

    with pytest.raises(registry.UnknownOperation) as caught:
        registry.find(type_name, version)
    assert caught.value.custom
    assert "is an internal operation of OpenVINO" in str(caught.value)
    assert meaning in str(caught.value)


def test_what_the_models_of_a_folder_require_together(tmp_path: Path) -> None:
    """The library's release is that of its newest operation: Truncate came with 2025.2.

    Each release of the library works with the OpenVINO of its own number only.
    """
    for name in ("bpe_tokenizer", "wordpiece_tokenizer"):
        for suffix in (".xml", ".bin"):
            shutil.copy(TOKENIZERS / f"{name}{suffix}", tmp_path)
    network().save(tmp_path)
    status, output, _ = call("requires", "--format", "json", str(tmp_path))
    answer = json.loads(output)
    using = [str(tmp_path / f"{name}_tokenizer.xml") for name in ("bpe", "wordpiece")]
    seen = (status, answer["requires"], answer["unknown"], answer["complete"])
    assert seen == (0, "2025.2", [], True)
    assert answer["libraries"] == [
        {"install": "pip install openvino-tokenizers", "release": "2025.2", "models": using}
    ]
    assert len(answer["models"]) == 3
    text = call("requires", str(tmp_path))[1].splitlines()
    assert text[-2:] == [
        "all 3 models: OpenVINO 2025.2 or newer",
        "  library: pip install openvino-tokenizers, 2025.2 or newer, for 2 of them",
    ]
    network("Mine", "custom_opset").save(tmp_path, "own")
    assert call("requires", str(tmp_path), "--extension", "Mine")[1].splitlines()[-2] == (
        "  library: that of their custom operations, for 1 of them"
    )
    (tmp_path / "broken.xml").write_text("<net")
    status, output, _ = call("requires", "--format", "json", str(tmp_path))
    assert (status, json.loads(output)["complete"]) == (1, False)


FAILING_OPERATION = '''
from irshape.ops import ANY, Operation, Tensor, operand

class Odd(Operation):
    """An operation that fails."""
    since = 1
    custom_version = "custom_opset"
    data = operand(ANY)

    def infer(self, data):
        return Tensor(data.element_type, data.shape)

    def {}(self, data):
        {}
'''
FAILING_RULE = '''
from irshape.rules import Rule

class Odd(Rule):
    """A rule that fails."""
    code, name, severity = "IR950", "odd", "warning"

    @classmethod
    def check(cls, context):
        {}
'''


@pytest.mark.parametrize(
    ("text", "message", "others"),
    [
        (
            FAILING_OPERATION.format("infer", 'raise RuntimeError("no")'),
            "RuntimeError: no",
            "IR604",
        ),
        (FAILING_OPERATION.format("infer", "return None"), "TypeError: infer returns a ", "IR604"),
        (FAILING_OPERATION.format("check", "return 3"), "TypeError: ", "IR604"),
        (FAILING_RULE.format('raise KeyError("no")'), "KeyError: 'no')", ""),
        (
            FAILING_RULE.format("yield cls.finding('', 0); raise MemoryError"),
            "MemoryError)",
            "IR950",
        ),
        (FAILING_RULE.format("yield 3"), "TypeError: check yields findings, not 3)", ""),
        (FAILING_RULE.format("yield cls.finding(None, 0)"), "TypeError: a finding has a ", ""),
    ],
    ids=[
        *("infer-raises", "infer-returns-none", "check-returns-a-number"),
        *("rule-raises", "rule-raises-late", "rule-yields-a-number", "rule-without-a-message"),
    ],
)
def test_a_plugin_that_fails_is_blamed_by_name(
    tmp_path: Path,
    plugin: Install,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    message: str,
    others: str,
) -> None:
    monkeypatch.delenv("IRSHAPE_DEBUG", raising=False)
    group = "operations" if "Operation" in text else "rules"
    plugin("odd_plugin", text, f"[irshape.{group}]\nodd = odd_plugin:Odd\n")
    path = network(*(("Odd", "custom_opset") if group == "operations" else ())).save(tmp_path)
    diagnostics = irshape.validate(path).diagnostics
    (failed,) = [found for found in diagnostics if found.code == "IR011"]
    assert "the plugin odd_plugin:Odd failed " in failed.message
    assert f"({message}" in failed.message
    assert failed.help
    assert failed.help.startswith("a bug in the plugin odd_plugin:Odd")
    assert ("Odd, odd_plugin.py:" in failed.help) == ("raise " in text)
    assert [found.code for found in diagnostics if found is not failed] == others.split()
