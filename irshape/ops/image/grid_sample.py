"""GridSample, which samples an image at the points of a grid."""

from __future__ import annotations

from typing import Final

from ...shapes import DYNAMIC, PartialShape
from ..conversion import plain
from ..declaration import ANY, REAL, Operation, attribute, operand, types
from ..elementwise import computed
from ..kinds import BOOLEAN, Choice
from ..lazy import Array, np
from ..tensors import Tensor
from .taps import cubic_weights

CUBIC_A: Final = -0.75


class GridSample(Operation):
    """Samples an NCHW image at the points in `grid`, where -1 and 1 are borders of the image."""

    since = 9
    data = operand(ANY, shape=("batch", "channels", "height", "width"))
    # the last axis holds x and y of each point
    grid = operand(REAL - types("nf4"), shape=("batch", "?", "?", 2))
    align_corners: bool = attribute(BOOLEAN, default=False)
    mode: str = attribute(Choice("bilinear", "bicubic", "nearest"), default="bilinear")
    padding_mode: str = attribute(Choice("zeros", "border", "reflection"), default="zeros")

    def infer(self, data: Tensor, grid: Tensor) -> Tensor:
        batch = self.dimensions(data, grid).get("batch", DYNAMIC)
        channels = data.shape[1] if data.rank else DYNAMIC
        _, height, width, _ = (DYNAMIC,) * 4 if grid.rank is None else grid.shape
        return Tensor(data.element_type, PartialShape([batch, channels, height, width]))

    def evaluate(self, data: Array, grid: Array) -> Array:
        real = np.float64 if np.float64 in (data.dtype, grid.dtype) else np.float32
        x, y = (
            self.denormalized(grid[..., which].astype(real), size)
            for which, size in ((0, data.shape[3]), (1, data.shape[2]))
        )
        if self.mode == "nearest":
            return self.pixels(data, np.rint(y), np.rint(x))
        work = plain(data).astype(real)
        top, left = np.floor(y), np.floor(x)
        first, weigh = (
            (0, lambda share: (1 - share, share))  # of the pixels before and after a point
            if self.mode == "bilinear"
            else (-1, lambda share: cubic_weights(share, CUBIC_A))
        )
        total = np.zeros((*data.shape[:2], *grid.shape[1:3]), real)
        across = weigh(x - left)
        for row, down in enumerate(weigh(y - top), first):
            line = np.zeros_like(total)
            for column, weight in enumerate(across, first):
                line += self.pixels(work, top + row, left + column) * weight[:, None]
            total += line * down[:, None]
        # the CPU plugin truncates wide integers; it computes narrow integers in f32 and rounds them
        if data.dtype.kind in "iu" and data.dtype.itemsize >= 4:
            total = np.trunc(total)
        return computed(total, data)

    def denormalized(self, places: Array, size: int) -> Array:
        """Returns coordinates in pixels, from coordinates in which the borders are -1 and 1."""
        one, two = places.dtype.type(1), places.dtype.type(2)
        if self.align_corners:
            return (places + one) * places.dtype.type(size - 1) / two
        return ((places + one) * places.dtype.type(size) - one) / two

    def pixels(self, data: Array, y: Array, x: Array) -> Array:
        """Returns pixels at integer coordinates. `padding_mode` selects those outside the image."""
        rows, columns = self.inside(y, data.shape[2]), self.inside(x, data.shape[3])
        items = np.arange(len(data))[:, None, None]
        pixels = data[items, :, rows, columns].transpose(0, 3, 1, 2)
        if self.padding_mode != "zeros":
            return pixels
        within = (y >= 0) & (y < data.shape[2]) & (x >= 0) & (x < data.shape[3])
        return np.where(within[:, None], pixels, np.zeros((), data.dtype))

    def inside(self, places: Array, size: int) -> Array:
        """Moves integer coordinates into an axis of this size, as `padding_mode` requires."""
        limit = float(2**53)
        finite = np.nan_to_num(places.astype(np.float64), nan=-1, posinf=limit, neginf=-limit)
        whole = np.clip(finite, -limit, limit).astype(np.int64)
        if self.padding_mode != "reflection":
            return np.clip(whole, 0, size - 1)
        if not self.align_corners:
            whole %= 2 * size
            return np.where(whole >= size, 2 * size - 1 - whole, whole)
        period = max(2 * (size - 1), 1)
        whole = np.abs(whole) % period
        return np.where(whole >= size, period - whole, whole)
