"""Computes what depends on constants alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops.lazy import np
from .editing import Editing
from .nodes import GraphLayer

if TYPE_CHECKING:
    from ..execution.session import Session

MAX_BYTES = 1 << 24
"""The largest tensor that `Graph.fold` makes a constant, unless it is given another limit."""

_KEPT = ("parameter", "result", "readvalue", "assign", "randomuniform", "multinomial")


def folded(graph: Editing, max_bytes: int) -> int:
    """See `Graph.fold`."""
    from ..execution.session import Session

    session = Session(graph.store)
    count = 0
    with graph.changes.whole():
        for layer in graph.sorted():
            arrays = _from_shapes(graph, layer)
            if arrays is None and _foldable(layer, max_bytes):
                arrays = _evaluated(session, layer)
            if arrays is None:
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


def _from_shapes(graph: Editing, layer: GraphLayer) -> list[Any] | None:
    """The output of a layer of whole numbers that inference knows, whatever the inputs are."""
    raw = layer.raw
    if len(layer.outputs) != 1 or raw.is_constant or layer.bodies or raw.folded_type in _KEPT:
        return None
    output = layer.outputs[0]
    if output.element_type.name not in ("i64", "i32") or output.shape.static is None:
        return None
    graph._know_value(layer)
    known = output.tensor.known
    if known is None or any(abs(number) >= 2**31 for number in known):
        return None  # bounds stop at the largest number, computing does not
    array = np.array(known, output.element_type.name.replace("i", "int"))
    return [array.reshape(output.shape.static)]


def _evaluated(session: Session, layer: GraphLayer) -> list[Any] | None:
    """What a layer computes of constants; None where that fails, or bytes are missing."""
    from ..execution.errors import ExecutionError

    inputs = [end.source.layer.value for end in layer.inputs]
    if any(array is None for array in inputs):
        return None
    try:
        return list(session.evaluate(layer.raw, [each for each in inputs if each is not None]))
    except ExecutionError:
        return None


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
