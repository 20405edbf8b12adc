"""Records the conditions of layers on the symbols of a model, and draws conclusions from them.

The code that infers layers calls this module. If a *requirement* does not hold, a layer refuses its
inputs. An *assumption* only seems likely: for example, that two sizes which broadcast are equal,
although one of them could be 1. The expressions are valid if the assumptions hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Final

from .bounds import DEPTH, Bounds
from .conditions import Conflict, Constraint
from .expressions import Atom, Call, Coefficient, Expression, Symbol

MAX_FACTS: Final = 64


class Facts(Bounds):
    """The known facts about the symbols of one model, each with the layer that it comes from."""

    def __init__(self) -> None:
        super().__init__()
        self.symbols: dict[str, Symbol] = {}
        self.rejected: set[str] = set()
        """The texts of assumptions that contradict the model, and so are not made again."""
        self.sure = False
        """If true, no equality is assumed, so that bounds are valid for all sizes of the inputs."""
        self.replaced: dict[Symbol, Expression] = {}
        """For each replaced symbol, the expression that it equals."""
        self.one_or: dict[tuple[Expression, int], Constraint] = {}
        """Maps an expression and a number to the condition that the expression is 1 or this number,
        as broadcasting requires it."""
        self.constraints: dict[str, Constraint] = {}
        """Every condition that restricts a size, by the text of the condition."""
        self.conflicts: dict[object, Conflict] = {}
        """Maps each source of conditions, e.g. a layer, to the first contradiction that it
        causes."""
        self.source: object = None
        """The source of new conditions: the layer that is being inferred; None for the user."""
        self.listening = True
        """Whether requirements narrow the ranges of sizes. False inside a body that may never run:
        there, requirements are recorded, but narrow nothing."""
        self.inside: dict[Symbol, tuple[Expression, Constraint]] = {}
        """For a body that may never run: symbols, and expressions that they equal in the body."""

    @contextmanager
    def inside_of(self, *, certain: bool) -> Iterator[None]:
        """Collects the conditions in a body. If the body may never run (not `certain`), they do not
        narrow sizes outside the body."""
        before = self.listening, self.source, self.inside
        if not certain:
            self.listening, self.inside = False, dict(self.inside)
        try:
            yield
        finally:
            self.listening, self.source, self.inside = before

    def symbol(
        self, name: str, low: float = 0, high: float = math.inf, axis: int | None = None
    ) -> Expression:
        """Returns the symbol with a name as an expression. The first call creates the symbol."""
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = Symbol(name, len(self.symbols), axis)
            self.ranges[symbol] = (low, high)
        return self.resolved(Expression.of(symbol, self))

    def equal(
        self, left: Expression, right: Expression, *, assumed: bool = False, pinned: bool = False
    ) -> bool:
        """Records that two expressions are equal. Returns False if they do not count as equal.

        A requirement (without `assumed`) only fails if it cannot be true. An assumption also fails
        unless it replaces a symbol by an expression with other symbols (`seq == past + 1`) or, with
        `pinned`, by a number (`seq == 128`).
        """
        given = left, right
        left, right = self.resolved(left), self.resolved(right)
        difference = left - right
        if not difference.terms:
            return True
        constraint = Constraint(left, "==", right, self.source, assumed)
        if assumed and (self.sure or str(constraint) in self.rejected):
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
        """Returns False for an equation that cannot hold. Records a contradiction, unless the
        equation is only `assumed`."""
        if not assumed:
            self._contradict(left, "==", right)
        return False

    def _put_in_place(
        self, symbol: Symbol, replacement: Expression, constraint: Constraint
    ) -> bool:
        """Replaces a symbol by an expression. Returns False if known facts exclude that."""
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
        """Makes the product `part` divide the product `whole`, if possible: assumes that a size in
        `part` equals a size of the same axis in `whole`."""
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
        """Records `difference == 0`: from now on, the other terms replace its longest call."""
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
        """Records the requirement `left >= right`, or a contradiction if it cannot be true."""
        self._at_least(left, right, assumed=False)

    def assume_at_least(self, left: Expression, right: Expression) -> bool:
        """Records the assumption `left >= right`. Returns False if it cannot be true."""
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
        """Records that an expression is 0 or more; for a single symbol, as a bound of its range."""
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
            positive = len(monomial) > 1 and coefficient > 0 and limit > 0
            if positive and all(self._atom_range(atom)[0] >= 0 for atom in monomial):
                for atom in set(monomial):  # none of the factors is 0
                    self._note_part(Expression.of(atom, self) - 1, depth - 1)
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
        """Records `atom >= limit`, or `atom <= limit` if `sign` < 0. Returns False if it cannot."""
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
        """Records the requirement that an expression equals 1 or a number."""
        resolved, size = self.resolved(expression), self.number(number)
        if resolved.constant not in (None, 1, number):
            self._contradict(expression, "== 1 or", size)
        elif self.listening and resolved.symbols and len(self.one_or) < MAX_FACTS:
            self.one_or.setdefault(
                (resolved, number), Constraint(resolved, "== 1 or", size, self.source, False)
            )

    def require_multiple(self, expression: Expression, number: int) -> None:
        """Records the requirement that a number divides an expression."""
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

    def resolved(self, expression: Expression) -> Expression:
        """Returns the expression with symbols replaced by the expressions that they equal."""
        if not self.replaced or not any(s in self.replaced for s in expression.symbols):
            return expression
        return expression.substituted(self.replaced.get)

    def simplified(
        self, expression: Expression, known: dict[Atom, Expression] | None = None
    ) -> Expression:
        """Returns the expression, simplified with all facts known so far.

        known: a cache of simplified symbols and calls.
        """
        return expression.substituted(self.replaced.get, known)

    def _solution(self, left: Expression, right: Expression) -> tuple[Symbol, Expression] | None:
        """Solves `left == right` for a symbol. Returns the symbol and the expression that it
        equals; None if the equation determines no symbol."""
        difference = left - right
        candidates: list[tuple[bool, int, Symbol, Expression]] = []
        for monomial, coefficient in difference.terms.items():
            if len(monomial) != 1 or not isinstance(monomial[0], Symbol):
                continue
            symbol = monomial[0]
            own = Expression({monomial: coefficient}, self)
            rest = difference - own
            if symbol in rest.symbols:
                continue
            if rest.constant is not None:
                share, left_over = divmod(-rest.constant, coefficient)
                if left_over:
                    continue
                return symbol, self.number(share)
            if abs(coefficient) != 1:
                continue
            alone = left.atom is symbol or right.atom is symbol
            candidates.append((alone, symbol.order, symbol, rest * -coefficient))
        if not candidates:
            return None
        _, _, symbol, replacement = max(candidates, key=lambda each: each[:2])
        return symbol, replacement

    def _record(self, constraint: Constraint) -> None:
        if not self.listening and not constraint.assumed:
            constraint = constraint._replace(conditional=True)
        known = self.constraints.get(str(constraint))
        if known is None or (known.conditional and not constraint.conditional):
            self.constraints[str(constraint)] = constraint

    def forget_conditional(self) -> None:
        """Forgets the conditions in bodies that may never run, to collect them again."""
        self.constraints = {
            text: each for text, each in self.constraints.items() if not each.conditional
        }

    def _holds_inside(self, constraint: Constraint) -> bool:
        """Records an equation in a body that may never run. Returns whether it can be true."""
        self._record(constraint)
        solution = self._solution(constraint.left, constraint.right)
        if solution is None:
            return True
        symbol, replacement = solution
        other, earlier = self.inside.setdefault(symbol, (replacement, constraint))
        low, high = self.range(replacement - other)
        if low <= 0 <= high:
            return True
        self.conflicts.setdefault(self.source, Conflict(constraint, (earlier,)))
        return False

    def _contradict(self, left: Expression, relation: str, right: Expression) -> None:
        """Records that a requirement of the current source contradicts earlier conditions."""
        if self.source in self.conflicts:
            return
        solution = (
            self._solution(self.resolved(left), self.resolved(right)) if relation == "==" else None
        )
        single = None if solution is None else self._excluding(*solution)
        earlier = self._chain(left, right) if single is None else (single,)
        constraint = Constraint(left, relation, right, self.source, assumed=False)
        self.conflicts[self.source] = Conflict(constraint, earlier)

    def _excluding(self, symbol: Symbol, replacement: Expression) -> Constraint | None:
        """Returns a requirement that excludes the number `replacement` for a symbol, or None."""
        if replacement.symbols:
            return None
        number = {symbol: replacement}.get

        def value(expression: Expression) -> Coefficient | None:
            own = self.resolved(expression)
            return own.substituted(number).constant if symbol in own.symbols else None

        for (expression, divisor), constraint in self.multiples.items():
            if (value(expression) or 0) % divisor:
                return constraint
        for (expression, size), constraint in self.one_or.items():
            if value(expression) not in (None, 1, size):
                return constraint
        for constraint in self.constraints.values():
            if constraint.relation != ">=" or constraint.assumed or constraint.conditional:
                continue
            if (value(constraint.left - constraint.right) or 0) < 0:
                return constraint
        return None

    def _exclude_inside(self, symbol: Symbol, number: Expression, constraint: Constraint) -> None:
        """Records a contradiction for each conditional equation that `symbol == number` breaks."""
        for each in self.constraints.values():
            if each.conditional and each.relation == "==":
                difference = self.resolved(each.left - each.right)
                if difference.substituted({symbol: number}.get).constant not in (None, 0):
                    self.conflicts.setdefault(each.source, Conflict(each, (constraint,)))

    def _chain(self, left: Expression, right: Expression) -> tuple[Constraint, ...]:
        """Returns the shortest chain of equations that connects the symbols of two expressions."""
        remainders = set(self.multiples.values())
        equations = [
            each
            for each in self.constraints.values()
            if each.relation == "==" and not each.conditional and each not in remainders
        ]
        start, goal = (left, right) if left.symbols else (right, left)
        waiting: list[tuple[frozenset[Symbol], tuple[Constraint, ...]]] = [(start.symbols, ())]
        reached = set(start.symbols)
        while waiting:
            symbols, chain = waiting.pop(0)
            for equation in equations:
                own = equation.left.symbols | equation.right.symbols
                if equation in chain or own.isdisjoint(symbols):
                    continue
                beyond = own - symbols
                if not beyond or (goal.symbols and not beyond.isdisjoint(goal.symbols)):
                    return (*chain, equation)
                if not beyond <= reached:
                    reached |= beyond
                    waiting.append((beyond, (*chain, equation)))
        return ()


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
