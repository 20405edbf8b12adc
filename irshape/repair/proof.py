"""Tests a change: reads, infers and checks the file with the change."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import NamedTuple

from ..examination import examine
from ..formats.ir.edits import Edited
from ..formats.loading import read_source
from ..inference.alternatives import Fit
from ..model.graph import Finding, Layer, NotReadable
from ..model.source import Source
from ..rules import rule_of
from ..rules.settings import Settings
from .change import Change
from .site import Sites
from .suspects import SUSPECTS

Key = tuple[object, ...]


class Outcome(NamedTuple):
    """The effect of a change on the findings."""

    explained: tuple[Finding, ...]
    """The errors and warnings that disappear."""
    new: tuple[Finding, ...] = ()
    """The errors and warnings that appear."""

    @property
    def proven(self) -> bool:
        """Whether the change removes findings and adds none."""
        return bool(self.explained) and not self.new


def key_of(finding: Finding, place: int) -> Key:
    """Returns a key of a finding that stays the same after edits of the file. place: the offset of
    the finding in the original file."""
    return finding.rule.code, place, finding.port


def with_text(source: Source, data: bytes) -> Source:
    """Returns a copy of a source with another text. UTF-16 becomes UTF-8."""
    return Source(source.path, data, "utf-8" if source.raw is None else "utf-8-sig")


class Proof:
    """Determines which findings a change of a file removes, and which it adds."""

    def __init__(self, sites: Sites, settings: Settings) -> None:
        self.sites, self.settings = sites, settings
        self.source = sites.source
        self._before = Counter(key_of(each, sites.element(each.offset)) for each in sites.graver)
        self.readings = 0
        """The number of times that the whole file was read."""

    @cached_property
    def _of_layers(self) -> dict[Layer | None, list[Finding]]:
        of_layers: dict[Layer | None, list[Finding]] = {}
        for each in self.sites.graver:
            of_layers.setdefault(each.layer, []).append(each)
        return of_layers

    def without_reading(self, change: Change) -> Outcome | None:
        """Returns the effect of a change; None if this is unknown without reading the file
        again."""
        if change.same_model and change.settles is not None:
            return Outcome(change.settles)
        site = self.sites.of(change.layer)
        if not change.exact or site is None or site.decides_values:
            return None
        if change.kind in ("attribute", "value") and site.fit() is Fit.EXACT:
            return None  # the finding does not follow from the layer and its producers alone
        # later layers were inferred from the declared ports, so nothing else changes
        if change.kind in ("attribute", "type", "name", "value"):
            here = self._of_layers.get(change.layer, ())
            return Outcome(tuple(each for each in here if _rests_on_layer(each)))
        return None

    def by_reading(self, change: Change) -> Outcome:
        """Returns the effect of a change, after reading and checking the whole file with the
        change."""
        self.readings += 1
        edited = Edited(self.source.data)
        edited.apply(change.edits)
        before = self.sites.context.model
        try:
            model = read_source(with_text(self.source, edited.data), None)
        except NotReadable:
            return Outcome(())  # the file cannot be read with the change
        model.weights = before.weights
        left: Counter[Key] = Counter()
        new: list[Finding] = []
        for each in examine(model, self.settings, reasons=False).findings:
            if each.severity != "info":
                key = key_of(each, self.sites.element(edited.origin(each.offset)))
                left[key] += 1
                if left[key] > self._before[key]:
                    new.append(each)
        gone = self._before - left
        explained = []
        for each in self.sites.graver:
            key = key_of(each, self.sites.element(each.offset))
            if gone[key]:
                gone[key] -= 1
                explained.append(each)
        return Outcome(tuple(explained), tuple(new))


def _rests_on_layer(finding: Finding) -> bool:
    """Returns whether a finding depends only on the attributes and inputs of its layer."""
    rule = rule_of(finding.rule)
    return rule is not None and any(
        suspect in SUSPECTS and SUSPECTS[suspect].of_layer for suspect in rule.suspects
    )
