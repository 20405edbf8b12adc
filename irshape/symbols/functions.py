"""Floor divisions, minima and maxima of expressions, simplified by known facts about sizes."""

from __future__ import annotations

import math
from math import gcd

from .bounds import Bounds
from .conditions import Constraint
from .expressions import Call, Coefficient, Expression, Monomial, Terms, TooLarge


class Functions(Bounds):
    """The known facts about the results of functions."""

    def __init__(self) -> None:
        super().__init__()
        self.rewritten: dict[Call, Expression] = {}
        """Maps divisions, minima and maxima to simpler expressions that they equal."""
        self.multiples: dict[tuple[Expression, int], Constraint] = {}
        """Maps expressions to a number that is known to divide them."""

    def quotient(self, numerator: Expression, divisor: Expression) -> Expression:
        """Returns `numerator // divisor`, for a divisor of 1 or more."""
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
        """Returns a call, or the simpler expression that it is known to equal."""
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
        common = gcd(divisor, *(int(c) for m, c in rest.items() if m))
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
        """Returns `(a // b + c) // d` as `(a + b * c) // (b * d)`."""
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
        """Whether a number is known to divide an expression."""
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
        """Returns the minimum or the maximum of some expressions."""
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
            if not any(self._beats(function, other, part) for other in others):
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

    def _beats(self, function: str, winner: Expression, loser: Expression) -> bool:
        if function == "max":
            return self.at_least(winner, loser)
        return self.at_least(loser, winner)


def exactly_divided(numerator: Expression, divisor: Expression) -> Expression | None:
    """Returns the quotient of polynomials if it leaves no remainder."""
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
    """Returns a term divided by another one; None if this leaves a remainder."""
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
