"""Suggestions for misspelt names."""

from __future__ import annotations


def suggestion(name: str, known: list[str]) -> str:
    """`; did you mean X?`, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1, 0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
