"""Weights that are cut or another model's, and what irshape does not know."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import irshape

from .networks import (
    Change,
    File,
    attribute,
    image_network,
    layer,
    of_text,
    of_weights,
    replaced,
    text_network,
    value,
    written,
)

LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


def as_it_is(text: str, weights: bytes) -> File:
    return text, weights


def saved(
    folder: Path, network: Callable[[], irshape.Graph] = image_network, change: Change = as_it_is
) -> Path:
    text, weights = change(*written(network))
    path = folder / "m.xml"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(weights)
    return path


def diagnostics(path: Path) -> list[dict[str, Any]]:
    """The errors and warnings at the top of the report."""
    (file,) = irshape.validate(path).to_dict()["files"]
    return [each for each in file["diagnostics"] if each["severity"] != "info"]


# Weights


class Weights(NamedTuple):
    """A .bin, what is reported, and whether a cause says that it is the .bin."""

    change: Change
    codes: set[str]
    blamed: bool


WEIGHTS = {
    "cut": Weights(of_weights(lambda data: data[:300]), {"IR502"}, True),
    "cut by a number": Weights(of_weights(lambda data: data[:-4]), {"IR502"}, True),
    "empty": Weights(of_weights(lambda data: b""), {"IR501"}, False),
    "a Git-LFS pointer": Weights(of_weights(lambda data: LFS), {"IR501"}, False),
    "a larger model's": Weights(of_weights(lambda data: bytes(range(256)) * 4000), {"IR405"}, True),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(name: str, tmp_path: Path) -> None:
    case = WEIGHTS[name]
    path = saved(tmp_path, change=case.change)
    found = diagnostics(path)
    assert {each["code"] for each in found} == case.codes
    assert len(found) == 1
    causes = found[0].get("causes", [])
    assert bool(causes) == case.blamed
    # the text is right: nothing in it would be corrected
    assert all("fix" not in cause for cause in causes)
    for unsafe in (False, True):
        assert irshape.fix(path, unsafe=unsafe).edits == []


def test_weights_that_are_missing(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.with_suffix(".bin").unlink()
    assert [each["code"] for each in diagnostics(path)] == ["IR501"]
    assert irshape.fix(path, unsafe=True).edits == []


def test_weights_of_another_model_of_the_same_size(tmp_path: Path) -> None:
    """Axes and sizes that no model has prove it; one wrong value does not."""
    noise = of_weights(lambda data: bytes((7 * at + 3) % 256 for at in range(len(data))))
    (found,) = diagnostics(saved(tmp_path, text_network, noise))
    (cause,) = found["causes"]
    assert "fix" not in cause
    assert found["related"]
    assert irshape.fix(tmp_path / "m.xml", unsafe=True).edits == []
    (found,) = diagnostics(saved(tmp_path, text_network, value("order", 1, 1)))
    assert not any("another model" in cause["message"] for cause in found.get("causes", []))


# What is newer than irshape, and what is not OpenVINO's


class Foreign(NamedTuple):
    change: Change
    code: str
    upgrade: bool
    """Whether the help is to upgrade irshape."""


FOREIGN = {
    "an IR version": Foreign(replaced('version="11"', 'version="12"'), "IR601", True),
    "an opset": Foreign(layer("relu", "opset1", "opset18"), "IR603", True),
    "an operation of a new opset": Foreign(
        layer("relu", 'type="ReLU" version="opset1"', 'type="NewThing" version="opset18"'),
        "IR603",
        True,
    ),
    "an operation": Foreign(layer("relu", "ReLU", "Frobnicate"), "IR602", False),
    "an extension": Foreign(
        layer("relu", 'type="ReLU" version="opset1"', 'type="Swish" version="extension"'),
        "IR604",
        False,
    ),
    "a domain": Foreign(layer("relu", "opset1", "org.example"), "IR604", False),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_irshape_does_not_know_is_not_turned_into_what_it_knows(
    name: str, tmp_path: Path
) -> None:
    case = FOREIGN[name]
    path = saved(tmp_path, change=case.change)
    (found,) = diagnostics(path)
    assert found["code"] == case.code
    assert ("upgrade" in found["message"] + (found["help"] or "")) == case.upgrade
    for unsafe in (False, True):
        assert irshape.fix(path, unsafe=unsafe).edits == []


# Numbers


@pytest.mark.parametrize(
    "number",
    [
        "-1.79769e+308",
        "1e39",
        "1.#INF",
        "nan",
        "-INF",
        "infinity",
        "+inf",
        "\uff11",
        "1e400",
        "0x10",
    ],
)
def test_a_number_is_never_rewritten_into_another(number: str, tmp_path: Path) -> None:
    clamp = f'type="Clamp" version="opset1">\n\t\t\t<data min="{number}" max="4" />'
    path = saved(tmp_path, change=replaced('type="ReLU" version="opset1">', clamp))
    assert diagnostics(path) or number in ("nan", "-1.79769e+308")  # which OpenVINO reads
    assert irshape.fix(path).edits == []


# What strangers did


def test_another_batch_stays(tmp_path: Path) -> None:
    """The most usual edit by hand: OpenVINO computes with batch 4, and so the ports follow."""
    path = saved(tmp_path, change=attribute("image", "shape", "4,3,16,16"))
    (found,) = diagnostics(path)
    assert (found["code"], found["layer"]["name"]) == ("IR201", "image")
    fixes = irshape.fix(path)
    assert 'shape="4,3,16,16"' in fixes.text
    path.write_bytes(fixes.data)
    assert diagnostics(path) == []
    model = irshape.load(path)
    assert [port.dims for port in model.net.by_id["11"].outputs] == [(4, 5)]


@pytest.mark.parametrize("kind", ["GRUCell", "RNNCell", "LSTMCell"])
def test_a_hidden_size_is_that_of_the_states(kind: str, tmp_path: Path) -> None:
    graph = irshape.Graph()
    gates = {"GRUCell": 3, "RNNCell": 1, "LSTMCell": 4}[kind]
    states = [
        graph.parameter("f32", "[2,16]", name=name)
        for name in ("h", "c")[: 1 + (kind == "LSTMCell")]
    ]
    shapes = ([16 * gates, 4], [16 * gates, 16], [16 * gates])
    weights = [
        graph.parameter("f32", str(shape), name=f"w{len(shape)}{shape[-1]}") for shape in shapes
    ]
    x = graph.parameter("f32", "[2,4]", name="x")
    cell = graph.add(kind, x, *states, *weights, hidden_size=16, name="cell")
    graph.result(cell if isinstance(cell, irshape.Output) else cell[0], "y")
    path = tmp_path / "m.xml"
    graph.save(path)
    original = path.read_text(encoding="utf-8")
    path.write_text(original.replace('hidden_size="16"', 'hidden_size="15"'), encoding="utf-8")
    (found,) = diagnostics(path)
    assert found["layer"]["name"] == "cell"
    assert irshape.fix(path, unsafe=True).text == original
    assert irshape.fix(path).text in (original, path.read_text(encoding="utf-8"))


def test_true_findings_stand_however_many_there_are(tmp_path: Path) -> None:
    """keep_dims everywhere: each finding has its own cause, and none hides behind another."""
    example = Path(__file__).resolve().parents[2] / "examples" / "reductions"
    text = example.with_suffix(".xml").read_text(encoding="utf-8")
    path = tmp_path / "r.xml"
    path.write_text(text.replace('keep_dims="true"', 'keep_dims="false"'), encoding="utf-8")
    path.with_suffix(".bin").write_bytes(example.with_suffix(".bin").read_bytes())
    found = diagnostics(path)
    assert {each["code"] for each in found} <= {"IR201", "IR203"}
    assert len(found) == 20
    for each in found:
        assert not each.get("related")
        assert "keep_dims" in each["message"]
        assert "keep_dims" in each["causes"][0]["message"]
        assert each["fixes"][each["causes"][0]["fix"]]["applicability"] == "unsafe"
    back = irshape.fix(path, unsafe=True).text
    assert back.count('keep_dims="true"') == 20  # two others have axes that no file knows


def test_two_faults_are_two_findings(tmp_path: Path) -> None:
    def two(text: str, weights: bytes) -> File:
        text, weights = attribute("pool", "kernel", "3, 3")(text, weights)
        return attribute("mean", "keep_dims", "true")(text, weights)

    found = diagnostics(saved(tmp_path, change=two))
    assert [each["layer"]["name"] for each in found] == ["pool", "mean"]


def test_ports_without_dimensions_follow_and_shapes_stay(tmp_path: Path) -> None:
    path = saved(tmp_path, change=of_text(lambda text: re.sub(r"\s*<dim>-?\d+</dim>", "", text)))
    fixes = irshape.fix(path)
    assert fixes.text.split() == written(image_network)[0].split()


def test_a_constant_without_elements_is_blamed_itself(tmp_path: Path) -> None:
    path = saved(tmp_path, change=attribute("dense", "shape", "0"))
    (found,) = diagnostics(path)
    assert found["layer"]["name"] == "dense"
    assert irshape.fix(path).edits == []


@pytest.mark.parametrize("unsafe", [False, True])
def test_an_operation_on_reals_does_not_become_a_logical_one(unsafe: bool, tmp_path: Path) -> None:
    path = saved(tmp_path, change=layer("mean", "ReduceMean", "ReduceLogicalAnd"))
    (found,) = diagnostics(path)
    assert found["layer"]["name"] == "mean"
    assert unsafe or irshape.fix(path).edits == []
