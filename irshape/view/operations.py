"""A short page on an operation: its summary, inputs, attributes and constraints."""

from __future__ import annotations

from typing import Any

from ..faults import module_of
from ..ops.declaration import Operation
from ..ops.operands import shared_axes
from ..wording import describe_types


def operation_page(operation: type[Operation]) -> dict[str, Any]:
    """Returns the page of an operation."""
    attributes = []
    for each in operation.attributes.values():
        if each.required or each.refused_when_absent:
            state = "required"
        elif each.default in (None, ""):
            state = "optional"
        else:
            state = f"default {each.kind.write(each.default)}"
        attributes.append([each.name, f"{each.describe()} ({state})"])
    inputs = []
    for operand in operation.operands:
        notes = [describe_types(operand.allowed), operand.describe_shape() or ""]
        notes += ["optional"] * operand.optional + ["variadic"] * operand.variadic
        inputs.append([operand.name, ", ".join(note for note in notes if note)])
    return {
        "category": category(operation),
        "text": operation.documentation(),
        "inputs": inputs,
        "attributes": attributes,
        "constraints": list(shared_axes(operation.operands)),
    }


def category(operation: type[Operation]) -> str:
    """Returns where an operation is declared: the module in `ops/`, or the plugin."""
    if operation.of_plugin:
        return module_of(operation)
    return operation.__module__.split(".ops.", 1)[-1].split(".")[0]
