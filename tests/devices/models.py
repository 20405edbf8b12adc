"""Small models, each with something that a device refuses, takes, or does not know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from irshape import Graph

MODELS: dict[str, Callable[[Graph], object]] = {}


def _model(build: Callable[[Graph], object]) -> Callable[[Graph], object]:
    MODELS[build.__name__] = build
    return build


@_model
def plain(graph: Graph) -> object:
    return graph.add("ReLU", graph.parameter("f32", "[2,3]", name="x"))


@_model
def no_rank(graph: Graph) -> object:
    return graph.add("ReLU", graph.parameter("f32", "[...]", name="x"))


@_model
def unbounded(graph: Graph) -> object:
    return graph.add("ReLU", graph.parameter("f32", "[?,3]", name="x"))


@_model
def bounded(graph: Graph) -> object:
    return graph.add("ReLU", graph.parameter("f32", "[1..8,3]", name="x"))


@_model
def parts(graph: Graph) -> object:
    """Blocks of a batch, and a part of them."""
    data = graph.parameter("f32", "[2,3,4,4]", name="x")
    shape, none = graph.constant(np.array([1, 1, 2, 2])), graph.constant(np.zeros(4, np.int64))
    blocks = graph.add("SpaceToBatch", data, shape, none, none)
    moved = graph.add("BatchToSpace", blocks, shape, none, none)
    first = graph.op.split(moved, graph.constant(np.int64(0)), num_splits=2)[0]
    return graph.op.variadic_split(
        first, graph.constant(np.int64(1)), graph.constant(np.array([1, 2]))
    )[1]


@_model
def finite(graph: Graph) -> object:
    return graph.add("IsFinite", graph.parameter("f32", "[2,3]", name="x"))


@_model
def no_elements(graph: Graph) -> object:
    """No measured model has an Elu of an empty tensor."""
    return graph.add("Elu", graph.parameter("f32", "[0,3]", name="x"), alpha=1.0)


@_model
def axes_of_an_input(graph: Graph) -> object:
    data, axes = graph.parameter("f32", "[2,3,4]", name="x"), graph.parameter("i64", "[1]")
    return graph.add("ReduceMean", data, axes, keep_dims=True)


@_model
def axes_that_are_folded(graph: Graph) -> object:
    data = graph.parameter("f32", "[2,3,4]", name="x")
    axes = graph.add("Convert", graph.constant(np.array([1], np.int32)), destination_type="i64")
    return graph.add("ReduceMean", data, axes, keep_dims=True)


@_model
def axes_of_a_static_shape(graph: Graph) -> object:
    """Half the size of axis 0: the shape is known, so OpenVINO folds what is computed from it."""
    data = graph.parameter("f32", "[2,3,4]", name="x")
    size = graph.add(
        "Gather", graph.add("ShapeOf", data), graph.constant(np.array([0])), graph.constant(0)
    )
    axes = graph.add("Divide", size, graph.constant(np.array([2])))
    return graph.add("ReduceMean", data, axes, keep_dims=True)


@_model
def local_response(graph: Graph) -> object:
    data, axes = graph.parameter("f32", "[1,3,4,4]", name="x"), graph.parameter("i64", "[1]")
    return graph.add("LRN", data, axes, alpha=1.0, beta=0.75, bias=1.0, size=3)


@_model
def integers_to_a_sine(graph: Graph) -> object:
    return graph.add("Sinh", graph.parameter("i32", "[2,3]", name="x"))


@_model
def compressed_weights(graph: Graph) -> object:
    weights = graph.constant(np.ones((4, 8), np.int8))
    halves = graph.add("Convert", weights, destination_type="f32")
    scaled = graph.add("Multiply", halves, graph.constant(np.ones((4, 1), np.float32)))
    data = graph.parameter("f32", "[?,8]", name="x")
    return graph.add("MatMul", data, scaled, transpose_a=False, transpose_b=True)


@_model
def convolution_of_integers(graph: Graph) -> object:
    """A Convolution in int8, whose weights nothing decompresses."""
    data = graph.parameter("i8", "[1,3,8,8]", name="x")
    weights = graph.constant(np.ones((4, 3, 3, 3), np.int8))
    sizes = {"strides": (1, 1), "dilations": (1, 1), "pads_begin": (0, 0), "pads_end": (0, 0)}
    return graph.add("Convolution", data, weights, **sizes)


@_model
def inverse(graph: Graph) -> object:
    return graph.add("Inverse", graph.parameter("f32", "[2,3,3]", name="x"), adjoint=False)


@_model
def inverse_of_constants(graph: Graph) -> object:
    """OpenVINO cannot evaluate an Inverse, so a device gets it."""
    return graph.add("Inverse", graph.constant(np.eye(2, dtype=np.float32)), adjoint=False)


@_model
def many_axes(graph: Graph) -> object:
    """A tensor of more axes than any that a measured Tile has."""
    repeats = graph.constant(np.array([2], np.int64))
    return graph.add("Tile", graph.parameter("f32", "[1,1,1,1,1,1,1,2]", name="x"), repeats)


@_model
def variable(graph: Graph) -> object:
    """A variable of four axes, such as a KV cache."""
    x, past = (graph.parameter("f32", "[1,2,4,3]", name=name) for name in ("x", "past"))
    graph.result(graph.op.add(past, x), "next")
    graph.make_stateful({"past": "next"})
    return graph.op.relu(x)


def saved(name: str, folder: Path) -> Path:
    """A model by name, in a folder."""
    graph = Graph()
    graph.result(MODELS[name](graph), "y")  # type: ignore[arg-type]
    path = folder / f"{name}.xml"
    graph.save(path)
    return path


def variable_alone(folder: Path) -> Path:
    """A variable that is read and never assigned."""
    path = folder / "variable_alone.xml"
    path.write_text(
        '<net name="m" version="11"><layers>'
        '<layer id="0" name="x" type="Parameter" version="opset1">'
        '<data shape="2" element_type="f32"/>'
        '<output><port id="0" precision="FP32" names="x"><dim>2</dim></port></output></layer>'
        '<layer id="1" name="read" type="ReadValue" version="opset6">'
        '<data variable_id="v" variable_type="f32" variable_shape="2"/>'
        '<input><port id="0" precision="FP32"><dim>2</dim></port></input>'
        '<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>'
        '<layer id="2" name="y" type="Result" version="opset1">'
        '<input><port id="0" precision="FP32"><dim>2</dim></port></input></layer></layers><edges>'
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
    )
    return path


def custom(folder: Path) -> Path:
    """A layer of an operation that nobody has measured."""
    path = saved("plain", folder)
    text = path.read_text().replace('type="ReLU" version="opset1"', 'type="Mine" version="mine"')
    path.write_text(text)
    return path
