"""A change of a file that may be the one that makes it consistent again."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..formats.ir.edits import Edit
from ..model.graph import Finding, Layer
from ..rule_ids import RuleId


class Patch(NamedTuple):
    """Other bytes at an offset of the .bin."""

    offset: int
    content: bytes


class Change(NamedTuple):
    """Another value of one attribute of a layer, and nothing else."""

    element: Literal["layer", "data"]
    """The element that has it."""
    name: str
    text: str


class Candidate(NamedTuple):
    """A single slip, as the edits that take it back."""

    edits: tuple[Edit, ...]
    change: str
    """What the edits do, in a few words."""
    cause: str
    """What is wrong if this is the cause, and what says so."""
    offset: int
    """The element or attribute that is wrong."""
    layer: Layer | None
    touched: tuple[int, ...]
    """The positions of the layers that are changed, or fed by something else."""
    needs: tuple[int, ...] = ()
    """The positions of layers that come to feed others."""
    port: tuple[str, str] | None = None
    cost: float = 1.0
    """How unlikely it is beside others that explain as much: a slip that is one step less likely
    costs 1 more."""
    certain: bool = True
    """Whether it may be applied unasked where nothing else explains as much."""
    rule: RuleId | None = None
    """Under which rule it is reported where no finding stands at its place; None: that of the
    gravest finding that it explains."""
    patch: Patch | None = None
    """What should stand in the .bin, which no edit writes."""
    bold: bool = False
    """Whether it changes what could be meant. Where much is wrong, that is no likely cause."""
    becomes: Change | None = None
    """What the edits come to, if that is one attribute of `layer`."""
    values: tuple[Change, ...] = ()
    """What they come to, if those are several attributes of its `<data>`."""
    feeds: tuple[tuple[int, int, int], ...] = ()
    """What the edits come to, if other outputs feed the layer with the finding: the index of the
    input, the position of the producer, and the index of its output."""
    holder: Layer | None = None
    """What `layer` comes to be, if the edits change its port map alone."""

    def replaces(self, finding: Finding) -> bool:
        """Whether the edits replace the element of a finding that is at no layer."""
        return finding.layer is None and any(
            edit.start <= finding.offset < edit.end for edit in self.edits
        )


class Diagnosis(NamedTuple):
    """A cause, the findings that it explains, and the changes that take it back, best first."""

    finding: Finding
    explained: tuple[Finding, ...]
    candidates: tuple[Candidate, ...]
    """Those with edits; none where the cause lies in the .bin."""
    certain: bool
    """Whether the first candidate is the one right answer."""
    parts: int = 1
    """How many causes are told as this one, that have to do with one layer."""
