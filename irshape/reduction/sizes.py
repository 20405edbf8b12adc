"""Makes tensors small: a size is replaced wherever it occurs, as long as the model stays sound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from ..model.graph import Body, Layer
from ..numpy_types import Array
from ..shapes import Dimension, PartialShape
from .edits import with_items
from .places import mapped
from .search import Search
from .values import with_value

SMALL = (1, 2, 3, 4, 8)
"""The sizes to try in place of others."""

MAX_LIST = 16
"""Longer constants do not count as lists of sizes."""


class _Change(NamedTuple):
    """A new size for each old one.

    values, attributes: whether integer constants and attributes that equal a size change with it.
    """

    sizes: dict[int, int]
    values: bool = False
    attributes: bool = False

    def of(self, size: int | Dimension) -> int | Dimension:
        """Returns the new size of a dimension. Dynamic dimensions stay."""
        return self.sizes.get(size, size) if isinstance(size, int) else size


def shrink_sizes(search: Search) -> None:
    """Replaces sizes by smaller ones, and dynamic dimensions by static ones."""
    search.first(_static(search.best.net, size) for size in SMALL)
    while search.first(_changes(search)) is not None:
        pass
    while search.first(_single_axes(search)) is not None:
        pass


def _sizes(search: Search) -> list[int]:
    """Returns the sizes of inputs and constants, the largest first."""
    sizes: set[int] = set()
    for layer in search.best.model.walk():
        if layer.is_parameter or layer.is_constant:
            sizes.update(size for size in _sizes_of(layer) if isinstance(size, int) and size > 1)
    return sorted(sizes, reverse=True)


def _sizes_of(layer: Layer) -> tuple[int | Dimension, ...]:
    """Returns the sizes that a Parameter or Constant declares; none if the rank is unknown."""
    try:
        return PartialShape.parse(layer.attribute("shape") or "").sizes
    except ValueError:
        return ()


def _changes(search: Search) -> Iterator[Body | None]:
    """Yields changes of all sizes at once, then of each with its multiples, then of each alone."""
    sizes = _sizes(search)
    for target in (1, 2):
        yield from _variants(search, {size: target for size in sizes if size > target})
    for size in reversed(sizes):
        for target in _targets(size):
            multiples = {other: other // size * target for other in sizes if other % size == 0}
            yield from _variants(search, multiples)
            if len(multiples) > 1:
                yield from _variants(search, {size: target})


def _targets(size: int) -> list[int]:
    halves = [] if size < 32 else [size // 4, size // 2]
    return [*(each for each in SMALL if each < size), *halves]


def _variants(search: Search, sizes: dict[int, int]) -> Iterator[Body | None]:
    if sizes:
        for values, attributes in ((False, False), (True, False), (True, True)):
            yield _resized(search, _Change(sizes, values, attributes))


def _resized(search: Search, change: _Change) -> Body:
    def resized(layer: Layer) -> Layer:
        if layer.is_parameter:
            return _reshaped(layer, change.of)
        if layer.is_constant:
            return _resized_constant(search, layer, change)
        if change.attributes:
            return _with_sizes(layer, change)
        return layer

    return mapped(search.best.net, resized)


def _reshaped(layer: Layer, change: Callable[[int | Dimension], int | Dimension]) -> Layer:
    """Returns a Parameter with other sizes."""
    sizes = _sizes_of(layer)
    return with_items(layer, shape=PartialShape(map(change, sizes)).text) if sizes else layer


def _resized_constant(search: Search, layer: Layer, change: _Change) -> Layer:
    array = search.workshop.array(layer)
    if array is None or array.dtype.kind == "O":
        return layer
    new = array
    if change.values and array.dtype.kind in "iu" and array.ndim <= 1 and array.size <= MAX_LIST:
        new = np.array([change.sizes.get(int(each), int(each)) for each in array.reshape(-1)])
        new = new.astype(array.dtype).reshape(array.shape)
    sizes = tuple(change.sizes.get(size, size) for size in array.shape)
    if change.values and array.ndim <= 1 and array.dtype.kind in "iu":
        sizes = array.shape  # a list of sizes has a length of its own
    new = window(new, sizes)
    if new is array or (new.shape == array.shape and new.tobytes() == array.tobytes()):
        return layer
    return with_value(search.workshop, layer, np.ascontiguousarray(new)) or layer


def window(array: Array, sizes: tuple[int, ...]) -> Array:
    """Returns a part of an array, no larger than these sizes, that includes its largest element."""
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


def _with_sizes(layer: Layer, change: _Change) -> Layer:
    """Returns a layer in which attributes that equal a size are changed."""
    changed = {
        name: str(change.sizes[int(value)])
        for name, value in layer.attributes.items()
        if value.isdigit() and len(value) < 10 and int(value) in change.sizes
    }
    return with_items(layer, **changed) if changed else layer


def _static(net: Body, size: int) -> Body | None:
    """Returns the net with this size for all dynamic dimensions of inputs."""
    count = 0

    def fixed(layer: Layer) -> Layer:
        nonlocal count
        if not layer.is_parameter or all(isinstance(each, int) for each in _sizes_of(layer)):
            return layer
        count += 1
        return _reshaped(layer, lambda each: each if isinstance(each, int) else size)

    changed = mapped(net, fixed)
    return changed if count else None


def _single_axes(search: Search) -> Iterator[Body | None]:
    """Yields nets in which one axis of one input or constant is 1."""
    for wanted in list(search.best.model.walk()):
        if not (wanted.is_parameter or wanted.is_constant):
            continue
        for axis, size in enumerate(_sizes_of(wanted)):
            if isinstance(size, int) and size > 1:
                yield _with_axis(search, wanted, axis)


def _with_axis(search: Search, wanted: Layer, axis: int) -> Body:
    def changed(layer: Layer) -> Layer:
        if layer is not wanted:
            return layer
        if layer.is_parameter:
            shape = [*_sizes_of(layer)]
            shape[axis] = 1
            return with_items(layer, shape=PartialShape(shape).text)
        array = search.workshop.array(layer)
        if array is None or array.dtype.kind == "O":
            return layer
        sizes = tuple(1 if at == axis else size for at, size in enumerate(array.shape))
        new = np.ascontiguousarray(window(array, sizes))
        return with_value(search.workshop, layer, new) or layer

    return mapped(search.best.net, changed)
