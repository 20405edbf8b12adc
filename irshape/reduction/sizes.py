"""Makes tensors smaller: replaces a size wherever it occurs, unless this causes new errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.graph import Body, Layer
from ..numpy_types import Array
from ..shapes import Dimension, PartialShape
from .edits import mapped, with_items
from .search import Search
from .values import with_value

SMALL = (1, 2, 3, 4, 8)
"""The sizes that are tried in place of a larger size."""

MAX_LIST = 16
"""An integer constant with more elements than this is not taken for a list of sizes."""


def shrink_sizes(search: Search) -> None:
    """Replaces the sizes of dimensions by smaller ones, and dynamic dimensions by static ones."""
    search.first(_resized(search, {}, dynamic=size) for size in SMALL)
    while search.first(_changes(search)) is not None:
        pass


def _dims_of(layer: Layer) -> tuple[Dimension, ...]:
    """Returns the dimensions that a Parameter or Constant declares; none if the rank is unknown."""
    try:
        return PartialShape.parse(layer.attribute("shape") or "").dims or ()
    except ValueError:
        return ()


def _changes(search: Search) -> Iterator[Body | None]:
    """Yields the edited nets to try: first with all sizes changed at once, then with one size after
    another changed, first together with its multiples, then alone."""
    every: set[int] = set()
    for layer in search.best.model.walk():
        if layer.is_parameter or layer.is_constant:
            every.update(dim.low for dim in _dims_of(layer) if dim.is_static and dim.low > 1)
    sizes = sorted(every, reverse=True)
    for target in (1, 2):
        yield from _variants(search, {size: target for size in sizes if size > target})
    for size in reversed(sizes):
        halves = [] if size < 32 else [size // 4, size // 2]
        for target in [*(each for each in SMALL if each < size), *halves]:
            multiples = {other: other // size * target for other in sizes if other % size == 0}
            yield from _variants(search, multiples)
            if len(multiples) > 1:
                yield from _variants(search, {size: target})


def _variants(search: Search, sizes: dict[int, int]) -> Iterator[Body | None]:
    """Yields the net with new sizes in place of old ones: first in shapes alone, then also in
    integer constants, then also in attributes that equal a size."""
    if sizes:
        for values, attributes in ((False, False), (True, False), (True, True)):
            yield _resized(search, sizes, values=values, attributes=attributes)


def _resized(
    search: Search,
    sizes: dict[int, int],
    *,
    values: bool = False,
    attributes: bool = False,
    dynamic: int | None = None,
) -> Body:
    """Returns the net with new sizes. sizes: the new size for each old one. values, attributes:
    whether to replace sizes in integer constants and in attributes, too. dynamic: the size for
    dynamic dimensions."""

    def resized(layer: Layer) -> Layer:
        if layer.is_parameter:
            new = [
                sizes.get(dim.low, dim) if dim.is_static else dynamic or dim
                for dim in _dims_of(layer)
            ]
            return with_items(layer, shape=PartialShape(new).text) if new else layer
        if layer.is_constant:
            return with_value(search, layer, lambda array: _resized_array(array, sizes, values))
        return _with_sizes(layer, sizes) if attributes else layer

    return mapped(search.best.net, resized)


def _resized_array(array: Array, sizes: dict[int, int], values: bool) -> Array:
    """Returns the array of a constant with new sizes. values: whether a short array of integers is
    a list of sizes: its elements then change instead of its shape."""
    if not values or array.dtype.kind not in "iu" or array.ndim > 1:
        return window(array, tuple(sizes.get(size, size) for size in array.shape))
    if array.size > MAX_LIST:
        return array
    new = [sizes.get(each, each) for each in array.ravel().tolist()]
    return np.array(new).astype(array.dtype).reshape(array.shape)


def window(array: Array, sizes: tuple[int, ...]) -> Array:
    """Cuts an array to at most these sizes. The part that is left includes the element of largest
    magnitude."""
    if array.size == 0 or array.shape == sizes:
        return array
    with np.errstate(all="ignore"):
        magnitude = np.abs(array.astype(np.float64, copy=False))
    magnitude = np.where(np.isfinite(magnitude), magnitude, np.inf)
    peak = np.unravel_index(int(np.argmax(magnitude)), array.shape)
    slices = []
    for length, size, at in zip(array.shape, sizes, peak, strict=True):
        start = min(int(at), max(length - size, 0))
        slices.append(slice(start, start + size))
    return array[tuple(slices)]


def _with_sizes(layer: Layer, sizes: dict[int, int]) -> Layer:
    """Returns a layer with the new size in place of each attribute that equals an old size."""
    changed = {
        name: str(sizes[int(value)])
        for name, value in layer.attributes.items()
        if value.isdigit() and len(value) < 10 and int(value) in sizes
    }
    return with_items(layer, **changed) if changed else layer
