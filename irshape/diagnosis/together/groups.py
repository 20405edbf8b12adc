"""Findings that are told as one because one layer, input or text is behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ...formats.ir.edits import element_end
from ...model.graph import Body, Finding, Layer
from ...model.source import Source
from ...rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    MISSING_ATTRIBUTE,
    MISSING_BODY,
    MISSING_EDGE,
    MISSING_RESULT,
    PORT_MAP,
    STRAY_TEXT,
    UNKNOWN_ATTRIBUTE,
    UNREACHABLE_LAYER,
)
from ..candidate import Diagnosis
from ..elements.lost_layers import free_ids
from ..rule_groups import BETWEEN_PORTS, OF_OUTPUTS
from ..telling import element_start
from .told import Causes, by_layer, cure_of, told_at_the_first

_RENAMED = re.compile(r'(from-layer|to-layer)="([^"]*)"')
_BLANK = re.compile(rb">\s+<")
_MAPPED = re.compile(r"refers to internal_layer_id \S+ as .*has no layer")
_OF_TORN_LAYERS = ("IR116", "IR20")
"""Findings at a layer in which something else stands."""
_OF_OPERATIONS = ("IR3", "IR4", "IR6")
"""Findings whose message says what is wrong with an operation, wherever it stands."""
_WORD = re.compile(rb"[A-Za-z_]\w{3,}")
"""Texts of which two slips by themselves hardly make the same of the same."""
NEAR = 400
"""So many bytes from a text an edge is added that stood in its place."""
SEVERAL = 3
"""So many unknown attributes are seldom written one by one."""


def of_lost_inputs(causes: Causes) -> None:
    """What is inferred for a layer whose input comes from nowhere says nothing about its ports."""
    for lead in causes.findings:
        if lead.rule == DANGLING_EDGE and lead.layer is not None and not causes.is_explained(lead):
            also = [
                other
                for other in causes.findings
                if other.layer is lead.layer
                and other.rule.code.startswith("IR20")
                and not causes.is_explained(other)
            ]
            if also:
                causes.tell((lead, *also), cured=False)


def of_bodies(causes: Causes) -> None:
    """A layer lacks a body, or a body a Result that the port map names."""
    for lead in causes.alone(MISSING_BODY, PORT_MAP):
        layer = lead.layer
        if layer is None:
            continue
        inside = (*layer.path, layer.id)
        mapped = lead.rule == PORT_MAP and _MAPPED.search(lead.message)
        also = [
            other
            for other in causes.alone(PORT_MAP, MISSING_RESULT, UNREACHABLE_LAYER)
            if other.layer is not None
            and (
                lead.rule == MISSING_BODY and other.layer is layer
                if other.rule == PORT_MAP
                else mapped and other.layer.path[:-1] == inside
            )
        ]
        if also:
            causes.tell((lead, *also), cured=False)


def of_stray_texts(causes: Causes) -> None:
    """A text stands between elements in the place of what a layer, or an input, lacks."""
    for stray in causes.alone(STRAY_TEXT):
        lacking = [
            each for each in causes.alone() if each is not stray and _lacks(causes, each, stray)
        ]
        if len(lacking) == 1:
            cause = causes.of(lacking[0])
            told = stray._replace(related=(*stray.related, *lacking))
            causes.add(Diagnosis(told, (stray, *lacking), cause.candidates, cause.certain))


def _lacks(causes: Causes, finding: Finding, stray: Finding) -> bool:
    """Whether what stands at the place of a text would take a finding back."""
    layer = finding.layer
    if layer is None:
        return False
    if finding.rule.code.startswith(_OF_TORN_LAYERS):
        return layer.offset < stray.offset < element_end(causes.source.data, layer.offset)
    edits = (edit for each in causes.of(finding).candidates[:1] for edit in each.edits)
    return finding.rule == MISSING_EDGE and any(
        b"<edge" in edit.text and abs(edit.start - stray.offset) < NEAR for edit in edits
    )


def of_attributes(causes: Causes) -> None:
    """Several attributes of a layer are those of another operation, or it lacks several.

    Two that are unknown, with nothing lacking, were more likely written one by one.
    """
    of_data = [finding for finding in causes.alone() if finding.rule.code.startswith("IR30")]
    for layer, group in by_layer(of_data).items():
        unknown = [finding for finding in group if finding.rule == UNKNOWN_ATTRIBUTE]
        missing = [finding for finding in group if finding.rule == MISSING_ATTRIBUTE]
        if unknown and len(group) >= (SEVERAL if len(unknown) == len(group) else 2):
            lead = next((finding for finding in group if finding.severity == "error"), group[0])
            message = f"<data> has attributes that {layer.type} of {layer.version} does not have"
            if lead in unknown:
                message += ": " + ", ".join(f"`{finding.actual}`" for finding in unknown)
            else:
                message += f", and others are wrong or missing: {lead.message}"
            others = (finding for finding in group if finding is not lead)
            causes.tell((lead, *others), message)
        elif len(missing) > 1:
            names = [f"`{finding.fault.at}`" for finding in missing]
            causes.tell(
                missing, f"the attributes {', '.join(names[:-1])} and {names[-1]} are missing"
            )


def of_wrong_inputs(causes: Causes) -> None:
    """Where a layer is fed what its input does not declare, its outputs are told with that.

    If the layer refuses what it is fed, that is told, and the input with it.
    """
    led: set[Layer] = set()
    by_layers = by_layer(causes.findings)
    for lead in causes.findings:
        layer, cause = lead.layer, causes.of(lead)
        if (
            lead.rule not in BETWEEN_PORTS
            or layer is None
            or layer in led
            or not all(
                other.layer is layer and other.rule in BETWEEN_PORTS and other.port == lead.port
                for other in cause.explained
            )
        ):
            continue
        led.add(layer)
        also = [
            other
            for other in by_layers[layer]
            if (_follows(other) or (other.rule in BETWEEN_PORTS and other.port == lead.port))
            and other is not lead
            and all(each.layer is layer for each in causes.of(other).explained)
        ]
        if any(map(_follows, also)):
            group = [lead, *also]
            group.sort(key=lambda finding: not finding.rule.code.startswith("IR4"))
            told = group[0]._replace(related=(*group[0].related, *group[1:]))
            causes.add(Diagnosis(told, tuple(group), cause.candidates, False))


def of_bypassed_layers(causes: Causes) -> None:
    """An input is not fed what it declares, and an id is free between the two layers: that of one
    that stood there, so that it is not certain that the input is wrong."""
    for each in causes.all():
        lead = next((f for f in each.explained if f.rule in BETWEEN_PORTS), None)
        if lead is None or lead.layer is None or each.finding.layer is not lead.layer:
            continue
        free = _free_before(causes, lead, lead.layer)
        if free is not None:
            fault = each.finding.fault
            message = f"{fault.message}; a layer with id {free}, which none has, may be missing"
            told = each.finding._replace(fault=fault._replace(message=f"{message} between the two"))
            causes.add(each._replace(finding=told, certain=False))


def _free_before(causes: Causes, finding: Finding, layer: Layer) -> int | None:
    """The id that no layer has between those of a layer and of what feeds an input of it."""
    bodies = causes.context.results
    result = next((bodies[body] for body in bodies if body.path == layer.path), None)
    if result is None or finding.port is None:
        return None
    layers = result.body.layers
    row = result.wiring.sources[layers.index(layer)]
    pairs = zip(layer.inputs, row, strict=True)
    source = next((s for port, s in pairs if s and port.id == finding.port[1]), None)
    free = free_ids(layers) if source is not None else []
    return next((n for n in free if source and int(layers[source[0]].id) < n < int(layer.id)), None)


def _follows(finding: Finding) -> bool:
    """Whether a finding may follow from what its layer is fed."""
    return finding.rule in OF_OUTPUTS or finding.rule.code.startswith("IR4")


def of_the_same_in_several(causes: Causes) -> None:
    """A tool, or search and replace, did the same to several layers: one text stands for another,
    or the same is told of layers of one type."""
    data = causes.source.data
    replaced: dict[object, list[Diagnosis]] = {}
    for each in causes.diagnoses:
        edits = each.candidates[0].edits if each.certain else ()
        texts = {(data[edit.start : edit.end], edit.text) for edit in edits}
        if len(texts) == 1 and all(map(_WORD.fullmatch, *texts)):
            replaced.setdefault(texts.pop(), []).append(each)
    _tell_each(causes, replaced)
    alike: dict[object, list[Diagnosis]] = {}
    for each in causes.all():
        rule, layer = each.finding.rule, each.finding.layer
        if layer is not None and rule.code.startswith(_OF_OPERATIONS):
            key = rule.code, layer.type, each.finding.message
            alike.setdefault(key, []).append(each)
    # two slips may be the same by chance
    _tell_each(causes, {key: group for key, group in alike.items() if len(group) > 2})


def _tell_each(causes: Causes, groups: Mapping[object, Sequence[Diagnosis]]) -> None:
    for group in groups.values():
        if len({each.finding.layer for each in group}) > 1:
            told, (cures, certain) = told_at_the_first(group), cure_of(group)
            fault, count = told.finding.fault, len(group) - 1
            others = f"{count} other layer{'s' if count > 1 else ''}"
            fault = fault._replace(message=f"{fault.message}; likewise in {others}")
            finding = told.finding._replace(fault=fault)
            causes.add(Diagnosis(finding, told.explained, cures, certain, parts=len(group)))


def of_pasted_pieces(causes: Causes) -> None:
    """Layers that follow each other, and edges at them, stand there twice."""
    data = causes.source.data
    runs: list[list[Diagnosis]] = []
    edges: list[Diagnosis] = []
    end = -1
    for each in causes.diagnoses:
        gone = [edit for edit in each.candidates[0].edits if not edit.text] if each.certain else []
        twice = all(data.count(data[edit.start : edit.end].strip()) > 1 for edit in gone)
        if not gone or not twice or each.finding.rule not in (DUPLICATE_ID, DUPLICATE_EDGE):
            continue
        if each.finding.rule == DUPLICATE_EDGE:
            edges.append(each)
        elif runs and not data[end : gone[0].start].strip():
            runs[-1].append(each)
        else:
            runs.append([each])
        end = gone[-1].end
    for run in runs:
        ids = {each.finding.layer.id for each in run if each.finding.layer is not None}
        theirs = [
            each
            for each in edges
            if any(other.layer is not None and other.layer.id in ids for other in each.explained)
        ]
        if len(run) + len(theirs) < 2:
            continue
        told = told_at_the_first([*run, *theirs])
        count = sum(len(each.explained) for each in theirs)
        layers = f"{len(run)} layers" if len(run) > 1 else "a layer"
        layers += f" and {count} edges" if count > 1 else " and an edge" if count else ""
        fault = told.finding.fault._replace(
            message=f"{layers} stand there twice", help="remove the second of each"
        )
        causes.add(told._replace(finding=told.finding._replace(fault=fault)))


def of_copied_layers(causes: Causes) -> None:
    """What a layer says that is, but for id and name, the one before or behind it.

    Nothing says what it was: it declares neither what it is fed nor what those take that it feeds.
    """
    groups = by_layer(causes.findings)
    told: set[Layer] = set()
    for layer in sorted(groups, key=lambda each: -len(groups[each])):
        own = groups[layer]
        misfed = {finding.port for finding in own if finding.rule in BETWEEN_PORTS}
        if not misfed or any(_is_of_several(causes, finding) for finding in own):
            continue
        body = next((body for body in causes.context.results if layer in body.layers), None)
        twin = None if body is None else _twin(causes.source, body.layers, layer)
        if body is None or twin is None or twin in told:
            continue
        behind = list(_behind(causes, body, layer, groups))
        if behind or len(misfed) == len(layer.inputs) > 1:
            told.add(layer)
            message = f"but for id and name, the layer is a copy of {twin.label}: it does not "
            message += "declare what it is fed"
            also = [*own, *(each for each in behind if not _is_of_several(causes, each))]
            help = "write what the layer was before"
            causes.tell(also, message, help, place=(layer.offset, layer), cured=False)


def _is_of_several(causes: Causes, finding: Finding) -> bool:
    """Whether its cause is behind findings at several layers."""
    return len({each.layer for each in causes.of(finding).explained}) > 1


def _behind(
    causes: Causes, body: Body, layer: Layer, groups: Mapping[Layer, Sequence[Finding]]
) -> Iterator[Finding]:
    """What is found at the inputs that a layer feeds, and what may follow there."""
    at = body.layers.index(layer)
    for consumer, row in enumerate(causes.context.results[body].wiring.sources):
        other = body.layers[consumer]
        numbers = [
            port.id
            for port, source in zip(other.inputs, row, strict=False)
            if source is not None and source[0] == at
        ]
        for finding in groups.get(other, ()) if numbers and other is not layer else ():
            if finding.rule in BETWEEN_PORTS:
                if finding.port is not None and finding.port[1] in numbers:
                    yield finding
            elif _follows(finding):
                yield finding


def _twin(source: Source, layers: Sequence[Layer], layer: Layer) -> Layer | None:
    """The layer before or behind one that has the same content under another id and name."""
    position = layers.index(layer)
    for at in (position - 1, position + 1):
        twin = layers[at] if 0 <= at < len(layers) and layer.inputs else layer
        is_alike = twin is not layer and twin.type == layer.type
        if is_alike and _content(source, layer) == _content(source, twin):
            return twin
    return None


def _content(source: Source, layer: Layer) -> bytes:
    """What a layer has inside, without white space between elements."""
    start = source.data.find(b">", layer.offset)
    return _BLANK.sub(b"><", source.data[start : source.data.find(b"</layer", start)])


def of_redirected_edges(causes: Causes) -> None:
    """Edges that name one layer in place of another, or each of two for the other."""
    source = causes.source
    groups: dict[tuple[object, ...], list[Diagnosis]] = {}
    for each in causes.diagnoses:
        first = each.candidates[0] if each.candidates else None
        match = None if first is None else _RENAMED.match(first.change)
        if first is None or first.layer is None or match is None:
            continue
        ends = source.attributes(element_start(source, first.offset))
        name = next((source.data[a:b] for name, _, a, b in ends if name == match[1]), b"")
        ids = frozenset((name.decode(source.encoding, "replace"), match[2]))
        groups.setdefault((match[1], ids, first.layer.path), []).append(each)
    for group in groups.values():
        if len(group) > 1:
            causes.add(told_at_the_first(group))
