"""A text without the slips for which it cannot be read, and what else is wrong in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...formats.ir.edits import Edit
from ...model.graph import Finding
from ...model.source import Source
from ...rule_ids import MISSPELT_ELEMENT, STRAY_TEXT, UNKNOWN_ELEMENT
from ..candidate import Diagnosis
from .slip import edited

_BEGINNING = re.compile(rb"<(?:layer|edge|/layers|/edges)\b")
_WIRING = ("IR10", "IR11")
_IN_TEXT = (STRAY_TEXT, UNKNOWN_ELEMENT, MISSPELT_ELEMENT)
_NO_WORDS = re.compile(rb"&\w+;|\W+")


class PutRight(NamedTuple):
    """A text that was put right."""

    source: Source
    unsure: list[tuple[int, int]]
    """The layers and edges in which words were put in or taken away, which may be others."""

    tags: list[tuple[int, int]]
    """The other tags that were put right, of which more may be wrong."""

    removed: set[bytes]
    """What was taken out of the text."""

    def is_removed(self, place: int) -> bool:
        """Whether what stands at a place was taken out of another: the same slip in many places."""
        data = self.source.data
        place += data.startswith(b"<", place)
        return any(data.startswith(words, place) for words in self.removed)

    @property
    def rewired(self) -> bool:
        """Whether one of them is an edge, of which layers elsewhere may tell."""
        return any(self.source.data.startswith(b"<edge", start) for start, _ in self.unsure)

    def apart(self, findings: Iterable[Finding]) -> list[Finding]:
        """The errors and warnings in the text that do not come of how it was put right."""
        return [
            finding
            for finding in findings
            if finding.severity != "info"
            and not (self.rewired and finding.rule.code.startswith(_WIRING))
            and not (finding.rule in _IN_TEXT and self.is_removed(finding.offset))
            and not any(start <= finding.offset < end for start, end in self.tags)
            and not any(
                start <= each.offset < end or (each.layer and each.layer.offset == start)
                for each in (finding, *finding.related)
                for start, end in self.unsure
            )
        ]


def put_right(causes: Sequence[Diagnosis], source: Source, *, same_lines: bool = True) -> PutRight:
    """The text with the likeliest change of each cause."""
    edits = [edit for cause in causes for edit in cause.candidates[0].edits]
    if same_lines:
        edits = [_by_the_same_lines(edit, source.data) for edit in edits]
    text = edited(source.data, edits)
    certain = {
        edit.start for cause in causes if cause.certain for edit in cause.candidates[0].edits
    }
    unsure, tags, longer = [], [], 0
    for start, end, put in sorted(edits):
        old = source.data[start:end]
        lost = old.count(b"<") > put.count(b"<")  # a tag that is read as text
        at, behind = start + longer, start + longer + len(put)
        if start not in certain or lost or _words(old) != _words(put):
            unsure.append(_around(text, at, behind))
        else:
            tags.append((text.rfind(b"<", 0, at + 1), text.find(b">", behind) + 1))
        longer += len(put) - (end - start)
    removed = {source.data[edit.start : edit.end].strip(b" \t\r\n<>") for edit in edits}
    return PutRight(Source(source.path, text, source.encoding), unsure, tags, removed - {b""})


def _words(text: bytes) -> bytes:
    return _NO_WORDS.sub(b"", text)


def _by_the_same_lines(edit: Edit, text: bytes) -> Edit:
    lines = text.count(b"\n", edit.start, edit.end)
    if edit.text.count(b"\n") == lines:
        return edit
    return edit._replace(text=edit.text.replace(b"\n", b" ") + b"\n" * lines)


def _around(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Where the layer or edge begins in which a place lies, and the next one behind another."""
    begin = max(text.rfind(b"<layer ", 0, start + 1), text.rfind(b"<edge ", 0, start + 1))
    behind = _BEGINNING.search(text, max(end, begin + 1))
    return begin, behind.start() if behind is not None else len(text)
