"""Cross-checks of oneDNN graphs with the library, and its answer to every case of ReduceMean."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from formats.onednn.cases import CASES

import irshape

GRAPHS = Path(__file__).parent / "graphs"
KINDS = (
    "add",
    "avgpool",
    "bnorm",
    "conv_2d",
    "deconv",
    "interpolate",
    "lnorm",
    "matmul",
    "maxpool",
    "reducel1",
    "reducel2",
    "reducemax",
    "reducemean",
    "reducemin",
    "softmax",
)


@pytest.fixture(autouse=True)
def library() -> None:
    if sys.platform != "linux":
        pytest.skip("onednn-cpu-gomp is for Linux")


@pytest.mark.parametrize("name", KINDS)
def test_the_library_computes_the_same(name: str) -> None:
    comparison = irshape.crosscheck(irshape.load(GRAPHS / f"{name}.json"))
    assert comparison.ok, (comparison.problems, comparison.first)
    assert comparison.rows


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("one axis dropped", ""),
        ("a negative axis", ""),
        ("f16", "input"),
        ("empty axes", "partition unsupported"),
        ("no axes", "partition unsupported"),
        ("an axis out of range", "partition_compile: invalid_shape"),
        ("an axis twice", "partition_compile: invalid_shape"),
        ("axes as an input", "add_op: invalid_graph_op"),
        ("s32", "add_op: invalid_graph_op"),
        ("f32 to bf16", "add_op: invalid_graph_op"),
        ("no elements", "crashed"),
    ],
)
def test_what_the_library_does_with_reduce_mean(case: str, problem: str, tmp_path: Path) -> None:
    """The version of the development dependency, 3.2. f16 has no reduction on every processor."""
    (tmp_path / "graph.json").write_text(CASES[case].text)
    comparison = irshape.crosscheck(irshape.load(tmp_path / "graph.json"), force=True)
    said = " ".join(comparison.problems)
    if case == "f16":
        assert comparison.ok or "unsupported" in said or "crashed" in said
    else:
        assert problem in said, said
        assert comparison.ok is not bool(problem)
