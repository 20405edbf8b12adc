"""The edges of one body, held against its layers: which of them lead nowhere, which inputs nothing feeds, which layers feed nothing.

One slip shows in several places: an edge that names the wrong layer leaves one input without a producer and one layer without a consumer; a layer with a wrong id lets
every edge that knows its right one lead nowhere. What follows from a fault that is reported elsewhere is passed over here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from ..model.graph import Body, Edge, Layer, Port
from ..model.ids import lenient_id, plain_id
from ..model.wiring import Wiring

SINKS = ("result", "assign")


class EdgeFault(NamedTuple):
    """An edge that leads nowhere on one side. `layer`: where it lacks the port; None where the layer itself is not there."""

    edge: Edge
    side: str
    """`from` or `to`."""
    layer: Layer | None

    @property
    def text(self) -> str:
        """What the edge names."""
        edge, port = self.edge, self.layer is not None
        if self.side == "from":
            return edge.from_port if port else edge.from_layer
        return edge.to_port if port else edge.to_layer

    @property
    def attribute(self) -> str:
        return f"{self.side}-{'layer' if self.layer is None else 'port'}"


class Links:
    """What is wrong with the edges of a body, each fault once."""

    def __init__(
        self,
        body: Body,
        wiring: Wiring,
        *,
        torn: bool,
        alone: bool,
        without_outputs: set[int],
        miscounted: set[int],
    ) -> None:
        """torn: not all layers and edges could be read. alone: layers on their own, which have no edges. without_outputs, miscounted: layers (by `id`) that
        are reported for having no output port, or a wrong number of inputs."""
        self.body = body
        self.wiring = wiring
        self.torn = torn
        self.without_outputs = without_outputs
        self.miscounted = miscounted
        self.faults: list[EdgeFault] = []
        self.duplicates: list[Edge] = []
        """Edges into an input port that another one feeds already."""
        self.used: set[int] = set()
        """Layers that an edge at fault comes from."""
        self.missing: list[tuple[Layer, Port]] = []
        """Inputs that nothing feeds."""
        self.orphans: list[Port] = []
        """Inputs that are left without their producer, reported or not."""
        self.reached: set[int] = set()
        """Inputs that some edge names."""
        self.left_over: Counter[int] = Counter()
        """How many edges lead into a layer, but into no port of it."""
        layers, sources = body.layers, self.wiring.sources
        fed = sum(len(row) - row.count(None) for row in sources)
        if (
            fed == len(body.edges) == sum(map(len, sources))
            and len(body.by_id) == len(layers)
            and self._plain()
        ):
            return
        if torn or alone:
            return
        self._follow()
        self._unfed()

    def _plain(self) -> bool:
        """Whether the ends of all edges are written as ids usually are."""
        edges = self.body.edges
        texts = {edge.from_port for edge in edges} | {edge.to_port for edge in edges}
        texts.update(
            {edge.from_layer for edge in edges}.union(edge.to_layer for edge in edges)
            - self.body.by_id.keys()
        )
        return all(map(plain_id, texts))

    # layers and ports that edges cannot name

    @cached_property
    def lost(self) -> dict[int, Layer]:
        """Layers that no edge can name by the id they should have: a second one with an id, or one without a proper id."""
        by_id = self.body.by_id
        named = {text for edge in self.body.edges for text in (edge.from_layer, edge.to_layer)}
        return {
            id(layer): layer
            for layer in self.body.layers
            if by_id[layer.id] is not layer or (not plain_id(layer.id) and layer.id not in named)
        }

    def _stand_in(
        self, missing: str, edges: list[tuple[Edge, str]], waiting: dict[int, Layer]
    ) -> Layer | None:
        """A layer without a proper id that has the ports which those edges ask for."""
        for key, layer in waiting.items():
            if _may_be(layer.id, missing) and all(
                any(
                    port.id == (edge.from_port if side == "from" else edge.to_port)
                    for port in (layer.outputs if side == "from" else layer.inputs)
                )
                for edge, side in edges
            ):
                del waiting[key]
                return layer
        return None

    # edges

    def _follow(self) -> None:
        """Goes along every edge; what it names and is not there is a fault, unless the thing itself has been reported for its id."""
        by_id = self.body.by_id
        unknown: dict[str, list[tuple[Edge, str]]] = {}
        for edge in self.body.edges:
            for text, side in ((edge.from_layer, "from"), (edge.to_layer, "to")):
                if text and text not in by_id:
                    unknown.setdefault(text, []).append((edge, side))
        waiting = dict(self.lost)
        stand_ins = {
            text: found
            for text, edges in unknown.items()
            if (found := self._stand_in(text, edges, waiting)) is not None
        }
        taken: Counter[tuple[int, str]] = Counter()
        targets: set[tuple[str, str]] = set()
        for edge in self.body.edges:
            ends: dict[str, Layer | None] = {}
            for side, text in (("from", edge.from_layer), ("to", edge.to_layer)):
                ends[side] = (
                    by_id.get(text) or stand_ins.get(text) or by_id.get(lenient_id(text) or "")
                )
                if (
                    text and text not in by_id and text not in stand_ins
                ):  # also where OpenVINO reads the id of a layer in it
                    self.faults.append(EdgeFault(edge, side, None))
            producer, consumer = ends["from"], ends["to"]
            source = self._port(edge, "from", producer, self.without_outputs, taken)
            target = self._port(edge, "to", consumer, self.miscounted, taken)
            again = (
                bool(edge.to_layer and edge.to_port) and (edge.to_layer, edge.to_port) in targets
            )
            targets.add((edge.to_layer, edge.to_port))
            if again:
                self.duplicates.append(edge)
            if producer is not None and (
                again
                or edge.from_layer not in by_id
                or edge.to_layer not in by_id
                or not _leads(edge, source, target)
            ):
                self.used.add(id(producer))
            if target is not None:
                if (producer is None or source is None) and id(target) not in self.reached:
                    self.orphans.append(target)
                self.reached.add(id(target))
            elif consumer is not None:
                self.left_over[id(consumer)] += 1

    def _port(
        self,
        edge: Edge,
        side: str,
        layer: Layer | None,
        counted: set[int],
        taken: Counter[tuple[int, str]],
    ) -> Port | None:
        """The port that an edge names; notes a fault where there is none, unless the layer has been reported for the number or the ids of its ports."""
        text = edge.from_port if side == "from" else edge.to_port
        if layer is None or not text:
            return None
        ports = layer.outputs if side == "from" else layer.inputs
        for port in ports:
            if port.id == text:
                return port
        bad = [
            port
            for i, port in enumerate(ports)
            if (not plain_id(port.id) and _may_be(port.id, text))
            or any(other.id == port.id for other in ports[:i])
        ]
        if taken[id(layer), side] < len(bad):
            taken[id(layer), side] += 1
            return bad[taken[id(layer), side] - 1]
        if side == "from" and not ports:
            self.used.add(id(layer))
        if id(layer) not in counted:
            self.faults.append(EdgeFault(edge, side, layer))
        loosely = lenient_id(text)
        return (
            next((port for port in ports if port.id == loosely), None)
            if loosely is not None and loosely != text
            else None
        )

    def _unfed(self) -> None:
        """Inputs that no edge names, but for those that an edge at fault should have led into."""
        for position, row in enumerate(self.wiring.sources):
            layer = self.body.layers[position]
            if None not in row or id(layer) in self.lost:
                continue
            for port, source in zip(layer.inputs, row, strict=True):
                if source is not None or id(port) in self.reached:
                    continue
                self.orphans.append(port)
                if self.left_over[id(layer)]:
                    self.left_over[id(layer)] -= 1
                    continue
                self.missing.append((layer, port))

    # layers that feed nothing

    def unused(self) -> Iterator[tuple[Layer, int]]:
        """The last layers of branches that lead to no Result or Assign, each with the number of layers that only it uses."""
        layers, wiring = self.body.layers, self.wiring
        used = [layer.type.lower() in SINKS or id(layer) in self.used for layer in layers]
        self._spread(used)
        if (
            all(used)
            or not any(layer.type.lower() in SINKS for layer in layers)
            or wiring.cyclic
            or self.torn
        ):
            return
        feeding = {
            source[0]
            for position, row in enumerate(wiring.sources)
            for source in row
            if source is not None
        }
        ends = [
            position
            for position in range(len(layers))
            if not used[position] and position not in feeding
        ]
        orphans = [*self.orphans, *self._contradicted()]
        reported = []
        for position in ends:
            match = next(
                (
                    i
                    for i, port in enumerate(orphans)
                    for output in layers[position].outputs
                    if alike(port, output)
                ),
                None,
            )
            if match is not None or id(layers[position]) in self.lost:
                if match is not None:
                    del orphans[match]
                used[position] = True
            else:
                reported.append(position)
        self._spread(used)
        for position in reported:
            yield layers[position], self._take_behind(position, used)

    def _spread(self, used: list[bool]) -> None:
        """Whatever feeds a layer that is used is used."""
        for position in reversed(self.wiring.order):
            if used[position]:
                for source in self.wiring.sources[position]:
                    if source is not None:
                        used[source[0]] = True

    def _take_behind(self, position: int, used: list[bool]) -> int:
        """How many layers feed one, near or far, that are not used; they are taken to be from then on."""
        waiting, behind = [position], 0
        while waiting:
            for source in self.wiring.sources[waiting.pop()]:
                if source is not None and not used[source[0]]:
                    used[source[0]] = True
                    waiting.append(source[0])
                    behind += 1
        return behind

    def _contradicted(self) -> Iterator[Port]:
        """Inputs that are fed something else than they declare: perhaps by the wrong layer."""
        for position, row in enumerate(self.wiring.sources):
            layer = self.body.layers[position]
            for port, source in zip(layer.inputs, row, strict=True):
                if source is not None and differ(
                    port, self.body.layers[source[0]].outputs[source[1]]
                ):
                    yield port


def _may_be(odd: str, number: str) -> bool:
    """Whether an id that is none may stand for a number: not one that OpenVINO reads as another."""
    return plain_id(odd) or lenient_id(odd) in (None, lenient_id(number))


def _leads(edge: Edge, source: Port | None, target: Port | None) -> bool:
    """Whether an edge leads from the port that it names to the port that it names."""
    return (
        source is not None
        and target is not None
        and source.id == edge.from_port
        and target.id == edge.to_port
    )


def alike(port: Port, output: Port) -> bool:
    """Whether an input port declares what an output port does."""
    return port.dims == output.dims and (
        port.precision is None or port.precision == output.precision
    )


def differ(port: Port, output: Port) -> bool:
    """Whether an input port cannot have what an output port declares."""
    if port.element_type and output.element_type and port.element_type is not output.element_type:
        return True
    here, there = port.dims, output.dims
    if not here or not there:
        return False
    return len(here) != len(there) or any(
        a != b and a >= 0 and b >= 0 for a, b in zip(here, there, strict=True)
    )
