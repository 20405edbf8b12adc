"""Colours text for a terminal."""

from __future__ import annotations

from collections.abc import Callable

_CODES = {"error": "31", "warning": "33", "info": "36", "bold": "1", "dim": "2", "green": "32"}


def painter(colour: bool) -> Callable[..., str]:
    """Returns a function that applies styles (`error`, `bold` …) if `colour` is true."""

    def paint(text: str, *styles: str) -> str:
        return (
            f"\033[{';'.join(_CODES[style] for style in styles)}m{text}\033[0m" if colour else text
        )

    return paint
