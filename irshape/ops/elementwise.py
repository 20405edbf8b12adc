"""Base classes of elementwise operations with one input, or with two that are broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from ..element_types import DYNAMIC_TYPE, ElementType
from ..faults import Violation
from ..shapes import DYNAMIC_SHAPE, PartialShape
from .conversion import encoded, is_plain, nearest, plain, real
from .declaration import NUMERIC, REAL, Operation, attribute, like, operand, types
from .intervals import Interval, corners, mapped
from .kinds import INT, Choice, Malformed
from .lazy import Array, element_type_of, np
from .tensors import Number, Tensor, Value

if TYPE_CHECKING:
    from ..symbols.expressions import Expression

FLOATING: Final = REAL - types("nf4")
"""The element types that OpenVINO treats as floating-point. nf4 is not one of them."""


class AutoBroadcast(Choice):
    """The rule by which inputs of different shapes are broadcast.

    OpenVINO also reads `explicit`, which it treats as `none`.
    """

    def __init__(self) -> None:
        super().__init__("none", "numpy", "pdpd")

    def read(self, text: str) -> str:
        if text.lower() == "explicit":
            raise Malformed(self.describe(), "none")
        return super().read(text)


AUTO_BROADCAST: Final = AutoBroadcast()


class Broadcasting(Operation):
    """The base class of operations that broadcast their inputs.

    With `auto_broadcast="pdpd"`, axis 0 of the second input is aligned with `axis` of the first. If
    `axis` is -1, the last axes are aligned.
    """

    auto_broadcast: str = attribute(AUTO_BROADCAST, default="numpy")
    axis: int = attribute(INT, default=0, name="auto_broadcast.auto_broadcast_axis")

    def merged(self, here: PartialShape, there: PartialShape, at: str, of: str) -> PartialShape:
        """Returns the shape of two inputs after broadcasting; raises `Violation` if none exists.

        here: the shape of the operand `of`. there: the shape of the operand `at`.
        """
        if self.auto_broadcast == "numpy":
            merged = here.broadcast(there)
        elif self.auto_broadcast == "none":
            merged = here.merge(there)
        else:
            merged = self.merged_along(here, there)
        if merged is None:
            raise Violation(at=at, relation="broadcast", expected=here, actual=there, of=of)
        return merged

    def merged_along(self, here: PartialShape, there: PartialShape) -> PartialShape | None:
        if here.dims is None or there.dims is None:
            return DYNAMIC_SHAPE
        start = len(here) - len(there) if self.axis == -1 else self.axis
        if start < 0 or start + len(there) > len(here):
            return None
        dims = list(here.dims)
        for i, dim in enumerate(there.dims, start):
            merged = dims[i].broadcast(dim)
            if merged is None or (dims[i].is_static and dim.is_static and dim.low > dims[i].low):
                return None
            dims[i] = merged
        return PartialShape(dims)

    def trailing(self, here: int, there: int) -> tuple[int, ...]:
        """Returns the 1s to append to a shape of rank `there`, so that it aligns with a shape of
        rank `here`."""
        return (
            (1,) * (here - there - self.axis)
            if self.auto_broadcast == "pdpd" and self.axis != -1
            else ()
        )

    def aligned(self, here: Array, there: Array) -> Array:
        ones = self.trailing(here.ndim, there.ndim)
        return there.reshape(there.shape + ones) if ones else there


def common_type(*tensors: Tensor | None) -> ElementType:
    """Returns the first known element type of tensors that must have the same type."""
    for tensor in tensors:
        if tensor is not None and tensor.element_type is not DYNAMIC_TYPE:
            return tensor.element_type
    return DYNAMIC_TYPE


class Binary(Broadcasting):
    """The base class of operations with two inputs and a result of the same element type.

    `exact` computes with numbers; the NumPy function `function`, or the method `of`, with arrays.
    """

    function: ClassVar[str]
    a = operand(NUMERIC)
    b = operand(NUMERIC, like="a")

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(self.result_type(a, b), self.merged(a.shape, b.shape, "b", "a"))

    def result_type(self, a: Tensor, b: Tensor) -> ElementType:
        return common_type(a, b)

    def infer_value(self, a: Tensor, b: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        here, there = a.shape.static, b.shape.static
        if here is None or there is None:
            return None
        return mapped(
            self.exact,
            self.bounds,
            [(a, here), (b, there + self.trailing(len(here), len(there)))],
            outputs[0],
            self.symbolic if a.element_type.is_integer else self.symbolic_real,
        )

    def exact(self, a: Number, b: Number) -> Number:
        """Returns the result for two known numbers, which are integers for integer types.

        Raises one of `intervals.UNDEFINED` if the result is undefined or not known exactly.
        """
        raise NotImplementedError

    def bounds(self, a: Interval, b: Interval) -> Interval:
        return corners(self.exact, a, b)

    def symbolic(self, a: Expression, b: Expression) -> Expression | None:
        """Returns the result for expressions, e.g. `batch` and `2*length`, or None if unknown."""
        return None

    def symbolic_real(self, a: Expression, b: Expression) -> Expression | None:
        """Returns the result for expressions, in a floating-point type."""
        return self.symbolic(a, b)

    def evaluate(self, a: Array, b: Array) -> Array:
        b = self.aligned(a, b)
        return computed(self.of(plain(a), plain(b)), a)

    def of(self, a: Array, b: Array) -> Array:
        return np.asarray(getattr(np, self.function)(a, b))


def below_zero(data: Array) -> str | None:
    """Returns the reason for a NaN, e.g. "the input has numbers below 0, down to -1", or None."""
    numbers = plain(data)
    least = float(numbers.min()) if numbers.size else 0
    return f"the input has numbers below 0, down to {least:.6g}" if least < 0 else None


def zero_by_zero(divisor: Array) -> str | None:
    """Returns the reason for a NaN, "it divides 0 by 0", or None if no divisor is 0."""
    return "it divides 0 by 0" if bool((plain(divisor) == 0).any()) else None


class Unary(Operation):
    """The base class of operations whose result has the element type and shape of their only input.

    The NumPy function named `function`, or the method `of`, computes the result. Integers are
    computed in f64 and rounded, unless `keeps_integers` is true.
    """

    function: ClassVar[str]
    keeps_integers = False
    data = operand(NUMERIC)
    result = like("data")

    def evaluate(self, data: Array) -> Array:
        if data.ndim == 0:
            return self.evaluate(data.reshape(1)).reshape(())
        numbers = plain(data) if self.keeps_integers else real(data, wide=True)
        return computed(self.of(numbers), data)

    def of(self, data: Array) -> Array:
        """Returns the result for an array of f32 or f64 (or integers) of rank 1 or more."""
        return np.asarray(getattr(np, self.function)(data))


class UnaryWithValue(Unary):
    """The base class of unary operations for which irshape also infers bounds of the result.

    `exact` computes the result for one number.
    """

    def infer_value(self, data: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        shape = data.shape.static
        return (
            None
            if shape is None
            else mapped(self.exact, self.bounds, [(data, shape)], outputs[0], self.symbolic)
        )

    def exact(self, data: Number) -> Number:
        """Returns the result for a known number.

        Raises one of `intervals.UNDEFINED` if the result is undefined or not known exactly.
        """
        raise NotImplementedError

    def bounds(self, data: Interval) -> Interval:
        return corners(self.exact, data)

    def symbolic(self, data: Expression) -> Expression | None:
        """Returns the result for an expression, e.g. of `2*batch`, or None if unknown."""
        return None


def computed(result: Array, like: Array) -> Array:
    """Returns a result in the element type of `like`.

    result: an array in the type of `plain(like)`, or in f64.
    """
    if result.dtype == like.dtype and is_plain(like):
        return result
    if result.dtype.kind == "f":
        return nearest(result, element_type_of(like))
    return encoded(result, element_type_of(like))
