"""What has to be done to take changes back: every public operation is made whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

G = TypeVar("G")
L = TypeVar("L")


class Changes(Generic[G, L]):
    """A journal shared by a net and its bodies.

    Each step of a change notes how it is undone. The outermost operation that fails undoes all
    steps since it began; the outermost that succeeds forgets them.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._depth = 0
        self.deferred: dict[G, dict[L, None]] | None = None
        """Within a batch: the layers to infer when it ends, by graph."""

    def note(self, undo: Callable[[], None]) -> None:
        """Notes how the step just made is undone."""
        if self._depth:
            self._undo.append(undo)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Takes back what is done inside if it raises."""
        mark = len(self._undo)
        self._depth += 1
        try:
            yield
        except BaseException:
            steps = self._undo[mark:]
            del self._undo[mark:]
            for undo in reversed(steps):
                undo()
            raise
        finally:
            self._depth -= 1
            if not self._depth:
                self._undo.clear()
