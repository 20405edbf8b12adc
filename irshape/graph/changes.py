"""Records changes of a graph, so that a method applies all of its changes or none."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from operator import itemgetter
from types import TracebackType
from typing import Any

_ABSENT = object()


class Ordered(dict[Any, int]):
    """A dictionary that `Changes` keeps sorted by value: a restored key gets its old position."""

    __slots__ = ()


class Changes:
    """The undo log of a net and its bodies: a context manager for a block of changes.

    Every change goes through `set`, `put` or `drop`, or is announced to `keep`. If a block raises
    an error, the log restores the state at the beginning of the block. When the outermost block
    succeeds, the log is cleared.
    """

    def __init__(self) -> None:
        self._log: list[tuple[Any, Any, Any]] = []
        """For each change: the object, the attribute or key, and the value before the change."""
        self._marks: list[int] = []
        self.number = count(1).__next__
        """Returns a higher number at each call. A new key of an `Ordered` gets this number."""
        self.deferred: dict[Any, dict[Any, None]] | None = None
        """During a `Graph.batch`: the layers of each graph to infer at the end of the batch."""
        self.at_end: Callable[[], None] | None = None
        """Checks the graph at the end of the outermost `with` block. An error undoes the block."""

    def start_behind(self, other: Changes) -> None:
        """Makes `number` return higher numbers than this log and another log have returned."""
        self.number = count(max(self.number(), other.number())).__next__

    def set(self, item: Any, name: str, value: Any) -> None:
        """Sets an attribute of an object, and records the old value."""
        self.keep(item, name)
        setattr(item, name, value)

    def keep(self, item: Any, name: str) -> None:
        """Records the value of an attribute that the caller is about to change."""
        if self._marks:
            self._log.append((item, name, getattr(item, name)))

    def put(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        """Sets the value of a key in a dictionary, and records the old value."""
        if self._marks:
            self._log.append((mapping, key, mapping.get(key, _ABSENT)))
        mapping[key] = value

    def drop(self, mapping: dict[Any, Any], key: Any) -> None:
        """Removes a key from a dictionary if it exists, and records its value."""
        value = mapping.pop(key, _ABSENT)
        if self._marks and value is not _ABSENT:
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
