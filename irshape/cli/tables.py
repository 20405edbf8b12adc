"""Fits text to the width of the terminal: tables, and lines of prose."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ..diagnostics.renderers.common import shortened, width as columns_of

GAP = 2
"""Spaces between two columns."""
NOTHING = ("", "-", "?")
"""Cells without information."""


def terminal_width() -> int | None:
    """Returns the columns of the terminal or of COLUMNS; None if the output goes to a file."""
    return shutil.get_terminal_size((0, 0)).columns or None


def fitted(lines: Iterable[str]) -> Iterator[str]:
    """Wraps lines to the width of the terminal. Continuation lines are indented."""
    width = terminal_width()
    for line in lines:
        spread = _spread(line)
        if width is None or len(spread) <= width:
            yield line
            continue
        import textwrap

        further = " " * (len(line) - len(line.lstrip()) + 4)
        wrapped = textwrap.wrap(
            spread,
            max(width, 20) - (spread != line),  # a break may part the two columns of a character
            subsequent_indent=further,
            break_on_hyphens=False,
            break_long_words=len(further) + max(map(len, spread.split())) > width,
        )
        yield from (part.replace(_SECOND, "") for part in wrapped)


_SECOND = "\0"
"""The filler in place of the second column of a wide character."""


def _spread(text: str) -> str:
    """Returns a text with a filler after each character that is two columns wide in a terminal."""
    if text.isascii():
        return text
    return "".join(char + _SECOND * (columns_of(char) - 1) for char in text)


def text_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    shrinking: Mapping[str, int],
    right: Collection[str] = (),
    dropped: Sequence[str] = (),
    indent: int = 0,
) -> list[str]:
    """Returns the lines of a table, fitted to the width of the terminal.

    If the table is too wide, texts are shortened. If that is not enough, columns are dropped.
    shrinking: the columns whose texts may be shortened in the middle, with their smallest widths.
    The first of these columns is shortened first.
    right: the columns that are right-aligned, e.g. numbers.
    dropped: the columns that are dropped, in this order, after columns without information.
    """
    columns = {name: [*cells] for name, *cells in zip(head, head, *rows, strict=True)}
    width = terminal_width()
    if width is not None:
        empty = [
            name
            for name in head
            if name and len(columns[name]) > 1 and set(columns[name][1:]) <= set(NOTHING)
        ]
        for name in (*empty, *dropped):
            least = [
                min(_width(cells), shrinking.get(name, 1 << 30)) for name, cells in columns.items()
            ]
            if indent + sum(least) + GAP * (len(least) - 1) <= width:
                break
            columns.pop(name, None)
    widths = {name: _width(cells) for name, cells in columns.items()}
    excess = indent + sum(widths.values()) + GAP * (len(widths) - 1) - (width or 1 << 30)
    for name, least_of_it in shrinking.items():
        taken = max(0, min(excess, widths.get(name, 0) - least_of_it))
        if taken:
            widths[name] -= taken
            excess -= taken
    lines = []
    for cells in zip(*columns.values(), strict=True):
        texts = [
            _cell(cell, widths[name], right=name in right)
            for name, cell in zip(columns, cells, strict=True)
        ]
        lines.append(" " * indent + (" " * GAP).join(texts).rstrip())
    return lines


def _width(cells: Sequence[str]) -> int:
    return max(map(columns_of, cells))


def _cell(text: str, width: int, *, right: bool) -> str:
    """Returns a text shortened, or padded with spaces, to a number of columns."""
    short = shortened(text, width)
    while columns_of(short) > width and len(short) > 1:
        short = shortened(text, len(short) - 1)
    filling = " " * (width - columns_of(short))
    return filling + short if right else short + filling
