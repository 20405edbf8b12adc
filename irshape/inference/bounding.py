"""Which inputs to bound, or to fix, so that dimensions are bounded or static."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ..shapes import UNBOUNDED, Dimension, PartialShape
from ..symbols.expressions import Expression, Symbol
from .bindings import sizes_for
from .body_engine import BodyEngine
from .named_sizes import tensor_name
from .result import BodyResult

if TYPE_CHECKING:
    from .result import Inference

BATCHES = 8
LENGTHS = 128
"""The upper bounds that are proposed for a first axis, and for any other."""


class Binding(NamedTuple):
    """Shapes of inputs, and what is inferred with them."""

    shapes: dict[str, str]
    """By the name of the input."""
    result: BodyResult


def binding_for(
    inference: Inference,
    symbols: Collection[Symbol] | None = None,
    *,
    fixed: Collection[Symbol] = (),
    filled: bool = False,
) -> Binding | None:
    """Shapes that bound symbols, or fix them, in every input that has them; None where no input
    has any.

    symbols: those that are to be bounded; without them, all. fixed: those that get one size.
    filled: no bounded dimension may be 0.
    """
    sizes, model = inference.sizes, inference.model
    facts = sizes.facts
    chosen = {
        symbol
        for symbol in sizes.symbols
        if symbol in fixed
        or ((symbols is None or symbol in symbols) and facts.ranges[symbol][1] == math.inf)
    }
    numbers = sizes_for(sizes) if fixed else {}
    if numbers is None:
        return None
    before = dict(facts.ranges)
    for symbol in chosen:
        if symbol in fixed:
            facts.ranges[symbol] = (numbers[symbol.name], numbers[symbol.name])
            continue
        low = int(before[symbol][0])
        most = BATCHES if symbol.axis == 0 else LENGTHS
        facts.ranges[symbol] = (low, max(most, 2 * low))
    facts.forget()
    try:
        shapes: dict[str, PartialShape] = {}
        names: dict[str, str] = {}
        for layer in model.parameters:
            if not inference.outputs(layer):
                continue  # a Parameter without a port
            known = inference.expressions(layer)[0]
            shape = inference.outputs(layer)[0].shape
            if known is None or shape.dims is None:
                continue
            if not any(size is not None and not chosen.isdisjoint(size.symbols) for size in known):
                continue
            shapes[layer.id] = PartialShape(
                [
                    dim
                    if size is None or chosen.isdisjoint(size.symbols)
                    else _interval(size, dim, filled=filled)
                    for size, dim in zip(known, shape.dims, strict=True)
                ]
            )
            names[tensor_name(layer)] = str(shapes[layer.id])
    finally:
        facts.ranges = before
        facts.forget()
    if not shapes:
        return None
    return Binding(names, BodyEngine(model).infer_body(model.net, shapes))


def _interval(size: Expression, dim: Dimension, *, filled: bool) -> Dimension:
    """The sizes that an expression may have, with the bounds that its symbols have now."""
    facts = size.facts
    low, high = facts.range(size)
    most = UNBOUNDED if high == math.inf else int(high)
    least = int(low) if low == high else dim.low
    if least == 0 and (filled or facts.at_least(size, facts.number(1))) and high > 0:
        least = 1
    return Dimension(least, max(min(most, dim.high), least))
