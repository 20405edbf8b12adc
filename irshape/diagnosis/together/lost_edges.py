"""Inputs that are fed by nothing, and edges that stand there twice: told once for several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ...formats.ir.edits import Edit
from ...model.graph import Body, Finding, Layer
from ...rule_ids import DUPLICATE_EDGE, MISSING_EDGE, UNPROVEN_DIMENSION, UNREACHABLE_LAYER
from ...rules import Context
from ...spelling import enumerated
from ..candidate import Candidate, Diagnosis
from ..telling import element_start
from .told import Causes, cure_of, joined

LISTED = 3
"""How many changes are listed, and how many of each are looked at."""
MANY = 8
"""With more inputs than this, only the likeliest change of each is looked at."""
_OF_EDGES = (MISSING_EDGE, UNREACHABLE_LAYER)


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
            or (finding.rule in _OF_EDGES and _is_inside(finding.layer, body))
        )
        lead = next(f for f in explained if f.rule == MISSING_EDGE)
        layers = context.every_layer if body.path else ()
        holder = next((each for each in layers if (*each.path, each.id) == body.path[:-1]), None)
        where = "the model" if holder is None else f"`{body.path[-1]}` of {holder.label}"
        fault = lead.fault._replace(
            message=f"{where} has {len(body.layers)} layers, but no edges",
            expected=None,
            actual=None,
            help="put its <edges> back",
        )
        offset = body.offset if body.path else here[0].offset
        return Diagnosis(Finding(fault, offset, holder, None, explained), explained, (), False)
    return None


def _is_inside(layer: Layer | None, body: Body) -> bool:
    return layer is not None and layer.path[: len(body.path)] == body.path


def of_doubled_edges(causes: Causes) -> None:
    """Edges that follow each other, or lead into one layer, stand there twice."""
    data = causes.source.data
    runs: list[list[Finding]] = []
    end = -1
    for finding in sorted(causes.alone(DUPLICATE_EDGE), key=lambda finding: finding.offset):
        start = element_start(causes.source, finding.offset)
        stop = data.find(b">", start) + 1
        if data.count(data[start:stop]) < 2:
            continue
        if runs and not data[end:start].strip():
            runs[-1].append(finding)
        else:
            runs.append([finding])
        end = stop
    for group in runs:
        if len(group) > 1:
            causes.tell(group, f"{len(group)} edges stand there twice")
    for group in causes.by_layer(DUPLICATE_EDGE).values():
        if len(group) > 1:
            causes.tell(group)


def of_lost_edges(causes: Causes) -> None:
    """Inputs that are fed by nothing: of one layer, or of several whose edges stood together."""
    unfed = [causes.of(finding) for finding in causes.alone(MISSING_EDGE)]
    for place in sorted({edit.start for each in unfed for edit in _added_edges(each)}):
        together = [each for each in unfed if _changed_at(each) == {place}]
        if len({each.explained[0].layer for each in together}) > 1:
            causes.add(_as_one(causes, together))
    for group in causes.by_layer(MISSING_EDGE).values():
        if len(group) > 1:
            causes.add(_as_one(causes, [causes.of(finding) for finding in group]))


def of_all_lost_edges(causes: Causes) -> None:
    """Where nothing says that edges are missing at several places, they are at one."""
    unfed = [each for each in causes.all() if each.finding.rule == MISSING_EDGE]
    if len(unfed) > 1 and len({place for each in unfed for place in _changed_at(each)}) < 2:
        causes.add(_as_one(causes, unfed)._replace(parts=len(unfed)))


def _as_one(causes: Causes, unfed: Sequence[Diagnosis]) -> Diagnosis:
    """Several that may be missing behind each other."""
    group = [finding for each in unfed for finding in each.explained]
    inputs = [finding for finding in group if finding.rule == MISSING_EDGE]
    layers = {finding.layer for finding in inputs}
    lead = unfed[0].finding
    if len(layers) == 1:
        lead = inputs[0]
        numbers = enumerated(finding.port[1] for finding in inputs if finding.port is not None)
        message = f"no edges lead to input ports {numbers}"
    else:
        message = f": {len(inputs)} inputs of {len(layers)} layers are fed by nothing"
        place = next((e.start for each in unfed for e in _added_edges(each)), -1)
        edge = causes.source.data.rfind(b"<edge", 0, place) if place >= 0 else -1
        if edge >= 0:
            message = f" behind line {causes.source.place(edge)[0]}{message}"
            lead = Finding(lead.fault, edge, None, None, (lead,))
        message = f"edges are missing{message}"
    told = lead._replace(
        fault=lead.fault._replace(message=message), related=(*lead.related, *group[1:])
    )
    if not any(each.certain for each in unfed) or _share_a_source(unfed):
        listed = tuple(_behind_each_other(unfed))[:LISTED]
        if listed:
            return Diagnosis(told, tuple(group), listed, certain=len(listed) == 1)
    return Diagnosis(told, tuple(group), *cure_of(unfed))


def _share_a_source(unfed: Sequence[Diagnosis]) -> bool:
    """Whether the likeliest edges of two come from one layer, and one of them may come from
    another: that the layer feeds nothing speaks for one of them only."""
    sources = [each.candidates[0].needs for each in unfed if each.candidates]
    return any(
        len(each.candidates) > 1 and sources.count(each.candidates[0].needs) > 1 for each in unfed
    )


def _changed_at(cause: Diagnosis) -> set[int]:
    """Where a certain change is made."""
    edits = cause.candidates[0].edits if cause.certain and cause.candidates else ()
    return {edit.start for edit in edits}


def _added_edges(cause: Diagnosis) -> Iterator[Edit]:
    """The edges that a certain change adds."""
    for edit in cause.candidates[0].edits if cause.certain and cause.candidates else ():
        if edit.start == edit.end and b"<edge" in edit.text:
            yield edit


def _behind_each_other(unfed: Sequence[Diagnosis]) -> Iterator[Candidate]:
    """Changes that add one edge or more for each, all of them at one place, likeliest first."""
    most = LISTED if len(unfed) <= MANY else 1
    rows = [
        row
        for row in product(*(each.candidates[:most] for each in unfed))
        if len({edit.start for each in row for edit in each.edits}) == 1
        and all(edit.text.lstrip().startswith(b"<edge") for each in row for edit in each.edits)
    ]
    for row in sorted(rows, key=lambda row: sum(each.cost for each in row)):
        yield joined(row)
