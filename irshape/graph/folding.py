"""Computes what depends on constants alone."""

from __future__ import annotations

from .editing import Editing
from .nodes import GraphLayer

MAX_BYTES = 1 << 24
"""The largest tensor that `Graph.fold` makes a constant, unless it is given another limit."""

_KEPT = ("parameter", "result", "readvalue", "assign", "randomuniform", "multinomial")


def folded(graph: Editing, max_bytes: int) -> int:
    """See `Graph.fold`."""
    from ..execution.errors import ExecutionError
    from ..execution.session import Session

    session = Session(graph.store)
    count = 0
    with graph.changes.whole():
        for layer in graph.sorted():
            if not _foldable(layer, max_bytes):
                continue
            inputs = [end.source.layer.value for end in layer.inputs]
            if any(array is None for array in inputs):
                continue
            try:
                arrays = session.evaluate(layer.raw, [each for each in inputs if each is not None])
            except ExecutionError:
                continue
            for output, array in zip(layer.outputs, arrays, strict=False):
                if not output.users:
                    continue
                new = graph.constant(array, output.element_type)
                for user in output.users:
                    graph.connect(user, new)
                graph._move_names(output, new)
            graph._remove_all([layer])
            count += 1
        graph.clean(duplicates=False)
    return count


def _foldable(layer: GraphLayer, max_bytes: int) -> bool:
    if not layer.inputs or layer.bodies or layer.raw.folded_type in _KEPT:
        return False
    if not all(end.source.layer.raw.is_constant for end in layer.inputs):
        return False
    for output in layer.outputs:
        shape = output.shape.static
        if shape is None or output.element_type.name == "string":
            return False
        size = output.element_type.byte_size(1)
        for dim in shape:
            size *= dim
        if size > max_bytes:
            return False
    return True
