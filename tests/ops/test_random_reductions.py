"""Random reductions beside OpenVINO: every operation of the family, with every form of axes.

What OpenVINO refuses is an error; types and shapes are OpenVINO's or lie within them; declared
ports are found wrong where they are, and only there; values are not contradicted by both engines of
OpenVINO.

python tests/ops/test_random_reductions.py 5000 [SEED]        more of them
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

if __name__ == "__main__":
    tests = Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(tests), str(tests.parent)]

from differential.cases import Case, Data, Input, Node, build, const, data, node
from differential.elements import cast
from differential.engines import computed, contradiction, refusals, written
from differential.oracle import Answer, Oracle

import irshape
from irshape.shapes import PartialShape

FAMILY = {
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceProd", "ReduceMin", "ReduceMax"), "opset1"),
    **dict.fromkeys(("ReduceL1", "ReduceL2"), "opset4"),
    **dict.fromkeys(("ReduceLogicalAnd", "ReduceLogicalOr"), "opset1"),
}
NUMBERS = ("f32", "f32", "f16", "bf16", "f64", "i32", "i64", "i8", "u8", "boolean")
INDICES = ("i64", "i64", "i32", "i8", "u8", "u64")


class Reduction(NamedTuple):
    """A case; the same with constant axes; the rank of the data, and the axes."""

    case: Case
    constant: Case
    rank: int
    axes: list[int]


def reductions(seed: int, count: int) -> Iterator[Reduction]:
    chance = random.Random(seed)
    for _ in range(count):
        kind = chance.choice(list(FAMILY))
        logical = "Logical" in kind
        element_type = "boolean" if logical and chance.random() < 0.9 else chance.choice(NUMBERS)
        rank = chance.choice((0, 1, 2, 2, 3, 3, 4, 5, 6))
        sizes = [chance.choice((1, 1, 2, 3, 4, 0)) for _ in range(rank)]
        axes = _axes(chance, rank)
        keep = {"keep_dims": chance.choice(("true", "false"))} if chance.random() < 0.9 else {}
        index = chance.choice(INDICES)
        if index.startswith("u"):
            axes = [abs(axis) for axis in axes]
        numbers = cast(np.array(axes, np.int64).reshape(-1), index)
        if len(axes) == 1 and chance.random() < 0.2:
            numbers = numbers.reshape(())
        draw = np.random.default_rng(chance.randrange(2**32))
        given = _data(chance, draw, element_type, sizes)
        known, length = const(index, numbers), ",".join(map(str, numbers.shape))
        fed = data(index, chance.choice((length, "?" if numbers.ndim else "")), numbers)
        way = chance.random()
        form: Input = known if way < 0.5 else fed
        if way > 0.75:  # computed from an input, as i64
            form = node("Convert", "opset1", {"destination_type": "i64"}, [fed])
        cases = [
            Case(kind, FAMILY[kind], keep, [given, each], id=f"{kind}-{seed}")
            for each in (form, known)
        ]
        yield Reduction(*cases, rank, axes)


def _axes(chance: random.Random, rank: int) -> list[int]:
    """None, some of either sign, all, one twice, or one beyond the rank."""
    axes = chance.sample(range(rank), chance.randint(0, rank))
    axes = [axis - rank if chance.random() < 0.4 else axis for axis in axes]
    if axes and chance.random() < 0.1:
        axes.append(chance.choice(axes))
    if chance.random() < 0.15:
        axes.append(chance.choice((rank, rank + 3, -rank - 1, -rank - 4)))
    return axes


def _data(
    chance: random.Random, draw: np.random.Generator, element_type: str, sizes: list[int]
) -> Data:
    least = 0 if element_type in ("u8", "boolean") else -3
    array = cast(draw.integers(least, 2 if element_type == "boolean" else 4, sizes), element_type)
    if element_type.startswith(("f", "bf")):
        array = cast(array.astype(np.float64) + draw.choice([0, 0.5], sizes), element_type)
    dims = ",".join(
        chance.choice((str(size), str(size), "?", f"{max(size - 1, 0)}..{size + 2}"))
        for size in sizes
    )
    return data(element_type, dims, array)


def fault(reduction: Reduction, oracle: Oracle, chance: random.Random) -> str:
    """What is wrong with what irshape makes of it; empty if nothing is."""
    case = reduction.case
    answer, ours = oracle.ask(*build(case)), refusals(case)
    of_scalar = not reduction.rank and reduction.axes  # OpenVINO takes 0 and -1 for axes of it
    if answer.status != "accepted":
        return "" if ours else f"refused by OpenVINO: {answer.message[-200:]}"
    if ours:
        return "" if of_scalar else f"refused, which OpenVINO reads: {ours}"
    wrong = _shape(case, answer) or _declared(case, chance)
    if wrong:
        return wrong
    values = computed(case)
    if refusals(reduction.constant):
        return "" if isinstance(values, str) else "computed, though refused with constant axes"
    if isinstance(values, str):
        return f"refused at run time only: {values}"
    data_given = case.inputs[0]
    assert isinstance(data_given, Data)
    if case.type in ("ReduceMax", "ReduceMin") and not data_given.values.size:
        return ""  # the specification leaves open what it is
    return contradiction(case, values, oracle)


def _shape(case: Case, answer: Answer) -> str:
    element_type, shape = _inferred(case)
    theirs_type, theirs = answer.layers["op"][0]
    if element_type != theirs_type or not PartialShape.parse(theirs).encloses(shape):
        return f"inferred {element_type}{shape}, OpenVINO {theirs_type}{theirs}"
    return ""


def _inferred(case: Case) -> tuple[str, PartialShape]:
    with tempfile.TemporaryDirectory() as folder:
        model = irshape.load(written(case, Path(folder)))
        layer = next(layer for layer in model.layers if layer.name == "op")
        tensor = irshape.infer(model).outputs(layer)[0]
        return tensor.element_type.name, tensor.shape


def _declared(case: Case, chance: random.Random) -> str:
    """Whether a declared output is found wrong where it is, and only there."""
    element_type, shape = _inferred(case)
    if shape.dims is None:
        return ""
    right = [str(dim) if dim.is_static else "?" for dim in shape.dims]
    static = [axis for axis, dim in enumerate(shape.dims) if dim.is_static]
    wrong = [(element_type, [*right, "1"]), ("i16", right)]
    if static:
        axis = chance.choice(static)
        wrong.append((element_type, [*right[:axis], "7", *right[axis + 1 :]]))
    known = _errors(case, element_type, right)
    if any(code.startswith("IR2") for code in known):
        return f"a right output is found wrong: {known}"
    for name, dims in wrong:
        if not _errors(case, name, dims) - known:
            return f"a declared output {name}{dims} passes, inferred {element_type}{shape}"
    return ""


def _errors(case: Case, element_type: str, dims: list[str]) -> set[str]:
    """The codes of the errors, and of what stands under them, where the layer declares this."""
    axes = case.inputs[1]
    ports = {"op": [(element_type, f"[{','.join(dims)}]")]}
    if isinstance(axes, Node):
        (fed,) = axes.inputs
        assert isinstance(fed, Data)
        ports["node0"] = [("i64", fed.shape)]
    with tempfile.TemporaryDirectory() as folder:
        diagnostics = irshape.validate(written(case, Path(folder), ports)).diagnostics
    found = [each.to_dict() for each in diagnostics if each.severity == "error"]
    return {each["code"] for finding in found for each in (finding, *finding.get("related", ()))}


@pytest.mark.parametrize("seed", range(3))
def test_reductions(seed: int, oracle: Oracle) -> None:
    """Fifty of each seed, the same ones in every run."""
    chance = random.Random(seed)
    for reduction in reductions(seed, 50):
        wrong = fault(reduction, oracle, chance)
        assert not wrong, f"{reduction}: {wrong}"


if __name__ == "__main__":
    chosen = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with Oracle() as asked:
        for number, reduction in enumerate(reductions(chosen, int(sys.argv[1]))):
            if wrong := fault(reduction, asked, random.Random(number)):
                case = reduction.case
                print(number, case.type, case.attributes, reduction.axes, end=": ")
                print([vars(given) for given in case.inputs], wrong, flush=True)
