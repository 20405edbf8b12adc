"""Writes the English text of faults: a sentence for each relation, and values as text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from .element_types import (
    ANY,
    INTEGER,
    NUMERIC,
    NUMERIC_OR_BOOLEAN,
    REAL,
    ElementType,
)
from .shapes import Dimension, PartialShape
from .spelling import with_noun

MAX_LISTED: Final = 64
"""The maximum number of elements of a list that a fault keeps as values. A longer list is kept as
text."""


def in_words(value: Any) -> str:
    """Returns a value of a fault as text: a number, a list, a shape, or a set of element types."""
    if isinstance(value, frozenset):
        return describe_types(value)
    if value.__class__ is tuple:  # but not a named tuple
        shown = [str(number) for number in islice(value, 17)]
        return "[" + ",".join(shown[:16]) + (",…]" if len(shown) > 16 else "]")
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _ranks(value: Any) -> str:
    return " or ".join(map(str, value)) if value.__class__ is tuple else in_words(value)


def expectation(relation: str, expected: Any) -> str | None:
    """Returns the expected value of a fault as a short text for reports."""
    if relation == "distinct" and expected is None:
        return "distinct values"
    if relation == "within" and isinstance(expected, tuple):
        low, high = expected
        return in_words(expected) if low is None or high is None else f"[{low}, {high}]"
    text = short(relation, expected)
    return f"a shape compatible with {text}" if relation == "broadcast" else text


def short(relation: str, value: Any) -> str | None:
    """Returns an expected or actual value of a fault as a short text; None for None."""
    if value is None:
        return None
    text = _ranks(value) if relation == "rank" else in_words(value)
    if isinstance(value, str):
        return text
    if relation == "rank" and not isinstance(value, PartialShape):
        return f"rank {text}"
    if relation == "count" and not isinstance(value, PartialShape):
        return with_noun(text, "element")
    return text


def sentence(
    relation: str,
    at: str,
    position: int | None,
    expected: Any,
    actual: Any,
    of: str = "",
    given: Any = None,
) -> str:
    """Returns the sentence about a failed relation; `faults.Fault` explains the arguments."""
    wanted = _ranks(expected) if relation == "rank" else in_words(expected)
    if relation == "count" and isinstance(actual, PartialShape):
        wanted = with_noun(wanted, "element")
    name, seen = f"`{at}`", in_words(actual)
    source = f"`{of}`" + ("" if given is None else f" {in_words(given)}") if of else ""
    if relation == "within" and of:
        text = _out_of_range(seen, of, given, wanted)
    elif relation == "distinct":
        twice = "a value" if position is None else in_words(actual[position])
        text = f"{name} {seen} contains {twice} twice"
    elif relation == "sum":
        origin = f", the size of {source}" if of else ""
        total = f"; they sum up to {sum(actual)}" if actual.__class__ is tuple else ""
        text = f"the elements of {name} {seen} must sum up to {wanted}{origin}{total}"
    elif relation == "broadcast":
        origin = f" of `{of}`" if of else ""
        text = f"{name} has shape {seen}, which does not broadcast with shape {wanted}{origin}"
    else:
        has = _seen(relation, position, actual, seen)
        kind = "rank " if relation == "rank" else ""
        where = f"dimension {position} of " if _is_axis(relation, position, actual) else ""
        origin = _ORIGINS.get(relation, _as_in)(source)
        text = f"{where}{name} {has}; expected {kind}{wanted}{origin}"
    return text


def _out_of_range(seen: str, of: str, rank: Any, wanted: str) -> str:
    if rank == 0:
        return f"axis {seen} is out of range for `{of}`, which is a scalar and has no axes"
    shown = "" if rank is None else f" of rank {rank}"
    return f"axis {seen} is out of range for `{of}`{shown}: expected {wanted}"


def _is_axis(relation: str, position: int | None, actual: Any) -> bool:
    return position is not None and (relation == "equal" or isinstance(actual, Dimension))


def _seen(relation: str, position: int | None, actual: Any, seen: str) -> str:
    """Returns the part of a sentence after the name of an input or attribute: `has rank 2`."""
    if relation in ("count", "same size") and not isinstance(actual, PartialShape):
        return f"has {with_noun(seen, 'element')}"
    if isinstance(actual, PartialShape):
        return f"has shape {seen}" + (f", of rank {actual.rank}" if relation == "rank" else "")
    if relation == "rank":
        return f"has rank {seen}"
    if relation == "type" or isinstance(actual, ElementType):
        return f"has element type {seen}"
    if position is None or _is_axis(relation, position, actual):
        return f"is {seen}"
    return f"contains {seen} at index {position}"


def _as_in(source: str) -> str:
    return f", as in {source}" if source else ""


_ORIGINS: Final[dict[str, Callable[[str], str]]] = {
    "count": lambda source: f", one for each dimension of {source}" if source else "",
    "same size": lambda source: f", as many as {source} has" if source else "",
    "other": lambda source: f" for {source}" if source else "",
}
"""For each relation, writes where the expected value comes from; other relations use `_as_in`."""


def describe_types(allowed: frozenset[ElementType]) -> str:
    """Returns the text for a set of element types, e.g. `an integer` or `f32 or f16`."""
    for words, group in (
        ("any type", ANY),
        ("a number or boolean", NUMERIC_OR_BOOLEAN),
        ("a number", NUMERIC),
        ("an integer", INTEGER),
        ("a floating-point type", REAL),
    ):
        if allowed == group:
            return words
    but = "any type but " if len(allowed) > len(ANY) // 2 else ""
    names = sorted(
        (element_type.name for element_type in (ANY - allowed if but else allowed)),
        key=lambda name: (name[0], len(name), name),
    )
    return but + (names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1])
