"""The search for a smaller model: tries candidates, remembers verdicts, and knows when to stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import NamedTuple

from ..model.graph import Body, Model
from .candidates import Candidate, Workshop

Predicate = Callable[[Model], bool]


class Stopped(Exception):
    """A limit is reached; the argument says which."""


class Progress(NamedTuple):
    """The state of a reduction."""

    layers: int
    """How many layers of the best model compute something, bodies included."""
    tries: int
    """How often the predicate was called."""
    model: Model
    """The best model so far."""


class Search:
    """Holds the best model so far.

    Every candidate is an edit of it. Each step takes the first candidate that still has the
    property, even if several are tried at once, so that the result does not depend on `jobs`.
    """

    def __init__(
        self,
        workshop: Workshop,
        predicate: Predicate,
        *,
        jobs: int = 1,
        max_tries: int | None = None,
        max_time: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.workshop = workshop
        self.best: Candidate
        self.tries = 0
        self._predicate = predicate
        self._progress = progress
        self._max_tries = max_tries
        self._end = None if max_time is None else monotonic() + max_time
        self._verdicts: dict[bytes, bool] = {}
        self._taken: set[bytes] = set()
        self._jobs = jobs
        self._pool = ThreadPoolExecutor(jobs) if jobs > 1 else None

    def close(self) -> None:
        """Cancels waiting tries, and lets running ones end in the background."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def begin(self, candidate: Candidate) -> bool:
        """Makes the whole model the best one, if it has the property. Returns whether it has."""
        if not self._ask(candidate):
            return False
        self._take(candidate)
        return True

    def first(self, nets: Iterable[Body | None], *, bare: bool = False) -> int | None:
        """Makes the first of these edits that has the property the best model, and returns its
        index.

        bare: without the `rt_info` of the net.
        """
        base = self.best
        waiting: deque[tuple[int, Candidate, Future[bool] | bool]] = deque()

        def settle() -> int | None:
            index, candidate, verdict = waiting.popleft()
            answer = verdict if isinstance(verdict, bool) else verdict.result()
            self._verdicts[candidate.digest] = answer
            if answer:
                self._take(candidate)
                return index
            return None

        try:
            for index, net in enumerate(nets):
                self._check_limits()
                candidate = None if net is None else self.workshop.build(base, net, bare=bare)
                if candidate is None or candidate.digest in self._taken:
                    continue
                waiting.append((index, candidate, self._asked(candidate)))
                while len(waiting) >= self._jobs:
                    taken = settle()
                    if taken is not None:
                        return taken
            while waiting:
                taken = settle()
                if taken is not None:
                    return taken
        finally:
            for _, _, verdict in waiting:
                if not isinstance(verdict, bool):
                    verdict.cancel()
        return None

    def _asked(self, candidate: Candidate) -> Future[bool] | bool:
        known = self._verdicts.get(candidate.digest)
        if known is not None:
            return known
        if self._pool is None:
            return self._ask(candidate)
        self.tries += 1
        return self._pool.submit(self._predicate, candidate.model)

    def _ask(self, candidate: Candidate) -> bool:
        self._check_limits()
        self.tries += 1
        return bool(self._predicate(candidate.model))

    def _check_limits(self) -> None:
        if self._max_tries is not None and self.tries >= self._max_tries:
            raise Stopped("tries")
        if self._end is not None and monotonic() >= self._end:
            raise Stopped("time")

    def _take(self, candidate: Candidate) -> None:
        self._taken.add(candidate.digest)
        self.best = candidate
        if self.workshop.settle(candidate) and self._progress is not None:
            self._progress(Progress(candidate.size, self.tries, candidate.model))
