"""The layers of a body and what feeds each: the form in which a reduction takes models apart.

Nothing is checked here: a net may be as unsound as the file it was read from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import copy
from typing import NamedTuple

from ..model.edges import Edge
from ..model.graph import BackEdge, Body, Layer
from ..model.ports import Port
from ..model.wiring import wire
from ..ops.tensors import Tensor
from ..shapes import PartialShape

Key = str
"""A layer: its id; the later ones of those that share an id get a suffix."""


class Source(NamedTuple):
    """An output port: its layer, and its position among the outputs of that layer."""

    key: Key
    port: int


class Node(NamedTuple):
    """A layer, and what feeds each of its input ports; None for nothing. Layers are never changed:
    an edit takes a copy."""

    layer: Layer
    sources: tuple[Source | None, ...]


class Net:
    """Nodes in file order."""

    def __init__(
        self,
        nodes: dict[Key, Node],
        strays: Iterable[Edge] = (),
        back_edges: Iterable[BackEdge] = (),
    ) -> None:
        self.nodes = nodes
        self.strays = tuple(strays)
        """Edges of the file that connect nothing: to missing layers or ports, or repeated."""
        self.back_edges = tuple(back_edges)
        self._users: dict[Source, list[Key]] | None = None

    @staticmethod
    def of(body: Body) -> Net:
        """The layers and connections of a body."""
        wiring = wire(body)
        keys = _keys(body)
        nodes = {}
        for position in range(len(body.layers)):
            sources = tuple(
                None if source is None else Source(keys[source[0]], source[1])
                for source in wiring.sources[position]
            )
            nodes[keys[position]] = Node(body.layers[position], sources)
        net = Net(nodes, (), body.back_edges)
        connected = {_ends(edge) for edge in net._edges()}
        strays = []
        for edge in body.edges:
            if _ends(edge) in connected:
                connected.remove(_ends(edge))
            else:
                strays.append(edge)
        net.strays = tuple(strays)
        return net

    def order(self) -> list[Key]:
        """The layers, producers first."""
        order = wire(self.body()).order
        keys = list(self.nodes)
        return [keys[position] for position in order]

    def body(self) -> Body:
        """The net as a body of a model."""
        body = Body()
        body.layers = [node.layer for node in self.nodes.values()]
        ids = {layer.id for layer in body.layers}
        body.edges = [*self._edges(), *(edge for edge in self.strays if edge.to_layer in ids)]
        body.back_edges = [
            edge for edge in self.back_edges if {edge.from_layer, edge.to_layer} <= ids
        ]
        return body

    def _edges(self) -> Iterator[Edge]:
        for node in self.nodes.values():
            for port, source in zip(node.layer.inputs, node.sources, strict=False):
                # a Parameter with an input, which is a fault, may have outlived what fed it
                if source is not None and source.key in self.nodes:
                    producer = self.nodes[source.key].layer
                    start = producer.outputs[source.port].id
                    yield Edge(producer.id, start, node.layer.id, port.id, -1)

    @property
    def users(self) -> dict[Source, list[Key]]:
        """The layers that each output port feeds; ports that feed none are not in it."""
        if self._users is None:
            self._users = {}
            for key, node in self.nodes.items():
                for source in node.sources:
                    if source is not None:
                        self._users.setdefault(source, []).append(key)
        return self._users

    def computing(self) -> list[Key]:
        """The layers that compute something, in file order: no Parameter, Constant or Result."""
        return [key for key, node in self.nodes.items() if computes(node.layer)]

    def parameters(self) -> set[Key]:
        """The Parameters. Those of a body stay even unused: the port map counts on them."""
        return {key for key, node in self.nodes.items() if node.layer.is_parameter}

    def ancestors(self, keys: Iterable[Key]) -> set[Key]:
        """Layers, and all that they depend on."""
        reached: set[Key] = set()
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key not in reached:
                reached.add(key)
                sources = self.nodes[key].sources
                waiting += [source.key for source in sources if source is not None]
        return reached

    def fresh_ids(self) -> Iterator[str]:
        """Ids that no layer has."""
        taken = [int(node.layer.id) for node in self.nodes.values() if _is_number(node.layer.id)]
        return map(str, range(max(taken, default=-1) + 1, 1 << 62))

    def crossing(self, kept: Collection[Key]) -> list[Source]:
        """What feeds the layers that are kept and is computed by layers that are not."""
        return list(
            dict.fromkeys(
                source
                for key in self.nodes
                if key in kept
                for source in self.nodes[key].sources
                if source is not None
                and source.key not in kept
                and computes(self.nodes[source.key].layer)
            )
        )

    def replacing(self, key: Key, layer: Layer) -> Net:
        """The net with another layer, of the same ports, in the place of one."""
        nodes = dict(self.nodes)
        nodes[key] = Node(layer, self.nodes[key].sources)
        return Net(nodes, self.strays, self.back_edges)

    def without_dead(self, before: Net, spared: Collection[Key] = ()) -> Net:
        """The net without layers that nothing takes any more.

        before: what it was; layers that nothing took there stay, and so do those in `spared`.
        """
        nodes = dict(self.nodes)
        while True:
            used = {
                source.key
                for node in nodes.values()
                for source in node.sources
                if source is not None
            }
            dead = [
                key
                for key, node in nodes.items()
                if key not in used
                and key not in spared
                and not is_sink(node.layer)
                and (key not in before.nodes or _is_used(before, key))
            ]
            if not dead:
                return Net(nodes, self.strays, self.back_edges)
            for key in dead:
                del nodes[key]


def _is_used(net: Net, key: Key) -> bool:
    outputs = range(len(net.nodes[key].layer.outputs))
    return any(Source(key, index) in net.users for index in outputs)


def _ends(edge: Edge) -> tuple[str, str, str, str]:
    return edge.from_layer, edge.from_port, edge.to_layer, edge.to_port


def _keys(body: Body) -> list[Key]:
    seen: dict[str, int] = {}
    keys = []
    for layer in body.layers:
        count = seen[layer.id] = seen.get(layer.id, 0) + 1
        keys.append(layer.id if count == 1 else f"{layer.id}#{count}")
    return keys


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def computes(layer: Layer) -> bool:
    """Whether a layer is none of Parameter, Constant and Result."""
    return not (layer.is_parameter or layer.is_constant or layer.is_result)


def is_sink(layer: Layer) -> bool:
    """Whether a layer ends a net: a Result, or an Assign."""
    return layer.is_result or layer.folded_type == "assign"


def parameter(id: str, name: str, tensor: Tensor, names: str | None) -> Layer:
    """A Parameter of the type and shape of a tensor."""
    layer = Layer(id, name, "Parameter", "opset1", -1, ())
    layer.items = ("shape", shape_text(tensor.shape), "element_type", str(tensor.element_type))
    layer.outputs = [_port("0", tensor, names)]
    return layer


def constant(
    id: str, name: str, tensor: Tensor, names: str | None, offset: int, size: int
) -> Layer:
    """A Constant of static shape whose bytes are at that offset."""
    layer = Layer(id, name, "Const", "opset1", -1, ())
    shape = ", ".join(map(str, tensor.shape.static or ()))
    layer.items = ("element_type", str(tensor.element_type), "shape", shape)
    layer.items += ("offset", str(offset), "size", str(size))
    layer.outputs = [_port("0", tensor, names)]
    return layer


def result(id: str, name: str, port: Port) -> Layer:
    """A Result that takes what a port gives."""
    layer = Layer(id, name, "Result", "opset1", -1, ())
    layer.inputs = [Port("0", port.precision, None, -1, port.dims)]
    return layer


def _port(id: str, tensor: Tensor, names: str | None) -> Port:
    dims = tensor.shape.dims or ()
    sizes = tuple(dim.low if dim.is_static else -1 for dim in dims)
    precision = None if tensor.element_type.is_dynamic else tensor.element_type.precision
    return Port(id, precision, names, -1, sizes)


def shape_text(shape: PartialShape) -> str:
    """A shape as a Parameter declares it."""
    return "..." if shape.dims is None else str(shape).strip("[]")


def with_items(layer: Layer, **values: str | None) -> Layer:
    """A copy of a layer with other attributes; None leaves one out."""
    attributes = {**layer.attributes, **values}
    changed = copy(layer)
    changed.items = tuple(
        text for name, value in attributes.items() if value is not None for text in (name, value)
    )
    return changed
