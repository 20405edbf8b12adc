"""Interval arithmetic in plain Python, for elementwise operations on small tensors.

A bound equal to the lowest or highest int64 means "no bound". Computations use infinity in place of
this number. At run time, elements lie within the bounds. Exception: an element without bounds can
overflow its type. A dimension never overflows.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..element_types import ElementType
from ..shapes import INT64_MIN, UNBOUNDED
from .tensors import Number, Tensor, Value

if TYPE_CHECKING:
    from ..symbols.expressions import Expression

Interval = tuple[Number, Number]
EVERYTHING: Interval = (-math.inf, math.inf)

UNDEFINED = (ZeroDivisionError, ValueError, OverflowError)
"""The exceptions that say that a function's result is undefined or not known exactly."""


def rounded(number: Number, element_type: ElementType) -> Number:
    """Returns a number as the element type stores it.

    Reals are rounded to nearest, ties to even. Integers keep their low bits.
    """
    if element_type.is_real:
        return _rounded_real(float(number), element_type.name)
    whole = int(number)
    low, high = element_type.limits
    return min(
        whole if low <= whole <= high else (whole - low) % (1 << element_type.bits) + low, UNBOUNDED
    )


def _rounded_real(number: float, name: str) -> float:
    if math.isnan(number):
        raise ValueError("not a number")
    if name == "f64" or number in (0, math.inf, -math.inf):
        return number
    if name == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", number))[0]
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])
    code = {"f32": "<f", "f16": "<e"}.get(name)
    if code is None:
        raise ValueError(name)
    try:
        return float(struct.unpack(code, struct.pack(code, number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def enclosed(interval: Interval, element_type: ElementType) -> Interval:
    """Returns the bounds of an element after conversion to the element type."""
    low, high = interval
    if element_type.is_real:
        return rounded(low, element_type), rounded(high, element_type)
    least, most = element_type.limits
    if (low < least and low != -math.inf) or (high > most and high != math.inf):
        low, high = least, most  # the element may have wrapped around
    return int(max(low, INT64_MIN)), int(min(high, UNBOUNDED))


def widest(element_type: ElementType) -> Interval:
    """Returns the bounds of an element whose value is unknown."""
    if element_type.kind == "boolean":
        return 0, 1
    return (INT64_MIN, UNBOUNDED) if element_type.is_integer else EVERYTHING


def opened(number: Number) -> Number:
    """Returns a bound. A limit of int64, i.e. "no bound", becomes infinity of the same sign."""
    return number if INT64_MIN < number < UNBOUNDED else math.copysign(math.inf, number)


def corners(function: Callable[..., Number], *intervals: Interval) -> Interval:
    """Returns bounds of a function's result. The function must be monotonic in each argument."""
    points: list[tuple[Number, ...]] = [()]
    for interval in intervals:
        points = [(*point, bound) for point in points for bound in interval]
    results = [result for point in points if (result := function(*point)) == result]
    return (min(results), max(results)) if results else EVERYTHING


def mapped(
    exact: Callable[..., Number],
    bounds: Callable[..., Interval],
    operands: Sequence[tuple[Tensor, tuple[int, ...]]],
    output: Tensor,
    symbolic: Callable[..., Expression | None] | None = None,
) -> Value | None:
    """Returns the value of an elementwise operation; `operands` are tensors and aligned shapes.

    exact: computes an element from known numbers, or raises one of `UNDEFINED`.
    bounds: computes the bounds of an element from intervals, or raises one of `UNDEFINED`.
    symbolic: computes an element from expressions, e.g. `2*batch`. An element for which this
    function returns None has no expression.
    """
    target, element_type = output.shape.static, output.element_type
    if target is None or element_type.kind not in ("integer", "real", "boolean"):
        return None
    values: list[Value] = []
    for tensor, shape in operands:
        value = None if tensor.value is None else spread(tensor.value, shape, target)
        if value is None:
            return None
        values.append(value)
    rows = [row for value in values for row in (value.lower, value.upper)]
    lower: list[Number] = []
    upper: list[Number] = []
    for element in zip(*rows, strict=True):
        lows, highs = element[::2], element[1::2]
        try:
            if lows == highs:
                low = high = rounded(exact(*lows), element_type)
            else:
                low, high = enclosed(
                    bounds(*zip(map(opened, lows), map(opened, highs), strict=True)), element_type
                )
        except UNDEFINED:
            low, high = widest(element_type)
        lower.append(low)
        upper.append(high)
    if lower == upper:
        return Value(lower)
    if symbolic is not None and any(value.expressions for value in values):
        from .symbolic import followed

        return followed(symbolic, values, lower, upper, element_type)
    return Value(lower, upper)


def spread(value: Value, shape: tuple[int, ...], target: tuple[int, ...]) -> Value | None:
    """Returns a value broadcast from `shape` to `target`, or None if NumPy would raise an error."""
    if shape == target:
        return value
    if len(shape) > len(target):
        return None
    padded = (1,) * (len(target) - len(shape)) + shape
    if any(here not in (1, there) for here, there in zip(padded, target, strict=True)):
        return None
    where: Iterable[int] = (0,)
    for here, there in zip(padded, target, strict=True):
        where = [at * here + (index if here > 1 else 0) for at in where for index in range(there)]
    return value.take(where)
