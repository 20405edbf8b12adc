"""Tables that fit the width of the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

GAP = 2
"""Spaces between two columns."""


def terminal_width() -> int | None:
    """The columns of the terminal, or what COLUMNS says; None if the output goes to a file."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    if not sys.stdout.isatty():
        return None
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return None


def wrapped(line: str, width: int | None) -> list[str]:
    """A line of text in as many as the width takes, the following ones further in."""
    if width is None or len(line) <= width:
        return [line]
    import textwrap

    further = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line, width, subsequent_indent=further, break_on_hyphens=False, break_long_words=False
    )


def text_table(
    rows: Sequence[Sequence[str]], shrinking: Sequence[tuple[int, int]], width: int | None
) -> list[str]:
    """The lines of a table, texts to the left, the first row being its head.

    shrinking: the columns whose texts may be shortened in their middle, and the width down to which
    each may be, in the order in which they are used. width: None for as much as it takes.
    """
    from ..diagnostics.renderers.common import shortened

    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    excess = 0 if width is None else sum(widths) + GAP * (len(widths) - 1) - width
    for column, least in shrinking:
        taken = max(0, min(excess, widths[column] - least))
        widths[column] -= taken
        excess -= taken
    gap = " " * GAP
    return [
        gap.join(
            shortened(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
