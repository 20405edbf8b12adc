"""Prior boxes: boxes of given sizes around every point of a grid, and their variances.

The coordinates are fractions of the image's width and height.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from ...element_types import ElementType
from ...faults import Fault, fault
from ...rule_ids import ATTRIBUTE_VALUE
from ...shapes import DYNAMIC
from ..conditions import count, same_size
from ..declaration import INTEGER, Operation, attribute, operand
from ..kinds import BOOLEAN, FLOAT, FLOATS
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of

F32 = ElementType.of("f32")


def f32(number: float) -> float:
    """Returns a number rounded to f32."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


class PriorBoxes(Operation):
    """The base class of prior boxes. The result has a row of corners and a row of variances.

    `output_size` is the [height, width] of the grid, `image_size` the [height, width] of the image.
    """

    output_size = operand(INTEGER, rank=1, value=True)
    image_size = operand(INTEGER, rank=1)
    clip: bool = attribute(BOOLEAN, default=False)
    step: float = attribute(FLOAT, default=0.0)
    offset: float = attribute(FLOAT, default=0.0, required=True)
    variance: tuple[float, ...] = attribute(FLOATS, default=())

    def priors_per_point(self) -> int:
        raise NotImplementedError

    def infer(self, output_size: Tensor, image_size: Tensor) -> Tensor:
        if output_size.value is None:
            return Tensor(F32, [2, DYNAMIC])
        count(len(output_size.value), 2, at="output_size")
        height, width = (output_size.value.dimension(index) or DYNAMIC for index in range(2))
        boxes = height * width * dimension_of(max(self.priors_per_point(), 0))
        return Tensor(F32, [2, boxes * 4])

    def check(self, output_size: Tensor, image_size: Tensor) -> Iterator[Fault]:
        if len(self.variance) not in (0, 1, 4):
            seen, wanted = len(self.variance), "0, 1 or 4"
            yield fault(
                at="variance", relation="count", expected=wanted, actual=seen, rule=ATTRIBUTE_VALUE
            )
        if image_size.rank == 1 and not image_size.shape[0].contains(2):
            yield fault(at="image_size", relation="count", expected=2, actual=image_size.shape[0])

    def evaluate(self, output_size: Array, image_size: Array) -> Array:
        height, width = (int(size) for size in output_size)
        image_height, image_width = (int(size) for size in image_size)
        corners = self.corners(height, width, image_height, image_width)
        if self.clip:
            corners = np.clip(corners, np.float32(0), np.float32(1))
        if corners.shape[2] != self.priors_per_point():
            raise ValueError(
                f"the attributes describe {corners.shape[2]} boxes for each point, "
                f"but the output shape has {self.priors_per_point()}"
            )
        variance = np.float32(self.variance or (0.1,))
        if len(variance) not in (1, 4):
            raise ValueError(f"`variance` has {len(variance)} numbers; expected none, one or four")
        return np.stack([corners.ravel(), np.broadcast_to(variance, corners.shape).ravel()])

    def corners(self, height: int, width: int, image_height: int, image_width: int) -> Array:
        """Returns the corners of all prior boxes before clipping, as [height, width, boxes, 4]."""
        raise NotImplementedError


def boxes_around(
    x: Array, y: Array, half_widths: Array, half_heights: Array, image_height: int, image_width: int
) -> Array:
    """Returns boxes around grid points, as fractions of the image: [rows, columns, boxes, 4].

    The centers `x`, `y` are given for each point, or for each point and box.
    """
    x, y = np.broadcast_arrays(x, y)
    corners = np.stack(
        [x - half_widths, y - half_heights, x + half_widths, y + half_heights], axis=-1
    )
    return corners * np.float32([1 / np.float32(image_width), 1 / np.float32(image_height)] * 2)


