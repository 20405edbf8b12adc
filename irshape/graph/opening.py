"""A graph from a model that has been inferred."""

from __future__ import annotations

from ..inference.result import BodyResult
from ..model.graph import Model, Port
from ..model.pieces import Pieces
from ..model.ranges import Ranges
from ..ops import registry
from .errors import GraphError
from .nodes import GraphLayer, Input, Output
from .structure import Structure


def fill(graph: Structure, model: Model, result: BodyResult) -> None:
    """Gives an empty graph the layers of a sound model. The model stays as it is."""
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
    _fill(graph, result)


def _fill(graph: Structure, result: BodyResult) -> None:
    """Makes the nodes of a body and of the bodies inside."""
    layers: list[GraphLayer] = []
    declarations, outputs = graph.engine.declarations, result.outputs
    by_name, by_tensor = graph._by_name, graph._by_tensor
    for position, raw in enumerate(result.body.layers):
        declaration = declarations.of(raw)
        if isinstance(declaration, registry.UnknownOperation):
            raise GraphError(str(declaration), operation=raw.type)
        layer = GraphLayer(graph, raw, declaration[0])
        layer.origin = raw
        layer.serial = position
        tensors = outputs[position]
        ports = raw.outputs
        layer._outputs = [
            Output(layer, index, tensors[index]) for index in range(min(len(ports), len(tensors)))
        ]
        for output, port in zip(layer._outputs, ports, strict=False):
            if port.names:
                output._names = tuple(port.tensor_names)
                for name in output._names:
                    by_tensor.setdefault(name, output)
        layers.append(layer)
        graph._by_id[raw.id] = layer
        named = by_name.get(raw.name)
        if named is None:
            by_name[raw.name] = [layer]
        else:
            named.append(layer)
    graph._layers = dict.fromkeys(layers)
    for layer, row in zip(layers, result.wiring.sources, strict=True):
        for index, source in enumerate(row):
            if source is not None:
                output = layers[source[0]]._outputs[source[1]]
                end = Input(layer, index, output)
                layer._inputs.append(end)
                output._users[end] = None
        if layer.raw.output_names:
            _name_by_result(graph, layer)
    graph._order.start([layers[position] for position in result.wiring.order])
    graph._serial = len(layers)
    numbers = [int(raw.id) for raw in result.body.layers if raw.id.isdigit()]
    graph._next_id = max(numbers, default=-1) + 1
    graph.back_edges = tuple(result.body.back_edges)
    for position, inner in result.inner.items():
        layer = layers[position]
        bodies = {}
        for tag, body in inner.items():
            bodies[tag] = type(graph)(owner=layer, tag=tag)
            _fill(bodies[tag], body)
        layer.bodies = bodies


def _name_by_result(graph: Structure, result: GraphLayer) -> None:
    """Gives a tensor the names that its Result has in IR 11."""
    output = result._inputs[0].source
    for name in Port("", None, result.raw.output_names, -1).tensor_names:
        if name not in output._names:
            output._names += (name,)
            graph._by_tensor.setdefault(name, output)
