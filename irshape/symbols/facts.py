"""What is known of the symbols of a model: bounds, equalities, divisors. Simplifies by it.

Facts come from the layers that need them. A *requirement* holds wherever the model is inferred
without a violation; an *assumption* is a condition under which the expressions are written, such as
that two sizes that are broadcast together are equal, and not 1 and something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product
from math import gcd
from typing import Final, NamedTuple

from .expressions import Atom, Call, Coefficient, Expression, Monomial, Symbol, Terms, TooLarge

Range = tuple[float, float]
"""The least and largest value, whole numbers or infinite."""

DEPTH: Final = 4
"""How many steps a proof takes at most."""
MAX_FACTS: Final = 64


class Constraint(NamedTuple):
    """A condition that a layer puts on the sizes: `left relation right`."""

    left: Expression
    relation: str
    right: Expression
    source: object
    """The layer, or what else says so."""
    assumed: bool
    conditional: bool = False
    """Whether it holds only where a body runs that may not: a branch of an If, for example."""

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


class Conflict(NamedTuple):
    """A condition that cannot hold together with earlier ones."""

    constraint: Constraint
    earlier: tuple[Constraint, ...]
    """The fewest from which it follows; empty where the shapes of the inputs say so."""


class Facts:
    """What is known of some symbols."""

    def __init__(self) -> None:
        self.symbols: dict[str, Symbol] = {}
        self.ranges: dict[Symbol, Range] = {}
        self.replaced: dict[Symbol, Expression] = {}
        """Symbols that are equal to an expression of others."""
        self.rewritten: dict[Call, Expression] = {}
        """Divisions, minima and maxima that are equal to something simpler."""
        self.nonnegative: list[Expression] = []
        """Expressions of several atoms that are known to be 0 or more."""
        self.multiples: dict[tuple[Expression, int], None] = {}
        """Expressions that a number is known to divide."""
        self.one_or: dict[tuple[Expression, int], None] = {}
        """Expressions that are 1 or a number: what is broadcast to that."""
        self.constraints: dict[str, Constraint] = {}
        """Every condition that narrows something, by its text."""
        self.rejected: set[str] = set()
        """Assumptions that turned out to contradict the model."""
        self.conflicts: dict[object, Conflict] = {}
        """Conditions that contradict others, by their sources."""
        self.source: object = None
        """What is at work: the source of the conditions that come up."""
        self.listening = True
        """Whether requirements hold; those of bodies that may never run are only written down."""
        self.inside: dict[Symbol, tuple[Expression, Constraint]] = {}
        """What symbols equal in the body at work, if that may not run."""
        self._call_ranges: dict[Call, Range] = {}
        self._product_ranges: dict[Monomial, Range] = {}
        self._proofs: dict[tuple[Expression, int], bool] = {}

    # symbols

    def symbol(
        self, name: str, low: float = 0, high: float = math.inf, axis: int | None = None
    ) -> Expression:
        """The symbol of that name, made when it is first asked for."""
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = Symbol(name, len(self.symbols), axis)
            self.ranges[symbol] = (low, high)
        return self.resolved(Expression.of(symbol, self))

    def number(self, number: Coefficient) -> Expression:
        return Expression.number(number, self)

    def resolved(self, expression: Expression) -> Expression:
        """The expression with every symbol replaced that is known to be equal to others."""
        if not self.replaced or not any(s in self.replaced for s in expression.symbols):
            return expression
        return expression.substituted(self.replaced.get)

    def simplified(self, expression: Expression) -> Expression:
        """The expression by all that is known by now."""
        return expression.substituted(self.replaced.get)

    # bounds

    def range(self, expression: Expression) -> Range:
        """Bounds of an expression."""
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
        """Whether it is 0 or more whatever of its bounds a call takes."""
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

    # functions

    def quotient(self, numerator: Expression, divisor: Expression) -> Expression:
        """`numerator // divisor`, for a divisor of 1 or more."""
        number = divisor.constant
        if number is not None:
            if number == 0:
                raise ZeroDivisionError
            if number < 0:
                numerator, number = -numerator, -number
            return self._divided(numerator, int(number))
        whole = _exactly_divided(numerator, divisor)
        if whole is not None:
            return whole
        taken, rest = _parted(numerator, divisor)
        if taken.terms and rest.terms and self.range(divisor)[0] >= 1:
            return taken + self.quotient(rest, divisor)
        if self.is_nonnegative(numerator) and self.is_nonnegative(divisor - numerator - 1):
            return self.number(0)
        return self._called(Call("//", (numerator, divisor)))

    def _called(self, call: Call) -> Expression:
        """A call, or what it is known to be equal to."""
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
        """`(a // b + c) // d` as `(a + b * c) // (b * d)`."""
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
        if len(expression.terms) > 1:  # each term by itself
            return all(
                self.divides(divisor, Expression({m: c}, self)) for m, c in expression.terms.items()
            )
        return any(
            number % divisor == 0 and known.atom is not None and known.atom in monomial
            for monomial in expression.terms
            for known, number in self.multiples
        )

    def extreme(self, function: str, arguments: tuple[Expression, ...]) -> Expression:
        """The least or the largest of some expressions."""
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

    # conditions

    def equal(
        self, left: Expression, right: Expression, *, assumed: bool = False, pinned: bool = False
    ) -> bool:
        """Takes down that two expressions are equal; whether they can be.

        An assumption is only taken down if a symbol can be replaced by it, and by a number only if
        it is `pinned`; what is pinned may also be an expression of which no symbol follows.
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
            if not assumed:
                self._contradict(*given)
            return False
        if not self.listening and not assumed:
            return self._holds_inside(constraint)
        solution = self._solution(left, right)
        if solution is None:
            if assumed and not pinned:
                return False
            self._rewrite(difference, constraint)
            for part in (difference, -difference):
                self._note_nonnegative(part, constraint)
            return True
        symbol, replacement = solution
        least, most = self.ranges[symbol]
        low, high = self.range(replacement)
        if low > most or high < least:
            if not assumed:
                self._contradict(*given)
            return False
        if assumed and not pinned and not replacement.symbols:
            return False
        self._record(constraint)
        self._replace(symbol, replacement)
        if low < least:
            self._note_nonnegative(replacement - int(least), constraint)
        if high > most:
            self._note_nonnegative(int(most) - replacement, constraint)
        return True

    def assume_divisible(self, whole: Expression, part: Expression) -> None:
        """Assumes what makes a product divisible by another one: that a size in the one is the size
        in the other that stands at the same axis of an input.
        """
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

    def _solution(self, left: Expression, right: Expression) -> tuple[Symbol, Expression] | None:
        """A symbol and what it must be: the last one of those that can be replaced."""
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

    def _rewrite(self, difference: Expression, constraint: Constraint) -> None:
        """Replaces the longest call of an equation by the rest of it."""
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

    def forget(self) -> None:
        """Forgets what was worked out from bounds: call it after changing them."""
        self._call_ranges.clear()
        self._product_ranges.clear()
        self._proofs.clear()

    def require_at_least(self, left: Expression, right: Expression) -> None:
        """Takes down that `left >= right` holds wherever the model can be inferred."""
        self._at_least(left, right, assumed=False)

    def assume_at_least(self, left: Expression, right: Expression) -> bool:
        """Takes down the assumption that `left >= right`; whether it can hold."""
        return self._at_least(left, right, assumed=True)

    def _at_least(self, left: Expression, right: Expression, *, assumed: bool) -> bool:
        difference = self.resolved(left - right)
        if self.is_nonnegative(difference):
            return True
        constraint = Constraint(left, ">=", right, self.source, assumed)
        if self.range(difference)[1] < 0:
            return False
        if not self.listening and not assumed:
            self._record(constraint)
        else:
            self._note_nonnegative(difference, constraint)
        return True

    def _note_nonnegative(self, expression: Expression, constraint: Constraint) -> None:
        """Takes down that an expression is 0 or more, as a bound of a symbol where it can be."""
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
                    if not self._bound(atom, 1, 1):
                        self._note_factor(atom)
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

    def _note_factor(self, atom: Atom) -> None:
        """Takes down that a division or a maximum is 1 or more."""
        positive = Expression.of(atom, self) - 1
        if len(self.nonnegative) < MAX_FACTS and positive not in self.nonnegative:
            self.nonnegative.append(positive)
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
        """Takes down that an expression is 1 or a number."""
        expression = self.resolved(expression)
        if self.listening and expression.symbols and len(self.one_or) < MAX_FACTS:
            self.one_or[expression, number] = None

    def require_multiple(self, expression: Expression, number: int) -> None:
        """Takes down that a number divides an expression."""
        expression = self.resolved(expression)
        if self.divides(number, expression):
            return
        remainder = Constraint(
            expression % number, "==", self.number(0), self.source, assumed=False
        )
        self._record(remainder)
        if self.listening and len(self.multiples) < MAX_FACTS:
            self.multiples[expression, number] = None

    def assume_multiple(self, expression: Expression, number: int) -> None:
        listening, self.listening = self.listening, True
        self.require_multiple(expression, number)
        self.listening = listening

    def _record(self, constraint: Constraint) -> None:
        if not self.listening and not constraint.assumed:
            constraint = constraint._replace(conditional=True)
        known = self.constraints.get(str(constraint))
        if known is None or (known.conditional and not constraint.conditional):
            self.constraints[str(constraint)] = constraint

    def _holds_inside(self, constraint: Constraint) -> bool:
        """Writes an equation down that holds where the body at work runs; whether it can be."""
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

    def forget_conditional(self) -> None:
        """Forgets the conditions of bodies that may not run, to collect them once more."""
        self.constraints = {
            text: each for text, each in self.constraints.items() if not each.conditional
        }

    def _contradict(self, left: Expression, right: Expression) -> None:
        """Takes down that the source at work demands what cannot be."""
        constraint = Constraint(left, "==", right, self.source, assumed=False)
        self.conflicts.setdefault(self.source, Conflict(constraint, self._against(left, right)))

    def _against(self, left: Expression, right: Expression) -> tuple[Constraint, ...]:
        """The shortest chain of equations that leads from one expression to the other."""
        equations = [
            each
            for each in self.constraints.values()
            if each.relation == "==" and not each.conditional
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
    facts: dict[tuple[Expression, int], None],
    symbol: Symbol,
    replacement: Callable[[Symbol], Expression | None],
) -> dict[tuple[Expression, int], None]:
    return {
        (known.substituted(replacement) if symbol in known.symbols else known, number): None
        for known, number in facts
    }


def _times(number: float, factor: float | Coefficient) -> float:
    return 0 if not number or not factor else number * factor


def _floor_divided(number: float, divisor: float) -> float:
    if math.isinf(number):
        return number
    if math.isinf(divisor):
        return 0 if number >= 0 else -1
    return number // divisor


def _divided_term(
    monomial: Monomial, coefficient: Coefficient, by: Monomial, number: Coefficient
) -> tuple[Monomial, Coefficient] | None:
    """A term divided by another one, where that leaves nothing over."""
    if coefficient % number:
        return None
    rest = list(monomial)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest), coefficient // number


def _parted(numerator: Expression, divisor: Expression) -> tuple[Expression, Expression]:
    """The quotient of the terms that a divisor of one term divides, and the other terms."""
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


def _degree(term: tuple[Monomial, Coefficient]) -> tuple[int, list[str]]:
    return len(term[0]), [atom.text for atom in term[0]]


def _exactly_divided(numerator: Expression, divisor: Expression) -> Expression | None:
    """The quotient of polynomials where nothing is left over."""
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


def names(symbols: Iterable[Symbol]) -> list[str]:
    return [symbol.name for symbol in sorted(symbols, key=lambda symbol: symbol.order)]
