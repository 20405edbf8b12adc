"""Reads values of layers from other programs, in the format of Model Explorer.

The JSON maps keys of nodes to values, with or without colours: `{"name": "latency", "results":
{"encoder/add": {"value": 0.3}}}`. One file may contain several graphs, each under its name. See
https://github.com/google-ai-edge/model-explorer/wiki/2.-User-Guide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from .document import Numbering
from .overlays import LARGEST, Overlay

MOST_KEYS = 10
"""How many of the keys that name no layer the page lists."""
MOST_TEXTS = 6
"""The maximum number of texts with colours of their own. Other texts have no colour."""


def node_data_overlays(path: str, data: Any, numbering: Numbering) -> list[Overlay]:
    """Returns the overlays of one file. A key in the file is the id or name of a layer, or the
    name of one of its output tensors.

    Raises `ValueError` for anything but node data.
    """
    layers = _layers_by_key(numbering)
    overlays: list[Overlay] = []
    for title, results in _graphs(data, PurePath(path).stem):
        values = {layers[key]: value for key, value in _values(results).items() if key in layers}
        unmatched = [key for key in results if key not in layers]
        overlay = _overlay(f"data-{path}-{len(overlays)}", title, values, len(results))
        overlays.append(
            overlay._replace(unmatched=unmatched, about=overlay.about + _listed(unmatched))
        )
    return overlays


def _listed(unmatched: list[str]) -> str:
    more = ", …" if len(unmatched) > MOST_KEYS else ""
    listed = ", ".join(f"'{key}'" for key in unmatched[:MOST_KEYS])
    return f" These keys name no layer: {listed}{more}." if unmatched else ""


def _graphs(data: Any, stem: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the title and the results of each graph in a file."""
    if not isinstance(data, dict):
        raise ValueError("it is not node data of Model Explorer")
    graphs = {stem: data} if "results" in data or not data else data
    for name, graph in graphs.items():
        results = graph.get("results") if isinstance(graph, dict) else None
        if not isinstance(results, dict):
            raise ValueError("it is not node data of Model Explorer")
        yield str(graph.get("name", name)), results


def _values(results: Mapping[str, Any]) -> dict[str, float | str]:
    values: dict[str, float | str] = {}
    for key, entry in results.items():
        value = entry.get("value") if isinstance(entry, dict) else entry
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if abs(value) <= LARGEST:  # no NaN, no infinity, and no number beyond floats
                values[key] = float(value)
        elif value is not None:
            values[key] = str(value)
    return values


def _layers_by_key(numbering: Numbering) -> dict[str, int]:
    keys: dict[str, int] = {}
    layers = list(enumerate(numbering.layers))
    for at, layer in layers:
        keys.setdefault("/".join([*layer.path, layer.id]), at)
    for at, layer in layers:
        keys.setdefault(layer.name, at)
    for at, layer in layers:
        for port in layer.outputs:
            for name in port.tensor_names:
                keys.setdefault(name, at)
    return keys


def _overlay(id: str, title: str, values: Mapping[int, float | str], given: int) -> Overlay:
    about = (
        f"From a file of node data: {len(values):,} of {given:,} keys name a layer of this model."
    )
    texts = [value for value in values.values() if isinstance(value, str)]
    if not texts:
        lowest = min((float(value) for value in values.values()), default=0.0)
        below = min(lowest, 0.0)  # a scale begins at 0, or at the lowest number below it
        rows = [(at, float(value) - below, f"{value:g}") for at, value in values.items()]
        return Overlay(id, title, about, rows, first=True)
    kinds = {text: at for at, text in enumerate(dict.fromkeys(map(str, values.values())))}
    groups = [(text, f"search{at}") for text, at in kinds.items() if at < MOST_TEXTS]
    if len(kinds) > MOST_TEXTS:
        groups.append(("others", "none"))
    rows = [
        (at, float(min(kinds[str(value)], MOST_TEXTS)), str(value)) for at, value in values.items()
    ]
    return Overlay(id, title, about, rows, tuple(groups), first=True)
