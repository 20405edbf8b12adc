"""Chooses sizes for the symbols of a model that its layers take."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from ..symbols.expressions import Symbol
from .named_sizes import NamedSizes

SERIES = (2, 3, 4, 8, 16, 32, 64, 96, 128, 224, 256, 384, 512, 1024, 1)
"""Tried for all symbols but those of first axes together, then for each of them."""
STEPS = (2, 4, 8, 32)
"""What sizes drawn at random are multiples of, where others do not fit."""
ROUNDS = 3


def sizes_for(sizes: NamedSizes, generator: random.Random | None = None) -> dict[str, int] | None:
    """A size for each symbol, such that every condition holds; None where none is found.

    generator: draws sizes at random; without one the smallest that fit are taken, and such as leave
    no dimension of an input without elements if there are any.
    """
    if generator is None:
        return _searched(sizes, None, filled=True) or _searched(sizes, None)
    return _searched(sizes, generator)


def _searched(
    sizes: NamedSizes, generator: random.Random | None, *, filled: bool = False
) -> dict[str, int] | None:
    symbols = list(sizes.symbols)
    best: dict[str, int] | None = None
    fewest: int | None = None
    for candidate in _together(sizes, symbols, generator):
        broken = _broken(sizes, candidate, filled)
        if not broken:
            return candidate
        if fewest is None or broken < fewest:
            best, fewest = candidate, broken
    for _ in range(ROUNDS):
        assert best is not None
        assert fewest is not None
        for symbol in symbols:
            for size in (*SERIES, best[symbol.name] * 2, best[symbol.name] + 1):
                candidate = {**best, symbol.name: _within(sizes, symbol, size)}
                broken = _broken(sizes, candidate, filled)
                if not broken:
                    return candidate
                if broken < fewest:
                    best, fewest = candidate, broken
    return None


def _together(
    sizes: NamedSizes, symbols: list[Symbol], generator: random.Random | None
) -> Iterator[dict[str, int]]:
    broadcast = {e.atom: number for e, number in sizes.facts.one_or if number}

    def all_of(size: Callable[[Symbol], int]) -> dict[str, int]:
        return {
            each.name: _within(sizes, each, broadcast.get(each) or size(each)) for each in symbols
        }

    if generator is not None:
        for most in (12, 12, 12, 40, 4):
            yield all_of(
                lambda symbol, most=most: (  # type: ignore[misc]
                    int(sizes.facts.ranges[symbol][0]) + generator.randint(0, most)
                )
            )
        for step in STEPS:
            yield all_of(
                lambda symbol, step=step: (  # type: ignore[misc]
                    (step if symbol.axis else 1) * generator.randint(1, 6)
                )
            )
    for size in SERIES:
        batch = 2 if generator is None else generator.randint(1, 4)
        yield all_of(
            lambda symbol, size=size, batch=batch: size if symbol.axis else batch  # type: ignore[misc]
        )


def _within(sizes: NamedSizes, symbol: Symbol, size: int) -> int:
    low, high = sizes.facts.ranges[symbol]
    return int(min(max(size, low), high))


def _broken(sizes: NamedSizes, candidate: dict[str, int], filled: bool) -> int:
    """How many conditions some sizes break, and how many dimensions they leave empty if those
    count.
    """
    broken = sum(1 for _ in sizes.broken(candidate))
    return broken + (sizes.empty(candidate) if filled else 0)
