"""Finds the single changes that make a file consistent again, and what they explain.

Each error and warning names a layer. Every kind of slip that may have caused it, in the layer or
in the edges at it, is tried where it matters; the one after which most findings are gone, and no
new one arises, is the cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..model.graph import Body, Finding, Layer
from ..model.weights import Weights
from ..rule_ids import (
    DANGLING_EDGE,
    HUGE_TENSOR,
    INPUT_SHAPES,
    MISSING_EDGE,
    MISSING_RESULT,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from ..rules import Context
from .alone import refuted
from .attributes import attribute_causes
from .bodies import port_map_causes
from .candidate import Candidate, Diagnosis
from .constants import constant_causes
from .copies import copy_causes
from .edges import edge_at, edge_causes
from .exchanges import exchange_causes, exchanged_port_ids
from .groups import from_the_same, of_lost_inputs
from .layers import cured_causes, element_causes, id_causes, operation_causes
from .ports import lost_input_causes, port_causes, port_id_causes
from .scene import Scene
from .telling import cause_as_finding, element_start
from .trial import Key, Trial, Wanted
from .values import Patched, value_causes

MIN_WORK = 400
"""How many layers are read and checked again for a small file."""
WORK_PER_LAYER = 0.6
"""How many layers are read and checked again for each layer of the file."""
VALUE_COST = 1.2
"""Where no change of the text costs less, other values of constants are tried."""
LESS_LIKELY = 0.5
"""So much more than the first may a candidate cost that is listed beside it."""
MUCH_LESS_LIKELY = 1.0
"""The same where the first does not explain everything."""
BESIDE = 6
"""How many candidates are tried beside the first that explains something."""
SHOWN = 3
"""With so many candidates, those that are clearly less likely are not looked for."""
MAX_CORE = 32
"""How many layers of a part are checked in full."""
MAX_BEFORE = 12
"""How many layers before a change are looked at for values."""
MAX_VALUES_BEFORE = 48
"""How many, where a size is not proven without them."""
MAX_BEHIND = 100
"""Among how many layers behind a change consequences are looked for."""
MAX_FINDINGS = 40
"""With more errors and warnings than this, no single slip is looked for."""
FEW = 8
"""With more errors and warnings than this, what could be meant is not changed unasked."""
OTHERS = 4
"""Among how many findings the one is looked for whose cause explains most."""
LISTED = 5
"""How many candidates a diagnosis lists."""

_LAYER_CAUSES = (
    element_causes,
    constant_causes,
    port_causes,
    port_id_causes,
    lost_input_causes,
    operation_causes,
    attribute_causes,
    port_map_causes,
)
_DIAGNOSED = (
    *("IR006", "IR009", "IR010", "IR10", "IR11", "IR121", "IR122", "IR2", "IR3", "IR4", "IR50"),
    *("IR602", "IR603", "IR604"),
)


def diagnose(context: Context, findings: Sequence[Finding]) -> list[Diagnosis]:
    """The causes of errors and warnings, each with what it explains and what takes it back."""
    graver = [
        finding
        for finding in findings
        if finding.severity != "info" and finding.rule.code.startswith(_DIAGNOSED)
    ]
    if len(context.due_to_inputs) > 1:  # several layers say the same of two inputs
        graver = [
            finding
            for finding in graver
            if finding.rule != INPUT_SHAPES or finding.layer not in context.due_to_inputs
        ]
    model = context.model
    if not graver or model.kind != "net" or not model.format.fixable:
        return []
    diagnoses = []
    if len(graver) > 1:
        from .whole_file import whole_file_cause

        whole = whole_file_cause(context, graver, _single)
        if whole is not None:
            diagnoses.append(whole)
            explained = set(map(id, whole.explained))
            graver = [finding for finding in graver if id(finding) not in explained]
    huge = [finding for finding in graver if finding.rule == HUGE_TENSOR]  # true by itself
    graver = [finding for finding in graver if finding.rule != HUGE_TENSOR]
    if len(graver) <= MAX_FINDINGS:
        diagnoses += _Search(context, graver, huge).run()
    diagnoses += of_lost_inputs(graver, diagnoses)
    several = {id(f) for each in diagnoses if len(each.explained) > 1 for f in each.explained}
    left = [finding for finding in graver if id(finding) not in several]
    alone = {id(each.explained[0]): each for each in diagnoses if len(each.explained) == 1}
    groups = list(from_the_same(model.source, left, alone))
    grouped = {id(finding) for group in groups for finding in group.explained}
    return [
        *groups,
        *(each for each in diagnoses if grouped.isdisjoint(map(id, each.explained))),
    ]


def _single(context: Context, findings: Sequence[Finding], count: int) -> Diagnosis | None:
    """The one constant that explains so many findings, if there is one."""
    search = _Search(context, findings)
    for finding in search.waiting[:2]:
        for scene, position in search.places(finding):
            if position is None:
                continue
            for entry in search.tried(scene, finding, value_causes(scene, finding, position)):
                if entry[0] >= count:
                    cause = cause_as_finding(context.model.source, entry[1], entry[2])
                    return Diagnosis(cause, entry[2], (), False)
    return None


_RESULT = ("a Result", 'type="Result"')
"""The changes after which a body has a Result."""
_WIRING = ("IR10", "IR11", "IR402", "IR60")
"""Findings with which it is not known what feeds what."""


_Explaining = tuple[int, Candidate, tuple[Finding, ...]]
"""How many findings a candidate explains, the candidate, and those findings."""


class _Search:
    """The search in one model."""

    def __init__(
        self, context: Context, findings: Sequence[Finding], consequences: Sequence[Finding] = ()
    ) -> None:
        self.context = context
        self.consequences = consequences
        """Findings that are no cause by themselves."""
        self.waiting = sorted(findings, key=_depth_of_cause)
        astray = [finding for finding in self.waiting if finding.rule == DANGLING_EDGE]
        edges = {element_start(context.model.source, finding.offset) for finding in astray}
        if len(edges) == 1 and self.waiting[0].rule == MISSING_EDGE:
            # the cause of the edge that is missing is that of the one that leads astray
            self.waiting.sort(key=lambda finding: finding.rule != DANGLING_EDGE)
        self.few = len(findings) <= FEW
        self.counts = Counter((finding.rule.code, finding.layer) for finding in findings)
        self.left = max(MIN_WORK, int(WORK_PER_LAYER * len(context.every_layer)))
        self.scenes: dict[Body, Scene] = {}
        self.bodies: dict[Layer, Body] = {
            layer: body for body in context.results for layer in body.layers
        }
        self.by_path = {body.path: body for body in context.results}
        self.trials: dict[tuple[Body, frozenset[int]], Trial] = {}
        self.causes: dict[int, Diagnosis | None] = {}

    def run(self) -> Iterator[Diagnosis]:
        while self.waiting and self.left > 0:
            diagnosis = self.most_explaining()
            if diagnosis is None:
                self.waiting.pop(0)
                continue
            yield diagnosis
            gone = set(map(id, diagnosis.explained))
            self.waiting = [other for other in self.waiting if id(other) not in gone]
            self.causes = {
                key: cause
                for key, cause in self.causes.items()
                if cause is not None and gone.isdisjoint(map(id, cause.explained))
            }

    def most_explaining(self) -> Diagnosis | None:
        """The cause of the first finding, or one of the next that explains it and more."""
        first = self.known_cause(self.waiting[0])
        most = first
        for other in self.waiting[1:OTHERS]:
            if most is not None and len(most.explained) == len(self.waiting):
                break
            cause = self.known_cause(other)
            explained = () if cause is None else cause.explained
            if len(explained) > max(1, len(most.explained) if most is not None else 0):
                most = cause
        return most

    def known_cause(self, finding: Finding) -> Diagnosis | None:
        """The cause of a finding, which is looked for once."""
        key = id(finding)
        if key not in self.causes:
            self.causes[key] = self.cause_of(finding)
        return self.causes[key]

    def scene(self, body: Body) -> Scene | None:
        """A body as it is looked at; None if it was not inferred."""
        scene = self.scenes.get(body)
        if scene is None:
            result = self.context.results.get(body)
            if result is None:
                return None
            scene = self.scenes[body] = Scene(self.context, result)
        return scene

    def places(self, finding: Finding) -> Iterator[tuple[Scene, int | None]]:
        """Where to look for the cause of a finding: in its layer, then in the one around it."""
        layer = finding.layer
        if layer is None:
            for any_body in self.context.results:
                scene = self.scene(any_body)
                if scene is not None and edge_at(scene, finding.offset) is not None:
                    yield scene, None
            return
        body: Body | None = self.bodies.get(layer)
        while body is not None and layer is not None:
            scene = self.scene(body)
            if scene is None:
                return
            yield scene, scene.position.get(layer)
            if not body.path:
                return
            holder, outer = body.path[-2], self.by_path.get(body.path[:-2])
            if outer is None:
                return
            layer, body = outer.by_id.get(holder), outer

    def cause_of(self, finding: Finding) -> Diagnosis | None:
        """The change that explains most, among those that explain this finding."""
        best: list[_Explaining] = []
        for scene, position in self.places(finding):
            best += self.tried(scene, finding, self.candidates(scene, finding, position))
            if position is not None and min((e[1].cost for e in best), default=2.0) > VALUE_COST:
                best += self.tried(scene, finding, value_causes(scene, finding, position))
            if best:
                break
        if not best:
            return None
        best.sort(key=lambda entry: (-entry[0], entry[1].cost))
        most, first, explained = best[0]
        rivals = [entry for entry in best if entry[0] == most]
        certain = (
            first.certain
            and (self.few or not first.bold)
            and (len(rivals) == 1 or rivals[1][1].cost - first.cost >= CLEARLY)
        )
        return Diagnosis(
            cause_as_finding(self.context.model.source, first, explained),
            explained,
            tuple(entry[1] for entry in best[:LISTED] if entry[1].edits) if first.edits else (),
            certain,
        )

    def tried(
        self, scene: Scene, finding: Finding, candidates: Iterable[Candidate]
    ) -> list[_Explaining]:
        """Those of some candidates that explain a finding, each with what it explains."""
        explaining: list[_Explaining] = []
        tried: set[object] = set()
        beside = 0
        for candidate in sorted(candidates, key=lambda candidate: candidate.cost):
            if explaining and (beside >= BESIDE or self.settled(explaining, candidate.cost)):
                break  # nothing that is left is as likely
            beside += bool(explaining)
            key = (candidate.edits, candidate.patch)
            if key in tried or key == ((), None):
                continue
            tried.add(key)
            if self.left <= 0:
                break
            explained = self.explained(scene, candidate, finding)
            if explained:
                explaining.append((len(explained), candidate, explained))
        return explaining

    def settled(self, explaining: list[_Explaining], cost: float) -> bool:
        """Whether candidates that cost so much need not be tried any more."""
        most, first, _ = max(explaining, key=lambda entry: (entry[0], -entry[1].cost))
        if most < len(self.waiting):
            return cost > first.cost + MUCH_LESS_LIKELY
        enough = len(explaining) >= SHOWN or most > 1
        return cost > first.cost + (CLEARLY if enough else LESS_LIKELY)

    def candidates(
        self, scene: Scene, finding: Finding, position: int | None
    ) -> Iterator[Candidate]:
        """Every slip that may be behind a finding."""
        start = element_start(scene.source, finding.offset)
        for other in self.waiting:
            if (
                other is finding
                or (position is not None and other.layer is finding.layer)
                or element_start(scene.source, other.offset) == start
            ):
                yield from cured_causes(scene, other, position)
        if position is not None:
            yield from exchanged_port_ids(scene, position)
            yield from copy_causes(scene, finding, position)
        yield from _candidates(scene, finding, position)
        if position is not None and len(self.waiting) > 1:
            yield from exchange_causes(scene, self.flagged(scene), position)

    def explained(
        self, scene: Scene, candidate: Candidate, finding: Finding
    ) -> tuple[Finding, ...]:
        """The findings that are gone after a change; none if a new one has come."""
        weights = self.weights(candidate)
        if refuted(scene, finding, candidate, weights):
            return ()
        if weights is not None and not self.settles(scene, finding, weights):
            return ()
        trial = self.trial(scene, candidate, finding)
        if trial is None:
            return ()
        needs = candidate.needs if trial.scene is scene else ()
        wanted = Wanted(finding, self.counts[finding.rule.code, finding.layer])
        after = trial.check(candidate.edits, needs, weights, wanted)
        self.left -= trial.size + 4
        if after is None:
            return ()
        base = trial.base
        new = after - base
        if {code for code, _ in new} <= {UNPROVEN_DIMENSION.code} and trial.scene is scene:
            wider = self.with_values(trial, needs, after)
            if wider is not None:
                trial = wider
                after = trial.check(candidate.edits, needs, weights, wanted)
                if after is None:
                    return ()
                base = trial.base
                new = after - base
        if new:
            return ()
        gone = base - after
        explained = [other for other in (*self.waiting, *self.consequences) if _take(gone, other)]
        wired = finding.rule.code.startswith(_WIRING)
        rewired = candidate.becomes is None or candidate.becomes.element == "layer"
        reached = {
            scene.layers[at] for at in (*candidate.needs, *(candidate.touched if wired else ()))
        }
        explained += [
            other
            for other in self.waiting
            if other.rule == UNREACHABLE_LAYER and other.layer in reached and rewired
        ]
        explained += [
            other
            for other in self.waiting
            if other.rule == MISSING_RESULT and candidate.change.startswith(_RESULT)
        ]
        return tuple(explained) if any(other is finding for other in explained) else ()

    def with_values(self, trial: Trial, needs: Iterable[int], after: Counter[Key]) -> Trial | None:
        """A part with the layers on whose values a size depends that is not proven in another."""
        if all(code != UNPROVEN_DIMENSION.code for code, _ in after):
            return None
        scene = trial.scene
        core = {*trial.core, *needs}
        core.update(at for inner in trial.core for at in _named_by_edges(scene, inner))
        core |= _behind_values(scene, core, MAX_VALUES_BEFORE)
        if len(core) == trial.size:
            return None
        wider = Trial(scene, core)
        self.left -= 2 * wider.size
        return wider

    def weights(self, candidate: Candidate) -> Weights | None:
        """The .bin with the change of a candidate, if it makes one."""
        weights = self.context.model.weights
        if candidate.patch is None or weights is None:
            return None
        return Patched(weights, candidate.patch)

    def settles(self, scene: Scene, finding: Finding, weights: Weights) -> bool:
        """Whether another .bin takes a finding back, its layer looked at alone."""
        at = scene.position.get(finding.layer) if finding.layer is not None else None
        if at is None:
            return False
        key = (scene.body, frozenset((at,)))
        trial = self.trials.get(key)
        if trial is None:
            trial = self.trials[key] = Trial(scene, (at,))
        after = trial.check((), (), weights, Wanted(finding, 1))
        self.left -= 2
        return after is not None and not after

    def trial(self, scene: Scene, candidate: Candidate, finding: Finding) -> Trial | None:
        """The part of the net that a change may concern: of a body, the layer that holds it."""
        touched = set(candidate.touched)
        if finding.layer in scene.position:
            touched.add(scene.position[finding.layer])
        if scene.body.path:
            net = self.scene(self.context.model.net)
            holders = [] if net is None else net.by_id.get(scene.body.path[0], [])
            if net is None or not holders:
                return None
            scene, touched = net, {holders[0]}
        core = self.concerned(scene, touched, finding.rule.code.startswith(_WIRING))
        key = (scene.body, frozenset(core))
        trial = self.trials.get(key)
        if trial is None:
            trial = self.trials[key] = Trial(scene, core)
            self.left -= trial.size + 4
        return trial

    def concerned(self, scene: Scene, touched: set[int], wired: bool) -> set[int]:
        """Some layers, those that they feed, and those behind that depend on their values.

        wired: what fed them was not known, so that the values that they need may not be either.
        """
        core = set(touched)
        if wired:
            core |= _behind_values(scene, touched)
        waiting = sorted(touched)
        for at in waiting:
            for _, consumer, _ in scene.consumers[at]:
                if consumer in core or len(core) >= MAX_CORE:
                    continue
                core.add(consumer)
                if _carries_sizes(scene, consumer):
                    waiting.append(consumer)
        return core | self.flagged_behind(scene, touched)

    def flagged_behind(self, scene: Scene, touched: set[int]) -> set[int]:
        """The layers on the way from some to others that have findings of their own."""
        flagged = self.flagged(scene)
        came: dict[int, int] = dict.fromkeys(touched, -1)
        waiting = sorted(touched)
        for at in waiting:
            for _, consumer, _ in scene.consumers[at]:
                if consumer not in came and len(came) < MAX_BEHIND:
                    came[consumer] = at
                    waiting.append(consumer)
        way: set[int] = set()
        for end in sorted(flagged & came.keys()):
            at = end
            while at >= 0 and at not in way and len(way) < MAX_CORE:
                way.add(at)
                at = came[at]
        return way

    def flagged(self, scene: Scene) -> set[int]:
        """The layers of a body with findings that wait for a cause, in bodies of theirs too."""
        depth = len(scene.body.path)
        positions: set[int] = set()
        for finding in (*self.waiting, *self.consequences):
            layer = finding.layer
            if layer is None:
                continue
            if layer in scene.position:
                positions.add(scene.position[layer])
            elif layer.path[:depth] == scene.body.path and len(layer.path) > depth:
                positions.update(scene.by_id.get(layer.path[depth], ()))
        return positions


def _named_by_edges(scene: Scene, position: int) -> Iterator[int]:
    """The layers from which edges to a layer come, to ports that it does not have, too."""
    layer = scene.layers[position]
    ports = {port.id for port in layer.inputs}
    for edge in scene.edges_to.get(layer.id, ()):
        if edge.to_port not in ports:
            yield from scene.by_id.get(edge.from_layer, ())


def _behind_values(scene: Scene, positions: set[int], most: int = MAX_BEFORE) -> set[int]:
    """The layers that compute few whole numbers for some layers, where those are not known."""
    layers: set[int] = set()
    waiting = sorted(positions)
    for at in waiting:
        for source in scene.sources[at]:
            if source is None or source[0] in layers or len(layers) >= most:
                continue
            outputs = scene.outputs(source[0])
            if source[1] >= len(outputs):
                continue
            tensor = outputs[source[1]]
            static = tensor.shape.static is not None and tensor.shape.size.low <= 64
            if static and tensor.value is None and not tensor.element_type.is_real:
                layers.add(source[0])
                waiting.append(source[0])
    return layers


def _carries_sizes(scene: Scene, position: int) -> bool:
    """Whether a layer produces few whole numbers, on which shapes may depend."""
    return any(
        not tensor.element_type.is_real
        and (tensor.shape.static is not None and tensor.shape.size.low <= 64)
        for tensor in scene.outputs(position)
    )


def _depth_of_cause(finding: Finding) -> tuple[int, int]:
    """What is wrong by itself comes first, what may only follow from it last."""
    code = finding.rule.code
    families = ("IR009", "IR10", "IR11", "IR60", "IR3", "IR50", "IR2", "IR4")
    late = code in ("IR115", "IR116", "IR203", "IR408")
    family = next((i for i, name in enumerate(families) if code.startswith(name)), len(families))
    return (len(families) + 1 if late else family, finding.offset)


CLEARLY = 0.25
"""How much likelier the first candidate must be than the next to be the one right answer."""


def _candidates(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    yield from id_causes(scene, finding, position)
    yield from edge_causes(scene, finding, position)
    if position is not None:
        for causes in _LAYER_CAUSES:
            yield from causes(scene, finding, position)


def _take(gone: Counter[Key], finding: Finding) -> bool:
    """Whether a finding is among those that are gone; it is then taken from them."""
    key = (finding.rule.code, finding.layer)
    if gone[key] <= 0:
        return False
    gone[key] -= 1
    return True
