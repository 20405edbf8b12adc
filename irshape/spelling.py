"""Words of messages: suggestions for misspelt names, counts of things."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """`1 input`, `2 inputs`, `1,200 inputs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """`; did you mean X?`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1, 0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
