"""What is gone if nothing were known of one layer but what is around it: it is told there, once.

The search knows the slips that people and tools make. Where none of them explains all, this does
not ask what was done to a layer, but whether it is the one that all findings have to do with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...faults import Fault
from ...model.graph import Finding, Layer
from ...rule_ids import (
    INPUT_COUNT,
    LOOSER_DECLARATION,
    MISSING_EDGE,
    MISSPELT_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from ..candidate import Diagnosis
from ..elements.lost_layers import free_ids
from ..rule_groups import BETWEEN_PORTS
from ..trials.parts import between, flagged_layers
from ..trials.scene import Scene
from ..trials.stage import Stage
from ..trials.trial import GLOBAL, Key
from ..trials.work import OF_ITS_LAYER, Work
from .told import Causes, cure_of

MAX_SUSPECTS = 3
"""How many layers are tried as the one."""
MAX_BEFORE = 400
"""Among how many layers before each finding one is looked for that is before all of them."""
_OF_LINKS = ("IR110", "IR112", "IR113", "IR116")
"""Findings about the edges and ports that a layer has: where it has others than it should, there
are several."""
_OF_LAYERS = (*_OF_LINKS, "IR115", "IR127", "IR2", "IR3", "IR4", "IR50")
"""Findings of which several may have to do with one layer; the others are true by themselves."""
_UNPROVEN = {UNPROVEN_DIMENSION.code, LOOSER_DECLARATION.code}
"""What may be found where less is known."""


def of_suspects(stage: Stage, causes: Causes, work: Work) -> None:
    """Those are one that have to do with one layer."""
    told = [
        each
        for each in causes.all()
        if each.finding.rule.code.startswith(_OF_LAYERS)
        and (each.parts == 1 or each.finding.rule != MISSING_EDGE)  # lost edges are of several
    ]
    while len(told) > 1:
        scene = _scene(stage, told)
        group = _of_one_layer(stage, scene, told, work) if scene is not None else None
        if group is None:
            break
        layer, together = group
        told = [each for each in told if each not in together]
        causes.add(_as_one(layer, together))


def _scene(stage: Stage, told: Sequence[Diagnosis]) -> Scene | None:
    """The innermost body around all layers at which something is told."""
    paths = [each.finding.layer.path for each in told if each.finding.layer is not None]
    common = paths[0] if paths else ()
    while any(path[: len(common)] != common for path in paths):
        common = common[:-2]
    bodies = (body for body in stage.context.results if body.path == common)
    body = next(bodies, None)
    return None if body is None else stage.scene(body)


def _of_one_layer(
    stage: Stage, scene: Scene, told: Sequence[Diagnosis], work: Work
) -> tuple[Layer, list[Diagnosis]] | None:
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


def _are_apart(told: Sequence[Diagnosis], layer: Layer) -> bool:
    """Whether they are slips of their own: names of attributes, or each is taken back by a change
    that is certain, and does not only follow from another."""
    rules = [each.finding.rule for each in told]
    if all(rule in (UNKNOWN_ATTRIBUTE, MISSPELT_ATTRIBUTE) for rule in rules):
        return True
    if UNKNOWN_ATTRIBUTE in rules and all(rule.code.startswith("IR3") for rule in rules):
        return False  # these are those of another operation
    return all(
        each.certain
        and not each.finding.rule.code.startswith(_OF_LINKS)
        and (each.finding.layer is layer or each.finding.rule in BETWEEN_PORTS)
        for each in told
    )


def _is_at(layer: Layer, told: Diagnosis) -> bool:
    """Whether everything is found at a layer, or inside it."""
    inside = (*layer.path, layer.id)
    return told.finding.rule != UNREACHABLE_LAYER and all(
        finding.layer is not None
        and (finding.layer is layer or finding.layer.path[: len(inside)] == inside)
        for finding in told.explained
    )


def _gave_up(scene: Scene, at: int, told: Diagnosis, at_it: Sequence[Diagnosis]) -> bool:
    """Whether a layer feeds nothing, and one behind it lacks an input, or one between is gone."""
    layer = told.finding.layer
    if told.finding.rule != UNREACHABLE_LAYER or layer not in scene.position:
        return False
    before = scene.position[layer]
    if before >= at or before not in scene.unused:
        return False
    lacking = any(f.rule in (INPUT_COUNT, MISSING_EDGE) for each in at_it for f in each.explained)
    ends = [scene.layers[each].id for each in (before, at)]
    return (lacking and scene.unused == [before]) or any(
        int(ends[0]) < number < int(ends[1]) for number in free_ids(scene.layers)
    )


def _suspects(scene: Scene, told: Sequence[Diagnosis]) -> list[int]:
    """The layers that may be the one: those with most that is told, then those before all."""
    at_it: Counter[int] = Counter()
    near: Counter[int] = Counter()
    distances: list[dict[int, int]] = []
    for each in told:
        here = flagged_layers(scene, each.explained)
        if each.finding.rule == UNREACHABLE_LAYER or not here:
            continue
        at_it.update(here)
        before = _before(scene, here)
        distances.append(before)
        near.update(at for at, steps in before.items() if steps == 1)
    lost = any(each.finding.rule == UNREACHABLE_LAYER for each in told)
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
    stage: Stage, scene: Scene, at: int, told: Sequence[Diagnosis], work: Work, *, at_fault: bool
) -> list[Diagnosis]:
    """Those of which nothing is left if a layer gave what those that it feeds declare.

    at_fault: whether something is told at the layer itself. Then it is also asked what is left if
    nothing were known of what it gives; of a sound one, any fault of those that it feeds would be
    gone.
    """
    here = [each for each in told if all(_is_local(scene, f) for f in each.explained)]
    if not here:
        return []
    findings = [finding for each in here for finding in each.explained]
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
            if all(before[key] and not after[key] for key in map(_key, each.explained))
            and (declared or fed.issuperset(f.layer for f in each.explained if f.layer is not None))
        ]
        if gone:
            return gone
    return []


def _key(finding: Finding) -> Key:
    return finding.rule.code, finding.layer


def _is_local(scene: Scene, finding: Finding) -> bool:
    """Whether a part of a body shows a finding."""
    return finding.layer in scene.position and finding.rule not in GLOBAL


def _as_one(layer: Layer, told: Sequence[Diagnosis]) -> Diagnosis:
    """Several as one, at the innermost element of the layer at which any is told."""
    findings = tuple(finding for each in told for finding in each.explained)
    here = [each for each in told if each.finding.layer is layer]
    if here or not (layer.is_constant or layer.is_parameter):
        first = min(here or told, key=lambda each: _rank(each, layer))
        others = tuple(finding for finding in findings if finding not in first.explained)
        fault = _as_refused(first.finding, told)
        lead = first.finding._replace(fault=fault, related=(*first.finding.related, *others))
    else:
        first = min(told, key=lambda each: _rank(each, layer))
        label = "" if first.finding.layer is None else f" ({first.finding.layer.label})"
        fault = first.finding.fault._replace(message=first.finding.message + label)
        offset = layer.data_offset if layer.data_offset >= 0 else layer.offset
        lead = Finding(fault, offset, layer, None, findings)
    return Diagnosis(lead, findings, *cure_of(here or told), parts=len(told))


def _as_refused(lead: Finding, told: Sequence[Diagnosis]) -> Fault:
    """What is told, under the rule of what OpenVINO refuses, if that is told elsewhere alone."""
    refused = next(
        (
            each.finding
            for each in told
            if each.finding.severity == "error" and not _is_of_ports(each)
        ),
        None,
    )
    if refused is None or not lead.rule.code.startswith("IR2"):
        return lead.fault
    where = "" if refused.layer is None else f" in {refused.layer.label}"
    message = f"{lead.message}; from this follows{where}: {refused.message}"
    return lead.fault._replace(rule=refused.rule, message=message, severity=refused.severity)


def _is_of_ports(told: Diagnosis) -> bool:
    """Whether it is about what ports declare, which OpenVINO does not look at."""
    return told.finding.rule.code.startswith("IR2")


def _rank(told: Diagnosis, layer: Layer) -> tuple[bool, bool, bool, int]:
    """Errors first, of these what OpenVINO refuses too; then the innermost."""
    lead = told.finding
    return lead.severity != "error", _is_of_ports(told), lead.offset == layer.offset, lead.offset
