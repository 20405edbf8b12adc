"""Two small networks, in which `faults.py` plants its faults, and changes of their texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import irshape

File = tuple[str, bytes]
"""The text of an .xml and the bytes of its .bin."""
Change = Callable[[str, bytes], File]


def image_network() -> irshape.Graph:
    """Convolution, pooling, a mean over the image, MatMul, SoftMax."""
    graph = irshape.Graph()
    generator = np.random.default_rng(0)

    def weights(name: str, *shape: int) -> irshape.Output:
        return graph.constant(generator.normal(size=shape).astype(np.float32), name=name)

    image = graph.parameter("f32", "[1,3,16,16]", name="image")
    conv = graph.add(
        "Convolution",
        image,
        weights("kernel", 4, 3, 3, 3),
        strides=[1, 1],
        pads_begin=[1, 1],
        pads_end=[1, 1],
        dilations=[1, 1],
        name="conv",
    )
    shifted = graph.add("Add", conv, weights("shift", 1, 4, 1, 1), name="shifted")
    relu = graph.add("ReLU", shifted, name="relu")
    pool = graph.add(
        "AvgPool",
        relu,
        strides=[2, 2],
        pads_begin=[0, 0],
        pads_end=[0, 0],
        kernel=[2, 2],
        exclude_pad=True,
        name="pool",
    )
    axes = graph.constant(np.array([2, 3]), name="axes")
    mean = graph.add("ReduceMean", pool, axes, keep_dims=False, name="mean")
    dense = graph.add("MatMul", mean, weights("dense", 5, 4), transpose_b=True, name="scores")
    graph.result(graph.add("SoftMax", dense, axis=1, name="softmax"), "probabilities")
    return graph


def text_network() -> irshape.Graph:
    """Embeddings, a split in two, attention-like reshaping, a GRU cell, the best of the scores."""
    graph = irshape.Graph()
    generator = np.random.default_rng(1)

    def weights(name: str, *shape: int) -> irshape.Output:
        return graph.constant(generator.normal(size=shape).astype(np.float32), name=name)

    def integers(name: str, *values: int) -> irshape.Output:
        return graph.constant(np.array(values), name=name)

    ids = graph.parameter("i64", "[?,6]", name="ids")
    words = graph.add(
        "Gather", weights("table", 20, 16), ids, graph.constant(np.array(0), name="rows"),
        name="words",
    )  # fmt: skip
    first, second = graph.add(
        "Split", words, graph.constant(np.array(2), name="last"), num_splits=2, name="halves"
    )
    joined = graph.add("Concat", second, first, axis=2, name="joined")
    heads = graph.add(
        "Reshape", joined, integers("heads_shape", 0, 6, 4, 4), special_zero=True, name="heads"
    )
    turned = graph.add("Transpose", heads, integers("order", 0, 2, 1, 3), name="turned")
    summed = graph.add("ReduceSum", turned, integers("axis_1", 1), keep_dims=True, name="summed")
    flat = graph.add("Squeeze", summed, integers("axis_of_1", 1), name="flat")
    row = graph.add("ReduceMax", flat, integers("steps", 1), keep_dims=False, name="row")
    state = graph.parameter("f32", "[?,16]", name="state")
    cell = graph.add(
        "GRUCell",
        row,
        state,
        weights("w", 48, 4),
        weights("r", 48, 16),
        weights("b", 48),
        hidden_size=16,
        name="cell",
    )
    scores = graph.add("MatMul", cell, weights("out", 16, 20), name="scores")
    best, _ = graph.add(
        "TopK", scores, graph.constant(np.array(3), name="k"), axis=1, mode="max", sort="value",
        name="best",
    )  # fmt: skip
    graph.result(best, "best")
    return graph


@cache
def written(network: Callable[[], irshape.Graph]) -> File:
    """The text of a network as irshape writes it, and its weights."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "m.xml")
        graph = network()
        graph.name = "network"  # OpenVINO names a model without one by a number
        graph.save(path)
        return path.read_text(encoding="utf-8"), path.with_suffix(".bin").read_bytes()


# Changes


def of_text(change: Callable[[str], str]) -> Change:
    return lambda text, weights: (change(text), weights)


def of_weights(change: Callable[[bytes], bytes]) -> Change:
    return lambda text, weights: (text, change(weights))


def replaced(old: str, new: str, count: int = 1) -> Change:
    """A text in place of another one, which must be there."""

    def change(text: str) -> str:
        assert old in text, old
        return text.replace(old, new, count)

    return of_text(change)


def layer(name: str, old: str, new: str) -> Change:
    """A text in place of another one in the element of a layer."""

    def change(text: str) -> str:
        start = text.index(f'name="{name}" type=')
        start = text.rindex("<layer ", 0, start)
        end = text.index("</layer>", start)
        assert old in text[start:end], f"{old} in {name}"
        return text[:start] + text[start:end].replace(old, new, 1) + text[end:]

    return of_text(change)


def attribute(name: str, key: str, new: str) -> Change:
    """Another value of an attribute of a layer, which it has."""

    def change(text: str) -> str:
        pattern = rf'(<layer id="\d+" name="{name}" [^>]*>\s*<data [^>]*?(?<![\w-]){key}=")[^"]*'
        found, count = re.subn(pattern, lambda match: match[1] + new, text, count=1)
        assert count, f"{key} of {name}"
        return found

    return of_text(change)


def value(name: str, at: int, new: int, width: int = 8) -> Change:
    """Another integer in the .bin of a constant, at an index."""

    def change(text: str, weights: bytes) -> File:
        found = re.search(rf'name="{name}" [^>]*>\s*<data [^>]*offset="(\d+)"', text)
        assert found is not None, name
        start = int(found[1]) + at * width
        raw = new.to_bytes(width, "little", signed=True)
        return text, weights[:start] + raw + weights[start + width :]

    return change


def edge(to: str, port: int, old: str = "", new: str = "") -> Change:
    """The edge into a port of a layer with a text replaced; without one, the edge removed."""

    def change(text: str) -> str:
        number = number_of(text, to)
        pattern = rf'\s*<edge [^>]*to-layer="{number}" to-port="{port}" />'
        found = re.search(pattern, text)
        assert found is not None, f"{to}:{port}"
        if old:
            assert old in found[0], f"{old} in {found[0]}"
        return text.replace(found[0], found[0].replace(old, new) if old else "", 1)

    return of_text(change)


def without(text: str, name: str, *, edges: bool = True) -> str:
    """A text without a layer and, with `edges`, without the edges from and to it."""
    number = number_of(text, name)
    if edges:
        text = re.sub(rf'\s*<edge [^>]*(?:from|to)-layer="{number}"[^>]*>', "", text)
    return re.sub(rf'\s*<layer id="{number}".*?</layer>', "", text, count=1, flags=re.DOTALL)


def swapped(to: str) -> Change:
    """The edges into ports 0 and 1 of a layer exchanged."""

    def change(text: str) -> str:
        pattern = rf'(to-layer="{number_of(text, to)}" to-port=")([01])'
        return re.sub(pattern, lambda match: f"{match[1]}{1 - int(match[2])}", text)

    return of_text(change)


def number_of(text: str, name: str) -> str:
    """The id of a layer."""
    found = re.search(rf'<layer id="(\d+)" name="{name}"', text)
    assert found is not None, name
    return found[1]
