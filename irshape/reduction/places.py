"""Finds the bodies inside layers (If, Loop, TensorIterator) at any depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy

from ..model.graph import Body, Layer
from .edits import edited

Place = tuple[tuple[str, str], ...]
"""The ids of the layers around a body, outermost first, each with the element that holds the next
body."""


def places(net: Body, outer: Place = ()) -> Iterator[Place]:
    """Yields every body of a net, the outer ones first."""
    for layer in net.layers:
        for tag, body in (layer.bodies or {}).items():
            place = (*outer, (layer.id, tag))
            yield place
            yield from places(body, place)


def at(net: Body, place: Place) -> Body:
    """Returns the body at a place; the net itself for an empty place.

    Raises `KeyError` if there is none.
    """
    for id, tag in place:
        net = (net.by_id[id].bodies or {})[tag]
    return net


def replaced(net: Body, place: Place, inner: Body) -> Body:
    """Returns a net with another body at a place."""
    if not place:
        return inner
    (id, tag), *rest = place
    old = net.by_id[id]
    layer = copy(old)
    bodies = old.bodies or {}
    layer.bodies = {**bodies, tag: replaced(bodies[tag], tuple(rest), inner)}
    return edited(net, [layer if each is old else each for each in net.layers])


def mapped(body: Body, change: Callable[[Layer], Layer]) -> Body:
    """Returns a body with every layer changed, inner bodies included. The connections stay."""
    twin = Body(body.path, body.offset)
    twin.layers = [_mapped(layer, change) for layer in body.layers]
    twin.edges, twin.back_edges = body.edges, body.back_edges
    return twin


def _mapped(layer: Layer, change: Callable[[Layer], Layer]) -> Layer:
    changed = change(layer)
    if layer.bodies:
        if changed is layer:
            changed = copy(layer)
        changed.bodies = {tag: mapped(body, change) for tag, body in layer.bodies.items()}
    return changed
