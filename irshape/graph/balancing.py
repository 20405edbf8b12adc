"""Chooses where to split a graph into parts of about equal weight."""

from __future__ import annotations

from typing import NamedTuple

from ..model.weights import Constant
from ..spelling import counted
from .editing import Editing
from .errors import GraphError, checked_count
from .nodes import GraphLayer, Output
from .surgery import fixed_layers, variables_of

SLACK = 4
"""A cut may move by 1/`SLACK` of a part, if the moved cut goes through fewer tensors."""


class _Place(NamedTuple):
    """A possible cut of a graph, between two layers in topological order.
    reached: the weight of all layers before the cut. crossing: the tensors that the cut separates.
    """

    reached: int
    crossing: tuple[Output, ...]


def balanced_cuts(graph: Editing, parts: int) -> list[tuple[Output, ...]]:
    """Returns the tensors at which `Graph.split` cuts a graph into a number of parts.

    All parts get about the same bytes of weights or, without weights, the same number of layers. A
    cut moves by at most 1/`SLACK` of a part if the moved cut goes through fewer tensors.

    Raises `GraphError` if the graph cannot be cut into so many parts, and `ArgumentError` if the
    number is not a whole number of 1 or more.
    """
    parts = checked_count(parts, "parts", 1)
    places = _places(graph)
    if len(places) < parts:
        raise GraphError(
            f"the graph can be cut into at most {counted(len(places), 'part')}, not {parts}"
        )
    whole = places[-1].reached
    cuts: list[tuple[Output, ...]] = []
    start = 0
    for number in range(1, parts):
        goal = whole * number / parts
        last = len(places) - 1 - (parts - number)
        candidates = range(start, last + 1)
        nearest = min(abs(places[at].reached - goal) for at in candidates)
        allowed = max(nearest, whole / parts / SLACK)
        best = min(
            (at for at in candidates if abs(places[at].reached - goal) <= allowed),
            key=lambda at, goal=goal: (  # type: ignore[misc]
                len(places[at].crossing),
                abs(places[at].reached - goal),
            ),
        )
        cuts.append(places[best].crossing)
        start = best + 1
    return cuts


def _places(graph: Editing) -> list[_Place]:
    """Returns the possible cuts of a graph: one after each layer that computes something. Leaves
    out cuts that would separate the ReadValue of a variable from its Assign."""
    fixed = fixed_layers(graph)
    layers = _in_order(graph, fixed)
    weights = _weights(layers, fixed)
    missing = {
        output: sum(not user.layer.raw.is_sink for user in output.users)
        for layer in layers
        for output in layer.outputs
    }
    updates = {read: assign.inputs[0].source.layer for _, read, assign in variables_of(graph)}
    ahead = set(layers)
    waiting: set[GraphLayer] = set()
    live: dict[Output, None] = {}
    places: list[_Place] = []
    reached = 0
    for layer in layers:
        reached += weights[layer]
        for end in layer.inputs:
            if end.source in missing:
                missing[end.source] -= 1
                if not missing[end.source] and not end.source._results:
                    live.pop(end.source, None)
        live.update(dict.fromkeys(each for each in layer.outputs if missing[each] or each._results))
        ahead.discard(layer)
        if updates.get(layer) in ahead:
            waiting.add(updates[layer])
        waiting.discard(layer)
        if live and not waiting:
            places.append(_Place(reached, tuple(live)))
    return places


def _in_order(graph: Editing, fixed: set[GraphLayer]) -> list[GraphLayer]:
    """Returns the layers that compute something, except those in `fixed`, in topological order.
    Each layer comes shortly before its first consumer."""
    order: dict[GraphLayer, None] = {}
    for end in graph.layers:
        waiting = [end] if end.raw.is_sink else []
        while waiting:
            before = [each for each in waiting[-1].producers if each not in order]
            if before:
                waiting.append(before[0])
            else:
                order[waiting.pop()] = None
    return [
        layer
        for layer in order
        if layer not in fixed and not (layer.raw.is_parameter or layer.raw.is_sink)
    ]


def _weights(layers: list[GraphLayer], fixed: set[GraphLayer]) -> dict[GraphLayer, int]:
    """Returns the weight of each layer: the bytes of its constants, except constants that an
    earlier layer uses. If the graph has no constants, every layer weighs 1."""
    taken: set[GraphLayer] = set()
    weights: dict[GraphLayer, int] = {}
    for layer in layers:
        size = 0
        waiting = list(layer.producers)
        while waiting:
            at = waiting.pop()
            if at not in fixed or at in taken:
                continue
            taken.add(at)
            waiting += at.producers
            if at.raw.is_constant:
                size += Constant.of(at.raw.items, None).size
        weights[layer] = size
    return weights if any(weights.values()) else dict.fromkeys(layers, 1)
