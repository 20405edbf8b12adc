"""Changes the precision of layers and of weights, and removes quantization."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..element_types import DYNAMIC_TYPE, ElementType
from ..model.weights import Constant
from ..ops.lazy import np
from ..spelling import suggestion
from .editing import Editing, Selection
from .errors import GraphError, UnknownNameError
from .nodes import GraphLayer, Output

F16, F32 = ElementType.of("f16"), ElementType.of("f32")


def to_f16(graph: Editing, *, keep: Selection = ()) -> int:
    """Makes f32 layers compute in f16. Returns the number of changed layers.

    Inputs and outputs of the graph stay f32. Layers that accept only f32, layers with bodies, and
    layers with an input of dynamic element type also stay f32.
    keep: layers that stay f32, by glob patterns of names or types or by a function. Raises
    `GraphError` for a pattern that matches no layer.
    """
    kept = _kept(graph, keep)
    half: dict[Output, Output] = {}
    count = 0
    same = {layer for layer in graph.layers if _converts_nothing(layer)}
    with graph.changes:
        for layer in graph.sorted():
            if layer in kept or layer.bodies or layer.raw.folded_type in _NOT_HALVED:
                continue
            try:
                count += _halve(graph, layer, half)
            except GraphError:
                continue  # an operation that takes or gives f32 only
        for layer in graph.layers:
            if _converts_nothing(layer) and layer not in same and layer not in kept:
                layer.remove(bypass=0)
        constants = [
            (new, old.layer.name, old.names, old.layer.rt_info_text)
            for old, new in half.items()
            if old.layer.raw.is_constant
        ]
        graph.clean(duplicates=False)
        for new, name, tensor_names, info in constants:
            if new.layer in graph and name not in graph:  # `new` replaces the constant of this name
                graph.rename_layer(new.layer, name)
                graph.rename_tensor(new, tensor_names)
                graph._give_info(new.layer, info)
    return count


_NOT_HALVED = ("parameter", "result", "const", "readvalue", "assign")


def _kept(graph: Editing, keep: Selection) -> set[GraphLayer]:
    if not callable(keep):
        for pattern in [keep] if isinstance(keep, str) else keep:
            if not graph.matching(pattern):
                known = [text for layer in graph.layers for text in (layer.type, layer.name)]
                raise UnknownNameError(
                    f"keep: no layer has a name or a type like '{pattern}'"
                    f"{suggestion(pattern, list(dict.fromkeys(known)))}"
                )
    return set(graph.matching(keep))


def _halve(graph: Editing, layer: GraphLayer, half: dict[Output, Output]) -> bool:
    """Makes one layer compute in f16, and converts its outputs back to f32. Returns False if the
    layer stays in f32."""
    singles = [end for end in layer.inputs if end.source.element_type is F32]
    converts = layer.raw.folded_type == "convert"
    outputs = [output for output in layer.outputs if output.element_type is F32]
    if not outputs or (not singles and not converts):
        return False
    if any(end.source.element_type is DYNAMIC_TYPE for end in layer.inputs):
        return False  # it may be f32, and the operation may need one type
    with graph.changes:
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
    """Returns the f16 version of a tensor: a Convert, or a constant."""
    known = half.get(source)
    if known is not None and known.layer in graph:
        return known
    if source.value is not None:
        half[source] = _stored_in_f16(graph, source.layer)
    else:
        half[source] = graph.add("Convert", source, destination_type="f16")
    return half[source]


def _stored_in_f16(graph: Editing, constant: GraphLayer, name: str | None = None) -> Output:
    """Adds an f16 constant with the values of another constant."""
    sizes = constant.output.shape.static or ()
    parts = (_in_f16(part).tobytes() for part in _parts_of(constant))
    return graph._stored(F16, sizes, parts, 2 * math.prod(sizes), name)


def _in_f16(part: Any) -> Any:
    return np.clip(part, -65504, 65504).astype(np.float16)


def _parts_of(constant: GraphLayer) -> Iterator[Any]:
    """Yields the elements of a constant as f32, in parts, so that only one part is in memory."""
    offset = Constant.of(constant.raw.items, None).offset
    flat = np.ravel(np.asarray(constant.value))
    for start in range(0, flat.size, _AT_ONCE):
        with np.errstate(over="ignore"):
            yield flat[start : start + _AT_ONCE].astype(np.float32)
        constant.graph.bytes.release(offset)


_AT_ONCE = 1 << 20
"""The number of elements of a constant that are examined at a time."""


def _converts_nothing(layer: GraphLayer) -> bool:
    return (
        layer.raw.folded_type == "convert"
        and layer.output.element_type is layer.inputs[0].source.element_type
    )


_INTEGER_WEIGHTS = ("i4", "u4", "i8", "u8", "nf4", "f8e4m3", "f8e5m2")
_SHAPE_INPUTS: Mapping[str, tuple[int, ...]] = {
    "BatchToSpace": (1, 2, 3),
    "Broadcast": (1,),
    "ConvolutionBackpropData": (2,),
    "GroupConvolutionBackpropData": (2,),
    "Interpolate": (1,),
    "OneHot": (1,),
    "Pad": (1, 2),
    "Reshape": (1,),
    "SpaceToBatch": (1, 2, 3),
    "StridedSlice": (1, 2, 3),
    "Tile": (1,),
    "TopK": (1,),
}
"""The inputs of operations that decide shapes, such as the second input of Reshape. OpenVINO 2026.4
compresses no constant from which such an input is computed, except through a ShapeOf.

