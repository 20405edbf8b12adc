"""Removes attributes and runtime information that the remaining layers do not need."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ..inference.declarations import Declarations
from ..model.graph import Body, Layer
from ..model.ids import is_number
from ..ops.registry import UnknownOperation
from .edits import computes, with_items
from .places import mapped
from .search import Search


def simplify_details(search: Search) -> None:
    """Removes attributes that have a default, and rt_info. Fills lists of numbers with 0 or 1."""
    search.first([mapped(search.best.net, _without_info)], bare=True)
    while search.first(_simpler_attributes(search)) is not None:
        pass


def _without_info(layer: Layer) -> Layer:
    if layer.rt_info_span is None:
        return layer
    plain = copy(layer)
    plain.rt_info_span = None
    return plain


def _simpler_attributes(search: Search) -> Iterator[Body | None]:
    declarations = Declarations(search.best.model)
    for layer in list(search.best.model.walk()):
        if not computes(layer):
            continue
        declaration = declarations.of(layer)
        known = {} if isinstance(declaration, UnknownOperation) else declaration[0].attributes
        optional = {each.name for each in known.values() if not each.refused_when_absent}
        names = list(layer.attributes)
        droppable: dict[str, str | None] = dict.fromkeys(
            name for name in names if name in optional or name not in known
        )
        if len(droppable) > 1:
            yield _with(search.best.net, layer, droppable)
        for name in names:
            if name in droppable:
                yield _with(search.best.net, layer, {name: None})
            for plain in _plainer(layer.attributes[name]):
                yield _with(search.best.net, layer, {name: plain})


def _plainer(text: str) -> Iterator[str]:
    """Yields lists of the same length with only zeros, or only ones."""
    parts = [part.strip() for part in text.split(",")]
    if not all(is_number(part) for part in parts) or len(parts) < 2:
        return
    for plain in ("0", "1"):
        if any(part > plain for part in parts):
            yield ", ".join([plain] * len(parts))


def _with(net: Body, wanted: Layer, changes: dict[str, str | None]) -> Body:
    return mapped(net, lambda layer: with_items(layer, **changes) if layer is wanted else layer)
