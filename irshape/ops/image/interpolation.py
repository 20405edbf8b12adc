"""Interpolate, which resizes an image along some of its axes.

Every mode is separable, so `evaluate` resizes one axis after the other. An output element is a
weighted sum of a few input elements (`Taps`), or a single one in the mode `nearest`. As in
OpenVINO, coordinates are computed in f32 for every type of image, because their rounding decides
which element is nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Final

from ...element_types import ElementType
from ...faults import Between, Fault, Violation, fault
from ...rule_ids import ATTRIBUTE_VALUE, INPUT_VALUE, OPERATION_CONSTRAINT
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, PartialShape
from ..axes import duplicate_axes
from ..conditions import distinct, rank
from ..conversion import plain
from ..declaration import ANY, INTEGER, Operation, attribute, operand, types
from ..differences import (
    NO_LOWER_BOUNDS,
    Site,
    facts,
    read_for_zero,
    refused,
    typed,
)
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
"""The largest denominator of the fraction that a scale can stand for. Both must be equal in f32."""
SCALE_PRECISION: Final = 2**-23
SMALL_INTEGERS: Final = ("int8", "uint8")


def scaled(dim: Dimension, scale: float) -> Dimension:
    """Returns a dimension times a scale, rounded down.

    As in OpenVINO, it is computed in f32, with 1e-6 added to the scale.
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
    """Returns an expression times a scale, rounded down; None if the scale is not a simple
    fraction.

    The 1e-6 added to the scale makes a difference only for sizes in the hundred thousands.
    """
    from fractions import Fraction

    fraction = Fraction(scale).limit_denominator(MAX_DENOMINATOR)
    if abs(fraction - Fraction(scale)) > fraction * SCALE_PRECISION:
        return None
    return (size * fraction.numerator) // fraction.denominator


def _whole(number: float) -> int:
    """Returns the integer part of a size; 0 for a number that is not a size."""
    return int(number) if 0 <= number < UNBOUNDED else 0


def default_axes(image: Tensor, axes: Tensor | None) -> tuple[int, ...] | None:
    """Returns the axes where they are known; all axes where the input is absent."""
    if axes is not None:
        return axes.known
    return None if image.rank is None else tuple(range(image.rank))


def require_axes(axes: tuple[int, ...], image: Tensor) -> None:
    """Raises `Violation` unless every axis exists in the image. Negative axes are not allowed."""
    rank = len(image.shape)
    for axis in axes:
        if not (0 <= axis < rank):
            raise Violation(
                at="axes",
                relation="within",
                expected=Between(0, rank - 1),
                actual=axis,
                of="image",
                given=image.rank,
            )


def resized(
    image: Tensor,
    axes: tuple[int, ...],
    given: Tensor,
    name: str,
    pads: tuple[tuple[int, int], ...],
) -> PartialShape:
    """Returns the shape of the padded image with `axes` resized.

    `given` holds their scales or their sizes; `name` is its operand.
    """
    dims = [
        dim + (before + after) if before + after else dim
        for dim, (before, after) in zip(image.shape, pads, strict=True)
    ]
    scales = None
    if given.element_type in SCALE_TYPES and given.value is not None:
        scales = given.value.exact
    sizes = wanted_dimensions(given) if given.element_type in SIZE_TYPES else None
    numbers = sizes if scales is None else scales
    if not (numbers is None or len(numbers) >= len(axes)):
        raise Violation(
            f"`{name}` {given.shape} must contain a number for each of the {len(axes)} axes",
            at=name,
            relation="equal",
            expected=len(axes),
            actual=given.shape.size,
            rule=OPERATION_CONSTRAINT,
        )
    for index, axis in enumerate(axes):
        if scales is not None:
            dims[axis] = scaled(dims[axis], scales[index])
        else:
            dims[axis] = DYNAMIC if sizes is None else sizes[index]
    return PartialShape(dims)


