"""A text without the one slip for which it cannot be read, and what else is wrong in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ...formats.ir.edits import Edited
from ...model.graph import Finding, Layer, Model
from ...model.source import Source
from ..candidate import Diagnosis

NEAR = 200
"""What lies so many bytes from a slip may follow from it."""


def put_right(cause: Diagnosis, source: Source) -> Source | None:
    """The text with the change that a cause is certain of, by the same lines; None without one."""
    if not cause.candidates or not cause.certain:
        return None
    edited = Edited(source.data)
    for edit in sorted(cause.candidates[0].edits, reverse=True):
        lines = source.data.count(b"\n", edit.start, edit.end)
        text = edit.text
        if text.count(b"\n") != lines:
            text = text.replace(b"\n", b" ") + b"\n" * lines
        edited.apply([edit._replace(text=text)])
    return Source(source.path, edited.data, source.encoding)


def apart_from(cause: Diagnosis, model: Model, findings: Iterable[Finding]) -> list[Finding]:
    """The errors and warnings in a text that was put right that do not come of how that was done.

    model: what was read from that text.
    """
    places = [edit.start for edit in cause.candidates[0].edits]
    apart = [
        finding
        for finding in findings
        if finding.severity != "info"
        and finding.layer is not None
        and all(abs(finding.offset - place) > NEAR for place in places)
    ]
    near = _layers_near(model, places) if apart else set()
    return [
        finding
        for finding in apart
        if near.isdisjoint([finding.layer, *(other.layer for other in finding.related)])
    ]


def _layers_near(model: Model, places: Sequence[int]) -> set[Layer]:
    """The layers in which some places lie, with those before and behind and at the other ends of
    their edges."""
    near: set[Layer] = set()
    for body in model.net.all_bodies():
        for place in places:
            at = bisect_right(body.layers, place, key=lambda layer: layer.offset)
            near.update(body.layers[max(0, at - 2) : at + 1])
        numbers = {layer.id for layer in near & set(body.layers)}
        for edge in body.edges:
            there = any(abs(edge.offset - place) <= NEAR for place in places)
            if there or edge.from_layer in numbers or edge.to_layer in numbers:
                ends = body.by_id.get(edge.from_layer), body.by_id.get(edge.to_layer)
                near.update(layer for layer in ends if layer is not None)
    return near
