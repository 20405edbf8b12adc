"""Several ports that declare what is not so: of one layer, or of layers that feed each other or
stand beside each other.

Inference goes on with what a port declares where what it feeds repeats that, so that such a run
shows where it begins and where it ends. Here it is followed: its layers are inferred again from
what those before them really produce, as long as that is not what they declare.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from ...element_types import ElementType
from ...faults import Fault
from ...formats.ir.edits import Edit
from ...model.graph import Finding
from ...model.ports import Port
from ...ops.registry import UnknownOperation
from ...ops.tensors import Tensor
from ...rule_ids import CONSTANT_TYPE
from ..candidate import Candidate
from ..rule_groups import BETWEEN_PORTS, OF_OUTPUTS
from ..telling import replaced_sizes
from ..trials.parts import MAX_CORE
from ..trials.scene import Scene
from .likely_sources import likely_sources
from .ports import as_inferred, declared_as_fed, shown

NEAR = 8
"""So many layers apart at most stand two of one run that nothing joins."""
MAX_FOLLOWED = 3 * MAX_CORE
"""How many layers are inferred again."""
OF_PORTS = (*BETWEEN_PORTS, *OF_OUTPUTS, CONSTANT_TYPE)


def port_run_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The ports of a run of layers declare another size, or another type, than is inferred."""
    if finding.rule not in OF_PORTS or finding.layer is not scene.layers[position]:
        return
    run = _Run(scene, _starts(scene, finding, position))
    if not run.follow() or len(run.wrong) < 2:
        return
    replaced = run.replaced()
    several = len(run.edits) > 1
    if run.begins_at_one_output or (several and not run.misstated and replaced is None):
        return  # edges may come from another layer
    shows = run.shows or (len(run.beginnings) > 1 and bool(run.misstated))
    more = len({at for at, _ in run.misstated}) - (finding.rule not in BETWEEN_PORTS)
    if more > 0 and not shows:
        return  # nothing says that so many declare what is wrong
    direction, first, at = min(run.wrong, key=lambda each: each[1].offset)
    layers = f"{len(run.edits)} layers" if several else "the layer"
    where = f"{len(run.wrong)} ports of {layers}"
    change = f"{where} declare what is inferred"
    cause = f"{where} declare what does not fit those around them, the first {shown(first)}"
    if replaced is not None:
        change = f"{replaced[1]} in place of {replaced[0]} in {where}"
        cause = f"{where} declare {replaced[0]} where {replaced[1]} is inferred"
    yield Candidate(
        tuple(edit for each in run.edits.values() for edit in each),
        change,
        cause,
        first.offset,
        scene.layers[at],
        (*run.edits, *run.behind),
        port=(direction, first.id),
        cost=0.5 if shows else 1.5 if run.misstated else 0.9 if several else 1.3,
        bold=bool(run.misstated) and not shows,
        rule=finding.rule,
    )


def _starts(scene: Scene, finding: Finding, position: int) -> set[int]:
    """The layer of a finding, and those near it that declare the same where it is not so."""
    texts = _declared(finding)
    alike = {
        scene.position[other.layer]
        for other in scene.findings
        if other.layer in scene.position
        and other.rule in OF_PORTS
        and not texts.isdisjoint(_declared(other))
    }
    starts = {position}
    for step in (-1, 1):
        last = position
        for at in sorted(alike, reverse=step < 0):
            if 0 < (at - last) * step <= NEAR:
                starts.add(at)
                last = at
    return starts


def _declared(finding: Finding) -> set[str]:
    """The sizes, or the type, that are declared in place of others."""
    if finding.rule == CONSTANT_TYPE:  # its attribute is held to be wrong, and not its port
        return {ElementType.of(finding.expected or "").precision}
    return {one for one, _ in replaced_sizes(finding) or ()}