class PriorBox_1(PriorBoxes):
    """Boxes of fixed, minimal and maximal sizes and of aspect ratios, around each grid point."""

    since = 1
    min_size: tuple[float, ...] = attribute(FLOATS, default=())
    max_size: tuple[float, ...] = attribute(FLOATS, default=())
    aspect_ratio: tuple[float, ...] = attribute(FLOATS, default=())
    density: tuple[float, ...] = attribute(FLOATS, default=())
    fixed_ratio: tuple[float, ...] = attribute(FLOATS, default=())
    fixed_size: tuple[float, ...] = attribute(FLOATS, default=())
    flip: bool = attribute(BOOLEAN, default=False)
    scale_all_sizes: bool = attribute(BOOLEAN, default=True)
    min_max_aspect_ratios_order = True

    def priors_per_point(self) -> int:
        ratios = self.count_ratios()
        count = (
            ratios * len(self.min_size) + len(self.max_size)
            if self.scale_all_sizes
            else ratios + len(self.min_size) - 1
        )
        if self.fixed_size:
            count = ratios * len(self.fixed_size)
        per_density = len(self.fixed_ratio) or ratios
        for density in self.density:
            whole = int(density) if math.isfinite(density) else 0
            count += per_density * (whole**2 - 1)
        return count

    def count_ratios(self) -> int:
        """Returns the number of distinct aspect ratios, including 1.

        Ratios are compared in f32, rounded to a millionth.
        """
        ratios = {1.0}
        for ratio in map(f32, self.aspect_ratio):
            flipped = f32(1 / ratio) if ratio else math.inf
            for number in (ratio, flipped) if self.flip else (ratio,):
                millions = f32(number * 1e6)
                if math.isfinite(millions):
                    size = f32(math.floor(abs(millions) + 0.5) / 1e6)
                    ratios.add(math.copysign(1, millions) * size)
                else:
                    ratios.add(millions)
        return len(ratios)

    def ratios(self) -> Array:
        """Returns the distinct aspect ratios other than 1, in the order of the attribute."""
        ratios = [np.float32(1)]
        for ratio in np.float32(self.aspect_ratio):
            if all(abs(ratio - other) >= 1e-6 for other in ratios):
                ratios += [ratio, 1 / ratio] if self.flip else [ratio]
        return np.array([ratio for ratio in ratios if abs(ratio - 1) >= 1e-6], dtype=np.float32)

    def corners(self, height: int, width: int, image_height: int, image_width: int) -> Array:
        step, sizes = np.float32(self.step), np.float32(self.min_size)
        if not self.scale_all_sizes:
            scale = np.float32(image_height)
            step = scale / np.float32(height) if step == -1 else step * scale
            sizes = sizes * scale
        column, row = np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)
        if step == 0:
            step_x = np.float32(image_width) / np.float32(width)
            step_y = np.float32(image_height) / np.float32(height)
            x, y = (column + np.float32(0.5)) * step_x, (row + np.float32(0.5)) * step_y
        else:
            x, y = (column + np.float32(self.offset)) * step, (row + np.float32(self.offset)) * step
        x, y = x[None, :, None], y[:, None, None]
        half_widths, half_heights = self.halves(sizes)
        parts = [boxes_around(x, y, half_widths, half_heights, image_height, image_width)]
        for index in range(len(self.fixed_size)):
            shifts_x, shifts_y, half_widths, half_heights = self.fixed(index)
            fixed = boxes_around(
                x + shifts_x, y + shifts_y, half_widths, half_heights, image_height, image_width
            )
            fixed[..., :2] = np.maximum(fixed[..., :2], 0)
            fixed[..., 2:] = np.minimum(fixed[..., 2:], 1)
            parts.insert(index, fixed)
        return np.concatenate(parts, axis=2)

    def halves(self, sizes: Array) -> tuple[Array, Array]:
        """Returns half the widths and half the heights of the boxes of a point, in output order.

        The boxes are those of `min_size`, `max_size` and `aspect_ratio`.
        """
        roots = np.sqrt(self.ratios())
        wide: list[Array] = []
        high: list[Array] = []
        for index, size in enumerate(sizes):
            half = np.float32([size * np.float32(0.5)])
            none = half[:0]
            if self.scale_all_sizes:
                maximal = np.float32(self.max_size[index : index + 1])
                largest = np.sqrt(size * maximal) * np.float32(0.5)
                stretched = half * roots, half / roots
            elif index == len(sizes) - 1:
                base = sizes[:1] * np.float32(0.5)
                largest, stretched = none, (base * roots, base / roots)
            else:
                largest, stretched = none, (none, none)
            order = (
                [(half, half), (largest, largest), stretched]
                if self.min_max_aspect_ratios_order
                else [(half, half), stretched, (largest, largest)]
            )
            wide += [across for across, _ in order]
            high += [down for _, down in order]
        empty = np.empty(0, np.float32)
        return np.concatenate([empty, *wide]), np.concatenate([empty, *high])

    def fixed(self, index: int) -> tuple[Array, Array, Array, Array]:
        """Returns x and y distances of box centers from the point, and half widths and heights.

        The boxes have the fixed size at `index`. Each box occurs density * density times.
        """
        size = np.float32(self.fixed_size[index])
        if self.fixed_ratio:
            ratios = np.float32(self.fixed_ratio)
        else:
            ratios = np.concatenate([np.float32([1] if self.density else []), self.ratios()])
        count = int(self.density[index]) if index < len(self.density) else 0
        if not count:
            return (np.empty(0, np.float32),) * 4
        shift = int(size / count)
        places = np.arange(count, dtype=np.float32) * shift
        steps = places + np.float32(shift / 2) - np.float32(int(size) // 2)
        roots = np.repeat(np.sqrt(ratios), count * count)
        across = np.tile(np.tile(steps, count), len(ratios))
        down = np.tile(np.repeat(steps, count), len(ratios))
        half = size * np.float32(0.5)
        return across, down, half * roots, half / roots


class PriorBox_8(PriorBox_1):
    """Like PriorBox-1, but an attribute selects the order of the boxes.

    If `min_max_aspect_ratios_order` is true, the box of maximal size comes before the boxes of the
    aspect ratios, otherwise after them.
    """

    since = 8
    min_max_aspect_ratios_order = attribute(BOOLEAN, default=True)


class PriorBoxClustered(PriorBoxes):
    """Boxes of given widths and heights around every point of a grid."""

    since = 1
    tolerated = ("flip", "img_h", "img_size", "img_w")
    clip: bool = attribute(BOOLEAN, default=True)
    width: tuple[float, ...] = attribute(FLOATS, default=())
    height: tuple[float, ...] = attribute(FLOATS, default=())
    step_w: float = attribute(FLOAT, default=0.0)
    step_h: float = attribute(FLOAT, default=0.0)

    def priors_per_point(self) -> int:
        return len(self.width)

    def infer(self, output_size: Tensor, image_size: Tensor) -> Tensor:
        same_size(len(self.height), len(self.width), at="height", of="width", rule=ATTRIBUTE_VALUE)
        return super().infer(output_size, image_size)

    def corners(self, height: int, width: int, image_height: int, image_width: int) -> Array:
        step_w, step_h = np.float32(self.step_w or self.step), np.float32(self.step_h or self.step)
        if step_w == 0 and step_h == 0:
            step_w = np.float32(image_width) / np.float32(width)
            step_h = np.float32(image_height) / np.float32(height)
        x = (np.arange(width, dtype=np.float32) + np.float32(self.offset)) * step_w
        y = (np.arange(height, dtype=np.float32) + np.float32(self.offset)) * step_h
        halves = np.float32(self.width) / np.float32(2), np.float32(self.height) / np.float32(2)
        return boxes_around(x[None, :, None], y[:, None, None], *halves, image_height, image_width)
