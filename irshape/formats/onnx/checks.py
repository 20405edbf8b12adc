"""Checks a node against the ONNX schema of its operator, and reports operators without a schema."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from ...element_types import DYNAMIC_TYPE
from ...faults import Violation
from ...ops.attributes import closest
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CUSTOM_OPERATION,
    DANGLING_EDGE,
    INPUT_COUNT,
    INPUT_ELEMENT_TYPE,
    MISSPELT_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
)
from ..builder import Builder, NodeOutput
from ..nodes import check_count, missing
from .package import NAMES, onnx


def check_node(
    builder: Builder,
    operator: Any,
    attributes: dict[str, Any],
    inputs: list[NodeOutput | None],
    proto: Any,
) -> None:
    """Checks a node against the ONNX schema of its operator. Raises `Violation`.

    Reports an unknown attribute, and removes it from `attributes`.
    """
    _check_attributes(
        builder,
        operator,
        attributes,
        {attribute.name for attribute in proto.attribute},
        proto.op_type,
    )
    check_count(
        f"{proto.op_type} of version {operator.since_version}",
        "input",
        len(inputs),
        operator.min_input,
        operator.max_input,
        INPUT_COUNT,
    )
    kinds: dict[str, tuple[str, str]] = {}
    for index, value in enumerate(inputs):
        if value is None or value.element_type is DYNAMIC_TYPE:
            continue
        formal = operator.inputs[min(index, len(operator.inputs) - 1)]
        allowed = {
            NAMES.get(name[len("tensor(") : -1])
            for name in formal.types
            if name.startswith("tensor(")
        }
        kind = value.element_type.name
        if allowed and kind not in allowed and formal.types:
            words = ", ".join(sorted(name for name in allowed if name))
            raise Violation(
                f"`{formal.name}` (input {index}) has element type {kind}; "
                f"{proto.op_type} of version {operator.since_version} takes {words}",
                rule=INPUT_ELEMENT_TYPE,
                expected=words,
                actual=kind,
            )
        if "(" in formal.type_str or not formal.is_homogeneous:
            continue
        other = kinds.setdefault(formal.type_str, (kind, formal.name))
        if other[0] != kind:
            raise Violation(
                f"`{formal.name}` (input {index}) has element type {kind}, but "
                f"`{other[1]}` has {other[0]}; they must be the same",
                rule=INPUT_ELEMENT_TYPE,
                expected=other[0],
                actual=kind,
                help="insert a Cast",
            )


def _check_attributes(
    builder: Builder, operator: Any, attributes: dict[str, Any], given: set[str], name: str
) -> None:
    """Removes and reports attributes that the operator does not have.

    Raises `Violation` for an attribute that is missing or has the wrong type.
    """
    known = operator.attributes
    kinds = onnx().AttributeProto.AttributeType
    for key, attribute in list(attributes.items()):
        declared = known.get(key)
        if declared is None:
            close = closest(key, tuple(other for other in known if other not in given))
            rule, hint = (
                (MISSPELT_ATTRIBUTE, f"rename it to `{close}`")
                if close
                else (UNKNOWN_ATTRIBUTE, "remove it, or correct its name")
            )
            message = (
                f"`{key}` looks like a misspelling of `{close}`"
                if close
                else f"{name} of version {operator.since_version} has no attribute `{key}`"
            )
            wanted = close or ", ".join(sorted(known)) or "no attributes"
            builder.report(
                rule, message, at=key, expected=wanted, actual=key, help=hint, severity="error"
            )
            del attributes[key]
            continue
        wanted = declared.type.name
        seen = (
            kinds.Name(attribute.type) if attribute.type in kinds.values() else str(attribute.type)
        )
        if seen != wanted:
            raise Violation(
                f"`{key}` has type {seen}, but {name} takes {wanted}",
                rule=ATTRIBUTE_VALUE,
                at=key,
                expected=wanted,
                actual=seen,
            )
    for key, declared in known.items():
        if declared.required and key not in attributes:
            raise missing(name, key, declared.type.name)


class UndefinedInput(Violation):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"'{name}' is neither an output of an earlier node, nor an input or initializer of the "
            "graph",
            rule=DANGLING_EDGE,
            expected="the name of a value",
            actual=name,
            help="produce the value first: an ONNX model lists its nodes in the order in which "
            "they run",
        )


class UnknownOperator(Violation):
    def __init__(self, name: str, domain: str, opset: int) -> None:
        every = [
            operator for operator in onnx().defs.get_all_schemas() if operator.domain == domain
        ]
        if any(operator.name == name for operator in every):
            since = min(
                operator.since_version
                for operator in onnx().defs.get_all_schemas_with_history()
                if operator.domain == domain and operator.name == name
            )
            super().__init__(
                f"opset {opset} does not contain {name}, which opset {since} introduced",
                rule=UNKNOWN_VERSION,
                expected=f"opset {since} or later",
                actual=opset,
            )
            return
        close = get_close_matches(name, [operator.name for operator in every], 1, 0.7)
        super().__init__(
            f"no opset of {domain or 'ai.onnx'} contains an operator {name}",
            rule=UNKNOWN_TYPE if domain == "" else CUSTOM_OPERATION,
            expected=close[0] if close else None,
            actual=name,
            help=f"did you mean {close[0]}?"
            if close
            else f"if the operator is yours, declare it in a FILE.py, in a class with "
            f'custom_version = "{domain}", and add --plugin FILE.py; or only name it, with '
            f"--extension {name}@{domain}. Until then, irshape uses the types and shapes that the "
            "file declares for the outputs"
            if domain
            else "convert the model again, or correct the name",
        )


class UndeclaredOperator(Violation):
    def __init__(self, name: str, domain: str, version: int) -> None:
        super().__init__(
            f"irshape does not know the operator {name}-{version} of {domain or 'ai.onnx'}",
            rule=UNKNOWN_TYPE,
            actual=f"{name}-{version}",
            help="irshape uses the types and shapes that the file declares for the outputs; "
            "docs/onnx.md lists the operators that irshape does not read",
        )
