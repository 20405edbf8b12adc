"""Colour conversions between RGB or BGR and the planar formats NV12 and I420, in NHWC layout."""

from __future__ import annotations

from typing import ClassVar, Final

from ...faults import Violation, require
from ...rule_ids import INPUT_COUNT, INPUT_SHAPES
from ...shapes import DYNAMIC, Dimension, PartialShape
from ..axes import divided
from ..declaration import REAL, Operation, attribute, operand, types
from ..elementwise import common_type, computed
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor

COLOUR_TYPES: Final = (REAL - types("nf4")) | types("u8")
AXES: Final = ("batch", "height", "width")


def plane(tensor: Tensor) -> tuple[Dimension, Dimension, Dimension]:
    """Returns the batch, the height and the width of an NHWC input."""
    if tensor.rank is None:
        return DYNAMIC, DYNAMIC, DYNAMIC
    batch, height, width, _ = tensor.shape
    return batch, height, width


def halves(height: Dimension, width: Dimension, name: str) -> list[Dimension]:
    """Returns half the height and half the width. Raises `Violation` unless both can be even, since
    two by two pixels share their chroma."""
    sides = (("height", height), ("width", width))
    return [divided(size, 2, f"the {what} of `{name}`", name, INPUT_SHAPES) for what, size in sides]


class FromPlanes(Operation):
    """The base class of conversions to RGB or BGR.

    One input contains all planes, luma first, or each plane is a separate input.
    """

    blue_first: ClassVar[bool] = False
    chroma_names: ClassVar[tuple[str, ...]] = ()

    def infer(self, y: Tensor, *chroma: Tensor | None) -> Tensor:
        given = [tensor for tensor in chroma if tensor is not None]
        names = self.chroma_names
        wanted = f"1 or {1 + len(names)}"
        require(
            len(given) in (0, len(names)),
            f"{self.type_name()} takes {wanted} inputs, got {1 + len(given)}",
            expected=wanted,
            actual=1 + len(given),
            rule=INPUT_COUNT,
        )
        batch, height, width = plane(y)
        if not given:
            # all planes together are 3/2 as high as the image
            height = divided(height, 3, f"dimension 1 of `y` {y.shape}", "y", INPUT_SHAPES) * 2
        sizes = (batch, height, width)
        for name, tensor in zip(names, given, strict=False):
            sizes = self.with_chroma(sizes, name, tensor)
        batch, height, width = sizes
        halves(height, width, "y")
        return Tensor(common_type(y, *given), [batch, height, width, 3])

    def with_chroma(
        self, sizes: tuple[Dimension, Dimension, Dimension], name: str, chroma: Tensor
    ) -> tuple[Dimension, Dimension, Dimension]:
        """Returns the image's batch, height and width, merged with those that a plane implies."""
        batch, height, width = plane(chroma)
        merged = []
        for what, ours, theirs in zip(AXES, sizes, (batch, height * 2, width * 2), strict=True):
            size = ours.merge(theirs)
            if size is None:
                says = f"`{name}` {chroma.shape} implies {what} {theirs} of the image, not {ours}"
                raise Violation(says, at=name, relation="equal", expected=ours, actual=theirs)
            merged.append(size)
        return merged[0], merged[1], merged[2]

    def coloured(self, y: Array, u: Array, v: Array) -> Array:
        """Returns the image from its planes. Chroma planes have half its height and width."""
        real = np.float64 if y.dtype == np.float64 else np.float32
        luma = y.astype(real) - real(16)
        d, e = (
            np.repeat(np.repeat(small.astype(real), 2, axis=1), 2, axis=2) - real(128)
            for small in (u, v)
        )
        luma = real(1.164) * luma
        red = luma + real(1.596) * e
        green = luma - real(0.391) * d - real(0.813) * e
        blue = luma + real(2.018) * d
        channels = [blue, green, red] if self.blue_first else [red, green, blue]
        return computed(np.clip(np.stack(channels, axis=-1), 0, 255), y)


def rounded_up(values: Array, like: Array) -> Array:
    """Returns values clipped to 0 to 255. For an integer type, values are rounded, halves up."""
    clipped = np.clip(values, 0, 255)
    return computed(np.floor(clipped + 0.5) if like.dtype.kind == "u" else clipped, like)


