"""Single operations with values that arrive at run time, right and wrong ones.

They are the rows of the other tests with other numbers in their inputs. What is refused of
constants is refused of the same values at run time; what is computed is not contradicted by both
engines of OpenVINO.

python tests/ops/test_run_time_values.py 5000 [SEED]        more of them
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    tests = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(tests), str(tests.parent), str(tests / "ops")]

from differential import elements
from differential.cases import Case, Const, Data, const, data, static
from differential.coverage import cases
from differential.elements import REAL, Array
from differential.engines import computed, contradiction, refusals
from differential.oracle import Oracle

SMALL = 64
"""Inputs of more elements keep their values."""
INTEGERS = (-1000, -9, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 9, 100, 1000)
REALS = (float("nan"), float("inf"), float("-inf"), 1e30, 3e38, 0.5, 2.5, -0.3)

EXCEPTED = {
    "RandomUniform": "no two engines draw the same numbers",
    "Multinomial": "no two engines draw the same numbers",
    "StringTensorPack": "its bytes are no texts then",
}
"""Operations whose values are not compared, and why."""


@cache
def pool() -> dict[tuple[str, str], list[Case]]:
    """The rows to begin with, by version: sound ones, of layers without bodies."""
    by_version = defaultdict(list)
    for case in cases():
        if (
            case.edit is None
            and case.run is True
            and not (case.known or case.extra_xml or case.type in EXCEPTED)
            and all(_is_static(given) for given in case.inputs)
        ):
            by_version[case.type, case.version].append(case)
    return dict(sorted(by_version.items()))


def _is_static(given: object) -> bool:
    if isinstance(given, Data):
        return given.run_shape is not None or static(given.shape) is not None
    return isinstance(given, Const) and given.element_type != "dynamic"


def other_values(array: Array, element_type: str, chance: random.Random) -> Array:
    """The same shape with other numbers: one of them, all alike, each another, or moved."""
    changed = array.copy()
    flat = changed.reshape(-1)
    way = chance.random()
    if way < 0.5:
        flat[chance.randrange(flat.size)] = _number(element_type, chance)
    elif way < 0.7:
        flat[:] = _number(element_type, chance)
    elif way < 0.85:
        flat[:] = [_number(element_type, chance) for _ in flat]
    else:
        flat[:] = flat[chance.sample(range(flat.size), flat.size)]
    return changed


def _number(element_type: str, chance: random.Random) -> float:
    if element_type == "boolean":
        return chance.random() < 0.5
    if element_type in REAL:
        number = np.float64(chance.choice((*REALS, *INTEGERS)))
        with np.errstate(all="ignore"):
            return float(elements.cast(number, element_type))
    least, most = elements.limits(element_type)
    return min(max(chance.choice(INTEGERS), least), most)


def rows(seed: int, count: int) -> Iterator[tuple[Case, Case]]:
    """Random cases, each with changed values as constants and as inputs of the model."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)
    while count:
        of_version = chance.choice(list(pool().values()))
        case = chance.choice(of_version)
        arrays = [_values(given, draw) for given in case.inputs]
        small = [
            index
            for index, array in enumerate(arrays)
            if 0 < array.size <= SMALL and array.dtype != object and (index or len(arrays) == 1)
        ]
        if not small or refusals(case):
            continue
        chosen = chance.sample(small, min(chance.choice((1, 1, 2)), len(small)))
        types = [given.element_type for given in case.inputs if isinstance(given, Data | Const)]
        for index in chosen:
            arrays[index] = other_values(arrays[index], types[index], chance)
        fed = [
            data(name, ",".join(map(str, array.shape)), array)
            for name, array in zip(types, arrays, strict=True)
        ]
        constants = [
            const(types[index], arrays[index]) if index in small else given
            for index, given in enumerate(fed)
        ]
        plain = replace(case, id="", expected=None, note="")
        yield replace(plain, inputs=constants, id=""), replace(plain, inputs=fed, id="")
        count -= 1


def _values(given: object, draw: np.random.Generator) -> Array:
    if isinstance(given, Const):
        return elements.unpack(given.bytes, given.element_type, given.shape)
    assert isinstance(given, Data)
    array = given.array(draw)
    assert array is not None
    return array


def fault(constant: Case, fed: Case, oracle: Oracle) -> str:
    """What is wrong with what irshape does; empty if nothing is."""
    ours, refused = computed(fed), refusals(constant) - refusals(fed)
    if "--max-memory" in ours:
        return ""
    if refused:
        return "" if isinstance(ours, str) else f"computed, though refused as constants: {refused}"
    return contradiction(fed, ours, oracle)


@pytest.mark.parametrize("seed", range(3))
def test_other_values(seed: int, oracle: Oracle) -> None:
    """Fifty cases of each seed, the same ones in every run."""
    for constant, fed in rows(seed, 50):
        wrong = fault(constant, fed, oracle)
        assert not wrong, f"{constant.id}: {wrong}"


if __name__ == "__main__":
    with Oracle() as asked:
        for number, (constant, fed) in enumerate(
            rows(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1]))
        ):
            if wrong := fault(constant, fed, asked):
                print(f"{number}: {constant.id}: {wrong}", flush=True)
