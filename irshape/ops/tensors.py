"""Abstract tensors: element type, partial shape, and bounds of the elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ..element_types import DYNAMIC_TYPE, ElementType
from ..shapes import DYNAMIC_SHAPE, INT64_MIN, UNBOUNDED, Dimension, PartialShape, ShapeLike

if TYPE_CHECKING:
    from ..symbols.expressions import Expression, Facts

    Expressions = tuple[Expression | None, ...]

MAX_VALUE_ELEMENTS: Final = 1024
"""irshape infers the values of tensors of at most this number of elements. No shape has more
dimensions, and a static check must need little memory."""

Number = int | float


class Value:
    """Bounds of every element of a tensor, in row-major order.

    Booleans are 0 and 1; integers beyond int64 become its limits. If the caller asks for symbols,
    `expressions` has an item for each element: an expression, e.g. `2*batch`, or None if the number
    is known or there is no expression.
    """

    __slots__ = ("expressions", "lower", "upper")

    lower: tuple[Number, ...]
    upper: tuple[Number, ...]
    expressions: Expressions | None

    def __init__(
        self,
        lower: Iterable[Number],
        upper: Iterable[Number] | None = None,
        expressions: Expressions | None = None,
    ) -> None:
        self.lower = tuple(lower)
        self.upper = self.lower if upper is None else tuple(upper)
        self.expressions = expressions

    @property
    def exact(self) -> tuple[Number, ...] | None:
        """The elements if all of them are known, else None."""
        return self.lower if self.lower is self.upper or self.lower == self.upper else None

    def __len__(self) -> int:
        return len(self.lower)

    def dimension(self, index: int) -> Dimension | None:
        """Returns an element as a dimension; None if its upper bound is negative or NaN.

        A negative lower bound becomes 0, so that -1 to infinity becomes `?`.
        """
        low, high = self.lower[index], self.upper[index]
        if low == high and low.__class__ is int and low >= 0:
            return Dimension.of(low)
        if not high >= 0:  # negative, or not a number
            return None
        size = Dimension(int(min(max(low, 0), UNBOUNDED)), int(min(high, UNBOUNDED)))
        expression = None if self.expressions is None else self.expressions[index]
        if expression is None or size.is_static:
            return size
        from ..symbols.dimensions import counted

        return counted(expression, size)

    def expression(self, index: int, facts: Facts) -> Expression | None:
        """Returns an element as an expression, e.g. `2*batch` or the number 3, or None."""
        expression = None if self.expressions is None else self.expressions[index]
        if expression is None and self.lower[index] == self.upper[index]:
            from ..symbols.expressions import number

            return number(self.lower[index], facts)
        return expression

    def take(self, indices: Iterable[int]) -> Value:
        """Returns a value with the elements at these indices."""
        where = list(indices)
        return Value(
            [self.lower[i] for i in where],
            None if self.lower is self.upper else [self.upper[i] for i in where],
            None if self.expressions is None else tuple([self.expressions[i] for i in where]),
        )

    @staticmethod
    def unknown(elements: int, low: Number = INT64_MIN, high: Number = UNBOUNDED) -> Value:
        return Value((low,) * elements, (high,) * elements)

    @staticmethod
    def joined(values: Iterable[Value]) -> Value:
        """Returns a value with the elements of several values, one after the other."""
        parts = list(values)
        lower = [number for part in parts for number in part.lower]
        upper = [number for part in parts for number in part.upper]
        if all(part.expressions is None for part in parts):
            return Value(lower, upper)
        none: Expressions = (None,)
        return Value(lower, upper, tuple(e for p in parts for e in p.expressions or none * len(p)))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Value)
            and self.lower == other.lower
            and self.upper == other.upper
            and self.expressions == other.expressions
        )

    def __hash__(self) -> int:
        return hash((self.lower, self.upper, self.expressions))

    def __repr__(self) -> str:
        exact = self.exact
        if exact is not None:
            return f"Value{list(exact)}"
        bounds = zip(self.lower, self.upper, strict=True)
        return f"Value[{', '.join(f'{a}..{b}' if a != b else str(a) for a, b in bounds)}]"


class Bounds(NamedTuple):
    """The lowest and the highest value that an index can have."""

    low: int
    high: int
    expression: Expression | None = None
    """The index as an expression, e.g. `2*batch`, if it has one."""


def expressions_of(dims: Sequence[Dimension]) -> Expressions | None:
    """Returns the dimensions as expressions, e.g. `2*batch`; None if no dimension has one."""
    expressions = tuple([dim.expression if dim.symbolic else None for dim in dims])
    return expressions if any(expressions) else None


class Tensor:
    """An abstract tensor: element type, shape, and bounds of elements. Immutable and hashable."""

    __slots__ = ("_hash", "element_type", "rank", "shape", "value")

    element_type: ElementType
    shape: PartialShape
    rank: int | None
    """The rank; None if it is dynamic."""
    value: Value | None

    def __init__(
        self, element_type: ElementType | str, shape: ShapeLike, value: Value | None = None
    ) -> None:
        if isinstance(element_type, str):
            element_type = ElementType.of(element_type)
        if shape.__class__ is not PartialShape:
            shape = PartialShape.of(shape)
        self.element_type = element_type
        self.shape = shape
        self.rank = shape.rank
        self.value = value
        self._hash = 0  # computed on first use

    @property
    def known(self) -> tuple[int, ...] | None:
        """The elements as integers if all of them are known, else None.

        Reals lose their fraction, as in OpenVINO.
        """
        value = self.value
        if value is None or (value.lower is not value.upper and value.lower != value.upper):
            return None
        try:
            return tuple(map(int, value.lower))
        except (ValueError, OverflowError):  # NaN, infinity
            return None

    @property
    def known_by_name(self) -> bool:
        """Whether some elements of the value are expressions, e.g. `2*batch`."""
        return self.value is not None and self.value.expressions is not None

    def with_value(self, value: Value | None) -> Tensor:
        """Returns the tensor with another value, or with none."""
        return Tensor(self.element_type, self.shape, value)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Tensor)
            and self.element_type is other.element_type
            and self.shape == other.shape
            and self.value == other.value
        )

    def __hash__(self) -> int:
        known = self._hash
        if not known:
            known = self._hash = hash((self.element_type.name, self.shape, self.value))
        return known

    def __repr__(self) -> str:
        return f"{self.element_type}{self.shape}" + (
            f" = {self.value}" if self.value is not None else ""
        )


UNKNOWN: Final = Tensor(DYNAMIC_TYPE, DYNAMIC_SHAPE)
