"""Infrastructure operations: Parameter, Const, Result, and the variables of a stateful model."""

from __future__ import annotations

import re
from typing import Any, Final

from ..element_types import DYNAMIC_TYPE, ElementType
from ..faults import Violation, require
from ..rule_ids import OPERATION_CONSTRAINT, VARIABLE_MISMATCH
from ..shapes import DYNAMIC_SHAPE, SCALAR, UNBOUNDED, PartialShape
from .conditions import of_type
from .declaration import ANY, Operation, attribute, like, operand
from .differences import (
    EMPTY,
    Site,
    When,
    facts,
    ignored,
    inferred,
    no_type,
    not_run,
    of_version,
    refused,
)
from .kinds import NATURALS, SHAPE, STRING, TYPE_NAME, Integer, Malformed, TypeName
from .lazy import Array, dtype_of, np
from .tensors import Tensor, Value


def _empty(site: Site) -> bool:
    return site.outermost and any(
        output.shape.rank is not None and any(size.high == 0 for size in output.shape)
        for output in site.outputs
    )


def _negative_bound(site: Site) -> bool:
    """Returns whether a dimension has a negative bound, e.g. `-5..3`; -1 by itself is allowed."""
    sizes = (site.layer.attribute("shape") or "").split(",")
    return any("-" in size and size.strip() != "-1" for size in sizes)


def _input_of(*names: str) -> When:
    """Returns a condition for Parameters of the model that have one of these element types."""
    return lambda site: site.outermost and any(o.element_type.name in names for o in site.outputs)


def _overflow(site: Site) -> bool:
    """Returns whether the attribute `shape` has a dimension that does not fit into i64."""
    numbers = re.findall("[0-9]+", site.layer.attribute("shape") or "")
    return any(int(number[:40]) > UNBOUNDED for number in numbers)


class Parameter(Operation):
    """An input of the model."""

    since = 1
    released = ((15, "2024.2"), (16, "2025.0"))
    differs = facts(
        refused("2023.2", EMPTY, _empty),
        not_run("2023.3", EMPTY, _empty, since="2023.2"),
        refused("2025.1", "an input of the model without an element type", no_type),
        refused(
            "2026.3", "a dimension of the attribute `shape` with a negative bound", _negative_bound
        ),
        not_run("2024.2", "a model input of type i4 or u4", _input_of("i4", "u4")),
        not_run("2025.0", "a model input of type nf4", _input_of("nf4"), since="2023.2"),
        not_run(
            "2025.2",
            "a model input of type f4e2m1 or f8e8m0",
            _input_of("f4e2m1", "f8e8m0"),
            since="2024.3",
        ),
        not_run(
            "2025.0",
            "a model input of type f8e4m3 or f8e5m2",
            _input_of("f8e4m3", "f8e5m2"),
            since="2024.0",
        ),
        inferred(
            "2026.2",
            "a dimension that does not fit into i64",
            "infers a dynamic dimension",
            _overflow,
            hides=EMPTY,
        ),
    )
    tolerated = ("cacheable", "partial_shape")
    shape: PartialShape = attribute(SHAPE, default=SCALAR, required=True)
    element_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def infer(self) -> Tensor:
        return Tensor(self.element_type, self.shape)


class ConstantTypeName(TypeName):
    """The element type of a Const. OpenVINO reads some names only in lower case, e.g. `f32`."""

    def read(self, text: str) -> ElementType:
        element_type = super().read(text)
        name = element_type.name
        if text != name and name in ("f16", "f32", "f64", "boolean"):
            raise Malformed(f'"{name}", in lower case')
        return element_type


class StoredNumber(Integer):
    """A number of bytes: an unsigned 64-bit integer, with no white space after it."""

    def read(self, text: str) -> int:
        if text != text.rstrip() or not text.isascii():
            raise Malformed(self.describe())
        return super().read(text.removeprefix("+"))


BYTES: Final = StoredNumber(low=0, refused=True)


def _of_four_bits(site: Site) -> bool:
    return any(output.element_type.name in ("i4", "u4") for output in site.outputs)


class Const(Operation):
    """A constant whose elements are in the .bin. Specification: Constant-1."""

    since = 1
    also_read = ("Constant",)
    differs = facts(
        ignored(
            "2023.2",
            "a constant of i4 or u4",
            "swaps the two elements of each byte",
            _of_four_bits,
        ),
    )
    reads_weights = True
    tolerated = ("alloc_type",)
    element_type: ElementType = attribute(ConstantTypeName())
    shape: tuple[int, ...] = attribute(NATURALS)
    offset: int = attribute(BYTES)
    size: int = attribute(BYTES)

    def infer(self) -> Tensor:
        if self.shape and not 0 <= min(self.shape) <= max(self.shape) < UNBOUNDED:
            raise Violation(
                at="shape",
                expected="sizes from 0 to 2^63-2",
                actual=tuple(self.shape),
            )
        return Tensor(self.element_type, PartialShape(self.shape))


