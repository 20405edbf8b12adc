"""Blocks of lines that are lost or stand there twice, told once: edges, layers, bodies, Results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ..formats.ir.edits import Edit, element_end
from ..model.graph import Finding
from ..model.ids import is_number
from ..model.source import Source
from ..rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    MALFORMED_EDGE,
    MALFORMED_ID,
    MISSING_BODY,
    MISSING_EDGE,
    MISSING_LAYER_ATTRIBUTE,
    MISSING_PRECISION,
    MISSING_RESULT,
    PORT_MAP,
    STRAY_TEXT,
    UNREACHABLE_LAYER,
)
from ..rules import Context
from .candidate import Candidate, Diagnosis
from .telling import element_start

_NAMED = re.compile(rb"(?:from|to)-layer\s*=\s*[\"']([^\"']*)")
_MAPPED = re.compile(r"refers to internal_layer_id (\S+) as .*has no layer")
_OF_TORN_LAYERS = ("IR116", "IR20")
"""Findings at a layer whose end is that of another one."""
NEAR = 400
"""So many bytes from a text an edge is added that stood in its place."""
SHOWN = 4
"""So much is told of what is wrong in one tag."""
_LACKING = (MALFORMED_EDGE, MISSING_LAYER_ATTRIBUTE, MALFORMED_ID, MISSING_PRECISION)
SEVERAL = 3
"""So many ids in a row are those of a block of layers."""
Path = tuple[str, ...]


def of_lost_blocks(
    context: Context, findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Each block, with the findings at what it leaves behind. alone: causes of single findings."""
    source = context.model.source
    yield from _of_lost_edges(source, findings, alone)
    yield from _of_doubled_edges(source, findings, alone)
    yield from _of_lost_layers(context, findings)
    yield from _of_bodies(findings)
    yield from _of_stray_texts(source, findings, alone)


def of_torn_tags(
    source: Source, diagnoses: Sequence[Diagnosis], rest: Sequence[Finding]
) -> list[Diagnosis]:
    """What is wrong in one tag that lacks attributes is told once.

    rest: findings without a cause.
    """
    every = [*diagnoses, *(Diagnosis(finding, (finding,), (), False) for finding in rest)]
    tags: dict[int, list[Diagnosis]] = {}
    for each in every:
        tags.setdefault(element_start(source, each.finding.offset), []).append(each)
    unfed = [each for each in every if each.finding.rule == MISSING_EDGE]
    groups: dict[int, Diagnosis] = {}
    for start, group in tags.items():
        lead = next((each for each in group if each.finding.rule in _LACKING), None)
        offsets = {each.finding.offset for each in group}
        if len(group) > 1 and len(offsets) == 1 and start not in offsets:
            groups |= dict.fromkeys(map(id, group), _of_one_attribute(group))
            continue
        if lead is None or len(group) < 2:
            continue
        messages = dict.fromkeys(each.finding.message for each in (lead, *group))
        candidates = _at_once([each for each in group if each.candidates])
        certain = all(each.certain for each in group)
        also = unfed if lead.finding.rule == MALFORMED_EDGE and len(unfed) == 1 else []
        fault = lead.finding.fault._replace(
            message=f"the tag is damaged: {'; '.join(list(messages)[:SHOWN])}",
            help="write it anew, as it was",
        )
        explained = tuple(finding for each in (*group, *also) for finding in each.explained)
        told = lead.finding._replace(fault=fault, related=explained)
        cause = Diagnosis(told, explained, candidates, certain and bool(candidates))
        groups |= dict.fromkeys(map(id, (*group, *also)), cause)
    return [each for each in diagnoses if id(each) not in groups] + list(
        {id(each): each for each in groups.values()}.values()
    )


def _of_one_attribute(group: Sequence[Diagnosis]) -> Diagnosis:
    """What several findings say of one attribute, told by the one that can be taken back."""
    lead = next((each for each in group if each.candidates), group[0])
    explained = tuple(finding for each in group for finding in each.explained)
    return lead._replace(finding=lead.finding._replace(related=explained), explained=explained)


