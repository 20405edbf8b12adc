"""Keeps layers in an order in which producers come first, while edges are added.

Every layer has a rank, and ranks rise along edges. A new layer gets the next rank after its last
producer, so inserting it between two others moves no layer.
"""

from __future__ import annotations

from .changes import Changes
from .nodes import GraphLayer

Rank = tuple[int, int]
"""A position among the initial layers, and the number of a layer that was added or moved after this
position."""


class Order:
    """The ranks of the layers of a graph."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self.ranks: dict[GraphLayer, Rank] = {}

    def add(self, layer: GraphLayer) -> None:
        """Adds a layer that nothing uses yet."""
        ranks = self.ranks
        last = max([ranks[end._source.layer][0] for end in layer._inputs], default=-1)
        self._changes.put(ranks, layer, (last, self._changes.number()))

    def connect(self, producer: GraphLayer, user: GraphLayer) -> bool:
        """Adjusts the ranks to a new edge. Returns False if it would close a cycle."""
        ranks, changes = self.ranks, self._changes
        position = ranks[producer][0]
        if ranks[producer] < ranks[user]:
            return True
        moved, waiting = {user}, [user]
        while waiting:
            for node in waiting.pop().users:
                if node not in moved and ranks[node][0] <= position:
                    moved.add(node)
                    waiting.append(node)
        if producer in moved:
            return False
        for node in sorted(moved, key=ranks.__getitem__):
            changes.put(ranks, node, (position, changes.number()))
        return True
