"""IR4xx: the constraints that an operation puts on its inputs and attributes."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Problem
from ..ops.declaration import Violation
from .base import Context, Rule


class OperationConstraint(Rule):
    """The inputs or attributes break a condition of the operation."""

    code, name, severity = "IR401", "operation-constraint", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for layer, violation in context.met(Violation):
            port, offset = None, layer.offset
            position = _operand_position(layer.type, layer.version, violation.at)
            if position is not None and position < len(layer.inputs):
                at = layer.inputs[position]
                port, offset = ("input", at.id), at.offset
            elif violation.at and layer.data_offset >= 0:
                offset = context.model.source.attribute(layer.data_offset, violation.at)
                offset = layer.offset if offset == layer.data_offset else offset
            yield Problem(violation.rule, violation.message, offset, layer, violation.expected, violation.seen, violation.help or None, port)


def _operand_position(type_name: str, version: str, at: str) -> int | None:
    from ..ops import registry

    try:
        operands = registry.find(type_name, version).operands if version else registry.versions(type_name)[-1].operands
    except LookupError:
        return None
    return next((i for i, declared in enumerate(operands) if declared.name == at), None)


class InputCount(Rule):
    """The layer has too few or too many inputs."""

    code, name, severity = "IR402", "input-count", "error"


class InputElementType(Rule):
    """An input has an element type that the operation does not take."""

    code, name, severity = "IR403", "input-element-type", "error"


class InputRank(Rule):
    """An input has a rank that the operation does not take."""

    code, name, severity = "IR404", "input-rank", "error"


class InputValue(Rule):
    """The value of an input is out of range."""

    code, name, severity = "IR405", "input-value", "error"


class InputShapes(Rule):
    """The shapes of the inputs do not fit together."""

    code, name, severity = "IR406", "input-shapes", "error"


class DuplicateValues(Rule):
    """An input that must hold unique values holds one twice."""

    code, name, severity = "IR407", "duplicate-values", "error"


class PortMapRule(Rule):
    """A port map or back edge names a port or a layer that is not there."""

    code, name, severity = "IR408", "port-map", "error"
