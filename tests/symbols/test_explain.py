"""Why a dimension is what it is, and what to bound."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from calling import said
from click.testing import CliRunner
from ir import Net

import irshape
from irshape import op
from irshape.cli import cli
from irshape.faults import Fault
from irshape.inference.reasons import Verdict
from irshape.shapes import UNBOUNDED

ROOT = Path(__file__).parents[2]
EXAMPLES, SCHEMA = ROOT / "examples", ROOT / "schemas" / "explain.schema.json"


def cache(folder: Path) -> irshape.Model:
    """A cache that grows: k = Concat(past [1,8,?,64], embedding of ids [1,?])."""
    net = Net()
    past = net.parameter("1,8,?,64", name="past")
    new = net.parameter("1,8,?,64", name="new")
    joined = net.layer("Concat", [past, new], 'axis="2"', outputs=["FP32"], name="k")
    doubled = net.layer("ReLU", [joined], name="doubled")
    found = net.layer(
        "NonZero", [doubled], 'output_type="i64"', version="opset3", outputs=["I64"], name="nonzero"
    )
    size = net.layer("ShapeOf", [new], 'output_type="i64"', version="opset3", outputs=["I64"])
    net.result(doubled, "out")
    net.result(found, "indices")
    net.result(size, "sizes")
    return net.load(folder)


@pytest.mark.parametrize(
    ("tensor", "axis", "expression", "verdict", "layers"),
    [
        ("out", 2, "p+n", "unbounded", ["k", "past", "new"]),
        ("out", -2, "p+n", "unbounded", ["k", "past", "new"]),
        ("out", 1, "8", "constant", ["past"]),
        ("past", 2, "p", "input", ["past"]),
        ("indices", 1, None, "data-dependent", ["nonzero"]),
        ("nonzero", 0, "4", "constant", ["nonzero"]),
    ],
)
def test_verdict_and_chain(
    tensor: str,
    axis: int,
    expression: str | None,
    verdict: Verdict,
    layers: list[str],
    tmp_path: Path,
) -> None:
    named = {"past": "[1,8,p,64]", "new": "[1,8,n,64]"}
    inference = irshape.infer(cache(tmp_path), shapes=named, symbols=True)
    (explanation,) = inference.explain(tensor, axis)
    said = None if explanation.expression is None else sorted(explanation.expression.split("+"))
    assert said == (None if expression is None else sorted(expression.split("+")))
    assert explanation.verdict == verdict
    assert [step.layer.name for step in explanation.chain] == layers
    assert all(step.line > 1 for step in explanation.chain)


def test_what_bounds_a_dimension_is_proven(tmp_path: Path) -> None:
    model = cache(tmp_path)
    (explanation,) = irshape.infer(model, symbols=True).explain("out", 2)
    assert explanation.bounded_if is not None
    shapes = explanation.bounded_if
    assert shapes == {"past": "[1,8,..128,64]", "new": "[1,8,..128,64]"}
    assert str(irshape.infer(model, shapes=shapes).outputs("3")[0].shape) == "[1,8,..256,64]"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("out:3", "; did you mean 'out'"),
        ("nothing", ".*outputs: out, indices, sizes"),
        ("99", ".*inputs: past, new"),
    ],
)
def test_unknown_tensors(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"'{name}'{hint}"):
        irshape.infer(cache(tmp_path), symbols=True).explain(name)


def test_unknown_axes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no axis 4"):
        irshape.infer(cache(tmp_path), symbols=True).explain("out", 4)


def unbounded(model: irshape.Model, shapes: Mapping[str, str]) -> tuple[int, set[str]]:
    """How many dimensions are unbounded with shapes of the inputs, and the layers that refuse."""
    inference = irshape.infer(model, shapes=shapes)
    count = sum(
        dim.high == UNBOUNDED
        for layer in model.walk()
        for tensor in inference.outputs(layer)
        for dim in tensor.shape.dims or ()
    )
    refusing = {
        each.layer.label for each in inference.observations if isinstance(each.subject, Fault)
    }
    return count, refusing


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.xml")))
def test_what_to_bind_is_right(name: str) -> None:
    """With the shapes that bind, only states and data stay unbounded; with one left out, more."""
    model = irshape.load(EXAMPLES / f"{name}.xml")
    inference = irshape.infer(model, symbols=True)
    overview = inference.overview()
    assert "lost" not in {group.verdict for group in overview.groups}
    bind = overview.bind or {}
    least, refused = unbounded(model, bind)
    for left_out in bind:
        shapes = {name: shape for name, shape in bind.items() if name != left_out}
        assert unbounded(model, shapes)[0] > least, f"{left_out} need not be bounded"
    assert (least == 0) == (not overview.unbounded)
    known = unbounded(model, {})[1]
    assert refused | unbounded(model, overview.fix or {})[1] <= known
    for end in ("low", "high"):
        ends = {
            name: str([getattr(dim, end) for dim in irshape.PartialShape.of(shape)])
            for name, shape in bind.items()
        }
        assert unbounded(model, ends)[1] <= known
    document = {**overview.to_dict(), "model": model.path}
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))


def test_sizes_of_zero_are_left_out_where_they_unbind() -> None:
    """Of no elements, a -1 could be any number of rows."""
    graph = irshape.Graph(name="heads")
    x = graph.parameter("f32", "[?,?,64]", name="x")
    sizes = op.shape_of(x)
    pattern = op.concat([sizes[:1], [-1], sizes[1:2], [16]], axis=0)
    graph.result(op.reshape(x, pattern), "y")
    model = graph.model()
    overview = irshape.infer(model, symbols=True).overview()
    assert overview.bind == {"x": "[1..8,1..128,64]"}
    assert unbounded(model, overview.bind)[0] == 0
    assert unbounded(model, {"x": "[..8,..128,64]"})[0] == 2


def test_a_layer_that_refuses_all_sizes_is_named() -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[1,3,?,8]", name="x")
    pools = [
        graph.add("MaxPool", x, strides=[stride, 1], kernel=[kernel, 1],
                  pads_begin=[pad, 0], pads_end=[pad, 0], opset=1)
        for kernel, stride, pad in ((1, 2, 0), (2, 1, 1))
    ]  # fmt: skip
    graph.result(graph.add("Concat", *pools, axis=1, name="joined"), "y")
    overview = irshape.infer(graph.model(), symbols=True).overview()
    assert overview.fix is None
    assert overview.refused.startswith("Concat 'joined' (line ")
    assert overview.refused in str(overview)


def test_the_fixed_shapes_make_everything_static_but_what_data_decides(tmp_path: Path) -> None:
    overview = irshape.infer(cache(tmp_path), symbols=True).overview()
    assert overview.fix is not None
    (left,) = overview.dynamic
    assert left.startswith("2 dimensions made by NonZero 'nonzero'")
    assert [group.verdict for group in overview.groups] == [
        "unbounded",
        "data-dependent",
        "input",
        "input",
    ]


def test_a_split_into_as_many_parts_as_a_size_says(tmp_path: Path) -> None:
    net = Net()
    x, n = net.parameter("?,?", name="x"), net.parameter("?", "i64", name="n")
    lengths = net.layer("Concat", [n, net.constant([-1])], 'axis="0"', outputs=["I64"])
    parts = [x, net.constant(0), lengths]
    net.result(net.layer("VariadicSplit", parts, outputs=["UNSPECIFIED", "FP32:-1,-1"]))
    overview = irshape.infer(net.load(tmp_path), symbols=True).overview()
    assert {group.verdict for group in overview.groups} == {"unbounded", "data-dependent", "input"}


@pytest.mark.parametrize(("count", "groups"), [(2, 2), (3, 3), (4, 1), (9, 1)])
def test_many_layers_of_one_type_are_one_cause(count: int, groups: int) -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[..7]", name="x")
    for at in range(count):
        found = graph.add("NonZero", x, output_type="i64", opset=3, name=f"found{at}")
        graph.result(found, f"y{at}")
    overview = irshape.infer(graph.model(), symbols=True).overview()
    causes = [each for each in overview.groups if each.verdict == "data-dependent"]
    assert (len(causes), sum(each.dimensions for each in causes)) == (groups, 2 * count)
    lines = str(overview).splitlines()
    assert sum(line.startswith("data-dependent: ") for line in lines) == groups
    assert sum(line.startswith("  except ") for line in lines) == groups
    folded = f"{count} NonZero layers"
    assert [folded in each.cause for each in causes] == [count > 3] * groups


def test_proposed_batches_are_not_empty() -> None:
    graph = irshape.Graph()
    graph.result(op.relu(graph.parameter("f32", "[?,?]", name="x")), "y")
    inference = irshape.infer(graph.model(), symbols=True)
    assert inference.overview().bind == {"x": "[1..8,..128]"}
    assert inference.explain("y", 1)[0].bounded_if == {"x": "[?,..128]"}
    assert inference.explain("y", 0)[0].bounded_if == {"x": "[1..8,?]"}


@pytest.mark.parametrize("name", ["encoder", "decoder"])
def test_the_command_of_the_overview_can_be_pasted(name: str, tmp_path: Path) -> None:
    """It writes the model with the shapes, in a folder whose name has a blank."""
    folder = tmp_path / "some models"
    folder.mkdir()
    for suffix in (".xml", ".bin"):
        (folder / f"m{suffix}").write_bytes((EXAMPLES / f"{name}{suffix}").read_bytes())
    _, text = said("explain", str(folder / "m.xml"))
    pasted = [each.partition(": ")[2] for each in text.splitlines() if ": irshape edit " in each]
    overview = irshape.infer(folder / "m.xml", symbols=True).overview()
    proposed = (overview.bind, overview.fix)
    for line, shapes in zip(pasted, proposed, strict=True):
        words = shlex.split(line)
        assert (words.pop(0), words.pop()) == ("irshape", "OUT.xml")
        done = CliRunner().invoke(cli, [*words, str(tmp_path / "out.xml")])
        assert done.exit_code == 0, done.output
        inputs = irshape.Graph.load(tmp_path / "out.xml").inputs
        assert {each.names[0]: each.shape for each in inputs} == {
            name: irshape.PartialShape.of(shape) for name, shape in (shapes or {}).items()
        }
    text = str(overview)
    assert ("to make all dimensions static: " in text) == (not overview.dynamic)
    piped = CliRunner().invoke(
        cli,
        ["explain", "-", "--weights", str(folder / "m.bin")],
        input=(folder / "m.xml").read_bytes(),
    )
    assert "irshape edit - --reshape" in piped.output


def test_command(tmp_path: Path) -> None:
    path = cache(tmp_path).path
    names = ["--shape", "past=[1,8,p,64]", "--shape", "new=[1,8,n,64]"]
    status, text = said("explain", path, "out", "--axis", "2", *names)
    assert status == 0
    assert text.splitlines()[0] == "out[2] = n + p, unbounded"
    assert "Concat 'k' axis 2 (line" in text
    assert "bounded if: --shape 'past=[1,8,..128,64]' --shape 'new=[1,8,..128,64]'" in text
    status, text = said("explain", path, "out", "--format", "json", *names)
    document = json.loads(text)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert [row["verdict"] for row in document["dimensions"]] == [
        "constant",
        "constant",
        "unbounded",
        "constant",
    ]
    status, text = said("explain", path, "--format", "json")
    assert json.loads(text)["bind"] == {"past": "[1,8,..128,64]", "new": "[1,8,..128,64]"}
    assert said("explain", path, "--format", "html")[1].startswith("<!DOCTYPE html>")
    assert said("explain", path, "nothing")[0] == 2
    assert said("explain", path, "--axis", "1")[0] == 2


def test_the_shapes_that_bound_a_dimension_can_be_pasted(tmp_path: Path) -> None:
    net = Net()
    halves = [net.parameter("?,2", name=name) for name in ("it's", "that's")]
    net.result(net.layer("Concat", halves, 'axis="0"', outputs=["FP32"], name="joined"), "y")
    _, text = said("explain", net.load(tmp_path).path, "joined", "--axis", "0")
    words = shlex.split(text.partition("bounded if: ")[2])
    assert words[::2] == ["--shape"] * 2
    assert [each.partition("=")[0] for each in words[1::2]] == ["it's", "that's"]


def test_a_dynamic_rank_leads_to_what_decides_it(tmp_path: Path) -> None:
    net = Net()
    x, axes = net.parameter("2,?", name="x"), net.parameter("?", "i64", name="axes")
    net.result(net.layer("Relu", [net.layer("Unsqueeze", [x, axes], name="longer")], name="y"))
    model = net.load(tmp_path)
    (explanation,) = irshape.infer(model, symbols=True).explain("y")
    assert (explanation.axis, explanation.dimension) == (None, None)
    assert explanation.verdict == "data-dependent"
    assert [step.layer.name for step in explanation.chain] == ["y", "longer"]
    assert "`axes`" in explanation.chain[-1].reason
    assert "'axes'" in explanation.chain[-1].reason
    status, text = said("explain", model.path, "y", "--format", "json")
    assert status == 0
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text()))


@pytest.mark.parametrize(
    ("rows", "other", "said"),
    [
        (2, lambda b: op.unsqueeze(b, 0), ("then_body gives rank 2", "else_body gives rank 3")),
        (2, lambda b: op.concat([b, b], 0), ("then_body gives 2", "else_body gives 4")),
        ("?", lambda b: op.concat([b, b], 0), ("then_body gives x_0", "else_body gives 2*x_0")),
    ],
)
def test_branches_that_differ_are_told(
    rows: int | str, other: Callable[[Any], Any], said: tuple[str, ...]
) -> None:
    graph = irshape.Graph(name="branches")
    condition = graph.parameter("boolean", "[]", name="condition")
    x = graph.parameter("f32", [rows, 3], name="x")
    graph.result(op.if_(condition, x, then_body=lambda b: b * 2, else_body=other), "y")
    inference = irshape.infer(graph.model(), symbols=True)
    causes = "\n".join(group.cause for group in inference.overview().groups)
    for text in (inference.explain("y")[0].chain[-1].reason, causes):
        assert all(part in text for part in said)


@pytest.mark.parametrize(
    ("shape", "verdict"), [("[...]", "input"), ("[1,4,?]", "lost")], ids=["input", "Squeeze"]
)
def test_the_overview_and_a_tensor_have_one_verdict_on_a_rank(shape: str, verdict: str) -> None:
    graph = irshape.Graph()
    graph.result(op.squeeze(graph.parameter("f32", shape, name="x")), "y")
    inference = irshape.infer(graph.model(), symbols=True)
    overview = inference.overview()
    assert (overview.groups[0].verdict, inference.explain("y")[0].verdict) == (verdict, verdict)
    assert "found no sizes" not in str(overview)


@pytest.mark.parametrize(
    ("type", "options"),
    [("Mine", []), ("Mine", ["--extension", "Mine"]), ("Concat", [])],
    ids=["unknown", "known by name", "does not fit its inputs"],
)
@pytest.mark.parametrize("values", [False, True], ids=["of sizes", "of values"])
def test_what_a_port_declares_is_not_decided_by_data(
    type: str, options: list[str], values: bool, tmp_path: Path
) -> None:
    net = Net()
    x = net.parameter("?,3", name="x")
    if values:
        found = net.layer("NonZero", [x], 'output_type="i64"', version="opset3", outputs=["I64"])
        x = net.layer("Convert", [found], 'destination_type="f32"')
    version = "opset1" if type == "Concat" else "extension"
    own = net.layer(type, [x] * 2, 'axis="7"', version=version, outputs=["FP32:-1,5,7"], name="own")
    net.result(net.layer("Relu", [own], name="y"))
    arguments = ["explain", str(net.save(tmp_path)), "y", "--axis", "0", "--format", "json"]
    answer = json.loads(CliRunner().invoke(cli, [*arguments, *options]).stdout)
    (found,) = answer["dimensions"]
    assert (found["verdict"], [each["layer"]["name"] for each in found["chain"]]) == (
        "lost",
        ["own"],
    )


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def _eight_positions(x: Any) -> Any:
    """Adds a table of 8 positions, cut to the length of the input."""
    size = op.gather(op.shape_of(x), [1], 0)
    return op.add(x, op.slice(ones(1, 8, 4), [0], size, [1], [1]))


def _filters(x: Any) -> Any:
    """Applies filters of width 9 to an input with 2 zeros on each side, twice as sparse."""
    window = {"strides": [1], "pads_begin": [2], "pads_end": [2], "dilations": [2]}
    return op.convolution(x, ones(1, 3, 5), **window)


@pytest.mark.parametrize(
    ("shape", "build", "limits"),
    [
        ("[1,?,4]", _eight_positions, ["x_1 is at most 8, which Add"]),
        ("[1,..6,4]", _eight_positions, []),
        ("[1,3,?]", _filters, ["x_2 is at least 5, which Convolution"]),
        ("[1,3,6..]", _filters, []),
    ],
)
def test_the_layer_that_limits_an_input_is_named(
    shape: str, build: Callable[..., Any], limits: list[str]
) -> None:
    """A tighter limit of the input's own hides the layer's."""
    graph = irshape.Graph()
    graph.result(build(graph.parameter("f32", shape, name="x")), "y")
    overview = irshape.infer(graph.model(), symbols=True).overview()
    assert [limit.partition(" '")[0] for limit in overview.limits] == limits
    assert all(limit in str(overview) for limit in overview.limits)
    assert overview.to_dict()["limits"] == list(overview.limits)


def test_a_refused_layer_is_the_cause(tmp_path: Path) -> None:
    net = Net()
    window = 'strides="0,2" kernel="2,2" pads_begin="0,0" pads_end="0,0"'
    x = net.parameter("?,3,?,?", name="x")
    net.result(net.layer("MaxPool", [x], window, outputs=["FP32"], name="pool"), "y")
    model = net.load(tmp_path)
    overview = irshape.infer(model, symbols=True).overview()
    (lost,) = (group for group in overview.groups if group.verdict == "lost")
    assert "declares" in lost.cause
    status, text = said("explain", model.path)
    assert (status, "lost: MaxPool 'pool'" in text, "by data" in text) == (1, True, False)


def test_a_branch_that_does_not_run_is_named() -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[?,8]", name="x")
    long = op.greater(op.shape_of(x)[0], 0)
    graph.result(op.if_(long, x, then_body=lambda b: b * 2.0, else_body=lambda b: b - 1.0), "y")
    overview = irshape.infer(graph.model(), symbols=True).overview()
    assert overview.fix is not None
    assert [text.partition(" by ")[2].partition(" of If")[0] for text in overview.dynamic] == [
        "else_body"
    ]


@pytest.mark.parametrize(
    ("positions", "size"),
    [((4, 14, 14), 224), ((49, 4), 98)],  # a table of 49 rows for all images of a batch
)
def test_batch_1_and_usual_sizes_meet_the_constants(positions: tuple[int, ...], size: int) -> None:
    graph = irshape.Graph()
    image = graph.parameter("f32", "[?,4,?,?]", name="image")
    window = {"strides": [16, 16], "pads_begin": [0, 0], "pads_end": [0, 0]}
    filters = graph.constant(np.ones((4, 4, 2, 2), np.float32))
    patches = graph.op.convolution(image, filters, **window, dilations=[1, 1])
    if len(positions) == 2:
        patches = graph.op.reshape(patches, [-1, 4], special_zero=False)
    graph.result(graph.op.add(patches, graph.constant(np.ones(positions, np.float32))), "y")
    assert irshape.infer(graph.model(), symbols=True).overview().fix == {
        "image": f"[1,4,{size},{size}]"
    }


@pytest.mark.parametrize(
    ("patch", "stride", "count", "sizes"),
    [(12, 12, 400, (240, 240)), (14, 14, 400, (280, 280)), (16, 10, 1212, (1024, 128))],
)
def test_an_image_meets_the_positions_of_its_patches(
    patch: int, stride: int, count: int, sizes: tuple[int, int], tmp_path: Path
) -> None:
    graph = irshape.Graph()
    image = graph.parameter("f32", "[?,3,?,?]", name="image")
    filters = graph.constant(np.ones((4, 3, patch, patch), np.float32))
    window = {"strides": [stride, stride], "pads_begin": [0, 0], "pads_end": [0, 0]}
    patches = graph.op.convolution(image, filters, **window, dilations=[1, 1])
    tokens = graph.op.reshape(patches, graph.constant([0, 4, -1]), special_zero=True)
    positions = graph.constant(np.ones((1, 4, count), np.float32))
    graph.result(graph.op.add(tokens, positions), "y")
    path = tmp_path / "m.xml"
    graph.save(path)
    overview = irshape.infer(path, symbols=True).overview()
    assert overview.fix == {"image": str(irshape.PartialShape.of([1, 3, *sizes]))}
    required = [(each.axis, each.required) for each in overview.sizes]
    assert required == [(0, False), (2, True), (3, True)]
    assert irshape.run(path, {"image": np.ones((1, 3, *sizes), np.float32)})


@pytest.mark.parametrize(
    ("shapes", "build", "required", "examples"),
    [
        (["[?,?]"], lambda x: op.matmul(x, ones(16, 4)), {"x0[1] is 16": "MatMul"}, ["x0[0] is 1"]),
        (["[2,?]"], lambda x: op.matmul(x, ones(16, 4)), {"x0[1] is 16": "MatMul"}, []),
        (["[?]", "[?]"], op.add, {}, ["x0[0] is 1"]),
        (["[3]"], op.relu, {}, []),
        (
            ["[?,?]"],
            lambda x: op.reshape(x, [0, -1, 6], special_zero=True),
            {},
            ["x0[0] is 1", "x0[1] is 60 (a multiple of 6)"],
        ),
        # 1 or 13 meet the sum of 1 and 12
        (
            ["[?,8]", "[?,8]"],
            lambda x, y: op.add(op.concat(x, ones(12, 8), axis=0), y),
            {},
            ["x0[0] is 1", "x1[0] is 1"],
        ),
    ],
)
def test_required_sizes_are_told_from_examples(
    shapes: list[str],
    build: Callable[..., Any],
    required: dict[str, str],
    examples: list[str],
    tmp_path: Path,
) -> None:
    graph = irshape.Graph()
    inputs = [graph.parameter("f32", each, name=f"x{n}") for n, each in enumerate(shapes)]
    graph.result(build(*inputs), "y")
    graph.save(tmp_path / "m.xml")
    rows = json.loads(said("explain", tmp_path / "m.xml", "--format", "json")[1])["sizes"]
    multiples = {each["step"]: f" (a multiple of {each['step']})" for each in rows}
    multiples[1] = ""
    named = [
        (f"{each['input']}[{each['axis']}] is {each['size']}{multiples[each['step']]}", each)
        for each in rows
    ]
    free = [name for name, each in named if not (each["required"] or each["equals"])]
    assert free == examples
    assert {name: each["reason"].split()[0] for name, each in named if each["required"]} == required
    text = said("explain", tmp_path / "m.xml")[1]
    assert all(f"required: {name}" in text for name in required)
    assert (f"example: {', '.join(examples)}" in text) == bool(examples)


@pytest.mark.parametrize(
    ("shapes", "build", "equal"),
    [
        (["[?]", "[?]"], op.add, {"x1[0] = x0[0]": "Add"}),
        (["[?,2]", "[?,2]"], lambda x, y: op.concat(x, y, axis=1), {"x1[0] = x0[0]": "Concat"}),
        (
            ["[?]", "[?]", "[?]"],
            lambda mask, past, new: op.add(op.concat(past, new, axis=0), mask),
            {"x0[0] = x1[0] + x2[0]": "Add"},
        ),
        # each size fits alone
        (["[?]", "[?]"], lambda x, y: op.concat(x, y, axis=0), {}),
    ],
)
def test_sizes_that_other_inputs_decide_are_told(
    shapes: list[str], build: Callable[..., Any], equal: dict[str, str]
) -> None:
    graph = irshape.Graph()
    inputs = [graph.parameter("f32", each, name=f"x{n}") for n, each in enumerate(shapes)]
    graph.result(build(*inputs), "y")
    overview = irshape.infer(graph.model(), symbols=True).overview()
    assert {
        f"{each.input}[{each.axis}] = {each.equals}": each.reason.split()[0]
        for each in overview.sizes
        if each.equals
    } == equal
    text = str(overview)
    assert all(f"equal: {each}, which {layer} " in text for each, layer in equal.items())
    assert ("equal: " in text) == bool(equal)


@pytest.mark.parametrize(
    ("given", "equal"),
    [
        ({"x0": "[p+q]", "x1": "[p]", "x2": "[q]"}, {"x0": "x1[0] + x2[0]"}),
        ({"x0": "[p+q]", "x2": "[q]"}, {"x0": "p + x2[0]", "x1": "p"}),
    ],
)
def test_names_that_you_give_only_in_a_sum_stay(
    given: dict[str, str], equal: dict[str, str]
) -> None:
    graph = irshape.Graph()
    mask, past, new = (graph.parameter("f32", "[?]", name=f"x{n}") for n in range(3))
    graph.result(op.add(op.concat(past, new, axis=0), mask), "y")
    overview = irshape.infer(graph.model(), shapes=given, symbols=True).overview()
    assert {each.input: each.equals for each in overview.sizes if each.equals} == equal


def test_a_branch_that_a_constant_excludes_is_named() -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[?,?]", name="x")
    one, other = (lambda a, size=size: op.matmul(a, ones(size, 4)) for size in (16, 8))
    graph.result(op.if_(np.bool_(True), x, then_body=one, else_body=other), "y")
    text = str(irshape.infer(graph.model(), symbols=True).overview())
    assert "of else_body, which" in text
