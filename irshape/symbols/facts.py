"""The known facts about the symbols of a model. It records conditions, and draws conclusions.

The inference of layers states the facts. A *requirement* holds whenever the model is inferred
without a violation. An *assumption* is a condition under which the expressions are valid: for
example, that two sizes that are broadcast together are equal, rather than one of them being 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Final

from .bounds import DEPTH
from .conditions import Constraint
from .contradictions import Contradictions
from .expressions import Atom, Call, Coefficient, Expression, Symbol

MAX_FACTS: Final = 64


class Facts(Contradictions):
    """The known facts about some symbols."""

    def __init__(self) -> None:
        super().__init__()
        self.symbols: dict[str, Symbol] = {}
        self.rejected: set[str] = set()
        """Assumptions that turned out to contradict the model."""

    def symbol(
        self, name: str, low: float = 0, high: float = math.inf, axis: int | None = None
    ) -> Expression:
        """Returns the symbol with a name. The first call makes it."""
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = Symbol(name, len(self.symbols), axis)
            self.ranges[symbol] = (low, high)
        return self.resolved(Expression.of(symbol, self))

    def equal(
        self, left: Expression, right: Expression, *, assumed: bool = False, pinned: bool = False
    ) -> bool:
        """Records that two expressions are equal. Returns whether they can be.

        An assumption is recorded only if it replaces a symbol. It replaces a symbol by a number
        only if it is `pinned`. A pinned expression need not determine a symbol.
        """
        given = left, right
        left, right = self.resolved(left), self.resolved(right)
        difference = left - right
        if not difference.terms:
            return True
        constraint = Constraint(left, "==", right, self.source, assumed)
        if assumed and str(constraint) in self.rejected:
            return False
        low, high = self.range(difference)
        if low > 0 or high < 0:
            return self._refused(*given, assumed=assumed)
        if not self.listening and not assumed:
            return self._holds_inside(constraint)
        solution = self._solution(left, right)
        if solution is not None:
            if assumed and not pinned and not solution[1].symbols:
                return False
            if self._put_in_place(*solution, constraint):
                return True
            return self._refused(*given, assumed=assumed)
        if assumed and not pinned:
            return False
        self._rewrite(difference, constraint)
        for part in (difference, -difference):
            self._note_nonnegative(part, constraint)
        return True

    def _refused(self, left: Expression, right: Expression, *, assumed: bool) -> bool:
        """Records that the current source requires the equality of two expressions that are not
        equal."""
        if not assumed:
            self._contradict(left, "==", right)
        return False

    def _put_in_place(
        self, symbol: Symbol, replacement: Expression, constraint: Constraint
    ) -> bool:
        """Replaces a symbol by an expression that equals it. Returns whether this is possible."""
        least, most = self.ranges[symbol]
        low, high = self.range(replacement)
        if low > most or high < least or self._excluding(symbol, replacement) is not None:
            return False
        self._record(constraint)
        if not constraint.assumed and not replacement.symbols:
            self._exclude_inside(symbol, replacement, constraint)
        self._replace(symbol, replacement)
        if low < least:
            self._note_nonnegative(replacement - int(least), constraint)
        if high > most:
            self._note_nonnegative(int(most) - replacement, constraint)
        return True

    def assume_divisible(self, whole: Expression, part: Expression) -> None:
        """Assumes a condition under which a product divides another one: that a size in one product
        equals the size in the other at the same axis of an input."""
        whole, part = self.resolved(whole), self.resolved(part)
        if len(whole.terms) != 1 or len(part.terms) != 1:
            return
        (ours,), (theirs,) = whole.terms, part.terms
        left, right = (
            [atom for atom in mine if isinstance(atom, Symbol) and atom not in others]
            for mine, others in ((theirs, ours), (ours, theirs))
        )
        for atom, other in product(left, right):
            if other.axis is None or other.axis != atom.axis:
                continue
            if self.equal(Expression.of(atom, self), Expression.of(other, self), assumed=True):
                return

    def _rewrite(self, difference: Expression, constraint: Constraint) -> None:
        """Replaces the longest call in an equation by the rest of the equation."""
        calls = [
            (len(monomial[0].text), monomial[0].text, monomial[0], coefficient)
            for monomial, coefficient in difference.terms.items()
            if len(monomial) == 1 and isinstance(monomial[0], Call) and abs(coefficient) == 1
        ]
        if not calls:
            return
        _, _, call, coefficient = max(calls, key=lambda each: each[:2])
        rest = (difference - Expression.of(call, self) * coefficient) * -coefficient
        if call.text not in str(rest):
            self._record(constraint)
            self.rewritten[call] = rest
            self.forget()

    def _replace(self, symbol: Symbol, replacement: Expression) -> None:
        self.replaced[symbol] = replacement
        self.forget()
        single = {symbol: replacement}.get
        self.replaced = {
            old: (new.substituted(single) if symbol in new.symbols else new)
            for old, new in self.replaced.items()
        }
        self.nonnegative = [
            fact.substituted(single) if symbol in fact.symbols else fact
            for fact in self.nonnegative
        ]
        self.multiples = _substituted(self.multiples, symbol, single)
        self.one_or = _substituted(self.one_or, symbol, single)

    def require_at_least(self, left: Expression, right: Expression) -> None:
        """Records that `left >= right` holds whenever the model can be inferred."""
        self._at_least(left, right, assumed=False)

    def assume_at_least(self, left: Expression, right: Expression) -> bool:
        """Records the assumption that `left >= right`. Returns whether it can hold."""
        return self._at_least(left, right, assumed=True)

    def _at_least(self, left: Expression, right: Expression, *, assumed: bool) -> bool:
        difference = self.resolved(left - right)
        if self.is_nonnegative(difference):
            return True
        constraint = Constraint(left, ">=", right, self.source, assumed)
        if self.range(difference)[1] < 0:
            if not assumed:
                self._contradict(left, ">=", right)
            return False
        if not self.listening and not assumed:
            self._record(constraint)
        else:
            self._note_nonnegative(difference, constraint)
        return True

    def _note_nonnegative(self, expression: Expression, constraint: Constraint) -> None:
        """Records that an expression is 0 or more, as a bound of a symbol if possible."""
        if not self.is_nonnegative(expression):
            self._record(constraint)
            self._note_part(expression)

    def _note_part(self, expression: Expression, depth: int = DEPTH) -> None:
        offset = expression.offset
        rest = expression - offset
        if len(rest.terms) == 1:
            ((monomial, coefficient),) = rest.terms.items()
            limit = -offset / coefficient
            if len(monomial) == 1 and self._bound(monomial[0], limit, coefficient):
                return
            positive = coefficient > 0 and limit > 0
            if positive and all(self._atom_range(atom)[0] >= 0 for atom in monomial):
                for atom in set(monomial):  # none of the factors is 0
                    self._bound(atom, 1, 1)
                if limit <= 1:
                    return
        for monomial, coefficient in expression.terms.items():
            call = monomial[0] if len(monomial) == 1 else None
            if not isinstance(call, Call) or not depth:
                continue
            if call.function == ("min" if coefficient > 0 else "max"):
                others = expression - Expression.of(call, self) * coefficient
                for argument in call.arguments:
                    part = others + argument * coefficient
                    if not self.is_nonnegative(part):
                        self._note_part(part, depth - 1)
                return
        if len(self.nonnegative) < MAX_FACTS and expression not in self.nonnegative:
            self.nonnegative.append(expression)
            self.forget()

    def _bound(self, atom: Atom, limit: float | Coefficient, sign: Coefficient) -> bool:
        """Narrows an atom to `>= limit` (for a positive sign) or `<= limit`."""
        if isinstance(atom, Symbol):
            low, high = self.ranges[atom]
            if sign > 0:
                low = max(low, math.ceil(limit))
            else:
                high = min(high, math.floor(limit))
            if low > high:
                return False
            self.ranges[atom] = (low, high)
            self.forget()
            return True
        if (atom.function == "min") == (sign > 0) and atom.function != "//":
            whole = math.ceil(limit) if sign > 0 else math.floor(limit)
            for argument in atom.arguments:
                part = argument - whole if sign > 0 else whole - argument
                if not self.is_nonnegative(part):
                    low, high = self.range(part)
                    if high < 0:
                        return False
                    self._note_part(part)
            return True
        if atom.function == "//":
            numerator, divisor = atom.arguments
            number = divisor.constant
            if number is None:
                return False
            if sign > 0:
                self._note_part(numerator - math.ceil(limit) * int(number))
            else:
                self._note_part((math.floor(limit) + 1) * int(number) - 1 - numerator)
            return True
        return False

    def require_one_or(self, expression: Expression, number: int) -> None:
        """Records that an expression is 1 or a number."""
        resolved, size = self.resolved(expression), self.number(number)
        if resolved.constant not in (None, 1, number):
            self._contradict(expression, "== 1 or", size)
        elif self.listening and resolved.symbols and len(self.one_or) < MAX_FACTS:
            self.one_or.setdefault(
                (resolved, number), Constraint(resolved, "== 1 or", size, self.source, False)
            )

    def require_multiple(self, expression: Expression, number: int) -> None:
        """Records that a number divides an expression."""
        given, expression = expression, self.resolved(expression)
        if self.divides(number, expression):
            return
        remainder = Constraint(
            expression % number, "==", self.number(0), self.source, assumed=False
        )
        if expression.constant is not None:
            self._contradict(given % number, "==", self.number(0))
            return
        self._record(remainder)
        if self.listening and len(self.multiples) < MAX_FACTS:
            self.multiples.setdefault((expression, number), remainder)

    def assume_multiple(self, expression: Expression, number: int) -> None:
        listening, self.listening = self.listening, True
        self.require_multiple(expression, number)
        self.listening = listening


def _substituted(
    facts: dict[tuple[Expression, int], Constraint],
    symbol: Symbol,
    replacement: Callable[[Symbol], Expression | None],
) -> dict[tuple[Expression, int], Constraint]:
    return {
        (
            known.substituted(replacement) if symbol in known.symbols else known,
            number,
        ): constraint
        for (known, number), constraint in facts.items()
    }
