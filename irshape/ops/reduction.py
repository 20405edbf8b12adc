"""Reduction operations: along some axes of a tensor, all elements become one."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, ClassVar

from ..faults import Fault
from ..shapes import DYNAMIC_SHAPE, INT64_MIN, ONE, UNBOUNDED, PartialShape
from .axes import repeated
from .conditions import doubted, within
from .declaration import BOOLEAN_TYPE, INTEGER, NUMERIC, Operation, attribute, operand, types
from .differences import Site, facts, inferred, not_run
from .kinds import BOOLEAN
from .lazy import Array, np
from .tensors import Number, Tensor, Value

STRING = types("string")


def reduced_shape(data: Tensor, axes: Tensor, keep_dims: bool) -> PartialShape:
    """Returns the shape of `data` without `axes` or, if `keep_dims`, with 1 for each of `axes`.

    If the axes are unknown, returns the shape that covers all possible axes.
    """
    rank = data.rank
    known = axes.known
    if rank is None:
        return data.shape
    if known is None:
        return _with_unknown_axes(data.shape, axes.shape, keep_dims)
    # OpenVINO ignores the axes 0 and -1 of a scalar, unless `keep_dims` is set
    within([axis for axis in known if rank or keep_dims or axis not in (0, -1)], rank)
    gone = {axis % rank for axis in known} if rank else set()
    if keep_dims:
        return PartialShape(ONE if i in gone else dim for i, dim in enumerate(data.shape))
    return PartialShape(dim for i, dim in enumerate(data.shape) if i not in gone)


def _with_unknown_axes(shape: PartialShape, axes: PartialShape, keep_dims: bool) -> PartialShape:
    """Returns a shape that covers the results for all possible axes.

    Each dimension stays or becomes 1. If exactly one axis is removed, the rank is lower by one. A
    scalar stays a scalar.
    """
    if keep_dims or not len(shape):
        return PartialShape(dim.union(ONE) for dim in shape)
    if axes.size == 1:
        return PartialShape(a.union(b) for a, b in itertools.pairwise(shape))
    return DYNAMIC_SHAPE


def _reduced_axes(site: Site) -> bool:
    """Returns whether axes are known only at run time, although the rank of the result is known."""
    ranks = [output.shape.rank for output in site.outputs]
    return not site.attribute("keep_dims") and site.value(1) is None and ranks != [None]


class Reduction(Operation):
    """The base class of reductions along `axes`. With `keep_dims`, these axes stay with size 1."""

    differs = facts(
        not_run("2024.1", "a reduction over an axis that is known only at run time", _reduced_axes),
        inferred(
            "2024.1",
            "a reduction over an axis that is known only at run time",
            "infers a dynamic rank",
            _reduced_axes,
        ),
    )

    data = operand(NUMERIC | STRING, specified=NUMERIC)
    axes = operand(INTEGER, rank=(0, 1), value=True)
    keep_dims: bool = attribute(BOOLEAN, default=False)
    function: ClassVar[str]

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        return Tensor(data.element_type, reduced_shape(data, axes, self.keep_dims))

    def check(self, data: Tensor, axes: Tensor) -> Iterator[Fault]:
        known, rank = axes.known, data.rank
        if known and rank == 0:
            yield from doubted(within, known, 0, accepted=True)
        elif rank:
            yield from repeated(known, rank)

    def evaluate(self, data: Array, axes: Array) -> Array:
        along = tuple(sorted({int(axis) % data.ndim for axis in axes.ravel()})) if data.ndim else ()
        if not along:
            return self.of_single(data)
        return self.reduce(data, along).astype(data.dtype, copy=False)

    def of_single(self, data: Array) -> Array:
        """Returns the result for an empty list of axes, where each element is reduced by itself."""
        return data

    def reduce(self, data: Array, axes: tuple[int, ...]) -> Array:
        """Returns `data` combined along `axes` by the NumPy function named `function`."""
        return folded(getattr(np, self.function), wide(data), axes, self.keep_dims)


def wide(data: Array) -> Array:
    """Returns f16, bf16 and f8 arrays converted to f32, as in OpenVINO, and others unchanged."""
    return data.astype(np.float32) if data.dtype.kind in "fV" and data.dtype.itemsize < 4 else data


def folded(function: Any, data: Array, axes: tuple[int, ...], keep_dims: bool) -> Array:
    """Returns `data` reduced along `axes` by a NumPy ufunc, which keeps the element type."""
    return np.asarray(function.reduce(data, axis=axes, keepdims=keep_dims, dtype=data.dtype))


class BoundedReduction(Reduction):
    """The base class of reductions for which irshape also infers bounds of the result.

    `of_list` computes the bounds if `data` is a list.
    """

    def infer_value(self, data: Tensor, axes: Tensor, outputs: tuple[Tensor, ...]) -> Value | None:
        value, known = data.value, axes.known
        if value is None or data.rank != 1 or known is None:
            return None
        return self.of_list(value) if known else value

    def of_list(self, value: Value) -> Value | None:
        raise NotImplementedError


class ReduceMean(Reduction):
    """Arithmetic mean.

    The mean of integers is rounded towards zero. The mean of zero elements is 0, as in OpenVINO.
    """

    since = 1
    sums_up = "mean"

    def reduce(self, data: Array, axes: tuple[int, ...]) -> Array:
        count = prod(data.shape[axis] for axis in axes)
        if data.dtype.kind not in "iu":
            total = np.asarray(np.sum(wide(data), axis=axes, keepdims=self.keep_dims))
            return total / total.dtype.type(max(count, 1))
        exact = object if data.dtype.itemsize == 8 else np.int64
        total = np.asarray(np.sum(data, axis=axes, keepdims=self.keep_dims, dtype=exact))
        if not count:
            return np.zeros_like(total, dtype=data.dtype)
        return np.asarray(np.where(total < 0, -(-total // count), total // count)).astype(
            data.dtype
        )


class ReduceSum(BoundedReduction):
    """Sum; integers wrap around."""

    since = 1
    function = "add"
    sums_up = "sum"

    def of_list(self, value: Value) -> Value:
        return _combined(value, operator.add, sum(value.lower), sum(value.upper))


class ReduceProd(BoundedReduction):
    """Product; integers wrap around."""

    since = 1
    function = "multiply"

    def of_list(self, value: Value) -> Value:
        low: Number = 1
        high: Number = 1
        for a, b in zip(value.lower, value.upper, strict=True):
            corners = [low * a, low * b, high * a, high * b]
            low, high = _clipped(min(corners)), _clipped(max(corners))
        return _combined(value, operator.mul, low, high)


def _clipped(number: Number) -> Number:
    """Returns an integer bound clipped to int64; a real number unchanged."""
    return max(INT64_MIN, min(number, UNBOUNDED)) if isinstance(number, int) else number


def _combined(value: Value, rule: Callable[..., Any], low: Number, high: Number) -> Value:
    """Returns the sum or product of all elements of `value`, with the bounds `low` and `high`, and
    with an expression if each element has one. rule: adds or multiplies two expressions."""
    low, high = _clipped(low), _clipped(high)
    if value.expressions is None:
        return Value([low], [high])
    from .symbolic import combined

    return combined(value, rule, low, high)


class Extreme(BoundedReduction):
    """The base class of ReduceMax and ReduceMin.

    For zero elements, the maximum is -infinity or the lowest integer of the type, and the minimum
    is infinity or the highest integer.
    """

    leaves_nan_open = True
    largest: ClassVar[bool]

    def of_list(self, value: Value) -> Value | None:
        choose = max if self.largest else min
        return Value([choose(value.lower)], [choose(value.upper)]) if value.lower else None

    def reduce(self, data: Array, axes: tuple[int, ...]) -> Array:
        values, function = wide(data), np.max if self.largest else np.min
        if all(data.shape[axis] for axis in axes):
            return np.asarray(function(values, axis=axes, keepdims=self.keep_dims))
        identity = -np.inf if self.largest else np.inf
        if values.dtype.kind in "iu":
            limits = np.iinfo(values.dtype)
            identity = limits.min if self.largest else limits.max
        return np.asarray(function(values, axis=axes, keepdims=self.keep_dims, initial=identity))


class ReduceMax(Extreme):
    """The largest element."""

    since = 1
    largest = True


class ReduceMin(Extreme):
    """The smallest element."""

    since = 1
    largest = False


class ReduceL1(Reduction):
    """Sum of absolute values."""

    since = 4

    def of_single(self, data: Array) -> Array:
        return np.abs(data)

    def reduce(self, data: Array, axes: tuple[int, ...]) -> Array:
        return folded(np.add, np.abs(wide(data)), axes, self.keep_dims)


class ReduceL2(Reduction):
    """Square root of the sum of squares."""

    since = 4

    def of_single(self, data: Array) -> Array:
        return np.abs(data)

    def reduce(self, data: Array, axes: tuple[int, ...]) -> Array:
        return np.asarray(
            np.sqrt(np.sum(np.square(wide(data)), axis=axes, keepdims=self.keep_dims))
        )


class LogicalReduction(Reduction):
    """The base class of reductions of booleans."""

    data = operand(BOOLEAN_TYPE)


class ReduceLogicalAnd(LogicalReduction):
    """Whether all elements are true."""

    since = 1
    function = "logical_and"


class ReduceLogicalOr(LogicalReduction):
    """Whether any element is true."""

    since = 1
    function = "logical_or"
