"""Judges whether a device can compile a model. Names obstacles, and how to remove them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

from ..inference.result import Inference
from ..model.graph import Layer, Model
from ..ops.registry import UnknownOperation, declaration_of, find
from ..spelling import counted
from .cures import Cure, Cures
from .facts import VERDICTS, Condition, Fact, Facts, Verdict, facts_of
from .layers import DeviceLayer, device_layers
from .models import CHECKS
from .words import in_words


class Obstacle(NamedTuple):
    """One reason why a model may not compile on a device, or why this is unknown."""

    verdict: Verdict
    layer: Layer
    """The layer that causes the obstacle. If the model as a whole causes the obstacle, the layer at
    which irshape shows it."""
    reason: str
    source: str
    cure: Cure


class DeviceVerdict:
    """Whether a device can compile a model.

    `fails`: according to a measurement, it does not compile; `likely`: it does not compile
    according to a source, or to an inconclusive measurement; `unknown`: it has layers about which
    nothing is known; `clear`: no obstacle is known, which does not guarantee that the model runs.
    """

    def __init__(
        self,
        inference: Inference,
        layers: Sequence[DeviceLayer],
        facts: Facts,
        max_alloc: int | None = None,
    ) -> None:
        self.device = facts.device
        self.release = facts.release
        """The release of OpenVINO that the facts describe."""
        self.source = facts.source
        self.hardware = facts.hardware
        self.model: Model = inference.model
        self.obstacles: list[Obstacle] = sorted(
            _obstacles(inference, layers, facts, max_alloc),
            key=lambda each: VERDICTS.index(each.verdict),
        )
        """The obstacles for the model, most severe first."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the model: `fails`, `likely`, `unknown` or `clear`."""
        return self.obstacles[0].verdict if self.obstacles else "clear"

    @cached_property
    def layers(self) -> list[Layer]:
        """The layers that do not compile, or are likely not to."""
        return self._layers("fails", "likely")

    @cached_property
    def unjudged(self) -> list[Layer]:
        """The layers about which nothing is known."""
        return self._layers("unknown")

    def _layers(self, *verdicts: Verdict) -> list[Layer]:
        layers = [each.layer for each in self.obstacles if each.verdict in verdicts]
        return list(dict.fromkeys(layers))

    def moved(self, cpu: DeviceVerdict) -> list[Layer]:
        """Returns the layers that `HETERO:GPU,CPU` would run on the CPU: those that GPU refuses and
        CPU accepts.

        The list is empty if CPU refuses one of these layers, too, and for devices other than GPU.
        """
        if self.device != "GPU" or set(self.layers) & set(cpu.layers):
            return []
        return [layer for layer in self.layers if not (layer.is_parameter or layer.is_result)]

    def grouped(self) -> list[tuple[Obstacle, list[Layer]]]:
        """Returns the obstacles grouped by reason and advice, each with its layers."""
        groups: dict[tuple[Any, ...], tuple[Obstacle, list[Layer]]] = {}
        for each in self.obstacles:
            kind = each.verdict, each.reason, each.source, each.cure
            groups.setdefault(kind, (each, []))[1].append(each.layer)
        return list(groups.values())

    def to_dict(self) -> dict[str, Any]:
        """Returns the entry for this device in `irshape requires --format json`."""
        return {
            "verdict": self.verdict,
            "openvino": self.release,
            "source": self.source,
            "hardware": self.hardware or None,
            "reasons": [
                {
                    "verdict": each.verdict,
                    "reason": each.reason,
                    "source": each.source,
                    "cure": each.cure.text,
                    "command": each.cure.command,
                    "layers": placed(self.model, layers),
                }
                for each, layers in self.grouped()
            ],
            "unjudged": placed(self.model, self.unjudged),
        }

    def __repr__(self) -> str:
        return f"<DeviceVerdict: {self.device} {self.verdict}>"


