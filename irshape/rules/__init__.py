"""The rules: one module for each family of codes. A rule's docstring is its documentation page
(`irshape rule CODE`).

Plugins import what they need from here: `Rule` to derive from, `Context` to look at, `Finding` to
yield, `RuleId` to report under from an operation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib import import_module

from ..faults import Fault
from ..model.graph import Finding
from ..rule_ids import RuleId, Severity
from .base import HEADINGS, PHASES, Cure, Phase, Rule
from .context import Context

__all__ = [
    "HEADINGS",
    "PHASES",
    "Context",
    "Cure",
    "Fault",
    "Finding",
    "Phase",
    "Rule",
    "RuleId",
    "Severity",
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
    "declared_outputs",
    "declared_inputs",
    "layouts",
    "shapes",
    "attributes",
    "constraints",
    "weights",
    "versions",
    "causes",
    "exports",
    "numerics",
    "comparing",
    "running",
    "target",
    "policy",
    "contracts",
    "custom",
)


@lru_cache(maxsize=1)
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    own = [
        value
        for family in FAMILIES
        for value in vars(import_module(f"{__name__}.{family}")).values()
        if isinstance(value, type) and issubclass(value, Rule) and "code" in vars(value)
    ]
    from .plugins import plugin_rules

    return tuple(
        sorted([*own, *plugin_rules({rule.name for rule in own})], key=lambda rule: rule.code)
    )


@lru_cache(maxsize=1)
def _by_name() -> dict[str, type[Rule]]:
    return {rule.name: rule for rule in all_rules()} | {rule.code: rule for rule in all_rules()}


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
    asked = set()
    for rule in all_rules():
        if rule.default or rule.name in also or rule.code in also:
            asked.add(rule.id)
            yield from rule.findings(context)
    for rule_id, reported in context.reported.items():
        if rule_id not in asked:
            yield from reported
