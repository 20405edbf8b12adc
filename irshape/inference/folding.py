"""Values of small tensors where an operation has no rule of its own for them: its NumPy evaluation on what is known."""

from __future__ import annotations

from typing import Any

from ..faults import Violation
from ..ops.declaration import Operation
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..types import INT64_MIN, UNBOUNDED


def fold(
    operation: Operation, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor, ...]
) -> tuple[Value | None, ...]:
    """Bounds of the outputs' values: exact where all inputs are exact, both bounds apart where the operation only moves elements, else nothing."""
    nothing: tuple[Value | None, ...] = (None,) * len(outputs)
    if operation.evaluate is None or not any(_small(output) for output in outputs):
        return nothing
    names = [declared.name for declared in operation.operands]
    inexact = False
    for index, tensor in enumerate(inputs):
        if tensor is None:
            continue
        if tensor.value is None:
            return nothing
        if tensor.value.exact is None:
            name = names[min(index, len(names) - 1)]
            if name not in operation.moves or tensor.element_type.is_real:
                return nothing
            inexact = True
    lower = _evaluated(operation, inputs, outputs, upper=False)
    if lower is None or not inexact:
        return (
            nothing
            if lower is None
            else tuple(Value(part) if part is not None else None for part in lower)
        )
    upper = _evaluated(operation, inputs, outputs, upper=True)
    if upper is None:
        return nothing
    return tuple(
        Value(a, b) if a is not None and b is not None and len(a) == len(b) else None
        for a, b in zip(lower, upper, strict=True)
    )


def _small(tensor: Tensor) -> bool:
    size = tensor.shape.size
    return size.low <= MAX_VALUE_ELEMENTS and tensor.element_type.kind in (
        "integer",
        "real",
        "boolean",
    )


def _evaluated(
    operation: Operation,
    inputs: tuple[Tensor | None, ...],
    outputs: tuple[Tensor, ...],
    *,
    upper: bool,
) -> list[tuple[int | float, ...] | None] | None:
    import numpy as np

    from ..numpy_types import dtype_of

    arrays: list[Any] = []
    for tensor in inputs:
        if tensor is None:
            arrays.append(None)
            continue
        shape = tensor.shape.static
        assert tensor.value is not None
        if shape is None or tensor.element_type.is_dynamic or tensor.element_type.kind == "string":
            return None
        numbers = tensor.value.upper if upper else tensor.value.lower
        wide = np.array(
            [
                min(max(n, INT64_MIN), UNBOUNDED)
                if isinstance(n, int) and tensor.element_type.name != "u64"
                else n
                for n in numbers
            ]
        )
        arrays.append(wide.astype(dtype_of(tensor.element_type)).reshape(shape))
    try:
        with np.errstate(all="ignore"):
            assert operation.evaluate is not None
            made = operation.evaluate(*arrays)
    except (
        Violation,
        ValueError,
        IndexError,
        ZeroDivisionError,
        OverflowError,
        MemoryError,
        NotImplementedError,
    ):
        return None  # a value that cannot be computed is unknown: folding only ever adds knowledge
    results = made if isinstance(made, tuple) else (made,)
    if len(results) != len(outputs):
        return None
    return [
        tuple(np.asarray(result).ravel().tolist())
        if np.size(result) <= MAX_VALUE_ELEMENTS and np.asarray(result).dtype.kind in "iufb"
        else None
        for result in results
    ]
