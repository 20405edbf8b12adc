"""Finds the single changes that make a file consistent again, and what they explain.

Each error and warning names a layer. Every kind of slip that may have caused it, in the layer or
in the edges at it, is tried where it matters; the one after which most findings are gone, and no
new one arises, is the cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import inf

from ..model.graph import Body, Finding
from ..model.weights import Weights
from ..rule_ids import (
    CYCLE,
    DANGLING_EDGE,
    LOOSER_DECLARATION,
    MALFORMED_EDGE,
    MISSING_EDGE,
    MISSING_RESULT,
    MISSPELT_ELEMENT,
    PORT_MAP,
    UNKNOWN_VARIABLE,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from ..rules import Context
from .candidate import Candidate, Diagnosis
from .causes_first import causes_first
from .elements.alone import refuted
from .elements.exchanges import exchange_causes
from .elements.lost_layers import of_lost_layers
from .elements.misspelt_names import cured_causes
from .elements.slips import slips
from .elements.values import Patched, value_causes
from .elements.variables import gives_variable
from .telling import cause_as_finding, element_start
from .trials.cycles import breaks_cycles
from .trials.ordering import CandidateSource, CheapestFirst
from .trials.parts import (
    MAX_VALUES_BEFORE,
    behind_values,
    between,
    concerned,
    flagged_layers,
    named_by_edges,
    touched_layers,
)
from .trials.reading import is_as_written
from .trials.scene import Scene
from .trials.stage import Stage
from .trials.trial import Key, Trial, Wanted, take
from .trials.work import OF_A_BIN, OF_A_LOOK, OF_A_PORT_MAP, OF_A_SCENE, OF_A_SOURCE, Work

MAX_NEXT = 3
"""For how many causes beside the first some work is left."""
VALUE_COST = 1.2
"""Where no change of the text costs less, other values of constants are tried."""
LESS_LIKELY = 0.5
"""So much more than the first may a candidate cost that is listed beside it."""
MUCH_LESS_LIKELY = 1.0
"""The same where the first does not explain everything."""
PROVEN = 0.8
"""Beside a certain cause that costs no more than this, one that is less likely says nothing."""
LOOKED_AT_WIDELY = 2
"""Of how many candidates it is seen what they explain by several ways."""
LOOSER = 0.4
"""How much less likely a change is after which more ports leave open what is inferred."""
BESIDE = 6
"""How many candidates are tried beside the first that explains something."""
SHOWN = 3
"""With so many candidates, those that are clearly less likely are not looked for."""
FEW = 8
"""With more errors and warnings than this, what could be meant is not changed unasked, unless all
are gone then."""
BY_CHANCE = 2
"""Where many layers declare wrong ports, another change may explain so many by chance."""
OTHERS = 4
"""Among how many findings the one is looked for whose cause explains most."""
CLEARLY = 0.25
"""How much likelier the first candidate must be than the next to be the one right answer."""
LISTED = 5
"""How many candidates a diagnosis lists."""

_OF_AN_EDGE = (DANGLING_EDGE, MISSING_EDGE)
"""Rules of which a finding may stand at an edge with wrong ends."""
_RESULT = ("a Result", 'type="Result"')
"""The changes after which a body has a Result."""
_DECLARED = "IR20"
"""Findings of which each may be a port that declares something wrong."""
_WIRING = ("IR10", "IR11", "IR402", "IR60")
"""Findings with which it is not known what feeds what."""


_Explaining = tuple[int, Candidate, tuple[Finding, ...]]
"""How many findings a candidate explains, the candidate, and those findings."""


class Search:
    """The search in one model."""

    def __init__(
        self,
        context: Context,
        findings: Sequence[Finding],
        work: Work,
        consequences: Sequence[Finding] = (),
        *,
        stage: Stage,
        as_read: bool = False,
    ) -> None:
        self.context = context
        self.as_read = as_read
        self.stage = stage
        self.consequences = consequences
        """Findings that are no cause by themselves."""
        self.waiting = causes_first(findings, context.model.source)
        self.few = len(findings) <= FEW
        declaring = {
            finding.layer for finding in findings if finding.rule.code.startswith(_DECLARED)
        }
        self.redeclared = len(declaring) > FEW
        """Whether so many layers declare wrong ports that one more is likelier than a slip."""
        self.counts = Counter((finding.rule.code, finding.layer) for finding in findings)
        self.work = work
        self.scenes: dict[Body, Scene] = {}
        """Those that this search has looked at."""
        self.by_path = {body.path: body for body in context.results}
        self.causes: dict[int, Diagnosis | None] = {}
        self.looser = 0
        """How many ports came to declare less than is inferred with the last change."""

    def run(self) -> Iterator[Diagnosis]:
        for lost in self.lost_layers():
            yield lost
            self.take(lost)
        causes = 0
        while self.waiting:
            diagnosis = self.most_explaining()
            if diagnosis is None:
                self.waiting.pop(0)
                continue
            diagnosis = self.with_all_behind(diagnosis)
            yield diagnosis
            self.take(diagnosis)
            causes += 1
            if causes <= MAX_NEXT:
                self.work.go_on()

    def lost_layers(self) -> list[Diagnosis]:
        """The layers that are gone with all their edges."""
        if all(finding.rule != MISSING_EDGE for finding in self.waiting):
            return []
        bodies = dict.fromkeys(
            self.by_path.get(finding.layer.path)
            for finding in self.waiting
            if finding.rule == MISSING_EDGE and finding.layer is not None
        )
        scenes = [scene for body in bodies if body and (scene := self.scene(body)) is not None]
        return list(of_lost_layers(scenes, self.waiting, self.explained))

    def take(self, diagnosis: Diagnosis) -> None:
        """Goes on without the findings that a cause explains."""
        gone = set(map(id, diagnosis.explained))
        self.waiting = [other for other in self.waiting if id(other) not in gone]
        alike = {(other.rule, other.layer) for other in diagnosis.explained}
        for other in self.waiting:
            cause = self.causes.get(id(other))
            if (other.rule, other.layer) in alike or (
                cause is not None and not gone.isdisjoint(map(id, cause.explained))
            ):
                self.causes.pop(id(other), None)

    def most_explaining(self) -> Diagnosis | None:
        """The cause of the first finding, or one of the next that explains it and more."""
        first = self.known_cause(self.waiting[0])
        most = first
        for other in self.waiting[1:OTHERS]:
            if most is not None and len(most.explained) == len(self.waiting):
                break
            if most is not None and len(most.explained) > 2 and not without([other], [most]):
                continue
            cause = self.known_cause(other)
            explained = () if cause is None else cause.explained
            if len(explained) > max(1, len(most.explained) if most is not None else 0):
                most = cause
        return most

    def known_cause(self, finding: Finding) -> Diagnosis | None:
        """The cause of a finding, which is looked for once."""
        key = id(finding)
        if key not in self.causes:
            if self.work.is_done:
                return None
            self.causes[key] = self.cause_of(finding)
        return self.causes[key]

    def scene(self, body: Body) -> Scene | None:
        """A body as it is looked at; None if it was not inferred."""
        scene = self.scenes.get(body)
        if scene is None:
            scene = self.stage.scene(body)
            if scene is None:
                return None
            self.scenes[body] = scene
            self.work.count(OF_A_SCENE * len(scene.layers))
        return scene

    def places(self, finding: Finding) -> Iterator[tuple[Scene, int | None]]:
        """Where to look for the cause of a finding: in its layer, then in the one around it."""
        layer = finding.layer
        if layer is None:
            for any_body in self.context.results:
                scene = self.scene(any_body)
                if scene is not None and scene.edge_at(finding.offset) is not None:
                    yield scene, None
            return
        body = self.by_path.get(layer.path)
        while body is not None and layer is not None:
            scene = self.scene(body)
            if scene is None or layer not in scene.position:
                return
            yield scene, scene.position[layer]
            if not body.path:
                return
            holder, outer = body.path[-2], self.by_path.get(body.path[:-2])
            if outer is None:
                return
            layer, body = outer.by_id.get(holder), outer

    def is_passed_wrongly(self, finding: Finding) -> bool:
        """Whether a Parameter of a body contradicts what it is passed, and so does another, or what
        passes it is wrong by itself."""
        layer = finding.layer
        return (
            layer is not None
            and bool(layer.path)
            and layer.is_parameter
            and any(
                other.layer is not None
                and (
                    (other.layer.is_parameter and other.layer.path == layer.path)
                    if other.rule != PORT_MAP
                    else (*other.layer.path, other.layer.id) == layer.path[:-1]
                )
                for other in self.waiting
                if other.layer is not layer
            )
        )

    def cause_of(self, finding: Finding) -> Diagnosis | None:
        """The change that explains most, among those that explain this finding."""
        best: list[_Explaining] = []
        places = list(self.places(finding))
        if self.is_passed_wrongly(finding):
            places[:2] = places[1::-1]  # what passes it is likelier than itself
        for scene, position in places:
            best += self.tried(scene, finding, self.sources(scene, finding, position))
            if position is not None and min((e[1].cost for e in best), default=2.0) > VALUE_COST:
                values = of_values(scene, finding, position)
                best += self.tried(scene, finding, [values])
            if best:
                break
        if not best:
            return None
        best.sort(key=self.rank)
        if best[0][0] < len(self.waiting):
            best[:LOOKED_AT_WIDELY] = [
                self.with_what_follows(scene, finding, entry) for entry in best[:LOOKED_AT_WIDELY]
            ]
            best.sort(key=self.rank)
        most, first, explained = best[0]
        rivals = [entry for entry in best if entry[0] == most]
        certain = (
            first.certain
            and (self.few or not first.bold or most >= len(self.waiting))
            and (len(rivals) == 1 or rivals[1][1].cost - first.cost >= CLEARLY)
        )
        return Diagnosis(
            cause_as_finding(self.context.model.source, first, explained),
            explained,
            tuple(entry[1] for entry in best[:LISTED] if entry[1].edits) if first.edits else (),
            certain,
        )

    def rank(self, entry: _Explaining) -> tuple[int, float]:
        """By how much a candidate explains, then by how likely it is."""
        count, candidate, _ = entry
        if self.redeclared and count <= BY_CHANCE and candidate.port is None:
            count = 0
        return -count, candidate.cost

    def with_what_follows(self, scene: Scene, finding: Finding, entry: _Explaining) -> _Explaining:
        """A candidate with what it explains further behind, where its consequences come together
        by several ways."""
        _, candidate, explained = entry
        told = set(map(id, explained))
        rest = [other for other in self.waiting if id(other) not in told]
        flagged = flagged_layers(scene, rest) if not scene.body.path else set()
        touched = touched_layers(scene, candidate, finding)
        core = between(scene, touched, flagged) if flagged and not candidate.patch else touched
        if len(core) <= len(touched) or flagged.isdisjoint(core):
            return entry
        trial = self.known_trial(scene, self.core(scene, touched, finding) | core)
        after = trial.check(candidate.edits, candidate.needs)
        self.work.count_trial(trial)
        if after is None or _arisen(after, trial.base, finding):
            return entry
        gone = trial.base - after
        for other in explained:
            take(gone, (other.rule.code, other.layer))
        more = [other for other in rest if take(gone, (other.rule.code, other.layer))]
        return entry[0] + len(more), candidate, (*explained, *more)

    def with_all_behind(self, diagnosis: Diagnosis) -> Diagnosis:
        """A cause with what it explains further behind than parts reach."""
        net, rest = self.scene(self.context.model.net), without(self.waiting, [diagnosis])
        if net is None or not rest or not diagnosis.candidates or not self.as_read:
            return diagnosis
        from .far_behind import far_behind

        return far_behind(net, diagnosis, rest, self.work)

    def tried(
        self, scene: Scene, finding: Finding, sources: Iterable[CandidateSource]
    ) -> list[_Explaining]:
        """Those of some candidates that explain a finding, each with what it explains."""
        explaining: list[_Explaining] = []
        tried: set[object] = {((), None)}
        candidates = CheapestFirst(sources)
        beside = 0
        while beside < BESIDE and not (self.work.is_overdone if explaining else self.work.is_done):
            candidate = candidates.next(self.worth(explaining))
            self.work.count(OF_A_SOURCE * candidates.productive)
            candidates.productive = 0
            if candidate is None:
                break  # nothing that is left is as likely
            beside += bool(explaining)
            key = (candidate.edits, candidate.patch)
            if key in tried:
                continue
            tried.add(key)
            self.looser = 0
            explained = self.explained(scene, candidate, finding)
            if explained:
                if self.looser:  # ports that agree with what is inferred are likelier
                    candidate = candidate._replace(cost=candidate.cost + LOOSER)
                explaining.append((len(explained), candidate, explained))
        return explaining

    def worth(self, explaining: list[_Explaining]) -> float:
        """What a candidate may cost that is tried beside those that explain something."""
        if not explaining:
            return inf
        most, first, _ = max(explaining, key=lambda entry: (entry[0], -entry[1].cost))
        if self.work.is_done:
            return first.cost + CLEARLY  # what is as likely has to be known
        if most < len(self.waiting):
            return first.cost + (LESS_LIKELY if self.work.is_spared else MUCH_LESS_LIKELY)
        if self.work.is_spared:
            return first.cost + CLEARLY
        enough = len(explaining) >= SHOWN or most > 1 or (first.certain and first.cost <= PROVEN)
        return first.cost + (CLEARLY if enough else LESS_LIKELY)

    def sources(
        self, scene: Scene, finding: Finding, position: int | None
    ) -> Iterator[CandidateSource]:
        """What makes the slips that may be behind a finding."""
        yield CandidateSource(0.3, partial(self.cured, scene, finding, position))
        yield from slips(scene, finding, position)
        if position is not None and len(self.waiting) > 1:
            yield CandidateSource(
                0.3,
                lambda: exchange_causes(
                    scene, finding, flagged_layers(scene, self.unexplained), position
                ),
            )

    def cured(self, scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
        """What the rules of the findings at a place know to be meant."""
        start = element_start(scene.source, finding.offset)
        for other in self.waiting:
            if (
                other is finding
                or (position is not None and other.layer is finding.layer)
                or element_start(scene.source, other.offset) == start
            ):
                yield from cured_causes(scene, other, position)

    def explained(
        self, scene: Scene, candidate: Candidate, finding: Finding
    ) -> tuple[Finding, ...]:
        """The findings that are gone after a change; none if a new one has come."""
        weights = self.weights(candidate)
        self.work.count(OF_A_LOOK if candidate.holder is None else OF_A_PORT_MAP)
        if refuted(scene, finding, candidate, weights):
            return ()
        if weights is not None and not self.settles(scene, finding, weights):
            return ()
        wanted = Wanted(finding, self.counts[finding.rule.code, finding.layer])
        trial = self.enclosed_trial(scene, candidate, finding)
        if trial is None:
            if scene.body.path and self.stays(scene, candidate, wanted, weights):
                return ()
            trial = self.trial(scene, candidate, finding)
        if trial is None:
            return ()
        needs = candidate.needs if trial.scene is scene else ()
        base = trial.base
        after = trial.check(candidate.edits, needs, weights, wanted, base)
        self.work.count_trial(trial)
        if after is None:
            return ()
        new = _arisen(after, base, finding)
        if {code for code, _ in new} <= {UNPROVEN_DIMENSION.code} and trial.scene is scene:
            wider = self.with_values(trial, needs, after)
            if wider is not None:
                base = wider.base
                after = wider.check(candidate.edits, needs, weights, wanted, base)
                if after is None:
                    return ()
                new = _arisen(after, base, finding)
        if new or not self.as_written(scene, touched_layers(scene, candidate, finding)):
            return ()
        gone = base - after
        self.looser = sum(code == LOOSER_DECLARATION.code for code, _ in after)
        explained = [
            other for other in self.unexplained if take(gone, (other.rule.code, other.layer))
        ]
        explained += self.beside(scene, candidate, finding)
        explained += self.of_cycles(scene, candidate, explained)
        explained += self.of_the_edge(scene, candidate, base, explained)
        return tuple(explained) if any(other is finding for other in explained) else ()

    def beside(self, scene: Scene, candidate: Candidate, finding: Finding) -> Iterator[Finding]:
        """The findings that a change explains and that no part of a body shows."""
        wired = finding.rule.code.startswith(_WIRING)
        rewired = candidate.becomes is None or candidate.becomes.element == "layer"
        reached = {
            scene.layers[at] for at in (*candidate.needs, *(candidate.touched if wired else ()))
        }
        for other in self.waiting:
            if (
                (other.rule == UNREACHABLE_LAYER and other.layer in reached and rewired)
                or (other.rule == MISSING_RESULT and candidate.change.startswith(_RESULT))
                or (other.rule == UNKNOWN_VARIABLE and gives_variable(scene, candidate, other))
                or (other.rule in (MALFORMED_EDGE, MISSPELT_ELEMENT) and candidate.replaces(other))
            ):
                yield other

    def of_cycles(
        self, scene: Scene, candidate: Candidate, explained: list[Finding]
    ) -> list[Finding]:
        """The cycles that a change takes back, of which a part may not have all layers."""
        told = set(map(id, explained))
        cycles = [
            other
            for other in self.waiting
            if other.rule == CYCLE and other.layer in scene.position and id(other) not in told
        ]
        if not cycles:
            return []
        self.work.count(OF_A_SCENE * len(scene.layers))
        return cycles if breaks_cycles(scene, candidate) else []

    def of_the_edge(
        self, scene: Scene, candidate: Candidate, base: Counter[Key], explained: list[Finding]
    ) -> list[Finding]:
        """What is found at the edges that a change gives other ends, or that it removes, at layers
        that no part shows.

        Of the new ends nothing is found: that would be new.
        """
        places = *(edit.start for edit in candidate.edits), candidate.offset
        starts = {edge.offset for place in places if (edge := scene.edge_at(place)) is not None}
        told = set(map(id, explained))
        return [
            other
            for other in (self.waiting if starts else ())
            if other.rule in _OF_AN_EDGE
            and id(other) not in told
            and not base[other.rule.code, other.layer]
            and (edge := scene.edge_at(other.offset)) is not None
            and edge.offset in starts
        ]

    def as_written(self, scene: Scene, positions: Iterable[int]) -> bool:
        """Whether some layers are what their text says."""
        return self.as_read or all(is_as_written(scene, at) for at in positions)

    def with_values(self, trial: Trial, needs: Iterable[int], after: Counter[Key]) -> Trial | None:
        """A part with the layers on whose values a size depends that is not proven in another."""
        if all(code != UNPROVEN_DIMENSION.code for code, _ in after):
            return None
        scene = trial.scene
        core = {*trial.core, *needs}
        core.update(at for inner in trial.core for at in named_by_edges(scene, inner))
        core |= behind_values(scene, core, MAX_VALUES_BEFORE)
        if len(core) == len(trial.core):
            return None
        wider = self.known_trial(scene, core)
        self.work.count_trial(wider)
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
        trial = self.known_trial(scene, (at,))
        after = trial.check((), (), weights, Wanted(finding, 1))
        self.work.count(OF_A_BIN)
        return after is not None and not after

    def stays(
        self, scene: Scene, candidate: Candidate, wanted: Wanted, weights: Weights | None
    ) -> bool:
        """Whether a finding in a body stays after a change, as far as the body tells."""
        touched = touched_layers(scene, candidate, wanted.finding)
        if any(scene.layers[at].is_parameter for at in touched):
            return False  # what it is fed comes from around the body
        trial = self.known_trial(scene, touched)
        self.work.count_trial(trial)
        return trial.check(candidate.edits, candidate.needs, weights, wanted) is None

    def known_trial(self, scene: Scene, core: Iterable[int]) -> Trial:
        """The trial of a part, which is made once."""
        return self.stage.trial(scene, frozenset(core))

    def enclosed_trial(self, scene: Scene, candidate: Candidate, finding: Finding) -> Trial | None:
        """The part of a body that a change may concern, if nothing around the body matters."""
        if not scene.body.path or any(
            other.layer not in scene.position for other in self.unexplained
        ):
            return None
        touched = touched_layers(scene, candidate, finding)
        core = self.core(scene, touched, finding)
        if any(scene.layers[at].is_parameter or scene.layers[at].is_result for at in core):
            return None
        return self.known_trial(scene, core)

    def core(self, scene: Scene, touched: set[int], finding: Finding) -> set[int]:
        """The layers that are looked at again if some change."""
        wired = finding.rule.code.startswith(_WIRING)
        return concerned(scene, touched, self.unexplained, wired=wired)

    @property
    def unexplained(self) -> tuple[Finding, ...]:
        """The findings that wait for a cause."""
        return *self.waiting, *self.consequences

    def trial(self, scene: Scene, candidate: Candidate, finding: Finding) -> Trial | None:
        """The part of the net that a change may concern: of a body, the layer that holds it."""
        touched = touched_layers(scene, candidate, finding)
        if scene.body.path:
            net = self.scene(self.context.model.net)
            holders = [] if net is None else net.by_id.get(scene.body.path[0], [])
            if net is None or not holders:
                return None
            scene, touched = net, {holders[0]}
        core = self.core(scene, touched, finding)
        return self.known_trial(scene, core)


def of_values(scene: Scene, finding: Finding, position: int) -> CandidateSource:
    return CandidateSource(VALUE_COST, partial(value_causes, scene, finding, position))


def _arisen(after: Counter[Key], base: Counter[Key], finding: Finding) -> Counter[Key]:
    """What is found with a change and not without it.

    Where nothing could be inferred before, ports that declare less than is certain are no news.
    """
    new = after - base
    declared = finding.rule.code.startswith("IR20")
    for key in [key for key in new if key[0] == LOOSER_DECLARATION.code]:
        if not declared or key[1] is not finding.layer:
            del new[key]
    return new


def without(findings: Sequence[Finding], diagnoses: Sequence[Diagnosis]) -> list[Finding]:
    """The findings that no cause explains."""
    explained = {id(finding) for each in diagnoses for finding in each.explained}
    return [finding for finding in findings if id(finding) not in explained]
