"""Collects conditions on sizes as layers state them, and finds those that contradict each other."""

from __future__ import annotations

from .conditions import Conflict, Constraint
from .expressions import Coefficient, Expression, Symbol
from .functions import Functions


class Contradictions(Functions):
    """The known conditions, with their sources."""

    def __init__(self) -> None:
        super().__init__()
        self.replaced: dict[Symbol, Expression] = {}
        """Maps symbols to expressions of other symbols that they equal."""
        self.one_or: dict[tuple[Expression, int], Constraint] = {}
        """The expressions that are 1 or a number, because of broadcasting, with the source of this
        condition."""
        self.constraints: dict[str, Constraint] = {}
        """Every condition that narrows a size, by the text of the condition."""
        self.conflicts: dict[object, Conflict] = {}
        """Conditions that contradict others, by their sources."""
        self.source: object = None
        """The source of the conditions that are currently recorded."""
        self.listening = True
        """Whether requirements hold. Requirements of bodies that may never run are only
        recorded."""
        self.inside: dict[Symbol, tuple[Expression, Constraint]] = {}
        """Maps symbols to the expressions that they equal in the current body, if the body may not
        run."""

    def resolved(self, expression: Expression) -> Expression:
        """Returns the expression with every symbol replaced that is known to equal others."""
        if not self.replaced or not any(s in self.replaced for s in expression.symbols):
            return expression
        return expression.substituted(self.replaced.get)

    def simplified(self, expression: Expression) -> Expression:
        """Returns the expression, simplified with all facts known so far."""
        return expression.substituted(self.replaced.get)

    def _solution(self, left: Expression, right: Expression) -> tuple[Symbol, Expression] | None:
        """Returns a symbol and the expression that it must equal. It is the last symbol that can be
        replaced."""
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
        """Forgets the conditions of bodies that may not run, to collect them again."""
        self.constraints = {
            text: each for text, each in self.constraints.items() if not each.conditional
        }

    def _holds_inside(self, constraint: Constraint) -> bool:
        """Records an equation that holds if the current body runs. Returns whether it can hold."""
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
        """Records that the current source requires a relation that cannot hold."""
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
        """Returns the requirements that exclude a number for a symbol."""
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
        """Records the layers that exclude a number for a symbol, in bodies that may not run."""
        for each in self.constraints.values():
            if each.conditional and each.relation == "==":
                difference = self.resolved(each.left - each.right)
                if difference.substituted({symbol: number}.get).constant not in (None, 0):
                    self.conflicts.setdefault(each.source, Conflict(each, (constraint,)))

    def _chain(self, left: Expression, right: Expression) -> tuple[Constraint, ...]:
        """Returns the shortest chain of equations that leads from one expression to the other."""
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
