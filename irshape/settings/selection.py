"""Which rules are asked, and which findings stay: selectors, ignores by file, and comments in a file.

A selector is a code (`IR201`), the beginning of one (`IR2`), a name (`output-shape-mismatch`), or `ALL`. Where one selects and another ignores, the more exact one decides, and of
two that are as exact the ignoring one. A later layer of settings (the command line) goes over an earlier one (the configuration).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .configuration import Configuration, ConfigurationError, Policy, matches, suggestion

if TYPE_CHECKING:
    from ..model import Problem, Source
    from ..releases import Release
    from ..rules.base import Rule


class Settings(NamedTuple):
    """What the check of one file depends on beside the file.

    enabled: the codes of the rules whose findings are reported, None for those of the rules that are asked by default. ignored: the codes that a selector ignores outright; of
    what keeps a file from being read, only these are left out.
    """

    enabled: frozenset[str] | None = None
    ignored: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    """The codes of opt-in rules to ask."""
    target: Release | None = None
    extensions: tuple[str, ...] = ()
    policies: tuple[Policy, ...] = ()
    comments: bool = True


PLAIN = Settings()

FATAL = frozenset(("malformed-xml", "doctype", "not-an-ir", "size-limit", "nesting-limit", "ir-version", "unreadable-file", "internal-error"))
"""Rules about a file that was not checked: selecting others does not turn them off, ignoring them does."""


def settings(configuration: Configuration, path: str = "", *, over: Configuration | None = None, also: Iterable[str] = ()) -> Settings:
    """The settings for a file. over: those of the command line. Raises `ConfigurationError` for a selector that is none."""
    layers = [configuration] if over is None else [configuration, over]
    extra = tuple(also)
    plain = all(layer.select is None and not layer.extend_select and not layer.ignore for layer in layers) and not extra
    enabled: frozenset[str] | None = None
    ignored: frozenset[str] = frozenset()
    opted: frozenset[str] = frozenset()
    if not plain:
        from ..rules import all_rules

        if extra:
            layers[-1] = layers[-1]._replace(extend_select=layers[-1].extend_select + extra)
        enabled, ignored = _chosen(layers)
        opted = frozenset(rule.code for rule in all_rules() if not rule.default and rule.code in enabled)
    return Settings(enabled, ignored, opted, configuration.target, configuration.extensions, configuration.policies_for(path), configuration.comments)


def _chosen(layers: Sequence[Configuration]) -> tuple[frozenset[str], frozenset[str]]:
    from ..rules import all_rules

    rules = all_rules()
    state = {rule.code: rule.default for rule in rules}
    ignored: set[str] = set()
    for layer in layers:
        if layer.select is not None:
            state = dict.fromkeys(state, False)
            ignored.clear()
        moves: list[tuple[int, bool, str]] = []
        for on, selectors in ((True, (*(layer.select or ()), *layer.extend_select)), (False, layer.ignore)):
            check_selectors(selectors, layer.path or "")
            moves += [(_exactness(selector), not on, selector) for selector in selectors]
        for _, off, selector in sorted(moves):
            for code in covered(selector):
                state[code] = not off
                (ignored.add if off else ignored.discard)(code)
    return frozenset(code for code, on in state.items() if on), frozenset(ignored)


def _exactness(selector: str) -> int:
    if selector == "ALL":
        return 0
    return len(selector) if re.fullmatch(_PREFIX, selector) else 5


_PREFIX = r"IR[0-9]{0,3}"


@lru_cache(maxsize=4096)
def covered(selector: str) -> list[str]:
    """The codes of the rules that a selector covers; none for one that means nothing."""
    from ..rules import all_rules

    rules = all_rules()
    if selector == "ALL":
        return [rule.code for rule in rules]
    if re.fullmatch(_PREFIX, selector):
        return [rule.code for rule in rules if rule.code.startswith(selector)]
    return [rule.code for rule in rules if rule.name == selector]


def check_selectors(selectors: Iterable[str], where: str = "") -> None:
    """Raises `ConfigurationError` for a selector that covers no rule. The families of a user's own rules may be empty."""
    for selector in selectors:
        if not covered(selector) and selector != "IR9":
            from ..rules import all_rules

            known = [text for rule in all_rules() for text in (rule.code, rule.name)]
            place = f"{where}: " if where else ""
            close = suggestion(selector, known) or suggestion(selector.upper(), known)
            raise ConfigurationError(f"{place}there is no rule '{selector}'{close or '; `irshape rule` lists them'}")


