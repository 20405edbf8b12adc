"""Reads and writes numbers of bytes as people write them: `512M`, `100MB`, `8 GiB`."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:([KMGT])(i?B)?|B)?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
MOST = 1 << 63
"""The largest size: 8 EiB, more than any memory has."""
_STEPS = ((1 << 20, "MiB"), (1 << 10, "KiB"))


def parse_size(text: str) -> int:
    """Returns the number of bytes in a text such as `100MB`. Raises `ValueError`.

    As in the GNU tools, MB is a power of 1000; MiB and M alone are powers of 1024. Upper and lower
    case are the same. For a size above 8 EiB, returns 8 EiB.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"'{text}' is not a size; write a number of bytes, or one with a unit, such as 100MB, "
            "512MiB or 8G"
        )
    base = 1000 if (match[3] or "").upper() == "B" else 1024
    return int(min(float(match[1]) * base ** _POWERS[(match[2] or "").upper()], MOST))


def written_size(size: int) -> str:
    """Returns a number of bytes as text for a message: `1,536 MiB`, `3 KiB`, `12 bytes`."""
    if size >= MOST:
        return "8 EiB or more"
    for unit, name in _STEPS:
        if size >= unit:
            return f"{size / unit:,.0f} {name}"
    return f"{size} byte{'' if size == 1 else 's'}"
