"""Discrete Fourier transforms along some axes. A complex number is two reals on an axis of its own, the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from ...faults import Fault, Violation, fault, require
from ...rule_ids import INPUT_RANK, INPUT_SHAPES, INPUT_VALUE
from ...types import DYNAMIC, DYNAMIC_SHAPE, DYNAMIC_TYPE, UNBOUNDED, Dimension, PartialShape
from ..axes import duplicate_axes, listed
from ..declaration import I32_I64, Operation, operand, types
from ..lazy import Array, np
from ..tensors import MAX_VALUE_ELEMENTS, Tensor, Value
from ..windows import dimension_of

TRANSFORMED = types("f32 f16 bf16")
FULL = -1
"""The signal size that stands for all of an axis."""


def as_complex(pairs: Array) -> Array:
    """Pairs on the last axis as complex numbers, in double precision."""
    made = np.empty(pairs.shape[:-1], np.complex128)
    made.real, made.imag = pairs[..., 0], pairs[..., 1]
    return made


def as_pairs(numbers: Array) -> Array:
    """Complex numbers as pairs on a new last axis."""
    return np.stack([numbers.real, numbers.imag], axis=-1)


def abstract(array: Array) -> Tensor:
    """An array as inference takes it: numbers that come at run time meet the same conditions as known ones."""
    numbers = array.dtype.kind in "iu" and array.size <= MAX_VALUE_ELEMENTS
    return Tensor(DYNAMIC_TYPE, array.shape, Value(map(int, array.ravel())) if numbers else None)


def spectrum_size(signal: int) -> int:
    """How many numbers hold the spectrum of so many reals: the other half mirrors it."""
    return signal // 2 + 1 if signal > 0 else 0


class Transform(Operation):
    """What all Fourier transforms share: `axes` and `signal_size`, which say what is transformed, and the conditions on them."""

    pairs: ClassVar[int] = 1
    """How many axes at the end of `data` are not counted: the one of real and imaginary parts."""
    halves: ClassVar[bool] = False
    """Whether the last of the axes holds half a spectrum on one side; there must be a last one, then."""

    data = operand(TRANSFORMED)
    axes = operand(I32_I64, rank=1, value=True)
    signal_size = operand(I32_I64, rank=1, value=True, optional=True)

    def infer(self, data: Tensor, axes: Tensor, signal_size: Tensor | None) -> Tensor:
        if signal_size is not None and axes.shape.is_static and signal_size.shape.is_static:
            require(
                axes.shape == signal_size.shape,
                f"`signal_size` has {signal_size.shape[0]} elements, `axes` has {axes.shape[0]}; each axis has a signal size",
                at="signal_size",
                expected=axes.shape,
                actual=signal_size.shape,
                rule=INPUT_SHAPES,
            )
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        return Tensor(
            data.element_type,
            PartialShape(self.sizes(data.shape[:], self.along(data, axes), signal_size)),
        )

    def along(self, data: Tensor, axes: Tensor) -> tuple[int, ...] | None:
        """The axes counted from the front, where they are known."""
        assert data.rank is not None
        count = data.rank - self.pairs
        require(
            count >= 1,
            f"`data` has shape {data.shape}; expected at least {self.pairs + 1} dimension{'s, the last of them real and imaginary part' * self.pairs}",
            at="data",
            expected=f"rank {self.pairs + 1} or more",
            actual=f"rank {data.rank}",
            rule=INPUT_RANK,
        )
        require(
            not self.pairs or data.shape[-1].contains(2),
            f"the last dimension of `data` {data.shape} is {data.shape[-1]}; expected 2, the real and the imaginary part",
            at="data",
            expected=2,
            actual=data.shape[-1],
            rule=INPUT_SHAPES,
        )
        require(
            not axes.shape.is_static or axes.shape[0].low <= count,
            f"`axes` has shape {axes.shape}, but `data` {data.shape} has {count} dimensions to transform",
            at="axes",
            expected=f"at most {count}",
            actual=axes.shape,
            rule=INPUT_SHAPES,
        )
        given = axes.known
        if given is None:
            return None
        for axis in given:
            require(
                -count <= axis < count,
                f"axis {axis} is out of range: `data` {data.shape} has {count} dimensions to transform, so an axis is {-count} to {count - 1}",
                at="axes",
                expected=f"[{-count}, {count - 1}]",
                actual=axis,
                rule=INPUT_VALUE,
            )
        found = tuple(axis % count for axis in given)
        if len(set(found)) < len(found):
            raise Violation.of(duplicate_axes(given, why=""))
        require(
            found or not self.halves,
            "`axes` is empty; the last axis that it names is the one between a real signal and half a spectrum, so it names at least one",
            at="axes",
            expected="at least one axis",
            actual="[]",
            rule=INPUT_VALUE,
        )
        return found

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        """The shape of the result from that of `data`."""
        raise NotImplementedError

    def check(self, data: Tensor, axes: Tensor, signal_size: Tensor | None) -> Iterator[Fault]:
        if data.rank is None and axes.known is not None and len(set(axes.known)) < len(axes.known):
            yield duplicate_axes(axes.known)
        sizes = None if signal_size is None else signal_size.known
        if sizes and any(size < 1 and size != FULL for size in sizes):
            yield fault(
                f"`signal_size` is {listed(sizes)}; a size is 1 or more, or -1 for all of the axis, though OpenVINO reads any in silence",
                at="signal_size",
                expected="1 or more, or -1",
                actual=listed(sizes),
                rule=INPUT_VALUE,
            )

    def steps(self, data: Array, axes: Array, signal_size: Array | None) -> list[tuple[int, int]]:
        """The axes from the front, and the size of each (or -1), in the order given."""
        self.infer(
            abstract(data), abstract(axes), None if signal_size is None else abstract(signal_size)
        )
        count = data.ndim - self.pairs
        along = [int(axis) % count for axis in axes]
        return list(
            zip(
                along,
                [FULL] * len(along) if signal_size is None else map(int, signal_size),
                strict=True,
            )
        )


def transformed(function: str, data: Array, axis: int, size: int) -> Array:
    """NumPy's transform of that name along an axis, cut or filled up with zeros to `size`; an empty result where there is nothing to transform."""
    shape = list(data.shape)
    shape[axis] = spectrum_size(size) if function == "rfft" else max(size, 0)
    if 0 in shape:
        return np.zeros(shape, np.float64 if function == "irfft" else np.complex128)
    if 0 in data.shape:  # nothing but the zeros that fill it up
        data = np.zeros(
            [1 if at == axis else length for at, length in enumerate(data.shape)], data.dtype
        )
    return getattr(np.fft, function)(data, n=size, axis=axis)


