"""Candidates in the order of their costs, of which no more are made than are productive for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from ..candidate import Candidate


class Later(NamedTuple):
    """Stands between candidates: what a source makes from here on costs at least so much."""

    least: float


class CandidateSource(NamedTuple):
    """Makes candidates of one kind."""

    least: float
    """What each of them costs at least."""
    candidates: Callable[[], Iterable[Candidate | Later]]


class CheapestFirst:
    """The candidates of several sources, each of which is asked once it may have the cheapest."""

    def __init__(self, sources: Iterable[CandidateSource]) -> None:
        self.sources: list[tuple[float, int, int, Callable[[], Iterable[Candidate | Later]]]] = [
            (source.least, rank, 0, source.candidates) for rank, source in enumerate(sources)
        ]
        """Those that have more: what that costs at least, and how many they have made."""
        heapify(self.sources)
        self.productive = 0
        """How many sources have made candidates; whoever counts them sets it back."""
        self.waiting: list[tuple[float, int, int, Candidate]] = []

    def next(self, most: float) -> Candidate | None:
        """The cheapest that is left and costs no more than `most`, if there is one."""
        sources, waiting = self.sources, self.waiting
        while sources and sources[0][0] <= most and (not waiting or sources[0][0] <= waiting[0][0]):
            self._ask(*heappop(sources)[1:])
        if not waiting or waiting[0][0] > most:
            return None
        return heappop(waiting)[3]

    def _ask(
        self, rank: int, index: int, candidates: Callable[[], Iterable[Candidate | Later]]
    ) -> None:
        """Has a source make candidates, until it says that the next ones cost more."""
        before = index
        rest: Iterator[Candidate | Later] = iter(candidates())
        for candidate in rest:
            if isinstance(candidate, Later):
                heappush(self.sources, (candidate.least, rank, index, rest.__iter__))
                break
            heappush(self.waiting, (candidate.cost, rank, index, candidate))
            index += 1
        self.productive += before == 0 < index
