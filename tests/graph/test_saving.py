"""Saving keeps what was not touched, and copies the bytes of constants."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import openvino as ov
import pytest

import irshape
from irshape import Graph, op

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def changed_lines(before: bytes, after: bytes) -> list[tuple[bytes, bytes]]:
    old, new = before.splitlines(), after.splitlines()
    assert len(old) == len(new)
    return [(a, b) for a, b in zip(old, new, strict=True) if a != b]


def commented(model: str, folder: Path) -> Path:
    """An example with comments between, inside and behind its layers."""
    text = (EXAMPLES / f"{model}.xml").read_text()
    text = text.replace("<layers>", "<layers> <!-- all layers -->", 1)
    text = text.replace(
        "\t\t</layer>\n", "\t\t\t<!-- inside -->\n\t\t</layer>\n<!-- behind -->\n", 3
    )
    text = text.replace("<edges>", "<!-- the edges follow --><edges>", 1) + "<!-- the end -->\n"
    path = folder / f"{model}.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes((EXAMPLES / f"{model}.bin").read_bytes())
    return path


@pytest.mark.parametrize("model", ["encoder", "recurrent", "control_flow", "classifier"])
def test_a_rename_changes_only_its_own_bytes(model: str, tmp_path: Path) -> None:
    path = commented(model, tmp_path)
    graph = Graph.load(path)
    layer = next(each for each in graph.walk() if each.inputs and each.outputs)
    graph[layer.name].name = 'renamed <"&>'
    graph.save(tmp_path / "out.xml")
    ((old, new),) = changed_lines(path.read_bytes(), (tmp_path / "out.xml").read_bytes())
    written = b'name="renamed &lt;&quot;&amp;&gt;"'
    assert new == old.replace(f'name="{layer.origin.name}"'.encode(), written)
    assert (tmp_path / "out.bin").read_bytes() == path.with_suffix(".bin").read_bytes()


def test_a_change_of_an_attribute_or_a_tensor_name_too(tmp_path: Path) -> None:
    path = commented("encoder", tmp_path)
    graph = Graph.load(path)
    softmax = next(layer for layer in graph if layer.type.lower() == "softmax")
    axis = softmax.attributes["axis"]
    rank = softmax.output.shape.rank
    softmax.set(axis=axis - rank if axis >= 0 else axis + rank)
    graph.rename({graph.outputs[0].names[0]: "other"})
    graph.save(tmp_path / "out.xml")
    lines = changed_lines(path.read_bytes(), (tmp_path / "out.xml").read_bytes())
    assert len(lines) <= 3
    assert all(b"axis=" in new or b"other" in new for _, new in lines)


def test_comments_and_order_stay_where_layers_are_added_and_removed(tmp_path: Path) -> None:
    path = commented("encoder", tmp_path)
    graph = Graph.load(path)
    next(layer for layer in graph if layer.type == "Gelu" or layer.type == "Erf")
    graph.result(op.relu(graph.outputs[0]), "added")
    graph.drop_output(graph.outputs[1])
    graph.save(tmp_path / "out.xml")
    before, after = path.read_text(), (tmp_path / "out.xml").read_text()
    for comment in ("all layers", "inside", "the edges follow", "the end"):
        assert after.count(f"<!-- {comment} -->") == before.count(f"<!-- {comment} -->") > 0
    ids = [layer.id for layer in irshape.load(path).layers]
    kept = [layer.id for layer in irshape.load(tmp_path / "out.xml").layers]
    assert [id for id in kept if id in ids] == [id for id in ids if id in kept]
    ov.Core().read_model(tmp_path / "out.xml")


def test_a_file_without_line_breaks_stays_well_formed(tmp_path: Path) -> None:
    graph = Graph(name="line")
    x = graph.parameter("f32", "[2,3]", name="x")
    graph.result(op.relu(x, name="relu"), "y")
    line = re.sub(rb">\s+<", b"><", graph.to_bytes()[0])
    for change in (
        lambda graph: graph["relu"].output.insert_after("Abs"),
        lambda graph: graph["relu"].remove(bypass=0),
        lambda graph: graph.drop_output("y"),
    ):
        graph = Graph(irshape.loads(line, weights=b""))
        change(graph)
        read = ov.Core().read_model(*graph.to_bytes())
        assert len(read.get_ops()) == len(graph)


def loosely_declared(folder: Path) -> Path:
    """A model whose Exp declares dynamic dimensions that are known to be static."""
    graph = Graph(name="loose")
    x = graph.parameter("f32", "[2,3]", name="x")
    graph.result(op.sqrt(op.exp(x, name="exp"), name="sqrt"), "y")
    graph.save(folder / "static.xml")
    head, exp, tail = (folder / "static.xml").read_text().partition('name="exp"')
    output = tail.index("<output>")
    end = tail.index("</input>", output)  # of the layer that it feeds
    loose = tail[output:end].replace("<dim>2</dim>", "<dim>-1</dim>")
    (folder / "loose.xml").write_text(head + exp + tail[:output] + loose + tail[end:])
    (folder / "loose.bin").write_bytes(b"")
    return folder / "loose.xml"


def test_no_new_id_passes_the_largest(tmp_path: Path) -> None:
    """Ids end at 2^63 - 1, in OpenVINO as here."""
    text = (EXAMPLES / "reductions.xml").read_text()
    for name in ("layer id", "edge from-layer"):
        text = text.replace(f'<{name}="0"', f'<{name}="{2**63 - 1}"')
    (tmp_path / "model.xml").write_text(text)
    (tmp_path / "model.bin").write_bytes((EXAMPLES / "reductions.bin").read_bytes())
    graph = Graph.load(tmp_path / "model.xml")
    graph.to_f16()
    graph.save(tmp_path / "saved.xml")
    assert irshape.validate(tmp_path / "saved.xml").ok
    ov.Core().read_model(tmp_path / "saved.xml")


def test_looser_declarations_stay_until_a_change_reaches_them(tmp_path: Path) -> None:
    path = loosely_declared(tmp_path)
    assert path.read_bytes().count(b"<dim>-1</dim>") == 2
    graph = Graph.load(path)
    assert str(graph["exp"].output.shape) == "[2,3]"
    graph.copy().save(tmp_path / "same.xml")
    assert (tmp_path / "same.xml").read_bytes() == path.read_bytes()
    graph["sqrt"].output.insert_after("Relu")
    graph.save(tmp_path / "added.xml")
    assert (tmp_path / "added.xml").read_bytes().count(b"<dim>-1</dim>") == 2
    graph.reshape({"x": "[4,3]"})
    graph.save(tmp_path / "reshaped.xml")
    assert b"<dim>-1</dim>" not in (tmp_path / "reshaped.xml").read_bytes()
    assert irshape.validate([tmp_path / "added.xml", tmp_path / "reshaped.xml"]).ok


def large(folder: Path) -> Path:
    """A model with three constants of 256 KB."""
    graph = Graph(name="large")
    x = graph.parameter("f32", "[?,256]", name="x")
    for number in range(3):
        weights = np.full((256, 256), number + 1, np.float32)
        graph.result(op.matmul(x, graph.constant(weights, name=f"w{number}")), f"y{number}")
    graph.save(folder / "large.xml")
    return folder / "large.xml"


def test_only_needed_bytes_of_constants_are_kept(tmp_path: Path) -> None:
    path = large(tmp_path)
    graph = Graph.load(path)
    graph["w0"].name = "first"
    graph.save(tmp_path / "all.xml")
    assert (tmp_path / "all.bin").read_bytes() == path.with_suffix(".bin").read_bytes()
    graph.drop_output("y1")
    graph.constant(np.ones(8, np.float32))
    graph.save(tmp_path / "some.xml")
    again = Graph.load(tmp_path / "some.xml")
    assert (again["first"].value == 1).all()
    assert (again["w2"].value == 3).all()
    assert again["w2"].value.shape == (256, 256)


def test_stripped_weights_take_as_much_as_the_largest_of_them(tmp_path: Path) -> None:
    graph = Graph()
    x = graph.parameter("f32", "[4,64]", name="x")
    for number, width in enumerate((1 << 16, 1 << 15, 1 << 14)):
        values = np.full((64, width), number + 1, np.float32)
        graph.result(x @ graph.constant(values, name=f"w{number}"), f"y{number}")
    whole = graph.copy()
    assert graph.strip_weights() == 64 * 4 * 7 * (1 << 14)
    graph.save(tmp_path / "stripped.xml")
    status = os.stat(tmp_path / "stripped.bin")
    assert status.st_size == 64 * 4 * (1 << 16)
    assert status.st_blocks * 512 < status.st_size // 100  # the zeros are a hole of a sparse file
    assert irshape.validate(tmp_path / "stripped.xml").ok
    ov.Core().read_model(tmp_path / "stripped.xml")
    restored = Graph.load(tmp_path / "stripped.xml")
    assert restored.restore_weights(whole) == 3
    assert [restored[f"w{n}"].value[0, 0] for n in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    "sizes",
    [
        (512, 384, 300),  # paired by type and shape
        (512, 512, 512),  # by order
    ],
)
def test_weights_are_restored_where_constants_share_a_name(
    sizes: tuple[int, ...], tmp_path: Path
) -> None:
    graph = Graph(name="shared")
    x = graph.parameter("f32", "[1]", name="x")
    for number, size in enumerate(sizes):
        weights = graph.constant(np.full(size, number, np.float32), name=f"w{number}")
        graph.result(x * weights, f"y{number}")
    path = tmp_path / "shared.xml"
    graph.save(path)
    path.write_text(re.sub(r'name="w\d"', 'name="w"', path.read_text()))
    whole, bare = Graph.load(path), Graph.load(path)
    assert bare.strip_weights() == 4 * sum(sizes)
    assert bare.restore_weights(whole) == 3
    for number in range(3):
        assert (bare.tensor(f"y{number}").layer.inputs[1].source.layer.value == number).all()


def test_saving_over_the_file_that_was_loaded(tmp_path: Path) -> None:
    path = large(tmp_path)
    data = path.with_suffix(".bin").read_bytes()
    graph = Graph.load(path)
    graph.rename({"y0": "other"})
    for _ in range(2):
        graph.save(path)
        assert path.with_suffix(".bin").read_bytes() == data
    assert (Graph.load(path)["w2"].value == 3).all()


def test_the_bytes_are_those_of_the_file_that_was_loaded(tmp_path: Path) -> None:
    path = large(tmp_path)
    data = path.with_suffix(".bin").read_bytes()
    graph = Graph.load(path)
    other = tmp_path / "other"
    other.write_bytes(bytes(len(data)))
    other.replace(path.with_suffix(".bin"))
    graph.save(tmp_path / "out.xml")
    assert (tmp_path / "out.bin").read_bytes() == data


@pytest.mark.parametrize("model", ["encoder", "recurrent", "detector", "compressed"])
def test_what_openvino_writes_of_a_graph_is_what_it_reads(model: str, tmp_path: Path) -> None:
    graph = Graph.load(EXAMPLES / f"{model}.xml")
    graph.save(tmp_path / "ours.xml")
    ov.save_model(ov.Core().read_model(tmp_path / "ours.xml"), tmp_path / "theirs.xml", False)
    theirs = Graph.load(tmp_path / "theirs.xml")
    assert [str(each) for each in theirs.inputs] == [str(each) for each in graph.inputs]
    assert [str(each) for each in theirs.outputs] == [str(each) for each in graph.outputs]
    assert {layer.name for layer in theirs} == {layer.name for layer in graph}


KILLED = """
import os, sys
from irshape import Graph
at, replace = int(sys.argv[1]), os.replace
def replaced(*names):
    global at
    at -= 1
    if at < 0:
        os.kill(os.getpid(), 9)
    replace(*names)
