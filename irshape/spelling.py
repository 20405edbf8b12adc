"""Helps to write messages: suggests names for misspelt ones, adds nouns to numbers, joins lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun: `1 input`, `2 inputs`, `1,200 inputs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def enumerated(words: Iterable[str]) -> str:
    """Returns words as a list: `a`, `a and b`, `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def first_of(words: Sequence[str], most: int) -> str:
    """Returns the first words of a list as text: `a, b`, or `a, b, c … and 9 more`."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" … and {more} more" if more > 0 else "")


def with_article(noun: str) -> str:
    """Returns a noun with an indefinite article: `a list`, `an int`."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


_ONE_OF_SEVERAL = (
    r"(?<![\w.,…-])1 ((?:spatial |input |output )?)"
    r"(axe|bodie|byte|dimension|element|input|layer|output|port|row|column|value)s\b"
)
_SINGULARS = {"axe": "axis", "bodie": "body"}


def agreeing(text: str) -> str:
    """Returns a text with nouns after 1 in the singular: `1 elements` becomes `1 element`."""
    if "1 " not in text:
        return text
    return re.sub(_ONE_OF_SEVERAL, lambda one: f"1 {one[1]}{_SINGULARS.get(one[2], one[2])}", text)


def suggestion(name: str, known: Sequence[str]) -> str:
    """Returns `; did you mean 'X'?` for the most similar known name; empty if none is similar."""
    from difflib import get_close_matches

    begun = [each for each in known if len(name) > 2 and each.lower().startswith(name.lower())]
    close = begun or get_close_matches(name, known, 1, 0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
