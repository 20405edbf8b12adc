"""Who feeds whom in a body, by position instead of id, and an order in which its layers can be worked through."""

from __future__ import annotations

from typing import NamedTuple

from .model import Body

Source = tuple[int, int]
"""An output port: the position of its layer in the body, and of the port in the layer."""


class Wiring(NamedTuple):
    """sources: for each layer, what feeds each of its input ports (None: nothing does). order: positions of the layers, producers first; layers on a cycle
    come last, in file order. cyclic: those layers."""

    sources: list[list[Source | None]]
    order: list[int]
    cyclic: frozenset[int]


def wire(body: Body) -> Wiring:
    """Follows the edges of a body. An edge that names no port that is there is passed over; of two edges into one port the first holds."""
    layers = body.layers
    positions = {layer.id: i for i, layer in reversed(list(enumerate(layers)))}
    sources: list[list[Source | None]] = [[None] * len(layer.inputs) for layer in layers]
    forward = True
    for edge in body.edges:
        producer = positions.get(edge.from_layer)
        consumer = positions.get(edge.to_layer)
        if producer is None or consumer is None:
            continue
        outputs = layers[producer].outputs
        if len(outputs) == 1:
            if outputs[0].id != edge.from_port:
                continue
            out = 0
        else:
            for out, port in enumerate(outputs):  # noqa: B007
                if port.id == edge.from_port:
                    break
            else:
                continue
        row = sources[consumer]
        for i, port in enumerate(layers[consumer].inputs):
            if port.id == edge.to_port:
                if row[i] is None:
                    row[i] = (producer, out)
                    forward = forward and producer < consumer
                break
    if forward:
        return Wiring(sources, list(range(len(layers))), frozenset())
    return Wiring(sources, *_sorted(sources))


def _sorted(sources: list[list[Source | None]]) -> tuple[list[int], frozenset[int]]:
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
    # of the layers left, only those that reach themselves are on a cycle; the others lie behind one
    on_cycle = _on_cycle(set(left), sources)
    return order + left, frozenset(on_cycle)


def _on_cycle(left: set[int], sources: list[list[Source | None]]) -> set[int]:
    """The layers of `left` that also feed a layer of `left`, again and again: what remains lies on a cycle."""
    while True:
        feeding = {source[0] for at in left for source in sources[at] if source is not None}
        kept = left & feeding
        if kept == left:
            return left
        left = kept
