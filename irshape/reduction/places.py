"""Nets inside layers: the bodies of If, Loop and TensorIterator, however deep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy

from ..inference.result import BodyResult
from ..model.graph import Body, Layer
from ..ops.tensors import UNKNOWN, Tensor
from .candidates import Candidate
from .net import Key, Net, Node, Source

Place = tuple[tuple[Key, str], ...]
"""The layers around a body, outermost first, each with the element that holds the next body."""


def places(net: Net, outer: Place = ()) -> Iterator[Place]:
    """Every body of a net, the outer ones first."""
    for key, node in net.nodes.items():
        for tag, body in (node.layer.bodies or {}).items():
            place = (*outer, (key, tag))
            yield place
            yield from places(Net.of(body), place)


def exists(net: Net, place: Place) -> bool:
    """Whether a net has a body there."""
    if not place:
        return True
    (key, tag), *rest = place
    node = net.nodes.get(key)
    body = None if node is None else (node.layer.bodies or {}).get(tag)
    return body is not None and exists(Net.of(body), tuple(rest))


def at(net: Net, place: Place) -> Net:
    """The net of a body; the net itself where the place is empty."""
    for key, tag in place:
        bodies = net.nodes[key].layer.bodies
        assert bodies is not None
        net = Net.of(bodies[tag])
    return net


def replaced(net: Net, place: Place, inner: Net) -> Net:
    """A net with another one in the place of a body."""
    if not place:
        return inner
    (key, tag), *rest = place
    layer = copy(net.nodes[key].layer)
    assert layer.bodies is not None
    body = replaced(Net.of(layer.bodies[tag]), tuple(rest), inner).body()
    layer.bodies = {**layer.bodies, tag: body}
    return net.replacing(key, layer)


def inner_tensor(base: Candidate, place: Place, source: Source) -> Tensor:
    """What is inferred of an output inside a body."""
    if not place:
        return base.tensor(source)
    net, part = base.net, base.inference.result
    for key, tag in place:
        inner = _result_inside(part, list(net.nodes).index(key), tag)
        if inner is None:
            return UNKNOWN
        part, net = inner, Net.of(inner.body)
    outputs = part.outputs[list(net.nodes).index(source.key)]
    return outputs[source.port] if source.port < len(outputs) else UNKNOWN


def _result_inside(part: BodyResult, position: int, tag: str) -> BodyResult | None:
    return part.inner.get(position, {}).get(tag)


def mapped(net: Net, change: Callable[[Layer], Layer]) -> Net:
    """The net with every layer changed, those of bodies too; the connections stay."""
    nodes = {
        key: Node(_mapped(node.layer, change), node.sources) for key, node in net.nodes.items()
    }
    return Net(nodes, net.strays, net.back_edges)


def _mapped(layer: Layer, change: Callable[[Layer], Layer]) -> Layer:
    changed = change(layer)
    if layer.bodies:
        if changed is layer:
            changed = copy(layer)
        changed.bodies = {tag: _mapped_body(body, change) for tag, body in layer.bodies.items()}
    return changed


def _mapped_body(body: Body, change: Callable[[Layer], Layer]) -> Body:
    twin = Body(body.path, body.offset)
    twin.layers = [_mapped(layer, change) for layer in body.layers]
    twin.edges, twin.back_edges = body.edges, body.back_edges
    return twin
