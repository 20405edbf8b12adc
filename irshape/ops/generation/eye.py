"""Eye: matrices with ones on a diagonal and zeros elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from ...element_types import DYNAMIC_TYPE, ElementType
from ...faults import Fault
from ...shapes import DYNAMIC_SHAPE, PartialShape
from ..axes import require_single, single_size
from ..declaration import I32_I64, Operation, attribute, operand
from ..kinds import TYPE_NAME
from ..lazy import Array, dtype_of, np
from ..movement.broadcasting import negative_sizes, wanted_shape
from ..tensors import Tensor


class Eye(Operation):
    """Matrices with ones on a diagonal and zeros elsewhere."""

    since = 9
    num_rows = operand(I32_I64, known_type=True, value=True)
    num_columns = operand(I32_I64, known_type=True, value=True)
    diagonal_index = operand(I32_I64, known_type=True)
    batch_shape = operand(I32_I64, known_type=True, rank=1, value=True, optional=True)
    output_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def infer(
        self,
        num_rows: Tensor,
        num_columns: Tensor,
        diagonal_index: Tensor,
        batch_shape: Tensor | None,
    ) -> Tensor:
        scalars = (num_rows, num_columns, diagonal_index)
        for declared, tensor in zip(self.operands, scalars, strict=False):
            if tensor.shape.is_static:
                require_single(tensor, declared.name)
        dims = [single_size(num_rows, "num_rows"), single_size(num_columns, "num_columns")]
        batch = PartialShape(()) if batch_shape is None else wanted_shape(batch_shape)
        return Tensor(
            self.output_type,
            DYNAMIC_SHAPE if batch.dims is None else PartialShape((*batch.dims, *dims)),
        )

    def check(self, *inputs: Tensor | None) -> Iterator[Fault]:
        return iter(()) if inputs[3] is None else negative_sizes(inputs[3], "batch_shape")

    def evaluate(
        self, num_rows: Array, num_columns: Array, diagonal_index: Array, batch_shape: Array | None
    ) -> Array:
        matrix = np.eye(
            int(num_rows.item()), int(num_columns.item()), int(diagonal_index.item())
        ).astype(dtype_of(self.output_type))
        batch = () if batch_shape is None else tuple(batch_shape.tolist())
        return np.broadcast_to(matrix, batch + matrix.shape).copy()
