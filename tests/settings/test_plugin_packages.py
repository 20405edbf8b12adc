"""Operations and rules of plugins: packages on the path, with entry points."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from calling import call, findings
from ir import network

import irshape
from irshape.diagnostics.renderers import formats

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
    from irshape.rules import forget_rules

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
        registry.refresh()
        forget_rules()

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
            "ReLU, which is declared",
        ),
        (OPERATION.format(name="A"), "x = bad_plugin:A\ny = bad_plugin:A", "A, which is declared"),
        (OPERATION.format(name="A"), "x = bad_plugin:B", "cannot be loaded"),
        ("A = 1", "x = bad_plugin:A", "is not a subclass of irshape.ops.Operation"),
        (RULE.format(code="IR201", name="mine"), NO_LAYER, "codes from IR950 to IR999"),
        (RULE.format(code="IR950", name="My Rule"), NO_LAYER, "needs a name of lower-case words"),
        (
            RULE.format(code="IR950", name="mine"),
            f"{NO_LAYER}\ny{NO_LAYER[1:]}",
            "this code or name",
        ),
        (RULE.format(code="IR950", name="cycle"), NO_LAYER, "'cycle', the name of IR114"),
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
        (FAILING_OPERATION.format("infer", "return None"), "TypeError: infer must ", "IR604"),
        (FAILING_OPERATION.format("check", "return 3"), "TypeError: ", "IR604"),
        (FAILING_RULE.format('raise KeyError("no")'), "KeyError: 'no')", ""),
        (
            FAILING_RULE.format("yield cls.finding('', 0); raise MemoryError"),
            "MemoryError)",
            "IR950",
        ),
        (FAILING_RULE.format("yield 3"), "TypeError: ", ""),
        (FAILING_RULE.format("yield cls.finding(None, 0)"), "TypeError: a Finding needs a ", ""),
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
    assert failed.help.startswith("a bug in")
    assert ("Odd, odd_plugin.py:" in failed.help) == ("raise " in text)
    assert [found.code for found in diagnostics if found is not failed] == others.split()
