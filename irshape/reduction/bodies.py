"""Shrinks the bodies of control-flow layers, or makes one of them the whole model."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ..comparison.reproducer import parameter
from ..model.graph import PORT_MAPS, Body, Layer, PortMap
from ..model.wiring import OutputRef, wire
from .candidates import StandIn
from .edits import (
    computing,
    crossing,
    edited,
    parameters,
    replacing,
    taken,
    without_dead,
)
from .layers import bypass_each, cut, remove_chunks
from .places import Place, at, inner_tensor, places, replaced
from .search import Search


def shrink_bodies(search: Search) -> None:
    """Takes bodies out of their layers, or removes layers inside them."""
    while search.first(_hoisted(search)) is not None:
        pass
    for place in list(places(search.best.net)):
        if place not in places(search.best.net):
            continue
        _remove_inside(search, place)
        bypass_each(search, place)
        while search.first(_with_less_wiring(search.best.net, place)) is not None:
            pass


def _remove_inside(search: Search, place: Place) -> None:
    def items() -> list[str]:
        return computing(at(search.best.net, place))

    remove_chunks(search, items, lambda kept: _kept_inside(search, place, kept))


def _hoisted(search: Search) -> Iterator[Body | None]:
    """Yields each body of the net as a whole net."""
    base = search.best
    for place in places(base.net):
        if len(place) > 1:
            continue
        body = at(base.net, place)
        layers = list(body.layers)
        for position, layer in enumerate(layers):
            if layer.is_parameter and layer.outputs:
                port = layer.outputs[0]
                tensor = inner_tensor(base, place, (position, 0))
                layers[position] = parameter(layer.id, layer.name, tensor, port.names)
                layers[position].outputs[0].id = port.id
        whole = edited(body, layers)
        whole.back_edges, whole.path = [], ()
        yield whole


def _kept_inside(search: Search, place: Place, kept: set[str]) -> Body | None:
    """Returns the best model with only these layers inside a body; constants replace the others."""
    base = search.best
    inner = at(base.net, place)
    kept = kept | {layer.id for layer in inner.layers if layer.is_result}  # the port map needs them
    replacements: dict[OutputRef, StandIn] = {}
    for source in crossing(inner, wire(inner), kept):
        stand_in = search.workshop.filler(base, inner_tensor(base, place, source))
        if stand_in is None:
            return None
        replacements[source] = stand_in
    part = cut(base, search.workshop, kept, lambda _, source: replacements[source], inner)
    return None if part is None else replaced(base.net, place, part)


def _with_less_wiring(net: Body, place: Place) -> Iterator[Body]:
    """Yields the net with one connection less between a layer and its body."""
    *around, (id, _) = place
    outer = at(net, tuple(around))
    layer = outer.by_id[id]
    body = at(net, place)
    for back_edge in body.back_edges:
        inner = edited(body, body.layers)
        inner.back_edges = [each for each in body.back_edges if each != back_edge]
        yield replaced(net, place, inner)
    for map_tag, entries in (layer.port_maps or {}).items():
        for entry in entries:
            part = _without_entry(outer, layer, map_tag, entry)
            if part is not None:
                yield replaced(net, tuple(around), part)


def _without_entry(outer: Body, old: Layer, map_tag: str, entry: PortMap) -> Body | None:
    """Returns the body with one port map entry less, if nothing needs the connection."""
    layer = copy(old)
    maps, bodies = old.port_maps or {}, old.bodies or {}
    tag = next((tag for tag, element in PORT_MAPS.items() if element == map_tag), "body")
    inside = entry.attributes.get("internal_layer_id", "")
    port = entry.attributes.get("external_port_id", "")
    layer.port_maps = {
        name: [each for each in entries if each is not entry] for name, entries in maps.items()
    }
    shared = any(
        each.direction == entry.direction and each.attributes.get("external_port_id") == port
        for entries in layer.port_maps.values()
        for each in entries
    )
    if tag not in bodies:
        return None
    inner = _without_end(bodies[tag], inside, entry.direction)
    if inner is None:
        return None
    layer.bodies = {**bodies, tag: inner}
    if entry.direction == "input":
        if not shared:
            layer.inputs = [each for each in layer.inputs if each.id != port]
        return without_dead(replacing(outer, old, layer), outer)
    index = next((at for at, each in enumerate(layer.outputs) if each.id == port), None)
    if index is not None and not shared:
        if (layer.id, index) in taken(outer) or len(layer.outputs) == 1:
            return None
        layer.outputs = [each for each in layer.outputs if each.id != port]
    return replacing(outer, old, layer)


def _without_end(body: Body, id: str, direction: str) -> Body | None:
    """Yields the body without an unused Parameter, or without a Result."""
    if any(id in (edge.from_layer, edge.to_layer) for edge in body.back_edges):
        return body if direction == "output" else None
    if id not in body.by_id or (direction == "input" and (id, 0) in taken(body)):
        return None
    part = edited(body, [layer for layer in body.layers if layer.id != id])
    return without_dead(part, body, spared=parameters(body))
