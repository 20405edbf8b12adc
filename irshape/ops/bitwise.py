"""Operations on the bits of integers. For booleans they compute the logical operations."""

from __future__ import annotations

from .declaration import BOOLEAN_TYPE, INTEGER, operand
from .elementwise import Binary, Unary
from .lazy import Array, np

BITS = INTEGER | BOOLEAN_TYPE


class BitwiseNot(Unary):
    """Every bit inverted."""

    since = 13
    function = "invert"
    keeps_integers = True
    data = operand(BITS)


class BitwiseBinary(Binary):
    """The base class of bitwise operations on two inputs. They infer no bounds of results."""

    a = operand(BITS)
    b = operand(BITS, like="a")
    infer_value = None  # type: ignore[assignment]


class BitwiseAnd(BitwiseBinary):
    """Bits that are set in both inputs."""

    since = 13
    function = "bitwise_and"


class BitwiseOr(BitwiseBinary):
    """Bits that are set in at least one of the two inputs."""

    since = 13
    function = "bitwise_or"


class BitwiseXor(BitwiseBinary):
    """Bits that are set in exactly one of the two inputs."""

    since = 13
    function = "bitwise_xor"


class BitwiseLeftShift(BitwiseBinary):
    """`a` shifted towards the high bits by `b` bits.

    The specification does not define the result if `b` is negative or exceeds the bits of `a`. As
    in OpenVINO's kernels, `b` is taken modulo 32, or modulo 64 if `a` has 64 bits.
    """

    since = 15
    released = ((15, "2024.4"),)
    a = operand(INTEGER)
    b = operand(INTEGER, like="a")

    def of(self, a: Array, b: Array) -> Array:
        return np.left_shift(a, _places(a, b))


class BitwiseRightShift(BitwiseLeftShift):
    """`a` shifted towards the low bits by `b` bits; the sign stays."""

    since = 15

    def of(self, a: Array, b: Array) -> Array:
        return np.right_shift(a, _places(a, b))


def _places(a: Array, b: Array) -> Array:
    return np.bitwise_and(b, b.dtype.type(63 if a.dtype.itemsize == 8 else 31))
