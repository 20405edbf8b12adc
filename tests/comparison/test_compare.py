"""`irshape compare`: an altered constant is traced to the layer that uses it, and only to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calling import said

import irshape
from irshape.model.graph import Layer, Model
from irshape.model.weights import array
from irshape.model.wiring import wire

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def alter(model: Model, layer: Layer, target: Path) -> Path:
    """A copy of the model in which every element of one constant is another."""
    constant = model.constant(layer)
    shutil.copy(model.path, target)
    raw = bytearray(Path(model.path).with_suffix(".bin").read_bytes())
    values = array(constant)
    assert values is not None
    raw[constant.offset : constant.offset + constant.size] = (
        (values * 1.5 + 0.25).astype(values.dtype).tobytes()
    )
    target.with_suffix(".bin").write_bytes(raw)
    return target


def users(model: Model, layer: Layer) -> set[str]:
    """The layers that use a constant; users of constants alone stand for their own consumers.

    Of a constant in a body, the layer that contains the body.
    """
    if layer.path:
        return {layer.path[0]}
    sources = wire(model.net).sources
    constant: set[int] = set()
    for position, found in enumerate(model.net.layers):
        fed = [source[0] for source in sources[position] if source is not None]
        if found.type == "Const" or (fed and all(source in constant for source in fed)):
            constant.add(position)
    wanted, reached = {model.net.layers.index(layer)}, set()
    while wanted:
        following = {
            position
            for position, row in enumerate(sources)
            if any(source is not None and source[0] in wanted for source in row)
        }
        reached |= {model.net.layers[position].id for position in following - constant}
        wanted = following & constant
    return reached


def shared(model: Model, layer: Layer) -> bool:
    """Whether other constants lie in the same bytes."""
    mine = model.constant(layer)
    return (
        sum(
            found.type == "Const" and model.constant(found).offset == mine.offset
            for found in model.walk()
        )
        > 1
    )


@pytest.mark.parametrize("example", ["classifier", "encoder", "decoder", "recurrent"])
def test_an_altered_constant_is_traced_to_its_layer(example: str, tmp_path: Path) -> None:
    model = irshape.load(EXAMPLES / f"{example}.xml")
    traced = 0
    for layer in model.walk():
        kind = layer.attribute("element_type") or ""
        if (
            layer.type != "Const"
            or kind[0] not in "fb"
            or "," not in (layer.attribute("shape") or "")
            or shared(model, layer)
        ):
            continue
        altered = irshape.load(alter(model, layer, tmp_path / "altered.xml"))
        found = irshape.compare(model, altered)
        if found.blamed is None and not any(
            pair.verdict == "differs" and not pair.constant for pair in found.pairs
        ):
            continue  # no input reaches it, or what it changes is masked out
        assert found.blamed is not None, layer.name
        assert found.blamed.second.id in users(model, layer), (
            f"{layer.name}: {found.blamed.second.name}"
        )
        assert {
            pair.second.id
            for pair in found.pairs
            if pair.own_verdict == "differs" and not pair.constant
        } <= users(model, layer)
        assert any(layer.name in cause for cause in found.blamed.causes)
        assert not found.ok
        traced += 1
    assert traced >= {"classifier": 28, "encoder": 25, "decoder": 10, "recurrent": 8}[example]


def test_a_model_equals_itself() -> None:
    path = str(EXAMPLES / "encoder.xml")
    status, output = said("compare", path, path)
    assert status == 0
    assert "differ" not in output
    assert "tolerance" not in output


def test_inputs_are_drawn_in_sizes_that_both_models_accept(tmp_path: Path) -> None:
    paths = [tmp_path / "a.xml", tmp_path / "b.xml"]
    for path, shape in zip(paths, ("[?,3,?,?]", "[?,3,5,5]"), strict=True):
        graph = irshape.Graph()
        graph.result(irshape.op.relu(graph.parameter("f32", shape, name="x")), "y")
        graph.save(path)
    assert said("compare", *map(str, paths))[0] == 0
    found = irshape.compare(*paths)
    assert found.ok
    assert [note for note in found.notes if "[2,3,5,5]" in note]
    assert [note for note in found.notes if "[?,3,?,?]" in note and "[?,3,5,5]" in note]
    status, output = said("compare", *map(str, paths), "-s", "[0,3,5,5]")
    assert (status, "nothing could be compared" in output) == (1, True)
    for shape, layouts in ("[1,3,4,4]", False), ("[5,3,5,1]", True):
        status, output = said("compare", *map(str, paths), "-s", shape)
        assert (status, "a.xml" in output, "b.xml" in output) == (1, False, True)
        assert ("edit --input-layout" in output) is layouts


def test_forms_of_the_answer(tmp_path: Path) -> None:
    model = irshape.load(EXAMPLES / "classifier.xml")
    layer = next(layer for layer in model.layers if layer.name == "Constant_35_compressed")
    altered = str(alter(model, layer, tmp_path / "altered.xml"))
    status, output = said("compare", model.path, altered)
    assert status == 1
    assert "the layer to blame" in output
    assert "Constant_35_compressed" in output
    status, output = said(
        "compare", model.path, altered, "-f", "json", "-o", str(tmp_path / "report.json")
    )
    report = json.loads((tmp_path / "report.json").read_text())
    worst = irshape.compare(model, irshape.load(altered)).worst(100)
    others = [pair.excess for pair in worst[1:]]
    assert others == sorted(others, reverse=True) != []
    assert worst[0].second.id == report["blamed"]["b"]["id"]
    status, output = said("compare", model.path, altered, "--worst", "100")
    shown = [line for line in output.splitlines() if " 0    0 " in line]
    assert all(str(pair.second.id) in line for pair, line in zip(worst, shown, strict=True))
    assert f"output '{model.results[0].name}': inherited" in output
    assert (status, report["ok"], report["blamed"]["b"]["type"]) == (1, False, "Convolution")
    assert report["altered_constants"] == ["Constant_35_compressed"]
    assert {"a", "b", "tensor", "verdict", "errors", "own_verdict"} <= set(report["tensors"][0])
    junit = tmp_path / "j.xml"
    status, output = said("compare", model.path, altered, "-f", "text", "-f", f"junit={junit}")
    assert status == 1
    assert "the layer to blame" in output
    assert "<failure" in junit.read_text()


def test_every_layer_that_differs_by_itself_has_its_causes(tmp_path: Path) -> None:
    paths = []
    for name, more in (("a", 0.0), ("b", 2.0)):
        graph = irshape.Graph()
        products: Any = graph.parameter("f32", "[2,2]", name="x")
        for _ in range(2):
            weights = np.array([[1, 2], [3, 4 + more]], np.float32)
            products = graph.add("MatMul", products, weights)
        graph.result(graph.add("Negative", products), "y")
        graph.save(tmp_path / f"{name}.xml")
        paths.append(str(tmp_path / f"{name}.xml"))
    report = json.loads(said("compare", *paths, "-f", "json")[1])
    seen = [(each["b"]["type"], each["state"], len(each["causes"])) for each in report["tensors"]]
    assert [row for row in seen if row[0] in ("MatMul", "Negative")] == [
        ("MatMul", "differs", 1),
        ("MatMul", "differs", 1),
        ("Negative", "inherited", 0),
    ]
    assert said("compare", *paths)[1].count(", by up to 2 at [1, 1]") == 3


def test_an_attribute_that_differs_is_named(tmp_path: Path) -> None:
    source = EXAMPLES / "encoder.xml"
    text = source.read_text()
    eps = next(line for line in text.splitlines() if "eps=" in line)
    changed = eps.replace('eps="', 'eps="0.1" was="')
    changed = (
        changed[: changed.index(' was="')]
        + changed[changed.index('"', changed.index(' was="') + 6) + 1 :]
    )
    (tmp_path / "b.xml").write_text(text.replace(eps, changed, 1))
    shutil.copy(source.with_suffix(".bin"), tmp_path / "b.bin")
    found = irshape.compare(irshape.load(source), irshape.load(tmp_path / "b.xml"))
    assert found.blamed is not None
    assert found.blamed.second.type == "MVN"
    assert any("`eps`" in cause for cause in found.blamed.causes)


def test_inputs_that_do_not_go_together_are_an_error() -> None:
    status, output = said(
        "compare", str(EXAMPLES / "classifier.xml"), str(EXAMPLES / "encoder.xml")
    )
    assert status == 1
    assert "has 1 input, " in output


def test_a_half_precision_copy_agrees_within_its_precision(tmp_path: Path) -> None:
    import openvino as ov

    path = EXAMPLES / "encoder.xml"
    ov.save_model(ov.Core().read_model(path), tmp_path / "half.xml", compress_to_fp16=True)
    found = irshape.compare(irshape.load(path), irshape.load(tmp_path / "half.xml"))
    assert found.precision == "f16"
    assert found.ok
    assert np.isfinite([pair.errors.max_abs or 0.0 for pair in found.pairs]).all()
    status, output = said("compare", str(path), str(tmp_path / "half.xml"))
    apart = [pair for pair in found.pairs if pair.errors.max_abs and not pair.constant]
    largest = max(apart, key=lambda pair: pair.excess)
    assert status == 0
    assert "equal within the tolerance of f16\n" in output
    assert f"{len(apart)} tensors equal only within" in output
    assert f"{largest.excess:.2g} × the tolerance, at '{largest.name}'" in output
    assert "output 'sentence_embedding': equal within" in output
    rounded = [pair.name for pair in found.pairs if pair.errors.max_abs and pair.constant]
    assert f"{len(rounded)} constants equal only within" in output
    widened = said("compare", str(path), str(tmp_path / "half.xml"), "--rtol", "1")[1]
    assert "equal within the tolerance given\n" in widened


def tiny(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    return graph.add("Multiply", x, np.float32(2e-8 if altered else 1e-8), name="seen")


@pytest.mark.parametrize(
    ("factor", "output", "noted"),
    [
        (1e-8, "1 equal\n", False),
        (1.09e-8, "1 equal within the tolerance", True),  # its floor alone allows 9 %
        (np.float16(1e-8), "as large as the values", True),  # 0 in f16
        (1.0, "1 equal\n", False),
        (1.0000002, "1 equal within the tolerance", False),
    ],
)
def test_equal_is_said_of_equal_values_alone(
    factor: float, output: str, noted: bool, tmp_path: Path
) -> None:
    for name, number in (("a", 1e-8 if factor < 1 else 1.0), ("b", factor)):
        graph = irshape.Graph()
        scale = number if isinstance(number, np.float16) else np.float32(number)
        x = graph.parameter(f"f{8 * scale.itemsize}", "[2]")
        graph.result(graph.add("Multiply", x, scale), "y")
        graph.save(tmp_path / f"{name}.xml")
    status, text = said("compare", tmp_path / "a.xml", tmp_path / "b.xml", "-i", "[1,2]")
    assert (status, output in text, "--atol 0" in text) == (0, True, noted)


def exchanged(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    two = [graph.add(type, x) for type in ("Sigmoid", "Tanh")]
    joined = graph.add("Concat", *(two[::-1] if altered else two), axis=1)
    return graph.add("Negative", joined)


def quantised(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    weights: Any = np.array([[100.0, -50.0], [25.0, 80.0]], np.float32)
    if altered:
        codes = graph.add("Convert", (weights / 2).astype(np.int8), destination_type="f32")
        weights = graph.add("Multiply", codes, np.float32(3))
    return graph.add("MatMul", x, weights)


def large(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    whole = graph.add("Convert", x, destination_type="i64")
    return graph.add("Add", whole, np.int64(2**53 + altered))


def branches(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    condition = graph.add("ReduceLogicalAnd", graph.add("Less", x, 2.0), [0, 1])

    def raised(inner: Any) -> Any:
        return irshape.op.add(inner, 2.0 if altered else 1.0)

    return irshape.op.if_(condition, x, then_body=raised, else_body=raised)


def unused(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    image = graph.add("Reshape", x, [1, 1, 2, 2], special_zero=False)
    pool = {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "kernel": [1, 2]}
    return graph.add("MaxPool", image, dilations=[1, 1], axis=2 * altered, **pool)[0]


def scalar(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    factor = graph.add("ReduceMax", x, [0, 1], keep_dims=altered, name="factor")
    return graph.add("Multiply", x, factor)


def half(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    y = graph.add("Convert", x, destination_type="f16" if altered else "f32")
    return graph.add("Convert", graph.add("Sqrt", graph.add("Abs", y)), destination_type="f32")


def strides(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    image = graph.add("Reshape", x, [1, 1, 2, 2], special_zero=False)
    window: Any = {"pads_begin": [0, 0], "pads_end": [0, 1], "kernel": [1, 2], "exclude-pad": True}
    pool = graph.add("AvgPool", image, strides=[1, 1 + altered], **window)
    return graph.add("Abs", graph.add("Negative", pool))


def sizes(more: float) -> Any:
    """Layers named alike compute other parts of a shape; more: what alters a weight behind them."""

    def build(graph: irshape.Graph, x: Any, altered: bool) -> Any:
        given = graph.add("ShapeOf", x, output_type="i64")
        shape = graph.add("Gather", given, [0, 1] if altered else [0], np.int64(0), name="picked")
        if not altered:
            shape = graph.add("Concat", shape, np.array([2]), axis=0)
        kept = graph.add("Reshape", x, shape, special_zero=False)
        weights = np.array([[1, 2], [3, 4 + more * altered]], np.float32)
        return graph.add("MatMul", kept, weights)

    return build


def target(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    first = graph.add("Gather", graph.add("ShapeOf", x, output_type="i64"), [0], np.int64(0))
    first = graph.add("Add", first, np.array([2 * altered]))
    shape = graph.add("Concat", first, np.array([-1]), axis=0)
    return graph.add("Negative", graph.add("Reshape", x, shape, special_zero=False))


def layouts(graph: irshape.Graph, x: Any, altered: bool) -> Any:
    image = graph.add("Reshape", x, [1, 1, 2, 2], special_zero=False)
    mean = np.array([1, 2], np.float32)
    if altered:
        image = graph.add("Transpose", image, [0, 3, 1, 2])
        return graph.add("Abs", graph.add("Subtract", image, mean.reshape(1, 2, 1, 1), name="mean"))
    image = graph.add("Subtract", image, mean, name="mean")
    return graph.add("Abs", graph.add("Transpose", image, [0, 3, 1, 2]))


@pytest.mark.parametrize(
    ("build", "blamed", "causes"),
    [
        pytest.param(strides, "AvgPool", ["`strides`"], id="an attribute that sets the shape"),
        pytest.param(sizes(0), None, [], id="shapes computed in two ways"),
        pytest.param(sizes(2), "MatMul", ["by up to 2 at"], id="a weight behind such shapes"),
        pytest.param(target, "Reshape", ["by up to 2 at [0]"], id="a shape that is altered"),
        pytest.param(layouts, None, [], id="a layer in another layout"),
        pytest.param(half, None, [], id="tensors in f16"),
        pytest.param(large, "Add", ["by up to 1"], id="integers beyond f64"),
        pytest.param(branches, "If", ["then_body", "else_body"], id="constants of bodies"),
        pytest.param(unused, None, [], id="indices that nothing takes"),
        pytest.param(scalar, None, [], id="a scalar as [1,1]"),
        pytest.param(tiny, "Multiply", ["by up to 1e-08"], id="values near 0"),
        pytest.param(exchanged, "Concat", ["input 0", "input 1"], id="inputs exchanged"),
        pytest.param(quantised, "MatMul", ["by up to 50 at"], id="weights in another code"),
    ],
)
def test_what_is_blamed_and_why(
    build: Any, blamed: str | None, causes: list[str], tmp_path: Path
) -> None:
    for name in "ab":
        graph = irshape.Graph()
        x = graph.parameter("f32", "[2,2]", name="x")
        graph.result(build(graph, x, name == "b"), "y")
        graph.save(tmp_path / f"{name}.xml")
    found = irshape.compare(tmp_path / "a.xml", tmp_path / "b.xml")
    assert (found.blamed and found.blamed.second.type, found.ok) == (blamed, blamed is None)
    states = [pair.state for pair in found.pairs if not pair.constant]
    assert states.count("differs") == (blamed is not None)
    if found.blamed is None:
        assert found.altered == []
        return
    assert found.worst(1) == [found.blamed]
    assert len(found.blamed.causes) == len(causes)
    assert all(map(str.__contains__, found.blamed.causes, causes)), found.blamed.causes


@pytest.mark.parametrize(
    ("edit", "blamed", "diverging", "cause"),
    [
        pytest.param("Tanh", "Tanh", "Tanh", "A has ReLU", id="a layer of another type"),
        pytest.param("inserted", None, "MatMul", "no counterpart in A", id="a layer inserted"),
    ],
)
def test_models_of_other_names_that_differ_in_one_layer(
    edit: str, blamed: str | None, diverging: str, cause: str
) -> None:
    """Every layer but an inserted one has a counterpart, and none is blamed for its inputs."""
    sides = irshape.Graph(), irshape.Graph()
    for graph in sides:
        x: Any = graph.parameter("f32", "[2,4]", name="x")
        for number in range(5):
            weights = np.random.default_rng(number).normal(size=(4, 4)).astype(np.float32)
            x = graph.add("MatMul", x, weights, name=f"{id(graph)}/{number}")
            edited = graph is sides[1] and number == 1
            x = graph.add("Tanh" if edited and edit == "Tanh" else "Relu", x)
            if edited and edit == "inserted":
                x = graph.add("Exp", x, name="new")
        graph.result(x, "y")
    found = irshape.compare(*sides)
    pair = found.blamed or found.diverging
    assert (found.blamed and found.blamed.second.type, found.ok) == (blamed, False)
    assert (len(found.pairs), found.diverging and found.diverging.second.type) == (15, diverging)
    assert pair is not None
    assert [each.state for each in found.pairs].count("differs") == (blamed is not None)
    assert cause in pair.causes[0]
    assert found.unmatched == ([], ["new"][: edit == "inserted"])


VIT = Path(__file__).resolve().parents[1] / "formats" / "onnx" / "networks" / "vit.onnx"


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What OpenVINO makes of an ONNX model."""
    import openvino as ov

    path = tmp_path_factory.mktemp("converted") / "vit.xml"
    ov.save_model(ov.Core().read_model(VIT), path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize("runtime", [None, "onnxruntime", "irshape"])
@pytest.mark.parametrize("turned", [False, True])
def test_an_ir_beside_the_onnx_model_that_it_came_from(
    converted: Path, runtime: str | None, turned: bool
) -> None:
    models = (irshape.load(converted), irshape.load(VIT))
    found = irshape.compare(*(models[::-1] if turned else models), runtime=runtime)
    assert found.ok
    assert len(found.pairs) > 50
    ran = found.runtimes[::-1] if turned else found.runtimes
    assert ran[0] == "irshape"
    assert ran[1].partition(" ")[0] == (runtime or "onnxruntime")
    assert runtime == "irshape" or any(pair.errors.max_abs for pair in found.pairs)


def test_the_layer_of_an_ir_that_departs_from_its_onnx_model(
    converted: Path, tmp_path: Path
) -> None:
    """One weight of one layer of the IR is altered: it differs from onnxruntime's values."""
    model = irshape.load(converted)
    feeders = {
        edge.to_layer: model.net.by_id[edge.from_layer]
        for edge in model.net.edges
        if model.net.by_id[edge.from_layer].type == "Const"
    }
    layer = [layer for layer in model.layers if layer.type == "MatMul" and layer.id in feeders][3]
    weights = feeders[layer.id]
    data = bytearray(converted.with_suffix(".bin").read_bytes())
    place = int(weights.attributes["offset"])
    data[place : place + 4] = np.float32(7.0).tobytes()
    (tmp_path / "vit.xml").write_bytes(converted.read_bytes())
    (tmp_path / "vit.bin").write_bytes(data)
    found = irshape.compare(irshape.load(VIT), irshape.load(tmp_path / "vit.xml"))
    assert found.runtimes[0].startswith("onnxruntime ")
    assert found.blamed is not None
    assert found.blamed.second.name == layer.name


def test_without_onnxruntime_irshape_runs_the_onnx_model(
    converted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(*_: object) -> None:
        raise RuntimeError("onnxruntime is not installed")

    monkeypatch.setattr("irshape.comparison.models.asked", absent)
    found = irshape.compare(irshape.load(converted), irshape.load(VIT))
    assert (found.ok, found.runtimes) == (True, ("irshape", "irshape"))
    assert "onnxruntime is not installed" in found.notes[0]
    status, output = said("compare", converted, VIT, "--runtime", "onnxruntime")
    assert (status, "onnxruntime is not installed" in output) == (2, True)


def test_an_assign_inherits_what_it_passes_on(tmp_path: Path) -> None:
    """One weight altered: one layer differs, and the Assigns behind it are not counted with it."""
    model = irshape.load(EXAMPLES / "decoder.xml")
    layer = next(
        layer
        for layer in model.walk()
        if layer.is_constant
        and layer.attribute("element_type") == "f32"
        and any("key" in model.net.by_id[user].name for user in users(model, layer))
        and not shared(model, layer)
    )
    altered = irshape.load(alter(model, layer, tmp_path / "altered.xml"))
    comparison = irshape.compare(model, altered)
    assigns = [pair for pair in comparison.pairs if pair.second.folded_type == "assign"]
    assert any(pair.verdict == "differs" for pair in assigns)
    assert all(pair.inherited for pair in assigns if pair.verdict == "differs")
    departing = {pair.second.id for pair in comparison.pairs if pair.own_verdict == "differs"}
    assert len(departing - {layer.id}) == 1


def nameless(source: Path, target: Path) -> Path:
    """A copy in which no name is left: no tensor names, and other layer names."""
    from lxml import etree

    tree = etree.parse(source)
    for number, element in enumerate(tree.iter("layer", "port")):
        element.attrib.pop("names", None)
        if element.tag == "layer":
            element.attrib.pop("output_names", None)
            element.set("name", f"another/{number}")
    tree.write(target)
    shutil.copy(source.with_suffix(".bin"), target.with_suffix(".bin"))
    return target


@pytest.mark.parametrize("example", ["classifier", "encoder", "decoder", "recurrent", "detector"])
def test_models_without_a_common_name_are_matched_by_structure(
    example: str, tmp_path: Path
) -> None:
    model = irshape.load(EXAMPLES / f"{example}.xml")
    copy = nameless(Path(model.path), tmp_path / "copy.xml")
    found = irshape.compare(model, irshape.load(copy))
    assert found.ok
    assert len(found.pairs) == len(irshape.compare(model, model).pairs)
    assert {pair.means for pair in found.pairs} == {"position", "structure"}
    assert found.unmatched == ([], [])


def test_a_constant_altered_in_a_model_of_other_names_is_found(tmp_path: Path) -> None:
    model = irshape.load(EXAMPLES / "classifier.xml")
    copy = irshape.load(nameless(Path(model.path), tmp_path / "copy.xml"))
    constants = [layer for layer in copy.layers if layer.attribute("element_type") == "f16"]
    found = irshape.compare(model, irshape.load(alter(copy, constants[3], tmp_path / "b.xml")))
    assert found.blamed is not None
    assert found.blamed.second.id in users(copy, constants[3])


TWO_OUTPUTS = """<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
<output><port id="0" precision="FP32" names="x"><dim>2</dim></port></output></layer>
<layer id="1" name="one" type="{one}" version="opset1"><input><port id="0"><dim>2</dim></port>
</input><output><port id="1" precision="FP32" {a}><dim>2</dim></port></output></layer>
<layer id="2" name="other" type="Abs" version="opset1"><input><port id="0"><dim>2</dim></port>
</input><output><port id="1" precision="FP32" {b}><dim>2</dim></port></output></layer>
<layer id="3" name="r0" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port>
</input></layer>
<layer id="4" name="r1" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port>
</input></layer></layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="{first}" from-port="1" to-layer="3" to-port="0"/>
<edge from-layer="{second}" from-port="1" to-layer="4" to-port="0"/></edges></net>"""


def two_outputs(
    path: Path, first: int, second: int, a: str = "", b: str = "", one: str = "Exp"
) -> str:
    names = {key: f'names="{name}"' if name else "" for key, name in (("a", a), ("b", b))}
    path.write_text(TWO_OUTPUTS.format(first=first, second=second, one=one, **names))
    return str(path)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdicts"),
    [
        pytest.param((1, 2), (1, 2), ["equal", "equal"], id="in order"),
        pytest.param((1, 2), (2, 1), ["differs", "differs"], id="in another order"),
        pytest.param((1, 2, "a", "b"), (2, 1, "a", "b"), ["equal", "equal"], id="by name"),
        pytest.param((1, 2, "a", "b"), (1, 2, "p", "q"), ["equal", "equal"], id="by position"),
    ],
)
def test_outputs_are_paired_by_name_and_else_by_position(
    ours: tuple[Any, ...], theirs: tuple[Any, ...], verdicts: list[str], tmp_path: Path
) -> None:
    first, second = (
        two_outputs(tmp_path / name, *given) for name, given in (("a.xml", ours), ("b.xml", theirs))
    )
    status, output = said("compare", first, second, "-f", "json")
    assert [each["verdict"] for each in json.loads(output)["tensors"]] == verdicts
    assert status == ("differs" in verdicts)


def test_an_output_without_a_partner_is_said(tmp_path: Path) -> None:
    first = Path(two_outputs(tmp_path / "a.xml", 1, 2, "a", "43_1,b"))
    first.write_text(first.read_text().replace('id="4" name="r1"', 'id="4" name="b"'))
    text = first.read_text()
    result = text[text.index('<layer id="4"') : text.index("</layers>")]
    edge = '<edge from-layer="2" from-port="1" to-layer="4" to-port="0"/>'
    (tmp_path / "b.xml").write_text(text.replace(result, "").replace(edge, ""))
    status, output = said("compare", str(first), str(tmp_path / "b.xml"), "-f", "json")
    assert (status, json.loads(output)["unmatched_outputs"]) == (0, {"a": ["b"], "b": []})


def test_nothing_compared_is_no_success(tmp_path: Path) -> None:
    first = Path(two_outputs(tmp_path / "a.xml", 1, 2))
    text = first.read_text()
    cut = text[text.index('<layer id="3"') : text.index("</layers>")]
    edges = [line for line in text.splitlines() if 'to-layer="3"' in line or 'to-layer="4"' in line]
    for each in (cut, *edges):
        text = text.replace(each.removesuffix("</edges></net>"), "")
    (tmp_path / "b.xml").write_text(text)
    status, output = said("compare", str(first), str(tmp_path / "b.xml"), "--force")
    assert status == 1
    assert "nothing could be compared" in output
