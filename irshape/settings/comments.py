"""Reads comments in a file that silence findings: `<!-- irshape: disable=IR304 -->`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from ..faults import Fault
from ..model.graph import Finding
from ..model.source import Source
from ..rule_ids import MISPLACED_SUPPRESSION, UNKNOWN_SUPPRESSION, UNUSED_SUPPRESSION
from ..rules import all_rules
from ..rules.settings import CustomRule
from .selectors import MARK, covered, similar_rule

_TOKEN = re.compile(
    rb"""<!--(?:(?P<comment>.*?)-->|.*+)|<!\[CDATA\[(?:.*?\]\]>|.*+)|<\?(?:.*?\?>|.*+)|(?P<end></layer\s*+>)"""
    rb"""|<(?P<layer>layer)(?=[\s/>])(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>|<(?P<element>[A-Za-z.])""",
    re.DOTALL,
)
"""Matches comments, and the tags of layers, in one pass.

An unclosed comment or CDATA section extends to the end of the file."""
_DIRECTIVE = re.compile(
    r"\s*+irshape:\s*+(?P<verb>[\w-]*+)\s*+(?:=\s*+(?P"
    r"<codes>[\w-]++(?:\s*+,\s*+[\w-]++)*+)\s*+)?(?::.*)?",
    re.DOTALL,
)

Suppression = tuple[int, str, frozenset[str]]
"""A selector in a comment: the comment's byte offset, the selector's text, and its codes."""


class Scope:
    """The comments of one layer, or of the whole file, and the codes that they silence.

    `end` is None for a layer without an end tag. hits: the codes of the silenced findings.
    """

    __slots__ = ("codes", "end", "hits", "outer", "start", "suppressions")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end: int | None = None
        self.suppressions: list[Suppression] = []
        self.codes: set[str] = set()
        self.hits: set[str] = set()
        self.outer: Scope | None = None

    def add(self, suppressions: list[Suppression]) -> None:
        self.suppressions += suppressions
        self.codes.update(*(covers for _, _, covers in suppressions))

    def silences(self, code: str) -> bool:
        """Returns whether the comments silence a code. If so, adds the code to `hits`."""
        if code not in self.codes:
            return False
        self.hits.add(code)
        return True


class Comments:
    """The comments of a file that silence findings, and the findings about faulty comments.

    A file without such comments is only searched once, for `irshape:`.
    """

    def __init__(self, source: Source, custom: tuple[CustomRule, ...] = ()) -> None:
        self.custom = custom
        self.findings: list[Finding] = []
        self.whole = Scope(0)
        self.layers: list[Scope] = []
        """The `Scope`s of layers, sorted by start. An inner layer follows the layer around it."""
        if MARK in source.data:
            self._read(source)
            self.layers.sort(key=lambda scope: scope.start)
            outer: Scope | None = None
            for scope in self.layers:
                while outer is not None and outer.end is not None and outer.end <= scope.start:
                    outer = outer.outer
                scope.outer, outer = outer, scope
        self._starts = [scope.start for scope in self.layers]

    def _read(self, source: Source) -> None:
        layers: list[tuple[int, Scope | None]] = []
        inside = False
        for token in _TOKEN.finditer(source.data):
            if token["layer"]:
                inside = True
                if not token[0].endswith(b"/>"):
                    layers.append((token.start(), None))
            elif token["end"]:
                scope = layers.pop()[1] if layers else None
                if scope is not None:
                    scope.end = token.end()
            elif token["element"]:
                inside = True
            elif token["comment"] is not None and token["comment"].lstrip().startswith(MARK):
                text = token["comment"].decode(source.encoding, "replace")
                parsed = self._parsed(text, token.start())
                if parsed is None:
                    continue
                suppressions, wide = parsed
                if wide or not inside:
                    self.whole.add(suppressions)
                elif layers:
                    start, scope = layers[-1]
                    if scope is None:
                        scope = Scope(start)
                        layers[-1] = (start, scope)
                        self.layers.append(scope)
                    scope.add(suppressions)
                else:
                    message = "this comment silences nothing: it is not inside a layer"
                    hint = (
                        "put the comment inside the layer; to disable a rule for the whole file, "
                        "put the comment before the first element, or write disable-file"
                    )
                    fault = Fault(MISPLACED_SUPPRESSION, message, help=hint)
                    self.findings.append(Finding(fault, token.start()))

    def _parsed(self, text: str, offset: int) -> tuple[list[Suppression], bool] | None:
        """Returns the selectors of a comment, and whether it says `disable-file`; None if the
        comment is malformed. Records faults of the comment as findings."""
        match = _DIRECTIVE.fullmatch(text)
        if match is None or match["verb"] not in ("disable", "disable-file") or not match["codes"]:
            hint = (
                "write <!-- irshape: disable=IR304 --> inside a layer, or <!-- irshape: "
                "disable-file=IR304 -->"
            )
            self._unknown(offset, "irshape does not understand the comment", text, hint)
            return None
        suppressions = []
        for name in match["codes"].split(","):
            selector = name.strip()
            covers = frozenset(covered(selector, self.custom))
            if covers:
                suppressions.append((offset, selector, covers))
            else:
                suggest = len(self.findings) < MAX_SUGGESTIONS and len(selector) < 60
                close = similar_rule(selector) if suggest else ""
                hint = "correct the code; `irshape rule` lists all codes"
                self._unknown(offset, "there is no rule", selector, hint, close)
        return suppressions, match["verb"] == "disable-file"

    def _unknown(self, offset: int, says: str, text: str, hint: str, close: str = "") -> None:
        text = " ".join(text[:200].split())
        text = text if len(text) <= 60 else text[:57] + "…"
        fault = Fault(UNKNOWN_SUPPRESSION, f"{says} '{text}'{close}", actual=text, help=hint)
        self.findings.append(Finding(fault, offset))

    def silence(self, code: str, problem: Finding) -> bool:
        """Returns whether a comment silences a finding.

        The comment may belong to the file, to the layer of the finding, or to a layer around it.
        """
        silenced = self.whole.silences(code)
        if self.layers:
            places = (
                {problem.offset}
                if problem.layer is None
                else {problem.offset, problem.layer.offset}
            )
            for place in places:
                at = bisect_right(self._starts, place) - 1
                scope = self.layers[at] if at >= 0 else None
                while scope is not None:
                    if scope.end is None or place < scope.end:
                        silenced |= scope.silences(code)
                    scope = scope.outer
        return silenced

    def unused(self, enabled: frozenset[str] | None) -> Iterator[Finding]:
        """Yields a finding for each selector that silences nothing though one of its rules ran."""
        asked = (
            enabled
            if enabled is not None
            else frozenset(rule.code for rule in all_rules() if rule.default)
        )
        for scope in (self.whole, *self.layers):
            where = "in this file" if scope is self.whole else "in this layer"
            for offset, text, covers in scope.suppressions:
                if not covers & scope.hits and covers & asked:
                    message = f"the comment silences {text}, but there is no such finding {where}"
                    hint = "remove the code from the comment"
                    fault = Fault(UNUSED_SUPPRESSION, message, actual=text, help=hint)
                    yield Finding(fault, offset)


MAX_SUGGESTIONS = 50
"""The largest number of misspelt codes in one file for which a similar code is suggested."""
