"""Which sizes of inputs contradict each other: what names them in messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model.graph import Model
from ..symbols.expressions import Symbol
from ..types import PartialShape
from .named_sizes import tensor_name
from .symbolic import infer_symbolic

MAX_LAYERS = 5000
"""Larger models are not inferred once more for a message."""


def size_conflicts(model: Model, shapes: Mapping[str, Sequence[int]]) -> list[str]:
    """Where sizes of inputs contradict each other: `seq is 128 by input_ids, 64 by attention_mask`.

    shapes: of all inputs, by layer id. Sizes of 1 are left out, since they may be broadcast.
    """
    if model.kind != "net" or len(model.net.layers) > MAX_LAYERS:
        return []
    wide = {id: PartialShape.of_rank(len(shape)) for id, shape in shapes.items()}
    result, _ = infer_symbolic(model, wide, {})
    if result.expressions is None:
        return []
    by_symbol: dict[Symbol, dict[int, str]] = {}
    others = []
    for position, layer in enumerate(result.body.layers):
        sizes = shapes.get(layer.id) if layer.is_parameter else None
        known = result.expressions[position][0] if result.expressions[position] else None
        if sizes is None or known is None:
            continue
        for axis, (size, expression) in enumerate(zip(sizes, known, strict=False)):
            if expression is None or size == 1:
                continue
            atom = expression.atom
            if isinstance(atom, Symbol):
                by_symbol.setdefault(atom, {}).setdefault(size, tensor_name(layer))
            else:
                others.append((f"{tensor_name(layer)}[{axis}]", size, expression))
    conflicts = []
    for symbol, places in by_symbol.items():
        if len(places) > 1:
            said = ", ".join(f"{size} by {tensor}" for size, tensor in places.items())
            conflicts.append(f"{symbol.name} is {said}")
    agreed = {
        symbol.name: next(iter(places)) for symbol, places in by_symbol.items() if len(places) == 1
    }
    for place, size, expression in others:
        if all(symbol.name in agreed for symbol in expression.symbols):
            try:
                wanted = expression.evaluate(agreed)
            except ZeroDivisionError:
                continue
            if wanted != size:
                formula = "" if expression.constant is not None else f"{expression} = "
                conflicts.append(f"{place} is {size}, not {formula}{wanted}")
    return conflicts
