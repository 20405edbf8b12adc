"""Operations on ragged tensors: rows of different lengths, as begins, ends and elements."""

from __future__ import annotations

from typing import Any

from ...faults import require
from ...rule_ids import INPUT_COUNT, INPUT_SHAPES, INPUT_VALUE
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from .. import conditions
from ..conditions import rank
from ..declaration import ANY, INTEGER, at_least, attribute, operand, types
from ..kinds import BOOLEAN, NATURAL
from ..lazy import Array, np
from ..tensors import Tensor
from .base import (
    BOOLEAN as BOOLEAN_TYPE,
)
from .base import (
    I32,
    ONE_AXIS,
    TokenizerOperation,
    i32_operand,
    ragged_outputs,
    require_bytes,
    require_count,
    require_types,
)


def _require_segment(segments: tuple[Tensor, ...], first: int) -> Tensor:
    """Returns the begins of the ragged tensor in three inputs from `first`. Raises `Violation`."""
    begins, ends, data = segments[first : first + 3]
    require_types((begins, ends), "begins", "ends")
    rank(data.rank, 1, at="segments")
    return begins


class RaggedTensorPack(TokenizerOperation):
    """The elements of a ragged tensor, without its rows."""

    introduced = "2023.3"
    begins = i32_operand()
    ends = i32_operand()
    data = operand(ANY)

    def infer(self, begins: Tensor, ends: Tensor, data: Tensor) -> Tensor:
        return data

    def evaluate(self, begins: Array, ends: Array, data: Array) -> Array:
        return data


class FuzeRagged(TokenizerOperation):
    """One string for each row of a ragged string tensor, from its first string to its last."""

    introduced = "2024.1"
    ragged_begins = i32_operand()
    ragged_ends = i32_operand()
    begins = i32_operand()
    ends = i32_operand()

    def infer(
        self, ragged_begins: Tensor, ragged_ends: Tensor, begins: Tensor, ends: Tensor
    ) -> tuple[Tensor, Tensor]:
        results = Tensor(I32, ragged_begins.shape)
        return results, results

    def evaluate(
        self, ragged_begins: Array, ragged_ends: Array, begins: Array, ends: Array
    ) -> tuple[Array, Array]:
        last = np.where(ragged_ends > ragged_begins, ragged_ends - 1, ragged_ends)
        return begins.ravel()[ragged_begins], ends.ravel()[last]


