"""Puts conditions of facts into words: `in1.const=no` becomes `input 1 not constant`."""

from __future__ import annotations

from collections.abc import Iterable

from ..spelling import counted
from .facts import Condition

_DIMS = {
    "static": "of static shape",
    "bounded": "with bounded dimensions",
    "unbounded": "with unbounded dimensions",
    "rank": "of dynamic rank",
}
_SIZES = {"0": "0", "1": "1", "many": "more than 1", "?": "not known", "negative": "negative"}
_OF_LAYER = {
    "body": {"yes": "in a body", "no": "in the net"},
    "kept": {
        "yes": "output 0 with the shape of input 0",
        "no": "output 0 with another shape than input 0",
        "open": "only output 0 of dynamic shape",
        "?": "input 0 or output 0 of dynamic shape",
    },
    "mixed": {"yes": "inputs of different element types", "no": "inputs of one type"},
    "shapes": {
        "same": "inputs of equal shapes",
        "sizes": "inputs of different sizes",
        "ranks": "inputs of different ranks",
        "?": "inputs of dynamic shapes",
    },
}
"""Maps a key of a layer and its value to words, e.g. to `inputs of different ranks`."""


def in_words(conditions: Iterable[Condition]) -> str:
    """Describes in words the layers that meet the conditions; empty if the conditions only name the
    operation."""
    return ", ".join(text for text in map(_one, conditions) if text)


def _one(condition: Condition) -> str:
    key, values = condition.key, sorted(condition.values)
    text = " or ".join(values)
    if key.where == "attribute":
        return _attribute(condition, values)
    if key.where != "layer":
        return f"{key.port} {_of_port(condition, values)}"
    if key.name == "operation":
        return ""
    if key.name == "inputs":
        return " or ".join(counted(int(value), "input") for value in values)
    if key.name in _OF_LAYER:
        return _negated(condition, " or ".join(_OF_LAYER[key.name][value] for value in values))
    if key.name == "types":
        return _negated(condition, f"inputs computed as {text}")
    if key.name == "opset":
        return _negated(condition, f"opset{text}")
    return f"an input {_negated(condition, ' or '.join(_DIMS[value] for value in values))}"


def _of_port(condition: Condition, values: list[str]) -> str:
    name = condition.key.name
    text = " or ".join(value or "nothing" for value in values)
    if name == "const":
        return "constant" if (text == "yes") == (condition.relation == "=") else "not constant"
    if name == "used":
        return "used" if text == "yes" else "not used"
    if name == "dims":
        return _negated(condition, " or ".join(_DIMS[value] for value in values if value))
    if name == "rank":
        more = {">": "more than ", "<=": "at most "}.get(condition.relation, "")
        return _negated(condition, f"of rank {more}{text.replace('?', 'not known')}")
    if name in ("elements", "dim"):
        sizes = " or ".join(_SIZES.get(each, "missing") for each in values)
        at = f"size {sizes} at axis {condition.key.axis}"
        return _negated(condition, f"with {at if name == 'dim' else f'element count {sizes}'}")
    return _negated(condition, f"{'computed as' if name == 'as' else 'of type'} {text}")


def _attribute(condition: Condition, values: list[str]) -> str:
    name = condition.key.name
    if condition.key.least:
        texts = ("-1" if each == "?" else _SIZES.get(each, "no number") for each in values)
        return _negated(condition, f"smallest of {name} {' or '.join(texts)}")
    text = " or ".join(f'{name}="{value}"' if value else f"without {name}" for value in values)
    return _negated(condition, text)


def _negated(condition: Condition, text: str) -> str:
    return f"not {text}" if condition.relation == "!=" else text
