"""Computes values whose elements are expressions of symbols, e.g. `2*batch + 1`.

The symbols are sizes of inputs. Expressions are computed for elementwise operations, sums, products
and sizes of slices. Sizes are assumed to fit the integer type in which they are computed. In a real
type they are assumed to be exact: below 2^24 in f32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..element_types import ElementType
from ..shapes import INT64_MIN, UNBOUNDED, Dimension
from ..symbols.dimensions import dimension, expression_of
from ..symbols.expressions import Expression, Facts, TooLarge
from .tensors import Bounds, Number, Tensor, Value

WIDE = ("i64", "i32", "u64", "u32", "f64", "f32", "boolean")
"""The element types of tensors for which irshape keeps expressions."""

Rule = Callable[..., Expression | None]


def facts_of(values: Sequence[Value]) -> Facts | None:
    """Returns the facts about the symbols in these values; None if no value has a symbol."""
    for value in values:
        for expression in value.expressions or ():
            if expression is not None:
                return expression.facts
    return None


def followed(
    rule: Rule,
    values: Sequence[Value],
    lower: Sequence[Number],
    upper: Sequence[Number],
    element_type: ElementType,
) -> Value:
    """Returns a value with the bounds `lower` and `upper`, and with expressions of its elements.

    rule: computes the expression of an element from the expressions of the operands' elements.
    values: the operands.
    """
    facts = facts_of(values)
    if facts is None or element_type.name not in WIDE:
        return Value(lower, upper)
    least, most = list(lower), list(upper)
    expressions: list[Expression | None] = []
    for index in range(len(least)):
        result = None
        if least[index] != most[index]:
            result = _applied(rule, [value.expression(index, facts) for value in values])
        if result is not None and (element_type.is_real or result.is_whole):
            least[index], most[index] = narrowed(result, least[index], most[index], element_type)
            if least[index] == most[index]:
                result = None
        else:
            result = None
        expressions.append(result)
    return with_expressions(least, most, expressions)


def with_expressions(
    lower: Sequence[Number], upper: Sequence[Number], expressions: Sequence[Expression | None]
) -> Value:
    if list(lower) == list(upper):
        return Value(lower)
    return Value(lower, upper, tuple(expressions) if any(expressions) else None)


def _applied(rule: Rule, operands: Sequence[Expression | None]) -> Expression | None:
    if None in operands:
        return None
    try:
        return rule(*operands)
    except (TooLarge, ZeroDivisionError):
        return None


def narrowed(
    expression: Expression, low: Number, high: Number, element_type: ElementType
) -> tuple[Number, Number]:
    """Returns the bounds `low` and `high`, narrowed to those of the expression."""
    least, most = expression.facts.range(expression)
    if not element_type.is_real:
        least = low if least == -math.inf else int(least)
        most = high if most == math.inf else int(min(most, UNBOUNDED))
    least, most = max(low, least), min(high, most)
    return (least, most) if least <= most else (low, high)


def combined(value: Value, rule: Rule, low: Number, high: Number) -> Value:
    """Returns a value of one element: all elements of `value`, combined by `rule`, e.g. added.

    low, high: the bounds of the element.
    """
    facts = facts_of([value])
    if facts is None:
        return Value([low], [high])
    operands = [value.expression(index, facts) for index in range(len(value))]
    result: Expression | None = operands[0] if operands else None
    for operand in operands[1:]:
        if result is not None:
            result = None if operand is None else _applied(rule, [result, operand])
    if result is None:
        return Value([low], [high])
    least, most = narrowed(result, low, high, ElementType.of("i64"))
    return with_expressions([least], [most], [result])


def slice_size(
    size: Expression, start: Expression, stop: Expression, step: int
) -> Expression | None:
    """Returns the number of elements of `start:stop:step` along an axis, or None if it is unknown.

    `start` and `stop` may lie outside the axis. Negative numbers count from the end of the axis.
    """
    facts = size.facts
    first, last = _from_front(start, size), _from_front(stop, size)
    if first is None or last is None:
        return None
    if step > 0:
        # a start beyond the end of the axis gives an empty slice either way
        return ((last.minimum(size) - first.maximum(0) + (step - 1)) // step).maximum(0)
    if not facts.assume_at_least(size, facts.number(1)):
        return None
    first, last = first.minimum(size - 1).maximum(0), last.maximum(-1).minimum(size)
    return ((first - last - step - 1) // -step).maximum(0)


def _from_front(index: Expression, size: Expression) -> Expression | None:
    """Returns an index counted from the front of an axis; None if its sign is unknown."""
    if index.facts.is_nonnegative(index):
        return index
    return index + size if index.facts.is_nonnegative(-index - 1) else None


def slice_of(dim: Dimension, start: Bounds, stop: Bounds, step: int, size: Dimension) -> Dimension:
    """Returns the size of a slice of an axis: `size`, with an expression if one is known."""
    ends = [start.expression, stop.expression]
    known = [end for end in (*ends, dim.expression if dim.symbolic else None) if end is not None]
    facts = known[0].facts
    length = expression_of(dim, facts)
    if length is None:
        return size
    first, last = (
        expression if expression is not None else _end(bounds, length, dim)
        for expression, bounds in zip(ends, (start, stop), strict=True)
    )
    if first is None or last is None:
        return size
    try:
        count = slice_size(length, first, last, step)
    except TooLarge:
        return size
    return size if count is None else dimension(count, size)


def _end(bounds: Bounds, length: Expression, dim: Dimension) -> Expression | None:
    """Returns `start` or `stop` of a slice as an expression, or None if it is unknown.

    A limit of int64, or the upper bound of the axis, stands for an end of the axis.
    """
    low, high, _ = bounds
    if low != high:
        return None
    if low >= UNBOUNDED or (dim.is_dynamic and low == dim.high):
        return length
    if low <= INT64_MIN + 1 or (dim.is_dynamic and low == -1 - dim.high):
        return -length - 1
    return length.facts.number(low)


def padded_size(dim: Dimension, before: Bounds, after: Bounds, size: Dimension) -> Dimension:
    """Returns the size of a padded axis: `size`, with an expression if one is known."""
    pads = [before.expression, after.expression]
    known = [pad for pad in (*pads, dim.expression if dim.symbolic else None) if pad is not None]
    facts = known[0].facts
    total = expression_of(dim, facts)
    for low, high, pad in (before, after):
        if total is None or (pad is None and low != high):
            return size
        total = total + (low if pad is None else pad)
    return size if total is None else dimension(total.maximum(0), size)


def range_size(start: Tensor, stop: Tensor, step: Tensor, interval: Dimension) -> Dimension:
    """Returns the length of a Range: `interval`, with an expression if the step is a known integer
    and `start` and `stop` have expressions."""
    stride = step.value.exact if step.value is not None else None
    values = [tensor.value for tensor in (start, stop) if tensor.value is not None]
    facts = facts_of(values)
    if facts is None or len(values) != 2 or not stride or not stride[0]:
        return interval
    by = int(stride[0])
    first, last = (value.expression(0, facts) for value in values)
    if by != stride[0] or first is None or last is None:
        return interval
    distance = last - first if by > 0 else first - last
    if not distance.is_whole:
        return interval
    return dimension(((distance + (abs(by) - 1)) // abs(by)).maximum(0), interval)


def range_value(
    start: Tensor, step: Tensor, lower: Sequence[Number], upper: Sequence[Number]
) -> Value:
    """Returns the elements of a Range of known length whose start is an expression."""
    stride = step.value.exact if step.value is not None else None
    facts = facts_of([start.value]) if start.value is not None else None
    first = start.value.expression(0, facts) if start.value is not None and facts else None
    if first is None or not stride or int(stride[0]) != stride[0]:
        return Value(lower, upper)
    by = int(stride[0])
    return with_expressions(lower, upper, [first + index * by for index in range(len(lower))])