def doubtful_values(axes: tuple[int, ...] | None, given: Tensor, name: str) -> Iterator[Fault]:
    """Yields faults of axes, sizes or scales that OpenVINO accepts against the specification."""
    if axes is not None and len(set(axes)) < len(axes):
        yield duplicate_axes(axes)
    count = given.shape.size
    if axes is not None and count.low > len(axes):
        yield fault(
            f"`{name}` {given.shape} contains {count} elements for {len(axes)} axes; "
            "OpenVINO ignores the rest",
            at=name,
            relation="equal",
            expected=len(axes),
            actual=count,
            rule=OPERATION_CONSTRAINT,
        )
    if given.element_type not in SCALE_TYPES:
        yield from negative_sizes(given, name)
    elif given.value is not None:
        for index, scale in enumerate(given.value.exact or ()):
            if not 0 < scale < float("inf"):
                yield fault(
                    at=name,
                    expected="a number above 0",
                    actual=scale,
                    position=index,
                    rule=INPUT_VALUE,
                )


def _bf16_scales(site: Site) -> bool:
    """Returns whether the scales of an Interpolate are a constant of bf16."""
    index = 2 if site.since == 4 else 1
    return (
        site.since >= 4
        and site.attribute("shape_calculation_mode") == "scales"
        and site.type_name(index) == "bf16"
        and site.constant[index]
    )