class Result(Operation):
    """An output of the model. It passes on its only input."""

    since = 1
    differs = facts(
        refused("2023.2", EMPTY, _empty),
        not_run("2023.3", EMPTY, _empty, since="2023.2"),
    )
    data = operand(ANY)

    def infer(self, data: Tensor) -> Tensor:
        return data

    def infer_value(self, data: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        return data.value

    def evaluate(self, data: Array) -> Array:
        return data


class Identity(Result):
    """The input, unchanged."""

    since = 16
    released = ((16, "2025.0"),)
    differs = facts(
        not_run("2025.4", "Identity of opset16", of_version(16), since="2025.0"),
    )


def _uninitialised(site: Site) -> bool:
    return not site.layer.inputs


def _initial_value(site: Site) -> bool:
    """Returns whether a ReadValue's variable and initial value differ in shape or type."""
    given = site.inputs[0] if site.inputs else None
    if given is None or not site.outputs:
        return False
    held = site.outputs[0]
    return given.shape != held.shape or given.element_type is not held.element_type


class ReadValue_3(Operation):
    """The value of a variable. It is `init_value` until an Assign writes a value."""

    since = 3
    differs = facts(
        inferred(
            "2023.3",
            "a variable less specific than its initial value",
            "infers the shape of the initial value",
            _initial_value,
        ),
    )
    keeps_state = True
    init_value = operand(ANY)
    result = like("init_value")
    variable_id: str = attribute(STRING, default="", required=True)

    def evaluate(self, init_value: Array, *, state: dict[str, Any]) -> Array:
        value: Array = state.setdefault(self.variable_id, init_value)
        return value


class ReadValue_6(Operation):
    """The value of a variable: `init_value`, or else zeros, until an Assign writes a value."""

    since = 6
    differs = facts(
        *ReadValue_3.differs,
        refused("2023.3", "a ReadValue without an initial value", _uninitialised),
    )
    keeps_state = True
    init_value = operand(ANY, optional=True)
    variable_id: str = attribute(STRING)
    variable_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)
    variable_shape: PartialShape = attribute(SHAPE, default=DYNAMIC_SHAPE, required=True)

    def infer(self, init_value: Tensor | None) -> Tensor:
        element_type, shape = self.variable_type, self.variable_shape
        if init_value is not None:
            if element_type is not DYNAMIC_TYPE:
                given = init_value.element_type
                of_type(given, element_type, at="init_value", of="variable_type")
            require(
                shape.encloses(init_value.shape)
                and (shape.rank is None or init_value.rank is not None),
                at="init_value",
                relation="equal",
                expected=shape,
                actual=init_value.shape,
                of="variable_shape",
                rule=OPERATION_CONSTRAINT,
                help="make variable_shape less specific, or give an initial value of this shape",
            )
            if element_type is DYNAMIC_TYPE and shape.rank is None:
                return Tensor(
                    init_value.element_type, init_value.shape
                )  # nothing is declared: the variable has the type and shape of its initial value
        return Tensor(element_type, shape)

    def evaluate(self, init_value: Array, *, state: dict[str, Any]) -> Array:
        if self.variable_id not in state and init_value is None:
            sizes = [dim.low if dim.is_static else 0 for dim in self.variable_shape]
            init_value = np.zeros(sizes, dtype_of(self.variable_type))
        value: Array = state.setdefault(self.variable_id, init_value)
        return value


def check_assigned(variable: str, held: Tensor, new: Tensor) -> None:
    """Raises `Violation` if the value that an Assign writes does not fit the variable that a
    ReadValue declares."""
    fits = held.element_type is new.element_type or DYNAMIC_TYPE in (
        held.element_type,
        new.element_type,
    )
    if not (fits and held.shape.compatible(new.shape)):
        raise Violation(
            f"the variable '{variable}' is {held.element_type}{held.shape}, but its new value is "
            f"{new.element_type}{new.shape}",
            at="new_value",
            expected=f"{held.element_type}{held.shape}",
            actual=f"{new.element_type}{new.shape}",
            rule=VARIABLE_MISMATCH,
            help="assign a value that fits the variable, or make variable_shape less specific",
        )


class Assign_3(Operation):
    """Assigns a new value to a variable and returns the value."""

    since = 3
    keeps_state = True
    new_value = operand(ANY)
    result = like("new_value")
    variable_id: str = attribute(STRING)

    def evaluate(self, new_value: Array, *, state: dict[str, Any]) -> Array:
        state[self.variable_id] = new_value
        return new_value


class Assign_6(Assign_3):
    """Assigns a new value to a variable and returns the value."""

    since = 6
    tolerated = ("variable_type", "variable_shape")
