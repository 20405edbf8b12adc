"""Replaces layers that depend only on constants by their values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..ops.lazy import np
from .editing import NEVER_EQUAL, Editing
from .nodes import GraphLayer, Output

if TYPE_CHECKING:
    from ..execution.session import Session

MAX_BYTES = 1 << 24
"""The default of `max_bytes` of `Graph.fold`."""


def fold(graph: Editing, *, max_bytes: int = MAX_BYTES, decompress: bool = False) -> int:
    """Replaces layers by constants if their outputs depend only on constants or static shapes.
    Returns the number of replaced layers.

    max_bytes: layers with a larger output stay, unless shape inference computes their output.
    decompress: whether to replace also the layers that decompress weights, for example from i8 to
    f32. The .bin then gets larger, and a device can no longer decompress the weights more exactly.
    By default, these layers stay, but layers that depend only on decompressed weights are replaced.
    """
    from ..execution.session import Session

    session = Session(graph.store)
    kept = set() if decompress else _decompressing(graph)
    count = 0
    with graph.changes:
        for layer in graph.sorted():
            if layer in kept:
                continue
            arrays = _from_shapes(graph, layer)
            if arrays is None and _foldable(layer, kept, max_bytes):
                arrays = _evaluated(session, layer)
            if arrays is None:
                continue
            for output, array in zip(layer.outputs, arrays, strict=False):
                if output.users:
                    graph._take_over(output, graph.constant(array, output.element_type))
            graph._remove_all([layer])
            count += 1
        graph.clean(duplicates=False)
    return count


def _decompressing(graph: Editing) -> set[GraphLayer]:
    """Returns the layers that decompress weights, e.g. convert i8 to f32 and multiply by scales."""
    reached: set[GraphLayer] = set()
    for layer in graph.sorted():
        operation = type(layer.operation)
        if not operation.decompresses or not layer.inputs:
            continue
        sources = [end.source for end in layer.inputs]
        if not all(each.layer.raw.is_constant or each.layer in reached for each in sources):
            continue
        first = sources[0]
        widens = (
            layer.type == "Convert"
            and layer.output.element_type.is_real
            and first.element_type.bits < layer.output.element_type.bits
            and first.shape.size.low > 1
        )
        if widens or any(each.layer in reached for each in sources):
            reached.add(layer)
    return reached


def _from_shapes(graph: Editing, layer: GraphLayer) -> list[Any] | None:
    """Returns the values of a layer's integer output if shape inference determines them, e.g. for a
    ShapeOf of a static shape."""
    raw = layer.raw
    if len(layer.outputs) != 1 or raw.is_constant or layer.bodies or raw.folded_type in NEVER_EQUAL:
        return None
    output = layer.outputs[0]
    if output.element_type.name not in ("i64", "i32") or output.shape.static is None:
        return None
    graph._know_value(layer)
    known = output.tensor.known
    if known is None or any(abs(number) >= 2**31 for number in known):
        return None  # bounds saturate, computed numbers do not
    array = np.array(known, output.element_type.name.replace("i", "int"))
    return [array.reshape(output.shape.static)]


def _evaluated(session: Session, layer: GraphLayer) -> list[Any] | None:
    """Returns the outputs of a layer whose inputs are constants or decompressed weights; None if
    the evaluation fails or the .bin is incomplete."""
    from ..execution.errors import ExecutionError

    inputs = [_value(session, end.source) for end in layer.inputs]
    if any(array is None for array in inputs):
        return None
    try:
        return list(session.evaluate(layer.raw, [each for each in inputs if each is not None]))
    except ExecutionError:
        return None


def _value(session: Session, source: Output) -> Any:
    if source.layer.raw.is_constant:
        return source.layer.value
    arrays = _evaluated(session, source.layer)
    return None if arrays is None else arrays[source.index]


def _foldable(layer: GraphLayer, kept: set[GraphLayer], max_bytes: int) -> bool:
    if not layer.inputs or layer.bodies or layer.raw.folded_type in NEVER_EQUAL:
        return False
    sources = [end.source.layer for end in layer.inputs]
    if not all(each.raw.is_constant or each in kept for each in sources):
        return False
    if layer.type == "FakeQuantize" and not kept.isdisjoint(sources):
        return False  # it still decompresses
    for output in layer.outputs:
        shape = output.shape.static
        if shape is None or output.element_type.name == "string":
            return False
        if output.element_type.byte_size(1) * prod(shape) > max_bytes:
            return False
    return True
