"""Comparisons of two inputs of the same element type. Their results are booleans."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final

from ..element_types import ElementType
from .conversion import plain
from .declaration import ANY, operand
from .elementwise import Binary
from .intervals import Interval
from .lazy import Array, np
from .tensors import Number, Tensor

if TYPE_CHECKING:
    from ..symbols.expressions import Expression

TRUTH = ElementType.of("boolean")


def _equal(a: Expression, b: Expression, *, then: int) -> Expression | None:
    """Returns `then` if `a == b`, `1 - then` if `a != b`, or None if this is unknown."""
    facts = a.facts
    if a == b:
        return facts.number(then)
    apart = facts.at_least(a, b + 1) or facts.at_least(b, a + 1)
    return facts.number(1 - then) if apart and (a - b).is_whole else None


def _at_least(a: Expression, b: Expression, *, then: int) -> Expression | None:
    """Returns an expression that is `then` if `a >= b`, else `1 - then`; None if none is known."""
    facts = a.facts
    if facts.at_least(a, b):
        return facts.number(then)
    if facts.at_least(b, a + 1):
        return facts.number(1 - then)
    if (a - b).is_whole and facts.at_least(b, a) and facts.at_least(a + 1, b):
        return a - b + 1 if then else b - a  # they differ by 1 or not at all
    return None


_DECIDED: Final[dict[str, Callable[[Expression, Expression], Expression | None]]] = {
    "eq": lambda a, b: _equal(a, b, then=1),
    "ne": lambda a, b: _equal(a, b, then=0),
    "lt": lambda a, b: _at_least(a, b, then=0),
    "le": lambda a, b: _at_least(b, a, then=1),
    "gt": lambda a, b: _at_least(b, a, then=0),
    "ge": lambda a, b: _at_least(a, b, then=1),
}
"""Maps names in Python's `operator`, e.g. `lt`, to functions that compare two expressions."""


class ElementwiseComparison(Binary):
    """The base class of comparisons of any element type. Their results are booleans.

    `compare` names the function in Python's `operator` that compares two numbers or two arrays.
    """

    compare: ClassVar[str]
    a = operand(ANY)
    b = operand(ANY, like="a")

    def result_type(self, a: Tensor, b: Tensor) -> ElementType:
        return TRUTH

    def exact(self, a: Number, b: Number) -> Number:
        return int(getattr(operator, self.compare)(a, b))

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        decide = _DECIDED.get(self.compare)
        return None if decide is None else decide(a, b)

    def evaluate(self, a: Array, b: Array) -> Array:
        compare = getattr(operator, self.compare)
        return np.asarray(compare(plain(a), plain(self.aligned(a, b))), dtype=bool)


class Equal(ElementwiseComparison):
    """Whether the two inputs are equal."""

    since = 1
    compare = "eq"

    def bounds(self, a: Interval, b: Interval) -> Interval:
        return 0, a[0] <= b[1] and b[0] <= a[1]


class NotEqual(ElementwiseComparison):
    """Whether the two inputs differ."""

    since = 1
    compare = "ne"

    def bounds(self, a: Interval, b: Interval) -> Interval:
        return a[0] > b[1] or b[0] > a[1], 1


class Less(ElementwiseComparison):
    """Whether `a` is less than `b`."""

    since = 1
    compare = "lt"
    leaves_nan_open = True


class LessEqual(ElementwiseComparison):
    """Whether `a` is less than or equal to `b`."""

    since = 1
    compare = "le"
    leaves_nan_open = True


class Greater(ElementwiseComparison):
    """Whether `a` is greater than `b`."""

    since = 1
    compare = "gt"
    leaves_nan_open = True


class GreaterEqual(ElementwiseComparison):
    """Whether `a` is greater than or equal to `b`."""

    since = 1
    compare = "ge"
    leaves_nan_open = True
