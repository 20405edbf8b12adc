"""OneHot, which turns an index into a row: `on_value` at the index, `off_value` elsewhere."""

from __future__ import annotations

from ...rule_ids import OPERATION_CONSTRAINT
from ...shapes import DYNAMIC_SHAPE, PartialShape
from ..axes import normalized_axis, single_size
from ..conditions import rank
from ..declaration import ANY, BOOLEAN_TYPE, INTEGER, Operation, attribute, operand
from ..kinds import INT, Choice
from ..lazy import Array, np
from ..tensors import Tensor


class OneHot_1(Operation):
    """A tensor with a new axis of size `depth`: `on_value` at the index, `off_value` elsewhere.

    An index out of range sets no `on_value`.
    """

    since = 1
    indices = operand(INTEGER | BOOLEAN_TYPE)
    depth = operand(INTEGER | BOOLEAN_TYPE, value=True)
    on_value = operand(ANY)
    off_value = operand(ANY, like="on_value")
    axis: int = attribute(INT, default=0, required=True)
    negative_indices_mode: str = "ignore_negative"

    def infer(self, indices: Tensor, depth: Tensor, on_value: Tensor, off_value: Tensor) -> Tensor:
        # not declared: OpenVINO does not check a shape that is not static
        for name, tensor in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
            if tensor.shape.is_static:
                rank(tensor.rank, 0, at=name)
        if indices.rank is None:
            return Tensor(on_value.element_type, DYNAMIC_SHAPE)
        axis = normalized_axis(self.axis, indices.rank + 1, of="result", rule=OPERATION_CONSTRAINT)
        dims = (*indices.shape[:axis], single_size(depth, "depth"), *indices.shape[axis:])
        return Tensor(on_value.element_type, PartialShape(dims))

    def evaluate(self, indices: Array, depth: Array, on_value: Array, off_value: Array) -> Array:
        places = int(depth.astype(np.int64).item())
        axis = self.axis % (indices.ndim + 1)
        wanted = indices.astype(np.int64)
        if self.negative_indices_mode == "normalize":
            wanted = np.where(wanted < 0, wanted + places, wanted)
        place = np.arange(places).reshape((places,) + (1,) * (indices.ndim - axis))
        hot = np.expand_dims(wanted, axis) == place
        result = np.full(hot.shape, off_value, dtype=on_value.dtype)
        result[hot] = on_value
        return result


class OneHot_16(OneHot_1):
    """OneHot, where negative indices can count from the end (`negative_indices_mode`)."""

    since = 16
    released = ((16, "2025.4"),)
    negative_indices_mode: str = attribute(
        Choice("ignore_negative", "normalize"), default="ignore_negative"
    )
