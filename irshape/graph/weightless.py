"""Removes weights from a graph, and puts them back."""

from __future__ import annotations

from copy import copy

from ..model.weights import Constant
from .editing import Editing
from .errors import GraphError
from .nodes import GraphLayer


def _constants(graph: Editing) -> list[GraphLayer]:
    return [layer for layer in graph.walk() if layer.raw.is_constant]


def _moved_to(layer: GraphLayer, offset: int) -> None:
    at = layer.raw.items.index("offset") + 1
    raw = copy(layer.raw)
    raw.items = (*raw.items[:at], str(offset), *raw.items[at + 1 :])
    home = layer.graph
    home._redeclare(layer, raw, layer.operation)
    home._settle([layer])


def stripped(graph: Editing, keep_bytes: int) -> int:
    """See `Graph.strip_weights`."""
    large = {
        layer: size
        for layer in _constants(graph)
        if (size := Constant.of(layer.raw.items, None).size) > keep_bytes
        and layer.output.element_type.name != "string"
    }
    if not large:
        return 0
    with graph.batch():
        mark = graph.bytes.mark()
        offset = graph.bytes.add(bytes(max(large.values())))
        graph.changes.note(lambda: graph.bytes.reset(mark))
        for layer in large:
            _moved_to(layer, offset)
        graph._set(graph, "compact", True)
    return sum(large.values())


def restored(graph: Editing, other: Editing) -> int:
    """See `Graph.restore_weights`."""
    theirs = {(layer.raw.path, layer.name): layer for layer in _constants(other)}
    count = 0
    with graph.batch():
        for layer in _constants(graph):
            twin = theirs.get((layer.raw.path, layer.name))
            if twin is None:
                continue
            ours = Constant.of(layer.raw.items, None)
            constant = Constant.of(twin.raw.items, None)
            if (ours.element_type, ours.shape) != (constant.element_type, constant.shape):
                raise GraphError(
                    f"{layer.label} is {layer.output}, and the weights are {twin.output}",
                    operation=layer.type,
                    expected=str(layer.output),
                    actual=str(twin.output),
                )
            if constant.size and other.bytes.holds(constant.offset, constant.size):
                mark = graph.bytes.mark()
                view = other.bytes.view(constant.offset, constant.size)
                offset = graph.bytes.add(view)
                graph.changes.note(lambda mark=mark: graph.bytes.reset(mark))  # type: ignore[misc]
                _moved_to(layer, offset)
                count += 1
    return count
