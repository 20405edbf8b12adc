"""Copies layers from one graph to another, or within one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import TypeVar

from ..formats.ir.writer import port_rt_info
from ..garbage_collection import collection_paused
from ..model.graph import Layer
from ..model.ports import Port, PortElsewhere
from ..model.source import Passage, Source
from ..model.weights import Constant, moved_to
from .editing import Editing
from .nodes import GraphLayer, Input, Output
from .structure import Structure

Rebased = dict[tuple[int, int], int]
"""Maps the offset and size of bytes in one graph to their offset in another graph."""

G = TypeVar("G", bound=Editing)


@collection_paused()
def duplicate(graph: G) -> G:
    """Returns a copy of the graph that can be changed independently."""
    twin = type(graph)(name=graph.name)
    twin.source, twin.compact = graph.source, graph.compact
    twin.store.version = graph.store.version
    twin.rt_info_span = graph.rt_info_span
    twin.bytes.extend(graph.bytes)
    _copy_all(graph, twin)
    return twin


def _copy_all(graph: Structure, twin: Editing, rebased: Rebased | None = None) -> None:
    """Copies all layers of a graph to the empty graph `twin`, with their ids and inferred tensors.

    rebased: the new offsets of constants that were already copied to `twin`; None if both graphs
    have the same .bin.
    """
    known, content = graph.content, twin.content
    outputs: dict[Output, Output] = {}
    layers: dict[GraphLayer, GraphLayer] = {}
    for layer in known.layers:
        raw, operation = layer.raw, layer.operation
        if rebased is not None:
            raw = _placed(raw, twin, graph, rebased)
            operation = twin._declaration(raw, layer.label)
        elif layer.bodies:
            raw = copy(raw)
            raw.bodies = None
        twins = GraphLayer(twin, raw, operation)
        twins.origin = layer.origin if rebased is None else None
        twins.valued, twins.rank = layer.valued, layer.rank
        twins._outputs = tuple([Output(twins, out.index, out.tensor) for out in layer._outputs])
        layers[layer] = twins
        for old, new in zip(layer._outputs, twins._outputs, strict=True):
            outputs[old] = new
            new._names, new.loaded, new.loaded_names = old._names, old.loaded, old.loaded_names
    for layer, twins in layers.items():
        ends = []
        for end in layer._inputs:
            ends.append(Input(twins, end.index, outputs[end._source]))
            ends[-1].loaded = None if end.loaded is None else outputs.get(end.loaded)
        twins._inputs = tuple(ends)
    for old, new in outputs.items():
        for end, number in old._users.items():
            new._users[layers[end.layer]._inputs[end.index]] = number
    content.layers.update((layers[layer], number) for layer, number in known.layers.items())
    twin.states.update((each, None) for each in layers.values() if each.operation.keeps_state)
    content.by_id = {layer.id: layer for layer in layers.values()}
    content.by_name = {
        name: tuple([layers[layer] for layer in named]) for name, named in known.by_name.items()
    }
    content.by_tensor = {name: outputs[output] for name, output in known.by_tensor.items()}
    content.next_id, content.back_edges = known.next_id, known.back_edges
    content.end = known.end
    twin.changes.start_behind(graph.changes)
    for layer, twins in layers.items():
        bodies = {}
        for tag, body in layer.bodies.items():
            bodies[tag] = type(twin)(owner=twins, tag=tag)
            _copy_all(body, bodies[tag], rebased)
        twins.bodies = bodies


def transplant(
    layers: Iterable[GraphLayer],
    target: Editing,
    fed: Mapping[Output, Output],
    *,
    named: Callable[[str], str] = lambda name: name,
) -> dict[Output, Output]:
    """Adds copies of layers to the graph `target`. Returns a dictionary from old to new outputs.

    layers: in topological order.
    fed: maps each output that feeds these layers to the output of `target` that replaces it.
    named: a function from the name of a layer or tensor to the name of its copy.
    Raises `GraphError` if a copy does not accept the element types and shapes of its new inputs.
    """
    outputs = dict(fed)
    rebased: Rebased = {}
    with target.changes:
        for layer in layers:
            raw = _placed(layer.raw, target, layer.graph, rebased)
            raw.id, raw.name = target._new_id(), target._new_name(named(layer.name))
            raw.output_names = None
            for port in raw.outputs:
                port.names = None
            twins = GraphLayer(target, raw, target._declaration(raw, layer.label))
            twins._inputs = tuple(
                [Input(twins, end.index, outputs[end.source]) for end in layer._inputs]
            )
            twins._outputs = tuple([Output(twins, out.index, out.tensor) for out in layer._outputs])
            bodies = {}
            for tag, body in layer.bodies.items():
                bodies[tag] = type(target)(owner=twins, tag=tag)
                _copy_all(body, bodies[tag], rebased)
            twins.bodies = bodies
            target._attach(twins)
            for old, new in zip(layer._outputs, twins._outputs, strict=True):
                outputs[old] = new
                taken = target.content.by_tensor
                free = [name for name in map(named, old.names) if name not in taken]
                target._give_names(new, free)
            if twins.raw.is_result and layer.raw.output_names:
                source = twins._inputs[0].source
                own = [
                    name
                    for name in map(named, layer.output_names)
                    if name in source.names or name not in target.content.by_tensor
                ]
                target._give_names(source, dict.fromkeys((*source.names, *own)))
                target._give_output_names(twins, own)
            target._settle([twins])
    return outputs


def _placed(raw: Layer, target: Structure, home: Structure, rebased: Rebased) -> Layer:
    """Returns a copy of a layer for another graph. Copies the bytes of a constant to that graph, so
    that the copy no longer refers to the loaded file."""
    raw, source = copy(raw), home.text_source
    raw.offset, raw.data_offset, raw.path, raw.bodies = -1, -1, target._path, None
    if raw.rt_info_span is not None:
        raw.rt_info_span = Passage.of(raw.rt_info_span, source)
    raw.inputs = [_port_elsewhere(port, source) for port in raw.inputs]
    raw.outputs = [_port_elsewhere(port, source) for port in raw.outputs]
    if raw.is_constant and home.bytes is not target.bytes:
        constant = Constant.of(raw.items, None)
        key = constant.offset, constant.size
        if key not in rebased:
            target.changes.keep(target.bytes, "mark")
            if home.bytes.holds(*key):
                rebased[key] = target.bytes.add(home.bytes.view(*key))
            else:
                rebased[key] = target.bytes.miss(constant.size)
        raw.items = moved_to(rebased[key], raw.items)
    return raw


def _port_elsewhere(port: Port, source: Source) -> Port:
    span = port_rt_info(source, port)
    return PortElsewhere(port, None if span is None else Passage.of(span, source))
