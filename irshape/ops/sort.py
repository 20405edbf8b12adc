"""Operations that sort, search and find: TopK, NonZero, Unique, Bucketize, SearchSorted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import isnan, prod
from typing import Any, Final

from ..demands import note_wider
from ..element_types import ElementType
from ..faults import Between, Fault, fault, require
from ..rule_ids import ATTRIBUTE_VALUE, INPUT_SHAPES, INPUT_VALUE, OPERATION_CONSTRAINT
from ..shapes import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, PartialShape
from ..spelling import with_noun
from . import conditions
from .axes import normalized_axis
from .conversion import plain
from .declaration import (
    ANY,
    I32_I64,
    INTEGER,
    NUMERIC,
    Operation,
    at_least,
    attribute,
    operand,
    types,
)
from .differences import CRASHES, NO_LOWER_BOUNDS, Site, facts, not_run
from .kinds import BOOLEAN, INDEX_TYPE, INT, Choice
from .lazy import Array, dtype_of, np
from .tensors import Tensor, Value

I32: Final = ElementType.of("i32")
I64: Final = ElementType.of("i64")


def index_array(array: Any, element_type: ElementType) -> Array:
    """Returns indices or counts in the type that an attribute names."""
    return np.asarray(array).astype(dtype_of(element_type))


class TopK(Operation):
    """The base class of all versions: the `k` largest or smallest elements of each slice along an
    axis, and their indices."""

    differs = facts(NO_LOWER_BOUNDS)

    leaves_nan_open = True
    data = operand(ANY, rank=at_least(1))
    k = operand(INTEGER, rank=0, value=True)
    axis: int = attribute(INT, default=0, required=True)
    mode: str = attribute(Choice("max", "min"), default="max", required=True)
    sort: str = attribute(Choice("value", "index", "none"), default="none", required=True)
    index_element_type: ElementType = attribute(INDEX_TYPE, default=I32)
    stable = False

    def infer(self, data: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE), Tensor(
                self.index_element_type, DYNAMIC_SHAPE
            )
        dims = list(data.shape)
        axis = normalized_axis(self.axis, len(dims), rule=OPERATION_CONSTRAINT)
        dims[axis] = self.chosen(dims[axis], k.value)
        shape = PartialShape(dims)
        return Tensor(data.element_type, shape), Tensor(self.index_element_type, shape)

    def chosen(self, available: Dimension, k: Value | None) -> Dimension:
        """Returns the size of the result along the axis: `k` if it is known (as in OpenVINO, even
        if the axis is shorter), else an interval up to the size of the axis."""
        if k is None:
            return Dimension(0, available.high)
        low, high = int(k.lower[0]), int(min(k.upper[0], UNBOUNDED))
        conditions.at_least(high, 0, at="k")
        if low == high:
            available.at_least(high)
            return Dimension(high)
        interval = Dimension(max(0, min(available.low, low)), min(available.high, high))
        count = k.dimension(0)
        return interval if count is None else count.followed(interval, lambda size: size)

    def check(self, data: Tensor, k: Tensor) -> Iterator[Fault]:
        known, available = k.known, data.shape[self.axis] if data.rank else DYNAMIC
        if known is not None and known[0] > available.high > 0:
            most = Between(None, available.high)
            yield fault(at="k", relation="within", expected=most, actual=known[0])

    def evaluate(self, data: Array, k: Array) -> tuple[Array, Array]:
        count, keys = int(k.item()), np.moveaxis(plain(data), self.axis, -1)
        if not 0 <= count <= keys.shape[-1]:
            has = with_noun(keys.shape[-1], "element")
            raise ValueError(f"k is {count}, but the axis has {has}")
        if self.mode == "max":
            order = (
                keys.shape[-1] - 1 - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
            )  # descending; equal elements keep their order
        else:
            order = np.argsort(keys, axis=-1, kind="stable")
        order = order[..., :count]
        if self.sort == "index":
            order = np.sort(order, axis=-1)
        order = np.moveaxis(order, -1, self.axis)
        return np.take_along_axis(data, order, axis=self.axis), index_array(
            order, self.index_element_type
        )


class TopK_1(TopK):
    """The `k` largest or smallest elements along an axis, and their indices."""

    since = 1
    k = operand(types("i8 i32 i64"), rank=0, value=True)


class TopK_3(TopK):
    """Like TopK-1, but `k` can have any integer type."""

    since = 3
    tolerated = ("stable",)


class TopK_11(TopK):
    """Like TopK-3, but with `stable`, equal elements keep their order."""

    since = 11
    stable: bool = attribute(BOOLEAN, default=False)

    def infer(self, data: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        require(
            not (self.stable and self.sort == "none"),
            at="sort",
            expected="value or index",
            actual="none",
            of="stable",
            rule=ATTRIBUTE_VALUE,
        )
        return super().infer(data, k)


class NonZero(Operation):
    """The indices of the elements that are not zero, with a row for each axis."""

    since = 3
    data = operand(ANY, value=True, packed=True)
    output_type: ElementType = attribute(INDEX_TYPE, default=I64)

    def infer(self, data: Tensor) -> Tensor:
        if data.value is not None:
            bounds = list(zip(data.value.lower, data.value.upper, strict=True))
            count = Dimension(
                sum(not low <= 0 <= high for low, high in bounds),
                sum(not low == high == 0 for low, high in bounds),
            )
            return Tensor(self.output_type, PartialShape([max(len(data.shape), 1), count]))
        if not data.rank:
            return Tensor(self.output_type, PartialShape.of_rank(2))
        return Tensor(
            self.output_type, PartialShape([data.rank, Dimension(0, data.shape.size.high)])
        )

    def evaluate(self, data: Array) -> Array:
        places = np.nonzero(np.atleast_1d(plain(data)) != 0)
        return index_array(np.stack(places), self.output_type)


def _places_unused(site: Site) -> bool:
    """Returns whether nothing uses output 2, the indices, of an unsorted Unique."""
    return not site.attribute("sorted") and 2 in site.unused and not all(site.constant)


class Unique(Operation):
    """The distinct elements, or distinct slices along an axis. Other outputs: where each occurs
    first; the index of the distinct element for each input element; and how often each occurs."""

    since = 10
    differs = facts(
        not_run(
            "2025.0",
            "an unsorted Unique whose output 2 is unused",
            _places_unused,
            since="2024.3",
            consequence=CRASHES,
        ),
    )
    constant_operands = ("axis",)
    data = operand(ANY, value=True)
    axis = operand(I32_I64, single=True, value=True, optional=True)
    sorted: bool = attribute(BOOLEAN, default=True)
    index_element_type: ElementType = attribute(INDEX_TYPE, default=I64)
    count_element_type: ElementType = attribute(INDEX_TYPE, default=I64)

    def infer(self, data: Tensor, axis: Tensor | None) -> tuple[Tensor, ...]:
        if axis is None:
            size = data.shape.size
            size = size if size.low < UNBOUNDED else DYNAMIC
            count = number_of_different(size, exact(data))
            return self.outputs(data, PartialShape([count]), count, size)
        known = axis.known
        if data.rank is None or known is None:
            return self.outputs(data, PartialShape.of_rank(data.rank), DYNAMIC, DYNAMIC)
        dims = list(data.shape)
        along = normalized_axis(known[0], len(dims))
        size = dims[along]
        count = number_of_different(size, slices(data, along))
        if not size.low and size.high < UNBOUNDED:
            note_wider()  # OpenVINO assumes at least one slice
        dims[along] = count
        return self.outputs(data, PartialShape(dims), count, size)

    def outputs(
        self, data: Tensor, shape: PartialShape, count: Dimension, size: Dimension
    ) -> tuple[Tensor, ...]:
        index, number = self.index_element_type, self.count_element_type
        return (
            Tensor(data.element_type, shape),
            Tensor(index, PartialShape([count])),
            Tensor(index, PartialShape([size])),
            Tensor(number, PartialShape([count])),
        )

    def evaluate(self, data: Array, axis: Array | None) -> tuple[Array, ...]:
        along = None if axis is None else int(axis.item())
        keys = (
            plain(data).reshape(-1)
            if along is None
            else slice_keys(np.moveaxis(plain(data), along, 0))
        )
        _, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
        )
        if not self.sorted:
            order = np.argsort(first, kind="stable")
            inverse = np.argsort(order, kind="stable")[inverse]
            first, counts = first[order], counts[order]
        different = data.reshape(-1)[first] if along is None else np.take(data, first, axis=along)
        return (
            different,
            index_array(first, self.index_element_type),
            index_array(inverse, self.index_element_type),
            index_array(counts, self.count_element_type),
        )


def number_of_different(size: Dimension, elements: tuple[object, ...] | None) -> Dimension:
    """Returns the number of distinct values; an interval if `elements` is None (unknown)."""
    return (
        Dimension(min(size.low, 1), size.high)
        if elements is None
        else Dimension(len(set(elements)))
    )


def exact(data: Tensor) -> tuple[int | float, ...] | None:
    """Returns the elements of a tensor if all are known and none is NaN."""
    elements = data.value.exact if data.value else None
    return None if elements is None or any(map(isnan, elements)) else elements


def slice_keys(slices: Array) -> Array:
    """Returns a number for each slice along the first axis.

    Equal slices get equal numbers. A slice that sorts before another gets a smaller number.
    """
    rows = slices.reshape(len(slices), prod(slices.shape[1:]))
    if rows.shape[1] == 1:
        return np.ravel(rows)
    ranks = np.unique(rows, return_inverse=True, equal_nan=False)[1].reshape(rows.shape)
    return (
        np.unique(ranks, axis=0, return_inverse=True)[1].reshape(-1)
        if rows.size
        else np.zeros(len(rows), np.int64)
    )


def slices(data: Tensor, axis: int) -> tuple[tuple[float, ...], ...] | None:
    """Returns the slices of a known tensor along an axis, each as a tuple of its elements."""
    elements, sizes = exact(data), data.shape.static
    if elements is None or sizes is None:
        return None
    inner = prod(sizes[axis + 1 :])
    parts: list[list[float]] = [[] for _ in range(sizes[axis])]
    for position, number in enumerate(elements):
        parts[position // inner % sizes[axis]].append(number)
    return tuple(map(tuple, parts))


class Bucketize(Operation):
    """The index of each element's bucket. `buckets` are the boundaries, in ascending order."""

    since = 3
    data = operand(NUMERIC)
    buckets = operand(NUMERIC, rank=1, value=True, packed=True)
    output_type: ElementType = attribute(INDEX_TYPE)
    with_right_bound: bool = attribute(BOOLEAN, default=True)

    def infer(self, data: Tensor, buckets: Tensor) -> Tensor:
        return Tensor(self.output_type, data.shape)

    def check(self, data: Tensor, buckets: Tensor) -> Iterator[Fault]:
        for place, (low, high) in enumerate(pairwise(exact(buckets) or ()), 1):
            if low >= high:
                yield fault(
                    at="buckets",
                    expected=f"more than {low}, because the boundaries must ascend",
                    actual=high,
                    position=place,
                    rule=INPUT_VALUE,
                )
                return

    def evaluate(self, data: Array, buckets: Array) -> Array:
        return index_array(
            np.searchsorted(
                plain(buckets), plain(data), side="left" if self.with_right_bound else "right"
            ),
            self.output_type,
        )