class _Run:
    """The layers from some on whose ports declare something other than is inferred."""

    def __init__(self, scene: Scene, starts: set[int]) -> None:
        self.scene = scene
        self.starts = starts
        self.edits: dict[int, list[Edit]] = {}
        """What takes it back, by the position of the layer."""
        self.wrong: list[tuple[str, Port, int]] = []
        """The ports that declare it: direction, port and position of the layer."""
        self.behind: dict[int, None] = {}
        """The layers that take what others declare wrongly, and declare nothing wrong."""
        self.shows = False
        """Whether the file contradicts it where it ends."""
        self.beginnings: list[set[tuple[int, int]]] = []
        """What feeds those of its layers that none of the others feeds."""
        self._truth: dict[tuple[int, int], Tensor] = {}
        """What is inferred for outputs that declare something else, or depend on such."""
        self.misstated: set[tuple[int, int]] = set()
        """The outputs that declare something else."""

    def follow(self) -> bool:
        """Whether everything that it leads to can be inferred."""
        scene = self.scene
        rank = {at: index for index, at in enumerate(scene.result.wiring.order)}
        waiting = [(rank.get(at, -1), at) for at in self.starts]
        heapify(waiting)
        seen: set[int] = set()
        while waiting:
            index, at = heappop(waiting)
            if at in seen:
                continue
            seen.add(at)
            if index < 0 or len(seen) > MAX_FOLLOWED or not self._infer(at):
                return False
            for output, consumer, i in scene.consumers[at]:
                tensor = self._truth.get((at, output))
                if (
                    tensor is not None
                    and consumer not in seen
                    and self._reaches(consumer, i, tensor, (at, output) in self.misstated)
                ):
                    heappush(waiting, (rank.get(consumer, -1), consumer))
        return len(self.edits) <= MAX_CORE

    def _reaches(self, position: int, index: int, tensor: Tensor, misstated: bool) -> bool:
        """Whether an input of a layer declares, or was given, something else than a tensor.

        misstated: what feeds it does declare something else.
        """
        scene = self.scene
        given = scene.result.inputs.get(position, ())
        before = given[index] if index < len(given) else None
        port = scene.layers[position].inputs[index]
        wrong = _declares(port) and bool(as_inferred(scene, port, tensor))
        agrees = _declares(port) and not wrong
        self.shows |= misstated and agrees and position not in self.starts
        return (
            wrong
            or before is None
            or (before.element_type, before.shape) != (tensor.element_type, tensor.shape)
            or (before.value is not None and before.value != tensor.value)
        )

    def _infer(self, position: int) -> bool:
        """Compares the ports of a layer with what is inferred; False where it refuses that."""
        scene, layer = self.scene, self.scene.layers[position]
        edits: list[Edit] = []
        inputs: list[Tensor] = []
        given = scene.result.inputs.get(position, ())
        changed = False
        for index, (port, source) in enumerate(
            zip(layer.inputs, scene.sources[position], strict=True)
        ):
            if source is None:
                return False
            truth = self._truth.get(source)
            changed |= truth is not None
            if _declares(port):
                feeding = scene.layers[source[0]].outputs[source[1]]
                correction = (
                    declared_as_fed(scene, port, feeding)
                    if truth is None
                    else as_inferred(scene, port, truth)
                )
                edits += self._noted("input", port, position, correction)
            tensor = truth or (given[index] if index < len(given) else None)
            if tensor is None:
                return False
            inputs.append(tensor)
        outputs: tuple[Tensor, ...] | Fault = scene.outputs(position)
        if changed:
            self.shows |= position not in self.starts and layer in scene.flagged
            declaration = scene.engine.declarations.of(layer)
            if isinstance(declaration, UnknownOperation) or not all(
                faulty.silent for faulty in declaration[1]
            ):
                return False  # inference passes over it, too
            outputs = scene.engine.infer_layer(layer, tuple(inputs)).outputs
        if isinstance(outputs, Fault):
            return False
        for index, (port, tensor) in enumerate(zip(layer.outputs, outputs, strict=False)):
            correction = self._noted("output", port, position, as_inferred(scene, port, tensor))
            edits += correction
            if correction:
                self.misstated.add((position, index))
            if correction or changed:
                self._truth[position, index] = tensor
        if edits:
            self.edits[position] = edits
            if not changed:
                self.beginnings.append({source for source in scene.sources[position] if source})
        else:
            self.behind[position] = None
        return True

    def _noted(self, direction: str, port: Port, position: int, edits: list[Edit]) -> list[Edit]:
        if edits:
            self.wrong.append((direction, port, position))
        return edits

    @property
    def begins_at_one_output(self) -> bool:
        """Whether several layers begin it that one output feeds, and another declares what they
        ask for."""
        scene = self.scene
        if len(self.beginnings) < 2 or not set.intersection(*self.beginnings):
            return False
        fed = set.intersection(*self.beginnings)
        return any(
            source in fed and any(True for _ in likely_sources(scene, at, port))
            for direction, port, at in self.wrong
            if direction == "input"
            for other, source in zip(scene.layers[at].inputs, scene.sources[at], strict=True)
            if other is port
        )

    def replaced(self) -> tuple[str, str] | None:
        """The one text, and the other that is written in its place everywhere."""
        source = self.scene.source
        edits = [edit for each in self.edits.values() for edit in each]
        texts = {(source.data[edit.start : edit.end], edit.text) for edit in edits}
        (one, other), *others = texts
        if others or not one or b"<" in one + other:
            return None
        return one.decode(source.encoding, "replace"), other.decode(source.encoding, "replace")


def _declares(port: Port) -> bool:
    """Whether an input port says anything of what it is fed."""
    return port.precision is not None or bool(port.dims)
