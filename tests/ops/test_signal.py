"""Fourier transforms against OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential.cases import Case, Input, const, data
from differential.engines import computed
from rows import against_openvino, list_of_size, node, row, size_of

TRANSFORMS = ("DFT", "IDFT", "RDFT", "IRDFT")
SINCE = {"DFT": "opset7", "IDFT": "opset7", "RDFT": "opset9", "IRDFT": "opset9"}
FROM_2_TO_10 = size_of("2..10,3,?")
LIST_FROM_2_TO_10 = list_of_size("2..10,3,?")


def axes_of(numbers: Input | list[int]) -> Input:
    return const("i64", np.array(numbers, np.int64)) if isinstance(numbers, list) else numbers


def transform(
    operation: str,
    shape: str,
    axes: Input | list[int],
    sizes: Input | list[int] | None = None,
    element_type: str = "f32",
    **rest: Any,
) -> Case:
    inputs = [data(element_type, shape), axes_of(axes)]
    inputs += [] if sizes is None else [axes_of(sizes)]
    return Case(operation, SINCE[operation], {}, inputs, **rest)


def transforms(operation: str) -> list[Case]:
    """Of a signal or spectrum [3,4]."""
    pair = "" if operation == "RDFT" else ",2"

    def row(shape: str, *arguments: Any, **rest: Any) -> Case:
        return transform(
            operation, shape if shape in ("", "...") else shape + pair, *arguments, **rest
        )

    def unrun(shape: str, *arguments: Any, **rest: Any) -> Case:
        return row(shape, *arguments, run=False, **rest)

    return [
        *(row("3,4", axes) for axes in ([0], [1], [-1], [-2], [0, 1], [1, 0], [-1, 0])),
        row("2,3,4,5", [1, -1, 2]),
        row("7", [0]),
        row("3,5", [1]),
        row("0,4", [1]),
        row("4,0", [1]),
        row("3,4", [0], [3]),
        row("3,4", [0, 1], [2, 3]),
        row("3,4", [1, 0], [3, 2]),
        row("3,4", [0], [1]),
        row(
            "3,4", [1], data("i32", "1", [3]), run=True if operation in ("DFT", "IDFT") else "alone"
        ),
        row("3,4", const("i32", [1]), const("i32", [2])),
        row("3,4", [0, 1], element_type="f16", atol=0.02),
        row("3,4", [1], element_type="bf16", atol=0.1),
        unrun("3,4", [0, 1], element_type="dynamic"),
        unrun("3,4", data("dynamic", "1")),
        unrun("...", [0, 1]),
        unrun("...", [0, 1], [-1, 3]),
        unrun("...", [0], data("i64", "...")),
        unrun("?,2..9,1..", [0]),
        unrun("?,2..9,1..", [1]),
        unrun("?,2..9,1..", [2, 0]),
        unrun("?,0..1", [1]),
        unrun("?,5..6", [0, 1], [-1, -1]),
        unrun("?,5..6", [1, 0], [-1, 7]),
        unrun("3,4", [0], [2**40]),
        unrun("3,4", [0, 1], data("i64", "2")),
        unrun("3,4", [0, 1], data("i64", "?")),
        unrun("3,4", [1], data("i64", "...")),
        unrun("3,4", [0], LIST_FROM_2_TO_10),
        unrun("3,4", [0, 1], node("Concat-1", "axis=0", LIST_FROM_2_TO_10, "i64{[5]}")),
        unrun("3,4", [1, 0], node("Concat-1", "axis=0", "i64{[-1]}", LIST_FROM_2_TO_10)),
        unrun("3,4", data("i64", "1")),
        unrun("3,4", data("i64", "?")),
        unrun("3,4", data("i64", "...")),
        unrun("3,4", data("i64", "4..6")),
        unrun("3,4", data("i64", "1"), [7]),
        unrun("3,4", data("i64", "1"), data("i64", "1")),
        unrun("...", data("i64", "2"), data("i64", "3..4")),
        # what OpenVINO refuses
        row("3,4", [0, 0]),
        row("3,4", [1, -1]),
        row("3,4", [2]),
        row("3,4", [-3]),
        row("3,4", data("i64", "3")),
        row("3,4", data("i64", "1,1")),
        row("3,4", const("i64", 0)),
        row("3,4", [0], [2, 3]),
        row("3,4", [0], const("i64", 3)),
        row("...", [0, 1], [3]),
        row("...", data("i64", "2"), data("i64", "3")),
        row("", [0]),
        *(
            row("3,4", [0], element_type=element_type)
            for element_type in ("f64", "i32", "f8e4m3", "boolean")
        ),
        *(row("3,4", const(element_type, [0])) for element_type in ("i16", "u64", "f32")),
        row("3,4", [0], const("f32", [3.0])),
        row("3,4", [0], const("i8", [3])),
        # what it passes over
        unrun("...", [1, 1], known="duplicate-axes"),
        unrun("3,4", [0], [0], known="signal-size"),
        unrun("3,4", [0, 1], [-2, 3], known="signal-size"),
    ]


FOURIER = [
    *(case for operation in TRANSFORMS for case in transforms(operation)),
    *(
        case
        for operation in ("DFT", "IDFT")
        for case in (
            transform(operation, "3,4,2", [], run=False),
            transform(operation, "3,4,2", [], [], run=False),
            transform(operation, "3,4,2", data("i64", "0"), run=False),
            transform(operation, "3,4,2", [0, 1], [-1, 5]),
            transform(operation, "3,4,2", [1, 0], [9, 5]),
            transform(operation, "2,0,2", [1], [3], run=False),
            transform(operation, "2", [], run=False),
            transform(operation, "?,?,?", [1], run=False),
            transform(operation, "?,1..3,1..3", [1, 0], run=False),
        )
    ),
    transform("RDFT", "2", [0]),
    transform("RDFT", "1", [0]),
    transform("IRDFT", "3,4,2", [1], [7]),
    transform("IRDFT", "3,5,2", [0, 1], [3, 9]),
    transform("IRDFT", "?,?,?", [1], run=False),
    transform("IRDFT", "1,1,2", [1], run=False),
    *(transform(operation, "3,4,3", [0]) for operation in ("DFT", "IDFT", "IRDFT")),
    *(transform(operation, "3,4,1..", [0], run=False) for operation in ("DFT", "IDFT", "IRDFT")),
    *(transform(operation, "3,4,3..", [0]) for operation in ("DFT", "IDFT", "IRDFT")),
    *(transform(operation, "2", [0]) for operation in ("DFT", "IDFT", "IRDFT")),
    *(transform(operation, "3,4,2", []) for operation in ("RDFT", "IRDFT")),
]


def definition(signal: Any, axis: int, size: int, sign: int) -> Any:
    """The defining sum of a Fourier transform along an axis, truncated or zero-padded."""
    kept = np.moveaxis(signal, axis, -1)[..., :size]
    kept = np.concatenate([kept, np.zeros((*kept.shape[:-1], size - kept.shape[-1]))], axis=-1)
    turns = np.outer(np.arange(size), np.arange(size)) / size
    return np.moveaxis(kept @ np.exp(sign * 2j * np.pi * turns), -1, axis)


PADDED = [
    ((4, 5), [1], [9]),
    ((4, 5), [0, 1], [6, 8]),
    ((4, 5), [1, 0], [7, 3]),
    ((2, 4, 5), [0, 2], [-1, 11]),
    ((3, 0), [1], [4]),
    ((3, 4), [0, 1], [-1, -1]),
]


@pytest.mark.parametrize(("shape", "axes", "sizes"), PADDED)
def test_real_signal_filled_up(shape: tuple[int, ...], axes: list[int], sizes: list[int]) -> None:
    """RDFT with zero-padding and with the signal size -1 gives half of what DFT gives.

    In the first case the CPU plugin reads past its input; the second it refuses to run.
    """
    from irshape.ops.signal.fourier import DFT, RDFT

    signal = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    pairs = np.stack([signal, np.zeros_like(signal)], axis=-1)
    whole = signal.astype(complex)
    for axis, size in zip(axes, sizes, strict=True):
        whole = definition(whole, axis, shape[axis] if size == -1 else size, -1)
    spectrum = DFT().evaluate(pairs, np.array(axes), np.array(sizes))
    np.testing.assert_allclose(spectrum[..., 0] + 1j * spectrum[..., 1], whole, atol=1e-5)
    half = RDFT().evaluate(signal, np.array(axes), np.array(sizes))
    assert half.dtype == np.float32
    np.testing.assert_allclose(
        half, spectrum.take(range(whole.shape[axes[-1]] // 2 + 1), axis=axes[-1]), atol=1e-6
    )


@pytest.mark.parametrize(
    ("shape", "axes", "sizes"),
    [
        ((4, 6), [0, 1], [4, 6]),
        ((4, 6), [1, 0], [5, 7]),
        ((4, 5), [1], [12]),
        ((4, 5), [0, 1], [7, 10]),
        ((4, 5), [1, 0], [7, 8]),
    ],
)
def test_half_spectrum_back(shape: tuple[int, ...], axes: list[int], sizes: list[int]) -> None:
    """IRDFT inverts RDFT, also with zero-padding, for which the CPU plugin reads past its input."""
    from irshape.ops.signal.fourier import IRDFT, RDFT

    signal = np.random.default_rng(6).normal(size=shape).astype(np.float32)
    spectrum = RDFT().evaluate(signal, np.array(axes), np.array(sizes))
    back = IRDFT().evaluate(spectrum, np.array(axes), np.array(sizes))
    wanted = np.zeros(back.shape)
    kept = tuple(slice(min(mine, other)) for mine, other in zip(shape, back.shape, strict=True))
    wanted[kept] = signal[kept]
    np.testing.assert_allclose(back, wanted, atol=1e-6)
    padded = spectrum.take([0, 1], axis=axes[-1])  # fewer than it needs: the rest is zero
    filled = np.zeros_like(spectrum)
    filled[
        tuple(slice(2) if axis == axes[-1] else slice(None) for axis in range(spectrum.ndim))
    ] = padded
    np.testing.assert_allclose(
        IRDFT().evaluate(padded, np.array(axes), np.array(sizes)),
        IRDFT().evaluate(filled, np.array(axes), np.array(sizes)),
    )


def test_of_nothing() -> None:
    """Without axes nothing changes, and without elements the result is 0.

    The CPU plugin leaves its results uninitialised there.
    """
    from irshape.ops.signal.fourier import DFT, IDFT

    pairs = np.random.default_rng(7).normal(size=(3, 4, 2)).astype(np.float32)
    none = np.array([], np.int64)
    for operation in (DFT(), IDFT()):
        np.testing.assert_array_equal(operation.evaluate(pairs, none, None), pairs)
        np.testing.assert_array_equal(operation.evaluate(pairs, none, none), pairs)
        np.testing.assert_array_equal(
            operation.evaluate(pairs[:, :0], np.array([1]), np.array([3])), np.zeros((3, 3, 2))
        )


# STFT

EIGHT, THREE = const("i64", 8), const("i64", 3)


def numbers(element_type: str = "i64") -> Input:
    return data(element_type, "")


def stft(
    signal: str = "2,20",
    window: str = "5",
    size: Input = EIGHT,
    step: Input = THREE,
    *,
    transposed: str | None = "false",
    types: tuple[str, str] = ("f32", "f32"),
    inputs: int = 4,
    **rest: Any,
) -> Case:
    operands = [data(types[0], signal), data(types[1], window), size, step]
    return row("STFT-15", {"transpose_frames": transposed}, *operands[:inputs], **rest)


SHORT_TIME = [
    *(
        case
        for transposed in ("false", "true")
        for case in (stft(transposed=transposed), stft("20", transposed=transposed))
    ),
    stft("8"),
    stft("2,9", "8"),
    stft("0,20"),
    stft(size=const("i64", 7), window="4"),
    stft(size=const("i64", 1), window="1"),
    stft(step=const("i64", 30)),
    stft(step=const("i32", 1), size=const("i32", 5)),
    stft(size=data("i64", "", 6), step=data("i32", "", 2)),
    stft(types=("f16", "f16"), atol=0.02),
    stft(types=("bf16", "bf16"), atol=0.15),
    stft(types=("f64", "f64")),
    stft(types=("f8e4m3", "f8e4m3"), run=False),
    stft(types=("dynamic", "f16"), run=False),
    stft(types=("f32", "dynamic"), run=False),
    stft(types=("dynamic", "dynamic"), run=False),
    *(
        stft("2,20", size=size, step=step, transposed="true", run=False)
        for size, step in ((numbers(), THREE), (EIGHT, numbers()), (numbers("dynamic"), numbers()))
    ),
    stft("20", size=numbers(), run=False),
    stft(size=FROM_2_TO_10, run=False),
    stft(size=data("i64", "..."), run=False),
    stft(size=const("i64", 100), step=numbers(), run=False),
    *(
        stft(signal, transposed=transposed, run=False)
        for transposed in ("false", "true")
        for signal in ("?", "?,?", "...", "1..2,4..20", "..3,10..", "..3,..8", "?,8..12")
    ),
    stft("...", size=const("i64", -1), run=False),
    *(stft(window=window, run=False) for window in ("?", "...", "..8", "8..12")),
    # what OpenVINO refuses
    stft("2,7"),
    stft("..3,..7"),
    stft("0"),
    stft("1,2,20"),
    stft(""),
    *(stft(window=window) for window in ("9", "0", "", "2,2")),
    *(stft(size=const("i64", size)) for size in (0, -2, [8], 21)),
    *(stft(step=const("i64", step)) for step in (0, -1, [3])),
    stft(size=data("i64", "?")),
    *(stft(size=const(element_type, 8)) for element_type in ("u8", "f32", "i16")),
    stft(step=const("u64", 3)),
    *(
        stft(types=types)
        for types in (("i32", "i32"), ("f32", "f16"), ("dynamic", "i32"), ("boolean", "boolean"))
    ),
    stft(inputs=3),
    # what it passes over
    stft(transposed=None, run=False, known="missing-attribute"),
    stft(transposed="zz", run=False, known="boolean-text"),
    stft(window="9..12", run=False, known="window-too-long"),
]


# ISTFT


def istft(
    spectra: str = "2,5,6,2",
    window: str = "5",
    size: Input = EIGHT,
    step: Input = THREE,
    length: Input | None = None,
    *,
    center: str | None = "false",
    normalized: str | None = "false",
    types: tuple[str, str] = ("f32", "f32"),
    inputs: int = 5,
    **rest: Any,
) -> Case:
    given = {"center": center, "normalized": normalized}
    operands = [data(types[0], spectra), data(types[1], window, low=0.5), size, step]
    operands += [] if length is None else [length]
    return row("ISTFT-16", given, *operands[:inputs], **rest)


HANN = const("f32", np.hanning(9)[:8])

BACK = [
    *(
        istft(spectra, "8", length=length, center=center, normalized=normalized)
        for spectra in ("5,6,2", "2,5,6,2")
        for center, normalized in (("false", "false"), ("true", "false"), ("true", "true"))
        for length in (None, const("i64", 10), const("i32", [40]), const("i64", 19))
    ),
    istft(),
    istft(center="true"),
    *(
        istft("4,6,2", "4", const("i64", 7), length=length, center="true")
        for length in (None, const("i64", 30))
    ),
    istft("4,6,2", "4", const("i64", 7), const("i64", 9)),
    istft("2,5,1,2"),
    istft("2,5,1,2", center="true"),
    istft("2,5,0,2", run=False),
    istft("2,5,0,2", center="true"),
    istft("0,5,3,2"),
    istft(size=data("i64", "", 8), step=data("i32", "", 2), length=data("i64", "1", [17])),
    row(
        "ISTFT-16",
        {"center": "true", "normalized": "false"},
        "f32[5,9,2]",
        HANN,
        EIGHT,
        const("i64", 2),
        id="ISTFT-hann",
    ),
    istft(types=("f16", "f16"), atol=0.02),
    istft(types=("bf16", "bf16"), atol=0.1),
    istft(types=("f64", "f64")),
    istft(types=("dynamic", "f16"), run=False),
    istft(types=("f32", "dynamic"), run=False),
    *(
        istft(spectra, center=center, run=False)
        for spectra in ("?,?,?", "?,?,?,?", "...", "?,5,2..7,2", "?,5,2..,2", "?,5,0..1,2")
        for center in ("false", "true")
    ),
    istft("?,?,1..4,?", "4", const("i64", 7), center="true", run=False),
    *(istft(f"2,{dim},6,2", run=False) for dim in ("..5", "..4", "6..")),
    istft("1,4,3,?", run=False),
    *(istft(length=data("i64", shape), run=False) for shape in ("", "1", "?", "...")),
    istft(length=numbers("dynamic"), run=False),
    istft(length=FROM_2_TO_10, run=False),
    istft(length=LIST_FROM_2_TO_10, run=False),
    istft(length=const("i64", 0), run=False),
    istft("...", length=const("i64", 7), run=False),
    istft("...", length=data("i64", "2,2"), run=False),
    *(
        istft(size=size, step=step, length=length, run=False)
        for size, step, length in (
            (numbers(), THREE, None),
            (EIGHT, numbers(), None),
            (numbers(), numbers(), THREE),
        )
    ),
    *(istft(window=window, run=False) for window in ("?", "...", "8..12")),
    # what OpenVINO refuses
    *(istft(spectra) for spectra in ("4,6,2", "6,6,2", "2,4,6,2", "6,2", "1,2,5,6,2")),
    istft("4,6,2", step=numbers()),
    *(
        istft(spectra, size=const("i64", size), step=step)
        for size in (0, -1)
        for spectra, step in (("2,5,6,2", THREE), ("...", numbers()))
    ),
    *(
        istft(spectra, step=const("i64", step), size=size)
        for step in (0, -1)
        for spectra, size in (("2,5,6,2", EIGHT), ("...", numbers()))
    ),
    *(istft(window=window) for window in ("9", "0", "2,2", "")),
    istft("...", "9", step=numbers()),
    *(
        istft(size=size)
        for size in (const("i64", [8]), data("i64", "?"), const("u8", 8), const("f32", 8.0))
    ),
    *(
        istft(length=length)
        for length in (
            const("i64", [10, 2]),
            data("i64", "2..3"),
            data("i64", "1,1"),
            const("f32", 8.0),
            const("u64", 8),
        )
    ),
    *(istft(types=types) for types in (("i32", "i32"), ("f32", "f16"), ("dynamic", "i32"))),
    istft(inputs=3),
    # what it passes over
    istft(center=None, run=False, known="missing-attribute"),
    istft(normalized=None, run=False, known="missing-attribute"),
    istft(window="9..12", run=False, known="window-too-long"),
]

test_against_openvino = against_openvino(*FOURIER, *SHORT_TIME, *BACK)


# what is refused of constants is refused of values that come at run time


@pytest.mark.parametrize("axes", [[2], [0, 0], [-3]])
def test_axes_at_run_time(axes: list[int]) -> None:
    given = data("i64", str(len(axes)), axes)
    assert isinstance(computed(transform("DFT", "3,4,2", given)), str)


@pytest.mark.parametrize(("size", "step"), [(0, 1), (21, 1), (3, 1), (8, 0)])
def test_frames_at_run_time(size: int, step: int) -> None:
    frames = data("i64", "", size), data("i64", "", step)
    for layer in (stft("1,20", "4", *frames), istft("5,3,2", "4", *frames)):
        assert isinstance(computed(layer), str)
