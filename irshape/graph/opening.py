"""A graph from a model that has been inferred."""

from __future__ import annotations

from functools import partial

from ..collection import collection_paused
from ..inference.body_engine import BodyEngine
from ..inference.result import BodyResult
from ..model.graph import Model
from ..model.ids import is_number
from ..model.pieces import Pieces
from ..model.ports import Port
from ..model.ranges import Ranges
from ..ops import registry
from .errors import GraphError
from .nodes import GraphLayer, Input, Output
from .structure import Structure


def fill(graph: Structure, model: Model, result: BodyResult, engine: BodyEngine) -> None:
    """Gives an empty graph the layers of a sound model. The model stays as it is.

    The layers are made when something first asks for any of them, those of a body apart from those
    around it. engine: has inferred the model; the graph goes on with what it worked out.
    """
    for part in result.walk():
        for raw, subject in part.observations:
            if isinstance(subject, registry.UnknownOperation):
                raise GraphError(str(subject), operation=raw.type)
    graph.source = model
    graph.store.version = model.version
    if model.format is graph.store.format:
        graph.rt_info_span = model.rt_info_span
    if model.weights is not None and model.weights.data is not None:
        data = model.weights.data
        if isinstance(data, Pieces):
            graph.bytes.extend(data)
        elif len(data):
            graph.bytes.add(data[:] if isinstance(data, Ranges) else data)
    graph._fill_later(partial(_fill, result))


def _fill(result: BodyResult, graph: Structure) -> None:
    """Makes the nodes of a body."""
    with collection_paused():
        _fill_now(graph, result)


def _fill_now(graph: Structure, result: BodyResult) -> None:
    layers = _layers_of(graph, result)
    _connect(layers, result)
    graph._layers = dict.fromkeys(layers)
    graph._by_id = {layer.raw.id: layer for layer in layers}
    by_name = graph._by_name
    for layer in layers:
        name = layer.raw.name
        if name in by_name:
            by_name[name].append(layer)
        else:
            by_name[name] = [layer]
        if layer.raw.output_names:
            _name_by_result(graph, layer)
    graph._order.start([layers[position] for position in result.wiring.order])
    graph._serial = len(layers)
    numbers = [int(raw.id) for raw in result.body.layers if is_number(raw.id)]
    highest = max(numbers, default=-1)
    graph._next_id = highest + 1 if highest < _HIGH_ID else 0
    graph.back_edges = tuple(result.body.back_edges)
    for position, inner in result.inner.items():
        layer = layers[position]
        bodies = {}
        for tag, body in inner.items():
            bodies[tag] = type(graph)(owner=layer, tag=tag)
            bodies[tag]._fill_later(partial(_fill, body))
        layer.bodies = bodies


_HIGH_ID = 1 << 62
"""From here on new layers get the ids that are free below: none may pass 2^63."""


def _layers_of(graph: Structure, result: BodyResult) -> list[GraphLayer]:
    """The layers of a body with their outputs."""
    layers: list[GraphLayer] = []
    declared, by_tensor = graph.engine.declarations.of, graph._by_tensor
    origin = graph.root.source
    as_written = origin is not None and origin.format.ports_as_written
    for raw, tensors in zip(result.body.layers, result.outputs, strict=True):
        declaration = declared(raw)
        if isinstance(declaration, registry.UnknownOperation):
            raise GraphError(str(declaration), operation=raw.type)
        layer = GraphLayer(graph, raw, declaration[0])
        layer.origin = raw
        layer.serial = len(layers)
        layers.append(layer)
        outputs = layer._outputs
        for port, tensor in zip(raw.outputs, tensors, strict=False):
            output = Output(layer, len(outputs), tensor)
            if as_written:
                output.loaded = tensor
            outputs.append(output)
            if port.names:
                output._names = tuple(port.tensor_names)
                for name in output._names:
                    by_tensor.setdefault(name, output)
    return layers


def _connect(layers: list[GraphLayer], result: BodyResult) -> None:
    """Gives layers their inputs."""
    for layer, row in zip(layers, result.wiring.sources, strict=True):
        inputs = layer._inputs
        for index, source in enumerate(row):
            if source is not None:
                output = layers[source[0]]._outputs[source[1]]
                end = Input(layer, index, output)
                inputs.append(end)
                output._users[end] = None


def _name_by_result(graph: Structure, result: GraphLayer) -> None:
    """Gives a tensor the names that its Result has in IR 11."""
    output = result._inputs[0].source
    for name in Port("", None, result.raw.output_names, -1).tensor_names:
        if name not in output._names:
            output._names += (name,)
            graph._by_tensor.setdefault(name, output)
