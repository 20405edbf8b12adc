"""Returns node data for Model Explorer: a value and a colour for each layer.

There is node data for the findings and for the overlays of `irshape view`: costs, dynamic sizes,
releases, and the results of `irshape crosscheck` and of `irshape run --stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..rule_ids import SEVERITIES
from ..view.overlays import UNKNOWN, Overlay, crosscheck_overlays, static_overlays, stats_overlays
from ..view.showing import Subject
from .graphs import NET, Places, findings_shown

Data = dict[str, dict[str, Any]]
"""Node data for each graph, in the form of Model Explorer's JSON."""

TONES = {"bad": "#f9c9c6", "warn": "#fde7b8", "note": "#d9e9fb", "good": "#d8f0df"}
"""The background colour for each tone of a group; other tones have none."""
TEXT = "#1b1f24"
GRADIENT = [{"stop": 0, "bgColor": "#fff8e8"}, {"stop": 1, "bgColor": "#f08468"}]
SEVERITY_TONES = dict(zip(SEVERITIES, ("bad", "warn", "note"), strict=True))


def findings(subject: Subject) -> list[Data]:
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
    return _data(subject, [overlay])


def costs_and_sizes(subject: Subject) -> list[Data]:
    """Returns the node data of multiply-adds, bytes, reasons of dynamic sizes, and the releases
    that read each layer."""
    assert subject.shown is not None
    shown = subject.shown
    return _data(subject, static_overlays(shown.inference, shown.symbols, subject.numbering))


def crosscheck(subject: Subject, result: Mapping[str, Any]) -> list[Data]:
    """Returns the node data for the output of `irshape crosscheck --format json`. Raises
    `ValueError` for anything else."""
    return _data(subject, crosscheck_overlays(result, subject.numbering))


def statistics(subject: Subject, result: Mapping[str, Any]) -> list[Data]:
    """Returns the node data for the output of `irshape run --stats --format json`. Raises
    `ValueError` for anything else."""
    return _data(subject, stats_overlays(result, subject.numbering))


def _data(subject: Subject, overlays: Iterable[Overlay]) -> list[Data]:
    """Returns the node data of each overlay, with an entry for the net even without values."""
    places = Places(subject)
    listed = []
    for overlay in overlays:
        data: Data = {}
        for at, value, _ in overlay.values:
            if overlay.groups is None and value == UNKNOWN:
                continue
            graph, node = places.of[subject.numbering.layers[at]]
            results = data.setdefault(graph, _empty(overlay))["results"]
            results[node] = _result(overlay, value)
        data.setdefault(NET, _empty(overlay))
        listed.append(data)
    return listed


def _empty(overlay: Overlay) -> dict[str, Any]:
    gradient = GRADIENT if overlay.groups is None else []
    return {"name": overlay.title, "results": {}, "gradient": gradient}


def _result(overlay: Overlay, value: float) -> dict[str, Any]:
    if overlay.groups is None:
        return {"value": value}
    name, tone = overlay.groups[int(value)]
    if tone not in TONES:
        return {"value": name}
    return {"value": name, "bgColor": TONES[tone], "textColor": TEXT}
