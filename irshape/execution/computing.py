"""What computes each layer of a model: its operation, as declared, and the kernel of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..element_types import DYNAMIC_TYPE
from ..faults import Violation
from ..inference.declarations import Declarations
from ..model.graph import Layer
from ..numpy_types import element_type_of
from ..ops.declaration import Operation, check_inputs
from ..ops.kernels import Kernel, Kernels
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..rule_ids import DUPLICATE_VALUES
from ..shapes import PartialShape
from ..spelling import counted
from .errors import ExecutionError
from .memory import least_bytes
from .refusals import valued_inputs, with_values

Array = np.ndarray[Any, np.dtype[Any]]

_MOST_JUDGED = 4096
"""How many judgements of inference are remembered at a time."""


class LayerKernels:
    """The operations of the layers of a model and what computes them, each looked up once."""

    def __init__(self, declarations: Declarations, kernels: Kernels) -> None:
        self._declarations = declarations
        self._kernels = kernels
        self._by_layer: dict[Layer, tuple[Operation, Kernel]] = {}
        self._judged: dict[tuple[object, ...], int | Violation] = {}
        """What inference makes of an operation with types, shapes and values of its inputs."""
        self._absent: dict[tuple[object, ...], int] = {}
        """How many optional inputs an operation is not given, by operation, types and ranks."""

    def of(self, layer: Layer) -> tuple[Operation, Kernel]:
        """The operation of a layer, and what computes it. Raises `ExecutionError`."""
        return self._by_layer.get(layer) or self._looked_up(layer)

    def _looked_up(self, layer: Layer) -> tuple[Operation, Kernel]:
        declared = self._declarations.of(layer)
        if isinstance(declared, UnknownOperation):
            raise ExecutionError(str(declared), layer)
        operation, faults = declared
        for attribute in faults:
            if not attribute.silent:
                raise ExecutionError(attribute.fault.message, layer)
        kernel = self._kernels.of(operation)
        if kernel is None:
            raise ExecutionError(
                f"irshape cannot evaluate {operation.type_name()} of {layer.version}", layer
            )
        if operation.of_plugin:
            kernel = partial(_as_inferred, operation, kernel)
        self._by_layer[layer] = operation, kernel
        return operation, kernel

    def replaces_evaluation(self, operation: Operation) -> bool:
        """Whether a kernel takes the place of the evaluation that an operation declares."""
        return operation in self._kernels

    def repeatable(self, layer: Layer) -> Operation | None:
        """The operation of a layer if it computes the same from the same inputs, else None."""
        declared = self._declarations.of(layer)
        if isinstance(declared, UnknownOperation):
            return None
        operation = declared[0]
        impure = operation.keeps_state or operation.bodies or operation in self._kernels
        return None if impure else operation

    def bytes_of_outputs(self, operation: Operation, inputs: tuple[Array, ...]) -> int:
        """The bytes that the outputs take at least, by inference with the values of the inputs.

        Raises `Violation` for what it refuses.
        """
        key: tuple[object, ...] = (
            operation,
            *[(element_type_of(array), array.shape) for array in inputs],
            *[array.tobytes() for array in with_values(operation, inputs)],
        )
        known = self._judged.get(key)
        if known is None:
            try:
                known = _judged(operation, inputs)
            except Violation as violation:
                known = violation
            if len(self._judged) >= _MOST_JUDGED:
                self._judged.clear()
            self._judged[key] = known
        if isinstance(known, Violation):
            raise known
        return known

    def absent_inputs(self, operation: Operation, inputs: tuple[Array, ...]) -> int:
        """How many optional inputs are not given. Types and ranks are all that this depends on."""
        key = (operation, *[(element_type_of(array), array.ndim) for array in inputs])
        absent = self._absent.get(key)
        if absent is None:
            abstract = tuple(
                Tensor(element_type_of(array), PartialShape(array.shape)) for array in inputs
            )
            absent = self._absent[key] = len(check_inputs(operation, abstract)) - len(inputs)
        return absent


def _judged(operation: Operation, inputs: tuple[Array, ...]) -> int:
    """The bytes that outputs take at least. Raises `Violation` for values that are refused.

    So are those that the specification forbids and OpenVINO accepts, but for repeated ones.
    """
    valued = check_inputs(operation, valued_inputs(operation, inputs))
    inferred = operation.infer(*valued)
    if type(operation).check is not Operation.check:
        unvalued = tuple([each and each.with_value(None) for each in valued])
        whatever_the_values = set(operation.check(*unvalued))
        for fault in operation.check(*valued):
            is_error = (fault.severity or fault.rule.severity) == "error"
            if is_error and fault.rule != DUPLICATE_VALUES and fault not in whatever_the_values:
                raise Violation.of(fault)
    return sum(map(least_bytes, inferred if isinstance(inferred, tuple) else (inferred,)))


def _as_inferred(operation: Operation, kernel: Kernel, *inputs: Array, **context: Any) -> Any:
    """What a kernel of a plugin's operation computes, held against what its `infer` says.

    Raises `Violation` where they contradict each other.
    """
    given = [array for array in inputs if array is not None]
    inferred = operation.infer(*check_inputs(operation, valued_inputs(operation, given)))
    computed = kernel(*inputs, **context)
    outputs = computed if isinstance(computed, tuple) else (computed,)
    tensors = inferred if isinstance(inferred, tuple) else (inferred,)
    if len(outputs) != len(tensors):
        raise Violation(
            f"`evaluate` gives {counted(len(outputs), 'output')}, `infer` says {len(tensors)}"
        )
    for index, (array, tensor) in enumerate(zip(map(np.asarray, outputs), tensors, strict=True)):
        element_type, shape = element_type_of(array), PartialShape(array.shape)
        if not (
            tensor.element_type in (element_type, DYNAMIC_TYPE) and tensor.shape.compatible(shape)
        ):
            raise Violation(
                f"`evaluate` gives {element_type}{shape} as output {index}, `infer` says "
                f"{tensor.element_type}{tensor.shape}"
            )
    return computed


def supported(operation: type[Operation]) -> bool:
    """Whether the interpreter can run an operation."""
    return operation.evaluate is not None or operation.type_name() in ("Parameter", "Const")
