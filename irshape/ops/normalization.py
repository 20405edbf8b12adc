"""Normalization operations: they shift and scale data by statistics, computed or given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import ClassVar

from ..faults import Between, Fault, Violation
from ..shapes import DYNAMIC, PartialShape
from .axes import normalized_axis, repeated
from .blockwise import in_blocks
from .conditions import doubted, large_enough
from .conversion import plain, real
from .declaration import (
    INTEGER,
    NUMERIC,
    NUMERIC_OR_BOOLEAN,
    Operation,
    at_least,
    attribute,
    like,
    operand,
)
from .elementwise import FLOATING, common_type, computed
from .kinds import BOOLEAN, FLOAT, INT, NATURALS, POSITIVE, Choice
from .lazy import Array, np
from .pooling.base import Along, over_windows
from .tensors import Tensor
from .windows import padded


def mean(numbers: Array, axes: tuple[int, ...]) -> Array:
    """Returns the arithmetic mean along `axes`, which become axes of size 1."""
    count = math.prod(numbers.shape[axis] for axis in axes)
    return np.asarray(np.sum(numbers, axis=axes, keepdims=True) / numbers.dtype.type(max(count, 1)))


def standardized(
    numbers: Array, axes: tuple[int, ...], eps: float, *, inside: bool = True, scale: bool = True
) -> Array:
    """Returns numbers minus their mean along `axes`; if `scale`, divided by the standard deviation.

    inside: whether `eps` is added to the variance. If not, `eps` is added to its square root.
    """
    result, lead = np.empty_like(numbers), numbers.ndim - len(axes)
    if axes != tuple(range(lead, numbers.ndim)) or not numbers.flags.c_contiguous or not lead:
        _standardize(numbers, axes, eps, result, inside=inside, scale=scale)
        return result
    shape = (math.prod(numbers.shape[:lead]), math.prod(numbers.shape[lead:]))
    rows, target = numbers.reshape(shape), result.reshape(shape)

    def of(start: int, stop: int) -> None:
        part = rows[start:stop], (1,), eps, target[start:stop]
        _standardize(*part, inside=inside, scale=scale)

    in_blocks(of, *shape)
    return result


def _standardize(
    numbers: Array, axes: tuple[int, ...], eps: float, out: Array, *, inside: bool, scale: bool
) -> None:
    np.subtract(numbers, mean(numbers, axes), out=out)
    if not scale:
        return
    variance, small = mean(np.square(out), axes), numbers.dtype.type(eps)
    out /= np.sqrt(variance + small) if inside else np.sqrt(variance) + small


def counted_axes(axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Returns axes counted from the front, without duplicates. Raises `Violation` for an axis
    out of range."""
    return tuple(sorted({normalized_axis(int(axis), rank, at="axes") for axis in axes}))


def listed_axes(axes: Tensor, data: PartialShape) -> None:
    """Raises `Violation` if `axes` is not a list, or has more elements than `data` has axes.

    A dynamic shape of `axes` passes.
    """
    given = axes.shape.static
    if given is None:
        return
    if len(given) != 1:
        raise Violation(at="axes", relation="rank", expected=1, actual=axes.rank)
    if data.rank is not None and given[0] > data.rank:
        most = Between(None, data.rank)
        raise Violation(at="axes", relation="count", expected=most, actual=given[0])


class AlongAxes(Operation):
    """The base class of operations that normalize along the axes in the input `axes`."""

    data = operand(NUMERIC_OR_BOOLEAN)
    axes = operand(INTEGER, value=True, packed=True)

    def check(self, data: Tensor, axes: Tensor) -> Iterator[Fault]:
        """Yields a fault for axes out of range, which OpenVINO reports only at run time, or for
        repeated axes, which it accepts."""
        if axes.known is not None and data.rank is not None:
            faults = list(doubted(counted_axes, axes.known, data.rank))
            yield from faults or repeated(axes.known, data.rank)