class RaggedToDense(TokenizerOperation):
    """A ragged tensor as a matrix. Rows are truncated or padded to one length. The second result
    tells which elements are not padding.
    """

    introduced = "2023.3"
    begins = i32_operand()
    ends = i32_operand()
    data = operand(ANY, rank=at_least(1))
    length = operand(INTEGER, single=True, value=True)
    padding = operand(ANY, rank=0)
    pad_right_input = operand(ANY, rank=0, optional=True)
    pad_right: bool = attribute(BOOLEAN, default=True)
    pad_max_length: bool = attribute(BOOLEAN, default=False, name="m_pad_max_length")

    def infer(
        self,
        begins: Tensor,
        ends: Tensor,
        data: Tensor,
        length: Tensor,
        padding: Tensor,
        pad_right_input: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        dynamic = padding.element_type.is_dynamic or data.element_type.is_dynamic
        require(
            dynamic or padding.element_type is data.element_type,
            at="padding",
            relation="type",
            expected=data.element_type,
            actual=padding.element_type,
        )
        if begins.shape.dims is None or data.shape.dims is None:
            shape = DYNAMIC_SHAPE
        else:
            known = length.known
            size = DYNAMIC if known is None or known[0] < 0 else Dimension(known[0])
            shape = PartialShape((*begins.shape.dims, size, *data.shape.dims[1:]))
        return Tensor(data.element_type, shape), Tensor(BOOLEAN_TYPE, shape)

    def evaluate(
        self,
        begins: Array,
        ends: Array,
        data: Array,
        length: Array,
        padding: Array,
        pad_right_input: Array | None,
    ) -> tuple[Array, Array]:
        size = int(length.ravel()[0])
        right = self.pad_right if pad_right_input is None else bool(pad_right_input.ravel()[0])
        shape = (begins.size, size, *data.shape[1:])
        dense = np.full(shape, padding.ravel()[0], data.dtype)
        mask = np.zeros(shape, np.bool_)
        spans = zip(begins.ravel().tolist(), ends.ravel().tolist(), strict=True)
        for row, (begin, end) in enumerate(spans):
            count = size if self.pad_max_length else min(end - begin, size)
            where = slice(0, count) if right else slice(size - count, size)
            dense[row, where] = data[begin : begin + count]
            mask[row, where] = True
        shape = (*begins.shape, size, *data.shape[1:])
        return dense.reshape(shape), mask.reshape(shape)


class RaggedToSparse(TokenizerOperation):
    """The indices of the elements of a ragged tensor: the row, and the position in the row."""

    introduced = "2024.1"
    begins = i32_operand()
    ends = i32_operand()

    def infer(self, begins: Tensor, ends: Tensor) -> Tensor:
        require(
            begins.shape == ends.shape,
            at="ends",
            relation="equal",
            expected=begins.shape,
            actual=ends.shape,
        )
        return Tensor(I32, PartialShape([DYNAMIC, 2]))

    def evaluate(self, begins: Array, ends: Array) -> Array:
        spans = zip(begins.ravel().tolist(), ends.ravel().tolist(), strict=True)
        indices = [(row, i) for row, (begin, end) in enumerate(spans) for i in range(end - begin)]
        return np.array(indices, np.int32).reshape(-1, 2)


class RaggedToRagged(TokenizerOperation):
    """The begin and the end of each row of a ragged tensor, from the row of each element."""

    introduced = "2024.1"
    row_ids = i32_operand()
    count = operand(types("i32"), known_type=True, value=True)

    def infer(self, row_ids: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        known = count.known
        shape = PartialShape([known[0]]) if known and known[0] >= 0 else ONE_AXIS
        return Tensor(I32, shape), Tensor(I32, shape)

    def evaluate(self, row_ids: Array, count: Array) -> tuple[Array, Array]:
        rows = int(count.ravel()[0])
        begins, ends = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
        began, current = 0, -1
        ids = row_ids.ravel().tolist()
        for position, row in enumerate(ids):
            require(
                row >= 0,
                f"`row_ids` contains the negative row {row}",
                at="row_ids",
                rule=INPUT_VALUE,
            )
            if row >= rows:
                break
            if row != current:
                if current != -1:
                    begins[current], ends[current] = began, position
                begins[current + 1 : row] = ends[current + 1 : row] = position
                began, current = position, row
            if position + 1 == len(ids):
                begins[row], ends[row] = began, len(ids)
                began = len(ids)
        begins[max(current + 1, 0) :] = ends[max(current + 1, 0) :] = began
        return begins, ends


class CombineSegments(TokenizerOperation):
    """Several ragged tensors concatenated row by row. The last three results give the number of the
    tensor of each element, from the last input.
    """

    introduced = "2023.3"
    segments = operand(ANY, variadic=True)

    def infer(self, *segments: Tensor) -> tuple[Tensor, ...]:
        require(
            segments and len(segments) % 3 == 1,
            f"CombineSegments takes three inputs for each ragged tensor, and a last input with "
            f"their numbers; got {len(segments)}",
            expected="3n + 1",
            actual=len(segments),
            rule=INPUT_COUNT,
        )
        shape = DYNAMIC_SHAPE
        for first in range(0, len(segments) - 1, 3):
            begins = _require_segment(segments, first)
            if begins.rank:
                shape = conditions.merged(begins.shape, shape, at="segments")
        return (
            *ragged_outputs(shape, I32),
            *ragged_outputs(shape, segments[-1].element_type),
        )

    def evaluate(self, *segments: Array) -> tuple[Array, ...]:
        parts = [segments[first : first + 3] for first in range(0, len(segments) - 1, 3)]
        count = max(begins.size for begins, _, _ in parts)
        shape = next((begins.shape for begins, _, _ in reversed(parts) if begins.ndim), (count,))
        elements: list[Any] = [parts[0][2][:0]]
        numbers: list[Any] = [segments[-1].ravel()[:0]]
        ends_of_rows: list[int] = []
        total = 0
        for row in range(count):
            for (begins, ends, data), number in zip(parts, segments[-1].ravel(), strict=True):
                at = 0 if begins.size == 1 else row
                piece = data[int(begins.ravel()[at]) : int(ends.ravel()[at])]
                elements.append(piece)
                numbers.append(np.full(len(piece), number, segments[-1].dtype))
                total += len(piece)
            ends_of_rows.append(total)
        ends_array = np.array(ends_of_rows, np.int32).reshape(shape)
        begins_array = np.array([0, *ends_of_rows[:-1]], np.int32)[:count].reshape(shape)
        first = begins_array, ends_array, np.concatenate(elements)
        return (*first, begins_array, ends_array, np.concatenate(numbers))


class Truncate(TokenizerOperation):
    """One or two ragged tensors, truncated to a length. For two, it is their total length.

    Inputs after the ragged tensors: the length, the side (`left` or `right`) and the mode
    (`only_first`, `only_second` or `longest_first`).
    """

    introduced = "2025.2"
    segments = operand(ANY, variadic=True)
    m_num_inputs: int = attribute(NATURAL, default=0)

    def infer(self, *segments: Tensor) -> tuple[Tensor, ...]:
        count = self._segments(segments)
        outputs: list[Tensor] = []
        for first in range(0, 3 * count, 3):
            begins = _require_segment(segments, first)
            outputs += ragged_outputs(begins.shape, begins.element_type)
        require_count(self, len(segments), 3 * count + 2, 3 * count + 3)
        for position in range(3 * count + 1, len(segments)):
            require_bytes("segments", segments[position])
        return tuple(outputs)

    def _segments(self, inputs: tuple[Tensor, ...]) -> int:
        """Returns the number of ragged tensors, which the length, an i32 scalar, follows."""
        for count in (1, 2):
            if len(inputs) > 3 * count:
                length = inputs[3 * count]
                if length.element_type is I32 and length.rank == 0:
                    return count
        require(
            False,
            "Truncate takes one ragged tensor or two (begins, ends, data), then the length, an "
            "i32 scalar",
            at="segments",
            expected="an i32 scalar as input 3 or 6",
            rule=INPUT_SHAPES,
        )
        return 0

    def evaluate(self, *segments: Array) -> tuple[Array, ...]:
        count = 2 if len(segments) > 7 else 1
        length = int(segments[3 * count].ravel()[0])
        side = segments[3 * count + 1].tobytes().decode("latin-1")
        mode = segments[-1].tobytes().decode("latin-1")
        require(side in ("left", "right"), f"there is no truncation side '{side}'", at="segments")
        modes = ("only_first", "only_second", "longest_first")
        if len(segments) > 3 * count + 2:
            require(mode in modes, f"there is no truncation mode '{mode}'", at="segments")
        lengths = [segments[first + 1] - segments[first] for first in range(0, 3 * count, 3)]
        if count == 1:
            kept = [np.minimum(lengths[0], length)]
        else:
            kept = self._pair(lengths[0], lengths[1], length, mode)
        outputs: list[Array] = []
        for index, size in enumerate(kept):
            begins, ends, data = segments[3 * index : 3 * index + 3]
            right = side == "right"
            outputs += [
                begins if right else (ends - size).astype(np.int32),
                (begins + size).astype(np.int32) if right else ends,
                data,
            ]
        return tuple(outputs)

    def _pair(self, first: Array, second: Array, length: int, mode: str) -> list[Array]:
        """Returns the lengths to which two ragged tensors are truncated."""
        too_long = first + second > length
        if mode == "only_first":
            return [np.where(too_long, np.minimum(first, length), first), second]
        if mode == "only_second":
            return [first, np.where(too_long, np.minimum(second, length), second)]
        half, odd = length // 2, length % 2
        cut_first = (first >= half + odd) & (second <= half)
        cut_second = (first < half + odd) & (second > half)
        both = ~cut_first & ~cut_second
        kept_first = np.where(cut_first, length - second, first)
        kept_second = np.where(cut_second, length - first, second)
        kept_first = np.where(both, half + odd * (first >= second), kept_first)
        kept_second = np.where(both, half + odd * (first < second), kept_second)
        return [
            np.where(too_long, kept_first, first),
            np.where(too_long, kept_second, second),
        ]
