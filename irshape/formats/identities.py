"""Removes Identity layers, which only pass a tensor on under another name.

Nodes of other formats become Identities, so that each name of the source is the first name of a
port. An IR does not need them: a port may have several names, and OpenVINO knows Identity only
since 2025.0.
"""

from __future__ import annotations

from collections.abc import Collection

from ..element_types import DYNAMIC_TYPE
from ..inference.ports import declared
from ..model.edges import Edge
from ..model.graph import Body, Layer
from ..model.ports import Port

_Port = tuple[str, str]
"""An output port: the ids of its layer and of the port."""


def leave_out_identities(net: Body, noted: Collection[int]) -> None:
    """Removes the Identity layers of a net and its bodies whose names can move to their producers.

    An Identity stays if it names an output of the model and its producer cannot have that name
    first. The producer is then an input, a constant, or the source of another output. It also stays
    if it declares what contradicts its producer.
    noted: the layers with a finding, by `id`, which stay too.
    """
    for body in net.all_bodies():
        _shorten(body, noted)


def _shorten(body: Body, noted: Collection[int]) -> None:
    consumers: dict[_Port, list[Edge]] = {}
    sources: dict[str, Edge] = {}
    for edge in body.edges:
        consumers.setdefault((edge.from_layer, edge.from_port), []).append(edge)
        sources.setdefault(edge.to_layer, edge)
    layers = {layer.id: layer for layer in body.layers}
    results = {each.id for each in body.layers if each.is_result}
    outputs = {(each.from_layer, each.from_port) for each in body.edges if each.to_layer in results}
    fed: dict[_Port, Port] = {}
    removed: set[str] = set()
    for layer in body.layers:
        fed_by = sources.get(layer.id)
        if layer.type != "Identity" or fed_by is None or id(layer) in noted:
            continue
        start, end = (fed_by.from_layer, fed_by.from_port), (layer.id, layer.outputs[0].id)
        producer = layers[start[0]]
        port = fed.get(start) or next(each for each in producer.outputs if each.id == start[1])
        if not _take_over(layer.outputs[0], producer, port, end in outputs, start in outputs):
            continue
        for edge in consumers.get(end, ()):
            edge.from_layer, edge.from_port = start
        if end in outputs:
            outputs.add(start)
        fed[start] = port
        removed.add(layer.id)
    body.layers = [layer for layer in body.layers if layer.id not in removed]
    body.edges = [edge for edge in body.edges if edge.to_layer not in removed]
    for edge in body.edges:
        source = fed.get((edge.from_layer, edge.from_port))
        if source is not None:
            taken = layers[edge.to_layer].inputs[int(edge.to_port)]
            taken.precision, taken.dims = source.precision, source.dims


def _take_over(
    passed: Port, producer: Layer, port: Port, is_output: bool, was_output: bool
) -> bool:
    """Gives the names and the declaration of an Identity's output to the port that feeds it. Names
    of an output go first.

    Returns False if the port cannot have them so.
    """
    given = producer.is_parameter or producer.is_constant
    said, own = declared(passed), declared(port)
    shape = own.shape.merge(said.shape)
    types = {said.element_type, own.element_type} - {DYNAMIC_TYPE}
    if shape is None or len(types) > 1 or (is_output and (given or was_output)):
        return False
    if not given:
        port.dims = shape.declared
        port.precision = next((each.precision for each in types), port.precision)
    names = [passed.names, port.names]
    port.names = ",".join(filter(None, names if is_output else reversed(names))) or None
    return True
