"""Shrinks the bodies of control-flow layers, or makes one of them the whole model."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ..model.graph import Layer, PortMap
from .candidates import StandIn
from .layers import bypass_each, cut, remove_chunks
from .net import Key, Net, Node, Source, parameter
from .places import Place, at, exists, inner_tensor, places, replaced
from .search import Search


def shrink_bodies(search: Search) -> None:
    """Takes bodies out of their layers, or removes layers inside them."""
    while search.first(_hoisted(search)) is not None:
        pass
    for place in list(places(search.best.net)):
        if not exists(search.best.net, place):
            continue
        _remove_inside(search, place)
        bypass_each(search, place)
        while search.first(_with_less_wiring(search.best.net, place)) is not None:
            pass


def _remove_inside(search: Search, place: Place) -> None:
    def items() -> list[Key]:
        return at(search.best.net, place).computing()

    remove_chunks(search, items, lambda kept: _kept_inside(search, place, kept))


def _hoisted(search: Search) -> Iterator[Net | None]:
    """Each body of the net as the whole net."""
    base = search.best
    for place in places(base.net):
        if len(place) > 1:
            continue
        net = at(base.net, place)
        nodes = dict(net.nodes)
        for key, node in net.nodes.items():
            if node.layer.is_parameter and node.layer.outputs:
                tensor = inner_tensor(base, place, Source(key, 0))
                layer = parameter(
                    node.layer.id, node.layer.name, tensor, node.layer.outputs[0].names
                )
                layer.outputs[0].id = node.layer.outputs[0].id
                nodes[key] = Node(layer, ())
        yield Net(nodes, net.strays)


def _kept_inside(search: Search, place: Place, kept: set[Key]) -> Net | None:
    """The best model with only these layers inside a body; constants replace the others."""
    base = search.best
    inner = at(base.net, place)
    replacements: dict[Source, StandIn] = {}
    for source in inner.crossing(_with_results_of(inner, kept)):
        stand_in = search.workshop.filler(base, inner_tensor(base, place, source))
        if stand_in is None:
            return None
        replacements[source] = stand_in
    edited = cut(
        base,
        search.workshop,
        _with_results_of(inner, kept),
        lambda _, source: replacements[source],
        net=inner,
    )
    return None if edited is None else replaced(base.net, place, edited)


def _with_results_of(net: Net, kept: set[Key]) -> set[Key]:
    """Layers, and the Results of their body, which the port map counts on."""
    return kept | {key for key, node in net.nodes.items() if node.layer.is_result}


def _with_less_wiring(net: Net, place: Place) -> Iterator[Net]:
    """The net with one connection between a layer and its body less."""
    *around, (key, _) = place
    outer = at(net, tuple(around))
    layer = outer.nodes[key].layer
    for back_edge in at(net, place).back_edges:
        inner = at(net, place)
        inner.back_edges = tuple(each for each in inner.back_edges if each != back_edge)
        yield replaced(net, place, inner)
    maps = layer.port_maps or {}
    for map_tag, entries in maps.items():
        for entry in entries:
            edited = _without_entry(outer, key, map_tag, entry)
            if edited is not None:
                yield replaced(net, tuple(around), edited)


_TAGS = {"port_map": "body", "then_port_map": "then_body", "else_port_map": "else_body"}


def _without_entry(outer: Net, key: Key, map_tag: str, entry: PortMap) -> Net | None:
    """The net with one entry of a port map less, if nothing needs what it connects."""
    node = outer.nodes[key]
    layer = copy(node.layer)
    assert layer.port_maps is not None
    assert layer.bodies is not None
    tag = _TAGS.get(map_tag, "body")
    inside = entry.attributes.get("internal_layer_id", "")
    port = entry.attributes.get("external_port_id", "")
    layer.port_maps = {
        name: [each for each in entries if each is not entry]
        for name, entries in layer.port_maps.items()
    }
    shared = any(
        each.direction == entry.direction and each.attributes.get("external_port_id") == port
        for entries in layer.port_maps.values()
        for each in entries
    )
    if tag not in layer.bodies:
        return None
    inner = _without_end(Net.of(layer.bodies[tag]), inside, entry.direction)
    if inner is None:
        return None
    layer.bodies = {**layer.bodies, tag: inner.body()}
    if entry.direction == "input":
        return _without_input(outer, key, layer, port, shared)
    return _without_output(outer, key, layer, port, shared)


def _without_end(net: Net, id: str, direction: str) -> Net | None:
    """A body without a Parameter that nothing takes, or without a Result."""
    if any(id in (edge.from_layer, edge.to_layer) for edge in net.back_edges):
        return net if direction == "output" else None
    if id not in net.nodes or (direction == "input" and Source(id, 0) in net.users):
        return None
    nodes = {key: node for key, node in net.nodes.items() if key != id}
    return Net(nodes, net.strays, net.back_edges).without_dead(net, spared=net.parameters())


def _without_input(outer: Net, key: Key, layer: Layer, port: str, shared: bool) -> Net | None:
    node = outer.nodes[key]
    index = next((at for at, each in enumerate(layer.inputs) if each.id == port), None)
    if index is None or shared:
        return outer.replacing(key, layer)
    layer.inputs = [each for at, each in enumerate(layer.inputs) if at != index]
    sources = tuple(source for at, source in enumerate(node.sources) if at != index)
    nodes = {**outer.nodes, key: Node(layer, sources)}
    return Net(nodes, outer.strays, outer.back_edges).without_dead(outer)


def _without_output(outer: Net, key: Key, layer: Layer, port: str, shared: bool) -> Net | None:
    index = next((at for at, each in enumerate(layer.outputs) if each.id == port), None)
    if index is None or shared:
        return outer.replacing(key, layer)
    if Source(key, index) in outer.users or len(layer.outputs) == 1:
        return None
    layer.outputs = [each for at, each in enumerate(layer.outputs) if at != index]

    def moved(source: Source | None) -> Source | None:
        if source is None or source.key != key or source.port < index:
            return source
        return Source(key, source.port - 1)

    nodes = {
        other: Node(layer if other == key else node.layer, tuple(map(moved, node.sources)))
        for other, node in outer.nodes.items()
    }
    return Net(nodes, outer.strays, outer.back_edges)
