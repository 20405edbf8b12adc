"""Candidates in the order of their costs, of which no more are made than are productive for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import NamedTuple

from .candidate import Candidate


class CandidateSource(NamedTuple):
    """Makes candidates of one kind."""

    least: float
    """What each of them costs at least."""
    candidates: Callable[[], Iterable[Candidate]]


class CheapestFirst:
    """The candidates of several sources, each of which is asked once it may have the cheapest."""

    def __init__(self, sources: Iterable[CandidateSource]) -> None:
        self.sources = [
            (source.least, rank, source.candidates) for rank, source in enumerate(sources)
        ]
        self.sources.sort(key=lambda entry: entry[:2], reverse=True)
        self.productive = 0
        """How many sources have made candidates; whoever counts them sets it back."""
        self.waiting: list[tuple[float, int, int, Candidate]] = []

    def next(self, most: float) -> Candidate | None:
        """The cheapest that is left and costs no more than `most`, if there is one."""
        sources, waiting = self.sources, self.waiting
        while (
            sources and sources[-1][0] <= most and (not waiting or sources[-1][0] <= waiting[0][0])
        ):
            _, rank, candidates = sources.pop()
            before = len(waiting)
            for index, candidate in enumerate(candidates()):
                heappush(waiting, (candidate.cost, rank, index, candidate))
            self.productive += len(waiting) > before
        if not waiting or waiting[0][0] > most:
            return None
        return heappop(waiting)[3]
