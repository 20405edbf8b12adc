"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..faults import Fault, fault
from ..rule_ids import OPERATION_CONSTRAINT
from .axes import normalized_axis, not_single
from .blockwise import each, in_blocks
from .conditions import at_least, between, doubted, of_type, rank
from .conversion import plain, real
from .declaration import ANY, NUMERIC_OR_BOOLEAN, REAL, Operation, attribute, like, operand
from .differences import facts, of_scalar, refused
from .elementwise import FLOATING, Unary, UnaryWithValue, common_type, computed
from .error_function import gelu
from .kinds import FLOAT, INT, Choice
from .lazy import Array, np
from .tensors import Number, Tensor

if TYPE_CHECKING:
    from ..symbols.expressions import Expression


class ReLU(UnaryWithValue):
    """The input, with 0 in place of negative elements."""

    since = 1
    leaves_nan_open = True
    also_read = ("Relu",)
    keeps_integers = True

    def exact(self, data: Number) -> Number:
        return max(data, 0)

    def symbolic(self, data: Expression) -> Expression | None:
        return data.maximum(0)

    def of(self, data: Array) -> Array:
        return (
            np.clip(data, 0, np.inf) if data.dtype.kind == "f" else np.maximum(data, 0)
        )  # four times as fast as maximum with a scalar


class Clamp(UnaryWithValue):
    """The input clipped to `min` and `max`. For integers, `min` is rounded up and `max` down."""

    since = 1
    leaves_nan_open = True
    keeps_integers = True
    min: float = attribute(FLOAT, default=0.0, required=True)
    max: float = attribute(FLOAT, default=0.0, required=True)

    def infer(self, data: Tensor) -> Tensor:
        between(self.min, None, self.max, at="min", rule=OPERATION_CONSTRAINT)
        return Tensor(data.element_type, data.shape)

    def exact(self, data: Number) -> Number:
        if isinstance(data, int):
            low = data if self.min == -math.inf else math.ceil(self.min)
            high = data if self.max == math.inf else math.floor(self.max)
            return min(max(data, low), high)
        return min(max(data, self.min), self.max)

    def of(self, data: Array) -> Array:
        if data.dtype.kind == "f":
            return np.clip(data, data.dtype.type(self.min), data.dtype.type(self.max))
        limits = np.iinfo(data.dtype)
        low = limits.min if self.min <= limits.min else min(math.ceil(self.min), limits.max)
        high = limits.max if self.max >= limits.max else max(math.floor(self.max), limits.min)
        return np.minimum(np.maximum(data, data.dtype.type(low)), data.dtype.type(high))


class Elu(Unary):
    """`alpha * (exp(x) - 1)` where x is negative, else x."""

    since = 1
    data = operand(NUMERIC_OR_BOOLEAN)
    alpha: float = attribute(FLOAT, default=0.0, required=True)

    def of(self, data: Array) -> Array:
        result = np.minimum(data, 0)
        np.expm1(result, out=result)
        result *= data.dtype.type(self.alpha)
        np.copyto(result, data, where=data >= 0)
        return result


class PReLU(Operation):
    """`slope * x` where x is negative, else x.

    A slope of rank 1 with the size of axis 1 of x applies along that axis. Others are broadcast.
    """

    since = 1
    also_read = ("PRelu",)
    data = operand(NUMERIC_OR_BOOLEAN)
    slope = operand(ANY)
    result = like("data")

    def check(self, data: Tensor, slope: Tensor) -> Iterator[Fault]:
        if not data.element_type.is_dynamic and not slope.element_type.is_dynamic:
            yield from doubted(of_type, slope.element_type, data.element_type, at="slope")
        if data.rank is None or slope.rank is None or slope.shape.size == 1:
            return
        channels = data.shape[min(1, data.rank - 1)] if data.rank else None
        along_channels = (
            slope.rank == 1 and channels is not None and channels.compatible(slope.shape[0])
        )
        spread = slope.shape.broadcast(data.shape)
        if not along_channels and (spread is None or not spread.compatible(data.shape)):
            yield fault(
                at="slope",
                relation="broadcast",
                expected=data.shape,
                actual=slope.shape,
                of="data",
            )

    def evaluate(self, data: Array, slope: Array) -> Array:
        channel = min(1, data.ndim - 1)
        if slope.ndim == 1 and data.ndim and slope.shape[0] == data.shape[channel]:
            slope = slope.reshape(slope.shape + (1,) * (data.ndim - channel - 1))
        numbers, slopes = plain(data), plain(slope)
        result = np.atleast_1d(numbers * slopes)
        np.copyto(result, numbers, where=numbers >= 0)
        return computed(result.reshape(data.shape), data)


