"""Compares the spelling of words, and writes values in the notation that OpenVINO reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from ..ops.declaration import Attribute
from ..ops.kinds import Choice, Integer, ListOf, Malformed, TypeName


def likeness(one: str, other: str) -> float:
    """Returns the likeness of two words from 0 to 1, as `difflib` measures it."""
    return SequenceMatcher(None, one, other).ratio()


def folded(word: str) -> str:
    """Returns a word in lower case without `-` and `_`, for comparisons."""
    return word.lower().replace("-", "").replace("_", "")


def one_letter_off(one: str, other: str) -> bool:
    """Returns whether two words are equal, or one letter is missing, extra, wrong, or swapped with
    the next. Ignores case, `-` and `_`."""
    one, other = folded(one), folded(other)
    if one == other:
        return True
    if abs(len(one) - len(other)) > 1:
        return False
    if len(one) > len(other):
        one, other = other, one
    at = next((i for i, letter in enumerate(one) if letter != other[i]), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    exchanged = one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    return exchanged or one[at + 1 :] == other[at + 1 :]


def only_word(written: str, words: Iterable[str]) -> str | None:
    """Returns the only word that is one letter off `written`; None if there is none or several.

    Ignores words with other digits: `opset1` is not a misspelling of `opset2`.
    """
    digits = re.findall(r"\d+", written)
    close = [
        word
        for word in words
        if one_letter_off(written, word) and re.findall(r"\d+", word) == digits
    ]
    return close[0] if len(close) == 1 else None


_NUMBERS = re.compile(r"[\s\[({]*([-+]?\d+(?:\.0*)?(?:[\s,;|]+[-+]?\d+(?:\.0*)?)*)[\s,;|\])}]*")


def renoted(attribute: Attribute, text: str) -> str | None:
    """Returns whole numbers in a notation that OpenVINO reads, e.g. `1, 2` for `[1;2.0]`.

    Every number keeps its value. Returns None if the text contains anything else.
    """
    kind = attribute.kind
    several = isinstance(kind, ListOf) and isinstance(kind.item, Integer)
    match = _NUMBERS.fullmatch(text)
    if match is None or not (several or isinstance(kind, Integer)):
        return None
    numbers = [str(int(part.split(".")[0])) for part in re.split(r"[\s,;|]+", match[1]) if part]
    if len(numbers) > 1 and not several:
        return None
    return _readable(attribute, ", ".join(numbers))


def respelt(attribute: Attribute, text: str) -> str | None:
    """Returns the only allowed word that is one letter off; None if there is none or several."""
    kind = attribute.kind
    if isinstance(kind, Choice):
        return only_word(text, kind.words)
    if kind.name == "boolean":
        return only_word(text, ("true", "false"))
    if isinstance(kind, TypeName):
        from ..element_types import ElementType

        word = only_word(text, kind.allowed or ElementType.names())
        return word and _readable(attribute, word)
    return None


def _readable(attribute: Attribute, text: str) -> str | None:
    try:
        attribute.read(text)
    except Malformed:
        return None
    return text
