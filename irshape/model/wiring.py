"""The edges of a body by position instead of id, and a topological order of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import repeat
from operator import lt
from typing import NamedTuple

from .edges import EdgeTexts
from .graph import Body, Layer, dims_of, heads_of
from .ids import lenient_id
from .ports import PortDims, PortHeads

OutputRef = tuple[int, int]
"""An output port: the position of its layer in the body, and of the port in the layer."""

Sources = list[list[OutputRef | None]]


class Complete:
    """What is known of edges where no two layers share an id, every edge names its ends as their
    ids are written, and every input is fed by one edge."""

    def __init__(self, producers: list[int], heads: list[PortHeads], dims: list[PortDims]) -> None:
        """producers: the layer that each edge comes from. heads, dims: the ports of each layer when
        it was wired."""
        self._producers = producers
        self.heads = heads
        self.dims = dims

    @cached_property
    def leaves(self) -> list[int]:
        """The layers that feed nothing."""
        return sorted(set(range(len(self.heads))).difference(self._producers))


class Wiring(NamedTuple):
    """How the layers of a body are connected, each by its position in `body.layers`."""

    sources: Sources
    """For each layer, what feeds each of its input ports; None for nothing."""
    order: list[int]
    """The layers, producers first; those on a cycle, or behind one, come last, in file order."""
    cyclic: frozenset[int]
    """The layers on a cycle."""
    unlike: Sequence[tuple[int, int]] = ()
    """The inputs that `wire` saw declare something other than the outputs that feed them: the
    positions of the layer and of the port, in file order."""
    complete: Complete | None = None
    """None for edges that are not complete, or were not looked at."""


def wire(body: Body) -> Wiring:
    """Resolves the edges of a body.

    An edge that names a missing layer or port is ignored. Of two edges into one port, the first
    counts. Ids are compared as text and, if none matches, as the numbers OpenVINO reads from them.
    """
    return _wire_complete(body) or _wire(body)


def _wire_complete(body: Body) -> Wiring | None:
    """The same where the edges are complete, as they nearly always are; otherwise None.

    Both ends of each edge are compared in passing: in a large model, coming back to them costs
    more than what is done with them.
    """
    layers, ends = body.layers, body.ends
    heads, dims = heads_of(layers), dims_of(layers)
    inputs = [each.inputs for each in heads]
    if len(ends.to_layers) != sum(inputs):
        return None
    sources: Sources = [[None] * count if count else NO_SOURCES for count in inputs]
    unlike: list[tuple[int, int]] = []
    refs = _first_outputs(len(layers))
    try:
        producers, consumers = _positions(layers, ends)
        for ref, there, dims_there, consumer, own, dims_here, row, from_port, to_port in zip(
            map(refs.__getitem__, producers),
            map(heads.__getitem__, producers),
            map(dims.__getitem__, producers),
            consumers,
            map(heads.__getitem__, consumers),
            map(dims.__getitem__, consumers),
            map(sources.__getitem__, consumers),
            ends.from_ports,
            ends.to_ports,
            strict=True,
        ):
            index = own.input_positions[to_port]
            if row[index] is not None:
                return None
            if there.only_output == from_port:
                row[index] = ref
                out = 0
                its_dims = dims_there[-1]
            else:
                out = there.output_ids.index(from_port)
                row[index] = ref[0], out
                its_dims = dims_there[there.inputs + out]
            own_dims = dims_here[index]
            if own.input_precisions[index] != there.output_precisions[out] or (
                own_dims is not its_dims and own_dims != its_dims
            ):
                unlike.append((consumer, index))
    except (LookupError, ValueError):  # a layer or a port that is not there
        return None
    forward = all(map(lt, producers, consumers))
    unlike.sort()
    complete = Complete(producers, heads, dims)
    if forward:
        return Wiring(sources, list(range(len(layers))), frozenset(), unlike, complete)
    return Wiring(sources, *_sorted(sources), unlike, complete)


def _positions(layers: list[Layer], ends: EdgeTexts) -> tuple[list[int], list[int]]:
    """The layers that each edge comes from and goes to. Raises `LookupError` for one that is not
    there, and where two share an id."""
    ids = [layer.id for layer in layers]
    if ends.regular and ids == list(map(str, range(len(ids)))):  # as writers number them
        return list(map(int, ends.from_layers)), list(map(int, ends.to_layers))
    positions = dict(zip(ids, range(len(ids)), strict=True))
    if len(positions) < len(ids):
        raise LookupError
    return (
        list(map(positions.__getitem__, ends.from_layers)),
        list(map(positions.__getitem__, ends.to_layers)),
    )


NO_SOURCES: list[OutputRef | None] = []
_FEW_LAYERS = 1 << 14
_first_outputs_of: list[list[OutputRef]] = [[]]


def _first_outputs(layers: int) -> list[OutputRef]:
    """References to the first output of each layer, for at least `layers` of them."""
    refs = _first_outputs_of[0]
    if len(refs) < layers:
        refs = refs + list(zip(range(len(refs), layers), repeat(0)))
        if layers <= _FEW_LAYERS:
            _first_outputs_of[0] = refs  # as a whole: other threads may have the shorter list
    return refs


def _wire(body: Body) -> Wiring:
    layers, ends = body.layers, body.ends
    backwards = list(reversed(list(enumerate(layers))))
    positions = {layer.id: position for position, layer in backwards}
    numbers = {lenient_id(layer.id): position for position, layer in backwards}
    numbers[None] = -1

    def layer_of(text: str) -> int:
        position = positions.get(text)
        return numbers.get(lenient_id(text), -1) if position is None else position

    heads, dims = heads_of(layers), dims_of(layers)
    sources: Sources = [[None] * each.inputs for each in heads]
    unlike: list[tuple[int, int]] = []
    forward = True
    for from_layer, from_port, to_layer, to_port in zip(
        ends.from_layers, ends.from_ports, ends.to_layers, ends.to_ports, strict=True
    ):
        producer, consumer = layer_of(from_layer), layer_of(to_layer)
        if producer < 0 or consumer < 0:
            continue
        there, own = heads[producer], heads[consumer]
        out, index = port_of(there.output_ids, from_port), port_of(own.input_ids, to_port)
        if out is None or index is None or sources[consumer][index] is not None:
            continue
        sources[consumer][index] = (producer, out)
        forward = forward and producer < consumer
        if (
            own.input_precisions[index] != there.output_precisions[out]
            or dims[consumer][index] != dims[producer][there.inputs + out]
        ):
            unlike.append((consumer, index))
    unlike.sort()
    if forward:
        return Wiring(sources, list(range(len(layers))), frozenset(), unlike)
    return Wiring(sources, *_sorted(sources), unlike)


def port_of(ids: Sequence[str], text: str) -> int | None:
    """The position of an id, else of the one whose number OpenVINO reads from the text."""
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
    """The layers of `left` that are on a cycle, without those that only lie behind one.

    Layers that feed no other layer of `left` are removed until none is.
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
