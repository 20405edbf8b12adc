"""Simplifies constants: all zeros, all ones, or zeros except for a few elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..model.graph import Body, Layer
from ..numpy_types import Array
from .candidates import Workshop
from .edits import with_items
from .places import mapped
from .search import Search

MAX_HALVINGS = 40
"""How often the number of nonzero elements of a constant is halved."""


def simplify_values(search: Search) -> None:
    """Makes constants zeros or ones, all at once or one by one."""
    if search.first(_all_filled(search, fill) for fill in (0, 1)) is not None:
        return
    done: set[str] = set()
    while True:
        layer = next((each for each in _constants(search) if _name(each) not in done), None)
        if layer is None:
            return
        done.add(_name(layer))
        if search.first(_filled(search, layer)) is None:
            _keep_a_few(search, _name(layer))


def _name(layer: Layer) -> str:
    return "/".join((*layer.path, layer.id))


def _constants(search: Search) -> Iterator[Layer]:
    return (layer for layer in search.best.model.walk() if layer.is_constant)


def with_value(workshop: Workshop, layer: Layer, array: Array) -> Layer | None:
    """Returns a copy of a Constant with another value of the same element type."""
    element_type = layer.attribute("element_type") or ""
    place = workshop.place(array, element_type)
    if place is None:
        return None
    shape = ", ".join(map(str, array.shape))
    return with_items(layer, shape=shape, offset=str(place[0]), size=str(place[1]))


def _is_number(array: Array) -> bool:
    return array.dtype.kind != "O" and array.size > 0


def _same(array: Array, other: Array) -> bool:
    return array.tobytes() == other.tobytes()


def _changed(search: Search, change: Callable[[Layer, Array], Array | None]) -> Body | None:
    """Returns the best model with other constants; None if none changes."""
    count = 0

    def changed(layer: Layer) -> Layer:
        nonlocal count
        if not layer.is_constant:
            return layer
        array = search.workshop.array(layer)
        if array is None or not _is_number(array):
            return layer
        new = change(layer, array)
        if new is None or _same(array, new):
            return layer
        count += 1
        return with_value(search.workshop, layer, new) or layer

    net = mapped(search.best.net, changed)
    return net if count else None


def _all_filled(search: Search, fill: int) -> Body | None:
    """Fills all real constants with one number."""

    def filled(layer: Layer, array: Array) -> Array | None:
        if array.dtype.kind in "iub" or (fill and not array.any()):
            return None
        return np.full_like(array, fill)

    return _changed(search, filled)


def _filled(search: Search, wanted: Layer) -> Iterator[Body | None]:
    """Fills one constant with zeros, or with ones unless it is zeros already."""
    for fill in (0, 1):

        def filled(layer: Layer, array: Array, fill: int = fill) -> Array | None:
            if layer is not wanted or (fill and not array.any()):
                return None
            return np.full_like(array, fill)

        yield _changed(search, filled)


def _keep_a_few(search: Search, name: str) -> None:
    """Halves the number of nonzero elements of a constant as long as possible."""
    for _ in range(MAX_HALVINGS):
        layer = next((each for each in _constants(search) if _name(each) == name), None)
        array = None if layer is None else search.workshop.array(layer)
        if layer is None or array is None or not _is_number(array):
            return
        if search.first(_halved(search, layer, array)) is None:
            return


def _halved(search: Search, wanted: Layer, array: Array) -> Iterator[Body | None]:
    elements = np.flatnonzero(array.reshape(-1) != 0)
    if len(elements) < 2:
        return
    middle = len(elements) // 2
    for dropped in (elements[middle:], elements[:middle]):
        flat = array.reshape(-1).copy()
        flat[dropped] = 0
        yield _replaced(search, wanted, flat.reshape(array.shape))


def _replaced(search: Search, wanted: Layer, value: Array) -> Body | None:
    return _changed(search, lambda layer, _: value if layer is wanted else None)
