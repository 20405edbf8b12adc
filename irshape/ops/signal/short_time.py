"""Short-time Fourier transforms: a signal cut into frames that may overlap, each with a spectrum of its own."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from ...faults import Fault, Violation, fault, require
from ...rule_ids import INPUT_SHAPES, INPUT_VALUE
from ...types import DYNAMIC, DYNAMIC_SHAPE, Dimension, ElementType, PartialShape
from ..axes import require_single, single
from ..declaration import I32_I64, REAL, Operation, attribute, operand
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of
from .fourier import abstract, as_complex, as_pairs, spectrum_size, transformed


def frame_violations(window: Tensor, size: int | None, step: int | None) -> Iterator[Fault]:
    """What is wrong with the frames, whatever the signal."""
    for name, number in (("frame_size", size), ("frame_step", step)):
        if number is not None and number < 1:
            yield fault(
                f"`{name}` is {number}; expected 1 or more",
                at=name,
                expected=">= 1",
                actual=number,
                rule=INPUT_VALUE,
            )
    if (
        size is not None
        and size > 0
        and window.rank == 1
        and not window.shape[0].compatible(Dimension(1, size))
    ):
        yield fault(
            f"`window` has {window.shape[0]} elements, a frame has {size}; a window has at least one, and no more than the frame",
            at="window",
            expected=f"1 to {size}",
            actual=window.shape[0],
            rule=INPUT_SHAPES,
        )


def refused(window: Tensor, size: int | None, step: int | None) -> None:
    """Raises what OpenVINO refuses of that: it does not look at a window of unknown length."""
    for violation in frame_violations(window, size, step):
        if violation.at != "window" or window.shape.is_static:
            raise Violation.of(violation)


def merged_type(data: Tensor, window: Tensor) -> ElementType:
    """The element type that the two have, where one of them says so."""
    return window.element_type if data.element_type.is_dynamic else data.element_type


def centred(window: Array, size: int) -> Array:
    """A window with zeros at both ends, as long as a frame."""
    made = np.zeros(size, np.float64)
    begin = (size - len(window)) // 2
    made[begin : begin + len(window)] = window
    return made


class STFT(Operation):
    """The spectrum of each frame of a real signal. Specification: STFT-15."""

    since = 15
    signal = operand(REAL, rank=(1, 2))
    window = operand(REAL, rank=1, like="signal")
    frame_size = operand(I32_I64, rank=0, value=True)
    frame_step = operand(I32_I64, rank=0, value=True)
    transpose_frames: bool = attribute(BOOLEAN, default=False, required=True)

    def infer(
        self, signal: Tensor, window: Tensor, frame_size: Tensor, frame_step: Tensor
    ) -> Tensor:
        element_type, size, step = (
            merged_type(signal, window),
            single(frame_size),
            single(frame_step),
        )
        if signal.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        *batch, length = signal.shape[:]
        if size is None or step is None:
            return Tensor(element_type, PartialShape([*batch, DYNAMIC, DYNAMIC, 2]))
        refused(window, size, step)
        require(
            size <= length.high,
            f"`frame_size` is {size}, but `signal` {signal.shape} has only {length.high} elements",
            at="frame_size",
            expected=f"1 to {length.high}",
            actual=size,
            rule=INPUT_VALUE,
        )
        frames, spectrum = (length - size) // step + 1, Dimension(spectrum_size(size))
        return Tensor(
            element_type,
            PartialShape(
                [*batch, *((spectrum, frames) if self.transpose_frames else (frames, spectrum)), 2]
            ),
        )

    def check(
        self, signal: Tensor, window: Tensor, frame_size: Tensor, frame_step: Tensor
    ) -> Iterator[Fault]:
        size, step = single(frame_size), single(frame_step)
        if signal.rank is not None and size is not None and step is not None:
            yield from frame_violations(window, size, step)

    def evaluate(self, signal: Array, window: Array, frame_size: Array, frame_step: Array) -> Array:
        self.infer(*map(abstract, (signal, window, frame_size, frame_step)))
        size, step = int(frame_size), int(frame_step)
        frames = np.lib.stride_tricks.sliding_window_view(signal, size, axis=-1)[..., ::step, :]
        made = as_pairs(
            transformed(
                "rfft", frames.astype(np.float64) * centred(window, size), frames.ndim - 1, size
            )
        )
        return (np.swapaxes(made, -3, -2) if self.transpose_frames else made).astype(signal.dtype)


class ISTFT(Operation):
    """The real signal of which these are the spectra of the frames: what overlaps is added, and divided by the squares of the window. Specification: ISTFT-16."""

    since = 16
    data = operand(REAL, rank=(3, 4))
    window = operand(REAL, rank=1, like="data")
    frame_size = operand(I32_I64, rank=0, value=True)
    frame_step = operand(I32_I64, rank=0, value=True)
    signal_length = operand(I32_I64, value=True, optional=True)
    center: bool = attribute(BOOLEAN, default=False, required=True)
    normalized: bool = attribute(BOOLEAN, default=False, required=True)

    def infer(
        self,
        data: Tensor,
        window: Tensor,
        frame_size: Tensor,
        frame_step: Tensor,
        signal_length: Tensor | None,
    ) -> Tensor:
        element_type, size, step = merged_type(data, window), single(frame_size), single(frame_step)
        refused(window, size, step)
        if data.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        require(
            size is None or not data.shape.is_static or data.shape[-3] == spectrum_size(size),
            f"axis {data.rank - 3} of `data` {data.shape} is {data.shape[-3]}; expected {spectrum_size(size or 0)}, half of `frame_size` {size} and one",
            at="data",
            expected=spectrum_size(size or 0),
            actual=data.shape[-3],
            rule=INPUT_SHAPES,
        )
        if signal_length is not None:
            require_single(signal_length, "signal_length")
        return Tensor(
            element_type,
            PartialShape(
                [*data.shape[:-3], self.length(data.shape[-2], size, step, signal_length)]
            ),
        )

    def length(
        self, frames: Dimension, size: int | None, step: int | None, signal_length: Tensor | None
    ) -> Dimension:
        """The length of the signal: as given, or what the frames cover, without half a frame at both ends where it is centred."""
        if signal_length is not None:
            value = signal_length.value
            if value is None or len(value) != 1:
                return DYNAMIC
            return (
                dimension_of(int(value.upper[0]))
                if value.upper[0] < 0
                else value.dimension(0) or DYNAMIC
            )
        if size is None or step is None:
            return DYNAMIC
        return (frames - 1) * step + size - (size // 2 * 2 if self.center else 0)

    def check(
        self,
        data: Tensor,
        window: Tensor,
        frame_size: Tensor,
        frame_step: Tensor,
        signal_length: Tensor | None,
    ) -> Iterator[Fault]:
        yield from frame_violations(window, single(frame_size), single(frame_step))

    def evaluate(
        self,
        data: Array,
        window: Array,
        frame_size: Array,
        frame_step: Array,
        signal_length: Array | None,
    ) -> Array:
        length_given = None if signal_length is None else abstract(signal_length)
        self.infer(
            abstract(data),
            abstract(window),
            abstract(frame_size),
            abstract(frame_step),
            length_given,
        )
        size, step = int(frame_size), int(frame_step)
        frames = transformed("irfft", np.swapaxes(as_complex(data), -1, -2), data.ndim - 2, size)
        weights = centred(window, size)
        frames *= weights * (sqrt(size) if self.normalized else 1)
        covered = max(frames.shape[-2] - 1, 0) * step + size
        total, weight = (
            np.zeros((*frames.shape[:-2], covered), np.float64),
            np.zeros(covered, np.float64),
        )
        for index in range(frames.shape[-2]):
            total[..., index * step : index * step + size] += frames[..., index, :]
            weight[index * step : index * step + size] += weights**2
        signal = np.divide(total, weight, out=np.zeros_like(total), where=weight != 0)
        margin = size // 2 if self.center else 0
        length = (
            covered - 2 * margin if signal_length is None else max(int(signal_length.ravel()[0]), 0)
        )
        kept = signal[..., margin : margin + length]
        made = np.zeros((*signal.shape[:-1], length), data.dtype)
        made[..., : kept.shape[-1]] = kept
        return made
