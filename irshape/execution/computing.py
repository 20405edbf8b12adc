"""Finds the function that computes a layer: the `evaluate` of its operation, or a kernel."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..element_types import DYNAMIC_TYPE
from ..faults import Violation, bug_of_plugin
from ..inference.declarations import Declarations
from ..model.graph import Layer
from ..numpy_types import Array, element_type_of
from ..ops.declaration import Operation, check_inputs
from ..ops.kernels import Kernel, Kernels
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..shapes import PartialShape
from ..spelling import counted
from .errors import ExecutionError
from .memory import least_bytes
from .refusals import valued_inputs, with_values

_RANDOM = ("randomuniform", "multinomial")
_MOST_CHECKED = 4096
"""The cache of checked inputs is cleared when it has this many entries."""


class LayerKernels:
    """Looks up the operation and the kernel of each layer of a model, once."""

    def __init__(self, declarations: Declarations, kernels: Kernels) -> None:
        self._declarations = declarations
        self._kernels = kernels
        self._by_layer: dict[Layer, tuple[Operation, Kernel]] = {}
        self._checked: dict[tuple[object, ...], tuple[int, int]] = {}
        """Caches what `checked` returns. The keys are the operation, and the types, ranks, shapes
        and values of the inputs on which the result depends."""

    def of(self, layer: Layer) -> tuple[Operation, Kernel]:
        """Returns the operation of a layer and the function that computes the layer. Raises
        `ExecutionError`."""
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
            custom = operation.custom_version is not None
            reason = "no class with `evaluate` declares" if custom else "irshape cannot evaluate"
            raise ExecutionError(f"{reason} {operation.type_name()} of {layer.version}", layer)
        if operation.of_plugin:
            kernel = partial(_as_inferred, layer, operation, kernel)
        self._by_layer[layer] = operation, kernel
        return operation, kernel

    def repeatable(self, layer: Layer) -> Operation | None:
        """Returns the operation of a layer if equal inputs always give equal outputs; None
        otherwise, e.g. for RandomUniform, or if a kernel replaces `evaluate`."""
        declared = self._declarations.of(layer)
        if isinstance(declared, UnknownOperation):
            return None
        operation = declared[0]
        varies = operation.keeps_state or operation.bodies or layer.folded_type in _RANDOM
        return None if varies or operation in self._kernels else operation

    def checked(self, operation: Operation, inputs: tuple[Array, ...]) -> tuple[int, int]:
        """Returns the number of missing optional inputs, and the least number of bytes of the
        outputs; 0 bytes if the sizes of the outputs do not depend on values.

        Raises `Violation` if the operation refuses the inputs.
        """
        valued = bool(operation.signature.valued) and not operation.bodies
        key: tuple[object, ...] = (
            operation,
            *[(element_type_of(each), each.shape if valued else each.ndim) for each in inputs],
            *[array.tobytes() for array in (with_values(operation, inputs) if valued else ())],
        )
        known = self._checked.get(key)
        if known is None:
            if len(self._checked) >= _MOST_CHECKED:
                self._checked.clear()
            tensors = [Tensor(element_type_of(each), PartialShape(each.shape)) for each in inputs]
            absent = len(check_inputs(operation, tuple(tensors))) - len(inputs)
            size = _bytes_of_outputs(operation, inputs) if valued else 0
            known = self._checked[key] = absent, size
        return known


def _bytes_of_outputs(operation: Operation, inputs: tuple[Array, ...]) -> int:
    """Returns the least number of bytes of the outputs. Raises `Violation` for input values that
    the operation or the specification refuses. Exception: values that only the specification
    refuses but irshape can compute, e.g. repeated axes."""
    valued = check_inputs(operation, valued_inputs(operation, inputs))
    inferred = operation.infer(*valued)
    if type(operation).check is not Operation.check:
        unvalued = tuple([each and each.with_value(None) for each in valued])
        whatever_the_values = set(operation.check(*unvalued))
        for fault in operation.check(*valued):
            is_error = (fault.severity or fault.rule.severity) == "error"
            if is_error and fault.prevents_computing and fault not in whatever_the_values:
                raise Violation.of(fault)
    return sum(map(least_bytes, inferred if isinstance(inferred, tuple) else (inferred,)))


def _as_inferred(
    layer: Layer, operation: Operation, kernel: Kernel, *inputs: Array, **context: Any
) -> Any:
    """Runs a kernel of a plugin's operation, and checks its outputs against what `infer` returns.

    The kernel gets read-only arrays, since other layers may use the same arrays. Raises
    `ExecutionError` if the kernel fails, or if its outputs contradict `infer`.
    """
    given = [array for array in inputs if array is not None]
    inferred = operation.infer(*check_inputs(operation, valued_inputs(operation, given)))
    try:
        computed = kernel(*map(_read_only, inputs), **context)
    except (ExecutionError, Violation, MemoryError, NotImplementedError):
        raise
    except (Exception, SystemExit) as error:
        reason = f"`evaluate` fails with {type(error).__name__}: {error}"
        raise ExecutionError(f"{reason}; {bug_of_plugin(type(operation), error)}", layer) from error
    outputs = computed if isinstance(computed, tuple) else (computed,)
    tensors = inferred if isinstance(inferred, tuple) else (inferred,)
    if len(outputs) != len(tensors):
        raise ExecutionError(
            f"`evaluate` gives {counted(len(outputs), 'output')}, `infer` says {len(tensors)}",
            layer,
        )
    for index, (array, tensor) in enumerate(zip(map(np.asarray, outputs), tensors, strict=True)):
        element_type, shape = element_type_of(array), PartialShape(array.shape)
        nothing = outputs[index] is None
        if nothing or not (
            tensor.element_type in (element_type, DYNAMIC_TYPE) and tensor.shape.compatible(shape)
        ):
            raise ExecutionError(
                f"`evaluate` gives {None if nothing else f'{element_type}{shape}'} as output "
                f"{index}, `infer` says "
                f"{tensor.element_type}{tensor.shape}",
                layer,
            )
    return computed


def _read_only(array: Array | None) -> Array | None:
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view


def supported(operation: type[Operation]) -> bool:
    """Returns whether irshape can run an operation."""
    return operation.evaluate is not None or operation.type_name() in ("Parameter", "Const")
