"""Helps to write messages: suggests names for misspelt ones, adds nouns to numbers, joins lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun: `1 input`, `2 inputs`, `1,200 inputs`."""
    return with_noun(f"{count:,}", noun)


def with_noun(number: object, noun: str) -> str:
    """Returns a number as it is, with its noun: `1 input`, `2..4 inputs`, `1200 inputs`."""
    text = str(number)
    return f"{text} {noun}{'' if text == '1' else 's'}"


def enumerated(words: Iterable[str]) -> str:
    """Returns words as a list: `a`, `a and b`, `a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def first_of(words: Sequence[str], most: int) -> str:
    """Returns the first words of a list as text: `a, b`, or `a, b, c … and 9 more`."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" … and {more} more" if more > 0 else "")


def known_ends(inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """Returns the names of a model's inputs and outputs: ` (inputs: a, b; outputs: none)`."""
    ends = (first_of(names, 5) or "none" for names in (inputs, outputs))
    return " (inputs: {}; outputs: {})".format(*ends)


def with_article(noun: str) -> str:
    """Returns a noun with an indefinite article: `a list`, `an int`."""
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """Returns `; did you mean 'X'?` for the most similar known name; empty if none is similar."""
    from difflib import get_close_matches

    begun = [each for each in known if len(name) > 2 and each.lower().startswith(name.lower())]
    close = begun or get_close_matches(name, known, 1, 0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
