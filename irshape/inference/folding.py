"""Computes the values of small tensors in NumPy if their operation has no `infer_value`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..faults import Violation
from ..ops.declaration import Operation
from ..ops.tensors import MAX_VALUE_ELEMENTS, Number, Tensor, Value
from ..shapes import INT64_MIN, UNBOUNDED

_Elements = tuple[Number, ...]

_NOT_COMPUTABLE = (
    Violation,
    ValueError,
    IndexError,
    ZeroDivisionError,
    OverflowError,
    MemoryError,
    NotImplementedError,
)


def fold(
    operation: Operation, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor, ...]
) -> tuple[Value | None, ...]:
    """Returns bounds of the values of each output; None for an output without known bounds.

    The values are exact if the values of all inputs are exact. If the operation only moves
    elements, as Transpose does, it is evaluated twice: for the lower and for the upper bounds of
    its inputs.
    """
    unknown: tuple[Value | None, ...] = (None,) * len(outputs)
    if (
        operation.evaluate is None
        or operation.keeps_state
        or not any(_small(output) for output in outputs)
    ):
        return unknown
    names = [operand.name for operand in operation.operands]
    moved: set[int] = set()
    exact = True
    for index, tensor in enumerate(inputs):
        if tensor is None:
            continue
        if tensor.value is None:
            return unknown
        if names[min(index, len(names) - 1)] in operation.moves:
            moved.add(index)
        if tensor.value.exact is None:
            if index not in moved or tensor.element_type.is_real:
                return unknown
            exact = False
    if exact:
        moved = set()
    lower = _evaluated(operation, inputs, outputs, moved, upper=False)
    if lower is None:
        return unknown
    if exact:
        return tuple(None if elements is None else Value(elements) for elements in lower)
    upper = _evaluated(operation, inputs, outputs, moved, upper=True)
    if upper is None:
        return unknown
    return tuple(
        Value(low, high) if low is not None and high is not None and len(low) == len(high) else None
        for low, high in zip(lower, upper, strict=True)
    )


def _small(tensor: Tensor) -> bool:
    kind = tensor.element_type.kind
    return tensor.shape.size.low <= MAX_VALUE_ELEMENTS and kind in ("integer", "real", "boolean")


def _evaluated(
    operation: Operation,
    inputs: tuple[Tensor | None, ...],
    outputs: tuple[Tensor, ...],
    moved: set[int],
    *,
    upper: bool,
) -> list[_Elements | None] | None:
    """Returns the elements of each output, from the lower or the upper bounds of the inputs.

    An output with too many elements gets None. Returns None if the outputs cannot be computed.
    moved: the inputs whose elements the operation only moves.
    """
    import numpy as np

    arrays: list[Any] = []
    for index, tensor in enumerate(inputs):
        if tensor is None:
            arrays.append(None)
        elif (
            not tensor.shape.is_static
            or tensor.element_type.is_dynamic
            or tensor.element_type.kind == "string"
        ):
            return None
        else:
            arrays.append(_array(tensor, upper, bounds=index in moved))
    assert operation.evaluate is not None
    try:
        with np.errstate(all="ignore"):
            evaluated = operation.evaluate(*arrays)
    except _NOT_COMPUTABLE:
        return None  # the value stays unknown: folding only adds knowledge
    results: Sequence[Any] = evaluated if isinstance(evaluated, tuple) else (evaluated,)
    if len(results) != len(outputs):
        return None
    return [
        tuple(np.asarray(result).ravel().tolist())
        if np.size(result) <= MAX_VALUE_ELEMENTS and np.asarray(result).dtype.kind in "iufb"
        else None
        for result in results
    ]


def _array(tensor: Tensor, upper: bool, *, bounds: bool) -> Any:
    """Returns the lower or upper bounds of a tensor of static shape as an array.

    bounds: return integers as int64, so that bounds outside the element type do not overflow. A
    bound that is missing or outside int64 becomes the smallest or largest int64.
    """
    import numpy as np

    from ..numpy_types import dtype_of

    assert tensor.value is not None
    numbers = tensor.value.upper if upper else tensor.value.lower
    if tensor.element_type.name != "u64":
        numbers = tuple(
            min(max(number, INT64_MIN), UNBOUNDED) if isinstance(number, int) else number
            for number in numbers
        )
    whole = tensor.element_type.kind == "integer" and tensor.element_type.name != "u64"
    dtype = np.dtype(np.int64) if bounds and whole else dtype_of(tensor.element_type)
    return np.array(numbers).astype(dtype).reshape(tensor.shape.static)