class BatchNormalization(Operation):
    """The base class of batch normalization: `(data - mean) / sqrt(variance + epsilon) * gamma +
    beta`. The four vectors have a value for every channel (axis 1)."""

    data_at: ClassVar[int]
    """The index of the input `data`."""
    epsilon: float = attribute(FLOAT, default=0.0, required=True, within=at_least(0))

    def infer(self, *inputs: Tensor) -> Tensor:
        shape, channels = inputs[self.data_at].shape, self.dimensions(*inputs).get("channels")
        large_enough(channels or DYNAMIC, 1, at="data", axis=1)
        if shape.rank is not None and channels is not None:
            shape = PartialShape((shape[0], channels, *shape[2:]))
        return Tensor(common_type(inputs[self.data_at], *inputs), shape)

    def evaluate(self, *inputs: Array) -> Array:
        gamma, beta, average, variance = (
            array for index, array in enumerate(inputs) if index != self.data_at
        )
        data = inputs[self.data_at]
        column = (-1, *(1,) * (data.ndim - 2))
        numbers = plain(data)
        scale = plain(gamma) / np.sqrt(plain(variance) + numbers.dtype.type(self.epsilon))
        result = numbers - plain(average).reshape(column)
        result *= scale.reshape(column)
        result += plain(beta).reshape(column)
        return computed(result, data)


class BatchNormInference_1(BatchNormalization):
    """Batch normalization with given mean and variance. `data` is the third input."""

    since = 1
    data_at = 2
    gamma = operand(FLOATING, shape=("channels",), like="data")
    beta = operand(FLOATING, shape=("channels",), like="data")
    data = operand(FLOATING, shape=("batch", "channels", ...))
    mean = operand(FLOATING, shape=("channels",), like="data")
    variance = operand(FLOATING, shape=("channels",), like="data")


class BatchNormInference_5(BatchNormalization):
    """Batch normalization with given mean and variance. `data` is the first input."""

    since = 5
    data_at = 0
    data = operand(FLOATING, shape=("batch", "channels", ...))
    gamma = operand(FLOATING, shape=("channels",), like="data")
    beta = operand(FLOATING, shape=("channels",), like="data")
    mean = operand(FLOATING, shape=("channels",), like="data")
    variance = operand(FLOATING, shape=("channels",), like="data")


class MVN_1(Operation):
    """Mean-variance normalization along `reduction_axes`.

    Without `reduction_axes`, the axes are all axes after the batch or, if `across_channels` is
    false, after the channels.
    """

    since, written = 1, 2
    data = operand(NUMERIC_OR_BOOLEAN)
    result = like("data")
    eps: float = attribute(FLOAT, default=0.0, required=True)
    across_channels: bool = attribute(BOOLEAN, default=False, required=True)
    normalize_variance: bool = attribute(BOOLEAN, default=False, required=True)
    reduction_axes: tuple[int, ...] | None = attribute(NATURALS, default=None)

    def evaluate(self, data: Array) -> Array:
        axes = tuple(
            sorted({axis for axis in self.reduction_axes or () if 0 <= axis < data.ndim})
        ) or tuple(range(1 if self.across_channels else 2, data.ndim))
        return computed(
            standardized(real(data), axes, self.eps, scale=self.normalize_variance), data
        )


class MVN_6(AlongAxes):
    """Mean-variance normalization along `axes`."""

    since = 6
    axes = operand(NUMERIC, specified=INTEGER, value=True, packed=True)
    normalize_variance: bool = attribute(BOOLEAN, default=True, required=True)
    eps: float = attribute(FLOAT, default=1e-6, required=True)
    eps_mode: str = attribute(
        Choice("inside_sqrt", "outside_sqrt"), default="inside_sqrt", required=True
    )

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        listed_axes(axes, data.shape)
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axes: Array) -> Array:
        along, inside = counted_axes(axes.ravel(), data.ndim), self.eps_mode == "inside_sqrt"
        scale = self.normalize_variance
        result = standardized(real(data), along, self.eps, inside=inside, scale=scale)
        return computed(result, data)


