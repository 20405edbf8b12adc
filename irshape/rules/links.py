"""The edges of one body compared with its layers: edges that lead nowhere, inputs that nothing
feeds, layers that feed nothing.

One slip shows in several places. An edge that names the wrong layer leaves one input without a
producer and one layer without a consumer; if a layer has a wrong id, every edge that names its
right one leads nowhere. Consequences of a fault that is reported elsewhere are left out here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from ..model.edges import Edge
from ..model.graph import Body, Layer
from ..model.ids import lenient_id, plain_id
from ..model.ports import Port
from ..model.wiring import Wiring

SINKS = ("result", "assign")
Side = Literal["from", "to"]


class EdgeFault(NamedTuple):
    """An edge that leads nowhere on one side."""

    body: Body
    edge: Edge
    side: Side
    layer: Layer | None
    """The layer that lacks the port; None where the layer itself does not exist."""

    @property
    def text(self) -> str:
        """What the edge names."""
        edge, port = self.edge, self.layer is not None
        if self.side == "from":
            return edge.from_port if port else edge.from_layer
        return edge.to_port if port else edge.to_layer

    @property
    def attribute(self) -> str:
        """The name of the attribute of <edge> that is at fault."""
        return f"{self.side}-{'layer' if self.layer is None else 'port'}"

    @property
    def ports(self) -> list[Port]:
        """The ports that the edge could name."""
        if self.layer is None:
            return []
        return self.layer.outputs if self.side == "from" else self.layer.inputs

    @property
    def other_end(self) -> Layer | None:
        """The layer at the other end of the edge."""
        edge = self.edge
        return self.body.by_id.get(edge.to_layer if self.side == "from" else edge.from_layer)

    @property
    def number(self) -> str | None:
        """The id as OpenVINO reads it; None where it is no whole number."""
        return lenient_id(self.text)

    @property
    def malformed(self) -> bool:
        """Whether the id is badly written, rather than one that does not exist."""
        number = self.number
        if number is None or number == self.text:
            return number is None
        if self.layer is None:
            return number in self.body.by_id
        return any(port.id == number for port in self.ports)


class Links:
    """What is wrong with the edges of a body, each fault once."""

    def __init__(
        self,
        body: Body,
        wiring: Wiring,
        *,
        ports: set[str],
        torn: bool,
        alone: bool,
        without_outputs: set[Layer],
        miscounted: set[Layer],
    ) -> None:
        """ports: the ids of all ports. torn: some layers or edges were not read. alone: the file
        contains layers on their own, which have no edges. without_outputs, miscounted: layers that
        are reported for having no output port, or a wrong number of inputs."""
        self.body = body
        self.wiring = wiring
        self.torn = torn
        self.without_outputs = without_outputs
        self.miscounted = miscounted
        self.sound = False
        """Whether every edge leads somewhere, and every input is fed."""
        self.faults: list[EdgeFault] = []
        self.duplicates: list[Edge] = []
        """Edges into an input port that another one feeds already."""
        self.used: set[Layer] = set()
        """Layers that an edge at fault comes from."""
        self.missing: list[tuple[Layer, Port]] = []
        """Inputs that nothing feeds."""
        self.orphans: list[Port] = []
        """Inputs that are left without their producer, reported or not."""
        self._reached: set[tuple[Layer, int]] = set()
        """Inputs that some edge names, each by its layer and its position there."""
        self.left_over: Counter[Layer] = Counter()
        """How many edges lead into a layer, but into no port of it."""
        if (wiring.complete and all(map(plain_id, ports))) or (
            (wiring.complete or self._fed()) and self._plain()
        ):
            self.sound = True
            return
        if torn or alone:
            return
        self._follow()
        self._unfed()

    def _fed(self) -> bool:
        """Whether every edge feeds an input of its own, every input is fed, and no two layers share
        an id."""
        body, sources = self.body, self.wiring.sources
        fed = sum(len(row) - row.count(None) for row in sources)
        return fed == len(body.ends.to_layers) == sum(map(len, sources)) and len(body.by_id) == len(
            body.layers
        )

    def _plain(self) -> bool:
        """Whether the ends of all edges are written as ids usually are, or as those of layers."""
        ends = self.body.ends
        texts = {*ends.from_ports, *ends.to_ports}
        if not self.wiring.complete:
            texts |= {*ends.from_layers, *ends.to_layers} - self.body.by_id.keys()
        return all(map(plain_id, texts))

    # layers and ports that edges cannot name

    @cached_property
    def lost(self) -> set[Layer]:
        """Layers that no edge can name by the id they should have.

        They have the id of an earlier layer, or no proper id."""
        by_id = self.body.by_id
        ends = self.body.ends
        named = {*ends.from_layers, *ends.to_layers}
        return {
            layer
            for layer in self.body.layers
            if by_id[layer.id] is not layer or (not plain_id(layer.id) and layer.id not in named)
        }

    def _stand_in(
        self, missing: str, edges: list[tuple[Edge, str]], waiting: list[Layer]
    ) -> Layer | None:
        """A layer without a proper id that has the ports these edges name."""
        for layer in waiting:
            if _may_be(layer.id, missing) and all(
                any(
                    port.id == (edge.from_port if side == "from" else edge.to_port)
                    for port in (layer.outputs if side == "from" else layer.inputs)
                )
                for edge, side in edges
            ):
                waiting.remove(layer)
                return layer
        return None

    # edges

    def _follow(self) -> None:
        """Follows every edge.

        It is a fault to name what does not exist, unless that is reported for its own id."""
        by_id, ends = self.body.by_id, self.body.ends
        unknown: dict[str, list[tuple[Edge, str]]] = {}
        for index, (begin, end) in enumerate(zip(ends.from_layers, ends.to_layers, strict=True)):
            if begin and begin not in by_id:
                unknown.setdefault(begin, []).append((self.body.edge(index), "from"))
            if end and end not in by_id:
                unknown.setdefault(end, []).append((self.body.edge(index), "to"))
        waiting = [layer for layer in self.body.layers if layer in self.lost]
        stand_ins = {
            text: layer
            for text, edges in unknown.items()
            if (layer := self._stand_in(text, edges, waiting)) is not None
        }

        def layer_of(index: int, side: Side, text: str) -> Layer | None:
            layer = by_id.get(text)
            if layer is None:
                layer = stand_ins.get(text)
                if text and layer is None:  # also where OpenVINO reads the id of a layer in it
                    self.faults.append(EdgeFault(self.body, self.body.edge(index), side, None))
                layer = layer or by_id.get(lenient_id(text) or "")
            return layer

        taken: Counter[tuple[Layer, str]] = Counter()
        targets: set[tuple[str, str]] = set()
        for index, (from_layer, from_port, to_layer, to_port) in enumerate(
            zip(ends.from_layers, ends.from_ports, ends.to_layers, ends.to_ports, strict=True)
        ):
            producer = layer_of(index, "from", from_layer)
            consumer = layer_of(index, "to", to_layer)
            source = self._port(index, "from", from_port, producer, self.without_outputs, taken)
            target = self._port(index, "to", to_port, consumer, self.miscounted, taken)
            again = bool(to_layer and to_port) and (to_layer, to_port) in targets
            targets.add((to_layer, to_port))
            if again:
                self.duplicates.append(self.body.edge(index))
            if producer is not None and (
                again
                or from_layer not in by_id
                or to_layer not in by_id
                or source is None
                or target is None
                or producer.port_heads.output_ids[source] != from_port
                or (consumer is not None and consumer.port_heads.input_ids[target] != to_port)
            ):
                self.used.add(producer)
            if consumer is None:
                continue
            if target is None:
                self.left_over[consumer] += 1
                continue
            if (producer is None or source is None) and (consumer, target) not in self._reached:
                self.orphans.append(consumer.inputs[target])
            self._reached.add((consumer, target))

    def _port(
        self,
        index: int,
        side: Side,
        text: str,
        layer: Layer | None,
        counted: set[Layer],
        taken: Counter[tuple[Layer, str]],
    ) -> int | None:
        """The position of the port that an edge names, the one of that index.

        Records a fault if there is none, unless the layer is reported for the number or the ids of
        its ports."""
        if layer is None or not text:
            return None
        heads = layer.port_heads
        ids = heads.output_ids if side == "from" else heads.input_ids
        if text in ids:
            return ids.index(text)
        bad = [
            position
            for position, id in enumerate(ids)
            if (not plain_id(id) and _may_be(id, text)) or id in ids[:position]
        ]
        if taken[layer, side] < len(bad):
            taken[layer, side] += 1
            return bad[taken[layer, side] - 1]
        if side == "from" and not ids:
            self.used.add(layer)
        if layer not in counted:
            self.faults.append(EdgeFault(self.body, self.body.edge(index), side, layer))
        loosely = lenient_id(text)
        return ids.index(loosely) if loosely in ids else None

    def _unfed(self) -> None:
        """Records inputs that no edge names, except those that an edge at fault was meant for."""
        for position, row in enumerate(self.wiring.sources):
            layer = self.body.layers[position]
            if None not in row or layer in self.lost:
                continue
            for index, source in enumerate(row):
                if source is not None or (layer, index) in self._reached:
                    continue
                port = layer.inputs[index]
                self.orphans.append(port)
                if self.left_over[layer]:
                    self.left_over[layer] -= 1
                    continue
                self.missing.append((layer, port))

    # layers that feed nothing

    def _leaves(self) -> Iterable[int]:
        if self.wiring.complete is not None:
            return self.wiring.complete.leaves
        feeding = set(self.body.ends.from_layers)
        return (i for i, layer in enumerate(self.body.layers) if layer.id not in feeding)

    def unused(self) -> Iterator[tuple[Layer, int]]:
        """The last layers of branches that lead to no Result or Assign.

        Each comes with the number of layers that are used only by it."""
        layers, wiring = self.body.layers, self.wiring
        sinks = {name for name in {layer.type for layer in layers} if name.lower() in SINKS}
        if (
            self.sound
            and not wiring.cyclic
            and sinks
            and all(layers[position].type in sinks for position in self._leaves())
        ):
            return  # from every other layer, edges lead on until they reach one of these
        used = [layer.type in sinks or layer in self.used for layer in layers]
        self._spread(used)
        if all(used) or not sinks or wiring.cyclic or self.torn:
            return
        feeding = {
            source[0]
            for position, row in enumerate(wiring.sources)
            for source in row
            if source is not None
        }
        ends = [
            position
            for position, needed in enumerate(used)
            if not needed and position not in feeding
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
            if match is not None or layers[position] in self.lost:
                if match is not None:
                    del orphans[match]
                used[position] = True
            else:
                reported.append(position)
        self._spread(used)
        for position in reported:
            yield layers[position], self._take_behind(position, used)

    def _spread(self, used: list[bool]) -> None:
        """Marks whatever feeds a used layer as used."""
        for position in reversed(self.wiring.order):
            if used[position]:
                for source in self.wiring.sources[position]:
                    if source is not None:
                        used[source[0]] = True

    def _take_behind(self, position: int, used: list[bool]) -> int:
        """How many unused layers a layer depends on; marks them as used."""
        waiting, behind = [position], 0
        while waiting:
            for source in self.wiring.sources[waiting.pop()]:
                if source is not None and not used[source[0]]:
                    used[source[0]] = True
                    waiting.append(source[0])
                    behind += 1
        return behind

    def _contradicted(self) -> Iterator[Port]:
        """Inputs that are fed something other than they declare, perhaps by the wrong layer."""
        layers, sources = self.body.layers, self.wiring.sources
        for position, index in self.wiring.unlike:
            source = sources[position][index]
            port = layers[position].inputs[index]
            if source is not None and differ(port, layers[source[0]].outputs[source[1]]):
                yield port


def _may_be(odd: str, number: str) -> bool:
    """Whether a malformed id may stand for a number: not if OpenVINO reads another one in it."""
    return plain_id(odd) or lenient_id(odd) in (None, lenient_id(number))


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
