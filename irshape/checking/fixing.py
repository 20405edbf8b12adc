"""`irshape fix`: applies the cures of the rules that have one right answer, as edits of the bytes.

Each rule says how its findings are cured, and in which phase: ids first, then the names of
attributes, then ports, since each relies on those before it. After each round the text is read and
checked again, until no cure is left.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import SequenceMatcher

from ..diagnostics.report import Diagnostic, diagnostic
from ..formats.ir.edits import Edit, Edited
from ..formats.loading import WeightsChoice, open_model, read_source
from ..model.graph import Finding, Model, NotReadable
from ..model.source import Source
from ..model.weights import Weights
from ..rule_ids import REPAIRED_XML
from ..rules import PHASES, Context, Cure, all_rules
from ..rules.settings import PLAIN
from ..settings.selection import Filter
from .one import examine

MAX_ROUNDS = 100
"""How often a text is read again. Real files need five rounds."""


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

    @property
    def data(self) -> bytes:
        """The fixed bytes: those of the original but for the edits."""
        parts: list[bytes] = []
        at = 0
        for start, end, text in self.edits:
            parts += (self.original[at:start], text)
            at = end
        return b"".join((*parts, self.original[at:]))

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


def fix(path: str | os.PathLike[str], weights: WeightsChoice = "beside") -> Fixes:
    """`irshape.fix`."""
    name = os.fspath(path)
    try:
        source, weights_file = open_model(name, weights)
        model = read_source(source, weights_file)
    except NotReadable as unreadable:
        fixes = _untouched(unreadable.source, [diagnostic(unreadable.finding, unreadable.source)])
        fixes.readable = False
        return fixes
    if not model.format.fixable:
        raise ValueError(f"'{name}' is not an IR; only IR files can be fixed")
    if model.source.data != source.data or any(
        finding.rule == REPAIRED_XML for finding in model.findings
    ):
        remaining, _ = examine(model)  # a layer that is not well-formed as it stands
        diagnostics = [diagnostic(finding, model.source) for finding in remaining]
        return _untouched(model.source, diagnostics)
    return _fixed(source, model)


def _untouched(source: Source, remaining: list[Diagnostic]) -> Fixes:
    fixes = Fixes(source.path, *_raw(source))
    fixes.remaining = fixes.remaining_before = remaining
    return fixes


def _fixed(source: Source, model: Model) -> Fixes:
    edited = Edited(source.data)
    weights = model.weights
    applied: dict[tuple[object, ...], Finding] = {}
    for turn in range(MAX_ROUNDS + 1):
        remaining, context = examine(model)
        cures = _next_cures(context, remaining)
        if not cures or turn == MAX_ROUNDS:
            break
        places = [edited.origin(cure.finding.offset) for cure in cures]
        edited.apply(edit for cure in cures for edit in cure.edits)
        for cure, place in zip(cures, places, strict=True):
            applied.setdefault(_key(cure.finding, place), cure.finding._replace(offset=place))
        encoding = "utf-8" if source.raw is None else "utf-8-sig"
        model = _read(Source(source.path, edited.data, encoding), model, weights)
    fixes = Fixes(source.path, *_raw(source))
    fixes.edits = _raw_edits(source, edited.edits)
    left = {_key(finding, edited.origin(finding.offset)) for finding in remaining}
    fixes.fixed = [
        diagnostic(finding, source)
        for key, finding in sorted(applied.items(), key=lambda item: item[1].offset)
        if key not in left
    ]
    after = model.source
    fixes.remaining = [diagnostic(finding, after) for finding in remaining]
    fixes.remaining_before = [
        diagnostic(finding._replace(offset=edited.origin(finding.offset)), source)
        for finding in remaining
    ]
    return fixes


def _read(source: Source, before: Model, weights: Weights | None) -> Model:
    """The edited text, with the weights that were opened for the original."""
    model = read_source(source, None)
    if before.kind == "net":
        model.weights = weights
    return model


def _key(finding: Finding, place: int) -> tuple[object, ...]:
    layer = finding.layer
    return (finding.rule, place, layer.path if layer is not None else None, finding.port)


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


def _next_cures(context: Context, findings: list[Finding]) -> list[Cure]:
    """The cures of the first phase that has any. Comments in the file silence cures too."""
    selection = Filter(PLAIN, context.model.source)
    for phase in PHASES:
        cures = [
            cure
            for rule in all_rules()
            if rule.phase == phase
            for cure in rule.cures(context, findings)
            if selection.keep(cure.finding)
        ]
        if cures:
            return cures
    return []


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
