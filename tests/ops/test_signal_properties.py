"""Properties of any signal, spectrum or sequence.

Inference predicts what is computed, and knowing less never contradicts knowing more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from irshape.element_types import ElementType
from irshape.ops.declaration import Operation
from irshape.ops.sequence.ctc import CTCGreedyDecoder, CTCGreedyDecoderSeqLen, CTCLoss
from irshape.ops.signal.fourier import DFT, IDFT, IRDFT, RDFT
from irshape.ops.signal.short_time import ISTFT, STFT
from irshape.ops.tensors import Tensor, Value
from irshape.shapes import DYNAMIC_SHAPE, Dimension, PartialShape

FEW = settings(derandomize=True, max_examples=60, deadline=None)
TYPES = {
    np.dtype(np.float32): ElementType.of("f32"),
    np.dtype(np.float64): ElementType.of("f64"),
    np.dtype(np.int64): ElementType.of("i64"),
}


def known(array: Any) -> Tensor:
    """An array as inference sees a constant."""
    return Tensor(
        TYPES[array.dtype],
        array.shape,
        Value(map(int, array.ravel())) if array.dtype == np.int64 else None,
    )


def blurred(draw: st.DrawFn, tensor: Tensor, *, keep_value: bool = False) -> Tensor:
    """The same tensor, of which less is known."""
    value = tensor.value if keep_value or draw(st.booleans()) else None
    if draw(st.integers(0, 9)) == 0 and value is None:
        return Tensor(tensor.element_type, DYNAMIC_SHAPE)
    dims = []
    for dim in tensor.shape[:] if value is None else ():
        low, high = draw(st.sampled_from([(0, 0), (0, 3), (1, 0), (dim.low, None)]))
        dims.append(Dimension.of((max(dim.low - low, 0), None if high is None else dim.low + high)))
    return Tensor(
        tensor.element_type, tensor.shape if value is not None else PartialShape(dims), value
    )


def shapes(outputs: Tensor | tuple[Tensor, ...]) -> tuple[PartialShape, ...]:
    return tuple(tensor.shape for tensor in (outputs if isinstance(outputs, tuple) else (outputs,)))


def holds(
    draw: st.DrawFn, operation: Operation, arrays: list[Any], firm: tuple[int, ...] = ()
) -> Any:
    """The result, once inference from full and from partial knowledge has been compared with it.

    `firm` are the inputs whose values stay known.
    """
    assert operation.evaluate is not None
    result = operation.evaluate(*arrays)
    exact = [None if array is None else known(array) for array in arrays]
    sizes = tuple(array.shape for array in (result if isinstance(result, tuple) else (result,)))
    assert tuple(shape.static for shape in shapes(operation.infer(*exact))) == sizes
    for _ in range(3):
        vague = [
            None if tensor is None else blurred(draw, tensor, keep_value=at in firm)
            for at, tensor in enumerate(exact)
        ]
        assert all(
            shape.encloses(PartialShape(size))
            for shape, size in zip(shapes(operation.infer(*vague)), sizes, strict=True)
        )
    return result


@st.composite
def transforms(draw: st.DrawFn) -> tuple[Operation, list[Any], Any]:
    operation = draw(st.sampled_from([DFT(), IDFT(), RDFT(), IRDFT()]))
    half = isinstance(operation, RDFT | IRDFT)
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    axes = draw(
        st.lists(
            st.integers(0, len(shape) - 1), min_size=int(half), max_size=len(shape), unique=True
        )
    )
    signs = [axis - draw(st.sampled_from([0, len(shape)])) for axis in axes]
    sizes = draw(
        st.one_of(
            st.none(),
            st.lists(
                st.one_of(st.just(-1), st.integers(1, 7)), min_size=len(axes), max_size=len(axes)
            ),
        )
    )
    if not isinstance(operation, RDFT):
        shape.append(2)
    signal = np.random.default_rng(draw(st.integers(0, 99))).normal(size=shape).astype(np.float32)
    arrays = [
        signal,
        np.array(signs, np.int64),
        None if sizes is None else np.array(sizes, np.int64),
    ]
    # with unknown signal sizes, OpenVINO and inference assume that all axes but the last stay
    return operation, arrays, holds(draw, operation, arrays, (2,) if half and len(axes) > 1 else ())


@FEW
@given(transforms())
def test_fourier(drawn: tuple[Operation, list[Any], Any]) -> None:
    """Twice the signal is twice the spectrum; back and forth changes nothing."""
    operation, (signal, axes, sizes), result = drawn
    assert operation.evaluate is not None
    np.testing.assert_array_equal(operation.evaluate(2 * signal, axes, sizes), 2 * result)
    other = {DFT: IDFT, IDFT: DFT}.get(type(operation))
    if other is not None and sizes is None:
        np.testing.assert_allclose(other().evaluate(result, axes, None), signal, atol=1e-5)


@st.composite
def framed(draw: st.DrawFn) -> tuple[list[Any], Any]:
    size = draw(st.integers(1, 8))
    step = draw(st.integers(1, 6))
    length = size + draw(st.integers(0, 12))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    signal = rng.normal(size=draw(st.sampled_from([(length,), (2, length)]))).astype(np.float32)
    window = rng.uniform(0.5, 1.5, draw(st.integers(1, size))).astype(np.float32)
    arrays = [signal, window, np.array(size), np.array(step)]
    return arrays, holds(draw, STFT(transpose_frames=draw(st.booleans())), arrays)


@FEW
@given(framed())
def test_short_time(drawn: tuple[list[Any], Any]) -> None:
    """Transposed frames are the same frames, each the transform of its part of the signal."""
    arrays, _ = drawn
    signal, window, size, step = arrays
    result = STFT(transpose_frames=False).evaluate(*arrays)
    np.testing.assert_array_equal(
        STFT(transpose_frames=True).evaluate(*arrays), result.swapaxes(-3, -2)
    )
    begin = (int(size) - len(window)) // 2
    for index in range(result.shape[-3]):
        part = np.zeros((*signal.shape[:-1], int(size)), np.float32)
        part[..., begin : begin + len(window)] = (
            signal[..., index * step + begin : index * step + begin + len(window)] * window
        )
        np.testing.assert_allclose(
            RDFT().evaluate(part, np.array([-1]), None), result[..., index, :, :], atol=1e-5
        )


@st.composite
def spectra(draw: st.DrawFn) -> tuple[list[Any], Any, ISTFT]:
    size = draw(st.integers(1, 8))
    shape = (size // 2 + 1, draw(st.integers(1, 5)), 2)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    data = rng.normal(size=draw(st.sampled_from([shape, (2, *shape)]))).astype(np.float32)
    window = rng.uniform(0.5, 1.5, draw(st.integers(1, size))).astype(np.float32)
    length = draw(st.one_of(st.none(), st.integers(0, 40)))
    arrays = [
        data,
        window,
        np.array(size),
        np.array(draw(st.integers(1, 9))),
        None if length is None else np.array(length),
    ]
    operation = ISTFT(center=draw(st.booleans()), normalized=draw(st.booleans()))
    return arrays, holds(draw, operation, arrays), operation


@FEW
@given(spectra())
def test_short_time_back(drawn: tuple[list[Any], Any, ISTFT]) -> None:
    """A shorter length cuts the signal, and leaves what comes before as it is."""
    (*arrays, _), result, operation = drawn
    short, long = (operation.evaluate(*arrays, np.array(length)) for length in (3, 50))
    np.testing.assert_array_equal(long[..., :3], short)
    kept = min(result.shape[-1], 50)
    np.testing.assert_array_equal(result[..., :kept], long[..., :kept])


@st.composite
def sequences(draw: st.DrawFn) -> tuple[Any, Any]:
    batch, time, classes = draw(st.integers(0, 3)), draw(st.integers(0, 6)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    logits = rng.integers(0, 4, (batch, time, classes)).astype(np.float32)
    return logits, rng.integers(0, time + 1, batch)


@FEW
@given(sequences(), st.booleans(), st.data())
def test_greedy(drawn: tuple[Any, Any], merge: bool, more: st.DataObject) -> None:
    """Both decoders agree, and with a path written out by hand."""
    logits, lengths = drawn
    blank = logits.shape[2] - 1
    classes, counts = holds(
        more.draw, CTCGreedyDecoderSeqLen(merge_repeated=merge), [logits, lengths, None]
    )
    for row, path, length, count in zip(
        classes, logits.argmax(axis=-1), lengths, counts, strict=True
    ):
        wanted = [
            c
            for at, c in enumerate(path[:length])
            if c != blank and not (merge and at and path[at - 1] == c)
        ]
        assert row.tolist() == wanted + [-1] * (logits.shape[1] - len(wanted))
        assert count == len(wanted)
    mask = (np.arange(logits.shape[1])[:, None] < lengths).astype(np.float32)
    same = holds(
        more.draw, CTCGreedyDecoder(ctc_merge_repeated=merge), [logits.swapaxes(0, 1), mask]
    )
    np.testing.assert_array_equal(same[:, :, 0, 0], classes)


@FEW
@given(sequences(), st.booleans(), st.booleans(), st.booleans(), st.data())
def test_loss(
    drawn: tuple[Any, Any], merge: bool, unique: bool, collapse: bool, more: st.DataObject
) -> None:
    """A loss is that of a probability.

    It depends neither on a constant added to all logits of a step nor on what follows the labels.
    """
    logits, lengths = drawn
    rng = np.random.default_rng(1)
    labels = rng.integers(0, logits.shape[2] - 1, logits.shape[:2])
    taken = np.minimum(lengths, rng.integers(0, 4, len(lengths)))
    operation = CTCLoss(
        ctc_merge_repeated=merge, unique=unique, preprocess_collapse_repeated=collapse
    )
    result = holds(more.draw, operation, [logits, lengths, labels, taken, None])
    assert np.all(result >= -1e-6)
    behind = np.where(np.arange(labels.shape[1]) < taken[:, None], labels, -5)
    shifted = operation.evaluate(
        logits + np.float32(3), lengths, behind, taken, np.array(logits.shape[2] - 1)
    )
    np.testing.assert_allclose(shifted, result, rtol=1e-5, atol=1e-6)