class ComplexTransform(Transform):
    """From complex numbers to complex numbers."""

    function: ClassVar[str] = "fft"

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        made = list(dims)
        if signal_size is None:
            return made
        if along is None:
            return [*(DYNAMIC for _ in made[:-1]), made[-1]]
        value = signal_size.value
        for index, axis in enumerate(along):
            if (
                value is None
                or len(value) != len(along)
                or value.lower[index] < 0 < value.upper[index]
            ):
                made[axis] = DYNAMIC
            elif value.upper[index] != FULL:
                made[axis] = value.dimension(index) or Dimension(0)
        return made

    def evaluate(self, data: Array, axes: Array, signal_size: Array | None) -> Array:
        made = as_complex(data)
        for axis, size in self.steps(data, axes, signal_size):
            made = transformed(
                self.function, made, axis, made.shape[axis] if size == FULL else size
            )
        return as_pairs(made).astype(data.dtype)


class DFT(ComplexTransform):
    """The spectrum of a complex signal. Specification: DFT-7."""

    since = 7


class IDFT(ComplexTransform):
    """The complex signal of a spectrum. Specification: IDFT-7."""

    since = 7
    function = "ifft"


class RealTransform(Transform):
    """Between a real signal and its spectrum, of which the last of the axes holds half."""

    halves = True

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        made = list(dims[: len(dims) - self.pairs])
        if along is None:
            return [DYNAMIC for _ in made]
        last = along[-1]
        given = (FULL,) * len(along) if signal_size is None else signal_size.known
        if given is None or len(given) != len(along):
            made[last] = DYNAMIC  # OpenVINO takes the others to stay as they are
            return made
        for axis, size in zip(along, given, strict=True):
            made[axis] = made[axis] if size == FULL else dimension_of(size)
        made[last] = self.last(made[last], full=given[-1] == FULL)
        return made

    def last(self, dim: Dimension, *, full: bool) -> Dimension:
        """The last of the axes from its size in `data` (`full`) or its signal size."""
        raise NotImplementedError


class RDFT(RealTransform):
    """The spectrum of a real signal. Specification: RDFT-9."""

    since = 9
    pairs = 0

    def sizes(
        self, dims: Sequence[Dimension], along: tuple[int, ...] | None, signal_size: Tensor | None
    ) -> list[Dimension]:
        return [*super().sizes(dims, along, signal_size), Dimension(2)]

    def last(self, dim: Dimension, *, full: bool) -> Dimension:
        return Dimension(
            spectrum_size(dim.low), dim.high if dim.high == UNBOUNDED else spectrum_size(dim.high)
        )

    def evaluate(self, data: Array, axes: Array, signal_size: Array | None) -> Array:
        made = data.astype(np.float64)
        steps = self.steps(data, axes, signal_size)
        for function, (axis, size) in zip(
            ["rfft", *["fft"] * (len(steps) - 1)], steps[::-1], strict=True
        ):
            made = transformed(function, made, axis, made.shape[axis] if size == FULL else size)
        return as_pairs(made).astype(data.dtype)


class IRDFT(RealTransform):
    """The real signal of half a spectrum. Specification: IRDFT-9."""

    since = 9

    def last(self, dim: Dimension, *, full: bool) -> Dimension:
        return (dim - 1) * 2 if full else dim

    def evaluate(self, data: Array, axes: Array, signal_size: Array | None) -> Array:
        made = as_complex(data)
        *others, (last, length) = self.steps(data, axes, signal_size)
        for axis, size in others:
            made = transformed("ifft", made, axis, made.shape[axis] if size == FULL else size)
        return transformed(
            "irfft", made, last, 2 * (made.shape[last] - 1) if length == FULL else length
        ).astype(data.dtype)
