"""Chooses sizes of inputs from the symbols of a model and the conditions of its layers.

`explain` proposes these sizes, and `run` draws random inputs with them. A layer may still refuse
the sizes: the caller infers the model with them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from ..shapes import UNBOUNDED, Dimension, PartialShape
from ..symbols.expressions import Expression, Symbol
from .named_sizes import NamedSizes, value_of

SERIES = (2, 3, 4, 8, 16, 32, 64, 96, 128, 224, 256, 384, 512, 1024, 1)
"""Sizes to try: first one size for all axes but axis 0, then sizes for one symbol after another."""
GRID = (64, 32, 128, 224, 16, 256, 8, 4, 512, 1024, 3, 2, 1)
"""Sizes that `candidates` tries for all axes except axis 0, which gets size 1 or 2."""
LARGEST_TABLE = 8192
"""The largest size to try for an axis that a constant limits, e.g. a table of positions."""
LONGEST = 200
"""The longest expression, in characters, for which sizes are tried one by one."""
DRAWN = 20
"""How many sets of sizes `candidates` adds to those of `grid`."""
DRAWS = ((1, 12), (1, 12), (1, 12), (1, 40), (1, 4), (2, 6), (4, 6), (8, 6), (32, 6))
"""How to draw random sizes: each pair is a step and a number N. A size is one of the N + 1 smallest
multiples of the step that the lower bound allows. On axis 0, the step is 1."""
ROUNDS = 3

Sizes = dict[str, int]
"""A size for each symbol, by the name of the symbol."""


def candidates(sizes: NamedSizes) -> Iterator[Sizes]:
    """Yields sizes of the symbols that break no known condition; the first have batch 1."""
    yield from (each for each in grid(sizes) if not any(sizes.broken(each)))
    for number in range(DRAWN):
        drawn = sizes_for(sizes, random.Random(number) if number else None)
        if drawn is not None:
            yield drawn


def grid(
    sizes: NamedSizes, series: Sequence[int] = GRID, batches: Sequence[int] = (1, 2)
) -> Iterator[Sizes]:
    """Yields sizes for all symbols: one size of `series` for all, unless layers require another.

    batches: the sizes of axis 0 to try with each size of `series`. A layer may refuse the sizes.
    """
    wanted = _demanded(sizes)
    steps = {size.atom: step for size, step in sizes.facts.multiples}
    for size in series:
        for batch in batches:
            chosen = {}
            for each in sizes.symbols:
                step = steps.get(each, 1)
                usual = wanted.get(each.name) or (size if each.axis else batch)
                chosen[each.name] = _within(sizes, each, max(usual // step, 1) * step)
            yield chosen


def shape_of(
    known: Sequence[Expression | None], shape: PartialShape, sizes: Mapping[str, int]
) -> PartialShape:
    """Returns the shape of an input with numbers for its symbols. Dimensions without an expression
    stay unchanged."""
    return PartialShape(
        dim if size is None else Dimension.of(max(value_of(size, sizes), 0))
        for size, dim in zip(known, shape, strict=True)
    )


def _demanded(sizes: NamedSizes) -> Sizes:
    """Returns sizes that layers require, e.g. h = w = 224 if `(h//16)*(w//16)` must be 196.

    All symbols of an expression get the same size, as for a square image whose patches must match a
    table of positions; but a batch in the expression gets size 1. If several sizes fit, a usual
    size such as 224 is chosen.
    """
    demands = [(expression, number) for expression, number in sizes.facts.one_or if number > 1]
    demands += [
        (each.left, int(number))
        for each in sizes.facts.constraints.values()
        if each.relation == "==" and (number := each.right.constant) is not None and number > 1
    ]
    chosen: Sizes = {}
    for expression, number in demands:
        names = {symbol.name for symbol in expression.symbols}
        if names <= chosen.keys() or len(str(expression)) > LONGEST:
            continue
        first = _fitting(expression, number, range(1, LARGEST_TABLE + 1))
        if first is None:
            chosen |= _rectangle(expression, number)
            continue
        near = range(first, 2 * first)
        usual = _fitting(expression, number, (each for each in GRID if each in near))
        chosen |= _equal_sizes(expression, usual or first)
    return chosen


def _rectangle(expression: Expression, number: int) -> Sizes:
    """Returns two sizes from `GRID` that make the expression equal the number, e.g. the length and
    height of a spectrogram. Prefers nearly equal sizes. Returns {} if no pair fits."""
    sides = sorted((each for each in expression.symbols if each.axis), key=lambda each: each.order)
    pairs = product(sorted(GRID, reverse=True), repeat=2) if len(sides) == 2 else ()
    for pair in sorted(pairs, key=lambda pair: max(pair) / min(pair)):
        given = dict(zip((side.name for side in sides), pair, strict=True))
        chosen = _equal_sizes(expression, 1) | given
        if value_of(expression, chosen) == number:
            return chosen
    return {}


def _fitting(expression: Expression, number: int, sizes: Iterable[int]) -> int | None:
    """Returns the first size that, given to all symbols, makes the expression equal the number."""
    values = ((size, value_of(expression, _equal_sizes(expression, size))) for size in sizes)
    return next((size for size, value in values if value == number), None)


def _equal_sizes(expression: Expression, size: int) -> Sizes:
    """Returns `size` for each symbol of an expression, but 1 for a batch if others are present."""
    sizes = {symbol.name: size for symbol in expression.symbols if symbol.axis}
    batch = 1 if sizes else size
    return sizes | {symbol.name: batch for symbol in expression.symbols if not symbol.axis}


def sizes_for(sizes: NamedSizes, generator: random.Random | None = None) -> Sizes | None:
    """Returns a size for each symbol such that every condition holds; None if the search fails.

    generator: draws sizes at random. Without a generator, chooses small sizes. If possible, no
    dimension is 0.
    """
    best: Sizes = {}
    fewest = (UNBOUNDED, 0)

    def ideal(candidate: Sizes) -> bool:
        """Whether sizes break no condition. Keeps the best sizes so far in `best`."""
        nonlocal best, fewest
        broken = sum(1 for _ in sizes.broken(candidate))
        wrong = broken, 0 if generator is not None else sizes.empty(candidate)
        if wrong < fewest:
            best, fewest = candidate, wrong
        return wrong == (0, 0)

    if any(map(ideal, _together(sizes, generator))):
        return best
    for _ in range(ROUNDS):
        for symbol in sizes.symbols:
            for size in (*SERIES, best[symbol.name] * 2, best[symbol.name] + 1):
                if ideal({**best, symbol.name: _within(sizes, symbol, size)}):
                    return best
    return None if fewest[0] else best


def _together(sizes: NamedSizes, generator: random.Random | None) -> Iterator[Sizes]:
    """Yields sizes for all symbols at once; with a generator, first sizes drawn at random."""
    if generator is None:
        yield from grid(sizes, SERIES, (2,))
        return
    broadcast = {size.atom: number for size, number in sizes.facts.one_or}
    for step, most in DRAWS:
        drawn = {}
        for each in sizes.symbols:
            own = step if each.axis else 1
            least = -(-int(sizes.facts.ranges[each][0]) // own)
            size = broadcast.get(each) or (least + generator.randint(0, most)) * own
            drawn[each.name] = _within(sizes, each, size)
        yield drawn
    yield from grid(sizes, SERIES, (generator.randint(1, 4),))


def _within(sizes: NamedSizes, symbol: Symbol, size: int) -> int:
    low, high = sizes.facts.ranges[symbol]
    return int(min(max(size, low), high))
