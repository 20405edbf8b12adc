"""Whether a change of edges takes a cycle back, however many layers are on it."""

from __future__ import annotations

from ...model.edges import Edge
from ...model.wiring import cyclic_layers
from ..candidate import Candidate
from .reading import edges_with
from .scene import Scene


def breaks_cycles(scene: Scene, candidate: Candidate) -> bool:
    """Whether no layer of a body depends on itself any more; False for changes of layers."""
    before: list[Edge] = []
    for edit in candidate.edits:
        edge = scene.edge_at(edit.start)
        if edge is None:
            return False
        before += [] if edge in before else [edge]
    after = edges_with(scene, before, candidate.edits)
    if after is None:
        return False
    sources = list(scene.sources)
    for edges, feeds in ((before, False), (after, True)):
        for edge in edges:
            producer, target = scene.by_id.get(edge.from_layer), scene.by_id.get(edge.to_layer)
            if not producer or not target:
                continue
            row = sources[target[0]] = list(sources[target[0]])
            for index, port in enumerate(scene.layers[target[0]].inputs):
                if port.id == edge.to_port:
                    row[index] = (producer[0], 0) if feeds else None
    return not cyclic_layers(sources)
