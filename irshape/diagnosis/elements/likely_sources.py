"""What could feed an input: the outputs that declare what it does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from ...model.edges import Edge
from ...model.ids import is_number
from ...model.ports import Port
from ..trials.scene import Scene

MAX_SOURCES = 6
"""How many outputs are tried as the source of one edge."""


def ids_around(scene: Scene, edge: Edge) -> tuple[int, int]:
    """The ids between which the source of an edge lies where edges stand in the order of those."""
    sources = scene.body.ends.from_layers
    at = bisect_left(scene.edge_offsets, edge.offset)
    before = (sources[index] for index in range(at - 1, -1, -1))
    behind = (sources[index] for index in range(at + 1, len(sources)))
    low = next((int(number) for number in before if is_number(number)), 0)
    high = next((int(number) for number in behind if is_number(number)), 1 << 62)
    return (low, high) if low <= high else (0, 1 << 62)


def likely_sources(
    scene: Scene, position: int, port: Port, edge: Edge | None = None
) -> Iterator[tuple[float, int, Port]]:
    """Outputs that declare what an input does, the likeliest first, with their cost.

    edge: the one into the input that comes from elsewhere; None where there is none.
    """
    low, high = ids_around(scene, edge) if edge is not None else (0, 1 << 62)
    fed = {source for source in scene.sources[position] if source is not None}
    ranked = []
    bare = not port.dims and port.precision is None  # then it says nothing of its producer
    left = 0.0 if edge is None else 0.4 * feeds_nothing_else(scene, edge)
    for at, index in _every_output(scene) if bare else scene.outputs_like(port.dims):
        if at == position or (at > position and scene.in_order):
            continue  # a producer behind its consumer would close a cycle
        heads = scene.layers[at].port_heads
        if not bare and port.precision not in (None, heads.output_precisions[index]):
            continue
        unused = (at, index) not in scene.taken
        number = scene.layers[at].id
        between = is_number(number) and low <= int(number) <= high
        cost = 0.9 + left + (0.0 if unused else 0.3) + (0.0 if edge is None or between else 0.4)
        alone = heads.only_output is not None and not bare
        if unused and alone and edge is not None and number != edge.from_layer:
            cost -= 0.4  # the layer would be there for nothing
        cost += 0.2 if at > position else 0.0
        cost += 0.2 if (at, index) in fed else 0.0
        ranked.append((cost, abs(position - at), at, index))
    ranked.sort(key=lambda entry: entry[:3])
    for rank, (cost, _, at, index) in enumerate(ranked[:MAX_SOURCES]):
        yield cost + 0.01 * rank, at, scene.layers[at].outputs[index]


def _every_output(scene: Scene) -> Iterator[tuple[int, int]]:
    for at, layer in enumerate(scene.layers):
        for index in range(len(layer.port_heads.output_ids)):
            yield at, index


def feeds_nothing_else(scene: Scene, edge: Edge) -> bool:
    """Whether the layer from which an edge comes would be there for nothing without it."""
    others = scene.edges_from.get(edge.from_layer, ())
    return len(others) == 1 and edge.from_layer in scene.by_id


def is_as_chosen(scene: Scene, source: tuple[int, int]) -> bool:
    """Whether an input of the model feeds several layers, all of which declare something else.

    What it is fed is its author's choice then; not each of them is wrong by itself.
    """
    producer = scene.layers[source[0]]
    if not producer.is_parameter or scene.body.path:
        return False
    dims = producer.outputs[source[1]].dims
    fed = [scene.layers[at].inputs[index] for _, at, index in scene.consumers[source[0]]]
    return len(fed) > 1 and all(port.dims != dims for port in fed)


def unused_between(scene: Scene, low: int, high: int) -> list[int]:
    """The layers that feed nothing and from which an edge could come, by the order of the edges."""
    return [
        at
        for at in scene.unused
        if is_number(scene.layers[at].id) and low <= int(scene.layers[at].id) <= high
    ]
