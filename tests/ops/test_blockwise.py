"""Parts of a range, and elementwise functions of arrays in any order in memory."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from irshape.ops import blockwise
from irshape.ops.blockwise import BLOCK, PER_THREAD, each, in_blocks, in_threads, is_dense


@pytest.fixture(params=["1", "3"])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("OMP_NUM_THREADS", request.param)
    return int(request.param)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 100, 8 * PER_THREAD])
def test_parts_cover_a_range_once(length: int, threads: int) -> None:
    counts = np.zeros(length, np.int64)
    who = set()

    def work(start: int, stop: int) -> None:
        counts[start:stop] += 1
        who.add(threading.get_ident())

    in_threads(work, length, 8 * PER_THREAD)
    assert (counts == 1).all()
    assert len(who) <= max(min(threads, length), 1)
    counts[:] = 0
    in_blocks(work, length)
    assert (counts == 1).all()


def test_blocks_are_of_limited_size(threads: int) -> None:
    sizes: list[int] = []
    in_blocks(lambda start, stop: sizes.append(stop - start), 5 * BLOCK, 2)
    assert sum(sizes) == 5 * BLOCK
    assert max(sizes) * 2 <= BLOCK


@pytest.mark.parametrize("failing", [0, PER_THREAD * 3 - 1])
def test_an_exception_reaches_the_caller(failing: int, threads: int) -> None:
    def work(start: int, stop: int) -> None:
        if start <= failing < stop:
            raise ValueError("this part")

    with pytest.raises(ValueError, match="this part"):
        in_threads(work, PER_THREAD * 3, PER_THREAD * 3)


@pytest.mark.filterwarnings("error")
def test_no_thread_warns_of_what_is_not_finite(threads: int) -> None:
    def root(data: np.ndarray, out: np.ndarray) -> None:
        np.sqrt(data, out=out)

    with np.errstate(all="ignore"):
        assert np.isnan(each(root, np.full(4 * PER_THREAD, -1.0))).all()


def square(data: np.ndarray, out: np.ndarray) -> None:
    np.multiply(data, data, out=out)


BASE = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("array", "dense"),
    [
        pytest.param(BASE, True, id="in order"),
        pytest.param(BASE.transpose(0, 3, 1, 2), True, id="channels last"),
        pytest.param(BASE.T, True, id="backwards"),
        pytest.param(BASE[:, ::2], False, id="every other"),
        pytest.param(BASE[::-1], False, id="negative stride"),
        pytest.param(np.broadcast_to(BASE[:1, :1], BASE.shape), False, id="broadcast"),
        pytest.param(BASE[:, :1].transpose(0, 3, 1, 2), False, id="a part, transposed"),
        pytest.param(BASE[:1].transpose(0, 3, 1, 2), True, id="an axis of one"),
        pytest.param(BASE[:, :0], True, id="empty"),
        pytest.param(BASE[0, 0, 0, :1].reshape(()), True, id="scalar"),
    ],
)
def test_an_elementwise_function_of_any_layout(array: np.ndarray, dense: bool) -> None:
    assert is_dense(array) == dense
    wanted = array * array
    np.testing.assert_array_equal(each(square, array), wanted)
    for out in (np.empty_like(array), np.empty(array.shape, array.dtype)):
        assert each(square, array, out) is out
        np.testing.assert_array_equal(out, wanted)
    itself = array.copy(order="K")
    assert each(square, itself, itself) is itself
    np.testing.assert_array_equal(itself, wanted)


def test_as_many_threads_as_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert blockwise.thread_count() == 7
    for text in ("", "0", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert blockwise.thread_count() >= 1
