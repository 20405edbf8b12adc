"""The settings that rules depend on: selection, target release, extensions, policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ..rule_ids import RuleId

if TYPE_CHECKING:
    from ..releases import Release


class ExpectedPort(NamedTuple):
    """An input or output that a policy expects. None as `type` or `shape` allows any value."""

    name: str
    type: str | None = None
    shape: str | None = None


class Policy(NamedTuple):
    """A policy for the models that match `files`, or for all models if `files` is empty.

    A field that is not set requires nothing."""

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

    files: patterns of the models to which the contract applies; all models if empty.
    shapes: the shapes of inputs by name, e.g. `[batch,seq]`, which may give names to dimensions.
    assume: conditions on the named dimensions, e.g. `seq % 8 == 0`.
    require: statements, e.g. `logits = [batch, seq, 32000]`.
    """

    require: tuple[str, ...]
    files: tuple[str, ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()
    assume: tuple[str, ...] = ()


class CustomRule(NamedTuple):
    """A custom rule, `[[rules.custom]]`. It reports the elements that its XPath expression selects.

    files: patterns of the files to which the rule applies; all files if empty."""

    id: RuleId
    xpath: str
    message: str
    help: str | None = None
    files: tuple[str, ...] = ()


class Devices(NamedTuple):
    """The devices, from `[devices]`, for which rules check whether a model compiles.

    max_alloc: the largest buffer that a device can allocate, in bytes; None for its default.
    """

    names: tuple[str, ...] = ()
    max_alloc: int | None = None


class Settings(NamedTuple):
    """The settings for one file.

    enabled: the codes of the rules whose findings are reported; None for the default rules.
    ignored: the codes that `ignore` selects. Only these codes can hide a finding about an
    unreadable file.
    """

    enabled: frozenset[str] | None = None
    ignored: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    """The codes of further rules to run, which are off by default."""
    target: Release | None = None
    extensions: tuple[str, ...] = ()
    policies: tuple[Policy, ...] = ()
    custom: tuple[CustomRule, ...] = ()
    comments: bool = True
    contracts: tuple[Contract, ...] = ()
    devices: Devices = Devices()

    def limit(self, name: Literal["max_weights", "max_tensor", "max_layers"]) -> int | None:
        """Returns the lowest limit that policies set, e.g. for `max_layers`; None if none does."""
        limits = [getattr(policy, name) for policy in self.policies]
        return min((each for each in limits if each is not None), default=None)


PLAIN = Settings()
