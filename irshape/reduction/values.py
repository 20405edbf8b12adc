"""Simplifies constants: all zeros, all ones, or zeros except for a few elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..model.graph import Body, Layer
from ..numpy_types import Array
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


def with_value(search: Search, layer: Layer, change: Callable[[Array], Array | None]) -> Layer:
    """Returns a Constant with another value of the same element type.

    Returns the same Constant if it holds no numbers, or if the value does not change.
    """
    array = search.workshop.array(layer)
    if array is None or array.dtype.kind == "O" or not array.size:
        return layer
    new = change(array)
    if new is None or (new.shape == array.shape and new.tobytes() == array.tobytes()):
        return layer
    element_type = layer.attribute("element_type") or ""
    place = search.workshop.place(np.ascontiguousarray(new), element_type)
    if place is None:
        return layer
    shape = ", ".join(map(str, new.shape))
    return with_items(layer, shape=shape, offset=str(place[0]), size=str(place[1]))


def _changed(search: Search, change: Callable[[Layer, Array], Array | None]) -> Body | None:
    """Returns the best model with other constants; None if none changes."""
    count = 0

    def changed(layer: Layer) -> Layer:
        nonlocal count
        if not layer.is_constant:
            return layer
        new = with_value(search, layer, lambda array: change(layer, array))
        count += new is not layer
        return new

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
    array = search.workshop.array(wanted)
    for fill in (0, 1):
        if array is not None and (not fill or array.any()):
            yield _replaced(search, wanted, np.full_like(array, fill))


def _keep_a_few(search: Search, name: str) -> None:
    """Halves the number of nonzero elements of a constant as long as possible."""
    for _ in range(MAX_HALVINGS):
        layer = next((each for each in _constants(search) if _name(each) == name), None)
        if layer is None or search.first(_halved(search, layer)) is None:
            return


def _halved(search: Search, wanted: Layer) -> Iterator[Body | None]:
    array = search.workshop.array(wanted)
    if array is None or array.dtype.kind == "O":
        return
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
