"""The rules: one module for each family of codes. A rule's docstring is its documentation page
(`irshape rule CODE`).

Plugins import what they need from here: `Rule` to derive from, `Context` to look at, `Finding` to
yield, `RuleId` to report under from an operation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from ..faults import Fault, fault
from ..model.graph import Finding
from ..rule_ids import INTERNAL_ERROR, RuleId, Severity
from .base import HEADINGS, Rule, Suspect
from .context import Context

__all__ = [
    "HEADINGS",
    "OF_SETTINGS",
    "WITHOUT_ERROR_CHECKS",
    "Context",
    "Fault",
    "Finding",
    "Rule",
    "RuleId",
    "Severity",
    "Suspect",
    "all_rules",
    "error_checks",
    "findings",
    "makes_findings",
    "rule_named",
    "rule_of",
]

FAMILIES = (
    "file",
    "structure",
    "precisions",
    "edges",
    "names",
    "inputs_and_outputs",
    "declared_outputs",
    "declared_inputs",
    "layouts",
    "shapes",
    "attributes",
    "constraints",
    "weights",
    "versions",
    "exports",
    "numerics",
    "comparing",
    "running",
    "target",
    "devices",
    "policy",
    "contracts",
    "custom",
)


WITHOUT_ERROR_CHECKS = frozenset(
    ("file", "layouts", "shapes", "exports", "numerics", "comparing", "running")
)
"""The families that look for no errors by default: what they report as such, the reader or the
inference has noticed."""


OF_SETTINGS = frozenset(("target", "devices", "policy", "contracts", "custom"))
"""The families that look for nothing but what the user's settings ask for."""


def _of_families(families: Iterable[str]) -> list[type[Rule]]:
    return [
        value
        for family in families
        for value in vars(import_module(f"{__name__}.{family}")).values()
        if isinstance(value, type) and issubclass(value, Rule) and "code" in vars(value)
    ]


@lru_cache(maxsize=1)
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    own = _of_families(FAMILIES)
    from .plugins import plugin_rules

    return tuple(
        sorted([*own, *plugin_rules({rule.name for rule in own})], key=lambda rule: rule.code)
    )


@lru_cache(maxsize=1)
def _by_name() -> dict[str, type[Rule]]:
    return {rule.name: rule for rule in all_rules()} | {rule.code: rule for rule in all_rules()}


def forget_rules() -> None:
    """Makes the rules be gathered again, after one has been added."""
    all_rules.cache_clear()
    _by_name.cache_clear()


def rule_named(name: str) -> type[Rule]:
    """A rule by name or code. Raises `KeyError`."""
    return _by_name()[name]


def rule_of(rule_id: RuleId) -> type[Rule] | None:
    """The rule with an id; None for the id of a plugin that brings no rule for it."""
    rule = _by_name().get(rule_id.code)
    return rule if rule is not None and rule.id == rule_id else None


def findings(context: Context, also: Collection[str] = ()) -> Iterator[Finding]:
    """The findings of the rules in a model, in no particular order.

    also: names or codes of rules to ask that are not active by default. What is reported under the
    id of a rule that is not asked, or that no rule has (that of a plugin), is yielded as it stands.
    """
    asked = _asked(all_rules(), frozenset(also))
    by_rule = context.reported
    for rule, is_own, checks in asked.rules:
        is_reported = bool(by_rule) and rule.id in by_rule
        if is_own and checks and not is_reported:
            yield from rule.check(context)  # all that `findings` yields then, without its steps
        elif checks or is_reported:
            yield from rule.findings(context) if is_own else _of_plugin(rule, context)
    for rule_id, reported in by_rule.items():
        if rule_id not in asked.ids:
            yield from reported


class _Asked(NamedTuple):
    """The rules that are asked."""

    rules: list[tuple[type[Rule], bool, bool]]
    """Each with whether it is one of irshape's, and whether it makes findings itself."""
    ids: set[RuleId]


@lru_cache(maxsize=8)
def _asked(rules: tuple[type[Rule], ...], also: frozenset[str]) -> _Asked:
    asked = [rule for rule in rules if rule.default or rule.name in also or rule.code in also]
    return _Asked(
        [
            (rule, rule.__module__.startswith(f"{__name__}."), makes_findings(rule))
            for rule in asked
        ],
        {rule.id for rule in asked},
    )


def makes_findings(rule: type[Rule]) -> bool:
    """Whether a rule does more than to name what the reader and the inference report."""
    return any(_overrides(rule, name) for name in ("check", "findings", "reported"))


def _overrides(rule: type[Rule], name: str) -> bool:
    """Whether a rule has its own method of that name."""
    own: bool = getattr(rule, name).__func__ is not getattr(Rule, name).__func__
    return own


Check = Callable[[Context], Iterable[Finding]]


def error_checks() -> tuple[Check, ...]:
    """What looks for errors in a model of which the reader and the inference report nothing, by
    plain settings.

    Families without such a check are not imported.
    """
    from .plugins import plugin_rules

    return _error_checks(plugin_rules())


@lru_cache(maxsize=1)
def _error_checks(of_plugins: tuple[type[Rule], ...]) -> tuple[Check, ...]:
    rules = (
        all_rules()
        if of_plugins
        else _of_families(
            family for family in FAMILIES if family not in WITHOUT_ERROR_CHECKS | OF_SETTINGS
        )
    )
    return tuple(
        rule.findings
        if _overrides(rule, "findings") or _overrides(rule, "reported")
        else rule.check
        for rule in rules
        if rule.default and rule.id.severity == "error" and makes_findings(rule)
    )


def _of_plugin(rule: type[Rule], context: Context) -> list[Finding]:
    """The findings of a rule of a plugin; one that says so if the rule fails.

    With IRSHAPE_DEBUG set, what it raises is raised.
    """
    reported: list[Finding] = []
    try:
        for finding in rule.findings(context):
            _check_finding(finding)
            reported.append(finding)
    except Exception as error:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        plugin = f"{rule.__module__}:{rule.__name__}"
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        help = f"a bug in the plugin {plugin}: please report it to its authors"
        failed = fault(
            f"the rule {rule.name} of the plugin {plugin} failed ({text})",
            rule=INTERNAL_ERROR,
            help=f"{help}; IRSHAPE_DEBUG=1 shows where it happens",
        )
        reported.append(Finding(failed, 0))
    return reported


def _check_finding(finding: object) -> None:
    """Raises `TypeError` for what a plugin yields that is no finding."""
    if not isinstance(finding, Finding):
        raise TypeError(f"check yields findings, not {finding!r}")
    said = finding.fault.says is not None or finding.fault.relation != "other"
    if not said or not isinstance(finding.message, str) or not isinstance(finding.offset, int):
        raise TypeError("a finding has a message, a string, and an offset, an integer")
