"""Operations and rules of users: `irshape.register`, and `--plugin FILE.py` of every command."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import said
from ir import Net

import irshape
from irshape.cli import COMMANDS
from irshape.ops import REAL, Operation, Tensor, operand

PLUGIN = '''
from irshape.ops import FLOAT, REAL, Operation, Tensor, attribute, operand
from irshape.rules import Rule

class {name}(Operation):
    """`factor * x`."""
    data = operand(REAL)
    factor: float = attribute(FLOAT, default=2.0)

    def infer(self, data):
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data):
        return (self.factor * data).astype(data.dtype)

class NoNameS(Rule):
    """A layer is named s."""
    code, name, severity = "IR950", "no-name-s", "warning"

    @classmethod
    def check(cls, context):
        yield from (cls.finding("named s", each.offset, each)
                    for each in context.model.walk() if each.name == "s")
'''


pytestmark = pytest.mark.usefixtures("registrations")


def model(
    folder: Path, type_name: str = "Scaled", version: str = "extension", data: str = ""
) -> Path:
    net = Net()
    x = net.parameter("2,3", name="x")
    layer = net.layer(type_name, [x], data, version=version, name="s", outputs=["FP32:2,3"])
    net.result(layer)
    return net.save(folder)


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"rule", "ops", "convert"}))
def test_every_command_takes_a_plugin_file(command: str) -> None:
    assert "--plugin FILE.py" in said(command, "--help")[1]


@pytest.mark.parametrize("type_name", ["Scaled", "Swish"])
def test_a_plugin_file_declares_operations_and_rules(tmp_path: Path, type_name: str) -> None:
    """Also one that has the name of an operation of OpenVINO, under a version of its own."""
    path = model(tmp_path, type_name)
    plugin = tmp_path / "my_ops.py"
    plugin.write_text(PLUGIN.format(name=type_name))
    assert said("validate", str(path))[0] == 1
    status, output = said("validate", "-f", "concise", "--plugin", str(plugin), str(path))
    assert status == 0
    assert "IR950" in output
    out = tmp_path / "out"
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    given = ("-i", str(tmp_path / "x.npy"), "-d", str(out), str(path))
    assert said("run", "--plugin", str(plugin), *given)[0] == 0
    assert [np.load(file).tolist() for file in out.iterdir()] == [[[2.0] * 3] * 2]


@pytest.mark.parametrize("shape", ["2,3", "?,3", "1..4,?"])
def test_the_layers_around_a_custom_one_are_cross_checked(shape: str, tmp_path: Path) -> None:
    net = Net()
    before = net.layer("Relu", [net.parameter(shape, name="x")], name="before")
    port = re.sub(r"1..4|\?", "-1", shape)
    own = net.layer("Scaled", [before], version="extension", name="own", outputs=[f"FP32:{port}"])
    net.result(net.layer("Relu", [own], name="after"))
    path = net.save(tmp_path)
    (tmp_path / "my_ops.py").write_text(PLUGIN.format(name="Scaled"))
    status, output = said("crosscheck", "--extension", "Scaled", str(path))
    assert (status, "0 outputs, 0 equal" in output, "irshape extract" in output) == (1, True, True)
    status, output = said("crosscheck", "--plugin", str(tmp_path / "my_ops.py"), str(path))
    assert (status, "without Scaled 'own'" in output) == (1, True)
    assert (output.count(" 2 outputs, 2 equal"), "different" in output) == (1, False)


def test_the_page_of_a_custom_operation_claims_no_completeness(tmp_path: Path) -> None:
    (tmp_path / "my_ops.py").write_text(PLUGIN.format(name="Scaled"))
    status, page = said("ops", "Scaled", "--plugin", str(tmp_path / "my_ops.py"))
    assert (status, "all other constraints that its `infer` checks" in page) == (0, True)
    assert "(a custom operation, my_ops.py)" in page


def test_worker_processes_know_the_plugins(tmp_path: Path) -> None:
    paths = []
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        paths.append(str(model(tmp_path / str(number))))
    plugin = tmp_path / "my_ops.py"
    plugin.write_text(PLUGIN.format(name="Scaled"))
    status, output = said("validate", "-j", "2", "-f", "concise", "--plugin", str(plugin), *paths)
    assert (status, output.count("IR950")) == (0, 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "no class derived from"),
        ("raise OSError('no')", "cannot be loaded: OSError: no"),
        ("raise SystemExit(0)", "cannot be loaded: SystemExit: 0"),
        (
            "from irshape.ops import Operation\nclass ReLU(Operation):\n    since = 1",
            "declared already",
        ),
        (
            "from irshape.ops import Operation\n"
            "class ReLU(Operation):\n    custom_version = 'opset1'",
            "declared already",
        ),
    ],
)
def test_a_plugin_file_that_cannot_be_used(tmp_path: Path, text: str, words: str) -> None:
    plugin = tmp_path / "bad.py"
    plugin.write_text(text)
    status, output = said("validate", "--plugin", str(plugin), str(model(tmp_path)))
    assert status == 2
    assert words in output


def test_a_class_that_is_registered_again_replaces_its_predecessor(tmp_path: Path) -> None:
    path = model(tmp_path)

    def register(columns: int) -> None:
        @irshape.register
        class Scaled(Operation):
            """With another shape each time."""

            data = operand(REAL)

            def infer(self, data: Tensor) -> Tensor:
                return Tensor("f32", [2, columns])

    for columns in (3, 4):
        register(columns)
        layers = irshape.infer(path).to_dict()["layers"]
        assert layers[1]["outputs"][0]["shape"] == f"[2,{columns}]"


@pytest.mark.parametrize(
    ("result", "given"),
    [(lambda data: data.astype(np.float64), "f64"), (lambda data: None, "None")],
)
def test_what_evaluate_computes_is_held_against_infer(
    result: Callable[[Any], Any], given: str, tmp_path: Path
) -> None:
    @irshape.register
    class Scaled(Operation):
        """Says f32, computes something else."""

        data = operand(REAL)

        def infer(self, data: Tensor) -> Tensor:
            return Tensor("f32", data.shape)

        def evaluate(self, data: Any) -> Any:
            return result(data)

    with pytest.raises(irshape.ExecutionError, match=f"`evaluate` gives {given}"):
        irshape.run(model(tmp_path), [np.ones((2, 3), np.float32)])
    first, *_ = irshape.crosscheck(model(tmp_path)).problems
    assert f"`evaluate` gives {given}" in first


@pytest.mark.parametrize(
    ("inferred", "code"), [(("f32", [2, 4]), "IR201"), (("f16", [2, 3]), "IR202")]
)
def test_a_declaration_that_infer_contradicts_may_be_the_fault_of_the_class(
    tmp_path: Path, inferred: tuple[str, list[int]], code: str
) -> None:
    @irshape.register
    class Scaled(Operation):
        """Another type or shape than the file declares."""

        data = operand(REAL)

        def infer(self, data: Tensor) -> Tensor:
            return Tensor(*inferred)

    found = [each for each in irshape.validate(model(tmp_path)).diagnostics if each.code == code]
    assert ["Scaled" in (each.help or "") for each in found] == [True]


def changes_its_input(data: Any) -> Any:
    data *= 2  # other layers may take the same array
    return data


@pytest.mark.parametrize(
    ("evaluated", "fault"),
    [(lambda _: {}["abc"], "KeyError: 'abc'"), (changes_its_input, "read-only")],
)
def test_a_plugin_that_fails_is_named_with_its_line(
    tmp_path: Path, evaluated: Callable[[Any], Any], fault: str
) -> None:
    @irshape.register
    class Scaled(Operation):
        """Its input."""

        data = operand(REAL)
        infer = staticmethod(lambda data: data)
        evaluate = staticmethod(evaluated)

    with pytest.raises(irshape.ExecutionError, match=f"{fault}.*test_plugins.py:[0-9]+"):
        irshape.run(model(tmp_path), [np.ones((2, 3), np.float32)])


def test_a_graph_is_built_of_registered_operations() -> None:
    assert not hasattr(irshape.op, "scaled")

    @irshape.register
    class Scaled(Operation):
        """Its input."""

        data = operand(REAL)

        def infer(self, data: Tensor) -> Tensor:
            return Tensor(data.element_type, data.shape)

    graph = irshape.Graph()
    scaled = graph.add("Scaled", graph.parameter("f32", "[?,3]", name="x"))
    assert irshape.op.scaled(scaled).layer.type == "Scaled"
    assert (str(scaled.shape), scaled.layer.version) == ("[?,3]", "extension")


def test_only_classes_are_registered() -> None:
    with pytest.raises(TypeError, match="an Operation, a Rule"):
        irshape.register(int)
    with pytest.raises(ValueError, match="not a subclass"):
        irshape.register(Operation)


# Operations that are known by name


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("infer", ()),
        ("inspect", ()),
        ("extract", ("--from", "x", "--to", "s", "-o", "part.xml")),
        ("edit", ("--rename", "x=z", "-o", "renamed.xml")),
        ("validate", ()),
    ],
)
@pytest.mark.parametrize("configured", [True, False])
def test_an_extension_holds_for_every_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    options: tuple[str, ...],
    configured: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    path = model(tmp_path)
    assert said(command, str(path), *options)[0] == 1
    if configured:
        (tmp_path / "irshape.toml").write_text('extensions = ["Scaled@extension"]')
    else:
        options = ("--extension", "Scaled", *options)
    assert said(command, str(path), *options)[0] == 0


def test_diff_compares_the_attributes_of_layers_that_are_known_by_name(tmp_path: Path) -> None:
    paths = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        paths.append(str(model(folder, data=f'by="{name}"')))
    status, output = said("diff", "--extension", "Scaled", *paths)
    assert (status, "attribute by: a → b" in output) == (1, True)


def test_a_graph_holds_layers_that_are_known_by_name(tmp_path: Path) -> None:
    path = model(tmp_path, data='scale="2"')
    with pytest.raises(irshape.LoadError):
        irshape.Graph.load(path)
    irshape.register("Scaled@extension")
    graph = irshape.Graph.load(path)
    with pytest.raises(irshape.GraphError, match="known only by name"):
        graph.add("Scaled", graph.tensor("x"), opset="extension")
    with pytest.raises(irshape.GraphError, match="known only by name"):
        graph["s"].set(scale=3)
    assert graph["s"].attributes == {"scale": "2"}
    graph.reshape({"x": "[?,3]"})
    assert str(graph["s"].outputs[0].shape) == "[2,3]"
    graph.save(tmp_path / "copy.xml")
    assert 'type="Scaled" version="extension"' in (tmp_path / "copy.xml").read_text()


def test_declared_sizes_hold_for_declared_inputs_only(tmp_path: Path) -> None:
    path = model(tmp_path)
    dims = '<port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>'
    path.write_text(path.read_text().replace('<port id="0"/>', dims, 1))
    arguments = "infer", "--extension", "Scaled", str(path)
    assert "[2,3]" in said(*arguments)[1].splitlines()[-1]
    status, output = said(*arguments, "--shape", "[4,3]")
    assert (status, "[?,?]" in output.splitlines()[-1]) == (0, True)


def onnx_model(
    folder: Path, taken: tuple[str, ...] = ("x",), imported: str = "com.acme", **attributes: Any
) -> Path:
    onnx = pytest.importorskip("onnx")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node("Scaled", taken, ["k"], domain="com.acme", **attributes),
        helper.make_node("Relu", ["k"], ["y"]),
    ]
    ends = [[helper.make_tensor_value_info(name, floats, [2, 3])] for name in "xy"]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(imported, 1)]
    graph = helper.make_graph(nodes, "g", *ends)
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)
    return path


def test_an_operation_of_an_onnx_domain_is_known_by_name(tmp_path: Path) -> None:
    path = onnx_model(tmp_path, factor=3.0)
    status, output = said("validate", str(path))
    advice = ('custom_version = "com.acme"', "--extension Scaled@com.acme")
    assert (status, [text in output for text in advice]) == (1, [True, True])
    assert said("validate", "--extension", "Scaled@com.acme", str(path))[0] == 0
    out = str(tmp_path / "m.xml")
    assert said("convert", "--extension", "Scaled@com.acme", str(path), "-o", out)[0] == 0
    assert '<data factor="3.0" />' in Path(out).read_text()


def onnx_plugin(folder: Path, *changes: tuple[str, str]) -> str:
    text = PLUGIN.format(name="Scaled")
    for old, new in (("data = ", 'custom_version = "com.acme"\n    data = '), *changes):
        text = text.replace(old, new)
    (folder / "my_ops.py").write_text(text)
    return str(folder / "my_ops.py")


def test_an_operation_of_an_onnx_domain_is_declared_by_a_plugin(tmp_path: Path) -> None:
    plugin = onnx_plugin(tmp_path)
    path = onnx_model(tmp_path, factor=3.0)
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    given = ("-i", str(tmp_path / "x.npy"), "-d", str(tmp_path / "out"), str(path))
    assert said("run", "--plugin", plugin, *given)[0] == 0
    (result,) = (tmp_path / "out").iterdir()
    assert np.load(result).tolist() == [[3.0] * 3] * 2
    for device in ("onnxruntime", "reference"):
        compared = said("crosscheck", "--plugin", plugin, "--device", device, str(path))[1]
        assert "values:           1 output, 1 equal" in compared
        assert f"{device} runs" in compared


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"factor": 3.0}, []),
        ({}, ["IR303"]),
        ({"factor": "much"}, ["IR304"]),
        ({"factor": [1.0, 2.0]}, ["IR304"]),
        ({"factr": 3.0}, ["IR302"]),
        ({"colour": 3, "factor": 3.0}, ["IR301"]),
        ({"factor": 11.0}, ["IR401"]),
        ({"factor": 3.0, "taken": ("absent",)}, ["IR110"]),
        ({"factor": 3.0, "imported": "com.other"}, ["IR603"]),
        ({"factor": 3.0, "taken": ("", "x")}, ["IR402"]),
    ],
)
def test_a_node_is_judged_by_the_plugin_that_declares_it(
    attributes: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    plugin = onnx_plugin(
        tmp_path,
        ("REAL, Operation", "REAL, Operation, require"),
        ("FLOAT, default=2.0", "FLOAT"),
        ("return Tensor", 'require(self.factor < 9, "large"); return Tensor'),
    )
    output = said("validate", "--plugin", plugin, str(onnx_model(tmp_path, **attributes)))[1]
    assert re.findall(r"(?:error|warning).(IR\d+)", output) == expected
    assert "irshape fix" not in output
    assert "OpenVINO ignores" not in output


def test_a_plugin_and_an_extension_for_one_operation_agree(tmp_path: Path) -> None:
    plugin = tmp_path / "my_ops.py"
    plugin.write_text(PLUGIN.format(name="Scaled"))
    path = str(model(tmp_path))
    assert said("validate", "--plugin", str(plugin), "--extension", "Scaled", path)[0] == 0
    assert said("infer", "--plugin", str(plugin), "--extension", "Scaled@extension", path)[0] == 0


def test_an_operation_that_ends_python_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IRSHAPE_DEBUG", raising=False)

    @irshape.register
    class Scaled(Operation):
        """Ends Python."""

        data = operand(REAL)

        def infer(self, data: Tensor) -> Tensor:
            raise SystemExit(0)

    status, output = said("validate", str(model(tmp_path)))
    assert (status, "IR011" in output) == (1, True)
