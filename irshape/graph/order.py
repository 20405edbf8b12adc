"""An order of layers in which producers come first, kept while edges are added.

Every node has a rank; along an edge ranks rise. A new node stands right behind its last producer,
so that putting it between two others moves nothing. Where an edge contradicts the ranks, only the
nodes between its ends move (Pearce and Kelly, "A dynamic topological sort algorithm for directed
acyclic graphs", 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

N = TypeVar("N")

Rank = tuple[int, int]
"""Place among the nodes of the beginning, then the number of the node added behind it."""


class Order(Generic[N]):
    """The ranks of nodes. producers, users: the neighbours of a node."""

    def __init__(
        self, producers: Callable[[N], Iterable[N]], users: Callable[[N], Iterable[N]]
    ) -> None:
        self._producers = producers
        self._users = users
        self._ranks: dict[N, Rank] = {}
        self._added = 0

    def start(self, nodes: Iterable[N]) -> None:
        """Takes nodes that are in order."""
        self._ranks = {node: (rank, 0) for rank, node in enumerate(nodes)}

    def add(self, node: N) -> None:
        """Takes a node that nothing uses yet."""
        before = [self._ranks[each] for each in self._producers(node)]
        self._added += 1
        self._ranks[node] = (max(before)[0] if before else -1, self._added)

    def restore(self, ranks: dict[N, Rank]) -> None:
        """Gives nodes the ranks that they had."""
        self._ranks.update(ranks)

    def remove(self, node: N) -> Rank:
        """Forgets a node. Returns the rank that it had."""
        return self._ranks.pop(node)

    def rank(self, node: N) -> Rank:
        return self._ranks[node]

    def connect(self, producer: N, user: N) -> dict[N, Rank] | None:
        """Makes the ranks fit a new edge. Returns the ranks of before of the nodes that moved.

        None, and nothing moves, where the edge would close a cycle.
        """
        if producer is user:
            return None
        low, high = self._ranks[user], self._ranks[producer]
        if high < low:
            return {}
        behind = self._reach(user, self._users, lambda rank: rank <= high)
        if producer in behind:
            return None
        before = self._reach(producer, self._producers, lambda rank: rank >= low)
        moved = sorted(before, key=self._ranks.__getitem__) + sorted(
            behind, key=self._ranks.__getitem__
        )
        old = {node: self._ranks[node] for node in moved}
        self._ranks.update(zip(moved, sorted(old.values()), strict=True))
        return old

    def _reach(
        self, start: N, neighbours: Callable[[N], Iterable[N]], inside: Callable[[Rank], bool]
    ) -> set[N]:
        reached, waiting = {start}, [start]
        while waiting:
            for node in neighbours(waiting.pop()):
                if node not in reached and inside(self._ranks[node]):
                    reached.add(node)
                    waiting.append(node)
        return reached
