"""Describes a change of a file: its edits and their effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
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


class Words(NamedTuple):
    """The texts for a kind of change. The defaults describe a changed attribute."""

    replace: str = '{subject}="{after}" in place of "{before}"'
    wrong: str = '{subject}="{before}" should be "{after}"'
    """The text for the cause, if the change replaces something."""
    part: str = '{subject}="{part}"'
    """The text for a part that the change adds or removes."""


_ATTRIBUTE: Final = Words()
_WORDS: Final[dict[Kind, Words]] = {
    "edge": Words(part="{part}"),
    "text": Words(part="{part}"),
    "exchange": Words(
        "exchange the edges into ports {before} and {after}",
        "the edges into ports {before} and {after} are swapped",
    ),
    "name": Words("{subject} in place of {before}", "{before} should be {after}"),
    "value": Words(
        "{after} in place of {before} in {subject}", "{before} in {subject} should be {after}"
    ),
    "weights": Words("{after} in place of {before} in {subject}", "{subject}"),
}


class Change(NamedTuple):
    """One change of the text of a file. `__str__` describes it in words."""

    kind: Kind
    edits: tuple[Edit, ...]
    offset: int
    """The offset of the changed element or attribute."""
    layer: Layer | None
    subject: str
    """The name of the changed attribute, or of the part that changes, e.g. `edge`."""
    before: str | None
    """The old text; None if something is added."""
    after: str | None
    """The new text; None if something is removed."""
    cost: float = 1.0
    """Of changes that remove equally many findings, the one with the lowest cost is likeliest."""
    exact: bool = False
    """Whether the change gives the layer exactly the outputs that its ports declare."""
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
        return self.written("add {part}", "remove {part}", self.words.replace)

    @property
    def words(self) -> Words:
        """The texts for this kind of change."""
        return _WORDS.get(self.kind, _ATTRIBUTE)

    def written(self, added: str, removed: str, replaced: str) -> str:
        """Returns the text for an added, removed or replaced part, with the facts filled in."""
        subject, before, after = self.subject, self.before, self.after
        form = added if before is None else removed if after is None else replaced
        part = self.words.part.format(subject=subject, part=after if before is None else before)
        return form.format(subject=subject, before=before, after=after, part=part)


class Cause(NamedTuple):
    """A change that removes findings and adds none."""

    change: Change
    explained: tuple[Finding, ...]
    applicability: Applicability

    @property
    def message(self) -> str:
        """The text after `possible cause:` in reports."""
        wrong = self.change.words.wrong
        return self.change.written("{part} is missing", "{part} is superfluous", wrong)


class Lead(NamedTuple):
    """A finding to report, with what the search for its causes found."""

    finding: Finding
    """Its `related` are the other findings that the likeliest cause removes."""
    causes: tuple[Cause, ...] = ()
    """At most three, likeliest first."""
    tried: tuple[Trial, ...] = ()
    """The changes that were tried for the finding and its related findings."""
