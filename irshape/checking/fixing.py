"""`irshape fix`: applies the cures of the rules that have one right answer, as edits of the bytes.

Each rule says how its findings are cured, and in which phase: ids first, then the names of
attributes, then ports, since each relies on those before it. After each round the text is read and
checked again, until no cure is left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from difflib import SequenceMatcher
from typing import NamedTuple

from ..diagnosis import Diagnosis
from ..diagnosis.text.put_right import put_right
from ..diagnosis.text.several import malformed_causes
from ..diagnostics.report import Diagnostic, diagnostic
from ..formats.ir.edits import Edit, Edited
from ..formats.loading import WeightsChoice, open_model, path_of, read_source, weights_path
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..model.weights import Weights
from ..rule_ids import REPAIRED_XML
from ..rules import Cure
from ..rules.settings import PLAIN, Settings
from ..settings.selection import Filter
from .cures import key_of, next_cures
from .one import MAX_BESIDE, Examination, examine

MAX_ROUNDS = 100
"""How often a text is read again. Real files need five rounds."""


class NotFixableError(ValueError):
    """A file that is no IR, and has no XML to edit."""


class _How(NamedTuple):
    """What is corrected: the settings, whether the likeliest of several changes is made, and the
    codes whose findings stay.
    """

    settings: Settings
    unsafe: bool
    spared: frozenset[str]

    def selection(self, source: Source | None) -> Callable[[Finding], bool]:
        """Whether a finding is to be corrected. Comments in the file silence cures too."""
        selected = Filter(self.settings, source)
        return lambda finding: finding.rule.code not in self.spared and selected.keep(finding)

    def told(self, fixes: Fixes) -> Fixes:
        """The fixes without the findings that stay."""
        fixes.remaining = [each for each in fixes.remaining if each.code not in self.spared]
        fixes.remaining_before = [
            each for each in fixes.remaining_before if each.code not in self.spared
        ]
        fixes.candidates = [
            each for each in fixes.candidates if each.finding.code not in self.spared
        ]
        return fixes


class Alternative(NamedTuple):
    """A change after which a finding is gone, and nothing new is found."""

    edits: tuple[Edit, ...]
    """By byte offset of the original."""
    change: str
    """What the edits do."""
    reason: str
    """Why it is believed."""

    def apply(self, original: bytes) -> bytes:
        """The bytes of the file with the change."""
        return _with_edits(original, self.edits)


class Choice(NamedTuple):
    """A finding, and the changes that could take it back, the likeliest first."""

    finding: Diagnostic
    alternatives: tuple[Alternative, ...]
    certain: bool
    """Whether the first is the one right answer, which `fix` applies unasked."""


def _with_edits(original: bytes, edits: Iterable[Edit]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for start, end, text in sorted(edits):
        parts += (original[at:start], text)
        at = end
    return b"".join((*parts, original[at:]))


class Fixes:
    """What was, or would be, changed in a file. Nothing has been written.

    `fixed` are the findings that the edits remove, at their places in the original. `remaining`
    are those that are left, at their places in the fixed text.
    """

    def __init__(self, path: str, original: bytes, encoding: str) -> None:
        self.path = path
        self.original = original
        self.encoding = encoding
        self.fixed: list[Diagnostic] = []
        self.remaining: list[Diagnostic] = []
        self.remaining_before: list[Diagnostic] = []
        """The same as `remaining`, at their places in the original."""
        self.readable = True
        """Whether the file could be read as an IR at all."""
        self.edits: list[Edit] = []
        """Edits of `original`, by byte offset."""
        self.candidates: list[Choice] = []
        """For each finding whose cause is known, the changes that take it back, best first."""

    def __repr__(self) -> str:
        return f"<Fixes: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """How many findings the edits remove, how many are left, and the edits as a diff."""
        counts = f"{self.path}: {len(self.fixed)} fixed, {len(self.remaining)} left"
        return f"{counts}\n{self.diff()}".rstrip()

    @property
    def data(self) -> bytes:
        """The fixed bytes: those of the original but for the edits."""
        return _with_edits(self.original, self.edits)

    @property
    def text(self) -> str:
        """The fixed text."""
        return self.data.decode(self.encoding, "replace")

    def diff(self) -> str:
        """The changes as a unified diff; empty if there are none."""
        return (
            "".join(_diff(self.path, self.original.decode(self.encoding, "replace"), self.text))
            if self.edits
            else ""
        )


def fix(
    path: str | os.PathLike[str],
    weights: WeightsChoice = "beside",
    *,
    unsafe: bool = False,
    settings: Settings = PLAIN,
    spared: frozenset[str] = frozenset(),
) -> Fixes:
    """Fixes one file. spared: the codes whose findings stay as they are in this file.

    Raises `OSError` if the file cannot be opened, `NotFixableError` if it is no IR.
    """
    how = _How(settings, unsafe, spared)
    name = path_of(path)
    try:
        source, weights_file = open_model(name, weights)
        model = read_source(source, weights_file)
    except NotReadable as unreadable:
        return how.told(_well_formed(unreadable, name, weights, how))
    if not model.format.fixable:
        raise NotFixableError(f"'{name}' is not an IR; only IR files can be fixed")
    if model.source.data != source.data or any(
        finding.rule == REPAIRED_XML for finding in model.findings
    ):  # a layer that is not well-formed as it stands
        remaining = examine(model, settings, as_read=True).findings
        told = [diagnostic(finding, model.source) for finding in remaining]
        return how.told(_untouched(model.source, told))
    return how.told(_fixed(source, model, how))


def _well_formed(unreadable: NotReadable, path: str, weights: WeightsChoice, how: _How) -> Fixes:
    """The slips in the text of a file that cannot be read are taken back, if they are known.

    Then the file can be read, and is fixed as any other.
    """
    source = unreadable.source
    causes = malformed_causes(unreadable)
    findings = [cause.finding for cause in causes] or [unreadable.finding]
    told = [diagnostic(finding, source) for finding in findings]
    fixes = _untouched(source, told)
    fixes.readable = False
    fixes.candidates = [_choice(cause, source) for cause in causes if cause.candidates]
    kept = how.selection(None)
    if not causes or not all(
        cause.candidates and (cause.certain or how.unsafe) and kept(cause.finding)
        for cause in causes
    ):
        return fixes
    whole = put_right(causes, source, same_lines=False)
    try:
        model = read_source(whole.source, weights_path(path, weights))
    except NotReadable:
        return fixes
    examination = examine(model, how.settings, as_read=True)
    count, apart = _told(examination), len(whole.apart(examination.findings))
    if apart > MAX_BESIDE or (count > apart and _graver(examination) - apart > 1):
        return fixes
    rounds = _Rounds(source, model, how)
    rounds.edited.apply(edit for cause in causes for edit in cause.candidates[0].edits)
    rounds.run(examination)
    fixes.readable, fixes.edits = True, rounds.edited.edits
    left = {key_of(finding, rounds.edited.origin(finding.offset)) for finding in rounds.remaining}
    cured = [finding for key, finding in rounds.applied.items() if key not in left]
    fixes.fixed = [*told, *(diagnostic(finding, source) for finding in cured)]
    fixes.remaining = [diagnostic(finding, rounds.model.source) for finding in rounds.remaining]
    fixes.remaining_before = fixes.remaining
    return fixes


def _untouched(source: Source, remaining: list[Diagnostic]) -> Fixes:
    fixes = Fixes(source.path, *_raw(source))
    fixes.remaining = fixes.remaining_before = remaining
    return fixes


def _fixed(source: Source, model: Model, how: _How) -> Fixes:
    rounds = _Rounds(source, model, how)
    rounds.run(examine(model, how.settings, as_read=True))
    edited, remaining = rounds.edited, rounds.remaining
    fixes = Fixes(source.path, *_raw(source))
    fixes.edits = _raw_edits(source, edited.edits)
    fixes.candidates = [_choice(diagnosis, source) for diagnosis in rounds.diagnoses]
    left = {key_of(finding, edited.origin(finding.offset)) for finding in remaining}
    fixes.fixed = [
        diagnostic(finding, source)
        for key, finding in sorted(rounds.applied.items(), key=lambda item: item[1].offset)
        if key not in left
    ]
    after = rounds.model.source
    fixes.remaining = [diagnostic(finding, after) for finding in remaining]
    fixes.remaining_before = [
        diagnostic(finding._replace(offset=edited.origin(finding.offset)), source)
        for finding in remaining
    ]
    return fixes


def _choice(diagnosis: Diagnosis, source: Source) -> Choice:
    alternatives = tuple(
        Alternative(
            tuple(_raw_edits(source, sorted(candidate.edits))), candidate.change, candidate.cause
        )
        for candidate in diagnosis.candidates
    )
    return Choice(diagnostic(diagnosis.finding, source), alternatives, diagnosis.certain)


class _Rounds:
    """The rounds of fixing one file: each reads and checks the text, and applies what it can.

    A round after which there are more errors and warnings than before is taken back.
    """

    def __init__(self, source: Source, model: Model, how: _How) -> None:
        self.source = source
        self.how = how
        self.edited = Edited(source.data)
        self.model = model
        self.applied: dict[tuple[object, ...], Finding] = {}
        self.remaining: list[Finding] = []
        self.diagnoses: list[Diagnosis] = []
        """The causes in the original."""

    def run(self, before: Examination) -> None:
        """before: the findings in the text that the first round begins with."""
        encoding = "utf-8" if self.source.raw is None else "utf-8-sig"
        self.remaining, self.diagnoses = before.findings, before.diagnoses
        for _ in range(MAX_ROUNDS):
            cures = self.next_cures(before)
            if not cures:
                return
            edited = copy(self.edited)
            edited.apply(edit for cure in cures for edit in cure.edits)
            try:
                model = _read(
                    Source(self.source.path, edited.data, encoding), self.model, self.model.weights
                )
            except NotReadable:
                return
            after = examine(model, self.how.settings, as_read=True)
            if _told(after) > _told(before) or _graver(after) > _graver(before):
                return
            places = [self.edited.origin(cure.finding.offset) for cure in cures]
            for cure, place in zip(cures, places, strict=True):
                self.applied.setdefault(
                    key_of(cure.finding, place), cure.finding._replace(offset=place)
                )
            self.edited, self.model, self.remaining, before = edited, model, after.findings, after

    def next_cures(self, examination: Examination) -> list[Cure]:
        """What takes back the causes that are known; where there is none, the cures of rules."""
        selection = self.how.selection(examination.context.model.source)
        chosen = [
            Cure(diagnosis.finding, diagnosis.candidates[0].edits)
            for diagnosis in examination.diagnoses
            if diagnosis.candidates
            and (diagnosis.certain or self.how.unsafe)
            and selection(diagnosis.finding)
        ]
        if chosen:
            return chosen
        return next_cures(
            examination.context, examination.findings, examination.diagnoses, selection
        )


def _told(examination: Examination) -> int:
    """How many errors and warnings are told."""
    return sum(finding.severity != "info" for finding in examination.findings)


def _graver(examination: Examination) -> int:
    """How many there are, those that are told as one counted one by one."""
    return _told(examination) + sum(each.parts - 1 for each in examination.diagnoses)


def _read(source: Source, before: Model, weights: Weights | None) -> Model:
    """The edited text, with the weights that were opened for the original."""
    model = read_source(source, None)
    if before.kind == "net":
        model.weights = weights
    return model


def _raw(source: Source) -> tuple[bytes, str]:
    """The bytes of the file and their encoding; UTF-16 was converted when the file was opened."""
    if source.raw is None:
        return source.data, source.encoding
    return source.raw, "utf-16"


def _raw_edits(source: Source, edits: list[Edit]) -> list[Edit]:
    """The edits by offset in the bytes of the file."""
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


# diff


def _diff(path: str, before: str, after: str, around: int = 3) -> Iterator[str]:
    """A unified diff. Only lines around changes are compared: a model has many, and few change."""
    old, new = before.split("\n"), after.split("\n")
    blocks = list(_blocks(old, new))
    yield f"--- {_shown(path)}\n+++ {_shown(path)}\n"
    while blocks:
        hunk = [blocks.pop(0)]
        while blocks and blocks[0][0] - hunk[-1][1] <= 2 * around:
            hunk.append(blocks.pop(0))
        (first, _, first_new, _), (_, last, _, last_new) = hunk[0], hunk[-1]
        lead = min(around, first)
        tail = min(around, _lines(old) - last)
        counts = [last - first + lead + tail, last_new - first_new + lead + tail]
        starts = [first - lead + (counts[0] > 0), first_new - lead + (counts[1] > 0)]
        yield (
            "@@ -"
            + " +".join(
                f"{start},{count}" if count != 1 else str(start)
                for start, count in zip(starts, counts, strict=True)
            )
            + " @@\n"
        )
        at = first - lead
        for a, b, c, d in hunk:
            yield from (_line(" ", old, i) for i in range(at, a))
            yield from (_line("-", old, i) for i in range(a, b))
            yield from (_line("+", new, i) for i in range(c, d))
            at = b
        yield from (_line(" ", old, i) for i in range(at, last + tail))


def _lines(lines: list[str]) -> int:
    return len(lines) - (not lines[-1])


def _line(mark: str, lines: list[str], at: int) -> str:
    ending = "" if at < len(lines) - 1 else "\\ No newline at end of file\n"
    return f"{mark}{lines[at]}\n{ending}"


def _blocks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where the lines differ: from and to in the old ones, from and to in the new ones."""
    a = c = 0
    while a < len(old) or c < len(new):
        if a < len(old) and c < len(new) and old[a] == new[c]:
            a, c = a + 1, c + 1
            continue
        rest_old, rest_new, window = len(old) - a, len(new) - c, 4
        while True:  # the nearest place from which the lines agree again
            window = min(window * 2, max(rest_old, rest_new))
            match = SequenceMatcher(
                None, old[a : a + window], new[c : c + window], autojunk=False
            ).get_opcodes()
            same = next(
                (
                    (i, j)
                    for how, i, k, j, _ in match
                    if how == "equal" and (k - i >= 3 or (a + k == len(old)))
                ),
                None,
            )
            if same is not None or window >= max(rest_old, rest_new):
                i, j = same if same is not None else (rest_old, rest_new)
                break
        yield a, a + i, c, c + j
        a, c = a + i, c + j


def _shown(path: str) -> str:
    from ..diagnostics.renderers.common import plain

    return plain(path)
