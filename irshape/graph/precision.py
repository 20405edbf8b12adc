"""Changes the precision of layers and of weights, and removes quantization."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..types import ElementType
from .editing import Editing
from .errors import GraphError
from .nodes import GraphLayer, Output

Selection = str | Collection[str] | Callable[[GraphLayer], bool]
"""Layers by glob patterns of their names or types, or by a function."""

F16, F32 = ElementType.of("f16"), ElementType.of("f32")


def selected(graph: Editing, selection: Selection) -> set[GraphLayer]:
    """The layers of the graph that a selection names."""
    if callable(selection):
        return set(graph.matching(selection))
    patterns = [selection] if isinstance(selection, str) else list(selection)
    return {layer for pattern in patterns for layer in graph.matching(pattern)}


def to_f16(graph: Editing, keep: Selection) -> int:
    """See `Graph.to_f16`."""
    kept = selected(graph, keep)
    half: dict[Output, Output] = {}
    count = 0
    with graph.changes.whole():
        for layer in graph.sorted():
            if layer in kept or layer.bodies or layer.raw.is_parameter or layer.raw.is_result:
                continue
            if layer.raw.is_constant or layer.raw.folded_type in ("readvalue", "assign"):
                continue
            try:
                count += _halve(graph, layer, half)
            except GraphError:
                continue  # an operation that takes or gives f32 only
        _drop_converts(graph)
        graph.clean(duplicates=False)
    return count


def _halve(graph: Editing, layer: GraphLayer, half: dict[Output, Output]) -> bool:
    """Lets one layer compute in f16; what it feeds gets its outputs back in f32."""
    singles = [end for end in layer.inputs if end.source.element_type is F32]
    converts = layer.raw.folded_type == "convert"
    outputs = [output for output in layer.outputs if output.element_type is F32]
    if not outputs or (not singles and not converts):
        return False
    with graph.changes.whole():
        sources = {end: _half_of(graph, end.source, half) for end in singles}
        back: dict[Output, Output] = {}
        with graph.batch():
            for end, source in sources.items():
                graph.connect(end, source)
            if converts:
                layer.set(destination_type="f16")
            for output in outputs:
                users = output.users
                back[output] = graph.add("Convert", output, destination_type="f32")
                graph.replace_uses(output, back[output], users)
        if any(output.element_type is not F16 for output in outputs):
            raise GraphError(f"{layer.label} does not compute in f16")
    for output, single in back.items():
        half[single] = output
    return True


def _half_of(graph: Editing, source: Output, half: dict[Output, Output]) -> Output:
    """A tensor in f16."""
    known = half.get(source)
    if known is not None and known.layer in graph:
        return known
    value = source.layer.value
    new: Output
    if value is not None:
        new = graph.constant(_in_f16(value), "f16")
    else:
        new = graph.add("Convert", source, destination_type="f16")
    half[source] = new
    return new


def _in_f16(value: Any) -> Any:
    import numpy as np

    with np.errstate(over="ignore"):
        return np.clip(value, -65504, 65504).astype(np.float16)


def _drop_converts(graph: Editing) -> None:
    """Removes conversions that change nothing."""
    for layer in graph.layers:
        if (
            layer.raw.folded_type == "convert"
            and layer.origin is None
            and layer.output.element_type is layer.inputs[0].source.element_type
        ):
            layer.remove(bypass=0)


def compressed(graph: Editing, keep: Selection) -> int:
    """See `Graph.compress_to_f16`."""
    import numpy as np

    kept = selected(graph, keep)
    count = 0
    with graph.changes.whole():
        for layer in graph.layers:
            if not layer.raw.is_constant or layer in kept:
                continue
            output = layer.output
            if output.element_type.name not in ("f32", "f64") or _decides_a_shape(layer):
                continue
            value = layer.value
            if value is None:
                continue
            outside = (np.abs(value) > 65504) | ((np.abs(value) < 2.0**-24) & (value != 0))
            if value.size and np.count_nonzero(outside) >= 0.75 * value.size:
                continue
            name = layer.name
            small = graph.constant(
                _in_f16(value), "f16", name=graph._new_name(name + "_compressed")
            )
            wide = graph.add("Convert", small, destination_type=str(output.element_type))
            graph._substitute(output, wide)
            count += 1
    return count


def _decides_a_shape(layer: GraphLayer) -> bool:
    """Whether a shape may depend on the values of a constant."""
    waiting, reached = [layer], {layer}
    while waiting:
        at = waiting.pop()
        for end in (user for output in at.outputs for user in output.users):
            operands = type(end.layer.operation).operands
            operand = operands[min(end.index, len(operands) - 1)] if operands else None
            if operand is not None and operand.value:
                return True
            sizes = [output.shape.size for output in end.layer.outputs]
            small = all(size.high is not None and size.high <= 64 for size in sizes)
            if small and end.layer not in reached and not end.layer.raw.is_result:
                reached.add(end.layer)
                waiting.append(end.layer)
    return False


def without_fake_quantize(graph: Editing, selection: Selection) -> int:
    """See `Graph.drop_fake_quantize`."""
    layers = [
        layer
        for layer in graph.layers
        if layer.raw.folded_type == "fakequantize" and layer in selected(graph, selection)
    ]
    with graph.changes.whole():
        with graph.batch():
            for layer in layers:
                layer.remove(bypass=0)
        graph.clean(duplicates=False)
    return len(layers)