def ignored_in(path: str, configuration: Configuration) -> frozenset[str]:
    """The codes that `per-file-ignores` takes out of a file."""
    return frozenset(
        code
        for pattern, selectors in configuration.per_file_ignores
        if matches(pattern, path, configuration.root)
        for selector in selectors
        for code in covered(selector)
    )


# Comments in a file

MARK = b"irshape:"


@cache
def _token() -> re.Pattern[bytes]:
    """Comments, and the tags of layers. What is not closed takes the rest of the file, so a search is one pass."""
    return re.compile(
        rb"""<!--(?:(?P<comment>.*?)-->|.*+)|<!\[CDATA\[(?:.*?\]\]>|.*+)|<\?(?:.*?\?>|.*+)|(?P<end></layer\s*+>)"""
        rb"""|<(?P<layer>layer)(?=[\s/>])(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>|<(?P<element>[A-Za-z.])""",
        re.DOTALL,
    )


@cache
def _directive() -> re.Pattern[str]:
    return re.compile(r"\s*+irshape:\s*+(?P<verb>[\w-]*+)\s*+(?:=\s*+(?P<codes>[\w-]++(?:\s*+,\s*+[\w-]++)*+)\s*+)?(?::.*)?", re.DOTALL)


class Suppression(NamedTuple):
    """A comment that silences: `<!-- irshape: disable=IR305,IR2: the reason -->`. codes: each selector, and the codes of the rules that it covers."""

    offset: int
    codes: list[tuple[str, frozenset[str]]]


