"""Joins buffers from several files or objects into one address space, without copying them."""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections.abc import Iterable

from ..spelling import with_noun
from .ranges import Ranges

_ALIGNMENT = 64
_LARGE = 1 << 20
"""The size in bytes from which `add_parts` writes a buffer to a temporary file."""


class Pieces:
    """Buffers in one address space, e.g. of an ONNX model. Each starts at a multiple of 64.

    Missing bytes, for example of a missing data file, also have an address range.
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._views: list[memoryview | None] = []
        self._end = 0
        self._known: dict[bytes, int] = {}
        """Addresses of the buffers added as `bytes`, by contents or, for large ones, by digest."""

    def add(self, data: bytes | bytearray | memoryview | mmap.mmap) -> int:
        """Adds a buffer, and returns the address of its first byte. Equal `bytes` are stored
        once."""
        if isinstance(data, bytes):
            return self.add_parts((data,), len(data))
        view = memoryview(data)
        return self._place(view, len(view))

    def add_parts(self, parts: Iterable[bytes], size: int) -> int:
        """Adds `size` bytes that are given in parts, and returns the address of the first byte.

        Equal bytes are stored once. Large buffers are written to a temporary file part by part, and
        mapped. The file disappears with the mapping.
        """
        kept: bytes | mmap.mmap
        if size < _LARGE:
            key = kept = b"".join(parts)
        else:
            from hashlib import blake2b
            from tempfile import TemporaryFile

            digest = blake2b()
            with TemporaryFile() as file:
                for part in parts:
                    digest.update(part)
                    file.write(part)
                file.flush()
                kept = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
            key = digest.digest()
        start = self._known.get(key)
        if start is None:
            start = self._known[key] = self._place(memoryview(kept), size)
        return start

    def release(self, offset: int) -> None:
        """Lets the system reclaim the memory of a mapped buffer that a caller has read."""
        _, view = self._buffer(offset)
        if view is not None and isinstance(view.obj, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            view.obj.madvise(mmap.MADV_DONTNEED)

    def miss(self, size: int) -> int:
        """Reserves an address range for missing bytes, and returns its first address."""
        return self._place(None, size)

    def extend(self, other: bytes | mmap.mmap | Pieces | Ranges | None) -> None:
        """Adds all bytes of a .bin, each at its own offset. This object must be empty."""
        if not isinstance(other, Pieces):
            if other:
                self.add(other[:] if isinstance(other, Ranges) else other)
            return
        self._starts, self._views = list(other._starts), list(other._views)
        self._end = other._end
        self._known = dict(other._known)

    @property
    def mark(self) -> tuple[int, int]:
        """The number of buffers, and the address behind the last one. Assigning an earlier value
        removes the buffers that were added since."""
        return len(self._starts), self._end

    @mark.setter
    def mark(self, mark: tuple[int, int]) -> None:
        count, self._end = mark
        if self._known and count < len(self._starts):
            gone = set(self._starts[count:])
            for key in [key for key in reversed(self._known) if self._known[key] in gone]:
                del self._known[key]
        del self._starts[count:], self._views[count:]

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
        """Returns the contents of the buffers as bytes, since views of memory cannot be pickled."""
        views = [None if view is None else bytes(view) for view in self._views]
        return self._starts, views, self._end

    def __setstate__(self, state: tuple[list[int], list[bytes | None], int]) -> None:
        self._starts, pieces, self._end = state
        self._views = [None if piece is None else memoryview(piece) for piece in pieces]
        self._known = {}

    def spans(self) -> list[tuple[int, int]]:
        """Returns the address and the size of each buffer that is available."""
        views = zip(self._starts, self._views, strict=True)
        return [(start, len(view)) for start, view in views if view is not None]

    def _buffer(self, offset: int) -> tuple[int, memoryview | None]:
        """Returns the address and bytes of the last buffer that begins at or before an address."""
        index = bisect_right(self._starts, offset) - 1
        return (self._starts[index], self._views[index]) if index >= 0 else (0, None)

    def holds(self, offset: int, size: int) -> bool:
        """Whether one buffer contains all `size` bytes at `offset`."""
        if not size:
            return 0 <= offset <= self._end
        start, view = self._buffer(offset)
        return view is not None and size > 0 and offset - start + size <= len(view)

    def view(self, offset: int, size: int) -> memoryview:
        """Returns `size` bytes at `offset`. Raises `ValueError` unless one buffer has them all."""
        if not size:
            return memoryview(b"")
        start, view = self._buffer(offset)
        if view is None or not self.holds(offset, size):
            raise ValueError(f"no buffer has {with_noun(size, 'byte')} at address {offset}")
        return view[offset - start : offset - start + size]

    def __getitem__(self, span: slice) -> bytes:
        """Returns the bytes from `start` to `stop`. The slice must have a start and a stop."""
        return bytes(self.view(span.start, span.stop - span.start))
