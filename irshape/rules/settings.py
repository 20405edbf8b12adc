"""What a rule may be told: the rules that are on, the target release, extensions, the policy of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..rule_ids import RuleId

if TYPE_CHECKING:
    from ..releases import Release


class ExpectedPort(NamedTuple):
    """An input or output as a policy expects it; None where it says nothing."""

    name: str
    type: str | None = None
    shape: str | None = None


class Policy(NamedTuple):
    """A user's own rules for the models that `files` match, all of them where it is empty. Fields without a value demand nothing."""

    files: tuple[str, ...] = ()
    required_operations: tuple[str, ...] = ()
    forbidden_operations: tuple[str, ...] = ()
    allowed_element_types: tuple[str, ...] = ()
    inputs: tuple[ExpectedPort, ...] | None = None
    outputs: tuple[ExpectedPort, ...] | None = None
    dynamic_batch: bool = False
    max_weights: int | None = None
    max_layers: int | None = None


class CustomRule(NamedTuple):
    """A rule of the user's own, `[[rules.custom]]`: what the expression selects is reported. files: patterns; all files where there is none."""

    id: RuleId
    xpath: str
    message: str
    help: str | None = None
    files: tuple[str, ...] = ()


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
    custom: tuple[CustomRule, ...] = ()
    comments: bool = True


PLAIN = Settings()