os.replace = replaced
graph = Graph.load("old.xml")
graph.add_output(graph.layers[-3].outputs[0])
for layer in graph.layers:
    if layer.value is not None and layer.output.element_type.name == "f32":
        layer.output.replace_uses(graph.constant(layer.value * 2))
graph.save("old.xml")
"""


@pytest.mark.parametrize("at", range(4))
def test_a_save_that_is_killed_leaves_no_mixed_pair(at: int, tmp_path: Path) -> None:
    for suffix in (".xml", ".bin"):
        shutil.copy(EXAMPLES / f"classifier{suffix}", tmp_path / f"old{suffix}")
    halves = [(tmp_path / name).read_bytes() for name in ("old.xml", "old.bin")]
    ended = subprocess.run([sys.executable, "-c", KILLED, str(at)], cwd=tmp_path, check=False)
    assert (ended.returncode == 0) == (at == 3)
    left = [(tmp_path / name) for name in ("old.xml", "old.bin")]
    if left[0].exists():
        same = [path.read_bytes() == half for path, half in zip(left, halves, strict=True)]
        assert same[0] == same[1]
    Graph.load(EXAMPLES / "classifier.xml").save(tmp_path / "old.xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.bin", "old.xml"]


def test_sizes_that_contradict_each_other_are_not_saved(tmp_path: Path) -> None:
    """Each Concat fits the dynamic input; no size of it fits both."""
    graph = Graph()
    x = graph.parameter("f32", "[?,6]", name="x")
    for size in (3, 4):
        other = graph.parameter("f32", f"[{size},6]", name=f"of_{size}")
        graph.result(op.concat([x, other], 1), f"joined_{size}")
    with pytest.raises(irshape.GraphError, match="Concat") as refused:
        graph.save(tmp_path / "m.xml")
    assert refused.value.operation == "Concat"
    assert not list(tmp_path.iterdir())
    graph.reshape({"x": "[3,6]", "of_4": "[3,6]"})
    graph.save(tmp_path / "m.xml")
    assert irshape.validate(tmp_path / "m.xml").ok
