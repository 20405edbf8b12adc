"""Selects the rules to run and the findings to report, by selectors, by file and by comments.

A selector is a code (`IR201`), a prefix of one (`IR2`), a name (`output-shape-mismatch`), or `ALL`.
If one selector selects a rule and another ignores it, the more specific selector decides. If both
are equally specific, the rule is ignored. The command line takes precedence over the configuration.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rule_ids import RuleId
from ..rules.settings import Settings
from .configuration import Configuration
from .selectors import _PREFIX, CUSTOM_CODES, MARK, check_selectors, covered

if TYPE_CHECKING:
    from ..model.graph import Finding
    from ..model.source import Source
    from .comments import Comments


def settings(configuration: Configuration, path: str = "") -> Settings:
    """Returns the settings for a file. Raises `ConfigurationError` for an invalid selector."""
    from ..rules import all_rules

    enabled, ignored = _chosen([configuration])
    opted = frozenset(
        rule.code for rule in all_rules() if not rule.default and rule.code in enabled
    )
    policies, custom, contracts = configuration.applying_to(path)
    return Settings(
        enabled,
        ignored,
        opted,
        configuration.target,
        configuration.extensions,
        policies,
        custom,
        configuration.comments,
        contracts,
        configuration.devices,
    )


def overridden(configuration: Configuration, over: Configuration) -> Configuration:
    """Returns a configuration in which the command line's selectors, `over`, take precedence.

    Raises `ConfigurationError` for an invalid selector.
    """
    enabled, ignored = _chosen([configuration, over])
    return configuration._replace(
        select=tuple(sorted(enabled)), extend_select=(), ignore=tuple(sorted(ignored))
    )


def _chosen(layers: Sequence[Configuration]) -> tuple[frozenset[str], frozenset[str]]:
    from ..rules import all_rules
    from ..rules.plugins import plugin_codes

    rules = all_rules()
    custom = layers[0].custom
    state = dict.fromkeys((*CUSTOM_CODES, *plugin_codes()), True)
    state |= {rule.code: rule.default for rule in rules}
    ignored: set[str] = set()
    for layer in layers:
        if layer.select is not None:
            state = dict.fromkeys(state, False)
            ignored.clear()
        moves: list[tuple[int, bool, str]] = []
        for on, selectors in (
            (True, (*(layer.select or ()), *layer.extend_select)),
            (False, layer.ignore),
        ):
            check_selectors(selectors, layer.path or "", custom)
            moves += [(_exactness(selector), not on, selector) for selector in selectors]
        for _, off, selector in sorted(moves):
            for code in covered(selector, custom):
                state[code] = not off
                (ignored.add if off else ignored.discard)(code)
    return frozenset(code for code, on in state.items() if on), frozenset(ignored)


def _exactness(selector: str) -> int:
    if selector == "ALL":
        return 0
    return len(selector) if re.fullmatch(_PREFIX, selector) else 5


def ignored_in(path: str, configuration: Configuration) -> frozenset[str]:
    """Returns the codes that `per-file-ignores` excludes for a file."""
    from .patterns import matches

    return frozenset(
        code
        for pattern, selectors in configuration.per_file_ignores
        if matches(pattern, path, configuration.root)
        for selector in selectors
        for code in covered(selector, configuration.custom)
    )


class Filter:
    """Applies the selection and the comments to the findings of one file."""

    def __init__(self, chosen: Settings, source: Source | None) -> None:
        self.enabled = chosen.enabled
        self.ignored = chosen.ignored
        self.comments: Comments | None = None
        if source is None or not chosen.comments:
            return
        if b"!" in source.data and MARK in source.data:  # one byte takes a tenth of the time
            from .comments import Comments

            self.comments = Comments(source, chosen.custom)

    def keep(self, finding: Finding) -> bool:
        """Returns whether a finding is reported."""
        code = finding.rule.code
        silenced = self.comments is not None and self.comments.silence(code, finding)
        return not silenced and self.selected(finding.rule)

    def selected(self, rule: RuleId) -> bool:
        if self.enabled is None or rule.code in self.enabled:
            return True
        from ..rules import rule_of

        known = rule_of(rule)
        return known is not None and known.fatal and rule.code not in self.ignored

    def about_comments(self) -> list[Finding]:
        """Returns the findings about the comments themselves. Call it after `keep` was called for
        all findings."""
        if self.comments is None:
            return []
        findings = [*self.comments.findings, *self.comments.unused(self.enabled)]
        return [finding for finding in findings if self.selected(finding.rule)]
