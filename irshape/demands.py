"""Collects the conditions of layers on dynamic dimensions, e.g. that a size is a multiple of 8."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Literal, NamedTuple

Relation = Literal["equal", "at least", "multiple", "one or"]


class Demand(NamedTuple):
    """A condition on the size of a dynamic dimension: it must equal `number`, be at least `number`,
    be a multiple of `number`, or be either 1 or `number`."""

    relation: Relation
    number: int

    def excludes(self, size: int) -> bool:
        """Whether a size breaks the condition."""
        if self.relation == "equal":
            return size != self.number
        if self.relation == "at least":
            return size < self.number
        if self.relation == "multiple":
            return size % self.number != 0
        return size not in (1, self.number)


class Notes:
    """Notes about one layer, taken during its inference."""

    __slots__ = ("demands", "wider")

    def __init__(self) -> None:
        self.demands: list[Demand] = []
        self.wider = False
        """Whether irshape infers a less specific shape than OpenVINO does."""


NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)
"""The notes about the layer that is being inferred; None if no caller needs them."""


def note(relation: Relation, number: int) -> None:
    """Records a condition of the layer that is being inferred, if a caller collects conditions."""
    notes = NOTES.get()
    if notes is not None:
        notes.demands.append(Demand(relation, number))


def note_wider() -> None:
    """Records that irshape infers a less specific shape than OpenVINO, because OpenVINO makes an
    assumption that may be wrong. A port may declare OpenVINO's shape."""
    notes = NOTES.get()
    if notes is not None:
        notes.wider = True
