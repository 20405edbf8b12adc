"""Removes weights from a graph, and puts them back."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ..model.weights import Constant, moved_to
from ..spelling import counted
from .editing import Editing
from .errors import GraphError, checked_count
from .nodes import GraphLayer, described


def _constants(graph: Editing) -> list[GraphLayer]:
    return [layer for layer in graph.walk() if layer.raw.is_constant]


def _moved_to(layer: GraphLayer, offset: int) -> None:
    layer.graph._restate(layer, items=moved_to(offset, layer.raw.items))
    layer.graph._settle([layer])


def strip_weights(graph: Editing, *, keep_bytes: int = 1024) -> int:
    """Replaces the values of constants by zeros. All these constants share the same zeros: the
    saved .bin has as many as the largest one needs. In sparse files, the zeros take no space.
    keep_bytes: constants up to this size keep their values, and so do constants of strings.
    Returns how many bytes were replaced.
    """
    keep_bytes = checked_count(keep_bytes, "keep_bytes", 0)
    large = {
        layer: size
        for layer in _constants(graph)
        if (size := Constant.of(layer.raw.items, None).size) > keep_bytes
        and layer.output.element_type.name != "string"
    }
    if not large:
        return 0
    with graph.batch():
        graph.changes.keep(graph.bytes, "mark")
        offset = graph.bytes.add(bytes(max(large.values())))
        for layer in large:
            _moved_to(layer, offset)
        graph.changes.set(graph, "compact", True)
    return sum(large.values())


def restore_weights(graph: Editing, other: Editing) -> int:
    """Sets the values of constants to those of the constants with the same names in another graph.
    Returns the number of changed constants."""
    count = 0
    with graph.batch():
        for layer, twin in _twins(graph, other):
            ours = Constant.of(layer.raw.items, None)
            constant = Constant.of(twin.raw.items, None)
            if (ours.element_type, ours.shape) != (constant.element_type, constant.shape):
                raise GraphError(
                    f"{layer.label} is {described(layer.output)}, but the weights are "
                    f"{described(twin.output)}"
                )
            if constant.size and other.bytes.holds(constant.offset, constant.size):
                graph.changes.keep(graph.bytes, "mark")
                view = other.bytes.view(constant.offset, constant.size)
                _moved_to(layer, graph.bytes.add(view))
                count += 1
    return count


def _twins(graph: Editing, other: Editing) -> Iterator[tuple[GraphLayer, GraphLayer]]:
    """Yields pairs of constants of both graphs that have the same name.

    If several constants have one name, pairs them in file order. Raises `GraphError` if both graphs
    have constants of a name, but different numbers of them.
    """
    theirs = _by_name(other)
    for name, ours in _by_name(graph).items():
        named = theirs.get(name, [])
        if named and len(named) != len(ours):
            raise GraphError(
                f"the other graph has {counted(len(named), 'constant')} with the name of "
                f"{ours[0].label}, but this graph has {len(ours)}",
                help="give constants different names before the weights are removed",
            )
        yield from zip(ours, named, strict=False)


def _by_name(graph: Editing) -> dict[Hashable, list[GraphLayer]]:
    groups: dict[Hashable, list[GraphLayer]] = {}
    for layer in _constants(graph):
        groups.setdefault((layer.raw.path, layer.name), []).append(layer)
    return groups
