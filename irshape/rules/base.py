"""What a rule is, and what it may look at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, Literal, TypeVar

from ..inference.engine import Finding, Inference
from ..model import Body, Constant, Layer, Model, Problem
from ..wiring import Wiring, wire

T = TypeVar("T")


class Context:
    """A model, what was inferred of it, and the wiring of its bodies."""

    def __init__(self, model: Model, inference: Inference) -> None:
        self.model = model
        self.inference = inference
        self._wirings: dict[int, Wiring] = {}
        self._collect(inference.result)

    def _collect(self, result: object) -> None:
        from ..inference.engine import BodyResult

        assert isinstance(result, BodyResult)
        self._wirings[id(result.body)] = result.wiring
        for inner in result.inner.values():
            for body in inner.values():
                self._collect(body)

    @cached_property
    def bodies(self) -> list[Body]:
        """The net and every body inside it."""
        return list(self.model.net.all_bodies())

    @cached_property
    def constants(self) -> list[tuple[Layer, Constant]]:
        """The Const layers whose attributes describe a constant; the others are the business of the attribute rules."""
        found = []
        for layer in self.model.walk():
            if layer.type == "Const" or layer.type.lower() in ("const", "constant"):
                try:
                    constant = Constant.of(layer, self.model.weights)
                except ValueError:
                    continue
                if constant.offset >= 0 and constant.size >= 0 and min(constant.shape, default=0) >= 0:
                    found.append((layer, constant))
        return found

    def wiring(self, body: Body) -> Wiring:
        found = self._wirings.get(id(body))
        if found is None:
            found = self._wirings[id(body)] = wire(body)
        return found

    @cached_property
    def _findings(self) -> dict[type, list[Finding]]:
        grouped: dict[type, list[Finding]] = {}
        for finding in self.inference.findings:
            grouped.setdefault(type(finding.subject), []).append(finding)
        return grouped

    def met(self, kind: type[T]) -> Iterator[tuple[Layer, T]]:
        """What inference met of one kind, with its layer."""
        for finding in self._findings.get(kind, ()):
            assert isinstance(finding.subject, kind)
            yield finding.layer, finding.subject


class Rule:
    """A rule. `check` finds its problems; one that has none is met while reading or inferring, and reported under its name."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Literal["error", "warning", "info"]]

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        return iter(())
