"""The names of `import irshape`: what they take, what they return, what importing costs."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from ir import Net

import irshape

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FUNCTIONS = [name for name in irshape.__all__ if inspect.isfunction(getattr(irshape, name))]
CLASSES = [name for name in irshape.__all__ if inspect.isclass(getattr(irshape, name))]
FOREIGN = {
    "IO",
    "_Declared",
    "Callable",
    "Collection",
    "Executor",
    "Iterable",
    "Literal",
    "Mapping",
    "PathLike",
    "Sequence",
    "os",
}
"""The names in annotations of the standard library, and type variables."""


# Names


def imported_for_type_checkers() -> set[str]:
    """The names that a type checker sees in the module beside its functions."""
    tree = ast.parse(Path(irshape.__file__).read_text())
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    )
    names: set[str] = set()
    for node in block.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            assert all(alias.asname == alias.name for alias in node.names), "not exported"
            names |= {alias.name for alias in node.names}
    return names


@pytest.mark.parametrize("name", ["irshape.ops.Operation", "irshape.rules.Rule"])
def test_plugins_reach_their_base_classes_by_one_import(name: str) -> None:
    subprocess.run([sys.executable, "-c", f"import irshape; {name}"], check=True)


def test_a_type_checker_sees_the_names_that_are_exported() -> None:
    functions = {*FUNCTIONS, "__version__"}
    assert imported_for_type_checkers() | functions == set(irshape.__all__)
    assert irshape.__all__ == sorted(set(irshape.__all__))


def test_every_name_can_be_had() -> None:
    namespace: dict[str, object] = {}
    exec("from irshape import *", namespace)
    assert set(irshape.__all__) <= namespace.keys()
    assert set(irshape.__all__) <= set(dir(irshape))
    with pytest.raises(AttributeError, match="no attribute 'valdate'"):
        irshape.valdate  # noqa: B018


def test_importing_costs_nothing() -> None:
    code = "import sys, irshape; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert [name for name in loaded if name.startswith("irshape")] == ["irshape", "irshape.version"]
    assert not {"numpy", "lxml", "click", "ml_dtypes", "openvino", "json"} & set(loaded)


@pytest.mark.parametrize("name", ["load", "validate", "infer", "inspect", "requires", "fix"])
def test_a_static_function_imports_no_numpy(name: str) -> None:
    code = f"import sys, irshape; irshape.{name}({str(EXAMPLES / 'recurrent.xml')!r})"
    code += "; print({'numpy', 'lxml', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_documented_and_annotated(name: str) -> None:
    function = getattr(irshape, name)
    assert inspect.getdoc(function)
    signature = inspect.signature(function)
    annotations = [parameter.annotation for parameter in signature.parameters.values()]
    annotations.append(signature.return_annotation)
    assert inspect.Signature.empty not in annotations
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    texts = [re.sub("'[a-z]+'|\"[a-z]+\"", "", annotation) for annotation in annotations]
    mentioned = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
    raised = set(re.findall(r"`([A-Za-z]+Error)`", inspect.getdoc(function) or ""))
    known = {*irshape.__all__, *dir(builtins), *FOREIGN}
    assert mentioned | raised <= known
    for parameter in signature.parameters:
        assert re.search(rf"\b{parameter}\b", function.__doc__), parameter


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_documented_and_annotated(name: str) -> None:
    declared = getattr(irshape, name)
    documentation = inspect.getdoc(declared) or ""
    assert documentation
    assert not documentation.startswith(f"{name}(")  # what NamedTuple writes by itself
    for attribute, value in vars(declared).items():
        if not attribute.startswith("_") and inspect.isfunction(value):
            assert "return" in value.__annotations__, attribute
    assert [member for member in dir(declared) if undocumented(declared, member)] == []


def undocumented(declared: type, member: str) -> bool:
    """Whether a public method or property of ours has no text."""
    value = inspect.getattr_static(declared, member)
    function = getattr(value, "fget", None) or getattr(value, "__func__", value)
    ours = inspect.isfunction(function) and function.__module__.startswith("irshape")
    return ours and not member.startswith("_") and not inspect.getdoc(function)


# What they take


@pytest.mark.parametrize(
    ("function", "more"),
    [
        (irshape.validate, ()),
        (irshape.infer, ()),
        (irshape.inspect, ()),
        (irshape.requires, ()),
        (irshape.run, ([np.ones(2, np.float32)],)),
        (irshape.crosscheck, ()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_path_a_text_and_a_model_give_the_same(
    function: Callable[..., Any], more: tuple[Any, ...], tmp_path: Path
) -> None:
    path = scaled(tmp_path, 2)

    def told(model: Any) -> str:
        answer = function(model, *more)
        return repr(answer.to_dict() if hasattr(answer, "to_dict") else answer)

    assert told(path) == told(str(path)) == told(irshape.load(path))


def test_two_paths_are_compared(tmp_path: Path) -> None:
    first, second = scaled(tmp_path / "a", 2), scaled(tmp_path / "b", 3)
    comparison = irshape.compare(str(first), irshape.load(second), seed=3, rtol=1.0)
    assert comparison.blamed is None
    assert irshape.compare(first, second, seed=3).blamed is not None


def test_a_path_is_saved_as_it_was_inferred(tmp_path: Path) -> None:
    path = scaled(tmp_path, 2)
    inference = irshape.infer(path, shapes={"x": "[5,2]"})
    irshape.save(path, tmp_path / "out.xml", inference=inference)
    saved = irshape.infer(tmp_path / "out.xml").outputs("2")[0]
    assert str(saved.shape) == "[5,2]"


@pytest.mark.parametrize("name", ["infer", "run", "requires", "crosscheck", "load"])
def test_a_path_without_a_model_raises(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text("<net")
    with pytest.raises(irshape.LoadError, match=r"m\.xml:1:1: error\[IR001\]") as error:
        getattr(irshape, name)(path)
    assert error.value.diagnostics
    with pytest.raises(FileNotFoundError):
        getattr(irshape, name)(tmp_path / "gone.xml")


def test_what_a_caller_gets_wrong_is_caught_by_an_exported_name(tmp_path: Path) -> None:
    path = scaled(tmp_path, 2)
    with pytest.raises(irshape.ExecutionError, match="'y'"):
        irshape.run(path, {"y": np.ones(2, np.float32)})
    with pytest.raises(irshape.ConfigurationError, match="IR999"):
        irshape.validate(path, also=["IR999"])


class Given(NamedTuple):
    """A call of a newcomer with the path of a model, and the exception that it raises."""

    call: Callable[[Path], object]
    raises: type[Exception]
    says: str


def ready(path: Path, **more: Any) -> irshape.Inference:
    return irshape.infer(path, **more)


MISTAKES = {
    "bytes for a path": Given(
        lambda path: irshape.load(str(path).encode()), TypeError, "path of a model, got bytes"
    ),
    "a text for its path": Given(
        lambda path: irshape.load(path.read_text()), OSError, "is the text of a model"
    ),
    "a model to load": Given(
        lambda path: irshape.load(irshape.load(path)), TypeError, "path of a model, got Model"
    ),
    "no .bin by None": Given(
        lambda path: irshape.load(path, weights=None), TypeError, "weights must be a path, 'beside'"
    ),
    "a model to fix": Given(
        lambda path: irshape.fix(irshape.load(path)), TypeError, "path of a model, got Model"
    ),
    "nothing to validate": Given(
        lambda path: irshape.validate(None), TypeError, "a Model or a Graph, got NoneType"
    ),
    "bytes to validate": Given(
        lambda path: irshape.validate(path.read_bytes()), TypeError, "or a Graph, got bytes"
    ),
    "nothing among several": Given(
        lambda path: irshape.validate([path, None]), TypeError, "a Model or a Graph, got NoneType"
    ),
    "several to infer": Given(lambda path: irshape.infer([path]), TypeError, "a Graph, got list"),
    "a session of a path": Given(
        irshape.Session, TypeError, "or a Graph, got PosixPath: irshape.load("
    ),
    "a graph of a path": Given(
        lambda path: irshape.Graph(str(path)), TypeError, "expected a Model, got str: Graph.load("
    ),
    "a merge of paths": Given(
        lambda path: irshape.merge(path, path, {}),
        TypeError,
        "expected a Graph, got PosixPath",
    ),
    "a pattern that is a type": Given(
        lambda path: irshape.Graph.load(path).match("ReLU"), TypeError, "Pattern().add('ReLU')"
    ),
    "a layer by its place": Given(lambda path: irshape.Graph.load(path)[0], TypeError, "as text"),
    "shapes in a row": Given(lambda path: ready(path, shapes=[[2]]), TypeError, "as in {'x'"),
    "shapes in a row, of a graph": Given(
        lambda path: irshape.Graph.load(path).reshape([[2]]), TypeError, "as in {'x': '[1,3]'}"
    ),
    "names in a row": Given(
        lambda path: irshape.Graph.load(path).rename(["x", "y"]), TypeError, "from old to new names"
    ),
    "a size that is a real": Given(
        lambda path: ready(path, shapes={"x": [2.0]}), TypeError, "2.0 is not a dimension"
    ),
    "a size that is a truth value": Given(
        lambda path: ready(path, shapes={"x": [True]}), TypeError, "True is not a dimension"
    ),
    "a size that is a list": Given(
        lambda path: ready(path, shapes={"x": [[2]]}), TypeError, "[2] is not a dimension"
    ),
    "a tolerance that is NaN": Given(
        lambda path: irshape.compare(path, path, rtol=float("nan")), ValueError, "rtol: expected a"
    ),
    "a mean beyond all floats": Given(
        lambda path: irshape.Graph.load(path).preprocess("x", mean=10**400),
        ValueError,
        "is not finite",
    ),
    "a tolerance below 0": Given(
        lambda path: irshape.crosscheck(path, atol=-1), ValueError, "atol: expected a finite number"
    ),
    "a limit as a text": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(max_errors="1")),
        ValueError,
        "max_errors: expected a whole number",
    ),
    "a release that does not exist": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(target=(2024, 60))),
        ValueError,
        "'2024.60'",
    ),
    "an extension without a version": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(extensions=("Foo@",))),
        ValueError,
        "'Foo@' is not an extension",
    ),
    "ignores of no rule": Given(
        lambda path: irshape.validate(
            path, config=irshape.Configuration(per_file_ignores=(("a/**", ("XX",)),))
        ),
        ValueError,
        "there is no rule 'XX'",
    ),
    "a layer by its name": Given(
        lambda path: ready(path).outputs("scale"), KeyError, "the id 'scale'"
    ),
    "an id that is a number": Given(
        lambda path: ready(path).outputs(2),
        KeyError,
        "2 is neither a layer",
    ),
    "a size that is a text": Given(
        lambda path: ready(path, shapes={"x": "[n]"}, symbols=True).evaluate({"n": "2"}),
        TypeError,
        "a whole number, got '2'",
    ),
    "outputs by name": Given(
        lambda path: irshape.run(path, [np.ones(2, np.float32)], outputs="scale"),
        ValueError,
        "'all', got 'scale'",
    ),
    "an array of another type": Given(
        lambda path: irshape.run(path, [np.ones(2)]),
        irshape.ExecutionError,
        "convert it with .astype('float32')",
    ),
    "no constant": Given(
        lambda path: (model := irshape.load(path)).constant(model.layers[0]),
        ValueError,
        "not a Const",
    ),
    "a type of NumPy": Given(
        lambda path: irshape.ElementType.of(np.float32), ValueError, "a name such as f32 or i64"
    ),
    "a release as a number": Given(
        lambda path: irshape.requires(path).reads(2024.1), ValueError, "write it as '2023.3'"
    ),
    "an IR under another name": Given(
        lambda path: irshape.save(path, path.with_suffix(".onnx")), ValueError, "ends in .xml"
    ),
    "settings in a table": Given(
        lambda path: irshape.validate(path, config={"ignore": ["IR3"]}),
        TypeError,
        "path of a file, got dict",
    ),
    "a selector among none": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(ignore="IR301")),
        irshape.ConfigurationError,
        "ignore: expected a list of strings, got 'IR301'",
    ),
    "ignores without selectors": Given(
        lambda path: irshape.validate(
            path, config=irshape.Configuration(per_file_ignores=("legacy/**",))
        ),
        irshape.ConfigurationError,
        "per_file_ignores: ",
    ),
    "a release as a text": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(target="2024.6")),
        irshape.ConfigurationError,
        "target: expected a release",
    ),
    "a policy in a table": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(policies=({},))),
        irshape.ConfigurationError,
        "policies: expected a list",
    ),
    "connections in a list": Given(
        lambda path: irshape.merge(irshape.Graph.load(path), irshape.Graph.load(path), ["x"]),
        TypeError,
        "as in {'out': 'in'}, got list",
    ),
    "a level that is none": Given(
        lambda path: irshape.validate(path, config=irshape.Configuration(fail_level="warn")),
        irshape.ConfigurationError,
        "got 'warn'",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name: str, tmp_path: Path) -> None:
    row = MISTAKES[name]
    with pytest.raises(row.raises, match=re.escape(row.says)):
        row.call(scaled(tmp_path, 2))


def test_a_name_given_for_a_tensor_is_noticed(tmp_path: Path) -> None:
    graph = irshape.Graph.load(scaled(tmp_path, 2))
    with pytest.raises(irshape.GraphError) as refused:
        graph.add("ReLU", "scale")
    assert any("'scale' is a text" in note for note in refused.value.__notes__)


@pytest.mark.parametrize(
    "shape", [np.array([2]), [np.int64(2)], (np.uint8(2),), irshape.PartialShape("[2]"), "[2]"]
)
def test_sizes_may_be_those_of_numpy(shape: Any, tmp_path: Path) -> None:
    path = scaled(tmp_path, 2)
    assert str(irshape.infer(path, shapes={"x": shape}).outputs("2")[0].shape) == "[2]"
    graph = irshape.Graph.load(path)
    graph.reshape({"x": shape})
    assert str(graph.tensor("scale").shape) == "[2]"


@pytest.mark.parametrize("text", ["[1,?,2..5]", "[...]", "[]", "3,..4"])
def test_a_shape_of_a_text_is_what_the_text_says(text: str) -> None:
    assert irshape.PartialShape(text) == irshape.PartialShape.parse(text)


def test_a_text_alone_is_one_of_several(tmp_path: Path) -> None:
    path = scaled(tmp_path, 2)
    assert irshape.validate(path, also="IR701").ok
    assert irshape.diff(path, path, also="names", ignore="constants").equal
    named = irshape.infer(path, shapes={"x": "[n]"}, assume="n % 2 == 0")
    assert [str(each) for each in named.constraints]
    part = irshape.Graph.load(path).extract(inputs="x", outputs="scale")
    assert [len(part.inputs), len(part.outputs)] == [1, 1]


# Releases


@pytest.mark.parametrize(
    ("version", "release", "read", "refused"),
    [
        ("opset1", "2022.1", ["2022.1", "2022.1.1", "2024.0", "2026.4"], ["2021.4", "2020.1"]),
        ("mine", "2022.1", [], ["2022.1", "2026.4"]),
    ],
)
def test_requires(
    version: str, release: str, read: list[str], refused: list[str], tmp_path: Path
) -> None:
    net = Net()
    kind = "Sigmoid" if version == "opset1" else "MyOwn"
    net.result(net.layer(kind, [net.parameter("2", name="x")], version=version, name="act"))
    path = net.save(tmp_path)
    answer = irshape.requires(path)
    assert answer.release == release
    assert [answer.reads(release) for release in read] == [True] * len(read)
    assert [answer.reads(release) for release in refused] == [False] * len(refused)
    assert str(answer) == f"{path}: OpenVINO {release} or newer"
    assert answer.to_dict()["requires"] == release
    with pytest.raises(ValueError, match=r"2030\.1"):
        answer.reads("2030.1")


# Text


def scaled(folder: Path, factor: float) -> Path:
    """A model that multiplies its input by a constant."""
    net = Net()
    x = net.parameter("2", name="x")
    net.result(net.layer("Multiply", [x, net.constant([factor] * 2, "f32")], name="scale"))
    folder.mkdir(exist_ok=True)
    return net.save(folder)


def test_a_report_is_readable(tmp_path: Path) -> None:
    path = str(EXAMPLES / "layers" / "wrong" / "duplicate_axes.xml")
    report = irshape.validate(path)
    (diagnostic,) = report.diagnostics
    assert str(diagnostic).startswith("10:9: error[IR407] ReduceMean (id 1): `axes` [2,2]")
    assert str(report) == f"{path}:{diagnostic}\n1 file, 1 error, 0 warnings, 0 infos"
    malformed = tmp_path / "m.xml"
    malformed.write_text("<net")
    (diagnostic,) = irshape.validate(malformed).diagnostics
    assert str(diagnostic) == f"1:1: error[IR001] {diagnostic.message}"


def test_comparisons_are_readable(tmp_path: Path) -> None:
    first, second = scaled(tmp_path / "a", 2), scaled(tmp_path / "b", 3)
    crosscheck = str(irshape.crosscheck(irshape.load(first)))
    assert crosscheck.startswith(f"{first} on CPU, OpenVINO 20")
    assert crosscheck.endswith(" 0 of other values")
    lines = str(irshape.compare(irshape.load(first), irshape.load(second))).splitlines()
    assert lines[0].startswith(f"{first} and {second}: ")
    assert lines[1].startswith("to blame: Multiply 'scale' (id ")
    lines = str(irshape.compare(first, second, rtol=1.0)).splitlines()
    assert lines[0].endswith(" equal within the tolerance given")
    assert "largest error" in lines[1]


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (irshape.validate, "<Report: 1 file, 0 errors, 0 warnings, 1 info>"),
        (irshape.requires, "<Requirements: PATH: OpenVINO 2022.1 or newer>"),
        (irshape.fix, "<Fixes: PATH: 0 fixed, 1 left>"),
        (
            lambda path: irshape.compare(path, path),
            "<ModelComparison: PATH and PATH: 1 tensor matched",
        ),
        (irshape.crosscheck, "<Comparison: PATH on CPU, OpenVINO 20"),
        (irshape.infer, "<Inference of 4 layers, PATH>"),
        (irshape.load, "<Model 'm' of 4 layers, PATH>"),
        (irshape.Graph.load, "<Graph 'm' of 4 layers>"),
    ],
)
def test_a_result_at_the_prompt_says_what_it_is(
    function: Callable[[Path], object], shown: str, tmp_path: Path
) -> None:
    path = scaled(tmp_path, 2)
    assert repr(function(path)).replace(str(path), "PATH").startswith(shown)


def test_what_is_kept_is_readable(tmp_path: Path) -> None:
    path = scaled(tmp_path, 2)
    model = irshape.load(path)
    assert str(irshape.Session(model)) == f"<Session of {model!r}>"
    (constant,) = (model.constant(layer) for layer in model.layers if layer.is_constant)
    assert f"weights=<Weights {path.with_suffix('.bin')}, ready>" in str(constant)
    broken = tmp_path / "broken.xml"
    broken.write_bytes(path.read_bytes().replace(b"<dim>2</dim>", b"<dim>3</dim>", 2))
    fixes = irshape.fix(broken)
    assert str(fixes).splitlines()[0] == (
        f"{broken}: {len(fixes.fixed)} fixed, {len(fixes.remaining)} left"
    )
    assert fixes.diff().strip() in str(fixes)
