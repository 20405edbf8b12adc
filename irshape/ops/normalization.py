"""Normalization: tensors brought to a common scale along some of their axes."""

from __future__ import annotations

from typing import Any

from .conversion import plain
from .declaration import INTEGER, NUMERIC, Operation, attribute, operand, require
from .elementwise import computed
from .kinds import BOOLEAN, FLOAT, NATURAL, Choice
from .lazy import Array, np
from .tensors import Tensor


def require_axes(data: Tensor, axes: Tensor) -> None:
    """Raises `Violation` where a known axis is out of range."""
    rank, known = data.rank, axes.known
    if rank is None or known is None:
        return
    for axis in known:
        require(
            -rank <= axis < rank,
            f"axis {axis} is out of range for `data` of rank {rank}",
            at="axes",
            expected=f"[{-rank}, {rank - 1}]",
            seen=axis,
            rule="input-value",
        )


def along(data: Array, axes: Array) -> tuple[int, ...]:
    """Axes counted from the front."""
    return tuple(sorted({int(axis) % data.ndim for axis in axes.ravel()}))


class MVN_2(Operation):
    """`data` less its mean, over the deviation too where `normalize_variance`; over the spatial axes, and the channels where `across_channels`. Specification: MVN-1."""

    since, until = 2, 5
    data = operand(NUMERIC)
    across_channels: bool = attribute(BOOLEAN, default=False)
    normalize_variance: bool = attribute(BOOLEAN, default=True)
    eps: float = attribute(FLOAT, default=1e-9)
    reduction_axes: Any = None
    tolerated = ("reduction_axes",)

    def infer(self, data: Tensor) -> Tensor:
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array) -> Array:
        return normalized(data, tuple(range(1 if self.across_channels else 2, data.ndim)), self.normalize_variance, self.eps, inside=True)


class MVN_6(Operation):
    """`data` less its mean over `axes`, over the deviation too where `normalize_variance`. Specification: MVN-6."""

    since = 6
    data = operand(NUMERIC)
    axes = operand(INTEGER, value=True)
    normalize_variance: bool = attribute(BOOLEAN, default=True)
    eps: float = attribute(FLOAT, default=1e-9)
    eps_mode: str = attribute(Choice("inside_sqrt", "outside_sqrt"), default="inside_sqrt")

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        require_axes(data, axes)
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axes: Array) -> Array:
        return normalized(data, along(data, axes), self.normalize_variance, self.eps, inside=self.eps_mode == "inside_sqrt")


def normalized(data: Array, axes: tuple[int, ...], variance: bool, eps: float, *, inside: bool) -> Array:
    """Mean-variance normalization along axes; `inside`: epsilon is added under the root."""
    numbers = plain(data)
    if not axes:
        return data
    centred = numbers - np.mean(numbers, axis=axes, keepdims=True, dtype=numbers.dtype)
    if variance:
        spread = np.mean(np.square(centred), axis=axes, keepdims=True, dtype=numbers.dtype)
        small = numbers.dtype.type(eps)
        centred = centred / (np.sqrt(spread + small) if inside else np.sqrt(spread) + small)
    return computed(centred, data)


class NormalizeL2(Operation):
    """`data` over the root of the sum of its squares along `axes`. Specification: NormalizeL2-1."""

    since = 1
    data = operand(NUMERIC)
    axes = operand(INTEGER, rank=(0, 1), value=True)
    eps: float = attribute(FLOAT)
    eps_mode: str = attribute(Choice("add", "max"))

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        require_axes(data, axes)
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axes: Array) -> Array:
        numbers = plain(data)
        total = np.sum(np.square(numbers), axis=along(data, axes), keepdims=True) if axes.size else np.square(numbers)
        small = numbers.dtype.type(self.eps)
        return computed(numbers / np.sqrt(total + small if self.eps_mode == "add" else np.maximum(total, small)), data)


class LRN(Operation):
    """`data` over a power of the squares in a window around each element along `axes`. Specification: LRN-1."""

    since = 1
    data = operand(NUMERIC)
    axes = operand(INTEGER, rank=(0, 1), value=True)
    alpha: float = attribute(FLOAT)
    beta: float = attribute(FLOAT)
    bias: float = attribute(FLOAT)
    size: int = attribute(NATURAL)

    def infer(self, data: Tensor, axes: Tensor) -> Tensor:
        require_axes(data, axes)
        return Tensor(data.element_type, data.shape)

    def evaluate(self, data: Array, axes: Array) -> Array:
        numbers = plain(data)
        total = np.square(numbers)
        chosen = along(data, axes)
        for axis in chosen:
            total = windowed(total, axis, (self.size - 1) // 2, self.size - 1 - (self.size - 1) // 2)
        kind = numbers.dtype.type
        return computed(numbers / np.power(kind(self.bias) + kind(self.alpha) / kind(self.size ** len(chosen)) * total, kind(self.beta)), data)


def windowed(numbers: Array, axis: int, before: int, after: int) -> Array:
    """The sum of the elements from `before` in front of each to `after` behind it along an axis; what lies outside counts as 0."""
    size = numbers.shape[axis]
    padded = np.concatenate([np.zeros_like(numbers.take([0], axis)), np.cumsum(numbers, axis=axis)], axis=axis)
    positions = np.arange(size)
    return padded.take(np.minimum(positions + after + 1, size), axis) - padded.take(np.maximum(positions - before, 0), axis)
