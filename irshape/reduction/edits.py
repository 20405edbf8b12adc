"""Edits of a body.

Each edit returns a new body, and does not change the old one. Nothing is checked here, so a body
can have the same errors as the file from which it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy

from ..model.graph import Body, Edge, Layer
from ..model.wiring import OutputRef, wire

End = tuple[str, str]
"""An output as edges refer to it: the id of the layer and the id of the port."""


def edited(body: Body, layers: Iterable[Layer], moved: Mapping[End, End] | None = None) -> Body:
    """Returns a body with only the given layers and the edges between them.

    moved: maps an output to the output that replaces it.
    """
    twin = Body(body.path, body.offset)
    twin.layers = list(layers)
    known = set(body.layers)
    ids = {layer.id for layer in twin.layers}
    gone = {layer.id for layer in known} - ids
    inputs = {
        layer.id: {port.id for port in layer.inputs} for layer in twin.layers if layer not in known
    }
    for edge in body.edges:
        end = edge.from_layer, edge.from_port
        layer, port = end if moved is None else moved.get(end, end)
        takes = edge.to_layer in ids and edge.to_port in inputs.get(edge.to_layer, (edge.to_port,))
        if takes and layer not in gone:
            twin.edges.append(Edge(layer, port, edge.to_layer, edge.to_port, -1))
    twin.back_edges = [edge for edge in body.back_edges if {edge.from_layer, edge.to_layer} <= ids]
    return twin


def end_of(body: Body, source: OutputRef) -> End:
    """Returns an output as edges refer to it: the ids of its layer and of its port."""
    layer = body.layers[source[0]]
    return layer.id, layer.outputs[source[1]].id


def computing(layers: Iterable[Layer]) -> list[Layer]:
    """Returns the layers that compute something: all but Parameters, Constants and Results."""
    return [layer for layer in layers if layer.computes]


def unused(body: Body) -> set[str]:
    """Returns the ids of the layers without consumers."""
    users = wire(body).users
    return {layer.id for position, layer in enumerate(body.layers) if not users[position]}


def without_dead(body: Body, before: Body, spared: Collection[str] = ()) -> Body:
    """Returns a body without the layers that an edit has made unused. before: the body before the
    edit. Layers in `spared`, and layers that were already unused in `before`, stay."""
    wiring = wire(body)
    stays = unused(before).union(spared)
    users = [len(each) for each in wiring.users]
    dead: set[Layer] = set()
    for position in reversed(wiring.order):
        layer = body.layers[position]
        if users[position] or layer.id in stays or layer.is_sink:
            continue
        dead.add(layer)
        for source in wiring.sources[position]:
            if source is not None:
                users[source[0]] -= 1
    return edited(body, [layer for layer in body.layers if layer not in dead])


def with_items(layer: Layer, **values: str | None) -> Layer:
    """Returns a copy of a layer with other attributes; None removes an attribute."""
    attributes = {**layer.attributes, **values}
    changed = copy(layer)
    changed.attributes = {name: value for name, value in attributes.items() if value is not None}
    return changed


def mapped(body: Body, change: Callable[[Layer], Layer]) -> Body:
    """Returns a body in which a function has replaced every layer, also in inner bodies. The
    connections stay."""
    twin = Body(body.path, body.offset)
    twin.edges, twin.back_edges = body.edges, body.back_edges
    for layer in body.layers:
        changed = change(layer)
        if layer.bodies:
            changed = copy(changed)
            changed.bodies = {tag: mapped(body, change) for tag, body in layer.bodies.items()}
        twin.layers.append(changed)
    return twin
