"""Interpolate, which resizes an image along some of its axes.

Every mode is separable, so `evaluate` resizes one axis after the other. An output element is a
weighted sum of a few input elements (`Taps`), or a single input element in the mode `nearest`. As
in OpenVINO, coordinates are computed in f32 for every type of image, because their rounding decides
which element is nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Final

from ...element_types import ElementType
from ...faults import Between, Fault, Violation, fault
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_VALUE
from ...shapes import DYNAMIC, UNBOUNDED, Dimension, PartialShape
from ..axes import repeated
from ..conditions import distinct, of_type, rank, within
from ..conversion import plain
from ..declaration import ANY, INTEGER, Operation, attribute, operand, types
from ..differences import NO_LOWER_BOUNDS, facts, refused
from ..elementwise import computed
from ..intervals import rounded
from ..kinds import BOOLEAN, FLOAT, NATURALS, STRING, Choice, Integer, ListOf
from ..lazy import Array, np
from ..movement.broadcasting import negative_sizes, wanted_dimensions
from ..tensors import Tensor
from .taps import NEAREST, Taps, cubic, linear, linear_onnx, mixed, original, pillow

if TYPE_CHECKING:
    from ...symbols.expressions import Expression

PADS: Final = ListOf(Integer(low=0, refused=True))
IMAGE_TYPES: Final = types("f64 f32 f16 bf16 i64 i32 i8 u8")
SCALE_TYPES: Final = types("f32 f16 bf16")
SIZE_TYPES: Final = types("i32 i64 u32 u64")
F32: Final = ElementType.of("f32")
MAX_DENOMINATOR: Final = 64
"""A fraction with at most this denominator replaces a scale if both are equal in f32."""
SCALE_PRECISION: Final = 2**-23
SMALL_INTEGERS: Final = ("int8", "uint8")
Steps = list[tuple[int, int, float]]
"""The axes to resize, each with its new size and its scale."""


def scaled(dim: Dimension, scale: float) -> Dimension:
    """Returns a dimension times a scale, rounded down.

    As in OpenVINO, 1e-6 is added to the scale, and the product is computed in f32.
    """
    if scale == 1:
        return dim
    if not isfinite(scale):
        return Dimension(0)
    multiplier = rounded(scale + rounded(1e-6, F32), F32)
    low, high = (
        UNBOUNDED if bound == UNBOUNDED else _whole(rounded(rounded(bound, F32) * multiplier, F32))
        for bound in (dim.low, dim.high)
    )
    if low > high and dim.is_dynamic:
        return DYNAMIC
    return dim.followed(Dimension(low, max(low, high)), lambda size: scaled_expression(size, scale))


def scaled_expression(size: Expression, scale: float) -> Expression | None:
    """Returns `size * scale`, rounded down, as an expression, if the scale is a fraction like 3/2.

    The 1e-6 that OpenVINO adds to the scale matters only for sizes in the hundred thousands.
    """
    from fractions import Fraction

    fraction = Fraction(scale).limit_denominator(MAX_DENOMINATOR)
    if abs(fraction - Fraction(scale)) > fraction * SCALE_PRECISION:
        return None
    return (size * fraction.numerator) // fraction.denominator


def _whole(number: float) -> int:
    """Returns the integer part of a size; 0 if the size is negative or too large."""
    return int(number) if 0 <= number < UNBOUNDED else 0


def default_axes(image: Tensor, axes: Tensor | None) -> tuple[int, ...] | None:
    """Returns the value of `axes`, or None if it is unknown; all axes if the input is absent."""
    if axes is not None:
        return axes.known
    return None if image.rank is None else tuple(range(image.rank))


def doubtful_values(axes: tuple[int, ...] | None, given: Tensor, name: str) -> Iterator[Fault]:
    """Yields faults of axes, sizes and scales that only OpenVINO accepts, not the specification."""
    yield from repeated(axes)
    count = given.shape.size
    if axes is not None and count.low > len(axes):
        yield fault(at=name, relation="count", expected=len(axes), actual=count, accepted=True)
    if given.element_type not in SCALE_TYPES:
        yield from negative_sizes(given, name)
    elif given.value is not None:
        for index, scale in enumerate(given.value.exact or ()):
            if not 0 < scale < float("inf"):
                wanted = "a number above 0"
                yield fault(
                    at=name, expected=wanted, actual=scale, position=index, rule=INPUT_VALUE
                )


class InterpolateAttributes(Operation):
    """The base class of Interpolate-4 and Interpolate-11."""

    differs = facts(
        refused("2026.3", "an Interpolate of f64", lambda site: site.type_name() == "f64"),
        NO_LOWER_BOUNDS,
    )
    image = operand(IMAGE_TYPES)
    mode: str = attribute(
        Choice("nearest", "linear", "linear_onnx", "cubic"), default="nearest", required=True
    )
    shape_calculation_mode: str = attribute(
        Choice("sizes", "scales"), default="sizes", required=True
    )
    coordinate_transformation_mode: str = attribute(
        Choice(
            "half_pixel",
            "pytorch_half_pixel",
            "asymmetric",
            "tf_half_pixel_for_nn",
            "align_corners",
        ),
        default="half_pixel",
    )
    nearest_mode: str = attribute(
        Choice("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"),
        default="round_prefer_floor",
    )
    antialias: bool = attribute(BOOLEAN, default=False)
    pads_begin: tuple[int, ...] = attribute(PADS, default=())
    pads_end: tuple[int, ...] = attribute(PADS, default=())
    cube_coeff: float = attribute(FLOAT, default=-0.75)

    @property
    def by_scales(self) -> bool:
        return self.shape_calculation_mode == "scales"

    def pads(self, rank: int) -> tuple[tuple[int, int], ...]:
        """Returns the padding before and after each axis; 0 where none is given."""
        before, after = (
            (*pads[:rank], *(0,) * (rank - len(pads))) for pads in (self.pads_begin, self.pads_end)
        )
        return tuple(zip(before, after, strict=True))

    def resized(self, image: Tensor, given: Tensor, name: str, axes: Tensor | None) -> Tensor:
        """Returns the image with `axes` resized to the sizes, or by the scales, in `given`."""
        along = default_axes(image, axes)
        if image.rank is None or along is None:
            return Tensor(image.element_type, PartialShape.of_rank(image.rank))
        within(along, image.rank, of="image", least=0)
        dims = [
            dim + (before + after) if before + after else dim
            for dim, (before, after) in zip(image.shape, self.pads(image.rank), strict=True)
        ]
        scales = None
        if given.element_type in SCALE_TYPES and given.value is not None:
            scales = given.value.exact
        sizes = wanted_dimensions(given) if given.element_type in SIZE_TYPES else None
        numbers = sizes if scales is None else scales
        if numbers is not None and len(numbers) < len(along):
            least, seen = Between(len(along), None), len(numbers)
            raise Violation(at=name, relation="count", expected=least, actual=seen)
        for index, axis in enumerate(along):
            if scales is not None:
                dims[axis] = scaled(dims[axis], scales[index])
            else:
                dims[axis] = DYNAMIC if sizes is None else sizes[index]
        return Tensor(image.element_type, PartialShape(dims))

    def resample(self, image: Array, given: Array, axes: Array | None) -> Array:
        along = list(range(image.ndim)) if axes is None else [int(axis) for axis in axes]
        if any(self.pads_begin) or any(self.pads_end):
            image = np.pad(image, self.pads(image.ndim))
        shape = image.shape
        if self.by_scales:
            scales = [float(scale) for scale in given[: len(along)]]
            pairs = zip(along, scales, strict=True)
            sizes = [scaled(Dimension(shape[axis]), scale).low for axis, scale in pairs]
        else:
            sizes = [int(size) for size in given[: len(along)]]
            pairs = zip(along, sizes, strict=True)
            scales = [size / shape[axis] if shape[axis] else 1.0 for axis, size in pairs]
        if 0 in shape or 0 in sizes:
            target = dict(zip(along, sizes, strict=True))
            return np.zeros([target.get(*pair) for pair in enumerate(shape)], image.dtype)
        steps = list(zip(along, sizes, scales, strict=True))
        return self.nearest(image, steps) if self.mode == "nearest" else self.mixed(image, steps)

    def nearest(self, image: Array, steps: Steps) -> Array:
        """Returns the image resized in the mode `nearest`. steps: axes, new sizes and scales."""
        for axis, size, scale in steps:
            before = image.shape[axis]
            coordinates = self.coordinates(size, before, scale)
            nearest = NEAREST[self.nearest_mode](coordinates, scale < 1).astype(np.int64)
            image = np.take(image, np.clip(nearest, 0, before - 1), axis=axis)
        return image

    def mixed(self, image: Array, steps: Steps) -> Array:
        """Resizes the image in a mode other than `nearest`, from the last axis to the first."""
        distinct([axis for axis, _, _ in steps], at="axes", rank=image.ndim)
        with_pillow = self.mode.endswith("pillow")
        data = numbers = plain(image)
        if numbers.dtype.kind != "f":
            data = numbers.astype(np.float64 if numbers.dtype.itemsize > 1 else np.float32)
        smaller = any(scale < 1 for _, _, scale in steps)
        for axis, size, scale in reversed(steps):
            before = image.shape[axis]
            if with_pillow and size == before:
                continue
            stretch = scale if self.antialias and smaller else 1.0
            data = mixed(data, axis, self.taps(size, before, scale, stretch))
            if with_pillow and image.dtype.name in SMALL_INTEGERS:
                data = computed(data, image).astype(data.dtype)
        return computed(data, image)

    def taps(self, size: int, before: int, scale: float, stretch: float) -> Taps:
        """Returns positions and weights of elements for an axis resized from `before` to `size`."""
        if self.mode.endswith("pillow"):
            return pillow(size, before, self.mode, self.cube_coeff)
        coordinates = self.coordinates(size, before, scale)
        if self.mode == "linear":
            return linear(coordinates, before, stretch)
        if self.mode == "linear_onnx":
            return linear_onnx(coordinates, before)
        return cubic(coordinates, before, self.cube_coeff)

    def coordinates(self, size: int, before: int, scale: float) -> Array:
        return original(self.coordinate_transformation_mode, size, before, np.float32(scale))


class Interpolate_1(Operation):
    """Resizes the axes in the attribute `axes` to `target_spatial_shape`."""

    since = 1
    differs = InterpolateAttributes.differs
    image = operand(ANY)
    target_spatial_shape = operand(INTEGER, value=True)
    axes: tuple[int, ...] = attribute(NATURALS, default=(), required=True)
    mode: str = attribute(STRING, default="", required=True)
    align_corners: bool = attribute(BOOLEAN, default=True)
    antialias: bool = attribute(BOOLEAN, default=False)
    pads_begin: tuple[int, ...] = attribute(PADS, default=())
    pads_end: tuple[int, ...] = attribute(PADS, default=())

    def infer(self, image: Tensor, target_spatial_shape: Tensor) -> Tensor:
        if image.rank is None:
            return image
        within(self.axes, image.rank, of="image", least=0)
        dims, sizes = list(image.shape), wanted_dimensions(target_spatial_shape) or []
        for index, axis in enumerate(sorted(set(self.axes))):
            dims[axis] = sizes[index] if index < len(sizes) else DYNAMIC
        return Tensor(image.element_type, PartialShape(dims))

    def check(self, image: Tensor, target_spatial_shape: Tensor) -> Iterator[Fault]:
        if self.mode not in ("nearest", "linear", "cubic", "area", "linear_onnx"):
            wanted = "nearest, linear, cubic or area"
            yield fault(at="mode", expected=wanted, actual=self.mode, rule=ATTRIBUTE_VALUE)
        count, axes = target_spatial_shape.shape.size, len(set(self.axes))
        if count.high < axes:
            name = "target_spatial_shape"
            yield fault(at=name, relation="count", expected=axes, actual=count, accepted=True)
        yield from doubtful_values(self.axes, target_spatial_shape, "target_spatial_shape")

    def evaluate(self, image: Array, target_spatial_shape: Array) -> Array:
        modes = {
            "nearest": "nearest",
            "linear": "linear_onnx" if image.ndim < 5 else "linear",
            "linear_onnx": "linear_onnx",
            "cubic": "cubic",
        }
        if self.mode not in modes:
            raise NotImplementedError(f"the mode '{self.mode}' is not implemented")
        padded = any(self.pads_begin) or any(self.pads_end)
        transformation = "align_corners" if self.align_corners else "asymmetric"
        if (
            not self.align_corners
            and self.mode.startswith("linear")
            and not padded
            and not (image.ndim == 4 and set(self.axes) == {2, 3})
        ):
            transformation = "half_pixel"
        newer = Interpolate_11(
            mode=modes[self.mode],
            coordinate_transformation_mode=transformation,
            nearest_mode="simple",
            antialias=self.antialias,
            pads_begin=self.pads_begin,
            pads_end=self.pads_end,
        )
        return newer.resample(
            image, target_spatial_shape.ravel(), np.array(sorted(set(self.axes)), np.int64)
        )


class Interpolate_4(InterpolateAttributes):
    """Resizes `axes` to `sizes`, or by `scales`."""

    since = 4
    sizes = operand(SIZE_TYPES, known_type=True, value=True)
    scales = operand(SCALE_TYPES, known_type=True, value=True)
    axes = operand(SIZE_TYPES, known_type=True, rank=1, value=True, optional=True)

    def infer(self, image: Tensor, sizes: Tensor, scales: Tensor, axes: Tensor | None) -> Tensor:
        given, name = (scales, "scales") if self.by_scales else (sizes, "sizes")
        # not declared: OpenVINO does not check the rank of the other input
        rank(given.rank, 1, at=name)
        return self.resized(image, given, name, axes)

    def check(
        self, image: Tensor, sizes: Tensor, scales: Tensor, axes: Tensor | None
    ) -> Iterator[Fault]:
        given, name = (scales, "scales") if self.by_scales else (sizes, "sizes")
        return doubtful_values(default_axes(image, axes), given, name)

    def evaluate(self, image: Array, sizes: Array, scales: Array, axes: Array | None) -> Array:
        return self.resample(image, scales if self.by_scales else sizes, axes)


class Interpolate_11(InterpolateAttributes):
    """Like Interpolate-4, but with one input for sizes or scales, and with the modes of Pillow."""

    since = 11
    mode: str = attribute(
        Choice("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"),
        default="nearest",
        required=True,
    )
    scales_or_sizes = operand(SIZE_TYPES | SCALE_TYPES, known_type=True, rank=1, value=True)
    axes = operand(SIZE_TYPES, known_type=True, rank=1, value=True, optional=True)

    def infer(self, image: Tensor, scales_or_sizes: Tensor, axes: Tensor | None) -> Tensor:
        allowed, seen = SCALE_TYPES if self.by_scales else SIZE_TYPES, scales_or_sizes.element_type
        if not seen.is_dynamic:
            of_type(seen, allowed, at="scales_or_sizes")
        return self.resized(image, scales_or_sizes, "scales_or_sizes", axes)

    def check(self, image: Tensor, scales_or_sizes: Tensor, axes: Tensor | None) -> Iterator[Fault]:
        return doubtful_values(default_axes(image, axes), scales_or_sizes, "scales_or_sizes")

    def evaluate(self, image: Array, scales_or_sizes: Array, axes: Array | None) -> Array:
        return self.resample(image, scales_or_sizes, axes)
