"""Exact division of polynomials over named sizes."""

from __future__ import annotations

from .expressions import Coefficient, Expression, Monomial, Terms, TooLarge


def parted(numerator: Expression, divisor: Expression) -> tuple[Expression, Expression]:
    """Returns the quotient of the terms that a divisor of one term divides, and the other terms."""
    facts = numerator.facts
    if len(divisor.terms) != 1:
        return facts.number(0), numerator
    ((by, number),) = divisor.terms.items()
    taken: Terms = {}
    rest: Terms = {}
    for monomial, coefficient in numerator.terms.items():
        quotient = _divided_term(monomial, coefficient, by, number)
        if quotient is None:
            rest[monomial] = coefficient
        else:
            taken[quotient[0]] = quotient[1]
    return Expression(taken, facts), Expression(rest, facts)


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
