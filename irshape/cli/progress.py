"""Shows the progress of a command, only if stderr is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

EVERY = 0.1
"""Seconds between two updates."""
GONE = "\r\033[K"


def progress(items: Iterable[T], total: int, *, clears: bool = False) -> Iterator[T]:
    """Passes the items on and shows their count in a line, which is removed at the end.

    clears: remove the line also while an item is processed, since other lines are written about it.
    """
    if total < 2 or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield from items
        return
    began = shown = monotonic()
    written = False
    try:
        for count, item in enumerate(items, 1):
            if clears:
                if written:
                    _write(GONE)
                yield item
            now = monotonic()
            if clears or now - shown >= EVERY:
                shown, written = now, True
                rate = count / (now - began)
                left = _duration((total - count) / rate)
                _write(f"\r{count}/{total} files, {rate:.3g} a second, {left} left\033[K")
            if not clears:
                yield item
    finally:
        if written:
            _write(GONE)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _duration(seconds: float) -> str:
    """Returns a duration such as `45 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
