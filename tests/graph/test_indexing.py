"""Indexing of outputs, held against NumPy on random expressions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import irshape
from irshape import Graph, GraphError, Output

SHAPE = (2, 3, 5)
DATA = np.arange(30, dtype=np.float32).reshape(SHAPE)
AT_ONCE = 60


def _number(draw: random.Random) -> int:
    return draw.choice((0, 1, -1, -2, 2, 4, -5, 9, -7))


def _slice(draw: random.Random) -> slice:
    bounds = [None if draw.random() < 0.4 else draw.randint(-7, 7) for _ in range(2)]
    return slice(*bounds, draw.choice((None, 1, 2, 3, -1, -1, -2, -3)))


def _list(draw: random.Random) -> list[Any]:
    if draw.random() < 0.2:
        return [[0, 1], [draw.choice((0, -1)), 0]]
    return [draw.choice((0, 1, -1, -2)) for _ in range(draw.randint(0, 3))]


def _index(draw: random.Random) -> Any:
    """A random index for at most one axis more than there are."""
    items: list[Any] = []
    for _ in range(draw.choice((1, 1, 2, 2, 3, 3, 4))):
        kind = draw.choice((_number, _slice, _slice, _list))
        items.append(kind(draw))
    for extra in (None, None, Ellipsis):
        if draw.random() < 0.2:
            items.insert(draw.randint(0, len(items)), extra)
    return tuple(items) if len(items) > 1 or draw.random() < 0.5 else items[0]


def _wanted(index: Any) -> np.ndarray | None:
    try:
        return DATA[index]
    except IndexError:
        return None


def _taken(x: Output, index: Any) -> Output | None:
    try:
        return x[index]
    except GraphError:
        return None


@pytest.mark.parametrize("shape", [list(SHAPE), ["?", 3, "?"], ["?", "1..3", "?"], "[...]"])
def test_random_indices_are_numpys_or_refused(shape: Any) -> None:
    draw = random.Random(str(shape))
    compared = refused = 0
    for _ in range(30):
        graph = Graph(name="indexing")
        x = graph.parameter("f32", shape, name="x")
        expected: list[tuple[Any, np.ndarray]] = []
        for at in range(AT_ONCE):
            index = _index(draw)
            if shape == "[...]" and isinstance(index, tuple) and any(i is ... for i in index):
                continue  # which axes an ellipsis leaves is not known
            wanted = _wanted(index)
            if wanted is None and shape != list(SHAPE):
                continue  # what is out of range is known only at run time
            part = _taken(x, index)
            assert wanted is not None or part is None, f"x[{index}] is out of range in NumPy"
            if part is None or wanted is None:
                refused += wanted is not None
                continue
            graph.result(part, f"y{at}")
            expected.append((index, wanted))
        results = irshape.run(graph, {"x": DATA})
        for actual, (index, wanted) in zip(results.values(), expected, strict=True):
            message = f"x[{index}] of {shape}"
            assert actual.shape == wanted.shape, message
            np.testing.assert_array_equal(actual, wanted, message)
        compared += len(expected)
    assert compared > 500
    assert refused < 250, "only lists that NumPy pairs up or moves are refused"


@pytest.mark.parametrize(
    "index",
    [
        ([0, 1], [0, 2]),
        (0, slice(None), [1]),
        (slice(None), 9),
        (slice(None), [0, 3]),
        (..., ...),
        (0, 0, 0, 0),
        (slice(1, None), 9),
    ],
    ids=repr,
)
def test_what_is_refused_says_what_to_write(index: Any) -> None:
    graph = Graph()
    x = graph.parameter("f32", list(SHAPE))
    with pytest.raises(GraphError) as caught:
        x[index]
    assert graph.layers == (x.layer,)
    assert caught.value.help or caught.value.expected or index == (..., ...)


@pytest.mark.parametrize("index", [True, [True, False], "a", 1.0, slice(None, None, 0), slice("a")])
def test_what_is_no_index_is_a_type_error(index: Any) -> None:
    with pytest.raises(TypeError):
        Graph().parameter("f32", list(SHAPE))[index]
