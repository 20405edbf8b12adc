"""Assigns a caller's arrays to Parameters, and checks each array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..element_types import ElementType
from ..inference.declarations import Declarations
from ..model.graph import Layer, Model
from ..model.names import inputs_of
from ..numpy_types import Array, dtype_of, element_type_of
from ..ops.infrastructure import Parameter, ReadValue_6
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..shapes import PartialShape
from ..spelling import counted, with_article
from .errors import ExecutionError

Given = Mapping[str, Array] | Mapping[int, Array] | Mapping[Layer, Array] | Sequence[Array] | None
"""The arrays of a caller: a mapping whose keys are names, positions or Parameters of inputs, or a
sequence of arrays in the order of the inputs."""

Fed = dict[Layer, Array]
"""The array of each Parameter, in the order of the Parameters."""


def by_id(fed: Fed) -> dict[str, Array]:
    """Returns the arrays by the id of their Parameter."""
    return {layer.id: array for layer, array in fed.items()}


class Feeds:
    """Assigns the arrays of a caller to the Parameters of a model, and checks the values of
    variables."""

    def __init__(self, model: Model, declarations: Declarations) -> None:
        self._model = model
        self._parameters = model.parameters
        self._subtracts_means = model.subtracts_means
        self._inputs = inputs_of(model)
        self._declarations = declarations

    @cached_property
    def _variables(self) -> dict[str, Tensor]:
        """The type and shape of each variable with a ReadValue that declares them."""
        declared: dict[str, Tensor] = {}
        for layer in self._model.walk():
            known = self._declarations.of(layer) if layer.is_read_value else None
            if isinstance(known, tuple) and isinstance(known[0], ReadValue_6):
                content = Tensor(known[0].variable_type, known[0].variable_shape)
                declared[known[0].variable_id] = content
        return declared

    def check_state(self, state: Mapping[str, Array]) -> None:
        """Checks that the stored value of each variable has its declared type and shape. Raises
        `ExecutionError`."""
        for name, array in state.items():
            declared = self._variables.get(name)
            if not isinstance(array, np.ndarray):
                raise ExecutionError(
                    f"the value of the variable '{name}' is {with_article(type(array).__name__)} "
                    "instead of an array"
                )
            if declared is None:
                continue
            try:
                kept = element_type_of(array)
            except ValueError as problem:
                raise ExecutionError(f"the variable '{name}': {problem}") from None
            fits = declared.element_type.is_dynamic or kept is declared.element_type
            if not fits or not declared.shape.encloses(PartialShape(array.shape)):
                raise ExecutionError(
                    f"the variable '{name}' is {declared.element_type}{declared.shape}, "
                    f"but its value is {kept}{list(array.shape)}"
                )

    def bind(self, given: Given) -> Fed:
        """Returns the arrays by Parameter, each checked against its type and shape.

        Raises `ExecutionError`.
        """
        if self._subtracts_means:
            raise ExecutionError(
                "OpenVINO subtracts the means in <pre-process> from an input, but irshape cannot; "
                "let OpenVINO read the model and save it, which makes the subtraction a layer"
            )
        if given is None or isinstance(given, Mapping):
            fed = self._by_name(given or {})
        else:
            fed = self._in_order(given)
        for layer in self._parameters:
            if layer not in fed:
                raise ExecutionError("this input has no value", layer)
            self._check(layer, fed[layer])
        return {layer: fed[layer] for layer in self._parameters}

    def _by_name(self, given: Mapping[Any, Array]) -> Fed:
        try:
            fed = self._inputs.given(given)
        except ValueError as problem:
            raise ExecutionError(str(problem)) from None
        return {layer: _as_array(array, layer) for layer, array in fed.items()}

    def _in_order(self, given: Sequence[Array]) -> Fed:
        if isinstance(given, np.ndarray) or not isinstance(given, Sequence):
            raise ExecutionError(
                "inputs are arrays by name or a list of arrays, "
                f"but {with_article(type(given).__name__)} was given"
            )
        parameters = self._parameters
        if len(given) != len(parameters):
            raise ExecutionError(
                f"the model has {counted(len(parameters), 'input')}, "
                f"but {counted(len(given), 'array')} "
                f"{'was' if len(given) == 1 else 'were'} given"
            )
        return {
            layer: _as_array(array, layer) for layer, array in zip(parameters, given, strict=True)
        }

    def _check(self, layer: Layer, array: Array) -> None:
        """Checks that a Parameter accepts an array. Raises `ExecutionError`."""
        operation = self._declarations.of(layer)
        if isinstance(operation, UnknownOperation):
            raise ExecutionError(str(operation), layer)
        if not isinstance(operation[0], Parameter):
            raise ExecutionError("the layer is not a Parameter", layer)
        declared = operation[0].infer()
        given = _type_given(array, layer)
        if not declared.element_type.is_dynamic and given is not declared.element_type:
            raise ExecutionError(
                f"the input takes {declared.element_type}, but the array is {array.dtype}"
                f"{_conversion(array, declared.element_type)}",
                layer,
            )
        if not declared.shape.encloses(PartialShape(array.shape)):
            raise ExecutionError(
                f"the input takes {declared.shape}, not {PartialShape(array.shape)}; give a shape "
                "that fits, or reshape the model (`irshape edit --reshape`)",
                layer,
            )


def _conversion(array: Array, wanted: ElementType) -> str:
    """Returns advice on how to convert an array to another type; "" unless both are numeric types
    of NumPy."""
    target = dtype_of(wanted)
    numbers = array.dtype.kind in "iuf" and target.kind in "iuf"
    return f"; convert it with .astype('{target}')" if numbers else ""


def _as_array(given: object, layer: Layer) -> Array:
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as problem:
        raise ExecutionError(f"the value is not an array: {problem}", layer) from None


def _type_given(array: Array, layer: Layer) -> ElementType:
    try:
        return element_type_of(array)
    except ValueError as problem:
        raise ExecutionError(
            f"OpenVINO has no element type for the array: {problem}", layer
        ) from None
