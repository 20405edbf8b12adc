"""Replaces the matches of patterns, and tests with random inputs that the values stay the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..garbage_collection import collection_paused
from ..ops.lazy import np
from .editing import Editing
from .errors import GraphError
from .nodes import GraphLayer, Output, feeding
from .patterns import Match, Wanted, matches
from .surgery import extracted
from .writing import model_of

Replacement = Callable[[Any, Match], Output | GraphLayer | None]
"""A function that returns the output to replace the output of a match, or None to leave the match
unchanged."""


class Rewrite:
    """A pattern and its replacement, as the decorator `rewrite` returns them."""

    def __init__(self, pattern: Wanted, replace: Replacement) -> None:
        self.pattern = pattern
        self.replace = replace
        self.__doc__ = replace.__doc__
        self.name = getattr(replace, "__name__", "rewrite")

    def __call__(self, graph: Editing, match: Match) -> Output | GraphLayer | None:
        return self.replace(graph, match)


def rewrite(pattern: Wanted) -> Callable[[Replacement], Rewrite]:
    """Returns a decorator that turns a function into a `Rewrite` of the matches of a pattern.

    The function takes the graph (or body) and the match, adds the layers that replace the match,
    and returns their output. If it returns None, the match stays unchanged.
    """
    return partial(Rewrite, pattern)


@collection_paused()
def rewritten(
    graph: Editing, rule: Rewrite, *, check: bool = False, seed: int = 0, rtol: float = 1e-4
) -> int:
    """Replaces matches of a rewrite's pattern until there are no more; see `rewrite`.

    check: whether to compute each match and its replacement with random inputs, and to raise
    `GraphError` if they differ by more than `rtol`. Matches in bodies are not checked.
    Returns the number of replaced matches.
    """
    count, limit = 0, 10 * len(graph) + 1000
    with graph.changes:
        for _ in range(_ROUNDS):
            changed = 0
            used: set[GraphLayer] = set()
            for match in matches(graph, rule.pattern):
                home = match.output.layer.graph
                if not used.isdisjoint(match.layers):
                    continue
                if not all(layer in home.content.layers for layer in match.layers):
                    continue
                if _replaced(home, rule, match, check and home.owner is None, seed, rtol):
                    used.update(match.layers)
                    changed += 1
            count += changed
            if not changed:
                return count
            if count > limit:
                break
            graph.clean(duplicates=False)
        raise GraphError(
            f"{rule.name} still finds its pattern after {count} replacements: "
            "the layers that it adds match the pattern again",
            help="return None if the match needs no change, or add conditions to the pattern",
        )


_ROUNDS = 100
"""The maximum number of searches. If matches overlap, each search replaces about half of them."""


def _replaced(
    home: Editing, rule: Rewrite, match: Match, check: bool, seed: int, rtol: float
) -> bool:
    old = match.output
    users = old.users
    before = len(home)
    with home.changes:
        answer = rule.replace(home, match)
        if answer is None or not users:
            return False
        new = home._output(answer)
        if new is old:
            return False
        if check:
            prove(home, match, new, rule.name, seed, rtol)
        if new.element_type is not old.element_type:
            raise GraphError(f"{rule.name}: {new!r} has another element type than {old!r}")
        outside = [user for user in users if user.layer is not new.layer]
        home.replace_uses(old, new, outside)
    return len(home) != before or bool(outside)


def prove(graph: Editing, match: Match, new: Output, name: str, seed: int, rtol: float) -> None:
    """Compares a match and its replacement for random inputs. Raises `GraphError` if they
    differ."""
    from ..execution.inputs import random_inputs
    from ..execution.session import Session
    from ..numbers.statistics import Errors, errors

    starts = feeding(match.layers, match.layers)
    starts = [each for each in starts if not each.layer.raw.is_constant]
    model = model_of(extracted(graph, starts, [match.output, new], again=True))
    for attempt in range(2):
        try:
            inputs = random_inputs(model, seed + attempt)
        except ValueError as problem:
            raise GraphError(f"{name}: the check gets no random inputs: {problem}") from None
        first, second = list(Session(model).run(inputs).values())
        same = first.shape == second.shape and np.allclose(
            first.astype(np.float64), second.astype(np.float64), rtol, rtol, equal_nan=True
        )
        if not same:
            apart = errors(first, second) if first.shape == second.shape else Errors()
            largest = f"; the largest error is {apart.max_abs:.4g} at {apart.place}"
            raise GraphError(
                f"{name}: {match.output!r} and its replacement have different values"
                f"{'' if apart.max_abs is None else largest}",
                help="correct the replacement, or add conditions to the pattern",
            )
