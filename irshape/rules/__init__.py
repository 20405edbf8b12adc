"""The rules of `irshape validate`: a module for each family of codes, a class for each rule.

The docstring of a rule is its documentation. Plugins import from here: their rules derive from
`Rule` and yield `Finding`s on a `Context`; their operations report faults under a `RuleId`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib import import_module

from ..faults import Fault, bug_of_plugin, fault, module_of
from ..model.graph import Finding
from ..rule_ids import INTERNAL_ERROR, RuleId, Severity
from .base import HEADINGS, Rule, Suspect
from .context import Context

__all__ = [
    "HEADINGS",
    "Context",
    "Fault",
    "Finding",
    "Rule",
    "RuleId",
    "Severity",
    "Suspect",
    "all_rules",
    "findings",
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


@lru_cache(maxsize=1)
def all_rules() -> tuple[type[Rule], ...]:
    """Returns every rule, ordered by code."""
    own = [
        value
        for family in FAMILIES
        for value in vars(import_module(f"{__name__}.{family}")).values()
        if isinstance(value, type) and issubclass(value, Rule) and "code" in vars(value)
    ]
    from .plugins import plugin_rules

    return tuple(sorted([*own, *plugin_rules(own)], key=lambda rule: rule.code))


@lru_cache(maxsize=1)
def _by_name() -> dict[str, type[Rule]]:
    return {rule.name: rule for rule in all_rules()} | {rule.code: rule for rule in all_rules()}


def forget_rules() -> None:
    """Makes the next call of `all_rules` collect the rules and the installed plugins again."""
    from .plugins import forget_packages

    forget_packages()
    all_rules.cache_clear()
    _by_name.cache_clear()


def rule_named(name: str) -> type[Rule]:
    """Returns the rule with a name or code. Raises `KeyError` if there is none."""
    return _by_name()[name]


def rule_of(rule_id: RuleId) -> type[Rule] | None:
    """Returns the rule with an id; None if no rule has it, e.g. an id of a plugin's operation."""
    rule = _by_name().get(rule_id.code)
    return rule if rule is not None and rule.id == rule_id else None


def findings(context: Context, also: Collection[str] = ()) -> Iterator[Finding]:
    """Runs the rules on a model, and yields their findings in no particular order.

    also: names or codes of rules that are off by default, to run as well. The findings of the file
    reader and of shape inference are always yielded, even for a rule that is off or unknown.
    """
    asked = _asked(all_rules(), frozenset(also))
    for rule in asked:
        if rule.__module__.startswith(_OWN):
            yield from rule.findings(context)
        else:
            yield from _of_plugin(rule, context)
    if context.reported:
        ids = {rule.id for rule in asked}
        for rule_id, reported in context.reported.items():
            if rule_id not in ids:
                yield from reported


_OWN = f"{__name__}."


@lru_cache(maxsize=8)
def _asked(rules: tuple[type[Rule], ...], also: frozenset[str]) -> list[type[Rule]]:
    return [rule for rule in rules if rule.default or rule.name in also or rule.code in also]


def _of_plugin(rule: type[Rule], context: Context) -> list[Finding]:
    """Returns the findings of a plugin's rule. If the rule fails, returns a finding that says so.

    If IRSHAPE_DEBUG is set, raises the rule's error instead.
    """
    reported: list[Finding] = []
    try:
        for finding in rule.findings(context):
            _check_finding(finding)
            reported.append(finding)
    except (Exception, SystemExit) as error:
        if os.environ.get("IRSHAPE_DEBUG"):
            raise
        plugin = f"{module_of(rule)}:{rule.__name__}"
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        failed = fault(
            f"the rule {rule.name} of the plugin {plugin} failed ({text})",
            rule=INTERNAL_ERROR,
            help=bug_of_plugin(rule, error),
        )
        reported.append(Finding(failed, 0))
    return reported


def _check_finding(finding: object) -> None:
    """Raises `TypeError` if the `check` of a plugin yields something other than a valid finding."""
    if not isinstance(finding, Finding):
        raise TypeError(f"check must yield Finding objects, not {finding!r}")
    said = finding.fault.says is not None or finding.fault.relation != "other"
    if not said or not isinstance(finding.message, str) or not isinstance(finding.offset, int):
        raise TypeError("a Finding needs a message (a string) and an offset (an integer)")
