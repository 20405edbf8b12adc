"""Logical operations on booleans."""

from __future__ import annotations

from .comparison import ElementwiseComparison
from .conversion import encoded, plain
from .declaration import ANY, BOOLEAN_TYPE, operand
from .elementwise import UnaryWithValue
from .lazy import Array, element_type_of, np
from .tensors import Number


class LogicalBinary(ElementwiseComparison):
    """The base class of logical operations on two inputs."""

    a = operand(BOOLEAN_TYPE)
    b = operand(BOOLEAN_TYPE, like="a")


class LogicalAnd(LogicalBinary):
    """Whether both inputs are true."""

    since = 1
    compare = "and_"


class LogicalOr(LogicalBinary):
    """Whether at least one of the two inputs is true."""

    since = 1
    compare = "or_"


class LogicalXor(LogicalBinary):
    """Whether exactly one of the two inputs is true."""

    since, written = 1, 2
    compare = "xor"


class Xor(LogicalXor):
    """LogicalXor under its second name in opset1. Specification: LogicalXor-1."""

    since, written, until = 1, 1, 1


class LogicalNot(UnaryWithValue):
    """Whether the input is false.

    OpenVINO also accepts numbers, for which it returns 0 and 1 in their element type.
    """

    since = 1
    data = operand(ANY)

    def exact(self, data: Number) -> Number:
        return data == 0

    def evaluate(self, data: Array) -> Array:
        return encoded(np.logical_not(plain(data)), element_type_of(data))
