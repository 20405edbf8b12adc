"""extract, edit, merge and split: what they write, what they refuse, and with which exit status."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from calling import call, table
from ir import Net

import irshape

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def chain(folder: Path, name: str = "m", start: str = "x") -> Path:
    """start → double → shift → two outputs; `shift` also takes `bias`."""
    net = Net()
    x = net.parameter("?,3", name=start)
    double = net.layer("Multiply", [x, net.constant(2.0, "f32")], name="double")
    bias = net.parameter("3", name="bias")
    shift = net.layer("Add", [double, bias], name="shift")
    net.result(net.layer("Relu", [shift], name="positive"), "first")
    net.result(net.layer("Negative", [shift], name="turned"), "second")
    return net.save(folder, name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a few models, one of them broken."""
    chain(tmp_path)
    net = Net()
    x = net.parameter("?,3", name="y")
    net.result(net.layer("Sigmoid", [x], name="squash"), "out")
    net.save(tmp_path, "tail")
    net = Net()
    x = net.parameter("3", name="x")
    net.layer("Add", [x, net.constant([1, 2], "i64")], name="broken")
    net.save(tmp_path, "broken", declare=False)
    net = Net()
    past, new = net.parameter("?,2", name="past"), net.parameter("?,2", name="new")
    axis = net.layer("Concat", [past, new], 'axis="0"', name="present")
    net.result(axis, "present_out")
    net.save(tmp_path, "cache")
    net = Net()
    x = net.parameter("?,?", name="x")
    added = net.layer("Add", [x, net.constant([0.5] * 8, "f32")], name="positions")
    flat = net.layer("Reshape", [added, net.constant([1, -1])], 'special_zero="false"', name="flat")
    net.result(net.layer("Relu", [flat], name="y"), "y")
    net.save(tmp_path, "positions")
    np.save(tmp_path / "bias.npy", np.array([1, 2, 3], np.float32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


# a command, the inputs and the outputs of what it writes, and a layer that is gone
WRITTEN = table(
    """
extract to | extract m.xml --to double | x:f32[?,3] | double:f32[?,3] | shift
extract from and to | extract m.xml --from shift --to positive | shift:f32[?,3] | first:f32[?,3]
    | double
extract from several | extract m.xml --from double bias --to turned positive
    | double:f32[?,3] bias:f32[3] | second:f32[?,3] positive:f32[?,3]
extract by id and index | extract m.xml --to double:0 | x:f32[?,3] | double:0:f32[?,3]
extract around | extract m.xml --around shift --distance 0 | double:f32[?,3] bias:f32[3]
    | shift:f32[?,3]
edit rename | edit m.xml --rename x=image bias=offset | image:f32[?,3] offset:f32[3]
    | first:f32[?,3] second:f32[?,3]
edit swaps names | edit m.xml --rename x=bias --rename bias=x | bias:f32[?,3] x:f32[3]
    | first:f32[?,3] second:f32[?,3]
edit reshape | edit m.xml --reshape x=[2,3] | x:f32[2,3] bias:f32[3]
    | first:f32[2,3] second:f32[2,3]
edit names are the old ones | edit m.xml --rename x=y --reshape x=[2,3] | y:f32[2,3] bias:f32[3]
    | first:f32[2,3] second:f32[2,3]
edit batch | edit tail.xml --batch 1..4 | y:f32[1..4,3] | out:f32[1..4,3]
edit bind a list | edit m.xml --bind bias=[1,2,3] | x:f32[?,3] | first:f32[?,3] second:f32[?,3]
edit bind a file | edit m.xml --bind bias=bias.npy | x:f32[?,3] | first:f32[?,3] second:f32[?,3]
edit cut | edit m.xml --cut shift --drop-unused-inputs | shift:f32[?,3]
    | first:f32[?,3] second:f32[?,3] | double
edit outputs | edit m.xml --add-output double --drop-output positive | x:f32[?,3] bias:f32[3]
    | second:f32[?,3] double:f32[?,3] | positive
edit remove | edit m.xml --remove shift | x:f32[?,3] bias:f32[3] | first:f32[?,3] second:f32[?,3]
    | shift
edit remove to input 1 | edit m.xml --remove shift:1 | x:f32[?,3] bias:f32[3]
    | first:f32[3] second:f32[3] | shift
edit preprocess | edit tail.xml --input-type y=U8 --input-layout y=CN:NC --scale y=255 | y:u8[3,?]
    | out:f32[?,3]
edit without a name
    | edit tail.xml --reshape [2,3] --reverse-channels --input-type u8 --output-type f16
    | y:u8[2,3] | out:f16[2,3]
edit postprocess | edit tail.xml --output-type squash=f16 --output-layout squash=NC:CN | y:f32[?,3]
    | out:f16[3,?]
edit f16 | edit m.xml --f16 --keep turned | x:f32[?,3] bias:f32[3] | first:f32[?,3] second:f32[?,3]
edit outline | edit m.xml --outline double shift | x:f32[?,3] bias:f32[3]
    | first:f32[?,3] second:f32[?,3] | double
edit stateful | edit cache.xml --make-stateful past=present --beam-idx beam_idx --add-output present
    | new:f32[?,2] beam_idx:i32[?] | present:f32[?,2]
merge with a prefix | merge m.xml m.xml --connect positive=x --prefix b/
    | x:f32[?,3] bias:f32[3] b/bias:f32[3] | second:f32[?,3] b/first:f32[?,3] b/second:f32[?,3]
"""
)


def test_what_was_written_is_said_in_a_line_for_each_input_and_output(folder: Path) -> None:
    lines = call("edit", "m.xml", "--rename", "x=image", "-o", "out.xml")[2].splitlines()
    assert [line.split() for line in lines[1:3]] == [
        ["input", "image", "f32", "[?,3]"],
        ["input", "bias", "f32", "[3]"],
    ]
    assert call("edit", "m.xml", "--rename", "x=image", "-q", "-o", "out.xml")[2] == ""


def tensor(output: irshape.Output) -> str:
    return f"{output.element_type}{output.shape}"


def named(result: irshape.GraphLayer) -> str:
    """An output as a user names it."""
    return (*result.inputs[0].source.names, result.name)[0]


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written(name: str, folder: Path) -> None:
    command, inputs, outputs, *without = WRITTEN[name]
    status, out, err = call(*command.split(), "-o", "out.xml")
    assert (status, out) == (0, ""), err
    graph = irshape.Graph.load("out.xml")
    assert {f"{each.names[0]}:{tensor(each)}" for each in graph.inputs} == {*inputs.split()}
    ends = {f"{named(result)}:{tensor(result.inputs[0].source)}" for result in graph.results}
    assert ends == {*outputs.split()}
    assert not {*without} & {layer.name for layer in graph.layers if layer.inputs}
    assert irshape.validate("out.xml").ok


@pytest.mark.parametrize(
    ("arguments", "noted"),
    [
        (["m.xml", "--mean", "x=127"], "Multiply 'double'"),
        (["m.xml", "--scale", "bias=2"], ""),
        (["m.xml", "--input-type", "x=u8"], ""),
    ],
)
def test_an_input_that_is_normalized_already_is_noted(
    arguments: list[str], noted: str, folder: Path
) -> None:
    status, _, err = call("edit", *arguments, "-o", "out.xml")
    assert (status, noted in err, "already feeds" in err) == (0, True, bool(noted))


# a command, its status and what it says
REFUSED = table(
    """
extract nothing | extract m.xml | 2 | name the part to extract
extract a misspelt tensor | extract m.xml --to dubble | 2
    | there is no tensor 'dubble'; did you mean 'double'?
extract with an input too few | extract m.xml --from double --to shift | 1
    | the outputs also depend on the input 'bias'
extract without an end | extract m.xml --from double | 1 | add it to --from
extract around and to | extract m.xml --around shift --to double | 2 | cannot be combined
distance alone | extract m.xml --to double --distance 1 | 2 | --distance needs
onto itself | extract m.xml --to double -o m.xml | 2 | --overwrite allows replacing it
onto its .bin | edit m.xml --weights out.bin --fold | 2 | out.bin
onto a model whose weights are taken | edit m.xml --restore-weights tail.xml -o tail.xml | 2
    | 'tail.xml' belongs
onto the second of two | merge m.xml tail.xml --connect positive=y -o tail.xml | 2 | 'tail.xml'
no such file | edit none.xml --fold | 2 | none.xml
a broken model | edit broken.xml --fold | 1 | help: insert a Convert
another extension | edit m.xml --fold -o out.onnx | 2 | irshape writes only IRs
edit nothing | edit m.xml | 2 | name a change
a shape that does not fit | edit m.xml --reshape x=[2,4] | 1 | --reshape: Add 'shift'
a shape that is none | edit m.xml --reshape x=[2,a] | 2 | --reshape:
a batch that is none | edit m.xml --batch many | 2 | --batch:
reshape a misspelt input | edit m.xml --reshape bios=[3] | 2 | did you mean 'bias'?
channels of one of two inputs | edit m.xml --reverse-channels --mean x=1 | 2 | the name of one
a value for one of two inputs | edit m.xml --reshape [3] | 2 | write x=… or bias=…
rename to a name that is taken | edit m.xml --rename x=bias | 1 | --rename:
rename to two names | edit m.xml --rename x=b=q | 2 | the new name 'b=q' would contain '='
a sequence that does not fit | edit positions.xml --seq 16 --batch 1 | 1 | --seq: Add 'positions'
bind what is no value | edit m.xml --bind bias=abc | 2 | is not a value
bind another shape | edit m.xml --bind bias=[1,2] | 1 | [3]
bind a file that is missing | edit m.xml --bind bias=no.npy | 2 | no.npy
set an unknown attribute | edit m.xml --set shift:auto_broadcats=none | 2
    | did you mean 'auto_broadcast'?
set a malformed attribute | edit m.xml --set shift:auto_broadcast=maybe | 2 | maybe
set without an attribute | edit m.xml --set shift=1 | 2 | LAYER:ATTRIBUTE=VALUE
keep without f16 | edit m.xml --keep a | 2 | --keep needs --f16
beam_idx alone | edit m.xml --beam-idx b | 2 | --beam-idx needs --make-stateful
a layout that is none | edit m.xml --input-type x=u8 --input-layout x=NC --scale x=2 | 2
    | Error: --input-layout: expected FROM:TO
nothing to keep | edit m.xml --f16 --keep nosuch | 2 | nosuch
a scale of 0 | edit m.xml --scale x=0 | 1 | --scale: the scale contains 0
a scale without an end | edit m.xml --scale x=1e999 | 1 | --scale: the scale inf is not finite
a mean that is no number | edit m.xml --mean x={} | 1 | --mean: the mean {} is neither
a scale that is nothing | edit m.xml --scale x=null | 2 | --scale: 'null' is not a value
a mean of truth | edit m.xml --mean x=[true,false,true] | 1 | is neither a number nor
an input of strings | edit m.xml --input-type x=string | 1 | no operation converts string to f32
an output of strings | edit tail.xml --output-type string | 1 | no operation converts f32 to string
an input of any type | edit m.xml --input-type x=dynamic | 1 | no operation converts dynamic to f32
a mean of other channels | edit m.xml --input-type x=u8 --mean x=1,2 --scale x=2 | 1
    | irshape: --mean: 2 numbers for the channels
an element type that is none | edit m.xml --input-type x=f99 | 2
    | --input-type: unknown element type 'f99'
a mean twice | edit m.xml --mean x=127 --mean x=5 | 2 | 'x' twice: '127' and '5'
a mean of three words | edit tail.xml --mean 5 6 7 | 2 | write a list as '[5,6,7]'
a scale twice by two names | edit m.xml --scale x=2 --scale x:0=5 | 2 | 'x:0' gets two values
a shape twice | edit m.xml --reshape x=[1,3] x=[2,3] | 2 | --reshape gives 'x' twice
a batch and another one | edit m.xml --reshape x=[1,3] --batch 2 | 2 | 'x' a batch of 1, not 2
a shape twice by two names | edit m.xml --reshape x=[1,3] id:0=[2,3] | 1 | 'id:0' is given twice
an empty name | edit m.xml --rename x= | 1 | a name cannot be empty
layouts of other dimensions | edit m.xml --mean x=1 --input-layout x=NC:NHWC | 1
    | irshape: --input-layout: the layouts
inline what has no body | edit m.xml --inline shift | 1 | --inline:
iterations without a loop | edit m.xml --max-iterations 3 | 2 | --max-iterations needs --inline
drop what is no output | edit m.xml --drop-output double | 1 | is not an output of the graph
merge without saying what | merge m.xml m.xml | 2
    | A outputs positive, turned, B expects x, bias
merge what does not exist | merge m.xml tail.xml --connect positve=y | 2 | did you mean 'positive'?
merge what does not fit | merge cache.xml tail.xml --connect present=y | 1 | takes f32 [?,3]
merge names that clash | merge m.xml m.xml --connect positive=x | 1 | as in --prefix
merge standard input twice | merge - - | 2 | only one of the models
split nowhere | split m.xml | 2 | --at NAME or --parts N
split in two ways | split m.xml --at double --parts 2 | 2 | --at NAME or --parts N
split in one part | split m.xml --parts 1 | 2 | --parts
split in too many parts | split m.xml --parts 9 | 1 | at most 4 parts, not 9
split before everything | split m.xml --at x | 1
    | part 1 would be empty: nothing is computed between its cuts
split behind everything | split tail.xml --at squash | 1
    | part 2 would be empty: nothing is computed
split in another order | split m.xml --at shift double | 1
    | give the cuts in the order
split at a misspelt tensor | split m.xml --at dubble | 2 | did you mean 'double'?
"""
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, folder: Path) -> None:
    command, expected, says = REFUSED[name]
    if "out.bin" in says:
        (folder / "out.bin").write_bytes((folder / "m.bin").read_bytes())
    before = {path: path.read_bytes() for path in folder.iterdir()}
    output = [] if " -o " in command else ["-o", "out.xml"]
    status, out, err = call(*shlex.split(command), *output)
    assert (status, out) == (int(expected), ""), err
    assert says in err
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("change", "warned"),
    [
        (["--seq", "..12"], True),
        (["--reshape", "[1,4..12,4]"], True),
        (["--seq", "..8"], False),
        (["--batch", "1"], False),
    ],
)
def test_an_upper_bound_beyond_a_table_is_said_with_layer_and_constant(
    change: list[str], warned: bool, folder: Path
) -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[1,?,4]", name="x")
    size = graph.op.gather(graph.op.shape_of(x), [1], 0)
    positions = graph.constant(np.ones((1, 8, 4), np.float32), name="table")
    added = graph.op.add(x, graph.op.slice(positions, [0], size, [1], [1]), name="added")
    graph.result(added, "y")
    graph.save("table.xml")
    status, _, err = call("edit", "table.xml", *change, "-o", "out.xml")
    said = [line for line in err.splitlines() if line.startswith("warning")]
    assert (status, len(said)) == (0, warned)
    assert all(word in line for line in said for word in ("'x'", "at most 8", "'added'", "'table'"))
    arguments = ("edit", "table.xml", "--reshape", "[1,5,4]", "--seq", "5", "-o", "fixed.xml")
    assert "--seq: no input" in call(*arguments)[2]


def test_an_output_that_keeps_another_batch_is_said_with_the_constant(folder: Path) -> None:
    graph = irshape.Graph()
    hidden = graph.op.relu(graph.parameter("f32", [1, 8, 4], name="x"))
    graph.result(
        graph.op.reshape(hidden, graph.constant([1, 32], name="flat"), special_zero=False), "y"
    )
    graph.result(graph.op.reduce_mean(hidden, [1], keep_dims=False), "z")
    graph.save("pinned.xml")
    status, _, err = call("edit", "pinned.xml", "--reshape", "[2,4,4]", "-o", "out.xml")
    (said,) = (line for line in err.splitlines() if line.startswith("warning"))
    assert status == 0
    assert all(word in said for word in ("'y'", "[1,32]", "'flat'"))


def test_setting_an_attribute_leaves_the_others_as_they_are_written(folder: Path) -> None:
    net = Net()
    others = 'normalize_variance="TRUE" eps_mode="inside_sqrt"'
    x, axes = net.parameter("2,3", name="x"), net.constant([1])
    norm = net.layer("MVN", [x, axes], f'{others} eps="1.0E-9"', version="opset6", name="norm")
    net.result(norm)
    net.save(folder, "norm")
    status, _, err = call("edit", "norm.xml", "--set", "norm:eps=0.5", "-o", "out.xml")
    assert status == 0, err
    (data,) = (line for line in Path("out.xml").read_text().splitlines() if "eps_mode" in line)
    assert others in data
    assert 'eps="0.5"' in data


def test_the_parts_of_a_split_do_what_the_whole_does(folder: Path) -> None:
    status, out, err = call(
        "split", "m.xml", "--at", "double", "shift", "-o", "p.xml", "-f", "json"
    )
    assert (status, err) == (0, "")
    listed = json.loads(out)
    assert listed["version"] == 1
    assert [part["path"] for part in listed["parts"]] == ["p_1.xml", "p_2.xml", "p_3.xml"]
    tensors = {"x": np.array([[1, -2, 3]], np.float32), "bias": np.array([1, 1, -9], np.float32)}
    whole = irshape.run("m.xml", tensors)
    for part in listed["parts"]:
        given = {each["name"]: tensors[each["name"]] for each in part["inputs"]}
        tensors |= irshape.run(part["path"], given)
    assert all(np.array_equal(tensors[name], values) for name, values in whole.items())


def test_a_cut_through_two_tensors(folder: Path) -> None:
    status, out, _ = call("split", "m.xml", "--at", "shift+positive", "-o", "p.xml")
    assert status == 0
    assert sorted(path.name for path in folder.glob("p_*.xml")) == ["p_1.xml", "p_2.xml"]
    assert out.startswith("p_1.xml: ")


@pytest.mark.parametrize("name", ["encoder", "classifier", "int8"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_parts_of_equal_weights(name: str, count: int, folder: Path) -> None:
    source = EXAMPLES / f"{name}.xml"
    status, out, err = call(
        "split", str(source), "--parts", str(count), "-o", "p.xml", "-f", "json"
    )
    assert (status, err) == (0, "")
    parts = json.loads(out)["parts"]
    assert len(parts) == count
    tensors: dict[str, np.ndarray] = {}
    for port in irshape.inspect(source).inputs:
        sizes = [dim.low if dim.is_static else 2 for dim in port.tensor.shape]
        tensors[port.name] = np.ones(
            sizes, "i8" if str(port.tensor.element_type) == "i64" else "f4"
        )
    whole = irshape.run(source, tensors)
    for part in parts:
        given = {each["name"]: tensors[each["name"]] for each in part["inputs"]}
        tensors |= irshape.run(part["path"], given)
    assert whole.keys() <= tensors.keys()
    assert all(np.array_equal(tensors[each], values) for each, values in whole.items())


def test_parts_share_the_weights() -> None:
    graph = irshape.Graph(name="chain")
    x = graph.parameter("f32", "[1,8]", name="x")
    for number in range(12):
        x = graph.add("MatMul", x, np.ones((8, 8), np.float32), name=f"m{number}")
        x = graph.add("Add", graph.add("Relu", x), x)  # two tensors cross the border in between
    graph.result(x, "y")
    parts = graph.split(parts=3)
    assert [sum(layer.type == "MatMul" for layer in part) for part in parts] == [4, 4, 4]
    assert [len(part.outputs) for part in parts] == [1, 1, 1]
    with pytest.raises(ValueError, match="the number of parts"):
        graph.split("m3", parts=2)


def test_parts_appear_together_or_not_at_all(folder: Path) -> None:
    (folder / "p_2.bin").mkdir()
    before = sorted(folder.iterdir())
    status, out, _ = call("split", "m.xml", "--at", "double", "-o", "p.xml")
    assert (status, out) == (2, "")
    assert sorted(folder.iterdir()) == before


def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(prefix: str, dir: str) -> None:
        raise PermissionError(13, "Permission denied", f"{dir}/{prefix}temporary")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    status, _, err = call("extract", "m.xml", "--to", "double", "-o", "out.xml")
    assert (status, "'out.bin'" in err, "temporary" in err) == (2, True, False)


def test_from_standard_input_to_standard_output(folder: Path) -> None:
    text = (folder / "m.xml").read_bytes()
    arguments = ("-", "--weights", "m.bin", "-o", "-", "-q")
    status, out, err = call("extract", *arguments, "--to", "double", stdin=text)
    assert (status, err) == (0, "")
    (folder / "out.xml").write_text(out)
    given = {"x": np.ones((1, 3), np.float32)}
    model = irshape.load("out.xml", weights="m.bin")
    assert irshape.run(model, given)["double"].tolist() == [[2, 2, 2]]
    status, out, err = call("edit", *arguments, "--bind", "bias=[1,2,3]", stdin=text)
    assert (status, out, "original .bin" in err) == (1, "", True)


def test_a_loop_is_inlined_and_a_part_outlined_again(folder: Path) -> None:
    source = str(EXAMPLES / "recurrent.xml")
    arguments = ("edit", source, "--reshape", "sequence=[2,7,8]", "--inline", "lstm_iterator")
    status, _, err = call(*arguments, "-o", "out.xml")
    assert (status, "layers" in err) == (0, True)
    given = {"sequence": np.random.default_rng(0).normal(size=(2, 7, 8)).astype(np.float32)}
    new, old = irshape.run("out.xml", given), irshape.run(source, given)
    assert all(np.allclose(new[name], values, atol=1e-6) for name, values in old.items())
    status, _, err = call(*arguments, "--max-iterations", "3", "-o", "less.xml")
    assert (status, "--max-iterations" in err, Path("less.xml").exists()) == (1, True, False)


def test_what_did_not_change_keeps_its_text(folder: Path) -> None:
    old = (EXAMPLES / "encoder.xml").read_text()
    arguments = ("--name", "other", "--rename", "embeddings/norm=n", "-o", "out.xml")
    assert call("edit", str(EXAMPLES / "encoder.xml"), *arguments)[0] == 0
    new = (folder / "out.xml").read_text()
    assert new == old.replace('<net name="encoder"', '<net name="other"').replace(
        'name="embeddings/norm"', 'name="n"'
    )


def test_the_source_is_replaced_where_that_is_asked_for(folder: Path) -> None:
    assert call("edit", "m.xml", "--rename", "x=z", "-o", "m.xml", "--overwrite")[0] == 0
    assert irshape.Graph.load("m.xml").inputs[0].names == ("z",)


def test_weights_are_taken_out_and_put_back(folder: Path) -> None:
    net = Net()
    x = net.parameter("600", name="x")
    net.result(net.layer("Add", [x, net.constant([1.5] * 600, "f32")], name="y"))
    net.save(folder, "large")
    assert call("edit", "large.xml", "--strip-weights", "-o", "bare.xml")[0] == 0
    assert (folder / "bare.bin").read_bytes() == bytes(2400)
    status, _, err = call("edit", "bare.xml", "--restore-weights", "large.xml", "-o", "out.xml")
    assert (status, "1 constant restored" in err) == (0, True)
    assert irshape.run("out.xml", {"x": np.zeros(600, np.float32)})["y"][0] == 1.5


def test_a_model_of_another_format_becomes_an_ir(folder: Path) -> None:
    import onnx
    from formats.onnx.models import product_and_relu

    onnx.save(product_and_relu(), folder / "m.onnx")
    for command in (["extract", "--to", "h"], ["edit", "--add-output", "h", "--drop-output", "y"]):
        assert call(command[0], "m.onnx", *command[1:], "-o", "out.xml")[0] == 0
        graph = irshape.Graph.load("out.xml")
        assert [output.names for output in graph.outputs] == [("h",)]
        assert (
            irshape.run("out.xml", {"x": np.ones((2, 5), np.float32)})["h"].tolist()
            == [[2.5] * 5] * 2
        )
