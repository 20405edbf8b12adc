"""Returns node data for Model Explorer: a value and a colour for each layer.

There is node data for the findings and for the overlays of `irshape view`: costs, dynamic sizes,
releases, devices, and the results of `irshape crosscheck` and of `irshape run --stats`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model_explorer.node_data_builder import GradientItem, GraphNodeData, NodeDataResult

from ..rule_ids import SEVERITIES
from ..view.overlays import UNKNOWN, Overlay, static_overlays
from ..view.showing import Subject
from .graphs import NET, findings_shown, places

TONES = {"bad": "#f9c9c6", "warn": "#fde7b8", "note": "#d9e9fb", "good": "#d8f0df"}
"""The background colour for each tone of a group; other tones have none."""
TEXT = "#1b1f24"
GRADIENT = [GradientItem(stop=0, bgColor="#fff8e8"), GradientItem(stop=1, bgColor="#f08468")]
SEVERITY_TONES = dict(zip(SEVERITIES, ("bad", "warn", "note"), strict=True))


def findings(subject: Subject) -> list[Overlay]:
    """Returns for each layer the most severe finding on it or on the constants that it uses."""
    gravest: dict[int, int] = {}
    for diagnostic, _, layer in findings_shown(subject):
        at, rank = subject.numbering.at[layer], SEVERITIES.index(diagnostic.severity)
        gravest[at] = min(rank, gravest.get(at, rank))
    overlay = Overlay(
        "findings",
        "Findings",
        "What irshape validate reports.",
        [(at, float(rank), "") for at, rank in gravest.items()],
        tuple(SEVERITY_TONES.items()),
    )
    return [overlay]


def costs_and_sizes(subject: Subject) -> list[Overlay]:
    """Returns the overlays of multiply-adds, bytes, reasons of dynamic sizes, releases that read
    each layer, and obstacles on devices."""
    assert subject.shown is not None
    shown = subject.shown
    return static_overlays(shown.inference, shown.symbols, subject.numbering)


def node_data(subject: Subject, overlays: Iterable[Overlay], graph_id: str) -> list[Any]:
    """Returns the node data of each overlay for one graph. Leaves out overlays without values in
    the graph of a body."""
    layers, place_of = subject.numbering.layers, places(subject)
    listed = []
    for overlay in overlays:
        results = {}
        for at, value, _ in overlay.values:
            graph, node = place_of[layers[at]]
            if graph == graph_id and (overlay.groups is not None or value != UNKNOWN):
                results[node] = _result(overlay, value)
        if results or graph_id == NET:
            gradient = GRADIENT if overlay.groups is None else []
            listed.append(GraphNodeData(name=overlay.title, results=results, gradient=gradient))
    return listed


def _result(overlay: Overlay, value: float) -> Any:
    if overlay.groups is None:
        return NodeDataResult(value=value)
    name, tone = overlay.groups[int(value)]
    if tone not in TONES:
        return NodeDataResult(value=name)
    return NodeDataResult(value=name, bgColor=TONES[tone], textColor=TEXT)
