"""The requirements of layers on dynamic dimensions, beyond their intervals."""

from __future__ import annotations

from contextvars import ContextVar

Demand = tuple[str, int]
"""A relation and a number. A dynamic dimension has to be equal to the number (`==`), at least the
number (`>=`), a multiple of it (`%`), or either 1 or the number (`1|`). The relation `=`, with the
number 0, says that two dynamic dimensions have to be equal.
"""
NOTED: ContextVar[list[Demand] | None] = ContextVar("noted", default=None)
"""The list that collects the requirements of the layer that is being inferred; None if no caller
needs them."""


def note(relation: str, number: int) -> None:
    """Records a requirement of the layer that is being inferred, if a caller collects them."""
    noted = NOTED.get()
    if noted is not None:
        noted.append((relation, number))


WIDER: Demand = ("wider", 0)
"""Marks a layer for which irshape infers a wider shape than OpenVINO does."""


def note_wider() -> None:
    """Records that OpenVINO infers a narrower shape than is possible, so that a port which declares
    it is not an error."""
    note(*WIDER)


def excludes(size: int, relation: str, number: int) -> bool:
    """Whether a size does not meet a requirement. Every size meets the requirement that two sizes
    are equal."""
    if relation == "==":
        return size != number
    if relation == ">=":
        return size < number
    if relation == "%":
        return size % number != 0
    return relation == "1|" and size not in (1, number)
