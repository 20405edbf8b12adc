"""Cuts a layer out of a model: its inputs become Parameters or constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from ..execution.inputs import existing_folder, npy_bytes
from ..inference.engine import infer
from ..model.graph import Body, Edge, Layer, Model
from ..model.ids import is_number
from ..model.names import port_name
from ..model.ports import Port
from ..model.wiring import wire
from ..numpy_types import Array, element_type_of
from ..ops.tensors import Tensor
from ..shapes import PartialShape


class Cut(NamedTuple):
    """A layer that was cut out of a model. inputs: the arrays for its Parameters, by their ids."""

    model: Model
    layer: Layer
    inputs: dict[str, Array]


def cut(model: Model, layer: Layer, inputs: Sequence[Array]) -> Cut:
    """Cuts a layer out of a model. The cut layer keeps its constants, bodies and attributes.
    inputs: the values of its connected ports, in order. The new Parameters have the shapes of these
    values."""
    position = next(number for number, other in enumerate(model.net.layers) if other is layer)
    row = wire(model.net).sources[position]
    fed = [
        (port, source) for port, source in zip(layer.inputs, row, strict=True) if source is not None
    ]
    fresh = fresh_ids(model.net)
    body = Body()
    arrays: dict[str, Array] = {}
    ids: dict[tuple[int, int], str] = {}
    used = {layer.id}
    for (port, source), array in zip(fed, inputs, strict=True):
        producer = model.net.layers[source[0]]
        id = ids.get(source)
        if id is None:
            constant = producer.is_constant
            id = ids[source] = producer.id if producer.id not in used else next(fresh)
            used.add(id)
            body.layers.append(
                _constant(producer, id)
                if constant
                else parameter_in_place_of(producer, source[1], id, array)
            )
            if not constant:
                arrays[id] = array
        body.edges.append(Edge(id, "0", layer.id, port.id, -1))
    body.layers.append(layer)
    for index in range(len(layer.outputs)):
        with_result(body, layer, index, next(fresh))
    return Cut(of_body(model, layer.name, body), layer, arrays)


def fresh_ids(body: Body) -> Iterator[str]:
    """Yields unused ids for new layers of a body."""
    taken = {int(layer.id) for layer in body.layers if is_number(layer.id)}
    return (str(number) for number in count(len(taken)) if number not in taken)


def with_result(body: Body, layer: Layer, index: int, id: str) -> None:
    """Adds a Result for an output, so that its layer stays in the model."""
    port = layer.outputs[index]
    result = Layer(id, f"{layer.name}/result{index}", "Result", "opset1", -1, ())
    result.inputs = [Port("0", port.precision, None, -1, port.dims)]
    body.layers.append(result)
    body.edges.append(Edge(layer.id, port.id, id, "0", -1))


def of_body(model: Model, name: str, body: Body) -> Model:
    """Returns a model that consists of a body, with the constants of the model that contains it."""
    alone = Model(model.source, name, 11, format=model.format)
    alone.net, alone.weights = body, model.weights
    return alone


def cut_body(
    model: Model, body: Body, given: Mapping[str, Array]
) -> tuple[Model, dict[str, Array]]:
    """Cuts the body of a control-flow layer out of a model.

    given: the values of the body's Parameters by id, from which the Parameters get their shapes.
    Returns the model, and the values in the order of the Parameters.
    """
    alone = Body()
    alone.edges = list(body.edges)
    arrays: dict[str, Array] = {}
    for layer in body.layers:
        array = given.get(layer.id) if layer.is_parameter else None
        inner = layer
        if array is not None:
            arrays[layer.id] = array
            inner = parameter_in_place_of(layer, 0, layer.id, array)
            inner.name = layer.name
            inner.outputs[0].id = layer.outputs[0].id
        alone.layers.append(inner)
    return of_body(model, model.path, alone), arrays


def parameter_in_place_of(
    producer: Layer, index: int, id: str, array: Array, shape: PartialShape | None = None
) -> Layer:
    """Returns a Parameter that replaces an output of a layer, with the type of `array`.

    shape: the shape of the Parameter; by default that of `array`.
    """
    shape = PartialShape(array.shape) if shape is None else shape
    names = producer.outputs[index].names if index < len(producer.outputs) else None
    tensor = Tensor(element_type_of(array), shape)
    return parameter(id, port_name(producer, index), tensor, names)


def parameter(id: str, name: str, tensor: Tensor, names: str | None) -> Layer:
    """Returns a Parameter with the type and shape of a tensor."""
    layer = Layer(id, name, "Parameter", "opset1", -1, ())
    layer.items = ("shape", tensor.shape.text, "element_type", str(tensor.element_type))
    layer.outputs = [port_of(tensor, names)]
    return layer


def port_of(tensor: Tensor, names: str | None) -> Port:
    """Returns an output port with the type and shape of a tensor, for a layer with one output."""
    precision = None if tensor.element_type.is_dynamic else tensor.element_type.precision
    return Port("0", precision, names, -1, tensor.shape.declared)


def _constant(producer: Layer, id: str) -> Layer:
    constant = Layer(id, producer.name, producer.type, producer.version, producer.offset, ())
    constant.items = producer.items
    port = producer.outputs[0]
    constant.outputs = [Port("0", port.precision, port.names, port.offset, port.dims)]
    return constant


def save(cut: Cut, folder: str | Path, outputs: dict[str, Sequence[Array]]) -> Path:
    """Writes a layer that was cut out to `layer_ID.xml` and .bin, with its inputs and outputs.

    The arrays become `layer_ID.input0.npy` … and, for each name in `outputs`, `layer_ID.NAME0.npy`
    …. If no inputs are given, `irshape run` and `irshape crosscheck` read the `input` files.
    Returns the path of the .xml. Raises `OSError`, `ValueError`.
    """
    from ..formats.atomic import write_together
    from ..formats.ir.writer import write

    target = existing_folder(str(folder)) / f"layer_{file_stem(cut.layer.id)}.xml"
    write(cut.model, target, infer(cut.model))
    arrays = {
        f"input{number}": cut.inputs[parameter.id]
        for number, parameter in enumerate(cut.model.parameters)
    }
    arrays |= {
        f"{name}{number}": array
        for name, arrays_of in outputs.items()
        for number, array in enumerate(arrays_of)
    }
    write_together(
        {target.with_suffix(f".{name}.npy"): npy_bytes(array) for name, array in arrays.items()}
    )
    return target


def file_stem(id: str) -> str:
    """Returns an id as text that can be part of a file name."""
    return "".join(char if char.isalnum() else "_" for char in id)
