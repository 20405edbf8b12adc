"""What a rule may look at: the model, what was inferred of it, and how its layers are connected."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

from ..faults import Fault
from ..inference.result import BodyResult, Inference, Mismatch, Observation, OutputCount
from ..model.graph import Body, Layer, Model
from ..model.weights import Constant
from ..model.wiring import Wiring, wire
from ..ops.declaration import AttributeFault
from ..rule_ids import INPUT_COUNT, MISSPELT_ELEMENT, REPEATED_ELEMENT, UNKNOWN_ATTRIBUTE, RuleId
from ..types import DYNAMIC_TYPE, UNBOUNDED
from .links import Links
from .settings import PLAIN, Settings

T = TypeVar("T")


class Context:
    """A model, what was inferred of it, and the wiring of its bodies."""

    def __init__(self, model: Model, inference: Inference, settings: Settings = PLAIN) -> None:
        self.model = model
        self.inference = inference
        self.settings = settings
        """What the user has set: the target release, extensions, policy."""
        self._wirings: dict[int, Wiring] = {}
        self._links: dict[int, Links] = {}
        self.results: dict[int, BodyResult] = {}
        """What was inferred of each body, by its `id`."""
        self._collect(inference.result)

    def _collect(self, result: BodyResult) -> None:
        self.results[id(result.body)] = result
        self._wirings[id(result.body)] = result.wiring
        for inner in result.inner.values():
            for body in inner.values():
                self._collect(body)

    @cached_property
    def bodies(self) -> list[Body]:
        """The net and every body inside it."""
        return list(self.model.net.all_bodies())

    @cached_property
    def every_layer(self) -> list[Layer]:
        """The layers in file order, those inside bodies after the layer that holds them."""
        return list(self.model.walk())

    @cached_property
    def constants(self) -> list[tuple[Layer, Constant]]:
        """The Const layers whose attributes describe a constant; the others are the business of the attribute rules."""
        found = []
        known: dict[tuple[str, ...], Constant | None] = {}
        for layer in self.layers("const", "constant"):
            if layer.items not in known:
                known[layer.items] = self._constant(layer)
            constant = known[layer.items]
            if constant is not None:
                found.append((layer, constant))
        return found

    def _constant(self, layer: Layer) -> Constant | None:
        try:
            constant = Constant.of(layer.items, self.model.weights)
        except ValueError:
            return None
        sound = (
            constant.offset >= 0
            and constant.size >= 0
            and (not constant.shape or 0 <= min(constant.shape) <= max(constant.shape) < UNBOUNDED)
        )
        return constant if sound else None

    @cached_property
    def by_type(self) -> dict[str, list[tuple[Body, int]]]:
        """The layers of each type, in lower case: the body and the position in it."""
        found: dict[str, list[tuple[Body, int]]] = {}
        for body in self.bodies:
            for position, layer in enumerate(body.layers):
                found.setdefault(layer.type.lower(), []).append((body, position))
        return found

    @cached_property
    def precisions(self) -> set[str | None]:
        """Every `precision` that some port has, None where one has none."""
        return {
            port.precision
            for layer in self.every_layer
            for ports in (layer.inputs, layer.outputs)
            for port in ports
        }

    def layers(self, *types: str) -> Iterator[Layer]:
        """The layers of some types, in lower case."""
        for name in types:
            for body, position in self.by_type.get(name, ()):
                yield body.layers[position]

    @cached_property
    def noted(self) -> dict[int, set[RuleId]]:
        """The rules under which reading met something, by layer."""
        found: dict[int, set[RuleId]] = {}
        for problem in self.model.findings:
            if problem.layer is not None:
                found.setdefault(id(problem.layer), set()).add(problem.rule)
        return found

    @cached_property
    def torn(self) -> bool:
        """Whether <layers> or <edges> stand somewhere twice or misspelt: what they hold is not all there, so nothing is said of what is missing."""
        return any(
            problem.rule in (MISSPELT_ELEMENT, REPEATED_ELEMENT)
            and {problem.expected, problem.actual} & {"layers", "edges"}
            for problem in self.model.findings
        )

    @cached_property
    def doubtful(self) -> set[int]:
        """Layers whose attributes are in doubt: what is inferred with a default in the place of what was meant says nothing against their ports."""
        found = {
            key for key, rules in self.noted.items() if rules & {MISSPELT_ELEMENT, REPEATED_ELEMENT}
        }
        return found | {
            id(layer)
            for layer, problem in self.met(AttributeFault)
            if problem.fault.rule != UNKNOWN_ATTRIBUTE
        }

    @cached_property
    def mistyped(self) -> set[int]:
        """The Const layers whose `element_type` is contradicted by their port and by a port that it feeds: it is the odd one out of three."""
        differing = {
            id(layer): found.declared.element_type
            for layer, found in self.met(Mismatch)
            if layer.type.lower() in ("const", "constant")
            and found.declared.element_type not in (found.inferred.element_type, DYNAMIC_TYPE)
        }
        found: set[int] = set()
        if not differing:
            return found
        for body in self.bodies:
            for position, row in enumerate(self.wiring(body).sources):
                for port, source in zip(body.layers[position].inputs, row, strict=True):
                    if (
                        source is not None
                        and (given := differing.get(id(body.layers[source[0]]))) is not None
                        and port.element_type is given
                    ):
                        found.add(id(body.layers[source[0]]))
        return found

    @cached_property
    def without_outputs(self) -> set[int]:
        """Layers that declare no output port though their operation has some."""
        return {id(layer) for layer, count in self.met(OutputCount) if not count.declared}

    @cached_property
    def miscounted(self) -> set[int]:
        """Layers with a wrong number of inputs."""
        return {id(layer) for layer, violation in self.met(Fault) if violation.rule == INPUT_COUNT}

    def links(self, body: Body) -> Links:
        """What is wrong with the edges of a body."""
        found = self._links.get(id(body))
        if found is None:
            found = self._links[id(body)] = Links(
                body,
                self.wiring(body),
                torn=self.torn,
                alone=self.model.kind == "layers",
                without_outputs=self.without_outputs,
                miscounted=self.miscounted,
            )
        return found

    def wiring(self, body: Body) -> Wiring:
        found = self._wirings.get(id(body))
        if found is None:
            found = self._wirings[id(body)] = wire(body)
        return found

    @cached_property
    def _findings(self) -> dict[type, list[Observation]]:
        grouped: dict[type, list[Observation]] = {}
        for finding in self.inference.observations:
            grouped.setdefault(type(finding.subject), []).append(finding)
        return grouped

    def met(self, kind: type[T]) -> Iterator[tuple[Layer, T]]:
        """What inference met of one kind, with its layer."""
        for finding in self._findings.get(kind, ()):
            assert isinstance(finding.subject, kind)
            yield finding.layer, finding.subject
