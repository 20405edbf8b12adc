"""Every dynamic dimension of a model, grouped by what makes it so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..symbols.expressions import Symbol
from ..types import UNBOUNDED
from .bounding import binding_for
from .explaining import Place, Reasons
from .reasons import Group, Overview, Verdict, spaced
from .result import BodyResult

if TYPE_CHECKING:
    from .result import Inference

EXAMPLES = 3
ORDER: tuple[Verdict, ...] = ("lost", "data-dependent", "unbounded", "computed", "input")
"""Worst first."""


def overview(inference: Inference) -> Overview:
    """The dynamic dimensions of the net of a model that was inferred with symbols."""
    reasons = Reasons(inference)
    members: dict[tuple[Verdict, str], list[str]] = {}
    for place in _dynamic(inference.result):
        verdict = reasons.verdict(place)
        known = reasons.expression(place)
        if known is None:
            cause = _made_by(reasons, place)
        else:
            names = sorted(known.symbols, key=lambda symbol: symbol.order)
            cause = ", ".join(symbol.name for symbol in names)
        said = "" if known is None else f" = {spaced(str(known))}"
        text = f"{reasons.label(place)}[{place.at}]{said}"
        members.setdefault((verdict, cause), []).append(text)
    groups = [
        Group(verdict, cause, len(texts), tuple(dict.fromkeys(texts))[:EXAMPLES])
        for (verdict, cause), texts in members.items()
    ]
    groups.sort(key=lambda group: (ORDER.index(group.verdict), -group.dimensions))
    bind = binding_for(inference)
    if bind is not None:
        fixed = _not_bounded(reasons, bind.result)
        if fixed:  # bounds of the inputs do not bound everything that follows
            bind = binding_for(inference, fixed=fixed) or bind
    every = [
        symbol
        for symbol in inference.sizes.symbols
        if inference.sizes.facts.ranges[symbol][0] != inference.sizes.facts.ranges[symbol][1]
    ]
    fix = binding_for(inference, fixed=every) if every else None
    return Overview(
        tuple(groups),
        None if bind is None else bind.shapes,
        () if bind is None else _left(reasons, bind.result, bounded=True),
        None if fix is None else fix.shapes,
        () if fix is None else _left(reasons, fix.result, bounded=False),
    )


def _not_bounded(reasons: Reasons, result: BodyResult) -> set[Symbol]:
    """The symbols of dimensions that bounds of the inputs leave unbounded, states apart."""
    states = {
        symbol
        for place in _dynamic(reasons.result)
        if reasons.layers[place.position].type.lower() == "readvalue"
        and (known := reasons.expression(place)) is not None
        for symbol in known.symbols
    }
    symbols: set[Symbol] = set()
    for place in _dynamic(result):
        dims = result.outputs[place.position][place.port].shape.dims
        known = reasons.expression(place)
        if known is None or (dims is not None and dims[place.at].high != UNBOUNDED):
            continue
        if states.isdisjoint(known.symbols):
            symbols |= known.symbols
    return symbols


def _dynamic(result: BodyResult) -> Iterator[Place]:
    for position, tensors in enumerate(result.outputs):
        for port, tensor in enumerate(tensors):
            for index, dim in enumerate(tensor.shape.dims or ()):
                if dim.is_dynamic:
                    yield Place(position, port, "dimension", index)
            if tensor.shape.dims is None:
                yield Place(position, port, "dimension", 0)


def _left(reasons: Reasons, result: BodyResult, *, bounded: bool) -> tuple[str, ...]:
    """The layers that make dimensions which are still unbounded, or dynamic."""
    makers: dict[str, int] = {}
    for place in _dynamic(result):
        dims = result.outputs[place.position][place.port].shape.dims
        if not bounded or dims is None or dims[place.at].high == UNBOUNDED:
            maker = _made_by(reasons, place)
            makers[maker] = makers.get(maker, 0) + 1
    return tuple(
        f"{count} dimension{'s' * (count != 1)} by {maker}" for maker, count in makers.items()
    )


def _made_by(reasons: Reasons, place: Place) -> str:
    maker = reasons.maker(place)
    layer = reasons.layers[maker.position]
    return (
        f"{layer.type} '{layer.name}' {reasons.reason(maker)} (line {reasons.line(maker.position)})"
    )
