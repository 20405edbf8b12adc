"""Conditions of layers on sizes, and contradictions between them."""

from __future__ import annotations

from typing import NamedTuple

from .expressions import Expression


class Constraint(NamedTuple):
    """A condition of a layer on sizes: `left relation right`."""

    left: Expression
    relation: str
    right: Expression
    source: object
    """The layer that requires the condition, or another origin."""
    assumed: bool
    conditional: bool = False
    """Whether the condition holds only if a certain body runs, for example a branch of an If."""

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


class Conflict(NamedTuple):
    """A condition that cannot hold together with earlier ones."""

    constraint: Constraint
    earlier: tuple[Constraint, ...]
    """The smallest set of conditions that excludes it; empty if the shapes of the inputs exclude
    it."""

    @property
    def is_certain(self) -> bool:
        """Whether the contradiction follows from requirements of layers, without assumptions."""
        if not self.earlier:  # for example, no size equals itself plus 1
            return (self.constraint.left - self.constraint.right).constant is not None
        return not any(each.assumed for each in self.earlier)