class InterpolateAttributes(Operation):
    """The base of Interpolate-4 and Interpolate-11."""

    differs = facts(
        refused("2026.3", "an Interpolate of f64", typed("f64")),
        refused("2023.1", "an Interpolate with scales of bf16", _bf16_scales),
        refused("2023.1", "a size that is a constant of i4 or u4", read_for_zero(1)),
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
        """Returns the result, with `axes` resized by the scales or to the sizes in `given`."""
        if image.rank is None:
            return Tensor(image.element_type, DYNAMIC_SHAPE)
        along = default_axes(image, axes)
        if along is None:
            return Tensor(image.element_type, PartialShape.of_rank(image.rank))
        require_axes(along, image)
        return Tensor(image.element_type, resized(image, along, given, name, self.pads(image.rank)))

    def resample(self, image: Array, given: Array, axes: Array | None) -> Array:
        along = list(range(image.ndim)) if axes is None else [int(axis) for axis in axes]
        padded = image
        if any(self.pads_begin) or any(self.pads_end):
            padded = np.pad(image, self.pads(image.ndim))
        if self.by_scales:
            scales = [float(scale) for scale in given[: len(along)]]
            sizes = [
                scaled(Dimension(padded.shape[axis]), scale).low
                for axis, scale in zip(along, scales, strict=True)
            ]
        else:
            sizes = [int(size) for size in given[: len(along)]]
            scales = [
                size / padded.shape[axis] if padded.shape[axis] else 1.0
                for axis, size in zip(along, sizes, strict=True)
            ]
        return interpolate(padded, along, sizes, scales, self)


class Interpolate_1(Operation):
    """Resizes the axes that the attribute `axes` names."""

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
        require_axes(self.axes, image)
        dims, sizes = list(image.shape), wanted_dimensions(target_spatial_shape) or []
        for index, axis in enumerate(sorted(set(self.axes))):
            dims[axis] = sizes[index] if index < len(sizes) else DYNAMIC
        return Tensor(image.element_type, PartialShape(dims))

    def check(self, image: Tensor, target_spatial_shape: Tensor) -> Iterator[Fault]:
        if self.mode not in ("nearest", "linear", "cubic", "area", "linear_onnx"):
            wanted = "nearest, linear, cubic or area"
            yield fault(
                f'`mode="{self.mode}"` is not {wanted}',
                at="mode",
                expected=wanted,
                actual=self.mode,
                rule=ATTRIBUTE_VALUE,
            )
        count, wanted_count = target_spatial_shape.shape.size, len(set(self.axes))
        if count.high < wanted_count:
            yield fault(
                f"`target_spatial_shape` {target_spatial_shape.shape} contains {count} elements "
                "for "
                f"the {wanted_count} axes {list(self.axes)}; OpenVINO reads past its end",
                at="target_spatial_shape",
                relation="equal",
                expected=wanted_count,
                actual=count,
                rule=OPERATION_CONSTRAINT,
            )
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
    """Resizes axes to `sizes`, or by `scales`."""

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
        if not (seen.is_dynamic or seen in allowed):
            raise Violation(
                f"`scales_or_sizes` has element type {seen}, but with "
                f'shape_calculation_mode="{self.shape_calculation_mode}" '
                f"it holds {self.shape_calculation_mode}: {_names(allowed)}",
                at="scales_or_sizes",
                relation="type",
                expected=_names(allowed),
                actual=seen,
            )
        return self.resized(image, scales_or_sizes, "scales_or_sizes", axes)

    def check(self, image: Tensor, scales_or_sizes: Tensor, axes: Tensor | None) -> Iterator[Fault]:
        return doubtful_values(default_axes(image, axes), scales_or_sizes, "scales_or_sizes")

    def evaluate(self, image: Array, scales_or_sizes: Array, axes: Array | None) -> Array:
        return self.resample(image, scales_or_sizes, axes)


def _names(allowed: frozenset[ElementType]) -> str:
    return ", ".join(sorted(element_type.name for element_type in allowed))


# evaluation


def interpolate(
    image: Array,
    axes: list[int],
    sizes: list[int],
    scales: list[float],
    attributes: InterpolateAttributes,
) -> Array:
    """Returns the image with each of the axes resized, from the last given to the first."""
    mode = attributes.mode
    if not image.size or 0 in sizes:
        target = dict(zip(axes, sizes, strict=True))
        shape = [target.get(axis, before) for axis, before in enumerate(image.shape)]
        return np.zeros(shape, image.dtype)
    if mode == "nearest":
        return nearest_elements(image, axes, sizes, scales, attributes)
    distinct(axes, at="axes", rank=image.ndim)  # an axis cannot have two sizes
    stepwise = mode.endswith("pillow") and image.dtype.name in SMALL_INTEGERS
    numbers = plain(image)
    data = numbers
    if numbers.dtype.kind != "f":
        data = numbers.astype(np.float64 if numbers.dtype.itemsize > 1 else np.float32)
    antialias = attributes.antialias and any(scale < 1 for scale in scales)
    for axis, size, scale in reversed(list(zip(axes, sizes, scales, strict=True))):
        before = image.shape[axis]
        if mode.endswith("pillow") and size == before:
            continue
        taps = taps_of(size, before, scale, attributes, antialias=antialias)
        data = mixed(data, axis, taps)
        if stepwise:
            data = computed(data, image).astype(data.dtype)
    return computed(data, image)


def nearest_elements(
    image: Array,
    axes: list[int],
    sizes: list[int],
    scales: list[float],
    attributes: InterpolateAttributes,
) -> Array:
    """Returns the image resized in the mode `nearest`."""
    for axis, size, scale in zip(axes, sizes, scales, strict=True):
        before = image.shape[axis]
        coordinates = original(
            attributes.coordinate_transformation_mode, size, before, np.float32(scale)
        )
        nearest = NEAREST[attributes.nearest_mode](coordinates, scale < 1).astype(np.int64)
        image = np.take(image, np.clip(nearest, 0, before - 1), axis=axis)
    return image


def taps_of(
    size: int, before: int, scale: float, attributes: InterpolateAttributes, *, antialias: bool
) -> Taps:
    """Returns the taps of an axis that is resized from `before` to `size`."""
    mode, cube_coeff = attributes.mode, attributes.cube_coeff
    if mode.endswith("pillow"):
        return pillow(size, before, mode, cube_coeff)
    transformation = attributes.coordinate_transformation_mode
    coordinates = original(transformation, size, before, np.float32(scale))
    if mode == "linear":
        return linear(coordinates, before, scale if antialias else 1.0)
    if mode == "linear_onnx":
        return linear_onnx(coordinates, before)
    return cubic(coordinates, before, cube_coeff)
