"""The undo log of changes.

With it, every public method applies its changes completely or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from types import TracebackType
from typing import Any

_ABSENT = object()


class Ordered(dict[Any, int]):
    """Keys in the order of their values. A key keeps its place if its removal is undone."""

    __slots__ = ()


class Changes:
    """The undo log of a net and its bodies, and the context in which a change is made.

    Every change goes through `set`, `put` and `drop`. If a context fails, it restores the state at
    its beginning. When the outermost context succeeds, it clears the log.
    """

    def __init__(self) -> None:
        self._log: list[tuple[Any, Any, Any]] = []
        """The object, the name or key, and the value before the change."""
        self._marks: list[int] = []
        self._count = 0
        self.deferred: dict[Any, dict[Any, None]] | None = None
        """Within a batch: by graph, the layers to infer at the end of the batch."""
        self.at_end: Callable[[], None] | None = None
        """Checks the whole change. If it raises an error, the log undoes the change."""

    def start_behind(self, other: Changes) -> None:
        """Makes this log continue the numbers of another one."""
        self._count = max(self._count, other._count)

    def number(self) -> int:
        """Returns a number higher than all earlier ones, as a value of an `Ordered`."""
        self._count += 1
        return self._count

    def set(self, item: Any, name: str, value: Any) -> None:
        """Sets an attribute."""
        self.keep(item, name)
        setattr(item, name, value)

    def keep(self, item: Any, name: str) -> None:
        """Records an attribute that is about to change."""
        if self._marks:
            self._log.append((item, name, getattr(item, name)))

    def put(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """Sets an item of a dictionary."""
        if self._marks:
            self._log.append((mapping, key, mapping.get(key, _ABSENT)))
        mapping[key] = value

    def drop(self, mapping: dict[Any, Any], key: Any) -> None:
        """Removes an item of a dictionary, if it is there."""
        value = mapping.pop(key, _ABSENT)
        if self._marks:
            self._log.append((mapping, key, value))

    def __enter__(self) -> None:
        self._marks.append(len(self._log))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._undo(self._marks.pop())
            return
        if len(self._marks) == 1:
            check, self.at_end = self.at_end, None
            if check is not None:
                try:
                    check()
                except BaseException:
                    self._undo(self._marks.pop())
                    raise
            self._log.clear()
        self._marks.pop()

    def _undo(self, mark: int) -> None:
        mixed: dict[int, Ordered] = {}
        for holder, key, value in reversed(self._log[mark:]):
            if not isinstance(holder, dict):
                setattr(holder, key, value)
            elif value is _ABSENT:
                holder.pop(key, None)
            else:
                if isinstance(holder, Ordered):
                    mixed[id(holder)] = holder
                holder[key] = value
        del self._log[mark:]
        for ordered in mixed.values():
            items = sorted(ordered.items(), key=itemgetter(1))
            ordered.clear()
            ordered.update(items)
        if not self._marks:
            self.at_end = None
