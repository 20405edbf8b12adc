"""Integer expressions over symbols, in a normal form: equal expressions have equal texts.

An expression is a sum of products of atoms with integer coefficients, such as
`2*seq*(past//8) + 1`. An atom is a symbol, a floor division, a minimum or a maximum. A remainder
`a % b` is stored as `a - b * (a // b)`, and printed as a remainder again. Coefficients are
fractions only for real numbers, for example a size times a scale of 0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import attrgetter
from typing import Final, Protocol, Union

Coefficient = Union[int, Fraction]
MAX_TERMS: Final = 200
"""The maximum number of terms of an expression, such as the two of `a*b + 1`."""


MAX_REAL: Final = 2**24
"""The greatest real number that becomes an expression: f32 represents integers exactly up to it."""
MAX_DIVISOR: Final = 2**12


class TooLarge(ArithmeticError):
    """Raised if an expression would have more than `MAX_TERMS` terms."""


class Symbol:
    """The unknown size of a dimension of an input, with a name such as `seq`.

    order: the number of the symbol. Of two equal symbols, the one with the lower number remains.
    """

    __slots__ = ("axis", "name", "order", "text")

    def __init__(self, name: str, order: int, axis: int | None = None) -> None:
        self.name = self.text = name
        self.order = order
        self.axis = axis

    def __repr__(self) -> str:
        return self.name


class Call:
    """`a // b`, `min(a, b, …)` or `max(a, b, …)`.

    `exact`: whether a division is known to leave no remainder. Two calls that differ only in
    `exact` are equal.
    """

    __slots__ = ("_hash", "arguments", "exact", "function", "text")

    def __init__(
        self, function: str, arguments: tuple[Expression, ...], exact: bool = False
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.exact = exact
        self._hash = hash((function, arguments))
        if function == "//":
            numerator, divisor = arguments
            self.text = f"{bracketed(numerator)}//{bracketed(divisor)}"
        else:
            self.text = f"{function}({','.join(map(str, arguments))})"

    def __eq__(self, other: object) -> bool:
        # the text stands for the arguments: to compare nested ones takes far longer
        return self is other or (
            isinstance(other, Call) and self._hash == other._hash and self.text == other.text
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.text


Atom = Union[Symbol, Call]
Monomial = tuple[Atom, ...]
"""A product of symbols and calls, sorted by their text; empty for the number 1."""
Terms = dict[Monomial, Coefficient]


def bracketed(expression: Expression) -> str:
    """Returns the text of an operand of `//`, `%` or `*`: in parentheses if necessary."""
    text = str(expression)
    atom = expression.atom
    whole = isinstance(atom, Symbol) or (isinstance(atom, Call) and atom.function != "//")
    return text if whole or text.isdigit() else f"({text})"


class Facts(Protocol):
    """The interface to the facts about symbols. `bounds.Bounds` and `facts.Facts` implement it."""

    def number(self, number: Coefficient) -> Expression: ...
    def range(self, expression: Expression) -> tuple[float, float]: ...
    def is_nonnegative(self, expression: Expression) -> bool: ...
    def at_least(self, left: Expression, right: Expression) -> bool: ...
    def assume_at_least(self, left: Expression, right: Expression) -> bool: ...
    def require_at_least(self, left: Expression, right: Expression) -> None: ...
    def require_multiple(self, expression: Expression, number: int) -> None: ...
    def require_one_or(self, expression: Expression, number: int) -> None: ...
    def assume_divisible(self, whole: Expression, part: Expression) -> None: ...
    def equal(
        self, left: Expression, right: Expression, *, assumed: bool = False, pinned: bool = False
    ) -> bool: ...
    def resolved(self, expression: Expression) -> Expression: ...
    def quotient(self, numerator: Expression, divisor: Expression) -> Expression: ...
    def extreme(self, function: str, arguments: tuple[Expression, ...]) -> Expression: ...


class Expression:
    """An immutable, hashable sum of terms. `facts` simplifies the sums and products."""

    def __init__(self, terms: Terms, facts: Facts) -> None:
        if len(terms) > MAX_TERMS:
            raise TooLarge(len(terms))
        self.terms = terms
        self.facts = facts

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    @property
    def constant(self) -> Coefficient | None:
        """The number that the expression equals; None if it depends on symbols."""
        if not self.terms:
            return 0
        if len(self.terms) == 1:
            return self.terms.get(())
        return None

    @property
    def offset(self) -> Coefficient:
        """The constant term of the sum: 3 in `seq + 3`."""
        return self.terms.get((), 0)

    @property
    def atom(self) -> Atom | None:
        """The symbol or call (`seq // 2`) that the expression equals; None for a sum or product."""
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @property
    def is_whole(self) -> bool:
        """Whether all coefficients are integers."""
        return all(coefficient.denominator == 1 for coefficient in self.terms.values())

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """All symbols in the expression, including symbols in arguments of calls."""
        atoms = (atom for monomial in self.terms for atom in monomial)
        return frozenset(symbol for atom in atoms for symbol in symbols_of(atom))

    def lifted(self, other: Expression | Coefficient) -> Expression:
        """Returns `other` as an expression; a number becomes a constant expression."""
        return other if isinstance(other, Expression) else self.facts.number(other)

    @staticmethod
    def of(atom: Atom, facts: Facts) -> Expression:
        return Expression({(atom,): 1}, facts)

    def __add__(self, other: Expression | Coefficient) -> Expression:
        terms = dict(self.terms)
        for monomial, coefficient in self.lifted(other).terms.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return Expression(terms, self.facts)

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return Expression({m: -c for m, c in self.terms.items()}, self.facts)

    def __sub__(self, other: Expression | Coefficient) -> Expression:
        return self + -self.lifted(other)

    def __rsub__(self, other: Coefficient) -> Expression:
        return -self + other

    def __mul__(self, other: Expression | Coefficient) -> Expression:
        theirs = self.lifted(other)
        if len(self.terms) * len(theirs.terms) > MAX_TERMS:
            raise TooLarge(len(self.terms) * len(theirs.terms))
        terms: Terms = {}
        for ours, coefficient in self.terms.items():
            for monomial, factor in theirs.terms.items():
                product = ours + monomial
                if ours and monomial:
                    product = tuple(sorted(product, key=attrgetter("text")))
                total = terms.get(product, 0) + _whole(coefficient * factor)
                if total:
                    terms[product] = total
                else:
                    del terms[product]
        return Expression(terms, self.facts).without_exact_divisions()

    __rmul__ = __mul__

    def __floordiv__(self, other: Expression | Coefficient) -> Expression:
        return self.facts.quotient(self, self.lifted(other))

    def __mod__(self, other: Expression | Coefficient) -> Expression:
        divisor = self.lifted(other)
        return self - divisor * self.facts.quotient(self, divisor)

    def minimum(self, other: Expression | Coefficient) -> Expression:
        return self.facts.extreme("min", (self, self.lifted(other)))

    def maximum(self, other: Expression | Coefficient) -> Expression:
        return self.facts.extreme("max", (self, self.lifted(other)))

    def divided(self, number: Coefficient) -> Expression:
        """Returns the expression with all coefficients divided by a number other than 0."""
        return self * (Fraction(1) / number)

    def floor(self) -> Expression:
        """Returns the expression rounded down to an integer."""
        if self.is_whole:
            return self
        scale = lcm(*(coefficient.denominator for coefficient in self.terms.values()))
        return (self * scale) // scale

    def without_exact_divisions(self) -> Expression:
        """Returns the expression with one exact product such as `8 * (a // 8)` written as `a`."""
        for monomial, coefficient in self.terms.items():
            for position, atom in enumerate(monomial):
                if not isinstance(atom, Call) or not atom.exact:
                    continue
                numerator, divisor = atom.arguments
                number = divisor.constant
                rest = monomial[:position] + monomial[position + 1 :]
                if number is not None:
                    if coefficient % number:
                        continue
                    share: Coefficient = coefficient // number
                else:
                    other = divisor.atom
                    if other is None or other not in rest:
                        continue
                    at = rest.index(other)
                    rest, share = rest[:at] + rest[at + 1 :], coefficient
                others = {m: c for m, c in self.terms.items() if m != monomial}
                part = Expression({rest: share}, self.facts) * numerator
                return Expression(others, self.facts) + part
        return self

    def substituted(
        self,
        replacement: Callable[[Symbol], Expression | None],
        known: dict[Atom, Expression] | None = None,
    ) -> Expression:
        """Returns the expression with symbols replaced by other expressions, in normal form.

        replacement: the new expression for a symbol; None keeps the symbol. known: a cache of
        replaced symbols and calls, which nested expressions can share.
        """
        known = {} if known is None else known
        total = self.facts.number(0)
        for monomial, coefficient in self.terms.items():
            product = self.facts.number(coefficient)
            for atom in monomial:
                if atom not in known:
                    known[atom] = self._replaced(atom, replacement, known)
                product = product * known[atom]
            total = total + product
        return total

    def _replaced(
        self,
        atom: Atom,
        replacement: Callable[[Symbol], Expression | None],
        known: dict[Atom, Expression],
    ) -> Expression:
        if isinstance(atom, Symbol):
            return replacement(atom) or Expression.of(atom, self.facts)
        arguments = tuple(part.substituted(replacement, known) for part in atom.arguments)
        if atom.function == "//":
            return self.facts.quotient(*arguments)
        return self.facts.extreme(atom.function, arguments)

    def renamed(self, symbols: Mapping[Symbol, Symbol]) -> Expression:
        """Returns the expression with other symbols, not simplified: only to show it as text."""

        def atom(old: Atom) -> Atom:
            if isinstance(old, Symbol):
                return symbols.get(old, old)
            arguments = tuple(argument.renamed(symbols) for argument in old.arguments)
            return Call(old.function, arguments, old.exact)

        terms = {tuple(map(atom, monomial)): number for monomial, number in self.terms.items()}
        return Expression(terms, self.facts)

    def evaluate(self, sizes: Mapping[str, int], known: dict[Atom, int] | None = None) -> int:
        """Returns the value of the expression, given a size for the name of each symbol.

        known: a cache of the values of symbols and calls. Raises `KeyError` for a symbol without a
        size, and `ZeroDivisionError`.
        """
        known = {} if known is None else known
        total: Coefficient = 0
        for monomial, coefficient in self.terms.items():
            product = coefficient
            for atom in monomial:
                if atom not in known:
                    known[atom] = _evaluated(atom, sizes, known)
                product *= known[atom]
            total += product
        return int(total)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.constant == other
        return self is other or (isinstance(other, Expression) and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _written(self) -> str:
        return _written(self)

    def __str__(self) -> str:
        return self._written

    def __repr__(self) -> str:
        return f"Expression({self})"


def symbols_of(atom: Atom) -> frozenset[Symbol]:
    """Returns a symbol itself, or all symbols in the arguments of a call."""
    if isinstance(atom, Symbol):
        return frozenset((atom,))
    return frozenset().union(*(argument.symbols for argument in atom.arguments))


def _whole(number: Coefficient) -> Coefficient:
    return number.numerator if number.denominator == 1 else number


def _evaluated(atom: Atom, sizes: Mapping[str, int], known: dict[Atom, int]) -> int:
    if isinstance(atom, Symbol):
        return sizes[atom.name]
    values = [argument.evaluate(sizes, known) for argument in atom.arguments]
    if atom.function == "//":
        return values[0] // values[1]
    return min(values) if atom.function == "min" else max(values)


def _written(expression: Expression) -> str:
    """Returns the expression in Python's notation, positive terms first."""
    parts, rest = _remainders(expression)
    terms = sorted(
        ((coefficient, monomial) for monomial, coefficient in rest.items()),
        key=lambda term: (not term[1], [atom.text for atom in term[1]]),
    )
    parts += [(coefficient, _product(monomial, coefficient)) for coefficient, monomial in terms]
    parts.sort(key=lambda part: part[0] < 0)
    text = ""
    for coefficient, product in parts:
        size = abs(coefficient)
        sign = "-" if coefficient < 0 else "+" if text else ""
        if not product:
            text += f"{sign}{size}"
        else:
            text += sign + (product if size == 1 else f"{size}*{product}")
    return text or "0"


