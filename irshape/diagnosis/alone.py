"""Refutes changes within one layer by that layer alone, which is far cheaper than a trial."""

from __future__ import annotations

from ..faults import Fault
from ..model.graph import Finding, Layer
from ..model.weights import Constant, Weights, small_values
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor, Value
from ..rule_ids import INTERNAL_ERROR, OUTPUT_SHAPE_MISMATCH, UNPROVEN_DIMENSION
from ..types import PartialShape
from .candidate import Candidate, Change
from .scene import Scene


def refuted(scene: Scene, finding: Finding, candidate: Candidate, weights: Weights | None) -> bool:
    """Whether the layer, inferred after a change, is refused or contradicts its ports as before.

    The change is that of one attribute of the layer, or of a constant that feeds it; `weights` is
    the .bin with it. False says nothing: a trial tells.
    """
    position = None if finding.layer is None else scene.position.get(finding.layer)
    if position is None or not _inferred_alone(scene, finding, position):
        return False
    layer = scene.layers[position]
    if candidate.becomes is not None:
        if candidate.touched != (position,):
            return False
        layer = _changed(layer, candidate.becomes)
    elif weights is None:
        return False
    declaration = scene.engine.declarations.of(layer)
    if isinstance(declaration, UnknownOperation) or declaration[1] or declaration[0].has_bodies:
        return False
    inputs = _with_values(scene, position, weights)
    result = scene.engine.layers.infer(layer, declaration[0], inputs, False)
    if isinstance(result.outputs, Fault):
        return result.outputs.rule != INTERNAL_ERROR
    if len(result.outputs) != len(layer.outputs):
        return False
    return _as_wrong(layer, finding, scene.outputs(position), result.outputs)


def _inferred_alone(scene: Scene, finding: Finding, position: int) -> bool:
    """Whether a finding is about what follows from the inputs and attributes of its layer."""
    layer = scene.layers[position]
    inputs = scene.result.inputs.get(position, ())
    return (
        finding.rule.code.startswith(("IR201", "IR202", "IR203", "IR4"))
        and len(inputs) == len(layer.inputs) > 0
        and None not in inputs
        and not layer.bodies
        and layer not in scene.context.read_under
    )


def _as_wrong(
    layer: Layer, finding: Finding, before: tuple[Tensor, ...], after: tuple[Tensor, ...]
) -> bool:
    """Whether the output ports contradict what is inferred after a change no less than before."""
    shapes, types = _contradictions(layer, after)
    if finding.rule.code.startswith("IR4"):
        return shapes + types > 0  # before, the outputs were what the ports declare
    shapes_before, types_before = _contradictions(layer, before)
    if finding.rule == UNPROVEN_DIMENSION:
        return shapes > shapes_before or types > types_before
    if finding.rule == OUTPUT_SHAPE_MISMATCH:
        return shapes >= shapes_before > 0 or types > types_before
    return types >= types_before > 0 or shapes > shapes_before


def _changed(layer: Layer, change: Change) -> Layer:
    """The layer with another type, version or attribute."""
    names = {"type": layer.type, "version": layer.version}
    items = layer.items
    if change.element == "layer":
        names[change.name] = change.text
    else:
        items = _with_item(items, change.name, change.text)
    other = Layer(layer.id, layer.name, names["type"], names["version"], layer.offset, layer.path)
    other.items = items
    other.inputs, other.outputs = layer.inputs, layer.outputs
    return other


def _with_item(items: tuple[str, ...], name: str, text: str) -> tuple[str, ...]:
    names = items[::2]
    if name not in names:
        return (*items, name, text)
    at = 2 * names.index(name) + 1
    return (*items[:at], text, *items[at + 1 :])


def _with_values(scene: Scene, position: int, weights: Weights | None) -> tuple[Tensor, ...]:
    """The inputs of a layer, with the values that constants have in another .bin, if there is one.

    Otherwise with those of constants that may come to matter.
    """
    tensors = [tensor for tensor in scene.result.inputs[position] if tensor is not None]
    for index, source in enumerate(scene.sources[position]):
        if source is None or not scene.layers[source[0]].is_constant:
            continue
        producer, tensor = scene.layers[source[0]], tensors[index]
        outputs = scene.outputs(source[0])
        if source[1] >= len(outputs) or tensor != outputs[source[1]]:
            continue
        if weights is None:
            tensors[index] = scene.engine.layers.constant(producer, tensor)
        elif tensor.value is not None:
            constant = Constant.of(producer.items, weights)
            values = small_values(constant) if constant.shape == tensor.shape.static else None
            tensors[index] = tensor if values is None else tensor.with_value(Value(values))
    return tuple(tensors)


def _contradictions(layer: Layer, outputs: tuple[Tensor, ...]) -> tuple[int, int]:
    """How many output ports declare a shape, and how many a type, that the layer cannot have."""
    shapes = types = 0
    for port, tensor in zip(layer.outputs, outputs, strict=False):
        if port.dims and not PartialShape(port.dims).compatible(tensor.shape):
            shapes += 1
        given = port.element_type
        if given is not None and not given.is_dynamic and not tensor.element_type.is_dynamic:
            types += given is not tensor.element_type
    return shapes, types
