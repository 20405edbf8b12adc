"""Copies bytes from file to file in the kernel, without reading them into this process."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import IO, NamedTuple

from ..model.weights import identity_of

_PIECE = 1 << 24


class FileSpan(NamedTuple):
    """A range of bytes in a file. buffer: these bytes, memory-mapped.

    identity: identifies the file, to notice if `path` later names another file.
    """

    path: str
    offset: int
    size: int
    identity: tuple[int, ...]
    buffer: memoryview

    def pieces(self) -> Iterator[memoryview]:
        """Yields the bytes in pieces of limited size."""
        for start in range(0, self.size, _PIECE):
            yield self.buffer[start : start + _PIECE]


def copied(span: FileSpan, target: IO[bytes]) -> None:
    """Copies a span to the current position of the target, in the fastest way available.

    If possible, the file system copies nothing, and both files share the blocks. Raises `OSError`.
    """
    target.flush()
    done = _by_the_kernel(span, target)
    for piece in span._replace(
        offset=span.offset + done, size=span.size - done, buffer=span.buffer[done:]
    ).pieces():
        target.write(piece)


def is_plain(file: IO[bytes]) -> bool:
    """Whether an open file is a seekable file on disk that stores bytes as they are written."""
    return isinstance(file, io.BufferedWriter) and file.seekable()


def _by_the_kernel(span: FileSpan, target: IO[bytes]) -> int:
    """Makes the kernel copy the bytes. Returns how many it copied; 0 if it cannot."""
    # other objects may have the number of a file into which they write something else, as gzip's
    if not (hasattr(os, "copy_file_range") and is_plain(target)):
        return 0
    done, start = 0, target.tell()
    try:
        source = os.open(span.path, os.O_RDONLY)
    except OSError:
        return 0
    try:
        if identity_of(source) != span.identity:
            return 0
        while done < span.size:
            count = os.copy_file_range(
                source, target.fileno(), span.size - done, span.offset + done, start + done
            )
            if not count:
                break
            done += count
    except OSError:
        pass  # another file system, or one that cannot; what is missing is written
    finally:
        os.close(source)
    target.seek(start + done)
    return done
