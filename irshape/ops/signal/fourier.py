"""Discrete Fourier transforms along some axes.

A complex number is a pair of reals along the last axis: its real and its imaginary part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from ...faults import Between, Fault, Stated, Violation, fault, require
from ...rule_ids import DUPLICATE_VALUES, INPUT_VALUE
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, UNBOUNDED, Dimension, PartialShape
from ..axes import repeated
from ..conditions import between, distinct, equal
from ..declaration import I32_I64, Operation, at_least, operand, types
from ..lazy import Array, np
from ..tensors import Tensor

if TYPE_CHECKING:
    from ...symbols.expressions import Expression
from ..windows import dimension_of

TRANSFORMED = types("f32 f16 bf16")
FULL = -1
"""The value in `signal_size` that stands for the whole axis."""


def as_complex(pairs: Array) -> Array:
    """Returns pairs along the last axis as complex numbers, in f64."""
    numbers = np.empty(pairs.shape[:-1], np.complex128)
    numbers.real, numbers.imag = pairs[..., 0], pairs[..., 1]
    return numbers


def as_pairs(numbers: Array) -> Array:
    """Returns complex numbers as pairs of real and imaginary parts, along a new last axis."""
    return np.stack([numbers.real, numbers.imag], axis=-1)


def spectrum_size(signal: int) -> int:
    """Returns the number of complex numbers in the spectrum of a real signal of this size.

    The other half of the spectrum is redundant.
    """
    return signal // 2 + 1 if signal > 0 else 0


class Transform(Operation):
    """The base class of all Fourier transforms, with the checks of `axes` and `signal_size`."""

    pairs: ClassVar[int] = 1
    """The number of axes at the end of `data` that contain real and imaginary parts."""
    halves: ClassVar[bool] = False
    """Whether the last of `axes` contains half a spectrum in the input or the output.

    If so, `axes` must not be empty.
    """

    data = operand(TRANSFORMED, shape=(..., "?", 2))
    axes = operand(I32_I64, rank=1, value=True)
    signal_size = operand(I32_I64, rank=1, value=True, optional=True)

    def infer(self, data: Tensor, axes: Tensor, signal_size: Tensor | None) -> Tensor:
        if signal_size is not None and axes.shape.is_static and signal_size.shape.is_static:
            equal(signal_size.shape, axes.shape, at="signal_size", of="axes")
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        dims = self.sizes(data.shape[:], self.along(data, axes), signal_size)
        return Tensor(data.element_type, PartialShape(dims))

    def along(self, data: Tensor, axes: Tensor) -> tuple[int, ...] | None:
        """Returns the axes, counted from the front, or None if `axes` is unknown."""
        assert data.rank is not None
        count = data.rank - self.pairs
        if axes.shape.is_static and axes.shape[0].low > count:
            most, seen = Between(None, count), axes.shape[0].low
            raise Violation(at="axes", relation="count", expected=most, actual=seen)
        given = axes.known
        if given is None:
            return None
        between(given, -count, count - 1, at="axes")
        along = tuple(axis % count for axis in given)
        distinct(given, rank=count, rule=DUPLICATE_VALUES)
        wanted = "at least one axis, along which the spectrum is halved"
        fits = along or not self.halves
        require(fits, at="axes", expected=wanted, actual="empty", rule=INPUT_VALUE)
        return along

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        """Returns the dimensions of the result, from the dimensions of `data`."""
        raise NotImplementedError

    def check(self, data: Tensor, axes: Tensor, signal_size: Tensor | None) -> Iterator[Fault]:
        if data.rank is None:
            yield from repeated(axes.known)
        sizes = None if signal_size is None else signal_size.known
        if sizes and any(size < 1 and size != FULL for size in sizes):
            wanted = "1 or more, or -1 for the whole axis"
            facts = Stated(at="signal_size", expected=wanted, actual=sizes, accepted=True)
            yield fault(rule=INPUT_VALUE, **facts)

    def steps(self, data: Array, axes: Array, signal_size: Array | None) -> list[tuple[int, int]]:
        """Returns pairs in the order of `axes`: an axis (0 or more), and its signal size or -1."""
        count = data.ndim - self.pairs
        along = [int(axis) % count for axis in axes]
        sizes = [FULL] * len(along) if signal_size is None else [int(size) for size in signal_size]
        return list(zip(along, sizes, strict=True))


def transformed(function: str, data: Array, axis: int, size: int) -> Array:
    """Truncates or zero-pads an axis to `size`, and applies NumPy's transform `function` to it.

    A `size` of -1 stands for the whole axis, or for the whole signal of a halved spectrum.
    If the result has no elements, nothing is computed.
    """
    shape = list(data.shape)
    if size == FULL:
        size = 2 * (shape[axis] - 1) if function == "irfft" else shape[axis]
    shape[axis] = spectrum_size(size) if function == "rfft" else max(size, 0)
    if 0 in shape:
        return np.zeros(shape, np.float64 if function == "irfft" else np.complex128)
    if 0 in data.shape:  # only the padding is transformed
        shape = [1 if at == axis else length for at, length in enumerate(data.shape)]
        data = np.zeros(shape, data.dtype)
    return getattr(np.fft, function)(data, n=size, axis=axis)


class ComplexTransform(Transform):
    """The base class of transforms from complex numbers to complex numbers."""

    function: ClassVar[str] = "fft"

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        result = list(dims)
        if signal_size is None:
            return result
        if along is None:
            return [*(DYNAMIC for _ in result[:-1]), result[-1]]
        value = signal_size.value
        for index, axis in enumerate(along):
            if (
                value is None
                or len(value) != len(along)
                or value.lower[index] < 0 < value.upper[index]
            ):
                result[axis] = DYNAMIC
            elif value.upper[index] != FULL:
                result[axis] = value.dimension(index) or Dimension(0)
        return result

    def evaluate(self, data: Array, axes: Array, signal_size: Array | None) -> Array:
        spectrum = as_complex(data)
        for axis, size in self.steps(data, axes, signal_size):
            spectrum = transformed(self.function, spectrum, axis, size)
        return as_pairs(spectrum).astype(data.dtype)


class DFT(ComplexTransform):
    """The spectrum of a complex signal: its discrete Fourier transform."""

    since = 7


class IDFT(ComplexTransform):
    """The complex signal that has a given spectrum: the inverse of DFT."""

    since = 7
    function = "ifft"


class RealTransform(Transform):
    """The base class of transforms between a real signal and half of its spectrum.

    The spectrum is halved along the last of `axes`.
    """

    halves = True

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        result = list(dims[: len(dims) - self.pairs])
        if along is None:
            return [DYNAMIC for _ in result]
        last = along[-1]
        given = (FULL,) * len(along) if signal_size is None else signal_size.known
        if given is None or len(given) != len(along):
            result[last] = DYNAMIC  # OpenVINO assumes that the other axes keep their sizes
            return result
        for axis, size in zip(along, given, strict=True):
            if size != FULL:
                result[axis] = dimension_of(size)
        result[last] = self.last(result[last], full=given[-1] == FULL)
        return result

    def last(self, dim: Dimension, *, full: bool) -> Dimension:
        """Returns the size that the last of `axes` has in the result.

        dim: the size of the axis in `data` if `full`, else the signal size.
        """
        raise NotImplementedError


def _spectrum(size: Expression) -> Expression | None:
    """Returns the size of half the spectrum of a signal. Assumes that the signal is not empty."""
    facts = size.facts
    return size // 2 + 1 if facts.assume_at_least(size, facts.number(1)) else None


class RDFT(RealTransform):
    """Half the spectrum of a real signal; the other half is redundant."""

    since = 9
    pairs = 0
    data = operand(TRANSFORMED, rank=at_least(1))

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        return [*super().sizes(dims, along, signal_size), Dimension(2)]

    def last(self, dim: Dimension, *, full: bool) -> Dimension:
        high = UNBOUNDED if dim.high == UNBOUNDED else spectrum_size(dim.high)
        return dim.followed(Dimension(spectrum_size(dim.low), high), _spectrum)

    def evaluate(self, data: Array, axes: Array, signal_size: Array | None) -> Array:
        result = data.astype(np.float64)
        steps = self.steps(data, axes, signal_size)
        functions = ["rfft", *["fft"] * (len(steps) - 1)]
        for function, (axis, size) in zip(functions, reversed(steps), strict=True):
            result = transformed(function, result, axis, size)
        return as_pairs(result).astype(data.dtype)


class IRDFT(RealTransform):
    """The real signal that has the given half of a spectrum: the inverse of RDFT."""

    since = 9

    def last(self, dim: Dimension, *, full: bool) -> Dimension:
        return (dim - 1) * 2 if full else dim

    def evaluate(self, data: Array, axes: Array, signal_size: Array | None) -> Array:
        spectrum = as_complex(data)
        *others, last = self.steps(data, axes, signal_size)
        for axis, size in others:
            spectrum = transformed("ifft", spectrum, axis, size)
        return transformed("irfft", spectrum, *last).astype(data.dtype)
