"""Collects the conditions of layers on dynamic dimensions, e.g. that a size is a multiple of 8."""

from __future__ import annotations

from contextvars import ContextVar

Demand = tuple[str, int]
"""A condition on a dynamic dimension: a relation and a number. The dimension must be equal to the
number (`==`), at least the number (`>=`), a multiple of it (`%`), or either 1 or the number (`1|`).
"""
NOTED: ContextVar[list[Demand] | None] = ContextVar("noted", default=None)
"""The list that collects the conditions of the layer that is being inferred; None if no caller
needs them."""


def note(relation: str, number: int) -> None:
    """Records a condition of the layer that is being inferred, if a caller collects conditions."""
    noted = NOTED.get()
    if noted is not None:
        noted.append((relation, number))


WIDER: Demand = ("wider", 0)
"""The note for a layer for which irshape infers a less specific shape than OpenVINO does."""


def note_wider() -> None:
    """Records that OpenVINO's inference assumes more than it knows, so its shape is more specific
    than irshape's. A port may declare OpenVINO's shape."""
    note(*WIDER)


def excludes(size: int, relation: str, number: int) -> bool:
    """Whether a size breaks a condition."""
    if relation == "==":
        return size != number
    if relation == ">=":
        return size < number
    if relation == "%":
        return size % number != 0
    return relation == "1|" and size not in (1, number)
