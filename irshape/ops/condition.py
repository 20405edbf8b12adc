"""Conditions: the choice between two inputs, and tests for infinity and NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..element_types import ElementType
from .conversion import plain
from .declaration import ANY, BOOLEAN_TYPE, attribute, operand
from .elementwise import FLOATING, Broadcasting, Unary, common_type
from .intervals import Interval, mapped
from .kinds import BOOLEAN
from .lazy import Array, np
from .tensors import Number, Tensor, Value

if TYPE_CHECKING:
    from ..symbols.expressions import Expression


class Select(Broadcasting):
    """Elements of `then` where `cond` is true, and of `otherwise` where it is false."""

    since = 1
    cond = operand(BOOLEAN_TYPE)
    then = operand(ANY)
    otherwise = operand(ANY, like="then")

    def infer(self, cond: Tensor, then: Tensor, otherwise: Tensor) -> Tensor:
        merged = self.merged(then.shape, otherwise.shape, "otherwise", "then")
        return Tensor(common_type(then, otherwise), self.merged(merged, cond.shape, "cond", "then"))

    def infer_value(
        self, cond: Tensor, then: Tensor, otherwise: Tensor, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        shapes = [tensor.shape.static for tensor in (cond, then, otherwise)]
        if None in shapes:
            return None
        first, second, third = (shape for shape in shapes if shape is not None)
        rank = len(second)
        operands = [
            (cond, first + self.trailing(rank, len(first))),
            (then, second),
            (otherwise, third + self.trailing(rank, len(third))),
        ]
        return mapped(self.exact, self.bounds, operands, outputs[0], self.symbolic)

    def exact(self, cond: Number, then: Number, otherwise: Number) -> Number:
        return then if cond else otherwise

    def symbolic(
        self, cond: Expression, then: Expression, otherwise: Expression
    ) -> Expression | None:
        if cond.constant is not None:
            return then if cond.constant else otherwise
        return then if then == otherwise else None

    def bounds(self, cond: Interval, then: Interval, otherwise: Interval) -> Interval:
        if cond[0] == cond[1]:
            return then if cond[0] else otherwise
        return min(then[0], otherwise[0]), max(then[1], otherwise[1])

    def evaluate(self, cond: Array, then: Array, otherwise: Array) -> Array:
        chosen = np.where(self.aligned(then, cond), then, self.aligned(then, otherwise))
        return chosen.view(then.dtype) if then.dtype.metadata else chosen


class NumberTest(Unary):
    """The base class of tests that compute a boolean for each number."""

    data = operand(FLOATING)

    def infer(self, data: Tensor) -> Tensor:
        return Tensor(ElementType.of("boolean"), data.shape)

    def evaluate(self, data: Array) -> Array:
        return np.asarray(self.of(plain(data)))


class IsNaN(NumberTest):
    """Whether each element is NaN."""

    since = 10
    function = "isnan"


class IsFinite(NumberTest):
    """Whether each element is neither infinite nor NaN."""

    since = 10
    function = "isfinite"


class IsInf(NumberTest):
    """Whether each element is infinite. The attributes select positive or negative infinity."""

    since = 10
    detect_negative: bool = attribute(BOOLEAN, default=True)
    detect_positive: bool = attribute(BOOLEAN, default=True)

    def of(self, data: Array) -> Array:
        if self.detect_negative and self.detect_positive:
            return np.isinf(data)
        if self.detect_negative or self.detect_positive:
            return np.equal(data, np.inf if self.detect_positive else -np.inf)
        return np.zeros(data.shape, bool)
