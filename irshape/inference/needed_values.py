"""Finds the layers whose values inference needs."""

from __future__ import annotations

from ..model.graph import Body
from ..model.wiring import Wiring
from ..ops.registry import UnknownOperation
from .declarations import Declaration


def needed_values(
    body: Body, wiring: Wiring, declarations: list[Declaration], result_values: bool
) -> set[int]:
    """Returns the layers whose output values may decide a shape.

    The search runs backwards from the operands whose values inference needs.
    """
    sources, needed = wiring.sources, set[int]()
    for row, declaration in zip(sources, declarations, strict=True):
        if isinstance(declaration, UnknownOperation):
            continue
        for index, operand in declaration[0].signature.valued:
            if operand.variadic:
                needed.update([source[0] for source in row[index:] if source is not None])
            elif index < len(row):
                source = row[index]
                if source is not None:
                    needed.add(source[0])
    if result_values:
        results = [at for at, layer in enumerate(body.layers) if layer.is_result]
        needed.update(source[0] for at in results for source in sources[at] if source is not None)
    waiting = [position for position in needed if sources[position]]
    while waiting:
        position = waiting.pop()
        declaration = declarations[position]
        if isinstance(declaration, UnknownOperation) or declaration[0].value_of_shape:
            continue
        for source in sources[position]:
            if source is not None and source[0] not in needed:
                needed.add(source[0])
                if sources[source[0]]:
                    waiting.append(source[0])
    return needed
