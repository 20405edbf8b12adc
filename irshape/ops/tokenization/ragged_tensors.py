"""Operations on ragged tensors: rows of different lengths, given as begins, ends and elements."""

from __future__ import annotations

from ...faults import Violation, require
from ...rule_ids import INPUT_COUNT, INPUT_SHAPES
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from .. import conditions
from ..conditions import of_type, rank
from ..declaration import ANY, INTEGER, at_least, attribute, operand, types
from ..kinds import BOOLEAN, NATURAL
from ..lazy import Array, np
from ..tensors import Tensor
from .base import (
    BOOLEAN_ONE,
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
    """Checks that three inputs, from `first` on, are the begins, ends and elements of a ragged
    tensor. Returns the begins. Raises `Violation` if they are not.
    """
    begins, ends, data = segments[first : first + 3]
    require_types((begins, ends), "begins", "ends")
    rank(data.rank, 1, at="segments")
    return begins


class RaggedTensorPack(TokenizerOperation):
    """Returns the elements of a ragged tensor, without the begins and ends of its rows."""

    introduced = "2023.3"
    begins, ends = i32_operand(), i32_operand()
    data = operand(ANY)

    def infer(self, begins: Tensor, ends: Tensor, data: Tensor) -> Tensor:
        return data

    def evaluate(self, begins: Array, ends: Array, data: Array) -> Array:
        return data


class FuzeRagged(TokenizerOperation):
    """Returns where the first string of each ragged row begins, and where its last string ends."""

    introduced = "2024.1"
    ragged_begins, ragged_ends = i32_operand(), i32_operand()
    begins, ends = i32_operand(), i32_operand()

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
    """Converts a ragged tensor to a matrix. Rows are truncated or padded to one length.

    The second output is true for elements that are not padding.
    """

    introduced = "2023.3"
    begins, ends = i32_operand(), i32_operand()
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
        if not (padding.element_type.is_dynamic or data.element_type.is_dynamic):
            of_type(padding.element_type, data.element_type, at="padding")
        if begins.shape.dims is None or data.shape.dims is None:
            shape = DYNAMIC_SHAPE
        else:
            known = length.known
            size = DYNAMIC if known is None or known[0] < 0 else Dimension(known[0])
            shape = PartialShape((*begins.shape.dims, size, *data.shape.dims[1:]))
        return Tensor(data.element_type, shape), Tensor(BOOLEAN_ONE, shape)

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
    """Returns the row of each element of a ragged tensor, and its position in the row."""

    introduced = "2024.1"
    begins, ends = i32_operand(), i32_operand()

    def infer(self, begins: Tensor, ends: Tensor) -> Tensor:
        fits, shape = begins.shape == ends.shape, ends.shape
        require(fits, at="ends", relation="equal", expected=begins.shape, actual=shape)
        return Tensor(I32, PartialShape([DYNAMIC, 2]))

    def evaluate(self, begins: Array, ends: Array) -> Array:
        spans = zip(begins.ravel().tolist(), ends.ravel().tolist(), strict=True)
        indices = [(row, i) for row, (begin, end) in enumerate(spans) for i in range(end - begin)]
        return np.array(indices, np.int32).reshape(-1, 2)


class RaggedToRagged(TokenizerOperation):
    """Returns where each row of a ragged tensor begins and ends, given the row of each element."""

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
        conditions.at_least(ids, 0, at="row_ids")
        for position, row in enumerate(ids):
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
    """Concatenates several ragged tensors row by row.

    The last input has an id for each ragged tensor. The last three outputs are a ragged tensor of
    ids: for each element, the id of the tensor from which the element comes.
    """

    introduced = "2023.3"
    segments = operand(ANY, variadic=True)

    def infer(self, *segments: Tensor) -> tuple[Tensor, ...]:
        require(
            segments and len(segments) % 3 == 1,
            "CombineSegments takes 3 inputs for each ragged tensor, and 1 with their ids; got "
            f"{len(segments)}",
            expected="3n + 1",
            actual=len(segments),
            rule=INPUT_COUNT,
        )
        shape = DYNAMIC_SHAPE
        for first in range(0, len(segments) - 1, 3):
            begins = _require_segment(segments, first)
            if begins.rank:
                shape = conditions.equal(begins.shape, shape, at="segments")
        return *ragged_outputs(shape, I32), *ragged_outputs(shape, segments[-1].element_type)

    def evaluate(self, *segments: Array) -> tuple[Array, ...]:
        parts = [segments[first : first + 3] for first in range(0, len(segments) - 1, 3)]
        count = max(begins.size for begins, _, _ in parts)
        shape = next((begins.shape for begins, _, _ in reversed(parts) if begins.ndim), (count,))
        elements = [parts[0][2][:0]]
        sizes = np.zeros((count, len(parts)), np.int32)
        for row in range(count):
            for index, (begins, ends, data) in enumerate(parts):
                at = 0 if begins.size == 1 else row
                elements.append(data[int(begins.ravel()[at]) : int(ends.ravel()[at])])
                sizes[row, index] = len(elements[-1])
        lengths = sizes.sum(axis=1, dtype=np.int32)
        stops = np.cumsum(lengths, dtype=np.int32)
        spans = (stops - lengths).reshape(shape), stops.reshape(shape)
        numbers = np.repeat(np.tile(segments[-1].ravel(), count), sizes.ravel())
        return *spans, np.concatenate(elements), *spans, numbers


class Truncate(TokenizerOperation):
    """Truncates the rows of one ragged tensor to a length, or of two to a total length.

    After the ragged tensors come the length, the side (`left` or `right`) and optionally the mode
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
        """Returns the number of ragged tensors, 1 or 2. An i32 scalar, the length, follows them."""
        for count in (1, 2):
            length = inputs[3 * count] if len(inputs) > 3 * count else None
            if length is not None and length.element_type is I32 and length.rank == 0:
                return count
        raise Violation(
            "Truncate takes one ragged tensor or two, then the length, an i32 scalar",
            at="segments",
            expected="an i32 scalar, the length, as input 3 or 6",
            rule=INPUT_SHAPES,
        )

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
        kept = [np.minimum(lengths[0], length)]
        if count == 2:
            kept = _cut(lengths[0], lengths[1], length, mode)
        outputs: list[Array] = []
        for index, size in enumerate(kept):
            begins, ends, data = segments[3 * index : 3 * index + 3]
            right = side == "right"
            begins, ends = (begins, begins + size) if right else (ends - size, ends)
            outputs += [begins.astype(np.int32), ends.astype(np.int32), data]
        return tuple(outputs)


def _cut(first: Array, second: Array, length: int, mode: str) -> list[Array]:
    """Returns the lengths of the rows of two ragged tensors after truncation."""
    if mode == "only_first":
        kept = np.minimum(first, length), second
    elif mode == "only_second":
        kept = first, np.minimum(second, length)
    else:
        half, odd = length // 2, length % 2
        cuts = [(first >= half + odd) & (second <= half), (first < half + odd) & (second > half)]
        halves = half + odd * (first >= second), half + odd * (first < second)
        kept = (
            np.select(cuts, [length - second, first], halves[0]),
            np.select(cuts, [second, length - first], halves[1]),
        )
    fits = first + second <= length
    return [np.where(fits, first, kept[0]), np.where(fits, second, kept[1])]
