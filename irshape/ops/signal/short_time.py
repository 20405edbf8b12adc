"""Short-time Fourier transforms: the spectra of a signal's frames, which may overlap."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from ...faults import Between, Fault, Violation, fault
from ...shapes import DYNAMIC, DYNAMIC_SHAPE, Dimension, PartialShape
from ..axes import require_single, single
from ..conditions import between, equal
from ..declaration import I32_I64, REAL, Operation, attribute, operand
from ..elementwise import common_type
from ..kinds import BOOLEAN
from ..lazy import Array, np
from ..tensors import Tensor
from ..windows import dimension_of
from .fourier import as_complex, as_pairs, spectrum_size, transformed


def frame_faults(window: Tensor, size: int | None, step: int | None) -> Iterator[Fault]:
    """Yields faults of the frame size, the frame step and the window."""
    for name, number in (("frame_size", size), ("frame_step", step)):
        if number is not None and number < 1:
            yield fault(at=name, relation="at least", expected=Between(1, None), actual=number)
    seen, limits = window.shape[0] if window.rank == 1 else DYNAMIC, Between(1, size)
    if size is not None and size > 0 and not seen.compatible(Dimension(1, size)):
        yield fault(at="window", relation="count", expected=limits, actual=seen)


def require_frames(window: Tensor, size: int | None, step: int | None) -> None:
    """Raises `Violation` for a frame size, frame step or window that OpenVINO refuses.

    OpenVINO does not check a window of unknown length.
    """
    for fault_of_frames in frame_faults(window, size, step):
        if fault_of_frames.at != "window" or window.shape.is_static:
            raise Violation.of(fault_of_frames)


def centred(window: Array, size: int) -> Array:
    """Returns a window padded with zeros at both ends to the length of a frame."""
    frame = np.zeros(size, np.float64)
    begin = (size - len(window)) // 2
    frame[begin : begin + len(window)] = window
    return frame


class STFT(Operation):
    """The spectrum of each frame of a real signal (short-time Fourier transform)."""

    since = 15
    signal = operand(REAL, rank=(1, 2))
    window = operand(REAL, rank=1, like="signal")
    frame_size = operand(I32_I64, rank=0, value=True)
    frame_step = operand(I32_I64, rank=0, value=True)
    transpose_frames: bool = attribute(BOOLEAN, default=False, required=True)

    def infer(
        self, signal: Tensor, window: Tensor, frame_size: Tensor, frame_step: Tensor
    ) -> Tensor:
        element_type = common_type(signal, window)
        size, step = single(frame_size), single(frame_step)
        if signal.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        *batch, length = signal.shape[:]
        if size is None or step is None:
            return Tensor(element_type, PartialShape([*batch, DYNAMIC, DYNAMIC, 2]))
        require_frames(window, size, step)
        between(size, 1, length.high, at="frame_size")
        frames, spectrum = (length - size) // step + 1, Dimension(spectrum_size(size))
        order = (spectrum, frames) if self.transpose_frames else (frames, spectrum)
        return Tensor(element_type, PartialShape([*batch, *order, 2]))

    def check(
        self, signal: Tensor, window: Tensor, frame_size: Tensor, frame_step: Tensor
    ) -> Iterator[Fault]:
        size, step = single(frame_size), single(frame_step)
        if signal.rank is not None and size is not None and step is not None:
            yield from frame_faults(window, size, step)

    def evaluate(self, signal: Array, window: Array, frame_size: Array, frame_step: Array) -> Array:
        size, step = int(frame_size), int(frame_step)
        frames = np.lib.stride_tricks.sliding_window_view(signal, size, axis=-1)[..., ::step, :]
        weighted = frames.astype(np.float64) * centred(window, size)
        spectra = as_pairs(transformed("rfft", weighted, frames.ndim - 1, size))
        if self.transpose_frames:
            spectra = np.swapaxes(spectra, -3, -2)
        return spectra.astype(signal.dtype)


class ISTFT(Operation):
    """The real signal whose frames have the given spectra: the inverse of STFT.

    Overlapping frames are added. The sum is divided by the sum of the squared windows.
    """

    since = 16
    released = ((16, "2025.1"),)
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
        element_type = common_type(data, window)
        size, step = single(frame_size), single(frame_step)
        require_frames(window, size, step)
        if data.rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        if size is not None and data.shape.is_static:
            equal(data.shape[-3], spectrum_size(size), at="data", axis=data.rank - 3)
        if signal_length is not None:
            require_single(signal_length, "signal_length")
        length = self.length(data.shape[-2], size, step, signal_length)
        return Tensor(element_type, PartialShape([*data.shape[:-3], length]))

    def length(
        self, frames: Dimension, size: int | None, step: int | None, signal_length: Tensor | None
    ) -> Dimension:
        """Returns the length of the signal: `signal_length`, or the length that the frames cover.

        With `center`, half a frame at each end is left out.
        """
        if signal_length is not None:
            value = signal_length.value
            if value is None or len(value) != 1:
                return DYNAMIC
            if value.upper[0] < 0:
                return dimension_of(int(value.upper[0]))
            return value.dimension(0) or DYNAMIC
        if size is None or step is None:
            return DYNAMIC
        return (frames - 1) * step + size - (size // 2 * 2 if self.center else 0)

    def check(
        self, data: Tensor, window: Tensor, frame_size: Tensor, frame_step: Tensor, *_: object
    ) -> Iterator[Fault]:
        yield from frame_faults(window, single(frame_size), single(frame_step))

    def evaluate(
        self,
        data: Array,
        window: Array,
        frame_size: Array,
        frame_step: Array,
        signal_length: Array | None,
    ) -> Array:
        size, step = int(frame_size), int(frame_step)
        frames = transformed("irfft", np.swapaxes(as_complex(data), -1, -2), data.ndim - 2, size)
        weights = centred(window, size)
        frames *= weights * (sqrt(size) if self.normalized else 1)
        covered = max(frames.shape[-2] - 1, 0) * step + size
        total = np.zeros((*frames.shape[:-2], covered), np.float64)
        weight = np.zeros(covered, np.float64)
        for index in range(frames.shape[-2]):
            total[..., index * step : index * step + size] += frames[..., index, :]
            weight[index * step : index * step + size] += weights**2
        signal = np.divide(total, weight, out=np.zeros_like(total), where=weight != 0)
        margin = size // 2 if self.center else 0
        length = covered - 2 * margin
        if signal_length is not None:
            length = max(int(signal_length.ravel()[0]), 0)
        kept = signal[..., margin : margin + length]
        result = np.zeros((*signal.shape[:-1], length), data.dtype)
        result[..., : kept.shape[-1]] = kept
        return result