def placed(model: Model, layers: Iterable[Layer]) -> list[dict[str, Any]]:
    """Returns layers with their lines in the file, as JSON."""
    return [layer.reference | {"line": model.source.line_number(layer.offset)} for layer in layers]


def judge(
    inference: Inference, devices: Iterable[str], max_alloc: int | None = None
) -> dict[str, DeviceVerdict]:
    """Judges whether each device can compile a model that has been inferred.

    devices: names such as `CPU`. max_alloc: the size of the largest buffer in bytes, if it is not
    the usual one of the device.
    """
    layers = list(device_layers(inference.result))
    return {name: DeviceVerdict(inference, layers, facts_of(name), max_alloc) for name in devices}


def _obstacles(
    inference: Inference,
    layers: Sequence[DeviceLayer],
    facts: Facts,
    max_alloc: int | None,
) -> Iterator[Obstacle]:
    """Yields the obstacles for a model."""
    cures = Cures(inference.model)
    told: set[Layer] = set()
    limit = facts.max_alloc if max_alloc is None else max_alloc
    for name, check in CHECKS.items():
        fact = facts.model.get(name)
        for own, detail, cure in () if fact is None else check(inference, cures, limit):
            assert fact is not None
            told.add(own)
            source = fact.source or facts.source
            yield Obstacle(fact.verdict, own, fact.reason + detail, source, cure)
    of_kind = cache(partial(_candidates, facts))
    memory: dict[object, Fact | None] = {}
    for layer in layers:
        own, key = layer.layer, layer.key
        if key not in memory:
            memory[key] = _gravest(layer, of_kind(own.type, own.version))
        fact = memory[key]
        if fact is not None and own not in told:
            source = fact.source or facts.source
            told.add(own)
            yield Obstacle(fact.verdict, own, _reason(fact), source, cures.of(fact))
    for own in (refusal.layer for refusal in inference.refused):
        if own not in told and declaration_of(own) is not None:
            reason = "OpenVINO refuses the layer when it reads the model"
            yield Obstacle("unknown", own, reason, "inference", _CORRECT)


_CORRECT = Cure("correct what `irshape validate` reports")


_Candidates = Sequence[tuple[tuple[Condition, ...], Fact]]
"""Facts, most severe first, each with the conditions that are still to be checked for a layer."""


def _candidates(facts: Facts, type_name: str, version: str) -> _Candidates:
    """Returns the facts that may apply to layers of a type and version."""
    try:
        operation = find(type_name, version)
    except UnknownOperation:
        return []
    name, opset = operation.type_name(), str(operation.since)
    concerning = [
        (conditions, fact)
        for fact in facts.about(name, opset)
        if (conditions := fact.conditions_on(name, opset)) is not None
    ]
    return sorted(concerning, key=lambda each: VERDICTS.index(each[1].verdict))


def _gravest(layer: DeviceLayer, candidates: _Candidates) -> Fact | None:
    """Returns the gravest fact on a layer, which may be `unknown`; None if the layer compiles."""
    value = layer.value
    reason = "no layer of this operation is known to compile"
    for conditions, fact in candidates:
        for condition in conditions:
            if not condition.holds(value):
                break
        else:
            return None if fact.verdict == "clear" else fact
        if fact.verdict == "clear":
            new = [
                each._replace(relation="=", values=frozenset([value(each.key)]))
                for each in conditions
                if not each.holds(value)
            ]
            others = counted(fact.compiled, "other layer")
            reason = f"not measured: {in_words(new)}; {others} of this operation compiled"
    return Fact(layer.layer.type, (), "unknown", 0, 0, reason)


def _reason(fact: Fact) -> str:
    """Returns the reason of a fact. If the conditions were found by comparing models, the reason
    also describes the layers, and says how many of the models were refused."""
    words = in_words(fact.conditions)
    if not fact.learned:
        return fact.reason
    models = f"{fact.refused} of {counted(fact.refused + fact.compiled, 'measured model')} refused"
    return f"{words or 'every layer of this kind'} ({models}): {fact.reason}"
