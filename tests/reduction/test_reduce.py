"""`irshape.reduce` and `irshape reduce`: the smallest model that still has a property."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import irshape
from irshape import Graph, Model
from irshape.cli import cli
from irshape.execution.inputs import random_inputs
from irshape.model.graph import Body
from irshape.model.wiring import OutputRef, Wiring, wire

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def types(model: Model) -> list[str]:
    plain = ("parameter", "const", "result")
    return sorted(layer.type for layer in model.walk() if layer.folded_type not in plain)


def errors(model: Path | Model) -> set[str]:
    """The codes of all errors, those that stand under another finding included."""
    return {
        code
        for each in irshape.validate(model).diagnostics
        for code, severity in (
            (each.code, each.severity),
            *((under["code"], under["severity"]) for under in each.related),
        )
        if severity == "error"
    }


def feeds(model: Model, first: str, second: str) -> bool:
    """Whether a layer of one type feeds one of another."""
    return any(
        layer.type == second
        and any(each is not None and body.layers[each[0]].type == first for each in row)
        for body in model.net.all_bodies()
        for layer, row in zip(body.layers, wire(body).sources, strict=True)
    )


def residual(model: Model) -> bool:
    """An Add that joins a tensor and what other layers make of it."""
    for body in model.net.all_bodies():
        wiring = wire(body)
        for layer, row in zip(body.layers, wiring.sources, strict=True):
            if layer.type == "Add" and None not in row:
                pairs = (row, row[::-1])
                if any(made_of(body, wiring, other[0], one) for one, other in pairs):
                    return True
    return False


def made_of(body: Body, wiring: Wiring, position: int, tensor: OutputRef) -> bool:
    """Whether a layer depends on a tensor that is no constant."""
    layers = (position, *wiring.upstream(position))
    used = any(tensor in wiring.sources[at] for at in layers)
    return used and not body.layers[tensor[0]].is_constant


def has_nan(model: Model) -> bool:
    """Whether an output is NaN for random inputs."""
    outputs = irshape.run(model, random_inputs(model)).values()
    return any(np.isnan(each).any() for each in outputs if each.dtype.kind == "f")


def has(*wanted: str) -> Callable[[Model], bool]:
    return lambda model: set(wanted) <= {layer.type for layer in model.walk()}


class Case(NamedTuple):
    model: str
    predicate: Callable[[Model], bool]
    left: list[str]
    """The types of the layers that are left besides Parameters, Constants and Results."""


PROPERTIES = {
    "one layer": Case("encoder", has("Gelu"), ["Gelu"]),
    "two layers far apart": Case("classifier", has("MaxPool", "SoftMax"), ["MaxPool", "SoftMax"]),
    "one feeds the other": Case(
        "decoder", lambda model: feeds(model, "Reshape", "Transpose"), ["Reshape", "Transpose"]
    ),
    "a layer whose sizes are values": Case("ir_v10", has("StridedSlice"), ["StridedSlice"]),
    "a residual connection": Case("encoder", residual, ["Add", "MatMul"]),
    "a whole Loop": Case(
        "control_flow", has("Loop"), ["Abs", "Greater", "Loop", "Multiply", "ReduceMax"]
    ),
    "a layer inside a body": Case("recurrent", has("LSTMCell"), ["LSTMCell"]),
    "a variable": Case("decoder", has("ReadValue", "Assign"), ["Assign", "ReadValue"]),
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_is_reduced_to_what_has_it(name: str, tmp_path: Path) -> None:
    case = PROPERTIES[name]
    reduction = irshape.reduce(EXAMPLES / f"{case.model}.xml", case.predicate)
    reduction.save(tmp_path / "small.xml")
    report = irshape.validate(tmp_path / "small.xml")
    assert (case.predicate(reduction.model), report.ok) == (True, True)
    assert types(reduction.model) == case.left


def test_the_result_does_not_depend_on_jobs() -> None:
    alone, together = (
        irshape.reduce(EXAMPLES / "encoder.xml", has("MVN", "Gelu"), jobs=jobs) for jobs in (1, 3)
    )
    assert alone.model.source.data == together.model.source.data


@pytest.mark.parametrize("limit", [{"max_tries": 5}, {"max_time": 1e-9}])
def test_a_limit_ends_the_search(limit: dict[str, float]) -> None:
    reduction = irshape.reduce(EXAMPLES / "encoder.xml", has("Gelu"), **limit)
    assert reduction.stopped == next(iter(limit)).removeprefix("max_")
    assert reduction.tries <= 5
    assert has("Gelu")(reduction.model)


def test_a_model_without_the_property_is_refused() -> None:
    with pytest.raises(ValueError, match="no longer has the property"):
        irshape.reduce(EXAMPLES / "encoder.xml", lambda model: False)


def test_sizes_and_values_become_small() -> None:
    graph = Graph(name="large")
    x = graph.parameter("f32", "[?,64,32,32]", name="x")
    weights = np.arange(128 * 64 * 9, dtype=np.float32).reshape(128, 64, 3, 3)
    graph.result(
        graph.add(
            "Convolution",
            x,
            weights,
            strides=[2, 2],
            pads_begin=[1, 1],
            pads_end=[1, 1],
            dilations=[1, 1],
        )
    )
    reduction = irshape.reduce(graph, has("Convolution"))
    shapes = [layer.attribute("shape") for layer in reduction.model.layers if not layer.is_result]
    assert shapes[:2] == ["1,1,1,1", "1, 1, 1, 1"]
    (constant,) = (layer for layer in reduction.model.layers if layer.is_constant)
    assert reduction.model.constant(constant).array().tolist() == [[[[0]]]]


def test_the_element_that_matters_stays() -> None:
    graph = Graph(name="outlier")
    x = graph.parameter("f32", "[4,16]", name="x")
    weights = np.ones((16, 8), np.float32)
    weights[11, 5] = np.nan
    graph.result(graph.add("Tanh", graph.add("MatMul", x, weights)))
    reduction = irshape.reduce(graph, has_nan)
    assert types(reduction.model) in (["MatMul"], [])
    (constant,) = (layer for layer in reduction.model.layers if layer.is_constant)
    assert np.isnan(reduction.model.constant(constant).array()).any()
    assert reduction.model.constant(constant).size == 4


# faults of which the model itself is unsound


class Broken(NamedTuple):
    pattern: str
    """What is replaced in the text of the encoder."""
    replacement: str
    left: str
    """The type of the layer that is left."""


BROKEN = {
    "an unknown type": Broken(r'type="Gelu"', 'type="Gellu"', "Gellu"),
    "an edge from nowhere": Broken(
        r'(<edge )from-layer="\d+"( from-port="\d+" to-layer="30")',
        r'\1from-layer="9999"\2',
        "ShapeOf",
    ),
    "an input port of another size": Broken(
        r'(?s)(<layer id="30".*?<dim>)32', r"\g<1>33", "ShapeOf"
    ),
    "an output port of another size": Broken(
        r'(?s)(<layer id="30".*?<output>.*?<dim>)3<', r"\g<1>4<", "ShapeOf"
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_unsound_model_breaks_no_other_rule(name: str, tmp_path: Path) -> None:
    broken = BROKEN[name]
    text = (EXAMPLES / "encoder.xml").read_text()
    text, count = re.subn(broken.pattern, broken.replacement, text, count=1)
    assert count == 1
    path = tmp_path / "broken.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes((EXAMPLES / "encoder.bin").read_bytes())
    codes = errors(path)
    assert codes
    reduction = irshape.reduce(path, lambda model: codes <= errors(model))
    reduction.save(tmp_path / "small.xml")
    assert errors(tmp_path / "small.xml") == codes
    assert types(reduction.model) == [broken.left]


UNWRITABLE = {
    "a dimension that is no number": (r'(?s)(<layer id="30".*?<output>.*?<dim>)3<', r"\g<1>3x<"),
    "a layer without a type": (r'(<layer id="30" name="[^"]*") type="\w+"', r"\1"),
    "an edge to nowhere": (r'(<edge from-layer="\d+" from-port="\d+" to-layer=")30"', r'\g<1>99"'),
}
"""Faults that irshape does not write: written anew, the model would break another rule."""


def unwritable(name: str, folder: Path) -> Path:
    """The encoder with such a fault at layer 30."""
    text, count = re.subn(*UNWRITABLE[name], (EXAMPLES / "encoder.xml").read_text(), count=1)
    assert count == 1
    path = folder / "broken.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes((EXAMPLES / "encoder.bin").read_bytes())
    return path


@pytest.mark.parametrize("name", UNWRITABLE)
def test_a_fault_that_is_not_written_gives_way_to_no_other(name: str, tmp_path: Path) -> None:
    path = unwritable(name, tmp_path)
    seen: list[set[str]] = []
    reduction = irshape.reduce(
        path, has("Gelu"), progress=lambda progress: seen.append(errors(progress.model))
    )
    assert types(reduction.model) == ["Gelu"]
    assert seen
    assert all(codes <= errors(path) for codes in [*seen, errors(reduction.model)])


def test_a_model_that_cannot_be_reduced_without_another_fault_is_refused(tmp_path: Path) -> None:
    path = unwritable("a layer without a type", tmp_path)
    with pytest.raises(ValueError, match=r"\(unknown-type\)"):
        irshape.reduce(path, lambda model: not all(layer.type for layer in model.layers))


# the command


def reduced(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "irshape", "reduce", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


PROGRAM = "import re, sys; text = open(sys.argv[1]).read()\n"


class Usage(NamedTuple):
    options: list[str]
    program: str
    """The end of a Python program that is given the path of a model, whose text is `text`."""
    status: int
    says: str


USAGES = {
    "the same exit status": Usage(
        [], "sys.exit(7 if 'type=\"Gelu\"' in text else 0)", 0, "1 layer"
    ),
    "a signal": Usage(
        [], "import os; 'type=\"Gelu\"' in text and os.kill(os.getpid(), 11)", 0, "1 layer of"
    ),
    "an exit status that is given": Usage(
        ["--status", "0"], "sys.exit(0 if 'type=\"Gelu\"' in text else 1)", 0, "(Gelu)"
    ),
    "output that is given": Usage(
        ["--contains", r"layer \d+: MVN"],
        "n = text.count('\"MVN\"'); print(f'layer {n}: MVN' if n else ''); sys.exit(1)",
        0,
        "(MVN)",
    ),
    "a hang": Usage(
        ["--timeout", "3", "--max-tries", "4"],
        "import time; 'type=\"MVN\"' in text and 'type=\"Gelu\"' in text and time.sleep(60)",
        0,
        "layers of",
    ),
    "a limit": Usage(["--max-tries", "2"], "sys.exit(1)", 0, "stopped by --max-tries"),
    "no failure": Usage([], "sys.exit(0)", 1, "the command succeeds"),
    "another failure": Usage(["--status", "3"], "sys.exit(2)", 1, "exit status 2, not 3"),
    "other output": Usage(["--contains", "IR201"], "sys.exit('out of memory')", 1, "out of memory"),
}


@pytest.mark.parametrize("name", USAGES)
def test_a_command_is_run_on_smaller_models(name: str, tmp_path: Path) -> None:
    usage = USAGES[name]
    words = [str(EXAMPLES / "encoder.xml"), *usage.options]
    done = reduced(*words, "--", sys.executable, "-c", PROGRAM + usage.program, folder=tmp_path)
    assert (done.returncode, done.stderr if usage.says not in done.stdout else usage.says) == (
        usage.status,
        usage.says if usage.says in done.stdout else done.stderr,
    )
    assert usage.says in done.stdout + done.stderr
    result = tmp_path / "encoder.reduced.xml"
    assert result.exists() == (usage.status == 0)
    if usage.status == 0:
        assert irshape.validate(result).ok
        assert result.with_suffix(".bin").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere.xml", "--", "true"], "nowhere.xml"),
        ([str(EXAMPLES / "encoder.xml"), "--", "no-such-program"], "cannot be run"),
        ([str(EXAMPLES / "encoder.xml"), "-o", "a.bin", "--", "false"], "end in .xml"),
        ([str(EXAMPLES / "encoder.xml"), "-o", "no/a.xml", "--", "false"], "no such folder"),
        ([str(EXAMPLES / "encoder.xml"), "--contains", "(", "--", "false"], "--contains '('"),
        ([str(EXAMPLES / "encoder.xml")], "COMMAND"),
        (
            [str(EXAMPLES / "encoder.xml"), "-o", str(EXAMPLES / "encoder.xml"), "--", "false"],
            "--overwrite",
        ),
    ],
)
def test_what_cannot_be_used_is_exit_status_2(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = reduced(*words, folder=tmp_path)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


def test_what_is_interrupted_leaves_the_best_so_far(tmp_path: Path) -> None:
    def interrupt(self: object, model: Model) -> bool:
        if len(model.layers) < 40:
            raise KeyboardInterrupt
        return True

    target = tmp_path / "best.xml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("irshape.reduction.command.CommandTest.__call__", interrupt)
        words = ["reduce", str(EXAMPLES / "encoder.xml"), "-o", str(target), "--", "false"]
        done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, (KeyboardInterrupt, SystemExit))
    assert (
        40 <= len(irshape.load(target).layers) < len(irshape.load(EXAMPLES / "encoder.xml").layers)
    )