class Selu(Operation):
    """`lambda * x` where x is positive, else `alpha * lambda * (exp(x) - 1)`."""

    since = 1
    data = operand(FLOATING)
    alpha = operand(FLOATING, like="data")
    lambda_ = operand(FLOATING, like="data")

    def infer(self, data: Tensor, alpha: Tensor, lambda_: Tensor) -> Tensor:
        return Tensor(common_type(data, alpha, lambda_), data.shape)

    def check(self, data: Tensor, alpha: Tensor, lambda_: Tensor) -> Iterator[Fault]:
        for name, tensor in (("alpha", alpha), ("lambda_", lambda_)):
            yield from not_single(tensor, name)

    def evaluate(self, data: Array, alpha: Array, lambda_: Array) -> Array:
        numbers = plain(data)
        scale = plain(lambda_).reshape(-1)[0]
        result = np.atleast_1d(np.minimum(numbers, 0))
        np.expm1(result, out=result)
        result *= plain(alpha).reshape(-1)[0] * scale
        np.multiply(numbers, scale, out=result, where=numbers > 0)
        return computed(result.reshape(data.shape), data)


class HardSigmoid(Operation):
    """`alpha * x + beta`, clipped to the range from 0 to 1."""

    since = 1
    data = operand(ANY, specified=REAL)
    alpha = operand(ANY, like="data")
    beta = operand(ANY, like="data")

    def infer(self, data: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        for name, tensor in (("alpha", alpha), ("beta", beta)):
            if tensor.shape.is_static:
                rank(tensor.rank, 0, at=name)
        return Tensor(data.element_type, data.shape)

    def check(self, data: Tensor, alpha: Tensor, beta: Tensor) -> Iterator[Fault]:
        for name, tensor in (("alpha", alpha), ("beta", beta)):
            yield from doubted(rank, tensor.rank, 0, at=name)

    def evaluate(self, data: Array, alpha: Array, beta: Array) -> Array:
        numbers = plain(data)
        result = np.atleast_1d(numbers * plain(alpha).reshape(-1)[0])
        result += plain(beta).reshape(-1)[0]
        return computed(np.clip(result, 0, 1, out=result).reshape(data.shape), data)


class Sigmoid(Unary):
    """`1 / (1 + exp(-x))`."""

    since = 1

    def of(self, data: Array) -> Array:
        return sigmoid(data)


def sigmoid(data: Array, out: Array | None = None) -> Array:
    return each(_sigmoid, data, out)


def _sigmoid(data: Array, out: Array) -> None:
    np.multiply(data, -1, out=out)  # takes half the time of negative
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.divide(1, out, out=out)


def _swish(data: Array, out: Array) -> None:
    """Writes `x * sigmoid(x)` for the elements of `data` to `out`, which must not be `data`."""
    np.multiply(data, -1, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.divide(data, out, out=out)


class Swish(Operation):
    """`x * sigmoid(beta * x)`, where `beta` is 1 if the input is absent."""

    since = 4
    data = operand(FLOATING)
    beta = operand(FLOATING, rank=0, like="data", optional=True)
    result = like("data")

    def evaluate(self, data: Array, beta: Array | None) -> Array:
        numbers = np.atleast_1d(plain(data))
        if beta is None:
            return computed(each(_swish, numbers).reshape(data.shape), data)
        scaled = numbers * plain(beta)
        result = sigmoid(scaled, scaled)
        result *= numbers
        return computed(result.reshape(data.shape), data)


class Gelu_2(Unary):
    """`x * Φ(x)`, where Φ is the distribution function of the standard normal distribution."""

    since = 2
    data = operand(FLOATING)

    def of(self, data: Array) -> Array:
        return gelu(data)


class Gelu_7(Gelu_2):
    """`x * Φ(x)`, computed with the error function, or approximately with tanh."""

    since = 7
    approximation_mode: str = attribute(Choice("ERF", "TANH"), default="ERF")

    def of(self, data: Array) -> Array:
        if self.approximation_mode == "ERF":
            return super().of(data)
        return each(_gelu_by_tanh, data)


def _gelu_by_tanh(data: Array, out: Array) -> None:
    """Writes the approximation of GELU with tanh to `out`, which must not be `data`."""
    np.square(data, out=out)
    out *= data.dtype.type(0.044715)
    out += 1
    out *= data
    out *= data.dtype.type(math.sqrt(2 / math.pi))
    np.tanh(out, out=out)
    out += 1
    out *= data.dtype.type(0.5)  # before `data`, so that no large number overflows
    out *= data


class HSigmoid(Unary):
    """`min(max(x + 3, 0), 6) / 6`."""

    since = 5

    def of(self, data: Array) -> Array:
        return _hard_sigmoid(data)


def _hard_sigmoid(data: Array) -> Array:
    result = data + data.dtype.type(3)
    np.clip(result, 0, 6, out=result)
    result /= 6
    return result


class HSwish(Unary):
    """`x * min(max(x + 3, 0), 6) / 6`."""

    since = 4

    def of(self, data: Array) -> Array:
        result = _hard_sigmoid(data)
        result *= data
        return result


class Mish(Unary):
    """`x * tanh(ln(1 + exp(x)))`."""

    since = 4
    data = operand(FLOATING)

    def of(self, data: Array) -> Array:
        # tanh(ln(1 + e)) is e(e + 2) / (e(e + 2) + 2)
        # beyond 44 it is 1 in f64, and e² is still finite in f32
        result = np.minimum(data, data.dtype.type(44))
        np.exp(result, out=result)
        rest = result + 2
        result *= rest
        np.add(result, 2, out=rest)
        result /= rest
        result *= data
        return result


class SoftPlus(Unary):
    """`ln(1 + exp(x))`."""

    since = 4
    data = operand(FLOATING)

    def of(self, data: Array) -> Array:
        result = np.abs(data)
        np.negative(result, out=result)
        np.exp(result, out=result)
        np.log1p(result, out=result)
        result += np.maximum(data, 0)
        return result


class SoftSign(Unary):
    """`x / (1 + |x|)`."""

    since = 9
    data = operand(FLOATING)

    def of(self, data: Array) -> Array:
        result = np.abs(data)
        result += 1
        return np.divide(data, result, out=result)


class AlongAxis(Operation):
    """The base class of activations along one axis. The method `of` computes in f32 or f64."""

    data = operand(NUMERIC_OR_BOOLEAN)
    axis: int = attribute(INT, default=1)

    def infer(self, data: Tensor) -> Tensor:
        if data.rank is not None:
            self.along(data.rank)
        return Tensor(data.element_type, data.shape)

    def along(self, rank: int) -> int:
        return normalized_axis(self.axis, rank, rule=OPERATION_CONSTRAINT, of_scalar=True)

    def evaluate(self, data: Array) -> Array:
        axis = self.along(data.ndim)
        result = self.of(np.atleast_1d(real(data, wide=True)), axis)
        return computed(result.reshape(data.shape), data)

    def of(self, data: Array, axis: int) -> Array:
        raise NotImplementedError


class NormalizedExponential(AlongAxis):
    """The base class of SoftMax and LogSoftmax: `exp(x)` divided by its sum along an axis."""

    differs = facts(refused("2026.1", "a softmax of a scalar", of_scalar))

    def source_of_nan(self, data: Array) -> str | None:
        masked = np.isneginf(plain(data))
        if masked.size and bool(masked.all(axis=self.along(data.ndim)).any()):
            return (
                f"the input contains only -inf in one row along axis {self.axis}, so "
                "everything is masked"
            )
        return None


class SoftMax_1(NormalizedExponential):
    """`exp(x)` divided by its sum along `axis`. A negative `axis` is an error.

    If `axis` is absent, OpenVINO uses 0; irshape uses 1, as in the specification.
    """

    since = 1
    also_read = ("Softmax",)

    def infer(self, data: Tensor) -> Tensor:
        at_least(self.axis, 0, at="axis", rule=OPERATION_CONSTRAINT)
        return super().infer(data)

    def of(self, data: Array, axis: int) -> Array:
        if axis != data.ndim - 1 or not data.flags.c_contiguous or not data.size:
            return _softmax(data, np.empty_like(data), axis)
        result = np.empty_like(data)
        width = data.shape[-1]
        rows, target = data.reshape(-1, width), result.reshape(-1, width)

        def of(start: int, stop: int) -> None:
            _softmax(rows[start:stop], target[start:stop], 1)

        in_blocks(of, len(rows), width)
        return result


def _softmax(data: Array, out: Array, axis: int) -> Array:
    np.subtract(data, np.max(data, axis=axis, keepdims=True, initial=-np.inf), out=out)
    np.exp(out, out=out)
    out /= np.sum(out, axis=axis, keepdims=True)
    return out


class SoftMax_8(SoftMax_1):
    """`exp(x)` divided by its sum along `axis`. A negative `axis` counts from the end."""

    since = 8

    def infer(self, data: Tensor) -> Tensor:
        return AlongAxis.infer(self, data)


class LogSoftmax(NormalizedExponential):
    """Natural logarithm of SoftMax."""

    since = 5

    def of(self, data: Array, axis: int) -> Array:
        result = data - np.max(data, axis=axis, keepdims=True, initial=-np.inf)
        result -= np.log(np.sum(np.exp(result), axis=axis, keepdims=True))
        return result
