"""Convolutions whose sampling points are moved by offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...rule_ids import INPUT_SHAPES
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..axes import divided
from ..conditions import equal
from ..conversion import narrowed, widened
from ..declaration import NUMERIC, at_least, attribute, operand
from ..elementwise import common_type
from ..kinds import BOOLEAN, INT
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import Frame, check_per_axis
from .base import Sliding, window_size


class DeformableConvolution_1(Sliding):
    """Two-dimensional convolution. `offsets` move each sampling point along both axes.

    Points outside `data` have the value 0.
    """

    since = 1
    data = operand(NUMERIC, shape=("batch", "channels", "height", "width"))
    offsets = operand(NUMERIC, shape=("batch", "?", "?", "?"), like="data")
    filters = operand(NUMERIC, rank=4, like="data")
    group: int = attribute(INT, within=at_least(1))
    deformable_group: int = attribute(INT, within=at_least(1))
    bilinear_interpolation_pad: bool = False

    def infer(
        self, data: Tensor, offsets: Tensor, filters: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        element_type = common_type(data, offsets, filters)
        if data.rank is None and offsets.rank is None and filters.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        check_per_axis(self, 2)
        self.check_groups(data.shape, filters.shape)
        batch = self.dimensions(data, offsets).get("batch", DYNAMIC)
        channels = DYNAMIC if filters.rank is None else filters.shape[0]
        spatial = self.slid(data.shape, filters.shape, 2)
        if offsets.rank is not None:
            self.check_moves("offsets", offsets.shape, 2, filters.shape, spatial)
        if mask is not None and mask.rank is not None:
            self.check_moves("mask", mask.shape, 1, filters.shape, spatial)
        return Tensor(element_type, (batch, channels, *spatial))

    def multiply_adds(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Dimension:
        """Returns the multiply-adds of the convolution, without those that compute the samples."""
        return outputs[0].shape.size * window_size(inputs[2].shape, 1)

    def check_groups(self, data: PartialShape, filters: PartialShape) -> None:
        group = self.group
        for name, shape, axis in (("data", data, 1), ("filters", filters, 0)):
            if shape.rank is not None:
                _require_groups(name, shape, axis, group)
        if data.rank is not None and filters.rank is not None:
            equal(data[1], filters[1] * group, at="data", axis=1, of="filters", given=filters)

    def check_moves(
        self,
        name: str,
        shape: PartialShape,
        each: int,
        filters: PartialShape,
        spatial: Sequence[Dimension],
    ) -> None:
        """Raises `Violation` unless the shape of `offsets` or `mask` fits `filters` and the result.

        each: the number of channels for each kernel position: 2 for `offsets`, 1 for `mask`.
        """
        groups = self.deformable_group
        if filters.rank is not None:
            wanted = filters[2] * filters[3] * (each * groups)
            equal(shape[1], wanted, at=name, axis=1, of="filters", given=filters)
        _require_groups(name, shape, 1, groups)
        equal(shape, PartialShape((*shape[:2], *spatial)), at=name)

    def evaluate(
        self, data: Array, offsets: Array, filters: Array, mask: Array | None = None
    ) -> Array:
        numbers, weights = widened(data), widened(filters)
        batch, channels, groups = data.shape[0], data.shape[1], self.deformable_group
        frame = self.frame(data.shape[2:], filters.shape[2:])
        steps = frame.steps(data.shape[2:])
        if not all(steps) or not numbers.size or not weights.size:
            return np.zeros((batch, filters.shape[0], *steps), data.dtype)
        real = np.float64 if numbers.dtype == np.float64 else np.float32
        moves = widened(offsets).astype(real, copy=False).reshape(batch, groups, -1, 2, *steps)
        points = [_grid(frame, steps, axis) + moves[:, :, :, axis] for axis in (0, 1)]
        sampled = self.sampled(
            numbers.reshape(batch, groups, channels // groups, -1), points, data.shape[2:]
        )
        if mask is not None:
            sampled = sampled * widened(mask).reshape(batch, groups, 1, *sampled.shape[3:])
        columns = sampled.reshape(batch, self.group, -1, steps[0] * steps[1])
        matrices = weights.reshape(self.group, filters.shape[0] // self.group, -1)
        result = np.matmul(matrices, columns.astype(weights.dtype, copy=False))
        return narrowed(result.reshape(batch, filters.shape[0], *steps), data)

    def sampled(self, data: Array, points: list[Array], sizes: tuple[int, ...]) -> Array:
        """Returns bilinear samples of `data` at `points`.

        `data` is `[N, groups, C, H·W]`, each array of points `[N, groups, kernel, …]`, and the
        result `[N, groups, C, kernel, …]`. Samples outside the data are 0.
        """
        pads = self.bilinear_interpolation_pad
        inside: Any = True
        corners: list[list[tuple[Array, Array, Any]]] = []
        for point, size in zip(points, sizes, strict=True):
            inside = inside & ((point > -1) if pads else (point >= 0)) & (point < size)
            low = np.floor(point)
            far = point - low
            low = np.clip(low, -1, size).astype(np.int64)
            high = low + 1 if pads else np.minimum(low + (far > 0), size - 1)
            ends = ((low, 1 - far), (high, far))
            corners.append([(at, share, (at >= 0) & (at < size)) for at, share in ends])
        total: Any = 0
        for row, down, row_in in corners[0]:
            for column, across, column_in in corners[1]:
                share = np.where(inside & row_in & column_in, down * across, 0).astype(data.dtype)
                place = np.clip(row, 0, sizes[0] - 1) * sizes[1] + np.clip(column, 0, sizes[1] - 1)
                flat = np.take_along_axis(data, place.reshape(*place.shape[:2], 1, -1), axis=3)
                values = flat.reshape(*data.shape[:3], *place.shape[2:])
                total = total + values * share[:, :, None]
        return np.asarray(total)


class DeformableConvolution_8(DeformableConvolution_1):
    """Deformable convolution in which `mask` weights each sampling point.

    With `bilinear_interpolation_pad`, points up to one pixel outside are interpolated with zeros.
    """

    since = 8
    mask = operand(NUMERIC, shape=("batch", "?", "?", "?"), optional=True)
    bilinear_interpolation_pad: bool = attribute(BOOLEAN, default=False)


def _require_groups(name: str, shape: PartialShape, axis: int, groups: int) -> None:
    """Raises `Violation` if the size of an axis is no multiple of the number of groups."""
    if not shape[axis].is_unbounded:
        what = f"dimension {axis} of `{name}` {shape}"
        divided(shape[axis], groups, what, name, INPUT_SHAPES)


def _grid(frame: Frame, steps: tuple[int, ...], axis: int) -> Array:
    """Returns where each kernel position lies in each window, as coordinates along one axis.

    The result is `[kernel, *steps]`, without the offsets.
    """
    at = (
        np.arange(frame.kernel[axis])[:, None] * frame.dilations[axis]
        + np.arange(steps[axis]) * frame.strides[axis]
        - frame.pads_begin[axis]
    )
    kernel, grid = frame.kernel, at.astype(np.float32)
    shaped = grid[:, None, :, None] if axis == 0 else grid[None, :, None, :]
    return np.broadcast_to(shaped, (*kernel, *steps)).reshape(-1, *steps)
