"""Reading oneDNN graphs, and the verdict on every case of ReduceMean tried on the library."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differential.oracle import Oracle
from formats.onednn.cases import CASES, graph, operation, reduce_mean, tensor

import irshape

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("ONEDNN_GRAPHS", HERE / "graphs"))
FILES = sorted(CORPUS.rglob("*.json"))
OPAQUE = re.compile(r"Dropout|BatchNormForwardTraining|.*Back(ward.*|prop)")
INCONSISTENT = {"int8_maxpool_add_mul_fusion"}
"""Files of the library that give one tensor two shapes: the sizes are replaced in a run."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_declared_shapes_are_inferred(path: Path) -> None:
    """A part of the graphs of oneDNN's own tests; `ONEDNN_GRAPHS` names a folder of more."""
    found = [each for each in irshape.validate(path).diagnostics if each.severity != "info"]
    unknown = [each for each in found if each.code == "IR602"]
    assert all(OPAQUE.fullmatch((each.layer or {})["type"]) for each in unknown)
    assert found == unknown or path.stem in INCONSISTENT


def codes(text: str, folder: Path, *, infos: bool = False) -> list[str]:
    (folder / "graph.json").write_text(text)
    return [
        found.code
        for found in irshape.validate(folder / "graph.json").diagnostics
        if infos or found.severity != "info"
    ]


@pytest.mark.parametrize("name", CASES)
def test_reduce_mean(name: str, tmp_path: Path) -> None:
    assert codes(CASES[name].text, tmp_path) == CASES[name].codes


@pytest.mark.parametrize("name", ["axes as an input", "no elements"])
def test_what_the_library_gets_wrong_is_an_info(name: str, tmp_path: Path) -> None:
    assert codes(CASES[name].text, tmp_path, infos=True)[:1] == ["IR401"]


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("ReduceL1", lambda x: np.abs(x).sum(1)),
        ("ReduceL2", lambda x: np.sqrt((x * x).sum(1))),
        ("ReduceMax", lambda x: x.max(1)),
        ("ReduceMean", lambda x: x.mean(1)),
        ("ReduceMin", lambda x: x.min(1)),
        ("ReduceProd", lambda x: x.prod(1)),
        ("ReduceSum", lambda x: x.sum(1)),
    ],
)
def test_reductions_run(kind: str, function: Any, tmp_path: Path, oracle: Oracle) -> None:
    assert codes(reduce_mean([1], 0, [2, 4], kind=kind), tmp_path) == []
    model = irshape.load(tmp_path / "graph.json")
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    np.testing.assert_allclose(irshape.run(model, {"t0": x})["t1"], function(x), rtol=1e-5)
    irshape.save(model, tmp_path / "model.xml", inference=irshape.infer(model))
    answer = oracle.ask_file(tmp_path / "model.xml", {"t0": x})
    assert answer.execution is not None
    np.testing.assert_allclose(
        next(iter(answer.execution.results.values())).array, function(x), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        ({"stride": [12, 1, 3]}, []),
        ({"stride": [0, 0, 1]}, []),
        ({"stride": [24, 8, 2]}, []),
        ({"stride": [12, 4]}, ["IR211"]),
        ({"stride": [12, 4, -1]}, ["IR211"]),
        ({"stride": [12, 2, 1]}, ["IR211"]),
        ({"stride": [12, 2, 1], "layout_type": "any"}, []),
        ({"stride": [-(2**63)], "layout_type": "undef"}, []),
    ],
)
def test_strides(change: dict[str, Any], expected: list[str], tmp_path: Path) -> None:
    relu = operation("ReLU", [tensor(0, [2, 3, 4], **change)], [tensor(1, [2, 3, 4])])
    assert codes(graph(relu), tmp_path) == expected


def test_attributes(tmp_path: Path) -> None:
    def elu(attributes: dict[str, Any]) -> list[str]:
        made = operation("Elu", [tensor(0, [2])], [tensor(1, [2])], attributes)
        return codes(graph(made), tmp_path)

    alpha = {"type": "f32", "value": 1.0}
    assert elu({"alpha": alpha}) == []
    assert elu({}) == ["IR303"]
    assert elu({"alpha": {"type": "s64", "value": 1}}) == ["IR304"]
    assert elu({"alpha": alpha, "colour": alpha}) == ["IR301"]
    assert elu({"alpa": alpha}) == ["IR303", "IR302"]


def test_places_are_those_of_the_file(tmp_path: Path) -> None:
    text = reduce_mean([5], 1, [2, 1, 4])
    assert codes(text, tmp_path) == ["IR405"]
    (found,) = irshape.validate(tmp_path / "graph.json").diagnostics
    assert text.splitlines()[found.line - 1][found.column - 1 :].startswith('"axes"')


def test_unknown_shapes_are_inferred(tmp_path: Path) -> None:
    unknown = -(2**63)
    output = tensor(1, [unknown], stride=[unknown], layout_type="undef")
    order = {"order": {"type": "s64[]", "value": [0, -1, 1]}}
    transpose = operation("StaticTranspose", [tensor(0, [2, 3, 4])], [output], order)
    assert codes(graph(transpose), tmp_path) == []
    inference = irshape.infer(irshape.load(tmp_path / "graph.json"))
    assert inference.to_dict()["layers"][-1]["outputs"][0]["shape"] == "[2,4,3]"


def test_a_cycle(tmp_path: Path) -> None:
    one, other = tensor(0, [2]), tensor(1, [2])
    circle = graph(operation("ReLU", [one], [other]), operation("ReLU", [other], [one]))
    assert "IR114" in codes(circle, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"graph": 1}',
        '{"graph": [1]}',
        '{"graph": [{}]}',
        '{"graph": [{"kind": "Add", "inputs": [{}]}]}',
        "{" * 10,
        '{"a": ' + "[" * 100_000,
    ],
)
def test_json_that_is_no_graph(text: str, tmp_path: Path) -> None:
    (found,) = codes(text, tmp_path)
    assert found in ("IR003", "IR005")


@pytest.mark.parametrize("seed", range(60))
def test_any_bytes_give_diagnostics(seed: int, tmp_path: Path) -> None:
    """The text of a graph changed at random: never a traceback."""
    generator = np.random.default_rng(seed)
    data = bytearray(reduce_mean([1], 1, [2, 1, 4]).encode())
    for _ in range(int(generator.integers(1, 6))):
        data[int(generator.integers(len(data)))] = int(
            generator.choice(np.frombuffer(b'{}[],:"-0129ae', np.uint8))
        )
    (tmp_path / "graph.json").write_bytes(bytes(data))
    irshape.validate(tmp_path / "graph.json")
