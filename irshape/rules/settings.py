"""The settings that rules depend on: selection, target release, extensions, policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..rule_ids import RuleId

if TYPE_CHECKING:
    from ..releases import Release


class ExpectedPort(NamedTuple):
    """An input or output that a policy expects. None leaves a property open."""

    name: str
    type: str | None = None
    shape: str | None = None


class Policy(NamedTuple):
    """A policy for the models that match `files`, or for all if it is empty.

    Fields that are not set demand nothing."""

    files: tuple[str, ...] = ()
    required_operations: tuple[str, ...] = ()
    forbidden_operations: tuple[str, ...] = ()
    allowed_element_types: tuple[str, ...] = ()
    inputs: tuple[ExpectedPort, ...] | None = None
    outputs: tuple[ExpectedPort, ...] | None = None
    dynamic_batch: bool = False
    max_weights: int | None = None
    max_tensor: int | None = None
    max_layers: int | None = None


class Contract(NamedTuple):
    """The required dimensions of models, from `[[contract]]`.

    files: patterns of the models to which it applies; all if empty. shapes: shapes of inputs by
    name, which may name dimensions. assume: conditions on these names. require: statements such as
    `logits = [batch, seq, 32000]`.
    """

    require: tuple[str, ...]
    files: tuple[str, ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()
    assume: tuple[str, ...] = ()


class CustomRule(NamedTuple):
    """A custom rule, `[[rules.custom]]`, which reports what its expression selects.

    files: patterns of the files that it applies to; none for all files."""

    id: RuleId
    xpath: str
    message: str
    help: str | None = None
    files: tuple[str, ...] = ()


class Devices(NamedTuple):
    """The devices for which models are judged, from `[devices]`.

    max_alloc: the largest buffer of the devices in bytes, if it is not the usual one.
    """

    names: tuple[str, ...] = ()
    max_alloc: int | None = None


class Settings(NamedTuple):
    """The settings for one file.

    enabled: the codes of the rules whose findings are reported; None for the default rules.
    ignored: the codes that a selector ignores explicitly. A finding that a file could not be read
    is left out only if its code is among these.
    """

    enabled: frozenset[str] | None = None
    ignored: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    """The codes of opt-in rules to run."""
    target: Release | None = None
    extensions: tuple[str, ...] = ()
    policies: tuple[Policy, ...] = ()
    custom: tuple[CustomRule, ...] = ()
    comments: bool = True
    contracts: tuple[Contract, ...] = ()
    devices: Devices = Devices()


PLAIN = Settings()
