"""What is absent as a whole, told once: a layer, all edges into one or in a body, or an id.

Edges name a layer that is not there, or two layers have an id in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..formats.ir.edits import Edit, element_end
from ..model.graph import Body, Finding, Layer
from ..model.source import Source
from ..rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    MISSING_EDGE,
    PORT_MAP,
    UNKNOWN_ATTRIBUTE,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from ..rules import Context
from .candidate import Candidate, Diagnosis
from .groups import grouped_by_layer
from .lost_blocks import of_lost_blocks
from .telling import element_start

_NAMED = re.compile(rb"(from|to)-layer\s*=\s*[\"']([^\"']*)")
_MAPPED = re.compile(r"refers to internal_layer_id (\S+) as")
_OF_EDGES = (MISSING_EDGE, UNREACHABLE_LAYER)
Path = tuple[str, ...]
SEVERAL = 3
"""So many parts are seldom lost one by one."""


def of_absences(
    context: Context, findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Each absence, with what follows from it. alone: the causes of single findings."""
    rest = list(findings)
    for groups in (
        of_lost_blocks(context, rest, alone),
        _of_pasted_layers(context, rest),
        _of_shared_ids(context.model.source, rest, alone),
        _of_absent_layers(context.model.source, rest),
        _of_one_producer(rest, alone),
        of_unfed_layers(rest, alone),
        _of_doubled_edges(rest, alone),
        _of_other_attributes(rest, alone),
    ):
        for diagnosis in groups:
            gone = set(map(id, diagnosis.explained))
            if gone <= set(map(id, rest)):
                rest[:] = [finding for finding in rest if id(finding) not in gone]
                yield diagnosis


def _named(source: Source, finding: Finding) -> tuple[str, str]:
    """Which end of an edge a finding is at, and the id of the layer that is named there."""
    match = _NAMED.match(source.data, finding.offset)
    if finding.rule != DANGLING_EDGE or match is None:
        return "", ""
    return match[1].decode(), match[2].decode(source.encoding, "replace")


def _of_absent_layers(source: Source, findings: Sequence[Finding]) -> Iterator[Diagnosis]:
    """Edges lead to a layer and come from it, or a port map names it, but it does not exist."""
    groups: dict[tuple[Path, str], list[Finding]] = {}
    sides: dict[tuple[Path, str], set[str]] = {}
    for finding in findings:
        side, number = _named(source, finding)
        if side and finding.layer is not None:
            key = finding.layer.path, number
            groups.setdefault(key, []).append(finding)
            sides.setdefault(key, set()).add(side)
    for finding in findings:
        mapped = _MAPPED.search(finding.message) if finding.rule == PORT_MAP else None
        if mapped is None or finding.layer is None:
            continue
        holder = *finding.layer.path, finding.layer.id
        for (path, number), group in groups.items():
            if path[:-1] == holder and number == mapped[1]:
                group.append(finding)
                sides[path, number].add("map")
    for (_, number), group in groups.items():
        if len(group) < 2 or len(sides[_, number]) < 2:
            continue
        edges = sum(finding.rule == DANGLING_EDGE for finding in group)
        also = ", and a port map does" if edges < len(group) else ""
        told = group[0].fault._replace(
            message=f"a layer is missing: no layer has id {number}, which {edges} "
            f"edge{'s name' if edges > 1 else ' names'}{also}",
            help="put the layer back, or correct its id",
        )
        yield Diagnosis(
            group[0]._replace(fault=told, related=tuple(group[1:])), tuple(group), (), False
        )


