"""Edges name layers that are not there, or of which there are two: each layer is told once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import element_end
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.source import Source
from ...rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    MISSING_EDGE,
    PORT_MAP,
    UNREACHABLE_LAYER,
)
from ..telling import element_start
from .told import Causes

_NAMED = re.compile(rb"(from|to)-layer\s*=\s*[\"']([^\"']*)")
_MAPPED = re.compile(r"refers to internal_layer_id (\S+) as")
_OF_TORN_LAYERS = ("IR116", "IR20")
"""Findings at a layer whose end is that of another one."""
_ENDS = {"from-layer", "from-port", "to-layer", "to-port"}
SEVERAL = 3
"""So many ids in a row are those of a block of layers."""
Path = tuple[str, ...]


def of_blocks(causes: Causes) -> None:
    """Edges name layers with ids that follow each other, none of which is there."""
    by_path: dict[Path, dict[int, list[Finding]]] = {}
    for finding in causes.alone(DANGLING_EDGE):
        number = _named(causes.source, finding)[1]
        if is_number(number):
            path = finding.layer.path if finding.layer is not None else ()
            by_path.setdefault(path, {}).setdefault(int(number), []).append(finding)
    for path, absent in by_path.items():
        first, last = min(absent), max(absent)
        if last - first >= 2 * len(absent):
            continue
        group = [finding for number in sorted(absent) for finding in absent[number]]
        torn = list(_of_a_torn_layer(causes, path, first - 1, last + 1))
        are_few = len(absent) < SEVERAL and not (torn and len(group) > 1)
        if are_few or all(finding.layer is None for finding in group):
            continue
        unfed = [
            finding
            for finding in causes.alone(MISSING_EDGE, UNREACHABLE_LAYER)
            if finding.layer is not None and finding.layer.path == path and finding not in torn
        ]
        message = (
            f"layers are missing: {len(group)} edges name {len(absent)} ids from {first} to "
            f"{last}, which no layers have"
        )
        place = None
        if torn:
            place = torn[0].offset, torn[0].layer
            message = f"lines are missing from the middle of layer {first - 1} on: {message}"
        group += [*torn, *unfed]
        causes.tell(group, message, "put the layers back", place=place, cured=False)


def _of_a_torn_layer(causes: Causes, path: Path, before: int, behind: int) -> Iterator[Finding]:
    """What is found at the layer before a gap, if its end is that of one in the gap."""
    there = {layer.id for layer in causes.context.every_layer if layer.path == path}
    for finding in causes.alone() if str(behind) in there else ():
        layer = finding.layer
        is_of_it = layer is not None and (layer.path, layer.id) == (path, str(before))
        if is_of_it and finding.rule.code.startswith(_OF_TORN_LAYERS):
            yield finding


def of_pasted_layers(causes: Causes) -> None:
    """A layer stands twice, and one that edges name is missing: the copy stands in its place."""
    for lead in causes.alone(DUPLICATE_ID):
        layer = lead.layer
        if layer is None:
            continue
        dangling = [
            finding
            for finding in causes.alone(DANGLING_EDGE)
            if finding.layer is not None and finding.layer.path == layer.path
        ]
        absent = {_named(causes.source, finding)[1] for finding in dangling}
        every_layer = causes.context.every_layer
        has_twin = any(_is_twin(causes.source, each, layer) for each in every_layer)
        if len(absent) == 1 and "" not in absent and has_twin:
            message = (
                "the layer is a copy of another one, and stands where a layer with id "
                f"{absent.pop()} is missing, which edges name"
            )
            help = "write what the layer was before"
            causes.tell((lead, *dangling), message, help, cured=False)


def _is_twin(source: Source, one: Layer, other: Layer) -> bool:
    """Whether another layer stands there in the same words."""
    if one is other or (one.id, one.path) != (other.id, other.path):
        return False
    texts = [
        source.data[layer.offset : element_end(source.data, layer.offset)] for layer in (one, other)
    ]
    return texts[0] == texts[1]


def of_shared_ids(causes: Causes) -> None:
    """Two layers have one id, so that edges that name it are of one or of the other."""
    for lead in causes.alone(DUPLICATE_ID):
        if lead.layer is None:
            continue
        shared, path = lead.layer.id, lead.layer.path
        also = [
            finding
            for finding in causes.alone(DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE)
            if finding.layer is not None
            and finding.layer.path == path
            and (finding.layer.id == shared or shared in _ends(causes.source, finding))
        ]
        if also:
            causes.tell((lead, *also))


def _ends(source: Source, finding: Finding) -> set[str]:
    """The ids of the layers that the edge of a finding names."""
    ends = _attributes(source, finding)
    names = (ends.get(name, b"") for name in ("from-layer", "to-layer"))
    return {name.decode(source.encoding, "replace") for name in names if name}


def _attributes(source: Source, finding: Finding) -> dict[str, bytes]:
    """The attributes of the edge at which a finding is; none if it is at no edge."""
    start = element_start(source, finding.offset)
    if not source.data.startswith(b"<edge", start):
        return {}
    return {name: source.data[a:b] for name, _, a, b in source.attributes(start)}


def of_absent_layers(causes: Causes) -> None:
    """Edges lead to a layer and come from it, or a port map names it, but it does not exist."""
    groups: dict[tuple[Path, str], list[Finding]] = {}
    sides: dict[tuple[Path, str], set[str]] = {}
    for finding in causes.alone(DANGLING_EDGE):
        side, number = _named(causes.source, finding)
        if side and finding.layer is not None:
            key = finding.layer.path, number
            groups.setdefault(key, []).append(finding)
            sides.setdefault(key, set()).add(side)
    edges = {key: len(group) for key, group in groups.items()}
    for finding in causes.alone(PORT_MAP):
        mapped = _MAPPED.search(finding.message)
        if mapped is None or finding.layer is None:
            continue
        holder = *finding.layer.path, finding.layer.id
        for (path, number), group in groups.items():
            if path[:-1] == holder and number == mapped[1]:
                group.append(finding)
                sides[path, number].add("map")
    for key, group in groups.items():
        if len(sides[key]) > 1:
            also = ", and a port map does" if edges[key] < len(group) else ""
            message = (
                f"a layer is missing: no layer has id {key[1]}, which {edges[key]} "
                f"edge{'s name' if edges[key] > 1 else ' names'}{also}"
            )
            causes.tell(group, message, "put the layer back, or correct its id", cured=False)


def of_one_end(causes: Causes) -> None:
    """Edges from, or to, the same layer or port that does not exist."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in causes.alone(DANGLING_EDGE):
        path = finding.layer.path if finding.layer is not None else None
        side, number = _named(causes.source, finding)
        ends = _attributes(causes.source, finding)
        is_from = causes.source.data.startswith(b"from", finding.offset)
        if side:
            groups.setdefault((side, number, path), []).append(finding)
        elif is_from and ends.keys() == _ENDS:
            groups.setdefault((ends["from-layer"], ends["from-port"], path), []).append(finding)
    for group in groups.values():
        if len(group) > 1:
            causes.tell(group)


def of_both_ends(causes: Causes) -> None:
    """Edges lead to a layer that does not exist, and come from it, and no change is right for
    both."""
    sides: dict[tuple[Path, str], dict[str, Finding]] = {}
    for each in causes.diagnoses:
        side, number = _named(causes.source, each.finding)
        if side and each.finding.layer is not None:
            key = each.finding.layer.path, number
            sides.setdefault(key, {}).setdefault(side, each.explained[0])
    for (_, number), ends in sides.items():
        units = [causes.of(ends[side]) for side in ("to", "from") if side in ends]
        if len(units) > 1 and not all(each.certain for each in units):
            group = [finding for each in units for finding in each.explained]
            group.sort(key=lambda finding: finding.rule != DANGLING_EDGE)
            message = f"layer {number}, to which edges lead and from which others come, "
            causes.tell(group, message + "does not exist", cured=False)


def _named(source: Source, finding: Finding) -> tuple[str, str]:
    """Which end of an edge a finding is at, and the id of the layer that is named there."""
    match = _NAMED.match(source.data, finding.offset)
    if finding.rule != DANGLING_EDGE or match is None:
        return "", ""
    return match[1].decode(), match[2].decode(source.encoding, "replace")