class Scope:
    """What the comments of one layer, or of the whole file, silence; `end` is None where the layer has none. hits: the codes of what they have silenced."""

    __slots__ = ("codes", "comments", "end", "hits", "outer", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end: int | None = None
        self.comments: list[Suppression] = []
        self.codes: set[str] = set()
        self.hits: set[str] = set()
        self.outer: Scope | None = None

    def add(self, comment: Suppression) -> None:
        self.comments.append(comment)
        for _, covers in comment.codes:
            self.codes |= covers

    def silences(self, code: str) -> bool:
        """Whether it silences a finding of a code; notes that it has."""
        if code not in self.codes:
            return False
        self.hits.add(code)
        return True


class Comments:
    """The comments of a file that silence findings, and what is wrong with some. A file without the word costs one search."""

    def __init__(self, source: Source) -> None:
        self.problems: list[Problem] = []
        self.whole = Scope(0)
        self.layers: list[Scope] = []
        """By where they start; an inner one comes after the one around it."""
        if MARK in source.data:
            self._read(source)
            self.layers.sort(key=lambda scope: scope.start)
            outer: Scope | None = None
            for scope in self.layers:
                while outer is not None and outer.end is not None and outer.end <= scope.start:
                    outer = outer.outer
                scope.outer, outer = outer, scope
        self._starts = [scope.start for scope in self.layers]

    def __bool__(self) -> bool:
        return bool(self.whole.comments or self.layers or self.problems)

    def _read(self, source: Source) -> None:
        from ..model import Problem

        layers: list[tuple[int, Scope | None]] = []
        inside = False
        for token in _token().finditer(source.data):
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
                comment, wide = self._parsed(token["comment"].decode(source.encoding, "replace"), token.start())
                if comment is None:
                    continue
                if wide or not inside:
                    self.whole.add(comment)
                elif layers:
                    start, scope = layers[-1]
                    if scope is None:
                        scope = Scope(start)
                        layers[-1] = (start, scope)
                        self.layers.append(scope)
                    scope.add(comment)
                else:
                    message = "this comment silences nothing: it stands in no layer"
                    hint = "put it inside the layer it is meant for; for the whole file, before the first element, or write disable-file"
                    self.problems.append(Problem("misplaced-suppression", message, token.start(), help=hint))

    def _parsed(self, text: str, offset: int) -> tuple[Suppression | None, bool]:
        """A comment, and whether it is for the whole file wherever it stands; notes what is wrong with it."""
        from ..model import Problem

        match = _directive().fullmatch(text)
        if match is None or match["verb"] not in ("disable", "disable-file") or not match["codes"]:
            hint = "write <!-- irshape: disable=IR305 --> inside a layer, or <!-- irshape: disable-file=IR305 -->"
            message = f"the comment '{_short(text)}' says nothing that irshape knows"
            self.problems.append(Problem("unknown-suppression", message, offset, actual=_short(text), help=hint))
            return None, False
        codes = []
        for name in match["codes"].split(","):
            selector = name.strip()
            covers = frozenset(covered(selector))
            if covers:
                codes.append((selector, covers))
            else:
                self.problems.append(_unknown(selector, offset, len(self.problems) < MAX_SUGGESTIONS))
        return Suppression(offset, codes), match["verb"] == "disable-file"

    def silence(self, code: str, problem: Problem) -> bool:
        """Whether a comment silences a finding: one of the file, or of a layer that the finding is about or stands in."""
        silenced = self.whole.silences(code)
        if self.layers:
            places = {problem.offset} if problem.layer is None else {problem.offset, problem.layer.offset}
            for place in places:
                at = bisect_right(self._starts, place) - 1
                scope = self.layers[at] if at >= 0 else None
                while scope is not None:
                    if scope.end is None or place < scope.end:
                        silenced |= scope.silences(code)
                    scope = scope.outer
        return silenced

    def unused(self, enabled: frozenset[str] | None) -> Iterator[Problem]:
        """The selectors in comments that silence nothing, where their rules are asked at all."""
        from ..model import Problem
        from ..rules import all_rules

        asked = enabled if enabled is not None else frozenset(rule.code for rule in all_rules() if rule.default)
        for scope in (self.whole, *self.layers):
            where = "in this file" if scope is self.whole else "in this layer"
            for comment in scope.comments:
                for text, covers in comment.codes:
                    if not covers & scope.hits and covers & asked:
                        message = f"there is no {text} {where} to silence"
                        yield Problem("unused-suppression", message, comment.offset, actual=text, help="remove it from the comment")


MAX_SUGGESTIONS = 50
"""Misspelt codes in one file for which a similar one is looked for."""


def _short(text: str) -> str:
    text = " ".join(text[:200].split())
    return text if len(text) <= 60 else text[:57] + "…"


def _unknown(name: str, offset: int, suggest: bool) -> Problem:
    from ..model import Problem
    from ..rules import all_rules

    close = suggestion(name, [text for rule in all_rules() for text in (rule.code, rule.name)]) if suggest and len(name) < 60 else ""
    message = f"there is no rule '{_short(name)}'{close}"
    return Problem("unknown-suppression", message, offset, actual=_short(name), help="correct the code; `irshape rule` lists them")


class Filter:
    """Applies selection and comments to the problems of one file."""

    def __init__(self, chosen: Settings, source: Source | None) -> None:
        self.enabled = chosen.enabled
        self.ignored = chosen.ignored
        self.comments = Comments(source) if chosen.comments and source is not None else None

    def keep(self, rule: type[Rule], problem: Problem) -> bool:
        """Whether a problem is reported."""
        silenced = bool(self.comments) and self.comments is not None and self.comments.silence(rule.code, problem)
        return not silenced and self.selected(rule)

    def selected(self, rule: type[Rule]) -> bool:
        return self.enabled is None or rule.code in self.enabled or (rule.name in FATAL and rule.code not in self.ignored)

    def about_comments(self) -> list[Problem]:
        """What is wrong with the comments themselves, once every problem has been asked about."""
        from ..rules import rule_named

        if not self.comments:
            return []
        found = [*self.comments.problems, *self.comments.unused(self.enabled)]
        return [problem for problem in found if self.selected(rule_named(problem.rule))]
