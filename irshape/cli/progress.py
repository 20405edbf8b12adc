"""How far a command is, on a terminal's stderr only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

EVERY = 0.1
"""Seconds between two updates."""


def progress(items: Iterable[T], total: int) -> Iterator[T]:
    """Passes the items on and counts them; the line is gone at the end."""
    if total < 2 or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield from items
        return
    shown = monotonic()
    written = False
    try:
        for count, item in enumerate(items, 1):
            now = monotonic()
            if now - shown >= EVERY:
                shown, written = now, True
                sys.stderr.write(f"\r{count}/{total} files\033[K")
                sys.stderr.flush()
            yield item
    finally:
        if written:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
