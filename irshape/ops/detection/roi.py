"""Pooling of regions of interest: parts of a feature map are resized to a fixed size."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from ...faults import require
from ...rule_ids import ATTRIBUTE_VALUE
from ...shapes import DYNAMIC
from .. import conditions
from ..conditions import count
from ..declaration import ANY, INTEGER, REAL, Operation, at_least, attribute, operand
from ..differences import Site, facts, refused
from ..image.taps import away_from_zero as nearest
from ..kinds import BOOLEAN, FLOAT, INT, INTS, NATURAL, POSITIVE, STRING, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of

Place = Callable[[Array, Array], tuple[Array, Array]]
"""A function from coordinates (y, x) of samples to coordinates on the feature map."""


def image(data: Array, index: float) -> Array:
    """Returns the feature maps of one batch item."""
    number = int(index)
    if not 0 <= number < len(data):
        raise ValueError(f"a region has batch index {number}, but `data` has {len(data)} items")
    return data[number]


def interpolated(features: Array, y: Array, x: Array) -> Array:
    """Returns bilinear samples of feature maps [channels, rows, columns] at points inside them."""
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    bottom = np.minimum(top + 1, features.shape[1] - 1)
    right = np.minimum(left + 1, features.shape[2] - 1)
    down, across = (y - top).astype(np.float32), (x - left).astype(np.float32)
    upper = features[:, top, left] * (1 - across) + features[:, top, right] * across
    lower = features[:, bottom, left] * (1 - across) + features[:, bottom, right] * across
    return np.asarray(upper * (1 - down) + lower * down)


def aligned(
    features: Array,
    start: Array,
    size: Array,
    pooled: tuple[int, int],
    sampling_ratio: int,
    mode: str,
    place: Place | None = None,
) -> Array:
    """Returns a pooled region: each bin is the average or maximum of a grid of samples.

    `start` and `size` of the region are (y, x). `place` maps sample points to the feature map. The
    result is [channels, rows, columns].
    """
    channels, height, width = features.shape
    bins = size / np.float32(pooled)
    counts = [sampling_ratio or math.ceil(float(side)) for side in bins]
    if min(counts) <= 0 or 0 in pooled:
        return np.zeros((channels, *pooled), np.float32)
    lines = []
    for axis in (0, 1):
        step = bins[axis] / np.float32(counts[axis])
        in_bin = (np.arange(counts[axis], dtype=np.float32) + np.float32(0.5)) * step
        begins = np.arange(pooled[axis], dtype=np.float32)[:, None] * bins[axis]
        lines.append(start[axis] + (begins + in_bin))
    y, x = np.broadcast_arrays(lines[0].reshape(-1, 1), lines[1].reshape(1, -1))
    if place is not None:
        y, x = place(y, x)
    outside = ~((y >= -1) & (y <= height) & (x >= -1) & (x <= width))  # NaN too
    samples = interpolated(
        features,
        np.clip(np.where(outside, 0, y), 0, height - 1),
        np.clip(np.where(outside, 0, x), 0, width - 1),
    )
    grid = np.where(outside, np.float32(0), samples)
    grid = grid.reshape(channels, pooled[0], counts[0], pooled[1], counts[1])
    if mode == "max":
        return np.asarray(grid.max(axis=(2, 4), initial=0))
    return np.asarray(grid.sum(axis=(2, 4)) / np.float32(counts[0] * counts[1]))


class AlignedPooling(Operation):
    """The base class of ROIAlign operations, which pool regions by grids of samples."""

    data = operand(REAL, rank=4)
    rois = operand(REAL, shape=("regions", 4), like="data")
    batch_indices = operand(INTEGER, shape=("regions",))
    pooled_h: int = attribute(INT, default=0, required=True)
    pooled_w: int = attribute(INT, default=0, required=True)
    sampling_ratio: int = attribute(INT, default=0, required=True)
    spatial_scale: float = attribute(FLOAT, default=0.0, required=True)

    def infer(self, data: Tensor, rois: Tensor, batch_indices: Tensor) -> Tensor:
        regions = self.dimensions(data, rois, batch_indices).get("regions", DYNAMIC)
        channels = DYNAMIC if data.rank is None else data.shape[1]
        pooled = (dimension_of(self.pooled_h), dimension_of(self.pooled_w))
        return Tensor(data.element_type, [regions, channels, *pooled])

    def evaluate(self, data: Array, rois: Array, batch_indices: Array) -> Array:
        wide = data.astype(np.float32)
        result = np.empty((len(rois), data.shape[1], self.pooled_h, self.pooled_w), np.float32)
        regions = zip(rois.astype(np.float32), batch_indices, strict=True)
        for index, (roi, item) in enumerate(regions):
            result[index] = self.pool(image(wide, item), roi)
        return result.astype(data.dtype)

    def pool(self, features: Array, roi: Array) -> Array:
        """Returns the result for one region, given the feature maps of its batch item."""
        raise NotImplementedError


class ROIAlign_3(AlignedPooling):
    """Average or maximum of interpolated samples in each bin of a region [x1, y1, x2, y2].

    The maximum of negative samples is 0.
    """

    since = 3
    mode: str = attribute(Choice("avg", "max"), default="avg", required=True)
    aligned_mode = "asymmetric"

    def pool(self, features: Array, roi: Array) -> Array:
        before = np.float32(0.5 if self.aligned_mode == "half_pixel" else 0)
        behind = np.float32(0 if self.aligned_mode == "asymmetric" else 0.5)
        corners = (roi + before) * np.float32(self.spatial_scale) - behind
        start = corners[[1, 0]]
        size = corners[[3, 2]] - start
        if self.aligned_mode == "asymmetric":
            size = np.maximum(size, np.float32(1))
        pooled = (self.pooled_h, self.pooled_w)
        return aligned(features, start, size, pooled, self.sampling_ratio, self.mode)


class ROIAlign_9(ROIAlign_3):
    """Like ROIAlign-3, but `aligned_mode` selects where pixel centers lie in the feature map."""

    since = 9
    aligned_mode = attribute(
        Choice("asymmetric", "half_pixel_for_nn", "half_pixel"), default="asymmetric"
    )


class ROIAlignRotated(AlignedPooling):
    """Average of interpolated samples in each bin of a rotated region.

    A region is [center x, center y, width, height, angle in radians].
    """

    since = 15
    released = ((15, "2024.2"),)
    rois = operand(REAL, shape=("regions", 5), like="data")
    clockwise_mode: bool = attribute(BOOLEAN, default=False, required=True)

    def pool(self, features: Array, roi: Array) -> Array:
        scale = np.float32(self.spatial_scale)
        center, size = roi[[1, 0]] * scale - np.float32(0.5), roi[[3, 2]] * scale
        angle = -roi[4] if self.clockwise_mode else roi[4]
        cos, sin = np.cos(angle), np.sin(angle)

        def place(y: Array, x: Array) -> tuple[Array, Array]:
            return y * cos - x * sin + center[0], y * sin + x * cos + center[1]

        start, pooled = -size / np.float32(2), (self.pooled_h, self.pooled_w)
        return aligned(features, start, size, pooled, self.sampling_ratio, "avg", place)


def require_scale(scale: float) -> None:
    """Raises `Violation` unless `spatial_scale` is a positive normal number in f32."""
    fits = sys.float_info.min <= scale < math.inf and scale >= 2**-126
    wanted = "a positive number"
    require(fits, at="spatial_scale", expected=wanted, actual=scale, rule=ATTRIBUTE_VALUE)


def pooled_regions(
    data: Array, rois: Array, shape: tuple[int, ...], pool: Callable[..., Array], *others: Array
) -> Array:
    """Returns each region [batch item, x1, y1, x2, y2] pooled to `shape`.

    A region with batch item -1 ends the list, as in the result of Proposal. The result is 0 for
    this region and for all regions after it.
    pool: returns a pooled region, from the feature maps, the coordinates of the region, and the
    elements of `others` for the region.
    """
    wide = data.astype(np.float32)
    result = np.zeros((len(rois), *shape), np.float32)
    for index, roi in enumerate(rois.astype(np.float32)):
        if roi[0] == -1:
            break
        result[index] = pool(image(wide, roi[0]), roi[1:], *(each[index] for each in others))
    return result.astype(data.dtype)


def _output_sizes(site: Site) -> bool:
    """Returns whether only `output_roi` gives the sizes, or `output_size` is not two numbers."""
    sizes = site.layer.attribute("output_size")
    if sizes is not None:
        return len(sizes.split(",")) != 2
    return None in (site.layer.attribute("pooled_h"), site.layer.attribute("pooled_w"))


class ROIPooling(Operation):
    """The maximum of each bin of a region, or one interpolated sample of the bin.

    The result is 0 for the first region with batch item -1, and for all regions after it.
    """

    differs = facts(
        refused(
            "2023.3",
            "a ROIPooling with only `output_roi`, or whose `output_size` is not two numbers",
            _output_sizes,
        ),
    )

    since, written = 1, 2
    data = operand(REAL, rank=4)
    # the batch item of a region, and its coordinates
    rois = operand(REAL, shape=("regions", 5), like="data")
    output_size: tuple[int, ...] = attribute(INTS, default=())
    output_roi: tuple[int, ...] | None = attribute(INTS, default=None)
    pooled_h: int | None = attribute(NATURAL, default=None)
    pooled_w: int | None = attribute(NATURAL, default=None)
    spatial_scale: float = attribute(FLOAT)
    method: str = attribute(Choice("max", "bilinear", case_sensitive=True), default="max")

    @property
    def pooled(self) -> tuple[int, int]:
        """The number of rows and the number of columns of a pooled region.

        OpenVINO writes both numbers as `output_roi`, too. Older writers write only `pooled_h` and
        `pooled_w`.
        """
        rows, columns = self.output_roi or (0, 0)
        return (
            rows if self.pooled_h is None else self.pooled_h,
            columns if self.pooled_w is None else self.pooled_w,
        )

    def infer(self, data: Tensor, rois: Tensor) -> Tensor:
        if self.output_roi is not None:
            count(len(self.output_roi), 2, at="output_roi", rule=ATTRIBUTE_VALUE)
        for name, size in zip(("pooled_h", "pooled_w"), self.pooled, strict=True):
            # OpenVINO reads a negative number as a dynamic size
            require(size, at=name, expected="a positive number", actual=size, rule=ATTRIBUTE_VALUE)
        require_scale(self.spatial_scale)
        regions = DYNAMIC if rois.rank is None else rois.shape[0]
        channels = DYNAMIC if data.rank is None else data.shape[1]
        return Tensor(data.element_type, [regions, channels, *map(dimension_of, self.pooled)])

    def evaluate(self, data: Array, rois: Array) -> Array:
        pool = self.maxima if self.method == "max" else self.samples
        return pooled_regions(data, rois, (data.shape[1], *self.pooled), pool)

    def maxima(self, features: Array, roi: Array) -> Array:
        """Returns the maximum of each bin; 0 for a bin outside the feature map."""
        left, up, right, down = nearest(roi * np.float32(self.spatial_scale)).astype(np.int64)
        result = np.zeros((len(features), *self.pooled), np.float32)
        rows = bin_edges(up, max(down - up + 1, 1), self.pooled[0], features.shape[1])
        columns = bin_edges(left, max(right - left + 1, 1), self.pooled[1], features.shape[2])
        for row, (top, bottom) in enumerate(rows):
            for column, (first, last) in enumerate(columns):
                if top < bottom and first < last:
                    result[:, row, column] = features[:, top:bottom, first:last].max(axis=(1, 2))
        return result

    def samples(self, features: Array, roi: Array) -> Array:
        """Returns one sample for each bin. The outermost samples are at the corners of the region.

        The coordinates of the region are fractions of the feature map.
        """
        y = spread(roi[1], roi[3], self.pooled[0], features.shape[1])[:, None]
        x = spread(roi[0], roi[2], self.pooled[1], features.shape[2])[None, :]
        return inside_only(features, *np.broadcast_arrays(y, x))


def bin_edges(start: int, length: int, count: int, limit: int) -> list[tuple[int, int]]:
    """Returns the start and end of each bin of a region, clipped to the feature map.

    If the size of a bin is not an integer, neighbouring bins overlap.
    """
    size = np.float32(length) / np.float32(count)
    first = np.floor(np.arange(count, dtype=np.float32) * size).astype(np.int64) + start
    last = np.ceil(np.arange(1, count + 1, dtype=np.float32) * size).astype(np.int64) + start
    starts, ends = np.clip(first, 0, limit).tolist(), np.clip(last, 0, limit).tolist()
    return list(zip(starts, ends, strict=True))


def spread(start: Array, end: Array, count: int, size: int) -> Array:
    """Returns `count` evenly spaced coordinates. `start` and `end` are fractions of the axis."""
    last = np.float32(size - 1)
    if count == 1:
        return np.float32([np.float32(0.5) * (start + end) * last])
    step = (end - start) * last / np.float32(count - 1)
    places = np.arange(count, dtype=np.float32) * step + start * last
    places[-1] = end * last
    return places


def inside_only(features: Array, y: Array, x: Array) -> Array:
    """Returns bilinear samples of feature maps; 0 for points outside."""
    outside = (y < 0) | (y > features.shape[1] - 1) | (x < 0) | (x > features.shape[2] - 1)
    samples = interpolated(features, np.where(outside, 0, y), np.where(outside, 0, x))
    return np.where(outside, np.float32(0), samples)


class PositionSensitivePooling(Operation):
    """The base class of PSROIPooling and DeformablePSROIPooling. Each bin has its own channels."""

    data = operand(REAL, rank=4)
    # the batch item of a region, and its coordinates
    rois = operand(REAL, shape=("regions", 5))
    spatial_bins_x: int = attribute(NATURAL, default=1)
    spatial_bins_y: int = attribute(NATURAL, default=1)

    def shape(self, data: Tensor, rois: Tensor, output_dim: int, group_size: int) -> Tensor:
        regions = DYNAMIC if rois.rank is None else rois.shape[0]
        channels, group = dimension_of(output_dim), dimension_of(group_size)
        return Tensor(data.element_type, [regions, channels, group, group])


class PSROIPooling(PositionSensitivePooling):
    """The average of each bin of a region or, in mode `bilinear`, of samples in parts of the bin.

    Each bin or part has its own channels. The result is 0 from a region with batch item -1 on.
    """

    since = 1
    output_dim: int = attribute(POSITIVE)
    group_size: int = attribute(POSITIVE)
    spatial_scale: float = attribute(FLOAT)
    mode: str = attribute(Choice("average", "bilinear", case_sensitive=True))

    def infer(self, data: Tensor, rois: Tensor) -> Tensor:
        # not declared: OpenVINO reads a negative number as a large one and accepts it
        if self.group_size == 0:
            conditions.at_least(0, 1, at="group_size", rule=ATTRIBUTE_VALUE)
        # not declared: OpenVINO does not check them in the other mode
        if self.mode == "bilinear":
            for name in ("spatial_bins_x", "spatial_bins_y"):
                conditions.at_least(getattr(self, name), 1, at=name, rule=ATTRIBUTE_VALUE)
        require_scale(self.spatial_scale)
        if data.rank is not None:
            parts = self.group_size**2
            if self.mode == "bilinear":
                parts = self.spatial_bins_x * self.spatial_bins_y
            if self.output_dim * parts != -1:
                conditions.equal(data.shape[1], self.output_dim * parts, at="data", axis=1)
        return self.shape(data, rois, self.output_dim, self.group_size)

    def evaluate(self, data: Array, rois: Array) -> Array:
        pool = self.averages if self.mode == "average" else self.samples
        shape = self.output_dim, self.group_size, self.group_size
        return pooled_regions(data, rois, shape, pool)

    def averages(self, features: Array, roi: Array) -> Array:
        """Returns the average of each bin of a region."""
        group, scale = self.group_size, np.float32(self.spatial_scale)
        start, end = nearest(roi[:2]) * scale, nearest(roi[2:] + np.float32(1)) * scale
        bins = np.maximum(end - start, np.float32(0.1)) / np.float32(group)
        steps = np.arange(group + 1, dtype=np.float32)
        limits = np.array([features.shape[2], features.shape[1]])
        places = steps[:, None] * bins + start
        first = np.clip(np.floor(places[:-1]), 0, limits).astype(int)
        last = np.clip(np.ceil(places[1:]), 0, limits).astype(int)
        channels = features.reshape(self.output_dim, group, group, *features.shape[1:])
        result = np.zeros((self.output_dim, group, group), np.float32)
        for row in range(group):
            for column in range(group):
                down = slice(first[row, 1], last[row, 1])
                across = slice(first[column, 0], last[column, 0])
                part = channels[:, row, column, down, across]
                if part.size:
                    result[:, row, column] = part.mean(axis=(1, 2))
        return result

    def samples(self, features: Array, roi: Array) -> Array:
        """Returns the average of each bin, computed from one sample in each part of the bin."""
        x1, y1, x2, y2 = roi * np.float32(self.spatial_scale)
        rows, columns, group = self.spatial_bins_y, self.spatial_bins_x, self.group_size
        width, height = (x2 - x1) / np.float32(columns), (y2 - y1) / np.float32(rows)
        channels = features.reshape(rows, columns, self.output_dim, *features.shape[1:])
        total = np.zeros((self.output_dim, group, group), np.float32)
        for row in range(rows):
            y = spread(y1 + row * height, y1 + (row + 1) * height, group, features.shape[1])
            for column in range(columns):
                x = spread(x1 + column * width, x1 + (column + 1) * width, group, features.shape[2])
                places = np.broadcast_arrays(y[:, None], x[None, :])
                total += inside_only(channels[row, column], *places)
        return total / np.float32(columns * rows)


class DeformablePSROIPooling(PositionSensitivePooling):
    """The average of interpolated samples of each bin of a region, with bins moved by `offsets`.

    Each bin has its own channels. From the first region with batch item -1 on, the result is 0.
    """

    since = 1
    data = operand(ANY, rank=4)
    rois = operand(ANY, rank=2)
    offsets = operand(ANY, rank=4, optional=True)
    output_dim: int = attribute(INT, within=at_least(1))
    spatial_scale: float = attribute(FLOAT, default=0.0, required=True)
    group_size: int = attribute(INT, default=1, within=at_least(1))
    mode: str = attribute(STRING, default="bilinear_deformable")
    trans_std: float = attribute(FLOAT, default=1.0)
    part_size: int = attribute(POSITIVE, default=1)

    def infer(self, data: Tensor, rois: Tensor, offsets: Tensor | None) -> Tensor:
        return self.shape(data, rois, self.output_dim, self.group_size)

    def evaluate(self, data: Array, rois: Array, offsets: Array | None) -> Array:
        if offsets is None:
            offsets = np.zeros((len(rois), 2, self.part_size, self.part_size), np.float32)
        shape = self.output_dim, self.group_size, self.group_size
        return pooled_regions(data, rois, shape, self.pool, offsets.astype(np.float32))

    def pool(self, features: Array, roi: Array, offsets: Array) -> Array:
        """Returns one pooled region. Each of its bins has its own feature maps."""
        group = self.group_size
        features = features.reshape(self.output_dim, group, group, *features.shape[1:])
        scale, half = np.float32(self.spatial_scale), np.float32(0.5)
        start = nearest(roi[:2]) * scale - half
        end = (nearest(roi[2:]) + np.float32(1)) * scale - half
        size = np.maximum(end - start, np.float32(0.1))
        bins = size / np.float32(group)
        result = np.zeros((self.output_dim, group, group), np.float32)
        for row in range(group):
            for column in range(group):
                part = features[:, row, column]
                corner = start + np.float32([column, row]) * bins
                place = (row * self.part_size // group, column * self.part_size // group)
                moves = offsets[(slice(None), *place)].reshape(-1, 2)
                share = self.output_dim // len(moves)
                for index, move in enumerate(moves):
                    channels = slice(index * share, (index + 1) * share)
                    moved = corner + move * np.float32(self.trans_std) * size
                    result[channels, row, column] = self.average(part[channels], moved, bins)
        return result

    def average(self, features: Array, corner: Array, bins: Array) -> Array:
        """Returns the average of the samples of a bin that lie on the feature map."""
        step_x = bins[0] / np.float32(self.spatial_bins_x)
        step_y = bins[1] / np.float32(self.spatial_bins_y)
        x = corner[0] + np.arange(self.spatial_bins_x, dtype=np.float32) * step_x
        y = corner[1] + np.arange(self.spatial_bins_y, dtype=np.float32) * step_y
        height, width = features.shape[1:]
        x, y = x[(x >= -0.5) & (x <= width - 0.5)], y[(y >= -0.5) & (y <= height - 0.5)]
        if not x.size or not y.size:
            return np.zeros(len(features), np.float32)
        places = np.broadcast_arrays(
            np.clip(y, 0, height - 1)[:, None], np.clip(x, 0, width - 1)[None, :]
        )
        return np.asarray(interpolated(features, *places).mean(axis=(1, 2)))