def of_unfed_layers(
    findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Several inputs of a layer are fed by nothing. What is certain of them is the cure."""
    for group in grouped_by_layer(findings, MISSING_EDGE).values():
        numbers = [finding.port[1] for finding in group if finding.port]
        if len(numbers) < 2:
            continue
        fault = group[0].fault._replace(
            message=f"no edges lead to input ports {', '.join(numbers[:-1])} and {numbers[-1]}"
        )
        told = group[0]._replace(fault=fault, related=tuple(group[1:]))
        yield Diagnosis(told, tuple(group), *cure_of(group, alone))


def _of_one_producer(
    findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Inputs of several layers are fed by nothing, and one layer that feeds nothing fits them."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        cause = alone.get(id(finding))
        if finding.rule == MISSING_EDGE and cause is not None and cause.candidates:
            first = cause.candidates[0]
            if cause.certain and first.needs:
                groups.setdefault(first.change, []).append(finding)
    for change, group in groups.items():
        if len({finding.layer for finding in group}) > 1:
            fault = group[0].fault._replace(
                message=f"{len(group)} inputs are fed by nothing; {change} fits all of them"
            )
            told = group[0]._replace(fault=fault, related=tuple(group[1:]))
            yield Diagnosis(told, tuple(group), *cure_of(group, alone))


def _of_doubled_edges(
    findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Several edges into a layer stand there twice."""
    for group in grouped_by_layer(findings, DUPLICATE_EDGE).values():
        if len(group) > 1:
            told = group[0]._replace(related=tuple(group[1:]))
            yield Diagnosis(told, tuple(group), *cure_of(group, alone))


def _of_other_attributes(
    findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """A layer has attributes that its operation does not know, and lacks some of its own.

    Two that are unknown, with nothing lacking, were more likely written one by one.
    """
    groups: dict[Layer, list[Finding]] = {}
    for finding in findings:
        if finding.rule.code.startswith("IR30") and finding.layer is not None:
            groups.setdefault(finding.layer, []).append(finding)
    for layer, group in groups.items():
        unknown = [finding for finding in group if finding.rule == UNKNOWN_ATTRIBUTE]
        if not unknown or len(group) < (SEVERAL if len(unknown) == len(group) else 2):
            continue
        lead = next((finding for finding in group if finding.severity == "error"), group[0])
        fault = lead.fault._replace(
            message=f"<data> has attributes that {layer.type} of {layer.version} does not have, "
            f"and others are wrong or missing: {lead.message}"
            if lead not in unknown
            else f"<data> has attributes that {layer.type} of {layer.version} does not have: "
            + ", ".join(f"`{finding.actual}`" for finding in unknown)
        )
        others = tuple(finding for finding in group if finding is not lead)
        told = lead._replace(fault=fault, related=(*lead.related, *others))
        yield Diagnosis(told, tuple(group), *cure_of(group, alone))


def cure_of(
    group: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> tuple[tuple[Candidate, ...], bool]:
    """What takes back those findings of which that is certain, or else all of them; and which."""
    causes = [alone.get(id(finding)) for finding in group]
    known = [cause for cause in causes if cause is not None and cause.candidates]
    sure = [cause for cause in known if cause.certain]
    chosen = sure or (known if len(known) == len(group) else [])
    if not chosen:
        return (), False
    firsts = [cause.candidates[0] for cause in chosen]
    together = firsts[0]._replace(
        edits=tuple(_joined(edit for first in firsts for edit in first.edits)),
        change=", ".join(first.change for first in firsts),
    )
    return (together,), bool(sure)


def _joined(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits of which no two are at one place."""
    joined: dict[tuple[int, int], bytes] = {}
    for start, end, text in edits:
        joined[start, end] = joined.get((start, end), b"") + text
    return (Edit(*span, text) for span, text in joined.items())


def _of_shared_ids(
    source: Source, findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Two layers have one id, so that edges that name it are of one or of the other."""
    for lead in findings:
        if lead.rule != DUPLICATE_ID or lead.layer is None:
            continue
        shared, path = lead.layer.id, lead.layer.path
        also = [
            finding
            for finding in findings
            if finding is not lead
            and finding.rule in (DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE)
            and finding.layer is not None
            and finding.layer.path == path
            and (finding.layer.id == shared or shared in _ends(source, finding))
        ]
        if also:
            told = lead._replace(related=(*lead.related, *also))
            yield Diagnosis(told, (lead, *also), *cure_of((lead, *also), alone))


def _of_pasted_layers(context: Context, findings: Sequence[Finding]) -> Iterator[Diagnosis]:
    """A layer stands twice, and one that edges name is missing: the copy stands in its place."""
    source = context.model.source
    for lead in findings:
        layer = lead.layer
        if lead.rule != DUPLICATE_ID or layer is None:
            continue
        dangling = [
            finding
            for finding in findings
            if finding.rule == DANGLING_EDGE and finding.layer and finding.layer.path == layer.path
        ]
        absent = {_named(source, finding)[1] for finding in dangling}
        first = next((e for e in context.every_layer if _is_twin(source, e, layer)), None)
        if len(absent) != 1 or first is None or "" in absent:
            continue
        fault = lead.fault._replace(
            message="the layer is a copy of another one, and stands where a layer with id "
            f"{absent.pop()} is missing, which edges name",
            help="write what the layer was before",
        )
        told = lead._replace(fault=fault, related=(*lead.related, *dangling))
        yield Diagnosis(told, (lead, *dangling), (), False)


def _is_twin(source: Source, one: Layer, other: Layer) -> bool:
    """Whether another layer stands there in the same words."""
    if one is other or (one.id, one.path) != (other.id, other.path):
        return False
    texts = [
        source.data[layer.offset : element_end(source.data, layer.offset)] for layer in (one, other)
    ]
    return texts[0] == texts[1]


def _ends(source: Source, finding: Finding) -> set[str]:
    """The ids of the layers that the edge of a finding names."""
    start = element_start(source, finding.offset)
    if not source.data.startswith(b"<edge", start):
        return set()
    return {
        source.data[begin:end].decode(source.encoding, "replace")
        for name, _, begin, end in source.attributes(start)
        if name in ("from-layer", "to-layer")
    }


def body_without_edges(context: Context, findings: Sequence[Finding]) -> Diagnosis | None:
    """A body, or the net, has layers that take inputs, but no edges."""
    unfed = {finding.layer for finding in findings if finding.rule == MISSING_EDGE}
    for body in context.results:
        here = [layer for layer in body.layers if layer.inputs]
        if len(here) < 2 or body.edges or not unfed.issuperset(here):
            continue
        explained = tuple(
            finding
            for finding in findings
            if finding.rule == UNPROVEN_DIMENSION  # nothing behind the body is proven
            or (finding.rule in _OF_EDGES and _inside(finding.layer, body))
        )
        lead = next(f for f in explained if f.rule == MISSING_EDGE)
        holder = _holder(context, body.path)
        where = f"`{body.path[-1]}` of {holder.label}" if holder is not None else "the model"
        fault = lead.fault._replace(
            message=f"{where} has {len(body.layers)} layers, but no edges",
            expected=None,
            actual=None,
            help="put its <edges> back",
        )
        offset = body.offset if body.path else here[0].offset
        return Diagnosis(Finding(fault, offset, holder, None, explained), explained, (), False)
    return None


def _inside(layer: Layer | None, body: Body) -> bool:
    return layer is not None and layer.path[: len(body.path)] == body.path


def _holder(context: Context, path: Path) -> Layer | None:
    """The layer that has the body at a path."""
    if not path:
        return None
    return next((each for each in context.every_layer if (*each.path, each.id) == path[:-1]), None)
