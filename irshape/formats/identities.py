"""Removes Identity layers, which only pass a tensor on under another name.

Readers of other formats create them, so that each name of the source is the first name of a port.
IRs do not need them: a port may have several names, and OpenVINO knows Identity only since 2025.0.
"""

from __future__ import annotations

from ..model.edges import Edge
from ..model.graph import Body, Layer, Model

_Port = tuple[str, str]
"""An output port: the ids of its layer and of the port."""


def leave_out_identities(model: Model) -> None:
    """Removes the Identity layers of a model whose names can move to their producers.

    An Identity stays if it names an output of the model and its producer cannot have that name
    first. The producer is then an input, a constant, or the source of another output.
    """
    for body in model.net.all_bodies():
        _shorten(body)
    model.net.reindex()


def _shorten(body: Body) -> None:
    consumers: dict[_Port, list[Edge]] = {}
    sources: dict[str, Edge] = {}
    for edge in body.edges:
        consumers.setdefault((edge.from_layer, edge.from_port), []).append(edge)
        sources.setdefault(edge.to_layer, edge)
    layers = {layer.id: layer for layer in body.layers}
    removed: set[Layer] = set()
    for layer in body.layers:
        fed_by = sources.get(layer.id)
        if layer.type != "Identity" or fed_by is None or len(layer.outputs) != 1:
            continue
        start = fed_by.from_layer, fed_by.from_port
        own = consumers.get((layer.id, layer.outputs[0].id), [])
        producer = layers.get(start[0])
        if producer is None or not _move_names(
            layer, producer, start[1], _is_output(own, layers), _is_output(consumers[start], layers)
        ):
            continue
        for edge in own:
            edge.from_layer, edge.from_port = start
        consumers[start] = [edge for edge in consumers[start] if edge is not fed_by] + own
        removed.add(layer)
    body.layers = [layer for layer in body.layers if layer not in removed]
    gone = {layer.id for layer in removed}
    body.edges = [edge for edge in body.edges if edge.to_layer not in gone]


def _is_output(edges: list[Edge], layers: dict[str, Layer]) -> bool:
    """Returns whether one of the edges leads to a Result."""
    return any(edge.to_layer in layers and layers[edge.to_layer].is_result for edge in edges)


def _move_names(
    layer: Layer, producer: Layer, port_id: str, is_output: bool, was_output: bool
) -> bool:
    """Moves the names of an Identity to the port that feeds it. Names of an output go first.

    Returns False if the port cannot have them so.
    """
    port = next((port for port in producer.outputs if port.id == port_id), None)
    fixed = producer.is_parameter or producer.is_constant or was_output
    if port is None or (is_output and fixed):
        return False
    names = [layer.outputs[0].names, port.names]
    port.names = ",".join(filter(None, names if is_output else reversed(names))) or None
    return True
