"""`irshape infer`: what its table and its JSON show, and the shapes of its inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import call
from ir import Net

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_infer_says_what_fails_first_and_marks_its_row(tmp_path: Path) -> None:
    net = Net()
    x = net.parameter("?,3", name="x")
    total = net.layer("Add", [x, net.constant([1, 2, 3], "f32")], name="add")
    net.result(net.layer("Relu", [total], name="last"))
    path = str(net.save(tmp_path))
    status, output, error = call("infer", path, "--shape", "[4,5]")
    assert status == 1
    assert "'add'" in error.splitlines()[0]
    marked = [line.split()[:2] for line in output.splitlines() if line[:2] in ("! ", "? ")]
    assert marked[:-1] == [["!", "2"], ["?", "3"], ["?", "4"]]
    outputs = call("infer", path, "--shape", "[4,5]", "--outputs")[1].splitlines()
    assert outputs[1].startswith("? ")


def test_infer_hides_constants_in_the_table_alone() -> None:
    path = str(EXAMPLES / "encoder.xml")
    table, whole = (call("infer", path, *more)[1].splitlines() for more in ([], ["--constants"]))
    constants = [line for line in whole if line.split()[1] == "Const"]
    assert len(whole) == len(table) - 1 + len(constants)
    assert str(len(constants)) in table[-1]
    layers = json.loads(call("infer", path, "-f", "json")[1])["layers"]
    assert sum(layer["type"] == "Const" for layer in layers) == len(constants)


def test_infer_shows_the_outputs_alone() -> None:
    path = str(EXAMPLES / "encoder.xml")
    output = call("infer", path, "--outputs")[1].splitlines()
    assert [line.split()[0] for line in output[1:]] == [
        "last_hidden_state",
        "pooler_output",
        "sentence_embedding",
    ]
    layers = json.loads(call("infer", path, "--outputs", "-f", "json")[1])["layers"]
    assert {layer["type"] for layer in layers} == {"Result"}


@pytest.mark.parametrize("command", ["infer", "inspect"])
@pytest.mark.parametrize(
    "shapes",
    [
        ["--shape", "input_ids=[2,5]", "attention_mask=[2,5]"],
        ["-s", "input_ids=[2,5]", "-s", "attention_mask=[2,5]"],
    ],
)
def test_shapes_follow_one_option(command: str, shapes: list[str]) -> None:
    path = str(EXAMPLES / "encoder.xml")
    after, before = ([command, *words] for words in ([path, *shapes], [*shapes, path]))
    assert call(*after) == call(*before)
    assert "[2,5]" in call(*after)[1]


def test_a_shape_without_a_name_is_that_of_the_only_input() -> None:
    path = str(EXAMPLES / "classifier.xml")
    assert "[2,3,32,32]" in call("infer", path, "--shape", "[2,3,32,32]")[1]
    status, _, error = call("infer", str(EXAMPLES / "encoder.xml"), "--shape", "[2,5]")
    assert (status, "input_ids=" in error) == (2, True)
