"""What is gone if nothing were known of one layer but what is around it: it is told there, once.

The search knows the slips that people and tools make. Where none of them explains all, this does
not ask what was done to a layer, but whether it is the one that all findings have to do with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ..faults import Fault
from ..model.graph import Finding, Layer
from ..rule_ids import (
    INPUT_COUNT,
    LOOSER_DECLARATION,
    MISSING_EDGE,
    MISSPELT_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from .absences import cure_of
from .candidate import Candidate, Diagnosis
from .elements.lost_layers import free_ids
from .trials.parts import between, flagged_layers
from .trials.scene import Scene
from .trials.stage import Stage
from .trials.trial import GLOBAL, Key
from .trials.work import OF_ITS_LAYER, Work

MAX_SUSPECTS = 3
"""How many layers are tried as the one."""
LISTED = 3
"""How many changes are listed, and how many of each are looked at."""
MAX_BEFORE = 400
"""Among how many layers before each finding one is looked for that is before all of them."""
_OF_FED = ("IR205", "IR206")
_OF_LINKS = ("IR110", "IR112", "IR113", "IR116")
"""Findings about the edges and ports that a layer has: where it has others than it should, there
are several."""
_OF_LAYERS = (*_OF_LINKS, "IR127", "IR2", "IR3", "IR4", "IR50")
"""Findings of which several may have to do with one layer; the others are true by themselves."""
_UNPROVEN = {UNPROVEN_DIMENSION.code, LOOSER_DECLARATION.code}
"""What may be found where less is known."""


class _Told(NamedTuple):
    """What is told as one: a cause with what it explains, or a finding without."""

    lead: Finding
    findings: tuple[Finding, ...]
    diagnosis: Diagnosis | None

    @property
    def is_certain(self) -> bool:
        return self.diagnosis is not None and self.diagnosis.certain


def of_suspects(
    stage: Stage, diagnoses: Sequence[Diagnosis], findings: Sequence[Finding], work: Work
) -> list[Diagnosis]:
    """The diagnoses, of which those are one that have to do with one layer.

    findings: what no diagnosis explains.
    """
    causes = [_Told(each.finding, each.explained, each) for each in diagnoses]
    causes += [_Told(finding, (finding,), None) for finding in findings]
    told = [each for each in causes if each.lead.rule.code.startswith((*_OF_LAYERS, "IR115"))]
    groups: list[Diagnosis] = []
    unfed = [each for each in told if each.lead.rule == MISSING_EDGE]
    if len(unfed) > 1 and len({place for each in unfed for place in _added_at(each)}) < 2:
        told = [each for each in told if each not in unfed]
        causes = [each for each in causes if each not in unfed]
        groups.append(_of_edges(unfed))
    while len(told) > 1:
        scene = _scene(stage, told)
        group = _of_one_layer(stage, scene, told, work) if scene is not None else None
        if group is None:
            break
        layer, together = group
        told = [each for each in told if each not in together]
        causes = [each for each in causes if each not in together]
        groups.append(_as_one(layer, together))
    return [*groups, *(each.diagnosis for each in causes if each.diagnosis is not None)]


def _scene(stage: Stage, told: Sequence[_Told]) -> Scene | None:
    """The innermost body around all layers at which something is told."""
    paths = [each.lead.layer.path for each in told if each.lead.layer is not None]
    common = paths[0] if paths else ()
    while any(path[: len(common)] != common for path in paths):
        common = common[:-2]
    bodies = (body for body in stage.context.results if body.path == common)
    body = next(bodies, None)
    return None if body is None else stage.scene(body)


def _of_one_layer(
    stage: Stage, scene: Scene, told: Sequence[_Told], work: Work
) -> tuple[Layer, list[_Told]] | None:
    """A layer that several have to do with, and those."""
    tried = 0
    for at in _suspects(scene, told):
        layer = scene.layers[at]
        at_it = [each for each in told if _is_at(layer, each)]
        at_it += [each for each in told if each not in at_it and _gave_up(scene, at, each, at_it)]
        others = [each for each in told if each not in at_it]
        if others and tried < MAX_SUSPECTS and not work.is_overdone:
            tried += 1
            at_it += _gone_without(stage, scene, at, others, work, at_fault=bool(at_it))
        if len(at_it) > 1 and not _are_apart(at_it, layer):
            return layer, at_it
    return None


def _are_apart(told: Sequence[_Told], layer: Layer) -> bool:
    """Whether they are slips of their own: names of attributes, or each is taken back by a change
    that is certain, and does not only follow from another."""
    rules = [each.lead.rule for each in told]
    if all(rule in (UNKNOWN_ATTRIBUTE, MISSPELT_ATTRIBUTE) for rule in rules):
        return True
    if UNKNOWN_ATTRIBUTE in rules and all(rule.code.startswith("IR3") for rule in rules):
        return False  # these are those of another operation
    return all(
        each.is_certain
        and not each.lead.rule.code.startswith(_OF_LINKS)
        and (each.lead.layer is layer or each.lead.rule.code.startswith(_OF_FED))
        for each in told
    )


def _is_at(layer: Layer, told: _Told) -> bool:
    """Whether everything is found at a layer, or inside it."""
    inside = (*layer.path, layer.id)
    return told.lead.rule != UNREACHABLE_LAYER and all(
        finding.layer is not None
        and (finding.layer is layer or finding.layer.path[: len(inside)] == inside)
        for finding in told.findings
    )


def _gave_up(scene: Scene, at: int, told: _Told, at_it: Sequence[_Told]) -> bool:
    """Whether a layer feeds nothing, and one behind it lacks an input, or one between is gone."""
    layer = told.lead.layer
    if told.lead.rule != UNREACHABLE_LAYER or layer not in scene.position:
        return False
    before = scene.position[layer]
    if before >= at or before not in scene.unused:
        return False
    lacking = any(f.rule in (INPUT_COUNT, MISSING_EDGE) for each in at_it for f in each.findings)
    ends = [scene.layers[each].id for each in (before, at)]
    return (lacking and scene.unused == [before]) or any(
        int(ends[0]) < number < int(ends[1]) for number in free_ids(scene)
    )


def _suspects(scene: Scene, told: Sequence[_Told]) -> list[int]:
    """The layers that may be the one: those with most that is told, then those before all."""
    at_it: Counter[int] = Counter()
    near: Counter[int] = Counter()
    distances: list[dict[int, int]] = []
    for each in told:
        here = flagged_layers(scene, each.findings)
        if each.lead.rule == UNREACHABLE_LAYER or not here:
            continue
        at_it.update(here)
        before = _before(scene, here)
        distances.append(before)
        near.update(at for at, steps in before.items() if steps == 1)
    lost = any(each.lead.rule == UNREACHABLE_LAYER for each in told)
    suspects = [
        at
        for at, count in (at_it + near).items()
        if (at_it[at] and (lost or count > 1)) or near[at] == len(told)
    ]
    suspects.sort(key=lambda at: (-at_it[at], -near[at], at))
    common = set(distances[0]).intersection(*distances[1:]) if distances else set()
    sources = [at for at in common if not scene.sources[at] and at not in suspects]
    sources.sort(key=lambda at: (max(steps[at] for steps in distances), at))
    return [*suspects, *sources][: MAX_SUSPECTS + 1]


def _before(scene: Scene, positions: set[int]) -> dict[int, int]:
    """The layers before some, as long as those are few, each with how far before it stands."""
    steps = dict.fromkeys(positions, 0)
    waiting = sorted(positions)
    for at in waiting:
        for before in _named(scene, at):
            if before not in steps and len(steps) < MAX_BEFORE:
                steps[before] = steps[at] + 1
                waiting.append(before)
    return steps


def _named(scene: Scene, position: int) -> Iterator[int]:
    """The layers from which edges to one come, whatever ports these name."""
    for edge in scene.edges_to.get(scene.layers[position].id, ()):
        yield from scene.by_id.get(edge.from_layer, ())


def _gone_without(
    stage: Stage, scene: Scene, at: int, told: Sequence[_Told], work: Work, *, at_fault: bool
) -> list[_Told]:
    """Those of which nothing is left if a layer gave what those that it feeds declare.

    at_fault: whether something is told at the layer itself. Then it is also asked what is left if
    nothing were known of what it gives; of a sound one, any fault of those that it feeds would be
    gone.
    """
    here = [each for each in told if all(_is_local(scene, f) for f in each.findings)]
    if not here:
        return []
    findings = [finding for each in here for finding in each.findings]
    core = between(scene, {at}, flagged_layers(scene, findings))
    core |= flagged_layers(scene, findings)
    core |= {consumer for _, consumer, _ in scene.consumers[at]}
    if OF_ITS_LAYER * len(core) > work.whole:
        return []
    trial = stage.trial(scene, frozenset(core - {at}))
    work.count_trial(trial)
    before = trial.checked_base
    fed = {scene.layers[consumer] for _, consumer, _ in scene.consumers[at]}
    for declared in (True, False)[: 1 + at_fault]:
        work.count_trial(trial)
        after = trial.check_without(at, declared=declared)
        if after is None or any(key[0] not in _UNPROVEN for key in after - before):
            continue
        gone = [
            each
            for each in here
            if all(before[key] and not after[key] for key in map(_key, each.findings))
            and (declared or fed.issuperset(f.layer for f in each.findings if f.layer is not None))
        ]
        if gone:
            return gone
    return []


def _key(finding: Finding) -> Key:
    return finding.rule.code, finding.layer


def _is_local(scene: Scene, finding: Finding) -> bool:
    """Whether a part of a body shows a finding."""
    return finding.layer in scene.position and finding.rule not in GLOBAL


def _as_one(layer: Layer, told: Sequence[_Told]) -> Diagnosis:
    """Several as one, at the innermost element of the layer at which any is told."""
    findings = tuple(finding for each in told for finding in each.findings)
    here = [each for each in told if each.lead.layer is layer]
    if here or not (layer.is_constant or layer.is_parameter):
        first = min(here or told, key=lambda each: _rank(each, layer))
        others = tuple(finding for finding in findings if finding not in first.findings)
        fault = _as_refused(first.lead, told)
        lead = first.lead._replace(fault=fault, related=(*first.lead.related, *others))
    else:
        first = min(told, key=lambda each: _rank(each, layer))
        label = "" if first.lead.layer is None else f" ({first.lead.layer.label})"
        fault = first.lead.fault._replace(message=first.lead.message + label)
        offset = layer.data_offset if layer.data_offset >= 0 else layer.offset
        lead = Finding(fault, offset, layer, None, findings)
    return Diagnosis(lead, findings, *_cure(here or told), parts=len(told))


def _as_refused(lead: Finding, told: Sequence[_Told]) -> Fault:
    """What is told, under the rule of what OpenVINO refuses, if that is told elsewhere alone."""
    refused = next(
        (each.lead for each in told if each.lead.severity == "error" and not _is_of_ports(each)),
        None,
    )
    if refused is None or not lead.rule.code.startswith("IR2"):
        return lead.fault
    where = "" if refused.layer is None else f" in {refused.layer.label}"
    message = f"{lead.message}; from this follows{where}: {refused.message}"
    return lead.fault._replace(rule=refused.rule, message=message, severity=refused.severity)


def _is_of_ports(told: _Told) -> bool:
    """Whether it is about what ports declare, which OpenVINO does not look at."""
    return told.lead.rule.code.startswith("IR2")


def _added_at(told: _Told) -> set[int]:
    """Where a certain change adds edges."""
    if told.diagnosis is None or not told.is_certain:
        return set()
    return {edit.start for edit in told.diagnosis.candidates[0].edits}


def _of_edges(told: Sequence[_Told]) -> Diagnosis:
    """Inputs of several layers that are fed by nothing: edges are missing behind each other."""
    findings = tuple(finding for each in told for finding in each.findings)
    unfed = [finding for finding in findings if finding.rule == MISSING_EDGE]
    layers = {finding.layer for finding in unfed}
    lead = told[0].lead
    fault = lead.fault._replace(
        message=f"edges are missing: {len(unfed)} inputs of {len(layers)} "
        f"layer{'s are' if len(layers) > 1 else ' are'} fed by nothing"
    )
    cures = list(_behind_each_other(told))[:LISTED]
    certain = len(cures) == 1 or all(each.is_certain for each in told)
    told_once = lead._replace(fault=fault, related=findings[1:])
    if cures:
        return Diagnosis(told_once, findings, tuple(cures), certain, len(told))
    return Diagnosis(told_once, findings, *_cure(told), parts=len(told))


def _behind_each_other(told: Sequence[_Told]) -> Iterator[Candidate]:
    """Changes that add one edge or more for each, all of them at one place, likeliest first."""
    choices = [each.diagnosis.candidates if each.diagnosis else () for each in told]
    rows = [
        row
        for row in product(*(choice[:LISTED] for choice in choices))
        if len({edit.start for each in row for edit in each.edits}) == 1
        and all(edit.text.lstrip().startswith(b"<edge") for each in row for edit in each.edits)
    ]
    for row in sorted(rows, key=lambda row: sum(each.cost for each in row)):
        first, text = row[0], b"".join(edit.text for each in row for edit in each.edits)
        yield first._replace(
            edits=(first.edits[0]._replace(text=text),),
            change=", ".join(each.change for each in row),
        )


def _cure(told: Sequence[_Told]) -> tuple[tuple[Candidate, ...], bool]:
    """What takes back those of which that is certain, or else all of them; and which."""
    causes = {id(each.lead): each.diagnosis for each in told if each.diagnosis is not None}
    return cure_of([each.lead for each in told], causes)


def _rank(told: _Told, layer: Layer) -> tuple[bool, bool, bool, int]:
    """Errors first, of these what OpenVINO refuses too; then the innermost."""
    lead = told.lead
    return lead.severity != "error", _is_of_ports(told), lead.offset == layer.offset, lead.offset
