"""Makes a graph from a model that has been inferred."""

from __future__ import annotations

from functools import partial

from ..garbage_collection import collection_paused
from ..inference.result import BodyResult
from ..model.graph import Model
from ..model.ids import is_number
from ..model.ports import names_in
from ..ops import registry
from .errors import GraphError
from .nodes import POSITION, GraphLayer, Input, Output
from .structure import Content, Structure


def opened(graph: Structure, model: Model, result: BodyResult) -> None:
    """Adds the layers of a model without errors to an empty graph. The model is not changed.

    The layers are made when the program first needs them, separately for each body.
    """
    for part in result.walk():
        for _, subject in part.observations:
            if isinstance(subject, registry.UnknownOperation):
                raise GraphError(str(subject))
    graph.source = model
    graph.store.version = model.version
    if model.format == graph.store.format:
        graph.rt_info_span = model.rt_info_span
    graph.bytes.extend(None if model.weights is None else model.weights.data)
    graph.fill = partial(_fill, result)


@collection_paused()
def _fill(result: BodyResult, graph: Structure, content: Content) -> None:
    """Makes the layers of the net or of one body."""
    layers = _layers_of(graph, content, result)
    number = graph.changes.number
    for layer, row in zip(layers, result.wiring.sources, strict=True):
        inputs: list[Input] = []
        for index, source in enumerate(row):
            if source is not None:
                end = Input(layer, index, layers[source[0]]._outputs[source[1]])
                end.loaded = end._source
                inputs.append(end)
                end._source._users[end] = number()
        layer._inputs = tuple(inputs)
    content.layers.update((layer, number()) for layer in layers)
    graph.states.update((layer, None) for layer in layers if layer.operation.keeps_state)
    content.by_id = {layer.raw.id: layer for layer in layers}
    for layer in layers:
        name = layer.raw.name
        content.by_name[name] = (*content.by_name.get(name, ()), layer)
        if layer.raw.output_names and layer.raw.is_result:
            output = layer._inputs[0].source  # it has the names of its Result since IR 11
            for name in names_in(layer.raw.output_names):
                if name not in output._names:
                    output._names += (name,)
                    content.by_tensor.setdefault(name, output)
    for layer in layers:
        for output in layer._outputs:
            output.loaded_names = output._names
    for at, position in enumerate(result.wiring.order):
        layers[position].rank = at * POSITION
    content.end = (len(layers) - 1) * POSITION
    highest = max((int(raw.id) for raw in result.body.layers if is_number(raw.id)), default=-1)
    content.next_id = highest + 1 if highest < _HIGH_ID else 0
    content.back_edges = tuple(result.body.back_edges)
    for position, inner in result.inner.items():
        layer = layers[position]
        layer.bodies = {
            tag: type(graph)(owner=layer, tag=tag, fill=partial(_fill, body))
            for tag, body in inner.items()
        }


_HIGH_ID = 1 << 62
"""If ids reach this number, new layers get unused lower ids, since ids must stay below 2^63."""


def _layers_of(graph: Structure, content: Content, result: BodyResult) -> list[GraphLayer]:
    """Returns the layers of a body with their outputs."""
    layers: list[GraphLayer] = []
    declared, by_tensor = graph.engine.declarations.of, content.by_tensor
    origin = graph.root.source
    as_written = origin is not None and origin.format.is_ir
    for raw, tensors in zip(result.body.layers, result.outputs, strict=True):
        declaration = declared(raw)
        if isinstance(declaration, registry.UnknownOperation):
            raise GraphError(str(declaration))
        layer = GraphLayer(graph, raw, declaration[0])
        layer.origin = raw
        layers.append(layer)
        outputs: list[Output] = []
        for port, tensor in zip(raw.outputs, tensors, strict=False):
            output = Output(layer, len(outputs), tensor)
            if as_written:
                output.loaded = tensor
            outputs.append(output)
            if port.names:
                output._names = tuple(port.tensor_names)
                for name in output._names:
                    by_tensor.setdefault(name, output)
        layer._outputs = tuple(outputs)
    return layers
