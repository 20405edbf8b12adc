"""Bounds of expressions, from the ranges of their symbols and from known relations.

To prove that an expression is 0 or more, this module uses its range, the ranges of the calls in it,
and known facts about expressions of several atoms.
"""

from __future__ import annotations

import math
from typing import Final

from .expressions import Atom, Call, Coefficient, Expression, Facts, Monomial, Symbol

Range = tuple[float, float]
"""The least and the largest value: integers, or infinite."""

DEPTH: Final = 4
"""The maximum number of steps of a proof."""


class Bounds(Facts):
    """The known facts about the ranges of sizes."""

    def __init__(self) -> None:
        self.ranges: dict[Symbol, Range] = {}
        self.nonnegative: list[Expression] = []
        """Expressions of several atoms that are known to be 0 or more."""
        self._call_ranges: dict[Call, Range] = {}
        self._product_ranges: dict[Monomial, Range] = {}
        self._proofs: dict[tuple[Expression, int], bool] = {}

    def number(self, number: Coefficient) -> Expression:
        return Expression.number(number, self)

    def range(self, expression: Expression) -> Range:
        """Returns the bounds of an expression."""
        low = high = 0.0
        known = self._product_ranges
        for monomial, coefficient in expression.terms.items():
            bounds = known.get(monomial)
            if bounds is None:
                bounds = known[monomial] = self._product_range(monomial)
            least, most = bounds
            if coefficient < 0:
                least, most = most, least
            low += _times(least, coefficient)
            high += _times(most, coefficient)
        return low, high

    def _product_range(self, monomial: Monomial) -> Range:
        least = most = 1.0
        for atom in monomial:
            low, high = self._atom_range(atom)
            corners = [_times(a, b) for a in (least, most) for b in (low, high)]
            least, most = min(corners), max(corners)
        return least, most

    def _atom_range(self, atom: Atom) -> Range:
        if isinstance(atom, Symbol):
            return self.ranges[atom]
        known = self._call_ranges.get(atom)
        if known is None:
            known = self._call_ranges[atom] = self._call_range(atom)
        return known

    def _call_range(self, call: Call) -> Range:
        ranges = [self.range(argument) for argument in call.arguments]
        if call.function == "min":
            return min(low for low, _ in ranges), min(high for _, high in ranges)
        if call.function == "max":
            return max(low for low, _ in ranges), max(high for _, high in ranges)
        (low, high), (least, most) = ranges
        if least < 1:
            return -math.inf, math.inf
        return (
            _floor_divided(low, most if low >= 0 else least),
            _floor_divided(high, least if high >= 0 else most),
        )

    def is_nonnegative(self, expression: Expression, depth: int = DEPTH) -> bool:
        """Whether the expression is known to be 0 or more."""
        if self.range(expression)[0] >= 0:
            return True
        if depth <= 0 or not expression.terms:
            return False
        known = self._proofs.get((expression, depth))
        if known is None:
            known = self._proofs[expression, depth] = self._proven(expression, depth)
        return known

    def _proven(self, expression: Expression, depth: int) -> bool:
        for monomial, coefficient in expression.terms.items():
            if len(monomial) == 1 and isinstance(monomial[0], Call):
                verdict = self._proven_by(expression, monomial[0], coefficient, depth)
                if verdict:
                    return True
        open_below = {
            monomial
            for monomial, coefficient in expression.terms.items()
            if self.range(Expression({monomial: coefficient}, self))[0] == -math.inf
        }
        for fact in self.nonnegative:
            if fact.symbols.isdisjoint(expression.symbols):
                continue
            if depth < DEPTH and not open_below <= fact.terms.keys():
                continue  # the difference has no lower bound either
            difference = expression - fact
            if self.range(difference)[0] >= 0:
                return True
            if depth == DEPTH and self.is_nonnegative(difference, depth - 2):
                return True
        return False

    def _proven_by(
        self, expression: Expression, call: Call, coefficient: Coefficient, depth: int
    ) -> bool:
        """Whether an expression is 0 or more for every value that a call can have within its
        bounds."""
        rest = expression - Expression.of(call, self) * coefficient
        if call.function == "//":
            numerator, divisor = call.arguments
            number = divisor.constant
            if number is None or number <= 0:
                return False
            worst = numerator if coefficient < 0 else numerator - (number - 1)
            return self.is_nonnegative(rest * number + worst * coefficient, depth - 1)
        each = (self.is_nonnegative(rest + a * coefficient, depth - 1) for a in call.arguments)
        some = (call.function == "max") == (coefficient > 0)
        return any(each) if some else all(each)

    def at_least(self, left: Expression, right: Expression) -> bool:
        """Whether `left >= right` is known."""
        return left == right or self.is_nonnegative(left - right)

    def forget(self) -> None:
        """Forgets conclusions from bounds. Call it after changing the bounds."""
        self._call_ranges.clear()
        self._product_ranges.clear()
        self._proofs.clear()


def _times(number: float, factor: float | Coefficient) -> float:
    return 0 if not number or not factor else number * factor


def _floor_divided(number: float, divisor: float) -> float:
    if math.isinf(number):
        return number
    if math.isinf(divisor):
        return 0 if number >= 0 else -1
    return number // divisor
