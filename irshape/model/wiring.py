"""The edges of a body by position instead of id, and a topological order of its layers."""

from __future__ import annotations

from typing import NamedTuple

from .graph import Body, Port
from .ids import lenient_id

OutputRef = tuple[int, int]
"""An output port: the position of its layer in the body, and of the port in the layer."""


class Wiring(NamedTuple):
    """How the layers of a body are connected, each by its position in `body.layers`."""

    sources: list[list[OutputRef | None]]
    """For each layer, what feeds each of its input ports; None for nothing."""
    order: list[int]
    """The layers, producers first; those on a cycle, or behind one, come last, in file order."""
    cyclic: frozenset[int]
    """The layers on a cycle."""


def wire(body: Body) -> Wiring:
    """Resolves the edges of a body.

    An edge that names a missing layer or port is ignored. Of two edges into one port, the first
    counts. Ids are compared as text and, if none matches, as the numbers OpenVINO reads from them.
    """
    layers = body.layers
    positions = {
        layer.id: i
        for i, layer in zip(range(len(layers) - 1, -1, -1), reversed(layers), strict=True)
    }
    numbers: dict[str | None, int] = {}
    sources: list[list[OutputRef | None]] = [[None] * len(layer.inputs) for layer in layers]
    forward = True
    ends = body.ends
    for index, (feeding, fed, from_port, to_port) in enumerate(
        zip(
            map(positions.get, ends.from_layers),
            map(positions.get, ends.to_layers),
            ends.from_ports,
            ends.to_ports,
            strict=True,
        )
    ):
        producer, consumer = feeding, fed
        if producer is None or consumer is None:
            numbers = numbers or {
                lenient_id(layer.id): i for i, layer in reversed(list(enumerate(layers)))
            } | {None: -1}
            if producer is None:
                producer = numbers.get(lenient_id(ends.from_layers[index]), -1)
            if consumer is None:
                consumer = numbers.get(lenient_id(ends.to_layers[index]), -1)
            if producer < 0 or consumer < 0:
                continue
        outputs = layers[producer].outputs
        if len(outputs) == 1 and outputs[0].id == from_port:
            out = 0
        else:
            for out, port in enumerate(outputs):  # noqa: B007
                if port.id == from_port:
                    break
            else:
                out = _loosely(outputs, from_port)
                if out < 0:
                    continue
        row = sources[consumer]
        for i, port in enumerate(layers[consumer].inputs):  # noqa: B007
            if port.id == to_port:
                break
        else:
            i = _loosely(layers[consumer].inputs, to_port)
            if i < 0:
                continue
        if row[i] is None:
            row[i] = (producer, out)
            forward = forward and producer < consumer
    if forward:
        return Wiring(sources, list(range(len(layers))), frozenset())
    return Wiring(sources, *_sorted(sources))


def _loosely(ports: list[Port], text: str) -> int:
    """The position of the port whose id is the number OpenVINO reads from a text; -1 for none."""
    number = lenient_id(text)
    if number is not None:
        for i, port in enumerate(ports):
            if lenient_id(port.id) == number:
                return i
    return -1


def _sorted(sources: list[list[OutputRef | None]]) -> tuple[list[int], frozenset[int]]:
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


def _on_cycle(left: set[int], sources: list[list[OutputRef | None]]) -> set[int]:
    """The layers of `left` that are on a cycle, without those that only lie behind one.

    Layers that feed no other layer of `left` are removed until none is.
    """
    while True:
        feeding = {source[0] for at in left for source in sources[at] if source is not None}
        kept = left & feeding
        if kept == left:
            return left
        left = kept
