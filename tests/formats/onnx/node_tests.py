"""ONNX's own node tests as cases, and whether arrays are what they expect."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A node test: its model, and the inputs and outputs of each data set, in order.

    A data set is None where an input or an output is not a tensor.
    """

    name: str
    model: bytes
    operators: tuple[str, ...]
    data: tuple[tuple[list[Any], list[Any]], ...] | None
    rtol: float
    atol: float


@cache
def cases() -> tuple[Case, ...]:
    """All of them."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return tuple(_case(found) for found in collect_testcases(None))


def _case(found: Any) -> Case:
    data = [
        ([_array(value) for value in inputs], [_array(value) for value in outputs])
        for inputs, outputs in found.data_sets
    ]
    plain = all(
        isinstance(value, np.ndarray) for inputs, outputs in data for value in (*inputs, *outputs)
    )
    operators = tuple(node.op_type for node in found.model.graph.node)
    return Case(
        found.name,
        found.model.SerializeToString(),
        operators,
        tuple(data) if plain else None,
        found.rtol or 1e-3,
        found.atol or 1e-7,
    )


def _array(value: Any) -> Any:
    if hasattr(value, "data_type"):
        from onnx.numpy_helper import to_array

        return to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def of(*operators: str) -> list[Case]:
    """The cases whose only node is one of those operators.

    onnx computes what the cases of a module expect when it is imported, so no other is.
    """
    from onnx.backend.test.case import node

    modules = {name.lower() for name in operators}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for module in iter_modules(node.__path__):
            if module.name.replace("_", "") in modules:
                import_module(f"{node.__name__}.{module.name}")
    listed = [_case(found) for found in node._NodeTestCases]
    return [case for case in listed if len(case.operators) == 1 and case.operators[0] in operators]


def same(found: Any, expected: Any, case: Case) -> bool:
    """Whether an array has the type, the shape and the values that are expected."""
    if expected.dtype.kind in "OUS":
        texts = [
            [item.decode() if isinstance(item, bytes) else str(item) for item in array.ravel()]
            for array in (found, expected)
        ]
        return found.shape == expected.shape and texts[0] == texts[1]
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    if expected.dtype.kind in "biu":
        return bool(np.array_equal(found, expected))
    a, b = (array.astype(np.float64) for array in (found, expected))
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=case.rtol, atol=max(case.atol, 1e-5), equal_nan=True))