def _at_once(causes: Sequence[Diagnosis]) -> tuple[Candidate, ...]:
    """The first candidates of several causes as one; none if two of them change the same."""
    firsts = [cause.candidates[0] for cause in causes]
    edits = tuple(sorted(edit for first in firsts for edit in first.edits))
    if not edits or any(later.start < edit.end for edit, later in pairwise(edits)):
        return ()
    change = ", ".join(dict.fromkeys(first.change for first in firsts))
    return (firsts[0]._replace(edits=edits, change=change, becomes=None),)


def _of_lost_edges(
    source: Source, findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Inputs of several layers are fed by nothing; the edges stood behind each other."""
    gaps: dict[int, list[Finding]] = {}
    unknown: dict[Path, list[Finding]] = {}
    for finding in findings:
        if finding.rule != MISSING_EDGE or finding.layer is None:
            continue
        cause = alone.get(id(finding))
        edits = cause.candidates[0].edits if cause is not None and cause.candidates else ()
        is_new = len(edits) == 1 and edits[0].start == edits[0].end and b"<edge" in edits[0].text
        if cause is not None and is_new and (cause.certain or edits[0].start in gaps):
            gaps.setdefault(edits[0].start, []).append(finding)
        else:
            unknown.setdefault(finding.layer.path, []).append(finding)
    for place, known in gaps.items():
        if len({finding.layer for finding in known}) < 2:
            continue
        path = known[0].layer.path if known[0].layer is not None else ()
        group = [*known, *unknown.pop(path, [])]
        edge = max(source.data.rfind(b"<edge", 0, place), 0)
        line = source.place(edge)[0]
        fault = group[0].fault._replace(
            message=f"edges are missing behind line {line}: {len(group)} inputs of "
            f"{len({finding.layer for finding in group})} layers are fed by nothing"
        )
        told = Finding(fault, edge, None, None, tuple(group))
        yield Diagnosis(told, tuple(group), *_cures(group, alone))


def _of_doubled_edges(
    source: Source, findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Edges that follow each other stand there twice."""
    doubled = sorted(
        (finding for finding in findings if finding.rule == DUPLICATE_EDGE),
        key=lambda finding: finding.offset,
    )
    runs: list[list[Finding]] = []
    end = -1
    for finding in doubled:
        start = element_start(source, finding.offset)
        stop = source.data.find(b">", start) + 1
        edge = source.data[start:stop]
        if source.data.count(edge) < 2:
            continue
        if runs and not source.data[end:start].strip():
            runs[-1].append(finding)
        else:
            runs.append([finding])
        end = stop
    for group in runs:
        if len({finding.layer for finding in group}) > 1:
            fault = group[0].fault._replace(message=f"{len(group)} edges stand there twice")
            told = group[0]._replace(fault=fault, related=tuple(group[1:]))
            yield Diagnosis(told, tuple(group), *_cures(group, alone))


def _of_lost_layers(context: Context, findings: Sequence[Finding]) -> Iterator[Diagnosis]:
    """Edges name layers with ids that follow each other, none of which is there."""
    source = context.model.source
    by_path: dict[Path, dict[int, list[Finding]]] = {}
    for finding in findings:
        match = _NAMED.match(source.data, finding.offset)
        if finding.rule != DANGLING_EDGE or match is None:
            continue
        number = match[1].decode(source.encoding, "replace")
        if is_number(number):
            path = finding.layer.path if finding.layer is not None else ()
            by_path.setdefault(path, {}).setdefault(int(number), []).append(finding)
    there = {(layer.path, layer.id) for layer in context.every_layer} if by_path else set()
    for path, absent in by_path.items():
        if not absent or max(absent) - min(absent) >= 2 * len(absent):
            continue
        group = [finding for number in sorted(absent) for finding in absent[number]]
        before = str(min(absent) - 1)
        torn = [
            finding
            for finding in findings
            if finding.rule.code.startswith(_OF_TORN_LAYERS)
            and (path, str(max(absent) + 1)) in there
            and finding.layer is not None
            and (finding.layer.path, finding.layer.id) == (path, before)
        ]
        joined = sum(finding.layer is not None for finding in group)
        if not joined or len(absent) < (SEVERAL if not torn else 1) or (torn and len(group) < 2):
            continue
        unfed = [
            finding
            for finding in findings
            if finding.rule in (MISSING_EDGE, UNREACHABLE_LAYER)
            and finding.layer is not None
            and finding.layer.path == path
        ]
        fault = group[0].fault._replace(
            message=f"layers are missing: {len(group)} edges name {len(absent)} ids from "
            f"{min(absent)} to {max(absent)}, which no layers have",
            help="put the layers back",
        )
        rest = [each for each in unfed if each not in torn]
        told = group[0]._replace(fault=fault, related=(*group[1:], *torn, *rest))
        if torn:  # its end is that of another layer
            at = torn[0].offset
            fault = fault._replace(
                message=f"lines are missing from the middle of layer {before} on: {fault.message}"
            )
            told = Finding(fault, at, torn[0].layer, None, (*torn, *group, *rest))
        yield Diagnosis(told, (*group, *torn, *rest), (), False)


def _of_bodies(findings: Sequence[Finding]) -> Iterator[Diagnosis]:
    """A layer lacks a body, or a body a Result that the port map names."""
    for lead in findings:
        layer = lead.layer
        if layer is None or lead.rule not in (MISSING_BODY, PORT_MAP):
            continue
        inside = (*layer.path, layer.id)
        mapped = lead.rule == PORT_MAP and _MAPPED.search(lead.message)
        rules = (MISSING_RESULT, UNREACHABLE_LAYER) if mapped else ()
        also = [
            other
            for other in findings
            if other.layer is not None
            and (
                (lead.rule == MISSING_BODY and other.rule == PORT_MAP and other.layer is layer)
                or (other.rule in rules and other.layer.path[:-1] == inside)
            )
        ]
        if also:
            told = lead._replace(related=(*lead.related, *also))
            yield Diagnosis(told, (lead, *also), (), False)


def _cures(
    group: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> tuple[tuple[Candidate, ...], bool]:
    """What takes back those of which that is certain; and whether there are any."""
    causes = [cause for f in group if (cause := alone.get(id(f))) is not None]
    sure = [cause.candidates[0] for cause in causes if cause.candidates and cause.certain]
    if not sure:
        return (), False
    edits = tuple(_joined(edit for first in sure for edit in first.edits))
    change = ", ".join(dict.fromkeys(first.change for first in sure))
    return (sure[0]._replace(edits=edits, change=change),), True


def _joined(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Edits of which no two are at one place."""
    joined: dict[tuple[int, int], bytes] = {}
    for start, end, text in edits:
        joined[start, end] = joined.get((start, end), b"") + text
    return (Edit(*span, text) for span, text in joined.items())


def _of_stray_texts(
    source: Source, findings: Sequence[Finding], alone: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """A text stands between elements in the place of what a layer, or an input, lacks."""
    for stray in findings:
        if stray.rule != STRAY_TEXT:
            continue
        lacking = [
            finding
            for finding in findings
            if finding is not stray and _lacks(source, finding, stray, alone.get(id(finding)))
        ]
        if len(lacking) == 1:
            cause = alone.get(id(lacking[0]))
            told = stray._replace(related=(*stray.related, *lacking))
            cures = (cause.candidates, cause.certain) if cause is not None else ((), False)
            yield Diagnosis(told, (stray, *lacking), *cures)


def _lacks(source: Source, finding: Finding, stray: Finding, cause: Diagnosis | None) -> bool:
    """Whether what stands at the place of a text would take a finding back."""
    layer = finding.layer
    if layer is None:
        return False
    if finding.rule.code.startswith(_OF_TORN_LAYERS):
        return layer.offset < stray.offset < element_end(source.data, layer.offset)
    edits = cause.candidates[0].edits if cause is not None and cause.candidates else ()
    return finding.rule == MISSING_EDGE and any(
        b"<edge" in edit.text and abs(edit.start - stray.offset) < NEAR for edit in edits
    )
