"""diff: layers matched through renumbering, renaming and insertions, and what is said of them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import calling
import jsonschema
import numpy as np
import pytest
from calling import table

import irshape
from irshape import Graph, GraphLayer

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.xml"))
SCHEMA = json.loads((ROOT / "schemas" / "diff.schema.json").read_text())


call = partial(calling.call, "diff")


def disguised(path: Path, target: Path) -> Path:
    """A copy whose layers have other names and, outside of bodies, other ids."""
    text = path.read_text()
    head, _, rest = text.partition("<layers>")
    count = 0

    def renamed(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f'{match[1]}l{count}"'

    rest = re.sub(r'(<layer id="\d+" name=")[^"]*"', renamed, rest)
    if "<body>" not in rest and "_body>" not in rest:
        ids = re.findall(r'<layer id="(\d+)"', rest)
        others = ids[:]
        random.Random(7).shuffle(others)
        new = dict(zip(ids, others, strict=True))
        rest = re.sub(
            r'(<layer id|from-layer|to-layer)="(\d+)"', lambda m: f'{m[1]}="{new[m[2]]}"', rest
        )
    target.write_text(head + "<layers>" + rest)
    if path.with_suffix(".bin").exists():
        target.with_suffix(".bin").write_bytes(path.with_suffix(".bin").read_bytes())
    return target


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_model_is_equal_to_itself_under_other_names_and_ids(path: Path, tmp_path: Path) -> None:
    status, out, err = call(str(path), str(path))
    assert (status, err, out.splitlines()[2].startswith("equal: ")) == (0, "", True)
    other = disguised(path, tmp_path / "other.xml")
    assert path.read_text() != other.read_text()
    for pair in ((path, other), (other, path)):
        status, out, err = call(*map(str, pair), "--format", "json")
        document = json.loads(out)
        assert (status, err, document["equal"]) == (0, "", True), document
        layers = sum(1 for _ in irshape.load(path).walk())
        assert (document["summary"]["matched"], document["summary"]["renamed"]) == (layers, layers)


def relu_behind(layer: str) -> Callable[[Graph], None]:
    def insert(graph: Graph) -> None:
        graph[layer].output.insert_after("Sigmoid")

    return insert


def doubled_constant(graph: Graph) -> None:
    layer = large_constant(graph)
    value = np.array(layer.value)
    value.ravel()[3] += 1
    new = graph.constant(value, layer.output.element_type)
    layer.output.replace_uses(new)
    layer.remove()


def halved_constant(graph: Graph) -> None:
    layer = large_constant(graph)
    half = graph.constant(np.array(layer.value, np.float16))
    layer.output.replace_uses(graph.add("Convert", half, destination_type="f32"))
    layer.remove()


def narrower_axis(graph: Graph) -> None:
    axis = graph["embeddings/norm"].inputs[1].source
    axis.replace_uses(graph.constant(axis.value, "i32"))
    axis.layer.remove()


def large_constant(graph: Graph) -> GraphLayer:
    return next(
        layer
        for layer in graph.layers
        if layer.type == "Const" and layer.output.shape.size.low > 500
    )


class Edited(NamedTuple):
    """An edit of the encoder. summary: what differs, beside what is not changed."""

    edit: Callable[[Graph], object]
    summary: dict[str, int]
    says: list[tuple[str, str, str | None, str | None]]
    """Aspect, what, old and new of each change."""


NORM = "MVN 'embeddings/norm' (id 21)"
QUERY = "block1/attention/query"

EDITS = {
    "one layer inserted": Edited(
        relu_behind("embeddings/norm"),
        {"changed": 1, "added": 1},
        [("edges", "input 0", NORM, "Sigmoid")],
    ),
    "one layer removed": Edited(
        lambda graph: graph["embeddings/norm"].remove(bypass=0) or graph.clean(duplicates=False),
        {"changed": 1, "removed": 2},
        [("edges", "input 0", f"{NORM}, removed", "Add 'Add_19' (id 19)")],
    ),
    "one attribute changed": Edited(
        lambda graph: graph["embeddings/norm"].set(eps=0.5),
        {"changed": 1},
        [("attributes", "attribute eps", None, "0.5")],
    ),
    "one constant changed": Edited(
        doubled_constant,
        {"changed": 1},
        [("constants", "value", "3,072 elements", "1 of them different, by up to 1 at [0, 3]")],
    ),
    "an axis in another type": Edited(
        narrower_axis, {"changed": 1}, [("element-types", "element type of output 0", "i64", "i32")]
    ),
    "an input reshaped": Edited(
        lambda graph: graph.reshape({"input_ids": "[1,16]"}),
        {"changed": 1},
        [("shapes", "shape of output 0", "[1..8,?]", "[1,16]")],
    ),
    "an input renamed": Edited(
        lambda graph: graph.rename({"input_ids": "ids"}),
        {"changed": 1},
        [("tensor-names", "names of output 0", "input_ids", "ids")],
    ),
    "an output more": Edited(
        lambda graph: graph.add_output("embeddings/norm"),
        {"changed": 1, "added": 1},
        [("tensor-names", "names of output 0", None, "embeddings/norm")],
    ),
    "an output less": Edited(lambda graph: graph.drop_output("pooler_output"), {"removed": 10}, []),
    "an operation replaced": Edited(
        lambda graph: replaced(graph, QUERY + "/bias", "Subtract"),
        {"changed": 1},
        [("type", "operation", "Add of opset1", "Subtract of opset1")],
    ),
    "equal layers merged": Edited(lambda graph: graph.clean(), {"removed": 50}, []),
    "a weight compressed": Edited(
        halved_constant,
        {"changed": 1, "added": 1},
        [
            ("element-types", "element type of output 0", "f32", "f16"),
            ("constants", "value", None, "f16 [96,32], 6,144 bytes"),
        ],
    ),
    "two inputs swapped": Edited(
        lambda graph: swapped(graph[QUERY + "/bias"]),
        {"changed": 1},
        [
            ("edges", "input 0", f"MatMul '{QUERY}' (id 27)", "Const"),
            ("edges", "input 1", "Const 'Constant_28' (id 28)", "MatMul"),
        ],
    ),
}


def test_names_of_a_result(tmp_path: Path) -> None:
    graph = Graph()
    y = graph.op.relu(graph.parameter("f32", "[2]", name="x"))
    graph.result(y, "a")
    graph.result(y, "b")
    graph.save(tmp_path / "m.xml")
    text = (tmp_path / "m.xml").read_text()
    (tmp_path / "n.xml").write_text(text.replace('output_names="b"', 'output_names="c"'))
    (changed,) = irshape.diff(tmp_path / "m.xml", tmp_path / "n.xml").to_dict()["changed"]
    assert [each["aspect"] for each in changed["changes"]] == ["tensor-names"]


def replaced(graph: Graph, name: str, type: str) -> None:
    layer = graph[name]
    sources = [end.source for end in layer.inputs]
    new = graph.add(type, *sources, name="other")
    layer.output.replace_uses(new)
    layer.remove()


def swapped(layer: GraphLayer) -> None:
    first, second = (end.source for end in layer.inputs)
    with layer.graph.batch():
        layer.inputs[0].source, layer.inputs[1].source = second, first


@pytest.mark.parametrize("names", ["names kept", "names lost"])
@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_all_that_is_reported(name: str, names: str, tmp_path: Path) -> None:
    row = EDITS[name]
    original = ROOT / "examples" / "encoder.xml"
    graph = Graph.load(original)
    row.edit(graph)
    graph.save(tmp_path / "new.xml")
    new = tmp_path / "new.xml"
    if names == "names lost":
        new = disguised(new, tmp_path / "disguised.xml")
    status, out, err = call(str(original), str(new), "--format", "json")
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    assert (status, err) == (1, "")
    assert (document["a"], document["b"], document["ok"]) == (str(original), str(new), False)
    counts = {key: count for key, count in document["summary"].items() if count}
    for key in ("matched", "unchanged", "inherited", "renamed"):
        counts.pop(key, None)
    assert counts == row.summary, document
    changes = [
        change
        for each in document["changed"]
        if not each["inherited"]
        for change in each["changes"]
    ]
    assert len(changes) == len(row.says)
    for change, (aspect, what, old, end) in zip(changes, row.says, strict=True):
        assert (change["aspect"], change["what"]) == (aspect, what)
        assert old is None or change["old"] == old
        known = end if aspect == "constants" else (end or "").split(" ")[0]
        assert (change["new"] or "").startswith(known or "")


def test_layers_with_the_same_id_and_name_are_matched(tmp_path: Path) -> None:
    """Behind two chains whose ends are swapped, equal constants feed equal layers."""
    original = ROOT / "examples" / "encoder.xml"
    graph = Graph.load(original)
    swapped(graph["block1/attention/scores"])
    graph.save(tmp_path / "new.xml")
    difference = irshape.diff(original, tmp_path / "new.xml")
    changed = [each.first.name for each in difference.changed if not each.inherited]
    assert (changed, difference.summary["renamed"]) == (["block1/attention/scores"], 0)


@pytest.mark.parametrize(("axis", "status"), [(3, 0), (2, 1)])
def test_an_axis_may_count_from_either_end(axis: int, status: int, tmp_path: Path) -> None:
    original = ROOT / "examples" / "encoder.xml"
    graph = Graph.load(original)
    graph["block1/attention/softmax"].set(axis=axis)  # -1 of rank 4
    graph.save(tmp_path / "new.xml")
    assert call(str(original), str(tmp_path / "new.xml"))[0] == status


def test_what_only_passes_other_shapes_on_is_inherited(tmp_path: Path) -> None:
    original = ROOT / "examples" / "encoder.xml"
    graph = Graph.load(original)
    graph.reshape({"input_ids": "[1,16]", "attention_mask": "[1,16]"})
    graph.save(tmp_path / "new.xml")
    difference = irshape.diff(original, tmp_path / "new.xml")
    changed = [each.first.name for each in difference.changed if not each.inherited]
    assert changed == ["input_ids", "attention_mask"]
    assert difference.summary["inherited"] > 50
    assert irshape.diff(original, graph, ignore=["shapes"]).equal


def test_plain_and_quantised() -> None:
    """Every layer is matched, although a FakeQuantize stands before each and no name is kept."""
    plain = Graph(name="plain")
    fake = Graph(name="quantised")
    for graph in (plain, fake):
        x = graph.parameter("f32", "[1,8]", name="x" if graph is plain else "input")
        for number in range(12):
            weights = np.random.default_rng(number).normal(size=(8, 8)).astype(np.float32)
            w: object = graph.constant(weights)
            if graph is fake:
                x = graph.add("FakeQuantize", x, -1.0, 1.0, -1.0, 1.0, levels=256)
                w = graph.add("FakeQuantize", w, -2.0, 2.0, -2.0, 2.0, levels=255)
            x = graph.add("MatMul", x, w, name=f"{'a' if graph is plain else 'b'}{number}")
            x = graph.add("Relu", x)
        graph.result(x)
    difference = irshape.diff(plain, fake)
    assert difference.removed == []
    assert {each.layer.type for each in difference.added} == {"FakeQuantize", "Const"}
    assert len([each for each in difference.added if not each.constant]) == 12
    products = [pair for pair in difference.pairs if pair[0].type == "MatMul"]
    assert len(products) == 12
    assert all(first.name[1:] == second.name[1:] for first, second in products)


@pytest.mark.parametrize("less", [[], [5]], ids=["as many", "one layer less"])
def test_two_conversions_of_one_network(less: list[int]) -> None:
    """No name is kept, one has compressed weights, biases in other places and shapes, and other
    activations."""
    sides = Graph(name="one"), Graph(name="other")
    for graph, other in zip(sides, (False, True), strict=True):
        x = graph.parameter("f32", "[1,24]", name="input" if other else "x")
        for number in range(10):
            if other and number in less:
                continue
            weights = np.random.default_rng(number).normal(size=(24, 24)).astype(np.float32)
            w: object = graph.constant(weights.astype(np.float16) if other else weights)
            b = graph.constant(weights[:1] if other else weights[0])
            if other:
                w = graph.add("Convert", w, destination_type="f32")
            y = graph.add("MatMul", x, w, name=f"{'b' if other else 'a'}{number}")
            y = graph.add("Add", *((b, y) if other else (y, graph.add("Reshape", b, [1, 24]))))
            kind = "Tanh" if other and number in (1, 7) else "Relu"
            x = graph.add(kind, y) if less else graph.add("Add", x, graph.add(kind, y))
        graph.result(x)
    difference = irshape.diff(*sides)
    names = [(a.name[1:], b.name[1:]) for a, b in difference.pairs if a.type == "MatMul"]
    assert names == [(name, name) for name in map(str, range(10)) if int(name) not in less]
    apart = [pair for pair in difference.pairs if pair[0].type != pair[1].type]
    assert len(apart) == 2


def test_names_that_a_program_made_up_do_not_mislead(tmp_path: Path) -> None:
    """A layer is inserted first, so that every name moves on to the layer behind."""

    def chain(shift: int) -> Graph:
        graph = Graph(name="chain")
        x = graph.parameter("f32", "[4]", name="x")
        if shift:
            x = graph.add("Add", x, [9.0, 9.0, 9.0, 9.0], name="Add_0")
        for number in range(20):
            x = graph.add("Add", x, [float(number)] * 4, name=f"Add_{number + shift}")
        graph.result(x, "y")
        return graph

    difference = irshape.diff(chain(0), chain(1))
    assert difference.summary["changed"] == 1
    assert [each.layer.name for each in difference.added if not each.constant] == ["Add_0"]


@pytest.mark.parametrize("seed", range(6))
def test_several_edits_are_all_that_is_reported(seed: int, tmp_path: Path) -> None:
    """Layers put in at random places, and others taken out, while no name and no id is kept."""
    original = ROOT / "examples" / "encoder.xml"
    graph, chance = Graph.load(original), random.Random(seed)
    added = removed = 0
    for _ in range(4):
        layer = chance.choice(
            [
                layer
                for layer in graph.layers
                if layer.origin is not None
                and layer.type in ("Add", "MatMul", "MVN", "Multiply", "Gelu")
                and str(layer.output.element_type) == "f32"
            ]
        )
        source = layer.inputs[0].source
        if chance.random() < 0.5 or source.shape != layer.output.shape:
            layer.output.insert_after(chance.choice(["Sigmoid", "Tanh", "Abs"]))
            added += 1
        else:
            before = len(graph)
            layer.remove(bypass=0)
            graph.clean(duplicates=False)
            removed += before - len(graph)
    graph.save(tmp_path / "new.xml")
    difference = irshape.diff(original, disguised(tmp_path / "new.xml", tmp_path / "other.xml"))
    assert (len(difference.added), len(difference.removed)) == (added, removed)


ASPECTS = {
    "constants ignored": (["--ignore", "constants"], 0),
    "other aspects ignored": (["--ignore", "names,shapes", "attributes"], 1),
    "names compared": (["--ignore", "constants", "--also", "names"], 1),
}


@pytest.mark.parametrize("name", ASPECTS)
def test_aspects(name: str, tmp_path: Path) -> None:
    arguments, expected = ASPECTS[name]
    original = ROOT / "examples" / "encoder.xml"
    graph = Graph.load(original)
    doubled_constant(graph)
    graph.save(tmp_path / "new.xml")
    assert call(str(original), str(tmp_path / "new.xml"), *arguments)[0] == expected


def test_rt_info_and_versions_are_compared_on_demand(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "encoder.xml").read_text()
    weights = (ROOT / "examples" / "encoder.bin").read_bytes()
    noted = text.replace("<rt_info />", '<rt_info><by value="me" /></rt_info>')
    for name, content in (("a", text), ("b", noted.replace('version="11"', 'version="10"', 1))):
        (tmp_path / f"{name}.xml").write_text(content)
        (tmp_path / f"{name}.bin").write_bytes(weights)
    paths = str(tmp_path / "a.xml"), str(tmp_path / "b.xml")
    assert call(*paths)[0] == 0
    status, out, _ = call(*paths, "--also", "rt-info", "version")
    assert status == 1
    assert {"~ rt_info by: none → me", "~ IR version: 11 → 10"} <= {*out.splitlines()}


def test_bodies_are_compared() -> None:
    original = ROOT / "examples" / "control_flow.xml"
    graph = Graph.load(original)
    inner = next(layer for layer in graph.walk() if layer.type == "MatMul")
    inner.output.insert_after("Sigmoid")
    difference = irshape.diff(original, graph)
    added = [(each.layer.type, len(each.layer.path)) for each in difference.added]
    assert added == [("Sigmoid", 2)]
    assert [len(each.first.path) for each in difference.changed] == [2]


def test_constants_without_bytes_are_noted(tmp_path: Path) -> None:
    graph = Graph(name="m")
    x = graph.parameter("f32", "[4]", name="x")
    graph.result(graph.add("Add", x, [1.0, 2.0, 3.0, 4.0]), "y")
    graph.save(tmp_path / "a.xml")
    (tmp_path / "b.xml").write_text((tmp_path / "a.xml").read_text())
    paths = str(tmp_path / "a.xml"), str(tmp_path / "b.xml")
    status, out, _ = call(*paths)
    assert (status, "1 pair of constants" in out) == (0, True)
    assert call(*paths, "--weights", "none", "-q") == (0, "", "")
    assert "note:" not in call(*paths, "--second-weights", str(tmp_path / "a.bin"))[1]


def test_an_onnx_model_and_what_is_converted_from_it(tmp_path: Path) -> None:
    import onnx
    from formats.onnx.models import product_and_relu

    onnx.save(product_and_relu(), tmp_path / "m.onnx")
    irshape.save(tmp_path / "m.onnx", tmp_path / "m.xml")
    assert call(str(tmp_path / "m.onnx"), str(tmp_path / "m.xml"))[0] == 0
    graph = Graph.load(tmp_path / "m.xml")
    next(layer for layer in graph.layers if layer.type.lower() == "relu").remove(bypass=0)
    graph.save(tmp_path / "less.xml")
    status, out, _ = call(str(tmp_path / "m.onnx"), str(tmp_path / "less.xml"))
    assert (status, "1 removed" in out) == (1, True)


def test_the_text_is_cut_where_it_is_long(tmp_path: Path) -> None:
    original = ROOT / "examples" / "encoder.xml"
    graph = Graph.load(original)
    for layer in [layer for layer in graph.layers if layer.type == "MatMul"]:
        layer.output.insert_after("Sigmoid")
    graph.save(tmp_path / "new.xml")
    paths = str(original), str(tmp_path / "new.xml")
    status, out, _ = call(*paths, "--limit", "2", "--color", "always")
    assert (status, "--limit 0" in out, "\033[32m" in out) == (1, True, True)
    assert "--limit 0" not in call(*paths, "--limit", "0")[1]
    assert call(*paths, "--quiet")[:2] == (1, "")


REFUSED = table("""
no model | a.xml none.xml | none.xml
an aspect misspelt | a.xml a.xml --ignore shape | did you mean 'shapes'?
an aspect that is none | a.xml a.xml --also qqq | expected one of
standard input twice | - - | only one of the models
one model | a.xml | Missing argument
""")


@pytest.mark.parametrize("name", REFUSED)
def test_trouble_is_exit_status_2(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.xml").write_text("<nothing/>")
    (tmp_path / "a.xml").write_text((ROOT / "examples" / "encoder.xml").read_text())
    arguments, says = REFUSED[name]
    status, _, err = call(*arguments.split())
    assert (status, says in err) == (2, True), err


def test_one_model_from_standard_input() -> None:
    path = ROOT / "examples" / "reductions.xml"
    weights = str(path.with_suffix(".bin"))
    status, out, _ = call("-", str(path), "--weights", weights, stdin=path.read_bytes())
    assert (status, "equal: " in out) == (0, True)


BODIES = {
    "a slice that begins later": (
        r'start="0"( end="-1" stride="1" part_size="1" />)',
        r'start="1"\1',
        "input 0 with Parameter",
    ),
    "a back edge less": (
        r'<edge from-layer="12" to-layer="2" />\s*(</back_edges>)',
        r"\1",
        "(id 12) back to Parameter",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_connections_of_bodies_are_compared(name: str, tmp_path: Path) -> None:
    old, new, says = BODIES[name]
    original = ROOT / "examples" / "recurrent.xml"
    text = re.sub(old, new, original.read_text(), count=1)
    assert text != original.read_text()
    (tmp_path / "new.xml").write_text(text)
    (tmp_path / "new.bin").write_bytes(original.with_suffix(".bin").read_bytes())
    (layer,) = irshape.diff(original, tmp_path / "new.xml").changed
    (change,) = layer.changes
    told = (layer.first.type, change.aspect, change.what)
    assert told == ("TensorIterator", "edges", "connections of body")
    assert says in (change.old or "")


@pytest.mark.parametrize("listed", [[], ["--limit", "0"]])
def test_weights_of_another_type_are_counted_first(listed: list[str], tmp_path: Path) -> None:
    path = next(each for each in EXAMPLES if each.stem == "encoder")
    graph = Graph.load(path)
    count = graph.compress_to_f16()
    graph.save(tmp_path / "half.xml")
    arguments = [path, tmp_path / "half.xml", *listed]
    lines = call(*arguments)[1].splitlines()
    assert lines[3] == f"~ {count} constants f32 → f16"
    named = [line for line in lines if line.startswith("~ Const")]
    assert len(named) == (count if listed else 0)
    document = json.loads(call(*arguments, "-f", "json")[1])
    assert document["retyped"] == [{"from": "f32", "to": "f16", "constants": count}]
