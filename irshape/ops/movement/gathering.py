"""Operations that select elements and slices by their indices."""

from __future__ import annotations

from math import prod

from ...faults import Between, Violation
from ...rule_ids import OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..axes import normalized_axis, picked, require_single, single
from ..conditions import between, equal, rank
from ..declaration import (
    ANY,
    I32_I64,
    INTEGER,
    NUMERIC,
    NUMERIC_OR_BOOLEAN,
    Operation,
    at_least,
    attribute,
    operand,
)
from ..elementwise import common_type
from ..kinds import INT
from ..lazy import Array, np
from ..tensors import Tensor, Value
from .padding import blank


def from_start(indices: Array, size: int) -> Array:
    """Returns indices along an axis of this size, counted from the start.

    Raises `Violation` for an index beyond either end of the axis.
    """
    counted = indices.astype(np.int64)
    outside = (counted < -size) | (counted >= size)
    if outside.any():
        between(counted[outside].tolist(), -size, size - 1, at="indices")
    return np.where(counted < 0, counted + size, counted)


class Gather(Operation):
    """The base class of all versions: the slices of `data` along `axis` at `indices`."""

    decompresses = "exactly"
    data = operand(ANY)
    indices = operand(INTEGER, value=True, packed=True)
    axis = operand(INTEGER, value=True)
    batch_dims: int = 0
    counts_from_end = False
    """Whether negative indices count from the end, and indices out of range select zeros."""

    def infer(self, data: Tensor, indices: Tensor, axis: Tensor) -> Tensor:
        if axis.shape.is_static:  # OpenVINO does not check an `axis` of unknown shape
            require_single(axis)
        index = single(axis)
        if index is not None and data.rank is not None:
            index = normalized_axis(index, data.rank)
        batch = self.leading(indices.rank, index)
        if data.rank is None or indices.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        # not declared: OpenVINO accepts a scalar while the rank of `indices` is unknown
        rank(data.rank, at_least(1), at="data")
        between(batch, None, data.rank, at="batch_dims", rule=OPERATION_CONSTRAINT)
        shared = _merged(data, indices, batch)
        if index is None:
            others = data.rank - 1 + indices.rank - 2 * batch
            return Tensor(data.element_type, (*shared, *(DYNAMIC,) * others))
        before, after = data.shape[batch:index], data.shape[index + 1 :]
        return Tensor(data.element_type, (*shared, *before, *indices.shape[batch:], *after))

    def leading(self, rank: int | None, axis: int | None) -> int:
        """Returns `batch_dims`, plus the rank of `indices` (if known) for a negative number."""
        batch = self.batch_dims
        if rank is not None:
            between(batch, -rank, rank, at="batch_dims", rule=OPERATION_CONSTRAINT)
            batch = batch + rank if batch < 0 else batch
        if axis is not None and axis >= 0:
            between(batch, None, axis, at="batch_dims", rule=OPERATION_CONSTRAINT)
        return batch

    def infer_value(
        self, data: Tensor, indices: Tensor, axis: Tensor, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        sizes, known, along = data.shape.static, indices.known, single(axis)
        if data.value is None or known is None or along is None or not sizes:
            return None
        if self.leading(indices.rank, None):
            return None
        along %= len(sizes)
        size = sizes[along]
        at = [index + size if index < 0 else index for index in known]
        inside = [0 <= index < size for index in at]
        if len(sizes) == 1:  # OpenVINO takes 0 for an index out of range, in every opset
            ends = [index if each else size for index, each in zip(at, inside, strict=True)]
            return Value.joined((data.value, Value([0]))).take(ends)
        if not all(inside):
            return None
        choices = [at if i == along else range(length) for i, length in enumerate(sizes)]
        return data.value.take(picked(sizes, choices))

    def evaluate(self, data: Array, indices: Array, axis: Array) -> Array:
        along = int(axis.ravel()[0]) % data.ndim
        batch = self.batch_dims % indices.ndim if self.batch_dims < 0 else self.batch_dims
        at = indices.astype(np.int64)
        size = data.shape[along]
        if self.counts_from_end:
            at = np.where(at < 0, at + size, at)
        inside = (at >= 0) & (at < size)
        before, after = data.shape[:along], data.shape[along + 1 :]
        shape = before + at.shape[batch:] + after
        if not size and at.size:  # every index is out of range
            return blank(shape, data.dtype)
        at = np.where(inside, at, 0)
        if batch:
            rows = np.arange(prod(at.shape[:batch]))[:, None]
            blocks = data.reshape(len(rows), prod(before[batch:]), size, prod(after))
            slices = np.swapaxes(blocks[rows, :, at.reshape(len(rows), -1)], 1, 2)
        else:
            slices = np.take(data, at, axis=along)
        result = slices.reshape(shape).view(data.dtype)
        if not inside.all():
            gaps = (1,) * (along - batch)
            mask = inside.reshape(at.shape[:batch] + gaps + at.shape[batch:] + (1,) * len(after))
            result = np.where(mask, result, blank((), data.dtype)).view(data.dtype)
        return result


def _merged(data: Tensor, indices: Tensor, batch: int) -> list[Dimension]:
    """Returns the batch dimensions that both inputs share. Raises `Violation` if they differ."""
    pairs = zip(indices.shape[:batch], data.shape[:batch], strict=True)
    return [
        equal(one, other, at="indices", axis=axis, of="data", given=data.shape)
        for axis, (one, other) in enumerate(pairs)
    ]


class Gather_1(Gather):
    """Slices of `data` along `axis` at `indices`."""

    since = 1
    indices = operand(NUMERIC_OR_BOOLEAN, specified=INTEGER, value=True, packed=True)
    axis = operand(NUMERIC_OR_BOOLEAN, specified=INTEGER, value=True)


class Gather_7(Gather):
    """Slices of `data` along `axis` at `indices`. The first `batch_dims` axes are batches."""

    since = 7
    batch_dims: int = attribute(INT, default=0)


class Gather_8(Gather):
    """Slices of `data` along `axis` at `indices`. The first `batch_dims` axes are batches.

    Negative indices count from the end. Indices out of range select zeros.
    """

    since = 8
    batch_dims: int = attribute(INT, default=0)
    counts_from_end = True


class GatherElements(Operation):
    """For a matrix, `data[indices[i, j], j]` or, along axis 1, `data[i, indices[i, j]]`."""

    since = 6
    moves = ("data",)
    data = operand(ANY, rank=at_least(1))
    indices = operand(I32_I64, rank=at_least(1))
    axis: int = attribute(INT, default=0, required=True)

    def infer(self, data: Tensor, indices: Tensor) -> Tensor:
        if data.rank is None:
            return Tensor(data.element_type, indices.shape)
        axis = normalized_axis(self.axis, data.rank, rule=OPERATION_CONSTRAINT)
        dims = list(data.shape)
        dims[axis] = DYNAMIC
        result = equal(indices.shape, PartialShape(dims), at="indices")
        return Tensor(data.element_type, result)

    def evaluate(self, data: Array, indices: Array) -> Array:
        along = self.axis % data.ndim
        return np.take_along_axis(data, from_start(indices, data.shape[along]), along)


def require_tuples(indices: PartialShape, rank: int) -> None:
    """Raises `Violation` if the tuples in `indices` have more numbers than there are axes."""
    length = indices[-1].low
    if length > rank:
        raise Violation(
            at="indices",
            relation="equal",
            expected=Between(None, rank),
            actual=length,
            position=len(indices) - 1,
        )


class GatherND(Operation):
    """The base class of all versions: slices of `data` at tuples of indices.

    The tuples lie along the last axis of `indices`.
    """

    moves = ("data",)
    data = operand(ANY, rank=at_least(1))
    indices = operand(INTEGER, rank=at_least(1))
    batch_dims: int = attribute(INT, default=0)

    def infer(self, data: Tensor, indices: Tensor) -> Tensor:
        batch = self.batch_dims
        for tensor in (data, indices):
            most = None if tensor.rank is None else tensor.rank - 1
            between(batch, 0, most, at="batch_dims", rule=OPERATION_CONSTRAINT)
        if data.rank is None or indices.rank is None or indices.shape[-1].is_dynamic:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        length = indices.shape[-1].low
        require_tuples(indices.shape, data.rank - batch)
        leading = self.joined(_merged(data, indices, batch))
        rest = data.shape[batch + length :]
        return Tensor(data.element_type, (*leading, *indices.shape[batch:-1], *rest))

    def joined(self, batch: list[Dimension]) -> list[Dimension]:
        """Returns the result's batch dimensions, given the dimensions that the inputs share."""
        return batch

    def evaluate(self, data: Array, indices: Array) -> Array:
        batch = self.batch_dims
        length = indices.shape[-1]
        grid = np.indices(indices.shape[:batch], sparse=True) if batch else ()
        places = [axis.reshape(axis.shape + (1,) * (indices.ndim - 1 - batch)) for axis in grid]
        for i in range(length):
            places.append(from_start(indices[..., i], data.shape[batch + i]))
        shape = indices.shape[:-1] + data.shape[batch + length :]
        result = data[tuple(places)] if places else np.broadcast_to(data, shape)
        sizes = self.joined([Dimension(size) for size in data.shape[:batch]])
        return np.ascontiguousarray(np.broadcast_to(result, shape)).reshape(
            [size.low for size in sizes] + list(shape[batch:])
        )


class GatherND_5(GatherND):
    """Slices of `data` at tuples along the last axis of `indices`. Batch axes become one axis."""

    since = 5

    def joined(self, batch: list[Dimension]) -> list[Dimension]:
        return [prod(batch, start=Dimension(1))] if batch else []


class GatherND_8(GatherND):
    """Slices of `data` at the tuples along the last axis of `indices`."""

    since = 8


class GatherTree(Operation):
    """The sequences of a beam search, each followed backwards from parent to parent."""

    since = 1
    step_ids = operand(NUMERIC, like="step_ids")
    parent_ids = operand(NUMERIC, like="step_ids")
    max_seq_len = operand(NUMERIC, like="step_ids", rank=1)
    end_token = operand(NUMERIC, like="step_ids", rank=0)

    def infer(
        self, step_ids: Tensor, parent_ids: Tensor, max_seq_len: Tensor, end_token: Tensor
    ) -> Tensor:
        result = equal(parent_ids.shape, step_ids.shape, at="parent_ids", of="step_ids")
        rank(result.rank, 3, at="step_ids")
        if result.rank is not None and max_seq_len.rank is not None:
            count, shape = max_seq_len.shape[0], step_ids.shape
            batch = equal(count, result[1], at="max_seq_len", axis=0, of="step_ids", given=shape)
            result = PartialShape((result[0], batch, result[2]))
        element_type = common_type(step_ids, parent_ids, max_seq_len, end_token)
        return Tensor(element_type, result)

    def evaluate(
        self, step_ids: Array, parent_ids: Array, max_seq_len: Array, end_token: Array
    ) -> Array:
        steps, batch, beams = step_ids.shape
        lengths = np.minimum(max_seq_len.astype(np.int64), steps)[:, None]
        result = np.full(step_ids.shape, end_token, step_ids.dtype)
        rows = np.arange(batch)[:, None]
        at = np.broadcast_to(np.arange(beams), (batch, beams))
        for time in reversed(range(steps)):
            inside = np.broadcast_to(time < lengths, (batch, beams))
            result[time] = np.where(inside, step_ids[time][rows, at], result[time])
            at = np.where(inside, parent_ids[time][rows, at].astype(np.int64), at)
        finished = np.zeros((batch, beams), bool)
        for time in range(steps):
            result[time] = np.where(finished, end_token, result[time])
            finished |= result[time] == end_token
        return result
