"""Resolves the edges of a body to positions of layers and ports, and sorts the layers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from operator import lt
from typing import NamedTuple

from .graph import Body, Edge, Layer
from .ids import lenient_id

OutputRef = tuple[int, int]
"""An output port: the position of its layer in the body, and its index among the outputs."""

Sources = list[list[OutputRef | None]]


class User(NamedTuple):
    """An input port that uses an output: the position of the consumer, and the index of the input
    port and of the output."""

    position: int
    input: int
    output: int


@dataclass(frozen=True, eq=False)
class Wiring:
    """The connections between the layers of a body. A number is a position in `body.layers`."""

    sources: Sources
    """For each layer, the output that feeds each input port; None for an unconnected port."""
    order: list[int]
    """The layers in topological order. Layers on a cycle, and layers that depend on a cycle, come
    last, in file order."""
    cyclic: frozenset[int]
    """The layers on a cycle, or between two cycles."""
    unlike: Sequence[tuple[int, int]] = ()
    """The inputs that declare another type or shape than the output that feeds them, in file order:
    the position of the layer and the index of the input."""
    complete: bool = False
    """Whether the edges have no faults: all ids are unique, edges use ids exactly as written, and
    exactly one edge feeds every input."""

    @cached_property
    def users(self) -> list[list[User]]:
        """For each layer, the input ports that use its outputs, in the order of the consumers."""
        users: list[list[User]] = [[] for _ in self.sources]
        for position, row in enumerate(self.sources):
            for index, source in enumerate(row):
                if source is not None:
                    users[source[0]].append(User(position, index, source[1]))
        return users

    def upstream(self, position: int) -> Iterator[int]:
        """Yields the layers on which a layer depends, nearest first."""
        waiting, seen = deque([position]), {position}
        while waiting:
            for source in self.sources[waiting.popleft()]:
                if source is not None and source[0] not in seen:
                    seen.add(source[0])
                    waiting.append(source[0])
                    yield source[0]


def wire(body: Body) -> Wiring:
    """Resolves the edges of a body.

    Ignores an edge to or from a missing layer or port, and all edges into a port except the first.
    Compares ids as text and, if none matches, as the numbers that OpenVINO reads from them.

    Also compares the declared types and shapes of the ports that each edge connects, since another
    pass would cost more in a large model.
    """
    layers, edges = body.layers, body.edges
    inputs, outputs = [layer.inputs for layer in layers], [layer.outputs for layer in layers]
    input_ids = [[port.id for port in ports] for ports in inputs]
    output_ids = [[port.id for port in ports] for ports in outputs]
    sources: Sources = [[None] * len(ids) if ids else NO_SOURCES for ids in input_ids]
    unlike: list[tuple[int, int]] = []
    refs = list(zip(range(len(layers)), repeat(0)))
    producers, consumers, sound = _positions(layers, edges)
    sound = sound and len(consumers) == sum(map(len, inputs))
    for producer, consumer, (_, from_port, _, to_port, _) in zip(
        producers, consumers, edges, strict=True
    ):
        if producer < 0 or consumer < 0:
            continue
        there, here, row = output_ids[producer], input_ids[consumer], sources[consumer]
        out: int | None
        index: int | None
        try:
            out, index = there.index(from_port), here.index(to_port)
        except ValueError:
            out, index, sound = port_of(there, from_port), port_of(here, to_port), False
        if out is None or index is None or row[index] is not None:
            sound = False
            continue
        row[index] = (producer, out) if out else refs[producer]
        taken, given = inputs[consumer][index], outputs[producer][out]
        if taken.precision != given.precision or taken.dims != given.dims:
            unlike.append((consumer, index))
    unlike.sort()
    if all(map(lt, producers, consumers)):
        return Wiring(sources, list(range(len(layers))), frozenset(), unlike, sound)
    return Wiring(sources, *_sorted(sources), unlike, sound)


def _positions(layers: list[Layer], edges: list[Edge]) -> tuple[list[int], list[int], bool]:
    """Returns the positions of the producers and of the consumers, one for each edge (-1 for a
    missing layer), and whether all layers exist and all ids are unique."""
    ids = [layer.id for layer in layers]
    texts = [edge.from_layer for edge in edges], [edge.to_layer for edge in edges]
    positions = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    try:
        begins, finishes = (list(map(positions.__getitem__, each)) for each in texts)
        return begins, finishes, len(positions) == len(ids)
    except KeyError:
        numbers = {lenient_id(id): position for id, position in positions.items()}
        numbers[None] = -1
        begins, finishes = (
            [positions.get(text, numbers.get(lenient_id(text), -1)) for text in each]
            for each in texts
        )
        return begins, finishes, False


NO_SOURCES: list[OutputRef | None] = []


def port_of(ids: Sequence[str], text: str) -> int | None:
    """Returns the position of `text` in `ids`. OpenVINO reads ids as numbers: `07` is `7`."""
    if text in ids:
        return ids.index(text)
    number = lenient_id(text)
    if number is not None:
        for position, id in enumerate(ids):
            if lenient_id(id) == number:
                return position
    return None


def _sorted(sources: Sources) -> tuple[list[int], frozenset[int]]:
    waiting = [sum(source is not None for source in row) for row in sources]
    consumers: list[list[int]] = [[] for _ in sources]
    for consumer, row in enumerate(sources):
        for source in row:
            if source is not None:
                consumers[source[0]].append(consumer)
    ready = [i for i in range(len(sources) - 1, -1, -1) if not waiting[i]]
    order: list[int] = []
    while ready:
        at = ready.pop()
        order.append(at)
        for consumer in reversed(consumers[at]):
            waiting[consumer] -= 1
            if not waiting[consumer]:
                ready.append(consumer)
    left = [i for i, count in enumerate(waiting) if count]
    return order + left, frozenset(_on_cycle(set(left), sources))


def _on_cycle(left: set[int], sources: Sources) -> set[int]:
    """Returns the layers that are on a cycle, or between two cycles.

    left: the layers that could not be sorted. Repeatedly drops layers that feed no layer in `left`.
    """
    producers = {at: [each[0] for each in sources[at] if each is not None] for at in left}
    fed = dict.fromkeys(left, 0)
    for at in left:
        for producer in producers[at]:
            if producer in fed:
                fed[producer] += 1
    ends = [at for at in left if not fed[at]]
    while ends:
        for producer in producers[ends.pop()]:
            if producer in fed:
                fed[producer] -= 1
                if not fed[producer]:
                    ends.append(producer)
    return {at for at in left if fed[at]}
