"""Bytes in several buffers, end to end and none of them copied: the constants of a model that come from more than one place."""

from __future__ import annotations

import mmap
from bisect import bisect_right

_ALIGNMENT = 64


class Pieces:
    """Buffers under one numbering of bytes, each at a multiple of 64. A piece that is missing takes up its room and holds nothing."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._views: list[memoryview | None] = []
        self._end = 0

    def add(self, data: bytes | bytearray | memoryview | mmap.mmap) -> int:
        """Where the bytes begin."""
        view = memoryview(data)
        return self._place(view, len(view))

    def miss(self, size: int) -> int:
        """Where bytes would begin that are not at hand."""
        return self._place(None, size)

    def _place(self, view: memoryview | None, size: int) -> int:
        start = -(-self._end // _ALIGNMENT) * _ALIGNMENT
        if size:
            self._starts.append(start)
            self._views.append(view)
            self._end = start + size
        return start if size else 0

    def __len__(self) -> int:
        return self._end

    def __getstate__(self) -> tuple[list[int], list[bytes | None], int]:
        """The bytes themselves: buffers cannot be pickled."""
        views = [None if view is None else bytes(view) for view in self._views]
        return self._starts, views, self._end

    def __setstate__(self, state: tuple[list[int], list[bytes | None], int]) -> None:
        self._starts, pieces, self._end = state
        self._views = [None if piece is None else memoryview(piece) for piece in pieces]

    def holds(self, offset: int, size: int) -> bool:
        """Whether so many bytes lie there, in one piece."""
        if not size:
            return 0 <= offset <= self._end
        index = bisect_right(self._starts, offset) - 1
        view = self._views[index] if index >= 0 else None
        return view is not None and size > 0 and offset - self._starts[index] + size <= len(view)

    def view(self, offset: int, size: int) -> memoryview:
        """Bytes of one piece. Raises `ValueError` where they do not lie in one."""
        if not size:
            return memoryview(b"")
        index = bisect_right(self._starts, offset) - 1
        view = self._views[index] if index >= 0 else None
        if view is None or not self.holds(offset, size):
            raise ValueError(f"no {size} bytes at {offset}")
        start = offset - self._starts[index]
        return view[start : start + size]

    def __getitem__(self, span: slice) -> bytes:
        """The bytes from `start` to `stop`, both given."""
        return bytes(self.view(span.start, span.stop - span.start))
