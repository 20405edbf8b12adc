"""Infrastructure operations: Parameter, Const, Result, and the variables that a stateful model
keeps.
"""

from __future__ import annotations

from typing import Any, Final

from ..element_types import DYNAMIC_TYPE, ElementType
from ..faults import Violation, require
from ..rule_ids import INPUT_ELEMENT_TYPE, VARIABLE_MISMATCH
from ..shapes import DYNAMIC_SHAPE, SCALAR, UNBOUNDED, PartialShape
from .declaration import ANY, Operation, attribute, operand
from .kinds import NATURAL, NATURALS, SHAPE, STRING, TYPE_NAME, Malformed, TypeName
from .lazy import Array, np
from .tensors import Tensor, Value


class Parameter(Operation):
    """An input of the model. Specification: Parameter-1."""

    since = 1
    tolerated = ("cacheable", "partial_shape")
    shape: PartialShape = attribute(SHAPE, default=SCALAR, required=True)
    element_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def infer(self) -> Tensor:
        return Tensor(self.element_type, self.shape)


class ExactTypeName(TypeName):
    """The name of an element type in small letters."""

    def read(self, text: str) -> ElementType:
        if text != text.lower():
            raise Malformed(self.describe())
        return super().read(text)


EXACT_TYPE_NAME: Final = ExactTypeName()


class Const(Operation):
    """A constant in the .bin. Specification: Constant-1."""

    since = 1
    also_read = ("Constant",)
    reads_weights = True
    tolerated = ("alloc_type",)
    element_type: ElementType = attribute(EXACT_TYPE_NAME)
    shape: tuple[int, ...] = attribute(NATURALS)
    offset: int = attribute(NATURAL)
    size: int = attribute(NATURAL)

    def infer(self) -> Tensor:
        if self.shape and not 0 <= min(self.shape) <= max(self.shape) < UNBOUNDED:
            raise Violation(
                f"the constant has shape {list(self.shape)}; the dimensions of a constant are "
                "sizes, within 64 bits",
                at="shape",
                expected="sizes from 0 to 2^63-2",
                actual=list(self.shape),
            )
        return Tensor(self.element_type, PartialShape.of_sizes(self.shape))


class Result(Operation):
    """An output of the model; passes its input on. Specification: Result-1."""

    since = 1
    data = operand(ANY)

    def infer(self, data: Tensor) -> Tensor:
        return data

    def infer_value(self, data: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        return data.value

    def evaluate(self, data: Array) -> Array:
        return data


class Identity(Result):
    """Its input. Specification: Identity-16."""

    since = 16


class ReadValue_3(Operation):
    """The value of a variable, `init_value` before anything was assigned.

    Specification: ReadValue-3.
    """

    since = 3
    keeps_state = True
    init_value = operand(ANY)
    variable_id: str = attribute(STRING, default="", required=True)

    def infer(self, init_value: Tensor) -> Tensor:
        return Tensor(init_value.element_type, init_value.shape)

    def evaluate(self, init_value: Array, *, state: dict[str, Any]) -> Array:
        value: Array = state.setdefault(self.variable_id, init_value)
        return value


class ReadValue_6(Operation):
    """The value of a variable; `init_value` before anything was assigned, zeros without one.

    Specification: ReadValue-6.
    """

    since = 6
    keeps_state = True
    init_value = operand(ANY, optional=True)
    variable_id: str = attribute(STRING)
    variable_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)
    variable_shape: PartialShape = attribute(SHAPE, default=DYNAMIC_SHAPE, required=True)

    def infer(self, init_value: Tensor | None) -> Tensor:
        element_type, shape = self.variable_type, self.variable_shape
        if init_value is not None:
            require(
                element_type is DYNAMIC_TYPE or init_value.element_type is element_type,
                f"the variable '{self.variable_id}' holds {element_type}, but its initial value "
                f"has element type {init_value.element_type}",
                at="init_value",
                expected=element_type,
                actual=init_value.element_type,
                rule=INPUT_ELEMENT_TYPE,
            )
            require(
                shape.encloses(init_value.shape)
                and (shape.rank is None or init_value.rank is not None),
                f"the variable '{self.variable_id}' has shape {shape}, but its initial value has "
                f"shape {init_value.shape}",
                at="init_value",
                expected=shape,
                actual=init_value.shape,
                help="widen variable_shape, or give an initial value of that shape",
            )
            if element_type is DYNAMIC_TYPE and shape.rank is None:
                return Tensor(
                    init_value.element_type, init_value.shape
                )  # nothing is said of the variable: it is what it begins as
        return Tensor(element_type, shape)

    def evaluate(self, init_value: Array, *, state: dict[str, Any]) -> Array:
        if self.variable_id not in state and init_value is None:
            from ..numpy_types import dtype_of

            sizes = [dim.low if dim.is_static else 0 for dim in self.variable_shape]
            init_value = np.zeros(sizes, dtype_of(self.variable_type))
        value: Array = state.setdefault(self.variable_id, init_value)
        return value


def check_assigned(variable: str, held: Tensor, new: Tensor) -> None:
    """Raises `Violation` unless a variable that a ReadValue gives can hold a new value."""
    fits = held.element_type is new.element_type or DYNAMIC_TYPE in (
        held.element_type,
        new.element_type,
    )
    if not (fits and held.shape.compatible(new.shape)):
        raise Violation(
            f"the variable '{variable}' is {held.element_type}{held.shape}, and its new value is "
            f"{new.element_type}{new.shape}",
            at="new_value",
            expected=f"{held.element_type}{held.shape}",
            actual=f"{new.element_type}{new.shape}",
            rule=VARIABLE_MISMATCH,
            help="assign what the ReadValue declares, or widen its variable_shape",
        )


class Assign_3(Operation):
    """Gives a variable a new value and passes it on. Specification: Assign-3."""

    since = 3
    keeps_state = True
    new_value = operand(ANY)
    variable_id: str = attribute(STRING)

    def infer(self, new_value: Tensor) -> Tensor:
        return Tensor(new_value.element_type, new_value.shape)

    def evaluate(self, new_value: Array, *, state: dict[str, Any]) -> Array:
        state[self.variable_id] = new_value
        return new_value


class Assign_6(Assign_3):
    """Gives a variable a new value and passes it on. Specification: Assign-6."""

    since = 6
    tolerated = ("variable_type", "variable_shape")