def _product(monomial: Monomial, coefficient: Coefficient) -> str:
    """Returns the text of a product, with parentheses around a division that is multiplied."""
    if len(monomial) == 1 and coefficient == 1:
        return monomial[0].text
    return "*".join(
        f"({atom.text})" if isinstance(atom, Call) and atom.function == "//" else atom.text
        for atom in monomial
    )


def _remainders(expression: Expression) -> tuple[list[tuple[Coefficient, str]], Terms]:
    """Returns the remainders in an expression, found as `a - b * (a // b)`, and the other terms."""
    rest = dict(expression.terms)
    parts: list[tuple[Coefficient, str]] = []
    for monomial in list(rest):
        coefficient = rest.get(monomial)
        if coefficient is None or len(monomial) != 1:
            continue
        atom = monomial[0]
        if not isinstance(atom, Call) or atom.function != "//":
            continue
        numerator, divisor = atom.arguments
        number = divisor.constant
        if number is None or coefficient % number:
            continue
        times = -coefficient // number
        wanted = {m: c * times for m, c in numerator.terms.items()}
        if all(rest.get(m) == c for m, c in wanted.items() if m):
            offset = rest.get((), 0) - wanted.get((), 0)
            for m in (*wanted, monomial):
                rest.pop(m, None)
            if offset:
                rest[()] = offset
            parts.append((times, f"({bracketed(numerator)}%{number})"))
    return parts, rest


def number(value: float, facts: Facts) -> Expression | None:
    """Returns a number as an expression; None if f32 may round it, or if its denominator is
    large."""
    if isinstance(value, int):
        return facts.number(value)
    if not -MAX_REAL < value < MAX_REAL:
        return None
    exact = Fraction(value)
    return facts.number(_whole(exact)) if exact.denominator <= MAX_DIVISOR else None
