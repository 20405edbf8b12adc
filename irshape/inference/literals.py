"""Parses values written as text, such as `[2, 3]`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from math import nan

from ..ops.tensors import MAX_VALUE_ELEMENTS

MAX_VALUE_TEXT = 1 << 16
"""The maximum number of characters of a text that is parsed as a value."""

_VALUE_TEXT = re.compile(r"[-+\d.eE\s,\[\]()]*\Z")
_WORDS = {"true": "1", "false": "0", "inf": "1e999", "infinity": "1e999"}
"""Words, and the numbers that replace them. `nan` becomes None, since Python cannot parse it."""


def parse_value(text: str) -> tuple[int | float, ...] | None:
    """Returns the elements of a text such as `[2, 3]`, `7` or `[[0, 1], [2, 3]]`.

    The order is row-major. Returns None if `parse_array` does.
    """
    parsed = parse_array(text)
    return None if parsed is None else parsed[1]


def parse_array(
    text: str, *, special: bool = False
) -> tuple[tuple[int, ...], tuple[int | float, ...]] | None:
    """Returns the shape and the elements of a text such as `[2, 3]`, `7` or `[[0, 1], [2, 3]]`.

    Returns None if the text is not a value, has too many elements, or contains nested lists of
    unequal length. special: accept `nan` and `inf`.
    """
    known = "true|false|inf|infinity|nan" if special else "true|false"
    words = re.compile(rf"\b(?:{known})\b", re.IGNORECASE)
    plain = re.sub(r"(?<=[\d.])f\b", "", text.strip())
    if len(plain) > MAX_VALUE_TEXT or not _VALUE_TEXT.match(words.sub("", plain)):
        return None
    plain = words.sub(lambda word: _WORDS.get(word[0].lower(), "None"), plain)
    try:
        parsed = ast.literal_eval(plain)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    shape = _shape(parsed)
    flat = [nan if item is None else item for item in _flattened(parsed)]
    numbers = [item for item in flat if isinstance(item, (int, float))]
    if shape is None or len(numbers) != len(flat) or len(flat) > MAX_VALUE_ELEMENTS:
        return None
    return shape, tuple(numbers)


def _shape(item: object) -> tuple[int, ...] | None:
    """Returns the shape of nested lists; None if lists of one level differ in length."""
    if not isinstance(item, (list, tuple)):
        return ()
    inner = {_shape(part) for part in item} or {()}
    shape = inner.pop()
    return None if inner or shape is None else (len(item), *shape)


def _flattened(item: object) -> Iterator[object]:
    if isinstance(item, (list, tuple)):
        for part in item:
            yield from _flattened(part)
    else:
        yield item
