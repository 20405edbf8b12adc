"""What layers demand of dynamic dimensions beside the intervals that these have."""

from __future__ import annotations

from contextvars import ContextVar

Demand = tuple[str, int]
"""A relation and a number: a dynamic dimension has to be `==` the number, `>=`, a multiple of it
(`%`), or 1 or it (`1|`). A relation `=`, with 0: two of them have to be equal.
"""
NOTED: ContextVar[list[Demand] | None] = ContextVar("noted", default=None)
"""What is demanded while a layer is at work; None where nobody takes notes."""


def note(relation: str, number: int) -> None:
    """Notes a demand of the layer at work, where somebody takes notes."""
    noted = NOTED.get()
    if noted is not None:
        noted.append((relation, number))


WIDER: Demand = ("wider", 0)
"""Stands among the demands of a layer whose shape allows what OpenVINO's leaves out."""


def note_wider() -> None:
    """Notes that OpenVINO infers less than can happen here: what it writes is no error."""
    note(*WIDER)


def excludes(size: int, relation: str, number: int) -> bool:
    """Whether a size does not meet a demand; every size meets that two sizes are equal."""
    if relation == "==":
        return size != number
    if relation == ">=":
        return size < number
    if relation == "%":
        return size % number != 0
    return relation == "1|" and size not in (1, number)
