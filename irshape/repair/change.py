"""A change of a file: its edits, and what they come to."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..formats.ir.edits import Edit
from ..model.graph import Finding, Layer

Kind = Literal[
    "attribute",
    "constant",
    "edge",
    "encoding",
    "id",
    "name",
    "notation",
    "text",
    "type",
    "value",
    "weights",
]
Applicability = Literal["safe", "unsafe", "display"]


class Change(NamedTuple):
    """One change of the text. Its fields are facts; `__str__` puts them into words."""

    kind: Kind
    edits: tuple[Edit, ...]
    offset: int
    """The element or attribute that it changes."""
    layer: Layer | None
    subject: str
    """What is changed: the name of an attribute, `edge`."""
    before: str | None
    """As it is written; None where something is added."""
    after: str | None
    """What is written instead; None where something is removed."""
    cost: float = 1.0
    """How unlikely it is beside other changes after which as much is right."""
    decided: str = ""
    """What in the text leaves no other choice, in words; empty where nothing does. If OpenVINO
    refuses the file, the change is safe then."""
    same_model: bool = False
    """Whether OpenVINO reads the same with it and without."""
    settles: tuple[Finding, ...] | None = None
    """What it takes away, where that is known without another reading of the file."""

    def __str__(self) -> str:
        if self.kind in ("edge", "text", "weights"):
            if self.before is None:
                return f"add {self.after}"
            if self.after is None:
                return f"remove {self.before}"
        if self.kind == "name":
            return f"{self.subject} in place of {self.before}"
        if self.kind == "encoding":
            return f'encoding="{self.after}" in place of "{self.before}"'
        if self.before is None:
            return f'add {self.subject}="{self.after}"'
        if self.after is None:
            return f'remove {self.subject}="{self.before}"'
        if self.kind in ("value", "weights"):
            return f"{self.after} in place of {self.before} in {self.subject}"
        return f'{self.subject}="{self.after}" in place of "{self.before}"'


class Cause(NamedTuple):
    """A change after which findings are gone, and nothing new is found."""

    change: Change
    explained: tuple[Finding, ...]
    applicability: Applicability

    @property
    def message(self) -> str:
        """What may be behind the findings, in words."""
        change = self.change
        if change.kind == "weights":
            return change.subject
        if change.kind in ("edge", "text"):
            if change.before is None:
                return f"{change.after} is missing"
            if change.after is None:
                return f"{change.before} would have to go"
        return f"{change} would match"


class Tried(NamedTuple):
    """A change that was tried for a finding, and what came of it, for `--trace`."""

    change: Change
    gone: int
    """How many errors and warnings it would take away; -1 if it was not tried to the end."""
    new: int
    """How many it would add."""
    explains: bool
    """Whether the finding is among those that are gone."""

    @property
    def outcome(self) -> str:
        """What came of it, in words."""
        if self.gone < 0:
            return "not tried: the budget of readings is used up"
        if self.explains and not self.new:
            return f"proven: {self.gone} gone, none new"
        if not self.explains:
            return f"no cure: the finding stays, {self.new} new"
        return f"no cure: {self.gone} gone, {self.new} new"


class Repairs(NamedTuple):
    """What was found out about the findings of a file."""

    findings: list[Finding]
    """Those that are reported, with the others under them as `related`."""
    causes: dict[int, list[Cause]]
    """By the `id` of the finding, the likeliest first; at most three."""
    tried: dict[int, list[Tried]]
    """What was tried for each finding, by its `id`."""
    readings: int
    """How often the whole file was read again."""
