"""Decides whether a declared shape is possible for some value of an unknown input, e.g. axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, islice, permutations, product
from math import prod

from ..faults import Fault
from ..ops.declaration import Operation
from ..ops.tensors import Tensor, Value
from ..shapes import PartialShape
from .layer import infer_operation

MAX_RANK = 8
MAX_VALUES = 5000
"""The maximum number of values to try."""
Values = tuple[int, ...]


def unknown_operands(operation: Operation, inputs: tuple[Tensor | None, ...]) -> list[str]:
    """Returns the names of the inputs whose values inference needs but does not know."""
    return [
        operand.name
        for index, operand in operation.signature.valued
        if index < len(inputs) and (tensor := inputs[index]) is not None and tensor.value is None
    ]


def attainable(
    operation: Operation, inputs: tuple[Tensor, ...], output: int, declared: PartialShape
) -> bool | None:
    """Whether some values of the unknown inputs give an output a shape compatible with `declared`.

    Tries values only for axes, orders and shapes, since these inputs have few possible values.
    Returns None if no such input is unknown, if a rank is dynamic, or if there are too many values.
    """
    if any(tensor.rank is None for tensor in inputs):
        return None
    tried: list[int] = []
    choices: list[list[Tensor]] = []
    for index, _ in operation.signature.valued:
        if index < len(inputs) and inputs[index].value is None:
            values = _choices(operation.operands[index].name, inputs, index, declared)
            if values is not None:
                tried.append(index)
                choices.append(values)
    if not tried or prod(map(len, choices)) > MAX_VALUES:
        return None
    for tensors in product(*choices):
        given = list(inputs)
        for index, tensor in zip(tried, tensors, strict=True):
            given[index] = tensor
        outputs = infer_operation(operation, tuple(given)).outputs
        if isinstance(outputs, Fault):
            continue
        if output >= len(outputs) or outputs[output].shape.compatible(declared):
            return True
    return False


def _choices(
    name: str, inputs: tuple[Tensor, ...], at: int, declared: PartialShape
) -> list[Tensor] | None:
    """Returns a tensor for each value that the input at position `at` can have. Returns None if
    there are more than `MAX_VALUES`, or if irshape cannot list the values of the operand `name`: it
    lists only axes, orders of axes, and shapes that can give the output the shape `declared`."""
    rank = max((tensor.rank or 0 for tensor in inputs[:at]), default=0)
    static, wanted = inputs[at].shape.static, declared.static
    values: Iterator[tuple[Values, Values]]  # each with its shape
    if name in ("axes", "axis") and 0 < rank <= MAX_RANK:
        if static is not None and prod(static) > MAX_RANK:
            return None
        values = _axes(static, rank)
    elif name == "order" and 0 < rank <= MAX_RANK:
        values = (((rank,), order) for order in permutations(range(rank)))
    elif name in ("pattern", "target_shape") and wanted is not None and 0 not in wanted:
        count = len(wanted) if static is None else prod(static)
        if count > len(wanted):
            return []  # the result has as many dimensions
        values = iter((((count,), wanted[len(wanted) - count :]),))
    else:
        return None
    tensors = [
        Tensor(inputs[at].element_type, PartialShape(shape), Value(value))
        for shape, value in islice(values, MAX_VALUES + 1)
        if inputs[at].shape.compatible(PartialShape(shape))
    ]
    return tensors if len(tensors) <= MAX_VALUES else None


def _axes(static: Values | None, rank: int) -> Iterator[tuple[Values, Values]]:
    """Yields the possible shapes and elements of an `axes` input. The elements are ascending."""
    counts = [(count,) for count in range(1, rank + 1)] if static is None else [static]
    for shape in counts:
        count = prod(shape)
        for axes in combinations_with_replacement(range(rank + count), count):
            yield shape, axes
