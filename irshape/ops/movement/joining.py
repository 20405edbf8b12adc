"""Concat, Split and VariadicSplit, which concatenate and split tensors along an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ...faults import Fault, Violation, fault
from ...rule_ids import INPUT_VALUE, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, ONE, UNBOUNDED, Dimension, PartialShape, merged_dims
from ..axes import normalized_axis, picked, require_single, single
from ..conditions import at_least
from ..declaration import ANY, INTEGER, NUMERIC, Operation, attribute, between, operand
from ..elementwise import common_type
from ..kinds import INT
from ..lazy import Array, np
from ..tensors import UNKNOWN, Tensor, Value

MAX_OUTPUTS = 1 << 20
"""The largest number of outputs: more are an error of Split, and unknown in VariadicSplit."""


class Concat(Operation):
    """The inputs concatenated along `axis`."""

    since = 1
    inputs = operand(ANY, like="inputs", variadic=True)
    axis: int = attribute(INT, default=0, required=True)

    def infer(self, *inputs: Tensor) -> Tensor:
        result: list[Dimension] | None = None
        length = Dimension(0)
        before: tuple[int, ...] | None = None
        for index, tensor in enumerate(inputs):
            dims, sizes = tensor.shape.dims, tensor.shape.declared
            if dims is None:
                length = length + DYNAMIC
                continue
            axis = normalized_axis(
                self.axis, len(dims), of=f"inputs[{index}]", rule=OPERATION_CONSTRAINT
            )
            length = length + dims[axis]
            besides = sizes[:axis] + sizes[axis + 1 :]
            if besides == before and -1 not in before:
                continue  # the sizes of the input before it
            before = besides
            own = [*dims[:axis], ONE, *dims[axis + 1 :]]  # with 1 in place of the size of the axis
            merged = own if result is None else merged_dims(result, own)
            if merged is None:
                others = PartialShape(result)
                others = _with(others, self.axis, DYNAMIC)  # `self.axis`, as the ranks may differ
                raise Violation(
                    f"input {index} has shape {tensor.shape}, which does not fit the shape "
                    f"{others} of the inputs before it: all dimensions except axis {axis} must be "
                    "equal",
                    at="inputs",
                    relation="equal",
                    expected=others,
                    actual=tensor.shape,
                )
            result = merged
        if result is None:
            return Tensor(common_type(*inputs), DYNAMIC_SHAPE)
        result[self.axis] = length
        return Tensor(common_type(*inputs), PartialShape(result))

    def infer_value(self, *inputs: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        sizes = outputs[0].shape.static
        if sizes is None or all(tensor.value is None for tensor in inputs):
            return None
        values: list[Value] = []
        for tensor in inputs:
            static = tensor.shape.static
            if static is None or (tensor.value is None and not tensor.element_type.is_integer):
                return None
            values.append(tensor.value or Value.unknown(prod(static)))
        before = prod(sizes[: self.axis % len(sizes)])
        if before == 1:
            return Value.joined(values)
        rows = [len(value) // before if before else 0 for value in values]
        return Value.joined(
            value.take(range(row * i, row * (i + 1)))
            for i in range(before)
            for value, row in zip(values, rows, strict=True)
        )

    def evaluate(self, *inputs: Array) -> Array:
        return np.concatenate(inputs, axis=self.axis).view(inputs[0].dtype)


def _named_parts(length: Dimension, lengths: Tensor, count: int) -> list[Dimension]:
    """Returns the lengths of parts as numbers or expressions, e.g. `batch`; dynamic if unknown."""
    value = lengths.value
    if value is None or not lengths.known_by_name:
        return [DYNAMIC] * count
    rest = [at for at in range(count) if value.lower[at] == value.upper[at] == -1]
    sizes = [value.dimension(at) or DYNAMIC for at in range(count)]
    parts = [size if size.symbolic or size.is_static else DYNAMIC for size in sizes]
    if len(rest) == 1 and all(
        p.symbolic or p.is_static for i, p in enumerate(parts) if i not in rest
    ):
        parts[rest[0]] = length
        for at, part in enumerate(sizes):
            if at not in rest:
                parts[rest[0]] -= part
    return parts


def _with(shape: PartialShape, axis: int, dim: Dimension) -> PartialShape:
    """Returns the shape with the dimension at `axis` replaced by `dim`."""
    if shape.dims is None:
        return shape
    dims = list(shape.dims)
    dims[axis] = dim
    return PartialShape(dims)


class Splitting(Operation):
    """The base class of Split and VariadicSplit. Outputs are consecutive parts along an axis."""

    data = operand(ANY)

    def infer_value(
        self, data: Tensor, axis: Tensor, *lengths: Tensor, outputs: tuple[Tensor, ...]
    ) -> tuple[Value | None, ...]:
        sizes, along = data.shape.static, single(axis)
        if (
            data.value is None
            or along is None
            or not sizes
            or any(output.shape.static is None for output in outputs)
            or sum(output.shape[along].low for output in outputs) > sizes[along]
        ):
            return (None,) * len(outputs)
        choices: list[Sequence[int]] = [range(size) for size in sizes]
        values, start = [], 0
        for output in outputs:
            end = start + output.shape[along].low
            choices[along] = range(start, end)
            values.append(data.value.take(picked(sizes, choices)))
            start = end
        return tuple(values)


class Split(Splitting):
    """`num_splits` parts of equal length along `axis`."""

    since = 1
    axis = operand(INTEGER, rank=0, value=True)
    num_splits: int = attribute(INT, within=between(1, MAX_OUTPUTS))

    def infer(self, data: Tensor, axis: Tensor) -> tuple[Tensor, ...]:
        count = self.num_splits
        index, rank = single(axis), data.rank
        if rank is None or index is None:
            return (Tensor(data.element_type, PartialShape.of_rank(rank)),) * count
        index = normalized_axis(index, rank)
        length = data.shape[index]
        if length.low % count if length.is_static else 0 < length.low <= length.high < count:
            raise Violation(
                at="num_splits",
                expected=f"a divisor of {length}",
                actual=count,
                of="data",
                given=data.shape,
            )
        part = length.multiple_of(count) // count
        return (Tensor(data.element_type, _with(data.shape, index, part)),) * count

    def evaluate(self, data: Array, axis: Array) -> tuple[Array, ...]:
        return tuple(np.split(data, self.num_splits, axis=int(axis)))


class VariadicSplit(Splitting):
    """Parts of the given lengths along `axis`. A length of -1 means the rest of the axis."""

    since = 1
    axis = operand(NUMERIC, specified=INTEGER, value=True)
    split_lengths = operand(NUMERIC, specified=INTEGER, rank=1, value=True)

    def infer(self, data: Tensor, axis: Tensor, split_lengths: Tensor) -> tuple[Tensor, ...]:
        require_single(axis)
        count = split_lengths.shape[0] if split_lengths.rank is not None else DYNAMIC
        if count.is_dynamic or count.low > MAX_OUTPUTS:
            return (UNKNOWN,)  # OpenVINO continues with one output of unknown type and shape
        rank, index = data.rank, single(axis)
        if rank is None or index is None:
            return (Tensor(data.element_type, PartialShape.of_rank(rank)),) * count.low
        index = normalized_axis(index, rank)
        return tuple(
            Tensor(data.element_type, _with(data.shape, index, part))
            for part in self.parts(data.shape[index], split_lengths, count.low)
        )

    def parts(self, length: Dimension, split_lengths: Tensor, count: int) -> list[Dimension]:
        """Returns the lengths of the parts. Raises `Violation` if they do not fill the axis."""
        known = split_lengths.known
        if known is None:
            return _named_parts(length, split_lengths, count)
        at_least(known, -1, at="split_lengths")
        if known.count(-1) > 1:
            raise Violation(
                at="split_lengths", expected="one -1 at most", actual=known, rule=INPUT_VALUE
            )
        total = sum(part for part in known if part != -1)
        if not (
            -1 in known
            or total == length.low
            or (length.is_dynamic and not length.contains(total))  # the check reports it
            or (length.is_dynamic and length.agrees(Dimension.of(total)))
        ):
            raise Violation(
                at="split_lengths",
                relation="sum",
                expected=length,
                actual=tuple(part for part in known if part != -1),
            )
        rest = (
            Dimension(max(length.low - total, 0))
            if length.is_static
            else length.followed(DYNAMIC, lambda size: (size - total).maximum(0))
        )
        return [rest if part == -1 else Dimension(min(part, UNBOUNDED)) for part in known]

    def check(self, data: Tensor, axis: Tensor, split_lengths: Tensor) -> Iterator[Fault]:
        index, known = single(axis), split_lengths.known
        if index is None or known is None or data.rank is None:
            return
        length, total = data.shape[index], sum(part for part in known if part != -1)
        if total > length.high or (-1 not in known and total < length.low):
            yield fault(
                at="split_lengths",
                relation="sum",
                expected=length,
                actual=tuple(part for part in known if part != -1),
                accepted=True,
            )

    def evaluate(self, data: Array, axis: Array, split_lengths: Array) -> tuple[Array, ...]:
        index = int(axis.ravel()[0])
        lengths = [int(length) for length in split_lengths]
        rest = data.shape[index] - sum(lengths) - (-1 in lengths)
        if rest < 0 or (rest and -1 not in lengths):
            raise ValueError(f"axis {index} of `data` cannot be split into parts of {lengths}")
        if -1 in lengths:
            lengths[lengths.index(-1)] = rest
        ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
        return tuple(np.split(data, ends[:-1], axis=index))
