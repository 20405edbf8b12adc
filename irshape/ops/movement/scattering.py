"""Operations that copy a tensor and replace some elements, or combine them with updates."""

from __future__ import annotations

from collections.abc import Iterator

from ...element_types import DYNAMIC_TYPE
from ...faults import Fault, require
from ...shapes import PartialShape
from .. import conditions
from ..axes import normalized_axis, not_single, require_single, single
from ..conditions import doubted, equal, of_type
from ..conversion import encoded, plain
from ..declaration import (
    ANY,
    BOOLEAN_TYPE,
    I32_I64,
    INTEGER,
    Operation,
    at_least,
    attribute,
    operand,
)
from ..differences import Site, facts, not_run, of_version
from ..elementwise import common_type
from ..kinds import BOOLEAN, Choice
from ..lazy import Array, element_type_of, np
from ..tensors import Tensor
from .gathering import from_start, require_tuples
from .slicing import require_lists, selected, sliced_dims


def _shared_type(data: Tensor, updates: Tensor) -> Tensor:
    """Returns `data`. If its element type is dynamic, it gets the element type of `updates`."""
    return Tensor(common_type(data, updates), data.shape)


def combined(
    data: Array, at: tuple[Array, ...], updates: Array, reduction: str, *, initial: bool = True
) -> Array:
    """Returns `data` in which each update is combined with the element that `at` selects for it.

    initial: whether updates are combined with the element of `data`, or only with each other.
    """
    if reduction == "none":
        result = data.copy()
        result[at] = updates
        return result
    if data.dtype == bool and reduction in ("sum", "sub", "prod"):
        reduction = {"sum": "max", "prod": "min", "sub": "xor"}[reduction]
    numbers = plain(data).copy()
    if not initial:
        numbers[at] = _neutral(numbers.dtype, reduction)
    function = {
        "sum": np.add,
        "sub": np.subtract,
        "prod": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
        "xor": np.not_equal,
    }[reduction]
    function.at(numbers, at, plain(updates))
    return encoded(numbers, element_type_of(data))


class ScatterUpdate(Operation):
    """`data` with the slices along `axis` at `indices` replaced by the slices of `updates`."""

    since = 3
    moves = ("data", "updates")
    data = operand(ANY, like="data")
    indices = operand(INTEGER)
    updates = operand(ANY, like="data")
    axis = operand(INTEGER, value=True, packed=True)

    def infer(self, data: Tensor, indices: Tensor, updates: Tensor, axis: Tensor) -> Tensor:
        require_single(axis)
        rank, index = data.rank, single(axis)
        if index is not None and rank is not None:
            index = normalized_axis(index, rank)
        if rank is None or indices.rank is None:
            return Tensor(data.element_type, data.shape)
        wanted = rank + indices.rank - 1
        conditions.rank(updates.rank, wanted, at="updates", of="data")
        if index is not None:
            expected = PartialShape((*data.shape[:index], *indices.shape, *data.shape[index + 1 :]))
            equal(updates.shape, expected, at="updates")
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, indices: Array, updates: Array, axis: Array) -> Array:
        along = int(axis.ravel()[0]) % data.ndim
        result = data.copy()
        result[(slice(None),) * along + (from_start(indices, data.shape[along]),)] = updates
        return result


def _scalar_update(site: Site) -> bool:
    return site.rank(2) == 0 and site.since < 15


