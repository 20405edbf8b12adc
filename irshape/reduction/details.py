"""Removes attributes and runtime information that the remaining layers do not need."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ..inference.declarations import Declarations
from ..model.graph import Body, Layer
from ..ops.registry import UnknownOperation
from .edits import computes, with_items
from .places import mapped
from .search import Search


def simplify_details(search: Search) -> None:
    """Removes attributes that have a default, and rt_info."""
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
        droppable = [name for name in layer.attributes if name in optional or name not in known]
        if len(droppable) > 1:
            yield _without(search.best.net, layer, droppable)
        for name in droppable:
            yield _without(search.best.net, layer, [name])


def _without(net: Body, wanted: Layer, names: list[str]) -> Body:
    gone = dict.fromkeys(names)
    return mapped(net, lambda layer: with_items(layer, **gone) if layer is wanted else layer)
