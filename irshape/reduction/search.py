"""Searches for a smaller model: tries candidates, and decides when to stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from time import monotonic
from typing import NamedTuple

from ..model.graph import Body, Model
from .candidates import Candidate, Workshop
from .edits import computing

Predicate = Callable[[Model], bool]


class Stopped(Exception):
    """Raised when the search reaches a limit. The argument names the limit."""


class Progress(NamedTuple):
    """How far a reduction has come."""

    layers: int
    """How many layers of the best model compute something, bodies included."""
    tries: int
    """How often the predicate was called."""
    model: Model
    """The best model so far."""


class Search:
    """Holds the best model so far. Every candidate is an edit of this model. Each step takes the
    first candidate in order that has the property, even if a later one is tested sooner. So the
    result does not depend on `jobs`."""

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
        self._jobs = jobs
        self._pool = ThreadPoolExecutor(jobs)

    def close(self) -> None:
        """Cancels tests that have not begun. Tests that are running end in the background."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def begin(self, candidate: Candidate) -> bool:
        """Tries the whole model. Returns whether it has the property and is now the best model."""
        self._check_limits()
        return self._took(candidate, self._asked(candidate))

    def first(self, nets: Iterable[Body | None], *, bare: bool = False) -> int | None:
        """Tests edited nets in order until one still has the property, and makes it the best model.
        Returns its index; None if no net has it. bare: whether to omit the `rt_info` of the net."""
        base = self.best
        waiting: deque[tuple[int, Candidate, Future[bool]]] = deque()

        def settled() -> int | None:
            index, candidate, verdict = waiting.popleft()
            return index if self._took(candidate, verdict) else None

        try:
            for index, net in enumerate(nets):
                self._check_limits()
                candidate = None if net is None else self.workshop.build(base, net, bare=bare)
                if candidate is None:
                    continue
                waiting.append((index, candidate, self._asked(candidate)))
                if len(waiting) >= self._jobs and (taken := settled()) is not None:
                    return taken
            while waiting:
                if (taken := settled()) is not None:
                    return taken
        finally:
            for _, _, verdict in waiting:
                verdict.cancel()
        return None

    def _check_limits(self) -> None:
        if self._max_tries is not None and self.tries >= self._max_tries:
            raise Stopped("tries")
        if self._end is not None and monotonic() >= self._end:
            raise Stopped("time")

    def _asked(self, candidate: Candidate) -> Future[bool]:
        self.tries += 1
        return self._pool.submit(self._predicate, candidate.model)

    def _took(self, candidate: Candidate, verdict: Future[bool]) -> bool:
        """Waits for the predicate. Returns whether the candidate is now the best model."""
        answer = verdict.result()
        self.workshop.done.add(candidate.digest)
        if answer:
            self.best = candidate
            if self.workshop.accept(candidate) and self._progress is not None:
                self._progress(
                    Progress(len(computing(candidate.model.walk())), self.tries, candidate.model)
                )
        return bool(answer)
