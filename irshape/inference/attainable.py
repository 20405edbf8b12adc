"""Whether any value of an input that is not known could give an output the shape it declares."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod

from ..faults import Violation
from ..ops.declaration import Operation, check_inputs
from ..ops.tensors import Tensor, Value
from ..types import PartialShape

MAX_RANK = 8
MAX_VALUES = 5000
"""How many values are tried at most."""
AXES = ("axes", "axis")
"""Operands of which every value can be tried: axes of a tensor of known rank."""


def unknown_operands(operation: Operation, inputs: tuple[Tensor | None, ...]) -> list[str]:
    """The operands whose values decide the result and are not known."""
    return [
        operand.name
        for index, operand in operation.valued
        if index < len(inputs) and _value_unknown(inputs[index])
    ]


def _value_unknown(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.value is None


def attainable(
    operation: Operation, inputs: tuple[Tensor, ...], output: int, declared: PartialShape
) -> bool | None:
    """Whether some axes give the output a shape that is compatible with `declared`.

    None where something other than axes is unknown, or there are too many to try.
    """
    unknown = [
        index
        for index, _ in operation.valued
        if index < len(inputs) and _value_unknown(inputs[index])
    ]
    if len(unknown) != 1 or operation.operands[unknown[0]].name not in AXES:
        return None
    at = unknown[0]
    rank = max((tensor.rank or 0 for tensor in inputs[:at]), default=0)
    count = inputs[at].shape.static
    if count is not None and prod(count) > MAX_RANK:
        return None
    if not rank or rank > MAX_RANK or any(tensor.rank is None for tensor in inputs):
        return None
    for tries, tensor in enumerate(_values(inputs[at], rank)):
        if tries >= MAX_VALUES:
            return None
        given = (*inputs[:at], tensor, *inputs[at + 1 :])
        try:
            inferred = operation.infer(*check_inputs(operation, given))
        except Violation:
            continue
        outputs = inferred if isinstance(inferred, tuple) else (inferred,)
        if output >= len(outputs) or outputs[output].shape.compatible(declared):
            return True
    return False


def _values(tensor: Tensor, rank: int) -> Iterator[Tensor]:
    """The tensor with every value that names axes, in ascending order."""
    static = tensor.shape.static
    counts = [(count,) for count in range(1, rank + 1)] if static is None else [static]
    for shape in counts:
        count = prod(shape)
        for axes in combinations_with_replacement(range(rank + count), count):
            yield Tensor(tensor.element_type, PartialShape(shape), Value(axes))
