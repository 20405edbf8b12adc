"""Computes bounds of expressions, from the ranges of their symbols and from recorded facts.

With bounds, floor divisions, minima and maxima become simpler: `max(seq, 1)` is `seq` if `seq` is
at least 1.

An expression is proven to be 0 or more by its range, by the ranges of its calls, such as
`seq // 2`, or by known facts, such as `seq - past >= 0`.
"""

from __future__ import annotations

import math
from typing import Final

from .conditions import Constraint
from .expressions import (
    Atom,
    Call,
    Coefficient,
    Expression,
    Facts,
    Monomial,
    Symbol,
    Terms,
    TooLarge,
)

Range = tuple[float, float]
"""The lower and the upper bound of a value: integers, or infinite."""

DEPTH: Final = 4
"""The maximum depth of a proof: how often a proof may depend on another one."""


class Bounds(Facts):
    """The ranges of symbols, the facts about expressions, and the conclusions drawn from them."""

    def __init__(self) -> None:
        self.ranges: dict[Symbol, Range] = {}
        self.nonnegative: list[Expression] = []
        """Sums and products that are known to be 0 or more, e.g. `seq - past`."""
        self.rewritten: dict[Call, Expression] = {}
        """Maps a division, minimum or maximum to a simpler expression that equals it."""
        self.multiples: dict[tuple[Expression, int], Constraint] = {}
        """Maps an expression and a number to the condition that the number divides it."""
        self._product_ranges: dict[Monomial, Range] = {}
        self._proofs: dict[tuple[Expression, int], bool] = {}

    def number(self, number: Coefficient) -> Expression:
        """Returns a number as an expression."""
        return Expression({(): number} if number else {}, self)

    def range(self, expression: Expression) -> Range:
        """Returns the lower and the upper bound of an expression."""
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
        ranges = [self.range(argument) for argument in atom.arguments]
        if atom.function == "min":
            return min(low for low, _ in ranges), min(high for _, high in ranges)
        if atom.function == "max":
            return max(low for low, _ in ranges), max(high for _, high in ranges)
        (low, high), (least, most) = ranges
        if least < 1:
            return -math.inf, math.inf
        return (
            _floor_divided(low, most if low >= 0 else least),
            _floor_divided(high, least if high >= 0 else most),
        )

    def is_nonnegative(self, expression: Expression, depth: int = DEPTH) -> bool:
        """Whether an expression can be proven to be 0 or more."""
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
        """Whether the expression is provably >= 0 for every value that its term `call` can have."""
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
        """Whether `left >= right` can be proven."""
        return left == right or self.is_nonnegative(left - right)

    def forget(self) -> None:
        """Clears the caches of ranges and proofs. Call it after a change of facts."""
        self._product_ranges.clear()
        self._proofs.clear()

    def quotient(self, numerator: Expression, divisor: Expression) -> Expression:
        """Returns `numerator // divisor` in its simplest known form."""
        number = divisor.constant
        if number is not None:
            if number == 0:
                raise ZeroDivisionError
            if number < 0:
                numerator, number = -numerator, -number
            return self._divided(numerator, int(number))
        whole = exactly_divided(numerator, divisor)
        if whole is not None:
            return whole
        if self.is_nonnegative(numerator) and self.is_nonnegative(divisor - numerator - 1):
            return self.number(0)
        return self._called(Call("//", (numerator, divisor)))

    def _called(self, call: Call) -> Expression:
        """Returns a simpler expression that is known to equal a call, or the call itself."""
        return self.rewritten.get(call) or Expression.of(call, self)

    def _divided(self, numerator: Expression, divisor: int) -> Expression:
        if divisor == 1:
            return numerator.floor()
        if not numerator.is_whole:
            scale = math.lcm(*(c.denominator for c in numerator.terms.values()))
            return self._divided(numerator * scale, divisor * scale)
        whole: Terms = {}
        rest: Terms = {}
        for monomial, coefficient in numerator.terms.items():
            share, left = divmod(coefficient, divisor)
            if not left:
                whole[monomial] = share
            elif not monomial:
                if share:
                    whole[monomial] = share
                rest[monomial] = left
            else:
                rest[monomial] = coefficient
        outside, inside = Expression(whole, self), Expression(rest, self)
        if not rest:
            return outside
        low, high = self.range(inside)
        if low >= 0 and high < divisor:
            return outside
        common = math.gcd(divisor, *(int(c) for m, c in rest.items() if m))
        if common > 1:
            reduced: Terms = {m: c // common for m, c in rest.items() if c // common}
            return outside + self._divided(Expression(reduced, self), divisor // common)
        nested = self._nested(inside, divisor)
        if nested is not None:
            return outside + nested
        if self.is_nonnegative(inside) and self.is_nonnegative(divisor - 1 - inside):
            return outside
        exact = self.divides(divisor, inside)
        return outside + self._called(Call("//", (inside, self.number(divisor)), exact))

    def _nested(self, inside: Expression, divisor: int) -> Expression | None:
        """Returns `(a // b + c) // d` as `(a + b * c) // (b * d)`; None for another form."""
        calls = [(m, c) for m, c in inside.terms.items() if m]
        if len(calls) != 1 or calls[0][1] != 1 or len(calls[0][0]) != 1:
            return None
        call = calls[0][0][0]
        if not isinstance(call, Call) or call.function != "//":
            return None
        numerator, inner = call.arguments
        number = inner.constant
        if number is None:
            return None
        return self._divided(numerator + inside.offset * number, int(number) * divisor)

    def divides(self, divisor: int, expression: Expression) -> bool:
        """Whether an integer is known to divide an expression."""
        if all(coefficient % divisor == 0 for coefficient in expression.terms.values()):
            return True
        if not self.multiples:
            return False
        for known, number in self.multiples:
            if number % divisor or known.symbols.isdisjoint(expression.symbols):
                continue
            for monomial, coefficient in expression.terms.items():
                factor = known.terms.get(monomial)
                if not monomial or not factor or coefficient % factor:
                    continue
                rest = expression - known * (coefficient // factor)
                if all(c % divisor == 0 for c in rest.terms.values()):
                    return True
        if len(expression.terms) > 1:  # if it divides each term
            return all(
                self.divides(divisor, Expression({m: c}, self)) for m, c in expression.terms.items()
            )
        return any(
            number % divisor == 0 and known.atom is not None and known.atom in monomial
            for monomial in expression.terms
            for known, number in self.multiples
        )

    def extreme(self, function: str, arguments: tuple[Expression, ...]) -> Expression:
        """Returns the minimum or the maximum of expressions, in its simplest known form."""
        parts: list[Expression] = []
        for argument in arguments:
            atom = argument.atom
            inner = isinstance(atom, Call) and atom.function == function
            for part in atom.arguments if inner and isinstance(atom, Call) else (argument,):
                if part not in parts:
                    parts.append(part)
        kept: list[Expression] = []
        for index, part in enumerate(parts):
            others = kept + parts[index + 1 :]
            wins = [(other, part) if function == "max" else (part, other) for other in others]
            if not any(self.at_least(*pair) for pair in wins):
                kept.append(part)
        if len(kept) == 1:
            return kept[0]
        shared = {
            m: c for m, c in kept[0].terms.items() if all(p.terms.get(m) == c for p in kept[1:])
        }
        if shared:
            common = Expression(shared, self)
            return common + self.extreme(function, tuple(part - common for part in kept))
        kept.sort(key=lambda part: (part.constant is None, str(part)))
        return self._called(Call(function, tuple(kept)))


def _times(number: float, factor: float | Coefficient) -> float:
    return 0 if not number or not factor else number * factor


def _floor_divided(number: float, divisor: float) -> float:
    if math.isinf(number):
        return number
    if math.isinf(divisor):
        return 0 if number >= 0 else -1
    return number // divisor


def exactly_divided(numerator: Expression, divisor: Expression) -> Expression | None:
    """Returns the quotient of two polynomials; None if the division leaves a remainder."""
    facts = numerator.facts
    lead, number = max(divisor.terms.items(), key=_degree)
    quotient, rest = facts.number(0), numerator
    try:
        for _ in range(16):
            if not rest.terms:
                return quotient
            monomial, coefficient = max(rest.terms.items(), key=_degree)
            term = _divided_term(monomial, coefficient, lead, number)
            if term is None:
                return None
            share = Expression({term[0]: term[1]}, facts)
            quotient, rest = quotient + share, rest - share * divisor
    except TooLarge:
        return None
    return None


def _divided_term(
    monomial: Monomial, coefficient: Coefficient, by: Monomial, number: Coefficient
) -> tuple[Monomial, Coefficient] | None:
    """Returns the quotient of two terms; None if the division leaves a remainder."""
    if coefficient % number:
        return None
    rest = list(monomial)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest), coefficient // number


def _degree(term: tuple[Monomial, Coefficient]) -> tuple[int, list[str]]:
    return len(term[0]), [atom.text for atom in term[0]]
