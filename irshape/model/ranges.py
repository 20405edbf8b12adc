"""Reads a remote .bin by ranges, so that only the needed bytes are fetched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

GAP = 1 << 14
"""Two ranges with at most this many bytes between them are fetched as one."""

TOGETHER = 8
"""The maximum number of ranges to fetch in parallel."""

Fetch = Callable[[int, int], bytes]
"""A function that fetches bytes. Its arguments are the offset and the number of bytes. Raises
`OSError`."""


class Ranges:
    """The bytes of a remote file, fetched when they are read. The first read of a range that was
    passed to `expect` fetches all of these ranges."""

    def __init__(self, size: int, fetch: Fetch) -> None:
        self._size = size
        self._fetch = fetch
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._fetched: list[bytes] = []
        """The bytes of the ranges that `expect` got; empty until a caller reads one of them."""

    def expect(self, spans: Iterable[tuple[int, int]]) -> None:
        """Sets the ranges (offset and size) to fetch together when one of them is read."""
        self._starts, self._ends, self._fetched = [], [], []
        for offset, size in sorted(spans):
            if size <= 0 or not self.holds(offset, size):
                continue
            if self._ends and offset <= self._ends[-1] + GAP:
                self._ends[-1] = max(self._ends[-1], offset + size)
            else:
                self._starts.append(offset)
                self._ends.append(offset + size)

    def __len__(self) -> int:
        return self._size

    def holds(self, offset: int, size: int) -> bool:
        """Whether the file contains `size` bytes at `offset`."""
        return offset >= 0 and size >= 0 and offset + size <= self._size

    def view(self, offset: int, size: int) -> memoryview:
        """Returns `size` bytes at `offset`. Raises `OSError` if they cannot be fetched."""
        if not size:
            return memoryview(b"")
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or offset + size > self._ends[index]:
            return memoryview(self._fetch(offset, size))
        if not self._fetched:
            self._fetched = self._fetch_expected()
        start = offset - self._starts[index]
        return memoryview(self._fetched[index])[start : start + size]

    def _fetch_expected(self) -> list[bytes]:
        sizes = [end - start for start, end in zip(self._starts, self._ends, strict=True)]
        if len(sizes) == 1:
            return [self._fetch(self._starts[0], sizes[0])]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(TOGETHER) as threads:
            return list(threads.map(self._fetch, self._starts, sizes))

    def __getitem__(self, span: slice) -> bytes:
        """Returns the bytes from `start` to `stop`; by default from the start to the end of the
        file."""
        start, stop, _ = span.indices(self._size)
        return bytes(self.view(start, max(0, stop - start)))
