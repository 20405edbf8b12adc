"""Findings that are told as one because the same element is behind them, whatever its cure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..model.graph import Body, Finding, Layer
from ..model.source import Source
from ..rule_ids import (
    DANGLING_EDGE,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    LOOSER_DECLARATION,
    MISSING_ATTRIBUTE,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNPROVEN_DIMENSION,
    RuleId,
)
from ..rules import Context
from ..spelling import enumerated
from .candidate import Candidate, Diagnosis
from .telling import changed_sizes, element_start, replaced_sizes

_OF_FED = (INPUT_MISMATCH, INPUT_TYPE_MISMATCH)
_OF_PRODUCED = (OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH, UNPROVEN_DIMENSION)
_ENDS = {"from-layer", "from-port", "to-layer", "to-port"}
_RENAMED = re.compile(r'(from-layer|to-layer)="([^"]*)"')
BESIDE = 2
"""How many layers apart stand those in which one text was replaced."""
_BLANK = re.compile(rb">\s+<")
_NAMED = re.compile(rb"(from|to)-layer\s*=\s*[\"']([^\"']*)")
_VALUE = re.compile(rb"(from|to)-layer\s*=\s*[\"'][^\"']*")


def of_lost_inputs(
    findings: Sequence[Finding], diagnoses: Sequence[Diagnosis]
) -> Iterator[Diagnosis]:
    """What is inferred for a layer whose input comes from nowhere says nothing about its ports."""
    known = {id(finding) for each in diagnoses for finding in each.explained}
    rest = [finding for finding in findings if id(finding) not in known]
    for lead in rest:
        if lead.rule == DANGLING_EDGE and lead.layer is not None:
            also = [f for f in rest if f.layer is lead.layer and f.rule.code.startswith("IR20")]
            if also:
                told = lead._replace(related=tuple(also))
                yield Diagnosis(told, (lead, *also), (), False)


def of_wrong_inputs(
    findings: Sequence[Finding], diagnoses: Sequence[Diagnosis]
) -> Iterator[Diagnosis]:
    """Where a layer is fed what its input does not declare, its outputs are told with that.

    If the layer refuses what it is fed, that is told, and the input with it.
    """
    causes = {id(finding): each for each in diagnoses for finding in each.explained}
    led: set[Layer] = set()
    for lead in findings:
        layer, cause = lead.layer, causes.get(id(lead))
        alone = cause is None or all(
            other.layer is layer and other.rule in _OF_FED and other.port == lead.port
            for other in cause.explained
        )
        if lead.rule not in _OF_FED or layer is None or layer in led or not alone:
            continue
        led.add(layer)
        also = [
            other
            for other in findings
            if other.layer is layer
            and (_follows(other) or (other.rule in _OF_FED and other.port == lead.port))
            and other is not lead
            and _only_at(layer, causes.get(id(other)))
        ]
        if any(map(_follows, also)):
            together = (lead, *also)
            refused = next((f for f in together if f.rule.code.startswith("IR4")), lead)
            others = tuple(other for other in together if other is not refused)
            told = refused._replace(related=(*refused.related, *others))
            yield Diagnosis(told, together, cause.candidates if cause else (), False)


def _only_at(layer: Layer, cause: Diagnosis | None) -> bool:
    """Whether what a cause explains is at one layer."""
    return cause is None or all(finding.layer is layer for finding in cause.explained)


def _follows(finding: Finding) -> bool:
    """Whether a finding may follow from what its layer is fed."""
    return finding.rule in _OF_PRODUCED or finding.rule.code.startswith("IR4")


def of_copied_layers(
    context: Context, findings: Sequence[Finding], diagnoses: Sequence[Diagnosis]
) -> Iterator[Diagnosis]:
    """What a layer says that is, but for id and name, the one before or behind it, told once.

    Nothing says what it was: it declares neither what it is fed nor what those take that it feeds.
    """
    several = {
        id(finding)
        for each in diagnoses
        if len({finding.layer for finding in each.explained}) > 1
        for finding in each.explained
    }
    by_layer = grouped_by_layer(findings)
    told: set[Layer] = set()
    for layer in sorted(by_layer, key=lambda each: -len(by_layer[each])):
        own = by_layer[layer]
        misfed = {f.port for f in own if f.rule in _OF_FED}
        if not misfed or any(id(f) in several for f in own):
            continue
        body = next((body for body in context.results if layer in body.layers), None)
        if body is None:
            continue
        twin = _twin(context.model.source, body.layers, body.layers.index(layer))
        if twin is None or twin in told:
            continue
        behind = list(_behind(context, body, layer, by_layer))
        if behind or len(misfed) == len(layer.inputs) > 1:
            told.add(layer)
            also = (*own, *(f for f in behind if id(f) not in several))
            fault = own[0].fault._replace(
                message=f"but for id and name, the layer is a copy of {twin.label}: it does not "
                "declare what it is fed",
                help="write what the layer was before",
            )
            yield Diagnosis(Finding(fault, layer.offset, layer, None, also), also, (), False)


def _behind(
    context: Context, body: Body, layer: Layer, by_layer: Mapping[Layer, Sequence[Finding]]
) -> Iterator[Finding]:
    """What is found at the inputs that a layer feeds, and what may follow there."""
    at = body.layers.index(layer)
    for consumer, row in enumerate(context.results[body].wiring.sources):
        other = body.layers[consumer]
        numbers = [
            port.id
            for port, source in zip(other.inputs, row, strict=False)
            if source is not None and source[0] == at
        ]
        for finding in by_layer.get(other, ()) if numbers and other is not layer else ():
            if finding.rule in _OF_FED:
                if finding.port is not None and finding.port[1] in numbers:
                    yield finding
            elif _follows(finding):
                yield finding


def _twin(source: Source, layers: Sequence[Layer], position: int) -> Layer | None:
    """The layer before or behind one that has the same content under another id and name."""
    own = layers[position]
    for at in (position - 1, position + 1):
        if 0 <= at < len(layers) and layers[at].type == own.type and own.inputs:
            ends = [_content(source, layers, each) for each in (position, at)]
            if ends[0] == ends[1]:
                return layers[at]
    return None


def _content(source: Source, layers: Sequence[Layer], position: int) -> bytes:
    """What a layer has inside, without white space between elements."""
    start = source.data.find(b">", layers[position].offset)
    end = source.data.find(b"</layer", start)
    return _BLANK.sub(b"><", source.data[start:end])


def grouped_by_layer(
    findings: Sequence[Finding], rule: RuleId | None = None
) -> dict[Layer, list[Finding]]:
    """The findings, or those of one rule, by the layer that each concerns."""
    groups: dict[Layer, list[Finding]] = {}
    for finding in findings:
        if finding.layer is not None and rule in (None, finding.rule):
            groups.setdefault(finding.layer, []).append(finding)
    return groups


def of_attributes(
    findings: Sequence[Finding], diagnoses: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Several attributes that one layer lacks are told once.

    diagnoses: those of single findings. What takes each of them back does so together.
    """
    for group in grouped_by_layer(findings, MISSING_ATTRIBUTE).values():
        if len(group) < 2:
            continue
        names = enumerated(f"`{finding.fault.at}`" for finding in group)
        message = f"the attributes {names} are missing"
        fault = group[0].fault._replace(message=message)
        told = group[0]._replace(fault=fault, related=tuple(group[1:]))
        causes = [diagnoses.get(id(finding)) for finding in group]
        firsts = [cause.candidates[0] for cause in causes if cause and cause.candidates]
        together: tuple[Candidate, ...] = ()
        if len(firsts) == len(group):
            edits = tuple(edit for first in firsts for edit in first.edits)
            change = " and ".join(first.change for first in firsts)
            together = (firsts[0]._replace(edits=edits, change=change, becomes=None),)
        certain = bool(together) and all(cause is not None and cause.certain for cause in causes)
        yield Diagnosis(told, tuple(group), together, certain)


