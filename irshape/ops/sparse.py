"""Operations on segments of rows and on sparse tensors: SegmentMax and SparseFillEmptyRows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..element_types import ElementType
from ..faults import Between, Fault, fault
from ..shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from .conditions import ascending, between, equal
from .conversion import plain
from .declaration import ANY, I32_I64, Operation, attribute, operand
from .elementwise import computed
from .kinds import Choice
from .lazy import Array, element_type_of, np
from .movement.broadcasting import wanted_dimensions
from .tensors import Tensor


class SegmentMax(Operation):
    """The elementwise maximum of the rows of `data` in each segment."""

    since = 16
    released = ((16, "2025.1"),)
    data = operand(ANY, shape=("rows", ...))
    segment_ids = operand(I32_I64, shape=("rows",), value=True)
    num_segments = operand(I32_I64, rank=0, value=True, optional=True)
    fill_mode: str = attribute(Choice("ZERO", "LOWEST"), default="ZERO", required=True)

    def infer(self, data: Tensor, segment_ids: Tensor, num_segments: Tensor | None) -> Tensor:
        known = segment_ids.known
        ascending(known or (), at="segment_ids")
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        count = DYNAMIC
        if num_segments is not None:
            (count,) = wanted_dimensions(num_segments) or [DYNAMIC]
        elif known is not None:
            count = Dimension(max(max(known, default=-1) + 1, 0))
        return Tensor(data.element_type, PartialShape([count, *data.shape[1:]]))

    def check(
        self, data: Tensor, segment_ids: Tensor, num_segments: Tensor | None
    ) -> Iterator[Fault]:
        for name, tensor in (("segment_ids", segment_ids), ("num_segments", num_segments)):
            known = None if tensor is None else tensor.known
            if known and min(known) < (-1 if name == "num_segments" else 0):
                yield fault(
                    at=name, relation="at least", expected=Between(0, None), actual=min(known)
                )

    def evaluate(self, data: Array, segment_ids: Array, num_segments: Array | None) -> Array:
        count = (
            int(num_segments.item())
            if num_segments is not None
            else int(segment_ids.max(initial=-1)) + 1
        )
        keep = segment_ids < count
        ids, rows = segment_ids[keep].astype(np.int64), data[keep]
        starts = np.flatnonzero(np.diff(ids, prepend=-1))
        result = np.full((max(count, 0), *data.shape[1:]), self.filling(data), data.dtype)
        if len(ids):
            result[ids[starts]] = computed(np.maximum.reduceat(plain(rows), starts, axis=0), data)
        return result

    def filling(self, data: Array) -> Any:
        """Returns the value that fills the result for segments without rows."""
        element_type = element_type_of(data)
        if self.fill_mode == "ZERO":
            return 0
        if not element_type.is_real:
            return element_type.limits[0]
        import ml_dtypes

        limits: Any = ml_dtypes.finfo
        return limits(data.dtype).min


class SparseFillEmptyRows(Operation):
    """Adds one element, `default_value`, to each empty row of a sparse matrix."""

    since = 16
    released = ((16, "2025.2"),)
    values = operand(ANY, rank=1)
    dense_shape = operand(I32_I64, shape=(2,), value=True)
    indices = operand(I32_I64, rank=2, like="dense_shape", value=True)
    default_value = operand(ANY, rank=0)

    def infer(
        self, values: Tensor, dense_shape: Tensor, indices: Tensor, default_value: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        if indices.rank is not None:
            places = PartialShape(
                [values.shape[0] if values.rank and dense_shape.rank else DYNAMIC, 2]
            )  # OpenVINO compares the sizes only if it knows both ranks
            equal(indices.shape, places, at="indices")
        rows, _ = wanted_dimensions(dense_shape) or (DYNAMIC, DYNAMIC)
        filled = self.filled(rows, dense_shape, indices)
        return (
            Tensor(indices.element_type, PartialShape([filled, 2])),
            Tensor(values.element_type, PartialShape([filled])),
            Tensor(ElementType.of("boolean"), PartialShape([rows])),
        )

    def filled(self, rows: Dimension, dense_shape: Tensor, indices: Tensor) -> Dimension:
        """Returns the number of elements after empty rows are filled; `?` if it is unknown."""
        sizes, known = dense_shape.known, indices.known
        if sizes is None or known is None:
            return DYNAMIC
        for size, numbers in ((sizes[0], known[::2]), (sizes[1], known[1::2])):
            between(numbers, 0, size - 1, at="indices")
        return Dimension(len(known) // 2 + rows.low - len(set(known[::2])))

    def evaluate(
        self, values: Array, dense_shape: Array, indices: Array, default_value: Array
    ) -> tuple[Array, Array, Array]:
        rows = int(dense_shape[0])
        empty = np.ones(rows, bool)
        empty[indices[:, 0]] = False
        added = np.stack(
            [np.flatnonzero(empty), np.zeros(int(empty.sum()), np.int64)], axis=1
        ).astype(indices.dtype)
        places = np.concatenate([indices, added])
        filling = np.empty(len(added), values.dtype)
        filling[:] = default_value
        elements = np.concatenate([values, filling])
        order = np.lexsort((places[:, 1], places[:, 0]))
        return places[order], elements[order], empty
