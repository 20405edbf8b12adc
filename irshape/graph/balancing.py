"""Chooses where to split a graph into parts of about equal weight."""

from __future__ import annotations

from typing import NamedTuple

from ..model.weights import Constant
from .editing import Editing
from .errors import GraphError
from .nodes import GraphLayer, Output
from .surgery import fixed_layers, variables_of

SLACK = 4
"""A cut may deviate from the ideal place by this fraction of the size of a part, if fewer tensors
then cross it."""


class _Place(NamedTuple):
    """A place between two layers in their order. reached: the weight of all layers before it."""

    reached: int
    crossing: tuple[Output, ...]


def balanced_cuts(graph: Editing, parts: int) -> list[tuple[Output, ...]]:
    """Returns the tensors at which `Graph.split` cuts a graph into a number of parts.

    The ideal cuts share the bytes of weights equally or, without weights, the layers. Near each of
    them, the cut goes through as few tensors as possible.

    Raises `GraphError` if there are fewer layers than parts.
    """
    places = _places(graph)
    if len(places) < parts:
        raise GraphError(
            f"the graph has only {len(places)} layers between which it can be cut, too few for "
            f"{parts} parts"
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
    """Returns all places after a layer that computes something, with the tensors that later layers
    or outputs of the graph need. Leaves out places between the ReadValue and the Assign of a
    variable."""
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
    """Returns the layers that compute something, each as late as its first user allows."""
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
    """Returns for each layer the bytes of the constants that it uses first; 1 for each layer if
    there are no constants."""
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
