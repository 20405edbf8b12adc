"""The conditions of layers on sizes, such as `seq == past`, and their contradictions."""

from __future__ import annotations

from typing import NamedTuple

from .expressions import Expression


class Constraint(NamedTuple):
    """A condition that a layer puts on sizes: `left relation right`, e.g. `past + seq == 128`."""

    left: Expression
    relation: str
    right: Expression
    source: object
    """The layer that requires the condition; None for an assumption of the user."""
    assumed: bool
    conditional: bool = False
    """Whether the condition matters only if a certain body runs, for example a branch of an If."""

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


class Conflict(NamedTuple):
    """A condition that cannot hold together with conditions recorded before it."""

    constraint: Constraint
    earlier: tuple[Constraint, ...]
    """The fewest earlier conditions that contradict `constraint`; empty if shapes alone do so."""

    @property
    def is_certain(self) -> bool:
        """Whether only requirements of layers, and no assumptions, lead to the contradiction."""
        if not self.earlier:  # for example, no size equals itself plus 1
            return (self.constraint.left - self.constraint.right).constant is not None
        return not any(each.assumed for each in self.earlier)
