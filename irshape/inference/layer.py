"""Infers one layer without regard to its place in the model, and caches the result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import prod
from typing import Any

from ..demands import NOTES, Notes
from ..element_types import ElementType
from ..faults import Fault, Violation, bug_of_plugin, fault, module_of
from ..model.graph import Layer, Model
from ..model.weights import Constant, small_values
from ..ops.declaration import Operation, check_inputs
from ..ops.operands import specified_types
from ..ops.tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..rule_ids import INTERNAL_ERROR
from ..shapes import DYNAMIC, PartialShape
from .folding import fold
from .memory import MEMORY
from .ports import declared
from .result import LayerResult


class LayerEngine:
    """Infers layers without bodies, and caches results by operation, attributes and inputs.

    The model supplies the bytes of small constants.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.memory = MEMORY
        """The cache of results. Inference with named sizes needs a cache of its own."""
        self.constants: dict[Layer, LayerResult] = {}
        """The results of Const layers whose values were read."""

    def infer(
        self, layer: Layer, operation: Operation, inputs: tuple[Tensor, ...], *, with_values: bool
    ) -> LayerResult:
        """Infers the outputs of a layer; `with_values` also infers bounds of their values."""
        if with_values and operation.reads_weights and not inputs:
            return self._constant(layer, operation)
        if operation.opaque:
            return _of_ports(layer, inputs)
        key = (operation, with_values, *inputs)
        result = self.memory.results.get(key)
        if result is None:
            result = infer_operation(operation, inputs, with_values=with_values)
            self.memory.keep(key, result, inputs)
        return result

    def _constant(self, layer: Layer, operation: Operation) -> LayerResult:
        """Returns the output of a Const layer with its value, if the value is known."""
        result = self.constants.get(layer)
        if result is None:
            result = self.infer(layer, operation, (), with_values=False)
            if not isinstance(result.outputs, Fault):
                tensor = self.constant(layer, result.outputs[0])
                # without a value, some shape is wider than it is meant to be
                result = LayerResult((tensor,), unsure=tensor.value is None)
            self.constants[layer] = result
        return result

    def constant(self, layer: Layer, tensor: Tensor) -> Tensor:
        """Returns the output of a Const layer with its value if it is small and readable."""
        weights, shape = self.model.weights, tensor.shape.static
        if weights is None or shape is None or prod(shape) > MAX_VALUE_ELEMENTS:
            return tensor
        try:
            constant = Constant.of(layer.items, weights)
        except ValueError:
            return tensor
        numbers = small_values(constant) if constant.shape == shape else None
        return tensor if numbers is None else tensor.with_value(Value(numbers))


def infer_operation(
    operation: Operation,
    inputs: tuple[Tensor, ...],
    *,
    with_values: bool = False,
    bodies: dict[str, Any] | None = None,
    outputs: int = 0,
) -> LayerResult:
    """Infers an operation with its attributes from its inputs.

    bodies, outputs: for an operation with bodies, the bodies and the number of outputs.
    """
    around = {} if bodies is None else {"bodies": bodies}
    whole = around if bodies is None else {**around, "outputs": outputs}
    notes = Notes()
    before = NOTES.set(notes)
    try:
        operands = check_inputs(operation, inputs)
        inferred = operation.infer(*operands, **whole)
        tensors = inferred if isinstance(inferred, tuple) else (inferred,)
        asked = operation.questioned
        faults = _questioned(operation, operands, tensors, around) if asked else ()
        if with_values and not operation.reads_weights:
            tensors = _with_values(operation, operands, tensors)
    except Violation as violation:
        return LayerResult(violation.fault)
    except (Exception, SystemExit) as error:
        return LayerResult(_internal_error(operation, error))
    finally:
        NOTES.reset(before)
    return LayerResult(tensors, faults, unsure=notes.wider, demands=frozenset(notes.demands))


def _of_ports(layer: Layer, inputs: tuple[Tensor, ...]) -> LayerResult:
    """Returns the tensors that the output ports declare. Makes all dimensions dynamic if an input
    may have a shape that its port excludes."""
    outputs = tuple(map(declared, layer.outputs))
    if all(
        not port.dims or PartialShape(port.dims).encloses(tensor.shape)
        for port, tensor in zip(layer.inputs, inputs, strict=False)
    ):
        return LayerResult(outputs)
    open_sizes = (
        tensor if tensor.rank is None else Tensor(tensor.element_type, [DYNAMIC] * tensor.rank)
        for tensor in outputs
    )
    return LayerResult(tuple(open_sizes), unsure=True)


def _with_values(
    operation: Operation, inputs: tuple[Tensor | None, ...], outputs: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """Returns the outputs with bounds of their values, where these can be inferred."""
    values: tuple[Value | None, ...]
    if operation.infer_value is None:
        values = fold(operation, inputs, outputs)
    elif max([output.shape.size.low for output in outputs], default=0) > MAX_VALUE_ELEMENTS:
        return outputs
    else:
        inferred = operation.infer_value(*inputs, outputs=outputs)
        if inferred is None:
            return outputs
        values = inferred if isinstance(inferred, tuple) else (inferred,)
    return tuple(map(_with_value, outputs, values))


def _with_value(output: Tensor, value: Value | None) -> Tensor:
    """Adds a value to an output, if the value has as many elements as the output's static shape."""
    sizes = output.shape.declared
    if value is None or output.rank is None or -1 in sizes or len(value.lower) != prod(sizes):
        return output
    return Tensor(output.element_type, output.shape, value)


def _questioned(
    operation: Operation,
    inputs: tuple[Tensor | None, ...],
    outputs: tuple[Tensor, ...],
    around: Mapping[str, Any],
) -> tuple[Fault, ...]:
    """Returns the faults of a layer that OpenVINO accepts although the specification forbids them.

    around: the argument `bodies` for an operation with bodies. Raises `TypeError` if the `infer` of
    a plugin returned something other than tensors.
    """
    if operation.of_plugin:
        _check_returned(outputs)
    # OpenVINO itself writes a Loop whose `trip_count` is a real number
    specified = () if operation.bodies else specified_types(operation.operands, inputs)
    return (*specified, *operation.check(*inputs, **around))


def _check_returned(outputs: tuple[object, ...]) -> None:
    """Raises `TypeError` if the `infer` of a plugin returned something other than tensors."""
    for output in outputs:
        if not (
            isinstance(output, Tensor)
            and isinstance(output.element_type, ElementType)
            and isinstance(output.shape, PartialShape)
        ):
            raise TypeError(f"infer must return a Tensor or a tuple of them, not {output!r}")


def _internal_error(operation: Operation, error: BaseException) -> Fault:
    """Returns the fault of a layer for an exception that the code of its operation raised.

    If IRSHAPE_DEBUG is set, raises the exception instead.
    """
    if os.environ.get("IRSHAPE_DEBUG"):
        raise error
    kind = type(operation)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if operation.of_plugin:
        failed = f"the plugin {module_of(kind)}:{kind.__name__}"
        advice = bug_of_plugin(kind, error)
    else:
        failed, name = "irshape", f"{kind.type_name()} of {kind.version_name()}"
        advice = f"a bug in irshape's {name}: please report it with this layer; "
        advice += "IRSHAPE_DEBUG=1 shows where it happens"
    return fault(
        f"{failed} failed on this layer ({text}); irshape uses the types and shapes that its ports "
        "declare",
        rule=INTERNAL_ERROR,
        help=advice,
    )
