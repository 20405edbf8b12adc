"""Operations that convert their inputs to another element type."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ..element_types import DYNAMIC_TYPE, ElementType
from ..faults import require
from ..shapes import INT64_MIN, UNBOUNDED
from .conversion import converted
from .declaration import ANY, Operation, attribute, operand, types
from .differences import When, facts, no_type, not_run, refused
from .intervals import Interval, corners, mapped
from .kinds import BOOLEAN, TYPE_NAME
from .lazy import Array, element_type_of
from .tensors import Number, Tensor, Value

if TYPE_CHECKING:
    from ..symbols.expressions import Expression


def value_in(data: Tensor, output: Tensor) -> Value | None:
    """Returns the value of a tensor after conversion to the element type of `output`."""
    shape, target = data.shape.static, output.element_type
    if shape is None or data.element_type.is_dynamic:
        return None
    if target.kind == "boolean":
        return mapped(lambda number: number != 0, _truth, [(data, shape)], output)
    exact = partial(_whole, target.limits) if target.is_integer else float
    return mapped(
        exact,
        partial(corners, _cut if target.is_integer else float),
        [(data, shape)],
        output,
        _without_fraction if target.is_integer else lambda data: data,
    )


def _without_fraction(data: Expression) -> Expression | None:
    return data.floor() if data.is_whole or data.facts.is_nonnegative(data) else None


def _truth(numbers: Interval) -> Interval:
    low, high = numbers
    return not low <= 0 <= high, not low == high == 0


def _cut(number: Number) -> Number:
    return number if math.isinf(number) else int(number)


def _whole(limits: tuple[int, int], number: Number) -> Number:
    """Returns a known number without its fraction.

    Raises `OverflowError` for a real number or a limit of int64 outside `limits`, because the
    result is uncertain. Other integers outside `limits` wrap around later.
    """
    whole = int(number)
    if (not isinstance(number, int) or whole in (INT64_MIN, UNBOUNDED)) and not limits[
        0
    ] <= whole <= limits[1]:
        raise OverflowError(number)
    return whole


def _converts_to(*names: str) -> When:
    """Returns a condition for layers that are not constant and have an output of these types."""
    return lambda site: (
        any(output.element_type.name in names for output in site.outputs) and not all(site.constant)
    )


class Convert(Operation):
    """The input in another element type. The module `conversion` states how numbers are rounded."""

    since = 1
    released = ((15, "2024.2"), (16, "2025.0"))
    differs = facts(
        refused("2025.0", "a layer that leaves its element type undefined", no_type),
        not_run("2024.4", "a Convert to i4 or u4", _converts_to("i4", "u4")),
        not_run(
            "2024.4",
            "a Convert to f8e4m3 or f8e5m2",
            _converts_to("f8e4m3", "f8e5m2"),
            since="2024.0",
        ),
        not_run(
            "2024.4",
            "a Convert to f4e2m1 or f8e8m0",
            _converts_to("f4e2m1", "f8e8m0"),
            since="2024.3",
        ),
        not_run("2025.1", "a Convert to nf4", _converts_to("nf4"), since="2023.2"),
    )
    decompresses = "exactly"
    stepwise = True
    data = operand(ANY)
    destination_type: ElementType = attribute(TYPE_NAME, default=DYNAMIC_TYPE, required=True)

    def infer(self, data: Tensor) -> Tensor:
        return Tensor(self.destination_type, data.shape)

    def infer_value(self, data: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        return value_in(data, outputs[0])

    def evaluate(self, data: Array) -> Array:
        return converted(data, self.destination_type)


class ConvertLike(Operation):
    """The input in the element type of `like`."""

    since = 1
    data = operand(ANY)
    like = operand(ANY)

    def infer(self, data: Tensor, like: Tensor) -> Tensor:
        return Tensor(like.element_type, data.shape)

    def infer_value(self, data: Tensor, like: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        return value_in(data, outputs[0])

    def evaluate(self, data: Array, like: Array) -> Array:
        return converted(data, element_type_of(like))


PROMOTABLE = types("boolean f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 i4 u64 u32 u16 u8 u4 u1")


class ConvertPromoteTypes(Operation):
    """Both inputs, converted to one element type that can hold the values of both.

    If `promote_unsafe` is false, a promotion that could lose digits is an error. With
    `pytorch_scalar_promotion`, a scalar gets the type of the other input if both are integers, or
    both reals.
    """

    since = 14
    input_0 = operand(PROMOTABLE)
    input_1 = operand(PROMOTABLE)
    promote_unsafe: bool = attribute(BOOLEAN, default=False)
    pytorch_scalar_promotion: bool = attribute(BOOLEAN, default=False)
    u64_integer_promotion_target: ElementType = attribute(TYPE_NAME, default=ElementType.of("f32"))

    def infer(self, input_0: Tensor, input_1: Tensor) -> tuple[Tensor, Tensor]:
        common = self.common_type(input_0, input_1)
        return Tensor(common, input_0.shape), Tensor(common, input_1.shape)

    def common_type(self, input_0: Tensor, input_1: Tensor) -> ElementType:
        a, b = input_0.element_type, input_1.element_type
        if a.is_dynamic or b.is_dynamic:
            return DYNAMIC_TYPE
        if a is b or a.kind == "boolean":
            return b
        if b.kind == "boolean":
            return a
        if a.is_real != b.is_real:
            return self.mixed_with_real(*((a, b) if a.is_real else (b, a)))
        if self.pytorch_scalar_promotion and (input_0.rank is None or input_1.rank is None):
            return DYNAMIC_TYPE  # depends on whether an input is a scalar
        if self.pytorch_scalar_promotion and (input_0.rank == 0) != (input_1.rank == 0):
            return self.of_scalar(*((b, a) if input_0.rank == 0 else (a, b)))
        if a.signed != b.signed:
            return self.mixed_signs(*((a, b) if a.signed else (b, a)))
        if a.bits != b.bits:
            return a if a.bits > b.bits else b
        self.require_safe(False, a, b)
        return ElementType.of("f16" if a.bits == 8 else "f32")

    def require_safe(self, fits: bool, given: ElementType, wanted: ElementType) -> None:
        """Raises `Violation` if `given` does not fit `wanted`, unless `promote_unsafe` is set."""
        require(
            fits or self.promote_unsafe,
            f"{given} cannot be promoted to {wanted} without loss, and promote_unsafe is not set",
            at="promote_unsafe",
        )

    def mixed_with_real(self, floating: ElementType, whole: ElementType) -> ElementType:
        self.require_safe(floating.bits >= 2 * whole.bits, whole, floating)
        return floating

    def of_scalar(self, target: ElementType, scalar: ElementType) -> ElementType:
        fits = (
            target.bits >= scalar.bits
            if target.signed == scalar.signed
            else target.signed and 2 * target.bits >= scalar.bits
        )
        self.require_safe(fits, scalar, target)
        return target

    def mixed_signs(self, signed: ElementType, unsigned: ElementType) -> ElementType:
        if unsigned.bits <= 32 and (self.promote_unsafe or 2 * unsigned.bits <= signed.bits):
            return ElementType.of(f"i{max(2 * unsigned.bits, signed.bits)}")
        self.require_safe(False, unsigned, signed)
        return self.u64_integer_promotion_target

    def infer_value(
        self, input_0: Tensor, input_1: Tensor, outputs: tuple[Tensor, ...]
    ) -> tuple[Value | None, ...]:
        return value_in(input_0, outputs[0]), value_in(input_1, outputs[1])

    def evaluate(self, input_0: Array, input_1: Array) -> tuple[Array, Array]:
        common = self.common_type(
            Tensor(element_type_of(input_0), input_0.shape),
            Tensor(element_type_of(input_1), input_1.shape),
        )
        return converted(input_0, common), converted(input_1, common)
