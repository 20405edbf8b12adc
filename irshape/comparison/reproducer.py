"""One layer of a model as a model of its own: what feeds it becomes an input, or stays the constant that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..execution.inputs import existing_folder, npy_bytes
from ..inference.engine import infer
from ..model.graph import Body, Edge, Layer, Model, Port
from ..model.wiring import wire
from ..numpy_types import element_type_of

Array = np.ndarray[Any, np.dtype[Any]]


class Cut(NamedTuple):
    """A layer cut out. inputs: the arrays for its Parameters, by their ids."""

    model: Model
    layer: Layer
    inputs: dict[str, Array]


def cut(model: Model, layer: Layer, inputs: Sequence[Array]) -> Cut:
    """The layer with Parameters of the shapes of `inputs` (those of its fed ports, in order). Constants, bodies and attributes are those of the model."""
    position = next(number for number, found in enumerate(model.net.layers) if found is layer)
    row = wire(model.net).sources[position]
    fed = [
        (port, source) for port, source in zip(layer.inputs, row, strict=True) if source is not None
    ]
    taken = {int(found.id) for found in model.net.layers if found.id.isdigit()}
    fresh = iter(range(max(taken, default=0) + 1, 1 << 62))
    body = Body()
    arrays: dict[str, Array] = {}
    made: dict[tuple[int, int], str] = {}
    used = {layer.id}
    for (port, source), array in zip(fed, inputs, strict=True):
        producer = model.net.layers[source[0]]
        found = made.get(source)
        if found is None:
            constant = producer.type.lower() in ("const", "constant")
            found = made[source] = producer.id if producer.id not in used else str(next(fresh))
            used.add(found)
            body.layers.append(
                _constant(producer, found)
                if constant
                else _parameter(producer, source[1], found, array)
            )
            if not constant:
                arrays[found] = array
        body.edges.append(Edge(found, "0", layer.id, port.id, -1))
    body.layers.append(layer)
    for port in layer.outputs:
        result = Layer(
            str(next(fresh)), f"{layer.name}/result{port.id}", "Result", "opset1", -1, ()
        )
        result.inputs = [Port("0", port.precision, None, -1)]
        result.inputs[0].dims = port.dims
        body.layers.append(result)
        body.edges.append(Edge(layer.id, port.id, result.id, "0", -1))
    alone = Model(model.source, layer.name, 11, format=model.format)
    alone.net = body
    alone.weights = model.weights
    return Cut(alone, layer, arrays)


def cut_body(
    model: Model, body: Body, given: Mapping[str, Array]
) -> tuple[Model, dict[str, Array]]:
    """The body of a control-flow layer, with Parameters of the shapes of `given` (by their ids), and those arrays in the order of the Parameters."""
    alone = Model(model.source, model.path, 11, format=model.format)
    alone.weights = model.weights
    alone.net = Body()
    alone.net.edges = list(body.edges)
    arrays: dict[str, Array] = {}
    for layer in body.layers:
        array = given.get(layer.id) if layer.type.lower() == "parameter" else None
        made = layer
        if array is not None:
            arrays[layer.id] = array
            made = _parameter(layer, 0, layer.id, array)
            made.name = layer.name
            made.outputs[0].id = layer.outputs[0].id
        alone.net.layers.append(made)
    return alone, arrays


def _parameter(producer: Layer, index: int, id: str, array: Array) -> Layer:
    element_type = element_type_of(array)
    made = Layer(
        id,
        producer.name if len(producer.outputs) == 1 else f"{producer.name}:{index}",
        "Parameter",
        "opset1",
        -1,
        (),
    )
    made.items = ("shape", ",".join(map(str, array.shape)), "element_type", element_type.name)
    made.outputs = [
        Port(
            "0",
            element_type.precision,
            producer.outputs[index].names if index < len(producer.outputs) else None,
            -1,
        )
    ]
    made.outputs[0].dims = array.shape
    return made


def _constant(producer: Layer, id: str) -> Layer:
    made = Layer(id, producer.name, producer.type, producer.version, producer.offset, ())
    made.items = producer.items
    port = producer.outputs[0]
    made.outputs = [Port("0", port.precision, port.names, port.offset)]
    made.outputs[0].dims = port.dims
    return made


def save(found: Cut, folder: str | Path, outputs: dict[str, Sequence[Array]]) -> Path:
    """Writes `layer_ID.xml` and .bin, `layer_ID.input0.npy` … and, for each name in `outputs`, `layer_ID.NAME0.npy` …; the path of the .xml. Raises `OSError`, `ValueError`.

    Inputs beside a model of these names are what `irshape run` and `irshape crosscheck` take where none are given.
    """
    from ..formats.atomic import write_together
    from ..formats.ir.writer import write

    target = existing_folder(str(folder)) / f"layer_{file_stem(found.layer.id)}.xml"
    write(found.model, target, infer(found.model))
    arrays = {
        f"input{number}": found.inputs[parameter.id]
        for number, parameter in enumerate(found.model.parameters)
    }
    arrays |= {
        f"{name}{number}": array
        for name, made in outputs.items()
        for number, array in enumerate(made)
    }
    write_together(
        {target.with_suffix(f".{name}.npy"): npy_bytes(array) for name, array in arrays.items()}
    )
    return target


def file_stem(id: str) -> str:
    """An id as a part of a file name."""
    return "".join(char if char.isalnum() else "_" for char in id)