class NV12toRGB(FromPlanes):
    """An RGB image from NV12: a plane of luma, and a plane of interleaved chroma."""

    since = 8
    chroma_names = ("uv",)
    y = operand(COLOUR_TYPES, shape=("batch", "height", "width", 1))
    uv = operand(COLOUR_TYPES, shape=("batch", "?", "?", 2), like="y", optional=True)

    def evaluate(self, y: Array, uv: Array | None) -> Array:
        if uv is None:
            batch, rows, width, _ = y.shape
            height = rows * 2 // 3
            y, uv = y[:, :height], y[:, height:].reshape(batch, height // 2, width // 2, 2)
        return self.coloured(y[..., 0], uv[..., 0], uv[..., 1])


class NV12toBGR(NV12toRGB):
    """Like NV12toRGB, but blue is the first channel."""

    since = 8
    blue_first = True


class I420toRGB(FromPlanes):
    """An RGB image from I420: a plane of luma, and two planes of chroma."""

    since = 8
    chroma_names = ("u", "v")
    y = operand(COLOUR_TYPES, shape=("batch", "height", "width", 1))
    u = operand(
        COLOUR_TYPES, shape=("batch", "chroma_height", "chroma_width", 1), like="y", optional=True
    )
    v = operand(
        COLOUR_TYPES, shape=("batch", "chroma_height", "chroma_width", 1), like="y", optional=True
    )

    def evaluate(self, y: Array, u: Array | None, v: Array | None) -> Array:
        if u is None or v is None:
            batch, rows, width, _ = y.shape
            height = rows * 2 // 3
            chroma = y[:, height:].reshape(batch, 2, height // 2, width // 2, 1)
            y, u, v = y[:, :height], chroma[:, 0], chroma[:, 1]
        return self.coloured(y[..., 0], u[..., 0], v[..., 0])


class I420toBGR(I420toRGB):
    """Like I420toRGB, but blue is the first channel."""

    since = 8
    blue_first = True


class RGBtoNV12(Operation):
    """An RGB image as a plane of luma and a plane of interleaved chroma, in one output or two."""

    since = 17
    released = ((17, "2026.4"),)
    blue_first: ClassVar[bool] = False
    image = operand(COLOUR_TYPES, shape=("batch", "height", "width", 3))
    single_plane: bool = attribute(BOOLEAN, default=True)

    def infer(self, image: Tensor) -> Tensor | tuple[Tensor, ...]:
        batch, height, width = plane(image)
        half_height, half_width = halves(height, width, "image")
        element_type = image.element_type
        if self.single_plane:
            rows = (height * 3).divided(2) or height
            return Tensor(element_type, PartialShape([batch, rows, width, Dimension(1)]))
        return (
            Tensor(element_type, PartialShape([batch, height, width, Dimension(1)])),
            Tensor(element_type, PartialShape([batch, half_height, half_width, Dimension(2)])),
        )

    def evaluate(self, image: Array) -> Array | tuple[Array, Array]:
        channels = (2, 1, 0) if self.blue_first else (0, 1, 2)
        red, green, blue = (image[..., channel].astype(np.float64) for channel in channels)
        y = rounded_up(0.257 * red + 0.504 * green + 0.098 * blue + 16, image)
        u = rounded_up(-0.148 * red - 0.291 * green + 0.439 * blue + 128, image)
        v = rounded_up(0.439 * red - 0.368 * green - 0.071 * blue + 128, image)
        batch, height, width = y.shape
        means = [
            small.astype(np.float64).reshape(batch, height // 2, 2, width // 2, 2).mean(axis=(2, 4))
            for small in (u, v)
        ]
        uv = rounded_up(np.stack(means, axis=-1), image)
        if self.single_plane:
            return np.concatenate([y, uv.reshape(batch, height // 2, width)], axis=1)[..., None]
        return y[..., None], uv


class BGRtoNV12(RGBtoNV12):
    """Like RGBtoNV12, but blue is the first channel of the image."""

    since = 17
    blue_first = True
