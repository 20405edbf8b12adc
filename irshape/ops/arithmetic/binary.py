"""Arithmetic on two inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..declaration import attribute
from ..elementwise import Binary, below_zero, zero_by_zero
from ..intervals import EVERYTHING, Interval, corners
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Number

if TYPE_CHECKING:
    from ...symbols.expressions import Expression

LARGEST_EXPONENT = 64
"""The largest absolute exponent for which Power infers bounds of its result."""


def _is_positive(divisor: Expression) -> bool:
    """Returns whether a divisor is an integer that can be 1 or more, and assumes that it is."""
    facts = divisor.facts
    return divisor.is_whole and facts.assume_at_least(divisor, facts.number(1))


class Add(Binary):
    """`a + b`; integers wrap around."""

    since = 1
    decompresses = "rounding"
    function = "add"

    def exact(self, a: Number, b: Number) -> Number:
        return a + b

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a + b


class Subtract(Binary):
    """`a - b`; integers wrap around."""

    since = 1
    decompresses = "rounding"
    function = "subtract"

    def exact(self, a: Number, b: Number) -> Number:
        return a - b

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a - b


class Multiply(Binary):
    """`a * b`; integers wrap around."""

    since = 1
    decompresses = "rounding"
    function = "multiply"

    def exact(self, a: Number, b: Number) -> Number:
        if 0 in (a, b):
            return 0  # even times infinity, which stands for an unknown bound
        return a * b

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a * b


class Division(Binary):
    """The base class of operations that divide: quotients and remainders."""

    def source_of_nan(self, a: Array, b: Array) -> str | None:
        return zero_by_zero(b)


class Divide(Division):
    """`a / b`. An integer quotient is rounded down, or towards zero with `m_pythondiv="false"`."""

    since = 1
    function = "divide"
    m_pythondiv: bool = attribute(BOOLEAN, default=True)

    def exact(self, a: Number, b: Number) -> Number:
        if not isinstance(a, int) and not isinstance(b, int):
            return a / b
        if math.isinf(a):
            return a / b
        negative = (a < 0) != (b < 0)
        if math.isinf(b):
            return -1 if negative and a and self.m_pythondiv else 0
        return a // b if self.m_pythondiv or not negative else -(abs(a) // abs(b))

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        same_sign = self.m_pythondiv or a.facts.is_nonnegative(a)
        return a // b if same_sign and _is_positive(b) else None

    def symbolic_real(self, a: Expression, b: Expression) -> Expression | None:
        number = b.constant
        if number is not None:
            return a.divided(number) if number else None
        quotient = a // b
        return quotient if quotient * b == a and _is_positive(b) else None

    def bounds(self, a: Interval, b: Interval) -> Interval:
        if a[0] > 0 and b[0] == 0 and isinstance(b[0], float):
            # a real number divided by 0 is infinite, so the lower bound still holds
            return self.exact(a[0], b[1]), math.inf
        if b[0] <= 0 <= b[1]:
            return EVERYTHING
        return corners(self.exact, a, b)

    def of(self, a: Array, b: Array) -> Array:
        if a.dtype.kind == "f":
            return super().of(a, b)
        quotient = np.floor_divide(a, b)
        if self.m_pythondiv or a.dtype.kind == "u":
            return quotient
        return np.add(quotient, (np.remainder(a, b) != 0) & ((a < 0) != (b < 0)))


class Mod(Division):
    """The remainder of `a / b` with the quotient rounded towards zero. It has the sign of `a`."""

    since = 1
    function = "fmod"

    def exact(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return abs(a) % abs(b) * (-1 if a < 0 else 1)
        return math.fmod(a, b)

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a % b if a.facts.is_nonnegative(a) and _is_positive(b) else None

    def bounds(self, a: Interval, b: Interval) -> Interval:
        if b[0] <= 0 <= b[1]:
            return EVERYTHING
        most = min(_below(max(map(abs, b)), b), max(map(abs, a)))
        return (-most if a[0] < 0 else 0), (most if a[1] > 0 else 0)


class FloorMod(Division):
    """The remainder of `a / b` with the quotient rounded down. It has the sign of `b`."""

    since = 1
    function = "remainder"

    def exact(self, a: Number, b: Number) -> Number:
        return a % b

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a % b if a.is_whole and _is_positive(b) else None

    def bounds(self, a: Interval, b: Interval) -> Interval:
        if b[0] <= 0 <= b[1]:
            return EVERYTHING
        most = _below(max(map(abs, b)), b)
        if b[0] < 0:
            return -most, 0
        return 0, min(most, a[1]) if a[0] >= 0 else most


def _below(size: Number, divisor: Interval) -> Number:
    """Returns the largest absolute value of a remainder: `size`, or `size - 1` for integers, where
    `size` is the largest absolute value of the divisor."""
    return size - 1 if any(isinstance(bound, int) for bound in divisor) else size


class Power(Binary):
    """`a` to the power of `b`. Integer results wrap around; for `b` < 0 they are truncated."""

    since = 1

    def source_of_nan(self, a: Array, b: Array) -> str | None:
        return below_zero(a)

    def exact(self, a: Number, b: Number) -> Number:
        if b == 0.5 and a >= 0:
            return math.sqrt(a)
        if b != int(b) or abs(b) > LARGEST_EXPONENT:
            raise ValueError("the last bit of the power may be wrong")
        if isinstance(a, int) and b < 0:
            return int(a ** int(b))
        return a ** int(b)

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a * a if b == 2 else a if b == 1 else None

    def bounds(self, a: Interval, b: Interval) -> Interval:
        return corners(self.exact, a, b) if a[0] >= 0 <= b[0] else EVERYTHING

    def of(self, a: Array, b: Array) -> Array:
        if a.dtype.kind in "iu":
            return _integer_power(a, b)
        exponent = b.item() if b.size == 1 else None
        if exponent in (2.0, 3.0) and b.ndim <= a.ndim:
            square = np.square(a)
            return square if exponent == 2.0 else np.multiply(square, a)
        return np.power(a, b)


def _integer_power(a: Array, b: Array) -> Array:
    positive = np.power(a, np.maximum(b, 0))
    if a.dtype.kind == "u" or not (b < 0).any():
        return positive
    reciprocal = np.where(a == 1, 1, np.where(a == -1, np.where(b & 1, -1, 1), 0)).astype(a.dtype)
    return np.where(b < 0, reciprocal, positive)


class Maximum(Binary):
    """The larger of the two inputs, element by element."""

    since = 1
    leaves_nan_open = True
    function = "maximum"

    def exact(self, a: Number, b: Number) -> Number:
        return max(a, b)

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a.maximum(b)


class Minimum(Binary):
    """The smaller of the two inputs, element by element."""

    since = 1
    leaves_nan_open = True
    function = "minimum"

    def exact(self, a: Number, b: Number) -> Number:
        return min(a, b)

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        return a.minimum(b)


class SquaredDifference(Binary):
    """The square of `a - b`."""

    since = 1

    def exact(self, a: Number, b: Number) -> Number:
        return (a - b) * (a - b)

    def bounds(self, a: Interval, b: Interval) -> Interval:
        low, high = corners(self.exact, a, b)
        return (0 if a[0] <= b[1] and b[0] <= a[1] else low), high

    def of(self, a: Array, b: Array) -> Array:
        difference = np.atleast_1d(np.subtract(a, b))
        squares = np.square(difference, out=difference)
        return squares.reshape(np.broadcast_shapes(a.shape, b.shape))
