"""Keeps layers in an order in which producers come first, while edges are added.

Every layer has a rank, and ranks rise along edges. A new layer gets the next rank after its last
producer, so inserting it between two others moves no layer. If an edge contradicts the ranks, only
the layers between its ends move (Pearce and Kelly, "A dynamic topological sort algorithm for
directed acyclic graphs", 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter

from .changes import Changes
from .nodes import GraphLayer

Rank = tuple[int, int]
"""A position among the initial layers, and the number of a layer that was added after this
position."""


class Order:
    """The ranks of the layers of a graph."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self.ranks: dict[GraphLayer, Rank] = {}

    def start(self, layers: Iterable[GraphLayer]) -> None:
        """Adds layers that are in order."""
        self.ranks = {layer: (rank, 0) for rank, layer in enumerate(layers)}

    def add(self, layer: GraphLayer) -> None:
        """Adds a layer that nothing uses yet."""
        ranks = self.ranks
        last = max([ranks[end._source.layer][0] for end in layer._inputs], default=-1)
        self._changes.put(ranks, layer, (last, self._changes.number()))

    def remove(self, layer: GraphLayer) -> None:
        """Forgets a layer."""
        self._changes.drop(self.ranks, layer)

    def connect(self, producer: GraphLayer, user: GraphLayer) -> bool:
        """Adjusts the ranks to a new edge. Returns False if it would close a cycle."""
        if producer is user:
            return False
        low, high = self.ranks[user], self.ranks[producer]
        if high < low:
            return True
        behind = self._reach(user, attrgetter("users"), lambda rank: rank <= high)
        if producer in behind:
            return False
        before = self._reach(producer, attrgetter("producers"), lambda rank: rank >= low)
        moved = sorted(before, key=self.ranks.__getitem__) + sorted(
            behind, key=self.ranks.__getitem__
        )
        free = sorted(self.ranks[node] for node in moved)
        for node, rank in zip(moved, free, strict=True):
            self._changes.put(self.ranks, node, rank)
        return True

    def _reach(
        self,
        start: GraphLayer,
        neighbours: Callable[[GraphLayer], Iterable[GraphLayer]],
        inside: Callable[[Rank], bool],
    ) -> set[GraphLayer]:
        reached, waiting = {start}, [start]
        while waiting:
            for node in neighbours(waiting.pop()):
                if node not in reached and inside(self.ranks[node]):
                    reached.add(node)
                    waiting.append(node)
        return reached