class _Combining(Operation):
    """The base class of operations that replace elements or, in later versions, combine them."""

    reduction: str = "none"

    @property
    def moves(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("data", "updates") if self.reduction == "none" else ()


class ScatterNDUpdate(_Combining):
    """The base class of all versions: `data` with slices replaced by the slices of `updates`.

    Each tuple along the last axis of `indices` is the position of a slice.
    """

    differs = facts(
        not_run("2024.3", "a ScatterNDUpdate with scalar updates, before opset15", _scalar_update),
    )

    data = operand(ANY, like="data", rank=at_least(1))
    indices = operand(I32_I64, rank=at_least(1))
    updates = operand(ANY, like="data")

    def infer(self, data: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        result = _shared_type(data, updates)
        if data.rank is None or indices.rank is None or indices.shape[-1].is_dynamic:
            return result
        length = indices.shape[-1].low
        require_tuples(indices.shape, data.rank)
        expected = PartialShape((*indices.shape[:-1], *data.shape[length:]))
        if expected.rank or not updates.shape.size.contains(1):
            equal(updates.shape, expected, at="updates")
        return result

    def evaluate(self, data: Array, indices: Array, updates: Array) -> Array:
        length = indices.shape[-1]
        at = tuple(from_start(indices[..., i], data.shape[i]) for i in range(length))
        places = indices.shape[:-1]
        if not length:  # an empty tuple selects all of `data`
            whole = (np.zeros(places, np.int64),)
            stacked = updates.reshape(places + data.shape)
            return combined(data[None], whole, stacked, self.reduction)[0]
        return combined(data, at, updates.reshape(places + data.shape[length:]), self.reduction)


class ScatterNDUpdate_4(ScatterNDUpdate):
    """`data` with the slices at tuples of indices replaced. Specification: ScatterNDUpdate-3."""

    since = 4


class ScatterNDUpdate_15(ScatterNDUpdate):
    """`data` with slices at tuples of indices replaced by `updates`, or combined with them."""

    since = 15
    released = ((15, "2024.2"),)
    reduction: str = attribute(Choice("none", "sum", "sub", "prod", "min", "max"), default="none")


class ScatterElementsUpdate(_Combining):
    """The base class of all versions: `data` with elements along `axis` replaced or combined."""

    data = operand(ANY, like="data")
    indices = operand(INTEGER | BOOLEAN_TYPE)
    updates = operand(ANY, like="data")
    axis = operand(INTEGER | BOOLEAN_TYPE, value=True)
    use_init_val: bool = True

    def infer(self, data: Tensor, indices: Tensor, updates: Tensor, axis: Tensor) -> Tensor:
        if data.rank is not None:
            conditions.rank(indices.rank, data.rank, at="indices", of="data")
        equal(updates.shape, indices.shape, at="updates", of="indices")
        require(
            self.reduction != "mean" or data.element_type not in BOOLEAN_TYPE,
            at="reduction",
            expected="none, sum, prod, min or max",
            actual="mean",
        )
        index = single(axis)
        if index is not None and data.rank is not None:
            normalized_axis(index, data.rank)
        return _shared_type(data, updates)

    def check(
        self, data: Tensor, indices: Tensor, updates: Tensor, axis: Tensor
    ) -> Iterator[Fault]:
        if axis.rank:
            yield from not_single(axis)

    def evaluate(self, data: Array, indices: Array, updates: Array, axis: Array) -> Array:
        along = int(axis.ravel()[0]) % data.ndim
        places: list[Array] = list(np.indices(indices.shape, sparse=True))
        places[along] = from_start(indices, data.shape[along])
        at = tuple(places)
        if self.reduction == "mean":
            return self.mean(data, at, updates)
        return combined(data, at, updates, self.reduction, initial=self.use_init_val)

    def mean(self, data: Array, at: tuple[Array, ...], updates: Array) -> Array:
        numbers = plain(data)
        whole = numbers.dtype.kind in "iu"
        total = numbers.astype(np.int64 if whole else numbers.dtype)
        if not self.use_init_val:
            total[at] = 0
        counts = np.zeros(data.shape, np.int64)
        np.add.at(counts, at, 1)
        touched = counts > 0
        np.add.at(total, at, plain(updates).astype(total.dtype))
        counts += self.use_init_val
        counts = np.maximum(counts, 1)
        means = np.sign(total) * (np.abs(total) // counts) if whole else total / counts
        result = np.where(touched, means.astype(numbers.dtype), numbers)
        return encoded(result, element_type_of(data))


def _neutral(dtype: np.dtype[np.generic], reduction: str) -> float | int | bool:
    """Returns the neutral element of a reduction, e.g. 0 for `sum`."""
    if reduction in ("sum", "prod"):
        return int(reduction == "prod")
    if dtype.kind == "b":
        return reduction == "min"
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max if reduction == "min" else np.iinfo(dtype).min)
    return float("inf") if reduction == "min" else float("-inf")


class ScatterElementsUpdate_3(ScatterElementsUpdate):
    """`data` with the elements at `indices` along `axis` replaced by elements of `updates`."""

    since = 3


class ScatterElementsUpdate_12(ScatterElementsUpdate):
    """`data` with elements along an axis replaced by, or combined with, elements of `updates`."""

    since = 12
    reduction: str = attribute(Choice("none", "sum", "prod", "min", "max", "mean"), default="none")
    use_init_val: bool = attribute(BOOLEAN, default=True)


class SliceScatter(Operation):
    """`data`, in which `updates` replaces the part that Slice would select."""

    since = 15
    released = ((15, "2024.4"),)
    differs = facts(
        not_run("2024.5", "SliceScatter of opset15", of_version(15), since="2024.4"),
    )
    moves = ("data", "updates")
    data = operand(ANY, rank=at_least(1))
    updates = operand(ANY, rank=at_least(1))
    start = operand(INTEGER, rank=1, value=True)
    stop = operand(INTEGER, rank=1, value=True)
    step = operand(INTEGER, rank=1, value=True)
    axes = operand(INTEGER, rank=1, value=True, optional=True)

    def infer(
        self,
        data: Tensor,
        updates: Tensor,
        start: Tensor,
        stop: Tensor,
        step: Tensor,
        axes: Tensor | None,
    ) -> Tensor:
        count = updates.rank if data.rank is None else data.rank
        if count is not None:
            conditions.rank(updates.rank, count, at="updates", of="data")
        require_lists(count, start=start, stop=stop, step=step, axes=axes)
        conditions.not_zero(step.known or (), at="step")
        if count is None:
            return _shared_type(data, updates)
        shape = data.shape if data.rank is not None else PartialShape.of_rank(count)
        expected = PartialShape(sliced_dims(shape, start, stop, step, axes))
        equal(updates.shape, expected, at="updates")
        return Tensor(_shared_type(data, updates).element_type, shape)

    def check(self, data: Tensor, updates: Tensor, *lists: Tensor | None) -> Iterator[Fault]:
        ours, theirs = data.element_type, updates.element_type
        if DYNAMIC_TYPE not in (ours, theirs):
            yield from doubted(of_type, theirs, ours, at="updates", of="data", accepted=True)

    def evaluate(self, data: Array, updates: Array, *lists: Array | None) -> Array:
        result = data.copy()
        result[selected(data.shape, lists)] = updates
        return result
