"""`irshape run`: inputs that are drawn, read or refused, statistics, and simulated precisions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from calling import said as call
from ir import Net

import irshape
from irshape.execution.inputs import random_inputs, restored, storable
from irshape.execution.session import ExecutionError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def sizes(model: irshape.Model, **options: object) -> list[tuple[int, ...]]:
    return [array.shape for array in random_inputs(model, **options).values()]  # type: ignore[arg-type]


def test_sizes_are_found_that_every_layer_takes(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,?,?,?", name="image")
    kernel = net.layer(
        "Broadcast",
        [net.constant([0.5], "f32"), net.constant([4, 3, 7, 7])],
        'mode="numpy"',
        outputs=["FP32:4,3,7,7"],
    )
    made = net.layer(
        "Convolution",
        [x, kernel],
        'strides="1,1" dilations="1,1" pads_begin="0,0" pads_end="0,0" auto_pad="explicit"',
    )
    net.result(made)
    model = net.load(tmp_path)
    assert sizes(model) == [(2, 3, 7, 7)]
    assert sizes(model) == sizes(irshape.load(model.path)), "the same each time"
    assert sizes(model, shapes={"image": "[1,?,?,9]"})[0][0::3] == (1, 9)
    assert call("run", model.path, "--random")[0] == 0


def test_a_dimension_that_must_be_one_number_is_found(tmp_path: Path) -> None:
    net = Net()
    x, y = net.parameter("?,?", name="x"), net.parameter("?,?", name="y")
    net.result(
        net.layer(
            "MatMul",
            [net.layer("Broadcast", [x, net.constant([5, 12])], 'mode="numpy"'), y],
            'transpose_a="false" transpose_b="false"',
        )
    )
    made = sizes(net.load(tmp_path))
    assert made[1][0] == 12


def test_where_nothing_fits_the_layer_is_named(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?", name="x")
    net.result(net.layer("Broadcast", [x, net.constant([977])], 'mode="numpy"', name="spread"))
    net.result(net.layer("Broadcast", [x, net.constant([983])], 'mode="numpy"', name="other"))
    path = str(net.save(tmp_path))
    assert sizes(irshape.load(path)) == [(1,)]
    net = Net()
    x = net.parameter("3..,?", name="x")
    net.result(
        net.layer("Reshape", [x, net.constant([977, 991])], 'special_zero="false"', name="shape")
    )
    status, output = call("run", str(net.save(tmp_path)), "--random")
    assert status == 2
    assert "Reshape 'shape'" in output
    assert "--shape" in output


def test_inputs_that_do_not_fit_are_refused_before_anything_runs() -> None:
    model = irshape.load(EXAMPLES / "encoder.xml")
    ran: list[str] = []
    with pytest.raises(
        ExecutionError, match=r"\(id \d+\).*input_ids=\[2, 4\], attention_mask=\[2, 3\]"
    ) as refused:
        irshape.Session(model).run(
            {"input_ids": np.ones((2, 4), np.int64), "attention_mask": np.ones((2, 3), np.int64)},
            observe=lambda layer, given, made: ran.append(layer.name),
        )
    assert refused.value.layer is not None
    assert not ran
    status, output = call(
        "run", model.path, "--random", "-s", "input_ids=[2,4]", "-s", "attention_mask=[2,3]"
    )
    assert status == 1
    assert "Traceback" not in output


def test_masks_let_everything_through() -> None:
    model = irshape.load(EXAMPLES / "decoder.xml")
    drawn = random_inputs(model)
    masks = [drawn[layer] for layer in model.parameters if "mask" in layer.name]
    assert masks
    assert all(mask.all() for mask in masks)


@pytest.mark.parametrize("name", ["bf16", "f8e4m3", "i4", "u4", "string", "f32", "nf4"])
def test_files_give_back_the_element_type(name: str) -> None:
    from irshape.element_types import ElementType
    from irshape.numpy_types import dtype_of

    element_type = ElementType.of(name)
    array = (
        np.array([b"one", b"two"], object)
        if name == "string"
        else np.array([1, 0, 1]).astype(dtype_of(element_type))
    )
    back = restored(storable(array), element_type)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()


def test_stats_of_every_layer(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("4", name="x")
    big = net.layer("Multiply", [x, net.constant([1e6], "f32")], name="big")
    net.result(net.layer("Sqrt", [big], name="root"))
    path = str(net.save(tmp_path))
    np.save(tmp_path / "x.npy", np.array([-1, 0, 1, 2], np.float32))
    status, output = call("run", path, "-i", str(tmp_path / "x.npy"), "--stats")
    assert status == 0
    assert "2 Multiply 'big' beyond f16" in output
    assert "NaN comes from Sqrt 'root'" in output
    status, output = call("run", path, "-i", str(tmp_path / "x.npy"), "--stats", "-f", "json")
    rows = {row["layer"]["name"]: row for row in json.loads(output)["outputs"]}
    assert (
        rows["big"]["lowest"],
        rows["big"]["beyond_f16"],
        rows["big"]["zeros"],
        rows["root"]["nan"],
    ) == (-1e6, 3, 1, 1)


def test_stats_inside_bodies() -> None:
    """Each layer of a body once, with the values of all its runs, before the layer of the body."""
    path = str(EXAMPLES / "control_flow.xml")
    status, output = call("run", path, "--random", "--stats", "-f", "json")
    assert status == 0
    rows = json.loads(output)["outputs"]
    places = [("/".join([*row["layer"]["path"], row["layer"]["id"]]), row["port"]) for row in rows]
    assert len(set(places)) == len(places)
    by_place = dict(zip(places, rows, strict=True))
    number, branch, loop = (
        by_place["5/body/0", 0],
        by_place["5/body/12/then_body/2", 0],
        by_place["5", 0],
    )
    assert (
        number["runs"],
        number["elements"],
        number["lowest"],
        number["highest"],
        number["mean"],
    ) == (3, 3, 0, 2, 1)
    assert (branch["runs"], branch["elements"], loop["runs"]) == (2, 16, 1)
    assert (
        places.index(("5/body/12/then_body/2", 0))
        < places.index(("5/body/12", 0))
        < places.index(("5", 0))
    )
    assert (
        "5/body/12/then_body/2 Add 'Add_2', 2 runs" in call("run", path, "--random", "--stats")[1]
    )


def test_simulation_names_the_layer_that_breaks(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("4", name="x")
    big = net.layer(
        "Multiply", [net.layer("Exp", [x], name="grow"), net.constant([7e4], "f32")], name="big"
    )
    net.result(net.layer("Divide", [big, net.constant([7e4], "f32")], name="back"))
    path = str(net.save(tmp_path))
    np.save(tmp_path / "x.npy", np.ones(4, np.float32))
    status, output = call("run", path, "-i", str(tmp_path / "x.npy"), "--simulate", "f16")
    assert status == 1
    assert "Multiply 'big' (id 3) output 0: values up to 190280" in output
    status, output = call(
        "run", path, "-i", str(tmp_path / "x.npy"), "--simulate", "bf16", "-f", "json"
    )
    assert status == 0
    assert json.loads(output)["first"] is None
    assert call("run", path, "--random", "--simulate", "bf16", "--stats")[0] == 2


VALUES = [
    ("f32", "x=[[1,2,3],[4,-5,6]]", 0, "0 to 6"),
    ("f32", "[[1, 2, 3], [4, 5, 6]]", 0, "1 to 6"),
    ("i64", "0=[[1,2,3],[4,5,6]]", 0, "1 to 6"),
    ("i64", "x=[[1,2.5,3],[4,5,6]]", 2, "a number that i64 cannot represent"),
    ("u8", "x=[[1,2,3],[4,5,256]]", 2, "a number that u8 cannot represent"),
    ("f32", "x=[1,2]", 1, "[2,3]"),
    ("f32", "x=7", 1, "[2,3]"),
    ("f32", "[[1,2,3],[4,5,6]] -s [?,3]", 0, "1 to 6"),
    ("f32", "[[1,2,3],[4,5,6]] -s x=[2,4]", 2, "[2,4]"),
]


@pytest.mark.parametrize(("type", "given", "status", "said"), VALUES)
def test_a_value_in_place_of_a_file(
    type: str, given: str, status: int, said: str, tmp_path: Path
) -> None:
    net = Net()
    net.result(net.layer("Relu", [net.parameter("2,3", type, name="x")], name="y"))
    value, *shape = given.split(" -s ")
    done, output = call("run", str(net.save(tmp_path)), "-i", value, *("-s" for _ in shape), *shape)
    assert (done, said in output) == (status, True), output


def test_random_sizes_fit_the_layers_of_bodies(tmp_path: Path) -> None:
    graph = irshape.Graph()
    x = graph.parameter("f32", "[?,?]", name="x")
    weights = np.ones((16, 16), np.float32)
    op = irshape.op
    graph.result(op.loop(2, True, op.carried(x), body=lambda state: op.matmul(state, weights)), "y")
    graph.save(tmp_path / "m.xml")
    status, output = call("run", tmp_path / "m.xml", "--random")
    assert (status, ", 16]" in output) == (0, True)
