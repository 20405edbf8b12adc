"""Which rules are asked, and which findings stay: selectors, ignores by file, and comments in a file.

A selector is a code (`IR201`), the beginning of one (`IR2`), a name (`output-shape-mismatch`), or `ALL`. Where one selects and another ignores, the more exact one decides, and of
two that are as exact the ignoring one. A later layer of settings (the command line) goes over an earlier one (the configuration).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .configuration import Configuration, ConfigurationError, Policy, matches, suggestion

if TYPE_CHECKING:
    from .model import Problem, Source
    from .releases import Release
    from .rules.base import Rule


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
        from .rules import all_rules

        if extra:
            layers[-1] = layers[-1]._replace(extend_select=layers[-1].extend_select + extra)
        enabled, ignored = _chosen(layers)
        opted = frozenset(rule.code for rule in all_rules() if not rule.default and rule.code in enabled)
    return Settings(enabled, ignored, opted, configuration.target, configuration.extensions, configuration.policies_for(path), configuration.comments)


def _chosen(layers: Sequence[Configuration]) -> tuple[frozenset[str], frozenset[str]]:
    from .rules import all_rules

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
    return len(selector) if _PREFIX.fullmatch(selector) else 5


_PREFIX = re.compile(r"IR[0-9]{0,3}")


def covered(selector: str) -> list[str]:
    """The codes of the rules that a selector covers; none for one that means nothing."""
    from .rules import all_rules

    rules = all_rules()
    if selector == "ALL":
        return [rule.code for rule in rules]
    if _PREFIX.fullmatch(selector):
        return [rule.code for rule in rules if rule.code.startswith(selector)]
    return [rule.code for rule in rules if rule.name == selector]


def check_selectors(selectors: Iterable[str], where: str = "") -> None:
    """Raises `ConfigurationError` for a selector that covers no rule. The families of a user's own rules may be empty."""
    for selector in selectors:
        if not covered(selector) and selector != "IR9":
            from .rules import all_rules

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
    return re.compile(r"\s*irshape:\s*(?P<verb>[\w-]*)\s*(?:=\s*(?P<codes>[\w-]+(?:\s*,\s*[\w-]+)*))?\s*(?::.*)?", re.DOTALL)


class Suppression:
    """A comment that silences: `<!-- irshape: disable=IR305,IR2: the reason -->`, and where it holds: from `start` up to `end`, None for the whole file."""

    __slots__ = ("codes", "end", "offset", "start", "used", "whole")

    def __init__(self, offset: int, codes: list[tuple[str, frozenset[str]]], start: int, whole: bool) -> None:
        self.offset = offset
        self.codes = codes
        self.start = start
        self.end: int | None = None
        self.whole = whole
        self.used: set[str] = set()

    def silences(self, code: str, problem: Problem) -> bool:
        """Whether it silences a finding; notes that it has."""
        if not self.whole:
            places = [problem.offset] if problem.layer is None else [problem.offset, problem.layer.offset]
            if not any(self.start <= place and (self.end is None or place < self.end) for place in places):
                return False
        hit = [text for text, covers in self.codes if code in covers]
        self.used.update(hit)
        return bool(hit)


def suppressions(source: Source) -> tuple[list[Suppression], list[Problem]]:
    """The comments of a file that silence findings, and what is wrong with some. A file without the word costs one search."""
    from .model import Problem

    found: list[Suppression] = []
    problems: list[Problem] = []
    data = source.data
    if MARK not in data:
        return found, problems
    open_layers: list[tuple[int, int]] = []
    inside = False
    for token in _token().finditer(data):
        if token["layer"]:
            inside = True
            if not token[0].endswith(b"/>"):
                open_layers.append((token.start(), len(found)))
        elif token["end"]:
            if open_layers:
                start, first = open_layers.pop()
                for suppression in found[first:]:
                    if suppression.start == start and suppression.end is None:
                        suppression.end = token.end()
        elif token["element"]:
            inside = True
        elif token["comment"] is not None and token["comment"].lstrip().startswith(MARK):
            text = token["comment"].decode(source.encoding, "replace")
            match = _directive().fullmatch(text)
            if match is None or match["verb"] not in ("disable", "disable-file") or not match["codes"]:
                hint = "write <!-- irshape: disable=IR305 --> inside a layer, or <!-- irshape: disable-file=IR305 -->"
                problems.append(
                    Problem(
                        "unknown-suppression", f"the comment '{_short(text)}' says nothing that irshape knows", token.start(), actual=_short(text), help=hint
                    )
                )
                continue
            codes = []
            for name in re.split(r"\s*,\s*", match["codes"]):
                covers = frozenset(covered(name))
                if covers:
                    codes.append((name, covers))
                else:
                    problems.append(_unknown(name, token.start()))
            whole = match["verb"] == "disable-file" or not inside
            if not whole and not open_layers:
                message = "this comment silences nothing: it stands in no layer"
                hint = "put it inside the layer it is meant for; for the whole file, before the first element, or write disable-file"
                problems.append(Problem("misplaced-suppression", message, token.start(), help=hint))
            elif codes:
                found.append(Suppression(token.start(), codes, open_layers[-1][0] if open_layers else 0, whole))
    return found, problems


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "…"


def _unknown(name: str, offset: int) -> Problem:
    from .model import Problem
    from .rules import all_rules

    close = suggestion(name, [text for rule in all_rules() for text in (rule.code, rule.name)])
    return Problem(
        "unknown-suppression", f"there is no rule '{_short(name)}'{close}", offset, actual=_short(name), help="correct the code; `irshape rule` lists them"
    )


def unused(found: Iterable[Suppression], enabled: frozenset[str] | None) -> Iterator[Problem]:
    """The codes in comments that silence nothing, where their rules are asked at all."""
    from .model import Problem
    from .rules import all_rules

    asked = enabled if enabled is not None else frozenset(rule.code for rule in all_rules() if rule.default)
    for suppression in found:
        for text, covers in suppression.codes:
            if text not in suppression.used and covers & asked:
                where = "in this file" if suppression.whole else "in this layer"
                yield Problem(
                    "unused-suppression", f"there is no {text} {where} to silence", suppression.offset, actual=text, help="remove it from the comment"
                )


class Filter:
    """Applies selection and comments to the problems of one file."""

    def __init__(self, chosen: Settings, source: Source | None) -> None:
        self.enabled = chosen.enabled
        self.ignored = chosen.ignored
        self.suppressions: list[Suppression] = []
        self.problems: list[Problem] = []
        if chosen.comments and source is not None:
            self.suppressions, self.problems = suppressions(source)

    def keep(self, rule: type[Rule], problem: Problem) -> bool:
        selected = self.enabled is None or rule.code in self.enabled or (rule.name in FATAL and rule.code not in self.ignored)
        if not self.suppressions:
            return selected
        silenced = [suppression.silences(rule.code, problem) for suppression in self.suppressions]
        return selected and not any(silenced)
