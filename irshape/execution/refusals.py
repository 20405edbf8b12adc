"""Explains why a layer cannot be computed, and where its inputs come from."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ..faults import Violation
from ..model.graph import Body, Layer
from ..model.wiring import OutputRef, wire
from ..numpy_types import Array, element_type_of
from ..ops.declaration import Operation, check_inputs
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..shapes import PartialShape
from ..spelling import first_of

MAX_ORIGINS = 3
"""For each input of a layer, at most this many inputs and variables of the model are named."""
MAX_SHAPES = 8
"""At most this many shapes of inputs, and of variables, are listed."""


def with_values(operation: Operation, inputs: Sequence[Array]) -> list[Array]:
    """Returns the inputs of an operation whose values are needed to infer its outputs."""
    return [
        inputs[index]
        for index, _ in operation.signature.valued
        if index < len(inputs)
        and inputs[index].size <= MAX_VALUE_ELEMENTS
        and inputs[index].dtype.kind in "iufb"
    ]


def valued_inputs(operation: Operation, inputs: Sequence[Array]) -> tuple[Tensor, ...]:
    """Returns the inputs of an operation as tensors, with values where the operation needs the
    values to infer its outputs."""
    valued = with_values(operation, inputs)
    return tuple(
        Tensor(
            element_type_of(array),
            PartialShape(array.shape),
            Value(array.ravel().tolist()) if any(array is each for each in valued) else None,
        )
        for array in inputs
    )


def message(operation: Operation, inputs: Sequence[Array], problem: Exception) -> str:
    """Says why an operation cannot be computed from some inputs: names the condition that they
    violate or, if none is declared, their types and shapes."""
    if isinstance(problem, MemoryError):
        return f"there is not enough memory to compute it from {_operands(operation, inputs)}"
    if isinstance(problem, NotImplementedError):
        return str(problem)
    if not operation.bodies:
        try:
            operation.infer(*check_inputs(operation, valued_inputs(operation, inputs)))
        except Violation as violation:
            return violation.fault.message
        except Exception:  # the evaluation has failed on these inputs, and inference may too
            pass
    return f"it cannot be computed from {_operands(operation, inputs)}: {problem}"


def _operands(operation: Operation, inputs: Sequence[Array]) -> str:
    operands = map(operation.operand_at, range(len(inputs)))
    names = [
        f"input {index}" if operand is None else f"`{operand.name}`"
        for index, operand in enumerate(operands)
    ]
    return ", ".join(
        f"{name} {_described(array)}" for name, array in zip(names, inputs, strict=True)
    )


def _described(array: Array) -> str:
    try:
        return f"{element_type_of(array)}{list(array.shape)}"
    except ValueError:
        return f"{array.dtype}{list(array.shape)}"


def origin(body: Body, layer: Layer, fed: Mapping[str, Array], state: Mapping[str, Array]) -> str:
    """Says from which inputs and variables of the model each input of a layer is computed, nearest
    first, and which shapes the model's inputs and variables have.

    fed: the inputs of the run by layer id. state: the variables before the run.
    """
    wiring = wire(body)
    try:
        position = body.layers.index(layer)
    except ValueError:
        return shapes(body, fed, state)  # a layer inside a body
    parts = []
    for index, source in enumerate(wiring.sources[position]):
        names = [] if source is None else _origins(body, wiring.sources, source[0], state)
        if names:
            parts.append(f"input {index} comes from {', '.join(names)}")
    return "; ".join([*parts, shapes(body, fed, state)])


def _origins(
    body: Body,
    sources: Sequence[Sequence[OutputRef | None]],
    start: int,
    state: Mapping[str, Array],
) -> list[str]:
    waiting, visited, names = deque([start]), {start}, dict[str, None]()
    while waiting and len(names) < MAX_ORIGINS:
        at = waiting.popleft()
        layer = body.layers[at]
        variable = layer.attribute("variable_id") if layer.is_read_value else None
        if layer.is_parameter:
            names[layer.name] = None
        elif variable is not None and variable in state:
            names[f"the variable '{variable}'"] = None
            continue
        for source in sources[at]:
            if source is not None and source[0] not in visited:
                visited.add(source[0])
                waiting.append(source[0])
    return list(names)


def shapes(body: Body, fed: Mapping[str, Array], state: Mapping[str, Array]) -> str:
    """Describes the shapes of the inputs of a run, and of the variables before the run."""
    given = [
        f"{layer.name}={list(fed[layer.id].shape)}"
        for layer in body.layers
        if layer.is_parameter and layer.id in fed
    ]
    listed = first_of(given, MAX_SHAPES)
    if not state:
        return f"the inputs do not fit: {listed}"
    kept = [f"'{name}'={list(array.shape)}" for name, array in state.items()]
    variables = first_of(kept, MAX_SHAPES)
    return f"the inputs and the state do not fit: {listed}; variables {variables}"