class LRN(AlongAxes):
    """`data / (bias + alpha / sizeⁿ · s)^beta`, where `s` is the sum of squares over a
    neighbourhood of `size` elements along each of the n `axes`."""

    since = 1
    alpha: float = attribute(FLOAT, default=0.0, required=True)
    beta: float = attribute(FLOAT, default=0.0, required=True)
    bias: float = attribute(FLOAT, default=0.0, required=True)
    size: int = attribute(POSITIVE, default=0, required=True)

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        listed_axes(axes, data.shape)
        for axis in axes.known or ():
            if data.rank is not None and axis >= data.rank:  # OpenVINO does not check negative axes
                normalized_axis(axis, data.rank, at="axes")
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axes: Array) -> Array:
        numbers = real(data)
        squares = np.atleast_1d(np.square(numbers))
        half = (self.size - 1) // 2
        along = counted_axes(axes.ravel(), data.ndim)
        for axis in along:
            behind = (0,) * (data.ndim - axis - 1)
            squares = over_windows(
                padded(squares, (half, *behind), (half, *behind)),
                axis,
                Along(2 * half + 1, 1, 1, half, half),
                data.shape[axis],
                np.add,
            )
        kind = numbers.dtype.type
        squares *= kind(self.alpha / self.size ** len(along))
        squares += kind(self.bias)
        np.power(squares, kind(self.beta), out=squares)
        return computed(np.divide(numbers, squares, out=squares).reshape(data.shape), data)


class NormalizeL2(AlongAxes):
    """`data` divided by its L2 norm along `axes`.

    `eps_mode` selects whether `eps` is added to the sum of squares, or is its lower limit.
    """

    since = 1
    axes = operand(NUMERIC, specified=INTEGER, rank=(0, 1), value=True)
    eps: float = attribute(FLOAT, default=0.0, required=True)
    eps_mode: str = attribute(Choice("add", "max"), default="add", required=True)

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        if data.rank is not None:
            counted_axes(axes.known or (), data.rank)
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axes: Array) -> Array:
        numbers = real(data)
        if not axes.size:  # each element is divided by itself
            return computed((numbers != 0).astype(numbers.dtype), data)
        along = counted_axes(axes.ravel(), data.ndim)
        total = np.sum(np.square(numbers), axis=along, keepdims=True)
        small = numbers.dtype.type(self.eps)
        total = total + small if self.eps_mode == "add" else np.maximum(total, small)
        return computed(numbers / np.sqrt(total), data)


class GroupNormalization(Operation):
    """Standardizes `num_groups` groups of channels in each sample, then multiplies each channel by
    its `scale` and adds its `bias`."""

    since = 12
    data = operand(NUMERIC_OR_BOOLEAN, shape=("batch", "channels", ...))
    scale = operand(NUMERIC_OR_BOOLEAN, shape=("channels",))
    bias = operand(NUMERIC_OR_BOOLEAN, shape=("channels",))
    num_groups: int = attribute(INT, default=0, required=True, within=at_least(1))
    epsilon: float = attribute(FLOAT, default=0.0, required=True)

    def infer(self, data: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
        groups, shape = self.num_groups, data.shape
        if shape.rank is not None:
            channels = shape[1]
            if channels.is_static and (channels.low < groups or channels.low % groups):
                wanted = f"a divisor of {channels}, the number of channels"
                raise Violation(at="num_groups", expected=wanted, actual=groups)
        return Tensor(data.element_type, shape)

    def evaluate(self, data: Array, scale: Array, bias: Array) -> Array:
        if not data.size:
            return data
        column = (-1, *(1,) * (data.ndim - 2))
        groups = real(data).reshape(data.shape[0], self.num_groups, -1)
        result = standardized(groups, (2,), self.epsilon).reshape(data.shape)
        result *= real(scale).reshape(column)
        result += real(bias).reshape(column)
        return computed(result, data)


class GRN(Operation):
    """`data / sqrt(s + bias)`, where `s` is the sum of squares over the channels (axis 1)."""

    since = 1
    data = operand(NUMERIC_OR_BOOLEAN, rank=(2, 3, 4))
    result = like("data")
    bias: float = attribute(FLOAT, default=1.0, required=True)

    def evaluate(self, data: Array) -> Array:
        numbers = real(data)
        total = np.sum(np.square(numbers), axis=1, keepdims=True) + numbers.dtype.type(self.bias)
        return computed(numbers / np.sqrt(total), data)
