"""Dimensions that are expressions of symbols, and operations on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

from ..shapes import UNBOUNDED, Dimension
from .expressions import Call, Expression, Facts, Symbol, TooLarge, symbols_of


class SymbolicDimension(Dimension):
    """A dynamic dimension that knows its size as an expression, such as `past + seq`.

    Arithmetic returns another symbolic dimension if possible, otherwise a plain `Dimension`, an
    interval. Two symbolic dimensions are equal if their expressions are equal.
    """

    __slots__ = ("expression",)

    symbolic: ClassVar[bool] = True
    expression: Expression

    def __init__(self, expression: Expression, low: int, high: int) -> None:
        super().__init__(low, high)
        self.expression = expression

    @property
    def facts(self) -> Facts:
        return self.expression.facts

    def _combined(
        self,
        other: Dimension | int,
        interval: Dimension,
        function: Callable[[Expression, Expression], Expression],
    ) -> Dimension:
        theirs = expression_of(other, self.facts)
        if theirs is None:
            return interval
        try:
            return dimension(function(self.expression, theirs), interval)
        except (TooLarge, ZeroDivisionError):
            return interval

    def __add__(self, other: Dimension | int) -> Dimension:
        return self._combined(other, Dimension.__add__(self, other), lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Dimension | int) -> Dimension:
        interval = Dimension.__sub__(self, other)
        return self._combined(other, interval, lambda a, b: (a - b).maximum(0))

    def __rsub__(self, other: Dimension | int) -> Dimension:
        whole = other if isinstance(other, Dimension) else Dimension(max(other, 0))
        interval = Dimension.__sub__(whole, self)
        return self._combined(other, interval, lambda a, b: (b - a).maximum(0))

    def __mul__(self, other: Dimension | int) -> Dimension:
        return self._combined(other, Dimension.__mul__(self, other), lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Dimension:
        interval = Dimension.__floordiv__(self, divisor)
        if divisor <= 0:
            return interval
        return self._combined(divisor, interval, lambda a, b: a // b)

    def ceil_div(self, divisor: int) -> Dimension:
        interval = Dimension.ceil_div(self, divisor)
        if divisor <= 0:
            return interval
        return self._combined(divisor, interval, lambda a, b: (a + b - 1) // b)

    def divided(self, divisor: int) -> Dimension | None:
        interval = Dimension.divided(self, divisor)
        if interval is None or divisor <= 0:
            return interval
        self.facts.require_multiple(self.expression, divisor)
        return dimension(self.expression // divisor, interval)

    def merge(self, other: Dimension) -> Dimension | None:
        interval = Dimension.merge(self, other)
        if interval is None or interval is self:
            return interval
        theirs = expression_of(other, self.facts)
        if theirs is None:
            return dimension(self.expression, interval)
        if not self.facts.equal(self.expression, theirs):
            return None
        return dimension(self.facts.resolved(self.expression), interval)

    def broadcast(self, other: Dimension) -> Dimension | None:
        interval = Dimension.broadcast(self, other)
        if interval is None:
            return None
        facts, ours = self.facts, self.facts.resolved(self.expression)
        theirs = expression_of(other, self.facts)
        if theirs is not None:
            theirs = facts.resolved(theirs)
        if theirs is None:  # the other one is 1, or equal
            return dimension(ours, interval) if facts.at_least(ours, facts.number(2)) else interval
        if theirs == 1:
            return dimension(ours, interval)
        if theirs.constant is not None:
            self.one_or(int(theirs.constant))
            return interval
        if ours == theirs:
            return dimension(ours, interval)
        return _broadcast(self, ours, theirs, interval)

    def encloses(self, other: Dimension) -> bool:
        return self == other

    def union(self, other: Dimension) -> Dimension:
        interval = Dimension.union(self, other)
        same = isinstance(other, SymbolicDimension) and other.expression == self.expression
        return dimension(self.expression, interval) if same else interval

    def at_least(self, other: Dimension | int) -> Dimension:
        theirs = expression_of(other, self.facts)
        if theirs is not None:
            self.facts.require_at_least(self.expression, theirs)
            return dimension(self.expression, self)
        return self

    def one_or(self, size: int) -> None:
        if self.contains(1):
            self.facts.require_one_or(self.expression, size)
        else:
            self.facts.equal(self.expression, self.facts.number(size))

    def multiple_of(self, divisor: int) -> Dimension:
        if divisor > 0:
            self.facts.require_multiple(self.expression, divisor)
        return self

    def followed(
        self, interval: Dimension, rule: Callable[[Expression], Expression | None]
    ) -> Dimension:
        try:
            expression = rule(self.expression)
        except (TooLarge, ZeroDivisionError):
            return interval
        return interval if expression is None else dimension(expression, interval)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymbolicDimension):
            return (
                self.low == other.low
                and self.high == other.high
                and self.expression == other.expression
            )
        return False

    def __hash__(self) -> int:
        return hash((self.low, self.high, self.expression))

    def __str__(self) -> str:
        return str(self.expression)


def _broadcast(
    self: SymbolicDimension, ours: Expression, theirs: Expression, interval: Dimension
) -> Dimension | None:
    """Returns the dimension to which two dynamic ones broadcast; None if they do not broadcast."""
    facts = self.facts
    one = facts.number(1)
    two = facts.number(2)
    large, other = facts.at_least(ours, two), facts.at_least(theirs, two)
    if large and other:
        return dimension(facts.resolved(ours), interval) if facts.equal(ours, theirs) else None
    for bounded, free in ((ours, theirs), (theirs, ours)):
        if _is_clipped(bounded, free):  # either is 1 only if the other is
            facts.require_at_least(bounded, free)
            return dimension(free, interval)
    if large or other:  # the other one is 1, or equal
        return dimension(ours if large else theirs, interval)
    if _are_comparable(ours, theirs) and facts.equal(ours, theirs, assumed=True):
        return dimension(facts.resolved(ours), interval)
    if facts.assume_at_least(ours, one) and facts.assume_at_least(theirs, one):
        return dimension(ours.maximum(theirs), interval)
    return interval


def _are_comparable(ours: Expression, theirs: Expression) -> bool:
    """Whether sizes that broadcast are probably equal: each has a symbol that the other lacks.

    `seq` and `past + seq` are probably not equal: they are equal only if `past` is 0.
    """
    sides: tuple[set[Symbol], set[Symbol]] = (set(), set())
    for monomial, coefficient in (ours - theirs).terms.items():
        for atom in monomial:
            sides[coefficient > 0].update(symbols_of(atom))
    return bool(sides[0]) and bool(sides[1]) and sides[0].isdisjoint(sides[1])


def _is_clipped(bounded: Expression, free: Expression) -> bool:
    """Whether `bounded` is `min(free, a, …)`, where `a` and all further arguments are 2 or more."""
    atom = bounded.atom
    if not isinstance(atom, Call) or atom.function != "min" or free not in atom.arguments:
        return False
    facts = bounded.facts
    return all(
        argument == free or facts.at_least(argument, facts.number(2)) for argument in atom.arguments
    )


def expression_of(size: Dimension | int, facts: Facts) -> Expression | None:
    """Returns a size as an expression; None for an interval without an expression."""
    if isinstance(size, SymbolicDimension):
        return size.expression
    if isinstance(size, int):
        return facts.number(size)
    return facts.number(size.low) if size.is_static else None


def dimension(expression: Expression, interval: Dimension) -> Dimension:
    """Returns a dimension with an expression, within the bounds of the expression and of
    `interval`; a plain dimension if only one size lies within these bounds."""
    constant = expression.constant
    low, high = expression.facts.range(expression)
    least = interval.low if low == -math.inf else max(interval.low, int(low))
    most = interval.high if high == math.inf else min(interval.high, int(min(high, UNBOUNDED)))
    if constant is not None and interval.contains(int(constant)):
        return Dimension(int(constant))
    if least > most:
        return interval  # another check finds the layer at fault
    return Dimension(least) if least == most else SymbolicDimension(expression, least, most)


def counted(expression: Expression, size: Dimension) -> Dimension:
    """Returns the dimension of an expression, assumed to be 0 or more; `size` if it cannot be."""
    facts = expression.facts
    if not expression.is_whole or not facts.assume_at_least(expression, facts.number(0)):
        return size
    return dimension(expression, size)


def positive(size: Dimension) -> Dimension:
    """Returns `size`, assumed to be 1 or more; without the expression if it cannot be."""
    assert isinstance(size, SymbolicDimension)
    facts = size.facts
    if facts.assume_at_least(size.expression, facts.number(1)):
        return dimension(size.expression, size)
    return Dimension(size.low, size.high)


def exact_quotient(whole: Dimension, part: Dimension, interval: Dimension) -> Dimension:
    """Returns `whole // part`, where the layer requires that `part` divides `whole` exactly."""
    symbolic = whole if isinstance(whole, SymbolicDimension) else part
    assert isinstance(symbolic, SymbolicDimension)
    facts = symbolic.facts
    there, taken = expression_of(whole, facts), expression_of(part, facts)
    if there is None or taken is None:
        return interval
    number = taken.constant
    if number is not None:
        if number:
            facts.require_multiple(there, int(number))
    elif not facts.assume_at_least(taken, facts.number(1)):
        return interval
    else:
        facts.assume_divisible(there, taken)
    there, taken = facts.resolved(there), facts.resolved(taken)
    return symbolic.followed(interval, lambda _: there // taken)


def pinned(size: Dimension, number: int) -> None:
    """Assumes that the expression of a symbolic dimension equals a number."""
    assert isinstance(size, SymbolicDimension)
    facts = size.facts
    facts.equal(size.expression, facts.number(number), assumed=True, pinned=True)
