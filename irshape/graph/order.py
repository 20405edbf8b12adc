"""Keeps layers in an order in which producers come first, while edges are added.

Every node has a rank, and ranks rise along edges. A new node gets the next rank after its last
producer, so inserting it between two others moves no node. If an edge contradicts the ranks, only
the nodes between its ends move (Pearce and Kelly, "A dynamic topological sort algorithm for
directed acyclic graphs", 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from .changes import Changes

N = TypeVar("N")

Rank = tuple[int, int]
"""The place among the initial nodes, then the number of a node that was added after that place."""


class Order(Generic[N]):
    """The ranks of nodes. producers, users: functions that return the neighbours of a node."""

    def __init__(
        self,
        producers: Callable[[N], Iterable[N]],
        users: Callable[[N], Iterable[N]],
        changes: Changes[object, object],
    ) -> None:
        self._producers = producers
        self._users = users
        self._changes = changes
        self.ranks: dict[N, Rank] = {}

    def start(self, nodes: Iterable[N]) -> None:
        """Adds nodes that are in order."""
        self.ranks = {node: (rank, 0) for rank, node in enumerate(nodes)}

    def add(self, node: N) -> None:
        """Adds a node that nothing uses yet."""
        ranks = self.ranks
        last = -1
        for each in self._producers(node):
            last = max(last, ranks[each][0])
        self._changes.put(ranks, node, (last, self._changes.number()))

    def remove(self, node: N) -> None:
        """Forgets a node."""
        self._changes.drop(self.ranks, node)

    def rank(self, node: N) -> Rank:
        return self.ranks[node]

    def connect(self, producer: N, user: N) -> bool:
        """Adjusts the ranks to a new edge. Returns False if it would close a cycle."""
        if producer is user:
            return False
        low, high = self.ranks[user], self.ranks[producer]
        if high < low:
            return True
        behind = self._reach(user, self._users, lambda rank: rank <= high)
        if producer in behind:
            return False
        before = self._reach(producer, self._producers, lambda rank: rank >= low)
        moved = sorted(before, key=self.ranks.__getitem__) + sorted(
            behind, key=self.ranks.__getitem__
        )
        free = sorted(self.ranks[node] for node in moved)
        for node, rank in zip(moved, free, strict=True):
            self._changes.put(self.ranks, node, rank)
        return True

    def _reach(
        self, start: N, neighbours: Callable[[N], Iterable[N]], inside: Callable[[Rank], bool]
    ) -> set[N]:
        reached, waiting = {start}, [start]
        while waiting:
            for node in neighbours(waiting.pop()):
                if node not in reached and inside(self.ranks[node]):
                    reached.add(node)
                    waiting.append(node)
        return reached
