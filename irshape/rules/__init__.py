"""The rules: one module a family of codes. A rule's docstring is its documentation page (`irshape rule CODE`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib import import_module

from ..model.graph import Finding
from .base import HEADINGS, Rule
from .context import Context

__all__ = ["HEADINGS", "Context", "Finding", "Rule", "all_rules", "findings", "rule_named"]

FAMILIES = (
    "file",
    "structure",
    "edges",
    "names",
    "declared",
    "layouts",
    "shapes",
    "attributes",
    "constraints",
    "weights",
    "versions",
    "numerics",
    "running",
    "target",
    "policy",
    "custom",
)


@lru_cache(maxsize=1)
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    found = []
    for family in FAMILIES:
        for value in vars(import_module(f"{__name__}.{family}")).values():
            if isinstance(value, type) and issubclass(value, Rule) and "code" in vars(value):
                found.append(value)
    from .plugins import plugin_rules

    return tuple(
        sorted([*found, *plugin_rules({rule.name for rule in found})], key=lambda rule: rule.code)
    )


@lru_cache(maxsize=1)
def _by_name() -> dict[str, type[Rule]]:
    return {rule.name: rule for rule in all_rules()} | {rule.code: rule for rule in all_rules()}


def rule_named(name: str) -> type[Rule]:
    """A rule by name or code. Raises `KeyError`."""
    return _by_name()[name]


def findings(context: Context, also: Collection[str] = ()) -> Iterator[Finding]:
    """What the rules find in a model, in no particular order. `also`: the names or codes of those to ask that are not asked by default."""
    yield from context.model.findings
    for rule in all_rules():
        if rule.default or rule.name in also or rule.code in also:
            yield from rule.check(context)
