"""Shows the progress of a command on stderr."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from time import monotonic
from typing import TypeVar

T = TypeVar("T")


class Line:
    """A line on stderr that is rewritten, and removed at the end. It appears only on a terminal."""

    def __init__(self) -> None:
        self.shows = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._written = False

    def write(self, text: str) -> None:
        if self.shows:
            width = shutil.get_terminal_size().columns - 1
            self._put(f"\r{text[:width]}\033[K")
            self._written = True

    def clear(self) -> None:
        """Removes the line."""
        if self._written:
            self._put("\r\033[K")
            self._written = False

    def _put(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def progress(items: Iterable[T], total: int) -> Iterator[T]:
    """Yields the items, and counts them in a line on stderr. Removes the line while the caller
    processes an item, because the caller may write other lines."""
    line = Line()
    if total < 2 or not line.shows:
        yield from items
        return
    began = monotonic()
    try:
        for count, item in enumerate(items, 1):
            line.clear()
            yield item
            rate = count / (monotonic() - began)
            left = timedelta(seconds=round((total - count) / rate))
            line.write(f"{count}/{total} files, {rate:.3g} a second, {left} left")
    finally:
        line.clear()
