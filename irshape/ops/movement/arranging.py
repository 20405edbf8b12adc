"""Operations that change the order of elements, e.g. Transpose and Roll."""

from __future__ import annotations

from ...faults import Violation
from ...rule_ids import INPUT_VALUE, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC_SHAPE, PartialShape
from ..axes import divided, normalized_axis, of_length, picked
from ..conditions import between, count, equal, of_type, within
from ..declaration import (
    ANY,
    BOOLEAN_TYPE,
    I32_I64,
    INTEGER,
    NUMERIC,
    Operation,
    at_least,
    attribute,
    operand,
)
from ..kinds import INT, Choice
from ..lazy import Array, np
from ..tensors import Tensor, Value


class Transpose(Operation):
    """The input with its axes in the given `order`; if `order` is empty, in reverse order."""

    since = 1
    decompresses = "exactly"
    data = operand(ANY)
    order = operand(INTEGER, rank=1, value=True)

    def infer(self, data: Tensor, order: Tensor) -> Tensor:
        rank, known = data.rank, order.known
        if rank is not None and order.rank is not None and order.shape[0] != 0:
            count(order.shape[0], rank, at="order", of="data", given=data.shape)
        if rank is None:
            return Tensor(data.element_type, of_length(order) if known else DYNAMIC_SHAPE)
        if known is None:
            return Tensor(data.element_type, PartialShape.of_rank(rank))
        dims = data.shape[:]
        return Tensor(data.element_type, [dims[axis] for axis in self.axes(known, rank)])

    @staticmethod
    def axes(order: tuple[int, ...], rank: int) -> tuple[int, ...]:
        if not order:
            return tuple(range(rank))[::-1]
        if sorted(order) != list(range(rank)):
            raise Violation(
                at="order",
                expected=f"a permutation of 0 to {rank - 1}",
                actual=tuple(order),
                rule=INPUT_VALUE,
            )
        return order

    def infer_value(self, data: Tensor, order: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        sizes, known = data.shape.static, order.known
        if data.value is None or sizes is None or known is None:
            return None
        order_of_axes = self.axes(known, len(sizes))
        return data.value.take(picked(sizes, [range(size) for size in sizes], order_of_axes))

    def evaluate(self, data: Array, order: Array) -> Array:
        return np.transpose(data, self.axes(tuple(order.tolist()), data.ndim))


class Reverse(Operation):
    """The elements in reverse order along the axes that a list or a mask selects."""

    since, until = 1, 1
    moves = ("data",)
    data = operand(ANY)
    axis = operand(INTEGER | BOOLEAN_TYPE, rank=1, value=True)
    mode: str = attribute(Choice("index", "mask"), default="index", required=True)

    def infer(self, data: Tensor, axis: Tensor) -> Tensor:
        masked = self.mode == "mask"
        of_type(axis.element_type, BOOLEAN_TYPE if masked else INTEGER, at="axis")
        if data.rank is None:
            return Tensor(data.element_type, data.shape)
        if masked and axis.rank is not None:
            count(axis.shape[0], data.rank, at="axis", of="data", given=data.shape)
        if not masked:
            # OpenVINO also infers a layer with an axis below -rank, but cannot compute it
            between(axis.known or (), None, data.rank - 1, at="axis")
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axis: Array) -> Array:
        if self.mode == "mask":
            along = np.flatnonzero(axis).tolist()
        else:
            within(axis.tolist(), data.ndim, at="axis")
            along = sorted({int(index) % data.ndim for index in axis})
        return np.flip(data, along) if along else data


class Roll(Operation):
    """The elements shifted along `axes`. Elements beyond the end return at the beginning."""

    since = 7
    moves = ("data",)
    data = operand(ANY)
    shift = operand(I32_I64, rank=(0, 1))
    axes = operand(I32_I64, rank=(0, 1), value=True)

    def infer(self, data: Tensor, shift: Tensor, axes: Tensor) -> Tensor:
        if not (shift.rank != 1 or shift.shape.agrees(axes.shape)):
            raise Violation(
                at="shift", relation="equal", expected=axes.shape, actual=shift.shape, of="axes"
            )
        for axis in axes.known or ():
            if data.rank is not None:
                normalized_axis(axis, data.rank, at="axes", of_scalar=True)
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, shift: Array, axes: Array) -> Array:
        along = axes.ravel().tolist() if data.ndim else []
        by = [int(step) for step in np.broadcast_to(shift.ravel(), len(along))]
        return np.roll(data, by, along) if along else data


class ReverseSequence(Operation):
    """Reverses the first elements along `seq_axis`, for each position of `batch_axis`.

    `seq_lengths` are the numbers of elements to reverse.
    """

    since = 1
    moves = ("data",)
    data = operand(ANY, rank=at_least(2))
    seq_lengths = operand(NUMERIC, specified=INTEGER, rank=1)
    batch_axis: int = attribute(INT, default=0)
    seq_axis: int = attribute(INT, default=1)

    def infer(self, data: Tensor, seq_lengths: Tensor) -> Tensor:
        rank = data.rank
        if rank is None:
            if self.seq_axis < 0:
                raise Violation(
                    at="seq_axis",
                    expected="0 or more, as the rank of `data` is unknown",
                    actual=self.seq_axis,
                )
            return Tensor(data.element_type, data.shape)
        batch = normalized_axis(self.batch_axis, rank, at="batch_axis", rule=OPERATION_CONSTRAINT)
        normalized_axis(self.seq_axis, rank, at="seq_axis", rule=OPERATION_CONSTRAINT)
        if seq_lengths.rank is None:
            return Tensor(data.element_type, data.shape)
        dims = list(data.shape)
        length = seq_lengths.shape[0]
        dims[batch] = equal(
            length, dims[batch], at="seq_lengths", axis=0, of="data", given=data.shape
        )
        return Tensor(data.element_type, dims)

    def evaluate(self, data: Array, seq_lengths: Array) -> Array:
        batch, along = self.batch_axis % data.ndim, self.seq_axis % data.ndim
        place = np.arange(data.shape[along])
        between(seq_lengths.tolist(), 0, data.shape[along], at="seq_lengths")
        lengths = seq_lengths.astype(np.int64)[:, None]
        order = np.where(place < lengths, lengths - 1 - place, place)
        if batch == along:
            others = tuple(axis for axis in range(data.ndim) if axis != along)
            return np.take_along_axis(data, np.expand_dims(np.diagonal(order), others), along)
        shape = [1] * data.ndim
        shape[batch], shape[along] = order.shape
        indices = (order if batch < along else order.T).reshape(shape)
        return np.take_along_axis(data, indices, along)


class ShuffleChannels(Operation):
    """The channels in another order: the first of each group, then the second, and so on."""

    since = 1
    moves = ("data",)
    data = operand(ANY)
    axis: int = attribute(INT, default=1)
    group: int = attribute(INT, default=1, within=at_least(1))

    def infer(self, data: Tensor) -> Tensor:
        if data.rank is not None:
            channels = data.shape[normalized_axis(self.axis, data.rank, rule=OPERATION_CONSTRAINT)]
            if channels.is_static:
                what = f"dimension {self.axis} of `data` {data.shape}"
                divided(channels, self.group, what, "group")
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array) -> Array:
        axis = self.axis % data.ndim
        size = data.shape[axis]
        split = (self.group, size // self.group)
        groups = data.reshape((*data.shape[:axis], *split, *data.shape[axis + 1 :]))
        return np.swapaxes(groups, axis, axis + 1).reshape(data.shape)
