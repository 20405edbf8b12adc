"""Arithmetic on one input: signs, rounding, and the functions of the C math library.

For integer inputs, results are rounded to the nearest integer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..declaration import NUMERIC_OR_BOOLEAN, attribute, operand
from ..elementwise import FLOATING, Unary, UnaryWithValue, below_zero
from ..error_function import erf, erfinv
from ..intervals import Interval
from ..kinds import Choice
from ..lazy import Array, np
from ..tensors import Number

if TYPE_CHECKING:
    from ...symbols.expressions import Expression


class Abs(UnaryWithValue):
    """Absolute value."""

    since = 1
    function = "abs"
    keeps_integers = True

    def exact(self, data: Number) -> Number:
        return abs(data)

    def symbolic(self, data: Expression) -> Expression | None:
        return data.maximum(-data)

    def bounds(self, data: Interval) -> Interval:
        low, high = super().bounds(data)
        return (0 if data[0] < 0 < data[1] else low), high


class Negative(UnaryWithValue):
    """Value with its sign changed."""

    since = 1
    function = "negative"
    keeps_integers = True

    def exact(self, data: Number) -> Number:
        return -data

    def symbolic(self, data: Expression) -> Expression | None:
        return -data


class Sign(UnaryWithValue):
    """-1, 0 or 1, by the sign of the input."""

    since = 1
    function = "sign"
    leaves_nan_open = True
    keeps_integers = True

    def exact(self, data: Number) -> Number:
        return (data > 0) - (data < 0)


class WholeNumber(UnaryWithValue):
    """The base class of operations that round to whole numbers. Integers stay unchanged.

    `function` is the name of a function in both `math` and NumPy.
    """

    keeps_integers = True
    stepwise = True

    def exact(self, data: Number) -> Number:
        return data if isinstance(data, int) or math.isinf(data) else self.whole(data)

    def whole(self, number: float) -> int:
        return int(getattr(math, self.function)(number))

    def of(self, data: Array) -> Array:
        return data if data.dtype.kind in "iub" else self.rounded(data)

    def rounded(self, data: Array) -> Array:
        return super().of(data)


class Floor(WholeNumber):
    """The largest whole number that is not greater than the input."""

    since = 1
    function = "floor"

    def symbolic(self, data: Expression) -> Expression | None:
        return data.floor()


class Ceiling(WholeNumber):
    """The smallest whole number that is not less than the input."""

    since = 1
    function = "ceil"

    def symbolic(self, data: Expression) -> Expression | None:
        return -(-data).floor()


class Round(WholeNumber):
    """The nearest whole number. `mode` selects whether halves go to even or away from zero."""

    since = 5
    data = operand(NUMERIC_OR_BOOLEAN)
    mode: str = attribute(Choice("half_to_even", "half_away_from_zero"), default="half_to_even")

    def symbolic(self, data: Expression) -> Expression | None:
        return data if data.is_whole else None

    def whole(self, number: float) -> int:
        if self.mode == "half_to_even":
            return round(number)
        part = abs(number) % 1
        return int(math.copysign(math.floor(abs(number)) + (part >= 0.5), number))

    def rounded(self, data: Array) -> Array:
        if self.mode == "half_to_even":
            return np.rint(data)
        truncated = np.trunc(data)
        away_from_zero = truncated + np.copysign(np.ones((), data.dtype), data)
        return np.where(np.abs(data - truncated) >= 0.5, away_from_zero, truncated)


class Sqrt(UnaryWithValue):
    """Square root; NaN for negative numbers."""

    since = 1
    function = "sqrt"

    def source_of_nan(self, data: Array) -> str | None:
        return below_zero(data)

    def exact(self, data: Number) -> Number:
        root = math.sqrt(data)
        return round(root) if isinstance(data, int) else root


class Erf(Unary):
    """Gauss error function."""

    since = 1

    def of(self, data: Array) -> Array:
        return erf(data)


class ErfInv(Unary):
    """The inverse of the error function. It is infinite at -1 and 1, and NaN outside this range."""

    since = 17
    data = operand(FLOATING)

    def of(self, data: Array) -> Array:
        return erfinv(data)


class Exp(Unary):
    """e to the power of the input."""

    since = 1
    function = "exp"


class Log(Unary):
    """Natural logarithm."""

    since = 1
    function = "log"

    def source_of_nan(self, data: Array) -> str | None:
        return below_zero(data)


class Sin(Unary):
    """Sine."""

    since = 1
    function = "sin"


class Cos(Unary):
    """Cosine."""

    since = 1
    function = "cos"


class Tan(Unary):
    """Tangent."""

    since = 1
    function = "tan"


class Sinh(Unary):
    """Hyperbolic sine."""

    since = 1
    function = "sinh"


class Cosh(Unary):
    """Hyperbolic cosine."""

    since = 1
    function = "cosh"


class Tanh(Unary):
    """Hyperbolic tangent."""

    since = 1
    function = "tanh"


class Asin(Unary):
    """Inverse sine."""

    since = 1
    function = "arcsin"


class Acos(Unary):
    """Inverse cosine."""

    since = 1
    function = "arccos"


class Atan(Unary):
    """Inverse tangent."""

    since = 1
    function = "arctan"


class Asinh(Unary):
    """Inverse hyperbolic sine. Specification: Asinh-3."""

    since = 4
    function = "arcsinh"


class Acosh(Unary):
    """Inverse hyperbolic cosine. Specification: Acosh-3."""

    since = 4
    function = "arccosh"


class Atanh(Unary):
    """Inverse hyperbolic tangent. Specification: Atanh-3."""

    since = 4
    function = "arctanh"
