"""Arithmetic on two inputs."""

from __future__ import annotations

import math

from ..declaration import attribute
from ..elementwise import Binary
from ..intervals import EVERYTHING, Interval, corners
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Number

LARGEST_POWER = 64
"""Integer powers above it are not worked out for shapes."""


class Add(Binary):
    """Sum; integers wrap around. Specification: Add-1."""

    since = 1

    def exact(self, a: Number, b: Number) -> Number:
        return a + b

    def of(self, a: Array, b: Array) -> Array:
        return np.add(a, b)


class Subtract(Binary):
    """Difference; integers wrap around. Specification: Subtract-1."""

    since = 1

    def exact(self, a: Number, b: Number) -> Number:
        return a - b

    def of(self, a: Array, b: Array) -> Array:
        return np.subtract(a, b)


class Multiply(Binary):
    """Product; integers wrap around. Specification: Multiply-1."""

    since = 1

    def exact(self, a: Number, b: Number) -> Number:
        return 0 if (a == 0 and math.isinf(b)) or (b == 0 and math.isinf(a)) else a * b  # infinity: a number without a known bound

    def of(self, a: Array, b: Array) -> Array:
        return np.multiply(a, b)


class Divide(Binary):
    """Quotient. That of integers is rounded down, or towards zero with `m_pythondiv="false"`. Specification: Divide-1."""

    since = 1
    m_pythondiv: bool = attribute(BOOLEAN, default=True)

    def exact(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return a // b if self.m_pythondiv else _cut(a, b)
        return a / b

    def bounds(self, a: Interval, b: Interval) -> Interval:
        if b[0] <= 0 <= b[1]:
            return EVERYTHING
        low, high = corners(lambda x, y: x / y, a, b)
        if not all(isinstance(bound, int) or math.isinf(bound) for bound in (*a, *b)):
            return low, high
        nearest_below = corners(lambda x, y: math.floor(x / y) if math.isinf(x) or math.isinf(y) else x // y, *_finite(a, b))
        return _widened(nearest_below, a, b, toward_zero=not self.m_pythondiv)

    def of(self, a: Array, b: Array) -> Array:
        if a.dtype.kind == "f":
            return np.divide(a, b)
        if self.m_pythondiv or a.dtype.kind == "u":
            return np.floor_divide(a, b)
        quotient = np.floor_divide(a, b)
        return quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)
