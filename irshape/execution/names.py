"""The names by which the inputs and outputs of a model are given and returned."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.graph import Layer, Model
from ..model.wiring import wire


def input_names(model: Model) -> dict[str, Layer]:
    """Every name by which an input can be given: tensor names, layer name, id."""
    names: dict[str, Layer] = {}
    for layer in model.parameters:
        for port in layer.outputs:
            for name in port.tensor_names:
                names.setdefault(name, layer)
    for layer in model.parameters:
        names.setdefault(layer.name, layer)
    for layer in model.parameters:
        names.setdefault(layer.id, layer)
    return names


def result_names(model: Model) -> list[str]:
    """The names of the outputs, in the order of the Results.

    An output is named by the first tensor name of the port that feeds it, else by the layer's name
    (with the index of the port where it has several).
    """
    wiring = wire(model.net)
    names: list[str] = []
    for position, layer in enumerate(model.net.layers):
        if not layer.is_result:
            continue
        row = wiring.sources[position]
        source = row[0] if row else None
        name = layer.name
        if source is not None:
            producer = model.net.layers[source[0]]
            tensor_names = producer.outputs[source[1]].tensor_names
            name = tensor_names[0] if tensor_names else _port_name(producer, source[1])
        while name in names:
            name = layer.name if layer.name not in names else f"{name}:{layer.id}"
        names.append(name)
    return names


def output_name(layer: Layer, index: int, taken: Mapping[str, object]) -> str:
    """The name of an output of any layer, distinct from those that are taken."""
    name = _port_name(layer, index)
    return name if name not in taken else f"{name}#{layer.id}"


def _port_name(layer: Layer, index: int) -> str:
    return layer.name if len(layer.outputs) <= 1 else f"{layer.name}:{index}"