def of_redirected(source: Source, diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Edges that name one layer in place of another are told once, or each of two for the other."""
    groups: dict[tuple[object, ...], list[Diagnosis]] = {}
    for each in diagnoses:
        first = each.candidates[0] if each.candidates else None
        match = None if first is None else _RENAMED.match(first.change)
        if first is None or first.layer is None or match is None:
            continue
        start = element_start(source, first.offset)
        name = next(
            (source.data[a:b] for n, _, a, b in source.attributes(start) if n == match[1]), b""
        )
        ids = frozenset((name.decode(source.encoding, "replace"), match[2]))
        groups.setdefault((match[1], ids, first.layer.path), []).append(each)
    told = list(diagnoses)
    for group in groups.values():
        if len(group) > 1:
            firsts = [each.candidates[0] for each in group]
            edits = tuple(edit for first in firsts for edit in first.edits)
            changes = dict.fromkeys(first.change for first in firsts)
            change = f"{' and '.join(changes)} in {len(group)} edges"
            explained = tuple(dict.fromkeys(f for each in group for f in each.explained))
            lead = group[0].finding
            also = tuple(other for other in explained if other.offset != lead.offset)
            candidate = firsts[0]._replace(edits=edits, change=change)
            told = [each for each in told if each not in group]
            certain = all(each.certain for each in group)
            told.append(Diagnosis(lead._replace(related=also), explained, (candidate,), certain))
    return told


def of_replaced(
    source: Source, diagnoses: Sequence[Diagnosis], findings: Sequence[Finding]
) -> list[Diagnosis]:
    """The same text that stands in place of another in layers beside each other is told once: it
    was replaced in some lines.

    findings: those that no diagnosis explains.
    """
    groups: dict[tuple[str, str], list[Diagnosis]] = {}
    alone = [Diagnosis(finding, (finding,), (), False) for finding in findings]
    for each in (*diagnoses, *alone):
        texts = _replaced(source, each)
        if texts is not None:
            groups.setdefault(texts, []).append(each)
    told = list(diagnoses)
    for group in groups.values():
        group.sort(key=lambda each: each.finding.offset)
        for run in _runs(source, group):
            explained = tuple(dict.fromkeys(f for each in run for f in each.explained))
            lead = run[0].finding
            also = tuple(other for other in explained if other.offset != lead.offset)
            firsts = [each.candidates[0] for each in run if each.candidates]
            together: tuple[Candidate, ...] = ()
            if len(firsts) == len(run):
                edits = tuple(edit for first in firsts for edit in first.edits)
                change = " and ".join(dict.fromkeys(first.change for first in firsts))
                together = (firsts[0]._replace(edits=edits, change=change, becomes=None),)
            certain = bool(together) and all(each.certain for each in run)
            told = [each for each in told if each not in run]
            lead = lead._replace(related=also)
            told.append(Diagnosis(lead, explained, together, certain, len(run)))
    return told


def _replaced(source: Source, diagnosis: Diagnosis) -> tuple[str, str] | None:
    """The one text, and the other that should stand in its place, that a port declares."""
    finding = diagnosis.finding
    if finding.rule not in (*_OF_FED, *_OF_PRODUCED):
        return None
    if diagnosis.candidates:
        edits = diagnosis.candidates[0].edits
        texts = {(source.data[edit.start : edit.end], edit.text) for edit in edits}
        name = source.encoding
        pairs = {(a.decode(name, "replace"), b.decode(name, "replace")) for a, b in texts}
    else:
        pairs = replaced_sizes(finding) or set()
    pair = pairs.pop() if len(pairs) == 1 else ("", "")
    return pair if all(pair) else None


def _runs(source: Source, diagnoses: Sequence[Diagnosis]) -> Iterator[list[Diagnosis]]:
    """Those of some, in file order, that are told in layers beside each other."""
    run: list[Diagnosis] = []
    for each in diagnoses:
        start = run[-1].finding.offset if run else 0
        if run and source.data.count(b"<layer ", start, each.finding.offset) > BESIDE:
            if len(run) > 1:
                yield run
            run = []
        run.append(each)
    if len(run) > 1:
        yield run


def of_inputs(
    context: Context,
    findings: Sequence[Finding],
    everything: Sequence[Finding],
    diagnoses: Sequence[Diagnosis],
) -> Iterator[Diagnosis]:
    """What layers declare in place of what inputs of the model give them, told once.

    The shape of an input is its author's choice: it may be wrong, or what follows it may be old.
    If one layer alone declares something else, it may itself be wrong, unless what it declares to
    give fits that.

    everything: all that is found, reported or not.
    """
    causes = {id(finding): each for each in diagnoses for finding in each.explained}
    looser = {f.layer for f in everything if f.rule == LOOSER_DECLARATION}
    fed = _misfed_by_inputs(context, findings)
    groups: dict[tuple[RuleId, frozenset[str]], list[Layer]] = {}
    for parameter, given in fed.items():
        known = [causes[id(each)] for each in given if id(each) in causes]
        if any(len(cause.explained) > 1 and not _of(cause, parameter) for cause in known):
            continue
        if any(cause.certain and _of(cause, parameter) for cause in known):
            continue  # what is behind the input refuses that: its shape is no choice
        if len({each.actual for each in given}) > 1:
            continue
        several = len({each.layer for each in given}) > 1 or given[0].layer in looser
        if several or len(fed) > 1:
            groups.setdefault((given[0].rule, changed_sizes(given)), []).append(parameter)
    for (rule, sizes), parameters in groups.items():
        given = [each for parameter in parameters for each in fed[parameter]]
        layers = {each.layer for each in given}
        if not sizes and len(parameters) > 1:
            continue
        if rule == INPUT_TYPE_MISMATCH and len(parameters) == 1:
            continue  # a type is no choice as a shape is: it has a cause of its own
        if len(layers) == 1 and given[0].layer not in looser:
            continue
        explained = [f for f in findings if f.layer in layers and f.rule.code.startswith("IR20")]
        also = {id(f) for each in given if (c := causes.get(id(each))) for f in c.explained}
        explained += [f for f in findings if id(f) in also and f not in explained]
        yield _of_parameters(context, parameters, given, explained, causes)


def _misfed_by_inputs(context: Context, findings: Sequence[Finding]) -> dict[Layer, list[Finding]]:
    """What is found at the inputs of layers that inputs of the model feed, by the latter."""
    result = context.results[context.model.net]
    layers = result.body.layers
    position = {layer: at for at, layer in enumerate(layers)}
    groups: dict[Layer, list[Finding]] = {}
    for finding in findings:
        if finding.rule in _OF_FED and finding.port and finding.layer in position:
            at, number = position[finding.layer], finding.port[1]
            for port, source in zip(finding.layer.inputs, result.wiring.sources[at], strict=True):
                if port.id == number and source and layers[source[0]].is_parameter:
                    groups.setdefault(layers[source[0]], []).append(finding)
    return groups


def _of(cause: Diagnosis, parameter: Layer) -> bool:
    """Whether the first change of a cause is that of an input of the model."""
    return bool(cause.candidates) and cause.candidates[0].layer is parameter


def _of_parameters(
    context: Context,
    parameters: Sequence[Layer],
    fed: Sequence[Finding],
    explained: Sequence[Finding],
    causes: Mapping[int, Diagnosis],
) -> Diagnosis:
    """What layers declare for inputs of the model: they follow these, or these follow them."""
    first = parameters[0]
    count = len({each.layer for each in fed})
    name = "shape" if fed[0].rule == INPUT_MISMATCH else "element_type"
    given = [f'{name}="{each.attribute(name)}" of {each.label}' for each in parameters]
    declared = list(dict.fromkeys(each.actual or "" for each in fed))
    fault = fed[0].fault._replace(
        message=f"{count} layer{'s declare' if count > 1 else ' declares'} "
        f"{' and '.join(declared)} for what {' and '.join(given)} "
        f"give{'s' if len(given) == 1 else ''} {'them' if count > 1 else 'it'}",
        help=f"change the {name} of the input, or what is declared behind it (irshape fix)",
    )
    offset = context.model.source.attribute(first.data_offset, name)
    told = Finding(fault, offset, first, None, tuple(explained))
    candidates = [c for each in fed if (k := causes.get(id(each))) for c in k.candidates]
    ways = (
        [
            next((c for c in candidates if c.port == f.port and c.layer is f.layer), None)
            for f in fed
        ],
        [next((c for c in candidates if c.layer is each), None) for each in parameters],
    )
    together: list[Candidate] = []
    for way in ways:
        own = [each for each in way if each is not None]
        if len(own) == len(way):
            edits = tuple(edit for each in own for edit in each.edits)
            change = " and ".join(dict.fromkeys(each.change for each in own))
            together.append(own[0]._replace(edits=edits, change=change, becomes=None))
    return Diagnosis(told, tuple(explained), tuple(together), False)


def from_the_same(
    source: Source, findings: Sequence[Finding], diagnoses: Mapping[int, Diagnosis]
) -> Iterator[Diagnosis]:
    """Edges from, or to, the same layer or port that does not exist are told once.

    diagnoses: those of single findings. What takes each of them back does so together.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        if finding.rule == DANGLING_EDGE:
            start = element_start(source, finding.offset)
            ends = {name: source.data[a:b] for name, _, a, b in source.attributes(start)}
            value = _VALUE.match(source.data, finding.offset)
            side = b"from" if source.data.startswith(b"from", finding.offset) else b"to"
            path = finding.layer.path if finding.layer is not None else None
            if value is not None:
                groups.setdefault((value[0], path), []).append(finding)
            elif side == b"from" and ends.keys() == _ENDS:
                key = (ends["from-layer"], ends["from-port"], path)
                groups.setdefault(key, []).append(finding)
    for group in groups.values():
        if len(group) > 1:
            told = group[0]._replace(related=tuple(group[1:]))
            causes = [diagnoses.get(id(finding)) for finding in group]
            together = _together([cause for cause in causes if cause is not None], len(group))
            certain = bool(together) and all(
                cause is not None and cause.certain for cause in causes
            )
            yield Diagnosis(told, tuple(group), together, certain)


def of_lost_ids(source: Source, diagnoses: Sequence[Diagnosis]) -> list[Diagnosis]:
    """Edges to a layer that does not exist, and edges from it, where no change is right for both.

    They are told as one.
    """
    sides: dict[tuple[object, ...], dict[bytes, Diagnosis]] = {}
    for each in diagnoses:
        finding = each.finding
        match = _NAMED.match(source.data, finding.offset)
        if finding.rule == DANGLING_EDGE and finding.layer is not None and match is not None:
            sides.setdefault((match[2], finding.layer.path), {}).setdefault(match[1], each)
    told = list(diagnoses)
    for (number, _), ends in sides.items():
        pair = [ends[side] for side in (b"to", b"from") if side in ends]
        if len(pair) < 2 or all(each.certain for each in pair) or not isinstance(number, bytes):
            continue
        leading, coming = pair
        name = number.decode(source.encoding, "replace")
        lead = leading.finding
        message = f"layer {name}, to which edges lead and from which others come, does not exist"
        explained = (*leading.explained, *coming.explained)
        finding = lead._replace(
            fault=lead.fault._replace(message=message),
            related=tuple(other for other in explained if other.offset != lead.offset),
        )
        told = [each for each in told if each not in pair]
        told.append(Diagnosis(finding, explained, (), False))
    return told


def _together(causes: Sequence[Diagnosis], count: int) -> tuple[Candidate, ...]:
    """The first candidates of several causes as one, if they do the same to each."""
    firsts = [cause.candidates[0] for cause in causes if cause.candidates]
    if len(firsts) < count or len({first.change for first in firsts}) > 1:
        return ()
    edits = tuple(edit for first in firsts for edit in first.edits)
    return (firsts[0]._replace(edits=edits, change=f"{firsts[0].change} in {count} edges"),)
