"""Every operation with random shapes, against OpenVINO.

They are the rows of the other tests with their input shapes changed at random.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from differential.cases import Case, Const, Data, build, const
from differential.compare import check_loosely
from differential.coverage import cases
from differential.oracle import Oracle

import irshape

COLOURS = "OpenVINO's upper bound of two thirds of an unbounded height overflows"
EXCEPTED = {
    "I420toBGR": COLOURS,
    "I420toRGB": COLOURS,
    "NV12toBGR": COLOURS,
    "NV12toRGB": COLOURS,
    "Slice": "OpenVINO's bounds are wrong where start and stop count from different ends; "
    "test_movement_slicing.py tries every size",
    "StridedSlice": "as Slice",
    "SparseFillEmptyRows": "OpenVINO reads dimension 0 of values of dynamic rank, "
    "and rejects them for what it reads",
    "Transpose": "OpenVINO infers a scalar for data of dynamic rank and an empty order, "
    "which stands for the reversed one",
}
"""Operations that are held against OpenVINO by their own rows only, and why."""


@cache
def pool() -> dict[tuple[str, str], list[Case]]:
    """The rows to begin with, by version: those that need no exception."""
    by_version = defaultdict(list)
    for case in cases():
        if case.edit is None and not case.known and case.type not in EXCEPTED:
            by_version[case.type, case.version].append(case)
    return dict(sorted(by_version.items()))


def changed(shape: str, chance: random.Random) -> str:
    """A shape with other sizes, intervals instead of sizes, another rank, or a dynamic rank."""
    if shape == "...":
        return chance.choice(["...", "?,?", "1,2,3"])
    dims = [dim for dim in shape.split(",") if dim]
    step = chance.random()
    if step < 0.08:
        return "..."
    if step < 0.14:
        dims.append(chance.choice("123"))
    elif step < 0.2 and dims:
        dims.pop()
    return ",".join(dim if chance.random() < 0.5 else _other(dim, chance) for dim in dims)


def _other(dim: str, chance: random.Random) -> str:
    size = int(dim) if re.fullmatch(r"\d+", dim) else chance.choice([1, 2, 3, 4, 8])
    return chance.choice(
        [
            "?",
            f"{max(size - 1, 0)}..{size + 2}",
            f"{size}..",
            f"..{max(size, 1)}",  # "..0" is 0, which comes below; its port would say -1
            str(size + 1),
            "1",
            "0",
            str(size),
        ]
    )


@pytest.mark.parametrize("seed", range(6))
def test_other_shapes(seed: int, oracle: Oracle) -> None:
    """A hundred rows of each seed, the same ones in every run."""
    chance = random.Random(seed)
    rows = pool()
    for version in chance.choices(list(rows), k=100):
        case = chance.choice(rows[version])
        inputs = [
            replace(given, shape=changed(given.shape, chance), run_shape=None)
            if isinstance(given, Data)
            else given
            for given in case.inputs
        ]
        if case.type == "Reshape" and getattr(inputs[0], "shape", "") == "...":
            continue  # the known difference reshape-of-nothing
        check_loosely(replace(case, inputs=inputs, run=False, id="", expected=None), oracle)


EXTREMES = [
    ("f32", float("nan")),
    ("f32", float("inf")),
    ("f32", float("-inf")),
    ("f32", 1e30),
    ("i64", -(2**63)),
    ("i64", 2**63 - 1),
    ("u64", 2**64 - 1),
]


def with_extremes() -> Iterator[Case]:
    """For each constant input of each version a row in which it holds such a number everywhere."""
    rows: Counter[tuple[str, str, int]] = Counter()
    for case in cases():
        for index, source in enumerate(case.inputs):
            key = (case.type, case.version, index)
            if isinstance(source, Const) and case.edit is None and rows[key] < 1:
                rows[key] += 1
                for element_type, number in EXTREMES:
                    inputs = list(case.inputs)
                    inputs[index] = const(element_type, np.full(source.shape, number))
                    yield replace(case, inputs=inputs, run=False, expected=None)


def test_extreme_constants_are_no_exceptions(tmp_path: Path) -> None:
    """Whatever a constant holds, checking and inferring come to an end with diagnostics."""
    for number, case in enumerate(with_extremes()):
        xml, weights = build(case)
        path = tmp_path / "model.xml"
        path.write_text(xml, encoding="utf-8")
        path.with_suffix(".bin").write_bytes(weights)
        irshape.infer(irshape.load(path))
        if number % 5 == 0:  # it infers as well, and searches for causes
            irshape.validate(path)
