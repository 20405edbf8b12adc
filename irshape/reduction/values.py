"""Simplifies constants: makes all their elements zeros, or ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.graph import Body, Layer
from ..numpy_types import Array
from .edits import mapped, with_items
from .search import Search


def simplify_values(search: Search) -> None:
    """Makes the elements of constants zeros or ones: of all constants at once or, if that fails, of
    one after another."""
    if search.first(_filled(search, fill) for fill in (0, 1)) is not None:
        return
    done: set[tuple[str, ...]] = set()
    while left := [
        layer
        for layer in search.best.model.walk()
        if layer.is_constant and (*layer.path, layer.id) not in done
    ]:
        done.add((*left[0].path, left[0].id))
        search.first(_filled(search, fill, left[0]) for fill in (0, 1))


def with_value(search: Search, layer: Layer, change: Callable[[Array], Array | None]) -> Layer:
    """Returns a copy of a Constant whose value `change` has replaced.

    Returns the same Constant if it holds no numbers, or if the value does not change.
    """
    array = search.workshop.array(layer)
    if array is None or array.dtype.kind == "O" or not array.size:
        return layer
    new = change(array)
    if new is None or new is array or (new.shape, new.tobytes()) == (array.shape, array.tobytes()):
        return layer
    element_type = layer.attribute("element_type") or ""
    attributes = search.workshop.stored(np.ascontiguousarray(new), element_type)
    return layer if attributes is None else with_items(layer, **attributes)


def _filled(search: Search, fill: int, only: Layer | None = None) -> Body:
    """Returns the net with constants filled with a number: with `only`, this constant, otherwise
    all constants of reals. Does not fill a constant of zeros with ones."""

    def filled(array: Array) -> Array | None:
        if (only is None and array.dtype.kind in "iub") or (fill and not array.any()):
            return None
        return np.full_like(array, fill)

    def changed(layer: Layer) -> Layer:
        wanted = layer.is_constant and only in (None, layer)
        return with_value(search, layer, filled) if wanted else layer

    return mapped(search.best.net, changed)
