"""Implements `irshape fix`: applies safe changes, on request also unsafe ones, and fixes ports.

After each round of changes, `fix` reads and checks the text again, until no change is left.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from ..diagnostics.report import Diagnostic, diagnostic
from ..formats.ir.edits import Edit, Edited, with_edits
from ..formats.loading import WeightsChoice, open_model, path_of, read_source, weights_path
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..rule_ids import REPAIRED_XML
from ..rules.settings import PLAIN, Settings
from .diagnosis import Diagnosis, Fix, diagnose, fix_of
from .diff import unified
from .ports import port_edits
from .proof import key_of, with_text

MAX_ROUNDS = 40
"""The largest number of rounds of fixes. Real files need two to five."""
READINGS_IN_ALL = 60
"""The largest number of times that a file is read to test changes, in all rounds together."""


class NotFixableError(ValueError):
    """Raised for a file that is not an IR, and so has no XML to edit."""


class Choice(NamedTuple):
    """A finding, and the changes that can remove it, best first."""

    finding: Diagnostic
    alternatives: tuple[Fix, ...]

    @property
    def certain(self) -> bool:
        """Whether `fix` makes the first change by default."""
        return self.alternatives[0].applicability == "safe"


class Fixes:
    """The changes that fix a file, before they are written to the file.

    `fixed`: the findings that the changes remove, with line numbers of the original file.
    `remaining`: the other findings, except those of `spared` codes, with line numbers of the fixed
    text.
    """

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.original = source.data if source.raw is None else source.raw
        self.encoding = source.encoding if source.raw is None else "utf-16"
        self.fixed: list[Diagnostic] = []
        self.remaining: list[Diagnostic] = []
        self.remaining_before: list[Diagnostic] = []
        """The findings that remain, with the line numbers of the original file."""
        self.readable = True
        """Whether irshape could read the file as an IR."""
        self.edits: list[Edit] = []
        """The edits of `original`, by byte offset."""
        self.candidates: list[Choice] = []
        """The findings of the original that can be fixed, each with its changes, best first."""

    def __repr__(self) -> str:
        return f"<Fixes: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """Returns the numbers of fixed and remaining findings, and the edits as a diff."""
        left = sum(len(each.whole) for each in self.remaining)
        counts = f"{self.path}: {len(self.fixed)} fixed, {left} left"
        return f"{counts}\n{self.diff()}".rstrip()

    @property
    def data(self) -> bytes:
        """The bytes of the original with the edits applied."""
        return with_edits(self.original, self.edits)

    @property
    def text(self) -> str:
        """The fixed text."""
        return self.data.decode(self.encoding, "replace")

    def diff(self) -> str:
        """Returns the changes as a unified diff; an empty text if there are none."""
        before = self.original.decode(self.encoding, "replace")
        return "".join(unified(self.path, before, self.text)) if self.edits else ""


class _How(NamedTuple):
    """How to fix a file: the settings, whether to make unsafe changes, and codes not to fix."""

    settings: Settings
    unsafe: bool
    spared: frozenset[str]

    def fixes(self, finding: Finding) -> bool:
        """Returns whether to fix a finding."""
        return finding.rule.code not in self.spared


def fix(
    path: str | os.PathLike[str],
    weights: WeightsChoice = "beside",
    *,
    unsafe: bool = False,
    settings: Settings = PLAIN,
    spared: frozenset[str] = frozenset(),
) -> Fixes:
    """Returns the fixes of one file. spared: codes whose findings are neither fixed nor listed.

    Raises `OSError` if the file cannot be opened, `NotFixableError` if it is not an IR.
    """
    name = path_of(path)
    how = _How(settings, unsafe, spared)
    try:
        source, weights_file = open_model(name, weights)
        model = read_source(source, weights_file)
    except NotReadable as unreadable:
        return _of_text(unreadable, name, weights, how)
    if not model.format.is_ir:
        raise NotFixableError(f"'{name}' is not an IR; only IR files can be fixed")
    if model.source.data != source.data or any(
        each.rule == REPAIRED_XML for each in model.findings
    ):  # single layers that were not well-formed
        return _untouched(model.source, diagnose(model, settings).findings, how)
    return _rounds(source, model, Edited(source.data), how)


def _untouched(source: Source, findings: list[Finding], how: _How) -> Fixes:
    fixes = Fixes(source)
    kept = filter(how.fixes, findings)
    fixes.remaining = fixes.remaining_before = [diagnostic(each, source) for each in kept]
    return fixes


def _of_text(unreadable: NotReadable, name: str, weights: WeightsChoice, how: _How) -> Fixes:
    """Returns the repair of a text that is not well-formed and, if the repaired file can be read,
    further fixes."""
    from .text import cause_of

    source, finding = unreadable.source, unreadable.finding
    fixes = _untouched(source, [finding], how)
    fixes.readable = False
    cause = cause_of(unreadable) if fixes.remaining else None
    if cause is None:
        return fixes
    told = diagnostic(finding, source)
    fixes.candidates = [_choice(told, [fix_of(cause)], source)]
    if not (how.unsafe or cause.applicability == "safe"):
        return fixes
    edited = Edited(source.data)
    edited.apply(cause.change.edits)
    try:
        model = read_source(with_text(source, edited.data), weights_path(name, weights))
    except NotReadable:
        return fixes
    rest = _rounds(source, model, edited, how)
    rest.fixed, rest.candidates = [told, *rest.fixed], [*fixes.candidates, *rest.candidates]
    return rest


def _rounds(source: Source, model: Model, edited: Edited, how: _How) -> Fixes:
    """Fixes a model in rounds, and returns all fixes. edited: the text with the edits so far.

    Undoes a round that increases the number of errors and warnings, except a round that only fixes
    ports: correct ports may reveal further findings.
    """
    first = diagnosis = diagnose(model, how.settings)
    fixes = Fixes(source)
    if edited.data == source.data:
        fixes.candidates = [
            _choice(diagnostic(lead.finding, source), changes, source)
            for lead in first.leads
            if how.fixes(lead.finding) and (changes := first.fixes(lead))
        ]
    before = [_moved(each, edited) for each in first.whole]
    readings = READINGS_IN_ALL - first.readings
    for _ in range(MAX_ROUNDS):
        edits = _of_causes(diagnosis, how)
        only_ports = not edits
        edits = edits or _of_ports(diagnosis, how)
        if not edits:
            break
        trial = Edited(source.data)
        trial.apply(edited.edits)
        trial.apply(edits)
        try:
            after = read_source(with_text(source, trial.data), None)
        except NotReadable:
            break
        if model.kind == "net":
            after.weights = model.weights
        result = diagnose(after, how.settings, readings=max(readings, 0))
        readings -= result.readings
        more = result.graver > diagnosis.graver and not only_ports
        if more or trial.data == edited.data:
            break
        edited, diagnosis = trial, result
    fixes.edits = _raw_edits(source, edited.edits)
    left = {key_of(each, edited.origin(each.offset)) for each in diagnosis.whole}
    if fixes.edits:
        gone = [each for each in before if key_of(each, each.offset) not in left]
        fixes.fixed = [diagnostic(each, source) for each in gone]
    kept = list(filter(how.fixes, diagnosis.findings))
    fixes.remaining = [diagnostic(each, diagnosis.context.model.source) for each in kept]
    fixes.remaining_before = [
        diagnostic(
            _moved(each, edited)._replace(
                related=tuple(_moved(other, edited) for other in each.related)
            ),
            source,
        )
        for each in kept
    ]
    return fixes


def _moved(finding: Finding, edited: Edited) -> Finding:
    """Returns a finding with its offset in the original file, without related findings."""
    return finding._replace(offset=edited.origin(finding.offset), related=())


def _of_causes(diagnosis: Diagnosis, how: _How) -> list[Edit]:
    """Returns the edits of the causes to fix: for each finding, the first with a safe change or,
    with `unsafe`, the first with any change."""
    chosen: list[Edit] = []
    wanted = ("safe", "unsafe") if how.unsafe else ("safe",)
    for lead in diagnosis.leads:
        best = next((each for each in lead.causes if each.applicability in wanted), None)
        if best is not None and how.fixes(lead.finding):
            chosen += best.change.edits
    return chosen


def _of_ports(diagnosis: Diagnosis, how: _How) -> list[Edit]:
    """Returns the edits that make ports declare what OpenVINO infers."""
    findings = list(filter(how.fixes, diagnosis.whole))
    edits = port_edits(diagnosis.context, findings, diagnosis.doubted)
    return list(dict.fromkeys(edit for each in edits.values() for edit in each))


def _choice(told: Diagnostic, fixes: list[Fix], source: Source) -> Choice:
    return Choice(
        told,
        tuple(each._replace(edits=tuple(_raw_edits(source, sorted(each.edits)))) for each in fixes),
    )


def _raw_edits(source: Source, edits: list[Edit]) -> list[Edit]:
    """Returns edits of the UTF-8 text as edits of the file's bytes, which may be UTF-16."""
    if source.raw is None:
        return edits
    wide = "utf-16-le" if source.raw[:2] == b"\xff\xfe" else "utf-16-be"
    raw_edits, at, place = [], 0, 2
    for start, end, text in edits:
        place += len(source.data[at:start].decode().encode(wide))
        past = place + len(source.data[start:end].decode().encode(wide))
        raw_edits.append(Edit(place, past, text.decode().encode(wide)))
        at, place = end, past
    return raw_edits
