"""Every operation with shapes that nobody thought of: the rows of the other tests with their input shapes changed at random, against OpenVINO."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import replace
from functools import cache

from differential.cases import Case, Data
from differential.compare import check_loosely
from differential.coverage import cases
from differential.oracle import Oracle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WRONG_BOUNDS = {"I420toBGR", "I420toRGB", "NV12toBGR", "NV12toRGB", "Slice", "StridedSlice"}
"""Operations of which OpenVINO's bounds are wrong for some dynamic inputs, so that irshape's are wider: slices that mix both ends, two thirds of an unbounded height."""


@cache
def pool() -> dict[tuple[str, str], list[Case]]:
    """The rows to begin with, by version: those that need no exception."""
    found = defaultdict(list)
    for case in cases():
        if case.edit is None and not case.known and case.type not in WRONG_BOUNDS:
            found[case.type, case.version].append(case)
    return dict(sorted(found.items()))


def changed(shape: str, chance: random.Random) -> str:
    """A shape with other sizes, intervals in the place of sizes, a dimension more or less, or of dynamic rank."""
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
    return chance.choice(["?", f"{max(size - 1, 0)}..{size + 2}", f"{size}..", f"..{size}", str(size + 1), "1", "0", str(size)])


@settings(derandomize=True, max_examples=600, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_other_shapes(chance: random.Random, oracle: Oracle) -> None:
    rows = pool()
    case = chance.choice(rows[chance.choice(list(rows))])
    inputs = [replace(given, shape=changed(given.shape, chance), run_shape=None) if isinstance(given, Data) else given for given in case.inputs]
    check_loosely(replace(case, inputs=inputs, run=False, id="", expected=None), oracle)
