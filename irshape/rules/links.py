"""Compares the edges of a body with its layers.

Finds edges that name a missing layer or port, inputs without an edge, and unused layers. Leaves out
what follows from faults that other rules report: an edge to a layer or port with a faulty id, and
unused layers if some edge names a missing layer or port.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ..model.graph import Body, Edge, Layer
from ..model.ids import lenient_id, plain_id
from ..model.ports import Port
from ..model.wiring import Wiring

SINKS = ("result", "assign")
Side = Literal["from", "to"]


class EdgeFault(NamedTuple):
    """A fault of an edge: its `from` side or its `to` side names a missing layer or port."""

    body: Body
    edge: Edge
    side: Side
    layer: Layer | None
    """The layer without the port that the edge names; None if the edge names a missing layer."""

    @property
    def text(self) -> str:
        """The id that the edge names."""
        edge, port = self.edge, self.layer is not None
        if self.side == "from":
            return edge.from_port if port else edge.from_layer
        return edge.to_port if port else edge.to_layer

    @property
    def attribute(self) -> str:
        """The faulty attribute of the <edge>."""
        return f"{self.side}-{'layer' if self.layer is None else 'port'}"

    @property
    def ports(self) -> list[Port]:
        """The ports that the edge could name: the outputs (`from`) or inputs (`to`) of `layer`."""
        if self.layer is None:
            return []
        return self.layer.outputs if self.side == "from" else self.layer.inputs

    @property
    def other_end(self) -> Layer | None:
        """The layer that the edge names on its other side: `to` if the fault is in `from`."""
        edge = self.edge
        return self.body.by_id.get(edge.to_layer if self.side == "from" else edge.from_layer)

    @property
    def number(self) -> str | None:
        """The id as OpenVINO reads it; None if it is not an integer."""
        return lenient_id(self.text)

    @property
    def malformed(self) -> bool:
        """Whether the id is no integer, or OpenVINO reads it as an existing id: `+1` as `1`."""
        number = self.number
        if number is None or number == self.text:
            return number is None
        if self.layer is None:
            return number in self.body.by_id
        return any(port.id == number for port in self.ports)


class Links:
    """The faults of the edges of a body. Each fault occurs once."""

    def __init__(
        self,
        body: Body,
        wiring: Wiring,
        *,
        unread: bool,
        miscounted: set[Layer],
    ) -> None:
        """unread: whether irshape skipped layers or edges, or the file holds only single layers.
        miscounted: the layers for which another rule reports a wrong number of ports."""
        self.body = body
        self.wiring = wiring
        self.unread = unread
        self.miscounted = miscounted
        self.faults: list[EdgeFault] = []
        self.duplicates: list[Edge] = []
        """Edges into an input port that another edge already feeds."""
        self.missing: list[tuple[Layer, Port]] = []
        """Input ports without an edge."""
        self.sources: set[Layer] = set()
        """Layers with an outgoing edge that names a missing layer or port."""
        self.loose = False
        """Whether some edge names a missing layer or port, or lacks an id."""
        ports = {id for edge in body.edges for id in (edge.from_port, edge.to_port)}
        sound = wiring.complete and all(map(plain_id, ports))
        if not sound and not unread:
            self._follow()

    def _follow(self) -> None:
        """Looks up both ends of every edge. Collects faulty edges and inputs without an edge."""
        body = self.body
        odd = not _distinct([layer.id for layer in body.layers])
        reached: set[tuple[Layer, int]] = set()
        targets: set[tuple[str, str]] = set()
        excused: set[Layer] = set()
        for edge in body.edges:
            end = edge.to_layer, edge.to_port
            producer = self._end(edge, "from", edge.from_layer, odd)
            consumer = self._end(edge, "to", edge.to_layer, odd)
            source = self._port(edge, "from", edge.from_port, producer)
            target = self._port(edge, "to", edge.to_port, consumer)
            if all(end) and end in targets:
                self.duplicates.append(edge)
            targets.add(end)
            if source is None or target is None:
                self.loose = True
                if producer is not None:
                    self.sources.add(producer)
            if consumer is not None and target is None:
                excused.add(consumer)
            elif consumer is not None and target is not None:
                reached.add((consumer, target))
        for position, row in enumerate(self.wiring.sources):
            layer = body.layers[position]
            if None in row and layer not in excused and not (odd and _is_odd(layer, body)):
                self.missing += [
                    (layer, layer.inputs[index])
                    for index, source in enumerate(row)
                    if source is None and (layer, index) not in reached
                ]

    def _end(self, edge: Edge, side: Side, text: str, odd: bool) -> Layer | None:
        """Returns the layer that one side of an edge names, as OpenVINO reads the id (`+1` as `1`).
        Adds a fault for `+1`, and for a missing layer unless layers have faulty ids (`odd`)."""
        layer = self.body.by_id.get(text)
        if layer is None and text:
            layer = self.body.by_id.get(lenient_id(text) or "")
            if layer is not None or not odd:
                self.faults.append(EdgeFault(self.body, edge, side, None))
        return layer

    def _port(self, edge: Edge, side: Side, text: str, layer: Layer | None) -> int | None:
        """Returns the position of the port that an edge names; adds a fault if none has this id."""
        if layer is None or not text:
            return None
        ids = [port.id for port in (layer.outputs if side == "from" else layer.inputs)]
        if text in ids:
            return ids.index(text)
        if layer not in self.miscounted and _distinct(ids):
            self.faults.append(EdgeFault(self.body, edge, side, layer))
        loosely = lenient_id(text)
        return ids.index(loosely) if loosely in ids else None

    def unused(self) -> Iterator[tuple[Layer, int]]:
        """Yields pairs: the last layer of an unused branch, and how many unused layers feed it.

        A layer is unused if no Result or Assign depends on it.
        """
        used = self.used()
        if all(used):
            return
        for position in self._ends():
            if not used[position]:
                yield self.body.layers[position], self._use(position, used)

    def used(self) -> list[bool]:
        """Returns for each layer whether OpenVINO keeps it: it is a Result or an Assign, or one of
        these depends on it. If none exists or edges have faults, all layers count as used."""
        layers, wiring = self.body.layers, self.wiring
        sinks = {name for name in {layer.type for layer in layers} if name.lower() in SINKS}
        if not sinks or wiring.cyclic or self.unread or self.loose or self.missing:
            return [True] * len(layers)
        if all(layers[at].type in sinks for at in self._ends()):
            # every other layer feeds some layer, so it feeds a sink in the end
            return [True] * len(layers)
        used = [layer.type in sinks for layer in layers]
        for position in reversed(wiring.order):
            if used[position]:
                self._use(position, used)
        return used

    def _ends(self) -> list[int]:
        """Returns the positions of the layers that feed no other layer."""
        feeding = {source[0] for row in self.wiring.sources for source in row if source is not None}
        return [at for at in range(len(self.body.layers)) if at not in feeding]

    def _use(self, position: int, used: list[bool]) -> int:
        """Marks every layer on which a layer depends in `used`. Returns how many layers were not
        marked before."""
        waiting, behind = [position], 0
        while waiting:
            for source in self.wiring.sources[waiting.pop()]:
                if source is not None and not used[source[0]]:
                    used[source[0]] = True
                    waiting.append(source[0])
                    behind += 1
        return behind


def _distinct(ids: Sequence[str]) -> bool:
    """Returns whether all ids are unique whole numbers without sign or leading zeros."""
    return len(set(ids)) == len(ids) and all(map(plain_id, ids))


def _is_odd(layer: Layer, body: Body) -> bool:
    """Returns whether edges cannot refer to a layer, because its id is malformed or not unique."""
    return body.by_id[layer.id] is not layer or not plain_id(layer.id)
