"""Describes a change of a file: its edits and their effect."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..diagnostics.report import Trial
from ..formats.ir.edits import Edit
from ..model.graph import Finding, Layer

Kind = Literal[
    "attribute",
    "constant",
    "edge",
    "encoding",
    "exchange",
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
    """One change of the text of a file. `__str__` describes it in words."""

    kind: Kind
    edits: tuple[Edit, ...]
    offset: int
    """The offset of the changed element or attribute."""
    layer: Layer | None
    subject: str
    """The name of the changed attribute, or `edge`."""
    before: str | None
    """The old text; None if something is added."""
    after: str | None
    """The new text; None if something is removed."""
    cost: float = 1.0
    """Of changes that remove as many findings, the one with the lowest cost is the likeliest."""
    decided: str = ""
    """The reason why no other change is possible; empty if others are possible.

    With a reason, the change is safe if OpenVINO refuses the file.
    """
    same_model: bool = False
    """Whether OpenVINO reads the same model before and after the change."""
    guess: bool = False
    """Whether other changes are equally likely. irshape then shows the change, but does not make
    it."""
    settles: tuple[Finding, ...] | None = None
    """The findings that the change removes; None if irshape has to read the file again to know."""

    def __str__(self) -> str:
        if self.kind in ("edge", "text", "weights"):
            if self.before is None:
                return f"add {self.after}"
            if self.after is None:
                return f"remove {self.before}"
        if self.kind == "exchange":
            return f"exchange the edges into ports {self.before} and {self.after}"
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
    """A change that removes findings and adds none."""

    change: Change
    explained: tuple[Finding, ...]
    applicability: Applicability

    @property
    def message(self) -> str:
        """The text after `possible cause:` in reports."""
        kind, subject = self.change.kind, self.change.subject
        before, after = self.change.before, self.change.after
        if kind == "weights":
            return subject
        if kind == "exchange":
            return f"the edges into ports {before} and {after} are swapped"
        attribute = kind not in ("edge", "text")
        if before is None:
            return (f'{subject}="{after}"' if attribute else str(after)) + " is missing"
        if after is None:
            return (f'{subject}="{before}"' if attribute else before) + " is superfluous"
        if kind == "name":
            return f"{before} should be {after}"
        if kind == "value":
            return f"{before} in {subject} should be {after}"
        return f'{subject}="{before}" should be "{after}"'


class Repairs(NamedTuple):
    """The result of the search for causes of the findings on a file."""

    findings: list[Finding]
    """The findings to report. If a change removes several, the first one lists all others."""
    causes: dict[int, list[Cause]]
    """Maps the `id` of each finding to at most three causes, likeliest first."""
    tried: dict[int, list[Trial]]
    """Maps the `id` of each finding to the changes that were tried for it."""
    readings: int
    """The number of times that the whole file was read again."""