The list was measured with models in which an f32 constant is converted to i64 and feeds one input.
"""
_DECOMPRESSION = '<attribute name="decompression" version="0" />'


def compress_to_f16(graph: Editing, *, keep: Selection = ()) -> int:
    """Stores f32 and f64 weights in f16, as OpenVINO's `save_model` does. Returns the number of
    changed constants.

    A Convert restores the type of each constant. Constants stay if a shape depends on them, or if
    f16 cannot represent most of their elements well. Nothing changes in a quantized model.
    keep: as for `to_f16`.
    """
    if any(_is_optimized(layer) for layer in graph.walk()):
        return 0
    kept = _kept(graph, keep)
    with graph.changes:
        return _compressed(graph, kept)


def _is_optimized(layer: GraphLayer) -> bool:
    """Whether a layer shows that the model is quantized: `save_model` then compresses no constant.

    These layers are FakeQuantize, FakeConvert, and a Multiply that scales integer weights.
    """
    kind = layer.raw.folded_type
    if kind in ("fakequantize", "fakeconvert"):
        return True
    if kind != "multiply":
        return False
    sources = [end.source.layer for end in layer.inputs]
    if not any(each.raw.is_constant for each in sources):
        return False
    for source in sources:
        weights = source.inputs[0].source.layer if source.type == "Subtract" else source
        if weights.type == "Convert":
            stored = weights.inputs[0].source
            if stored.layer.raw.is_constant and stored.element_type.name in _INTEGER_WEIGHTS:
                return True
    return False


def _compressed(graph: Editing, kept: set[GraphLayer]) -> int:
    """Compresses the constants of a graph and of its bodies to f16. Returns the number of
    constants."""
    fixed = _deciding_shapes(graph)
    count = 0
    for layer in graph.layers:
        for body in layer.bodies.values():
            count += 0 if layer in kept else _compressed(body, kept)
        if not layer.raw.is_constant or layer in kept or layer in fixed:
            continue
        output = layer.output
        if output.element_type.name not in ("f32", "f64") or _unfit(layer):
            continue
        small = _stored_in_f16(graph, layer, graph._new_name(f"{layer.name}_compressed"))
        graph._give_info(small.layer, layer.rt_info_text)
        wide = graph.add("Convert", small, destination_type=str(output.element_type))
        graph._give_info(wide.layer, layer.rt_info_text + _DECOMPRESSION)
        graph._substitute(output, wide)
        count += 1
    return count


def _unfit(constant: GraphLayer) -> bool:
    """Whether f16 represents a constant badly, so that `save_model` does not compress it.

    f16 is bad if three quarters of the elements lie outside its range or would change by more than
    0.1 %, or if the only element would change by more than 0.01 %.
    """
    if constant.value is None:
        return True
    count = unfit = 0
    worst = 0.0
    for single in _parts_of(constant):
        with np.errstate(all="ignore"):
            error = np.abs(_in_f16(single).astype(np.float32) - single) / np.abs(single)
        error = np.where(single == 0, np.float32(0), error)
        unfit += int(np.count_nonzero(~(error <= np.float32(1e-3)) | (np.abs(single) > 65504)))
        count, worst = count + single.size, error[0]
    return bool(unfit >= 0.75 * count or (count == 1 and not worst <= np.float32(1e-4)))


def _deciding_shapes(graph: Editing) -> set[GraphLayer]:
    """Returns the layers that compute shapes, such as the second input of a Reshape. Follows their
    inputs back to the nearest ShapeOf, which is left out."""
    reached: set[GraphLayer] = set()
    waiting = [
        end.source.layer
        for layer in graph.layers
        for end in layer.inputs
        if end.index in _SHAPE_INPUTS.get(layer.type, ())
    ]
    while waiting:
        layer = waiting.pop()
        if layer in reached or layer.raw.folded_type == "shapeof":
            continue
        reached.add(layer)
        waiting += [end.source.layer for end in layer.inputs]
    return reached


def drop_fake_quantize(graph: Editing, selection: Selection = "*") -> int:
    """Removes the selected FakeQuantize layers, and all layers that are then unused. Returns the
    number of removed FakeQuantize layers."""
    chosen = graph.matching(selection)
    layers = [layer for layer in chosen if layer.raw.folded_type == "fakequantize"]
    with graph.changes:
        with graph.batch():
            for layer in layers:
                layer.remove(bypass=0)
        graph.clean(duplicates=False)
    return len(layers)