class SearchSorted(Operation):
    """The position at which each value would be inserted into a sorted sequence.

    There is one sequence for all values, or one for each row.
    """

    since = 15
    sorted_sequence = operand(ANY, rank=at_least(1))
    values = operand(ANY, like="sorted_sequence")
    right_mode: bool = attribute(BOOLEAN, default=False)
    output_type: ElementType = attribute(INDEX_TYPE, default=I64)

    def infer(self, sorted_sequence: Tensor, values: Tensor) -> Tensor:
        rank = sorted_sequence.rank
        if rank is None or rank == 1:
            return Tensor(self.output_type, values.shape)
        rows = PartialShape([*sorted_sequence.shape[:-1], DYNAMIC])
        conditions.rank(values.rank, rank, at="values", of="sorted_sequence", rule=INPUT_SHAPES)
        return Tensor(self.output_type, conditions.equal(values.shape, rows, at="values"))

    def evaluate(self, sorted_sequence: Array, values: Array) -> Array:
        sequence, wanted = plain(sorted_sequence), plain(values)
        side: Any = "right" if self.right_mode else "left"
        if sequence.ndim == 1:
            return index_array(np.searchsorted(sequence, wanted, side=side), self.output_type)
        places = np.empty(wanted.shape, np.int64)
        for row in np.ndindex(*wanted.shape[:-1]):
            places[row] = np.searchsorted(sequence[row], wanted[row], side=side)
        return index_array(places, self.output_type)
