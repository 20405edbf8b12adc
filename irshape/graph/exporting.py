"""Turns a graph into a model whose ports declare the inferred element types and shapes."""

from __future__ import annotations

from copy import copy

from ..formats.ir.writer import Layout
from ..inference.ports import declared
from ..inference.result import BodyResult, Inference
from ..model.graph import Body, Layer, Model
from ..model.ports import Port, PortElsewhere
from ..model.weights import Constant, moved_to
from ..model.wiring import Sources, Wiring
from ..ops.tensors import Tensor
from .inferring import declare, edges_into
from .nodes import GraphLayer, Output
from .structure import Structure, written_names


def exported(graph: Structure, layout: Layout | None) -> Inference:
    """Returns the graph as a model, with its inferred types and shapes. layout: the new offsets of
    constants in the .bin; None keeps the present offsets."""
    model = Model(
        graph.text_source,
        graph.name,
        max(graph.store.version, 11),
        format=graph.store.format,
    )
    model.weights = graph.store.weights
    model.rt_info_span = graph.rt_info_span
    result = _exported_body(graph, layout)
    model.net = result.body
    return Inference(model, result)


def _exported_body(graph: Structure, layout: Layout | None) -> BodyResult:
    body = Body(graph._path)
    nodes = graph.layers
    positions = {node: position for position, node in enumerate(nodes)}
    sources: Sources = [
        [(positions[end.source.layer], end.source.index) for end in node._inputs] for node in nodes
    ]
    order = [positions[node] for node in graph.sorted()]
    result = BodyResult(body, Wiring(sources, order, frozenset()))
    result.outputs = [()] * len(nodes)
    for position, node in enumerate(nodes):
        layer = _exported_layer(graph, node, layout)
        result.outputs[position] = (
            (_declared(node._inputs[0].source),)
            if node.raw.is_result
            else tuple(map(_declared, node._outputs))
        )
        if node.bodies:
            inner = {tag: _exported_body(part, layout) for tag, part in node.bodies.items()}
            result.inner[position] = inner
            layer.bodies = {tag: part.body for tag, part in inner.items()}
        body.layers.append(layer)
        body.edges += edges_into(node)
    body.back_edges = list(graph.back_edges)
    return result


def _is_as_loaded(node: GraphLayer) -> bool:
    """Whether a layer and its tensors are still as the loaded file describes them."""
    if node.origin is not node.raw or node.bodies:
        return False
    for output in node._outputs:
        if output.tensor is not output.loaded or output._names is not output.loaded_names:
            return False
    for end in node._inputs:
        source = end._source
        if source is not end.loaded or source.tensor is not source.loaded:
            return False
    return True


def _exported_layer(graph: Structure, node: GraphLayer, layout: Layout | None) -> Layer:
    raw, items = node.raw, node.raw.items
    if raw.is_constant and layout is not None:
        items = moved_to(layout.place(Constant.of(items, None)), items)
    output_names = raw.output_names
    if raw.is_result and not output_names and graph.claimed_names(node._inputs[0]._source):
        # without these names, OpenVINO would also give it the names of earlier Results
        output_names = written_names(node.output_names)
    same = items is raw.items and output_names == raw.output_names
    if same and _is_as_loaded(node) and not (raw.is_parameter and graph.owner):
        return raw
    layer = copy(raw)
    layer.items, layer.output_names = items, output_names
    if raw.is_parameter and graph.owner is not None:
        fed, port = node._outputs[0].tensor, raw.outputs[0]
        if port.element_type is not fed.element_type or port.dims != fed.shape.declared:
            declare(layer, fed)
    layer.outputs = [
        _port(port, output, written_names(graph.port_names(output)) if output._names else None)
        for port, output in zip(raw.outputs, node._outputs, strict=False)
    ]
    layer.inputs = [
        _port(port, end._source, None) for port, end in zip(raw.inputs, node._inputs, strict=False)
    ]
    return layer


def _port(port: Port, output: Output, names: str | None) -> Port:
    """Returns a port that declares the element type and shape of a tensor, and `names`."""
    tensor = _declared(output)
    precision = None if tensor.element_type.is_dynamic else tensor.element_type.precision
    if isinstance(port, PortElsewhere):
        elsewhere = PortElsewhere(port, port.rt_info)
        elsewhere.precision, elsewhere.names = precision, names
        elsewhere.dims = tensor.shape.declared
        return elsewhere
    return Port(port.id, precision, names, port.offset, tensor.shape.declared)


def _declared(output: Output) -> Tensor:
    """Returns the element type and shape that the ports of a tensor should declare. These are the
    inferred ones. Exception: if a loaded port declares less, e.g. `?` for an inferred 3, it keeps
    its declaration until the inferred shape changes."""
    tensor, loaded = output.tensor, output.loaded
    if loaded is None or loaded.shape != tensor.shape or output.layer.raw.is_parameter:
        return tensor
    port = output.layer.raw.outputs[output.index]
    if port.dims is None or port.dims == tensor.shape.declared:
        return tensor
    shape = declared(port, tensor).shape
    return Tensor(tensor.element_type, shape) if shape.encloses(tensor.shape) else tensor
