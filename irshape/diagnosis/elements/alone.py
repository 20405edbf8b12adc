"""Refutes changes within one layer by that layer alone, which is far cheaper than a trial."""

from __future__ import annotations

from collections.abc import Sequence

from ...element_types import DYNAMIC_TYPE
from ...faults import Fault
from ...inference.result import BodyResult
from ...model.graph import Finding, Layer
from ...model.weights import Constant, Weights, small_values
from ...ops.registry import UnknownOperation
from ...ops.tensors import Tensor, Value
from ...rule_ids import (
    ATTRIBUTE_VALUE,
    CONSTANT_SIZE,
    CONSTANT_TYPE,
    CUSTOM_OPERATION,
    INTERNAL_ERROR,
    MISSING_ATTRIBUTE,
    OUTPUT_COUNT,
    OUTPUT_SHAPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
    UNKNOWN_LAYER_ATTRIBUTE,
    UNKNOWN_PORT_ATTRIBUTE,
    UNKNOWN_TYPE,
    UNKNOWN_VERSION,
    UNPROVEN_DIMENSION,
)
from ...rules.links import alike
from ..candidate import Candidate, Change
from ..rule_groups import BETWEEN_PORTS
from ..trials.scene import Scene

_NOT_READ = {
    *(UNKNOWN_TYPE, UNKNOWN_VERSION, CUSTOM_OPERATION),
    *(ATTRIBUTE_VALUE, MISSING_ATTRIBUTE),
}
"""Faults of a layer for which nothing is inferred of it."""
_HARMLESS = {UNKNOWN_LAYER_ATTRIBUTE, UNKNOWN_PORT_ATTRIBUTE}
"""What the reader may report of a layer whose inference is not concerned."""


def refuted(scene: Scene, finding: Finding, candidate: Candidate, weights: Weights | None) -> bool:
    """Whether the layer, inferred after a change, is refused or contradicts its ports as before.

    The change is that of one attribute of the layer, of a constant that feeds it, or of what else
    feeds it; `weights` is the .bin with it. False says nothing: a trial tells.
    """
    if candidate.holder is not None:
        return _misfits_bodies(scene, finding, candidate.touched[0], candidate.holder)
    position = None if finding.layer is None else scene.position.get(finding.layer)
    if position is None:
        return False
    changes = candidate.values if candidate.becomes is None else (candidate.becomes,)
    told = _told_as_written(scene, finding, candidate, changes, position)
    if told is not None:
        return told
    if not _inferred_alone(scene, finding, position):
        return False
    layer, changed = scene.layers[position], None
    if changes:
        at, *others = candidate.touched
        if others and position not in others:
            return False
        if at == position:
            layer = _changed(layer, *changes)
        else:
            changed = at, changes
    elif weights is None and not candidate.feeds:
        return False
    declaration = scene.engine.declarations.of(layer)
    if isinstance(declaration, UnknownOperation) or declaration[1] or declaration[0].has_bodies:
        return False
    inputs = _inputs(scene, position, weights, candidate.feeds, changed)
    if inputs is None:
        return False
    result = scene.engine.layers.infer(layer, declaration[0], inputs, False)
    if isinstance(result.outputs, Fault):
        return result.outputs.rule != INTERNAL_ERROR
    if layer.is_result:  # what it passes on is no port
        return False
    if len(result.outputs) != len(layer.outputs):
        return finding.rule == OUTPUT_COUNT
    return _as_wrong(scene, finding, position, result.outputs)


def _told_as_written(
    scene: Scene,
    finding: Finding,
    candidate: Candidate,
    changes: tuple[Change, ...],
    position: int,
) -> bool | None:
    """The same where the ports and attributes as they are written tell; None where they do not."""
    alone = candidate.touched == (position,)
    if changes and finding.rule in BETWEEN_PORTS:
        return True  # it is about what two ports declare
    if changes and finding.rule == CONSTANT_SIZE:
        return alone and _of_other_size(scene, position, changes)
    if candidate.feeds and finding.rule in BETWEEN_PORTS:
        fed = [scene.layers[position].inputs[index].id for index, _, _ in candidate.feeds]
        return _is_at_other_input(finding, fed) or not all(
            _declare_alike(scene, position, feed) for feed in candidate.feeds
        )
    if changes and alone and scene.layers[position].is_constant:
        return _as_wrong_a_constant(scene, finding, changes, position)
    if scene.layers[position].is_parameter and scene.body.path:
        return _unlike_what_is_passed(scene, finding, candidate, position)
    if finding.rule in _NOT_READ:
        return alone and bool(changes) and _still_wrong(scene, finding, changes, position)
    return None


def _is_at_other_input(finding: Finding, ports: Sequence[str]) -> bool:
    """Whether a finding is about what feeds an input that is none of these."""
    return finding.port is not None and finding.port[0] == "input" and finding.port[1] not in ports


def _as_wrong_a_constant(
    scene: Scene, finding: Finding, changes: tuple[Change, ...], position: int
) -> bool | None:
    """Whether a constant contradicts its port after some changes as it does without them."""
    if finding.rule in (OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH):
        own = _constant(scene, _changed(scene.layers[position], *changes))
        return None if own is None else _as_wrong(scene, finding, position, (own,))
    if finding.rule == CONSTANT_TYPE:
        return all(change.element == "data" and change.name != "element_type" for change in changes)
    return None


def _unlike_what_is_passed(
    scene: Scene, finding: Finding, candidate: Candidate, position: int
) -> bool:
    """Whether a Parameter of a body, after a change of it, still contradicts what it is fed."""
    layer, outputs = scene.layers[position], scene.outputs(position)
    if finding.rule not in (OUTPUT_SHAPE_MISMATCH, OUTPUT_TYPE_MISMATCH) or not outputs:
        return False
    if candidate.touched != (position,):
        return False
    change = candidate.becomes
    port = candidate.port is not None and candidate.port[0] == "output"
    if change is not None and change.element == "data":
        layer = _changed(layer, change)
    elif change is not None or not port:
        return False
    own, fed = _constant(scene, layer), outputs[0]
    if own is None:
        return False
    written = _constant(scene, scene.layers[position])
    types = own.element_type, fed.element_type
    if written is not None and written.element_type is fed.element_type:
        types = own.element_type, DYNAMIC_TYPE  # it has the type that it says, whatever it is fed
    if not own.shape.compatible(fed.shape) or not (types[0] is types[1] or DYNAMIC_TYPE in types):
        return True
    return not port and sum(_contradictions(scene, position, (own,))) > 0


def _misfits_bodies(scene: Scene, finding: Finding, position: int, holder: Layer) -> bool:
    """Whether a layer with another port map does not fit its bodies, inputs and ports."""
    layer, declaration = scene.layers[position], scene.engine.declarations.of(holder)
    tensors = _fed(scene, position)
    if tensors is None or isinstance(declaration, UnknownOperation) or declaration[1]:
        return False
    result = scene.engine.infer_around(holder, declaration[0], tensors, compare=False)
    if isinstance(result.outputs, Fault):
        rule = result.outputs.rule
        if finding.layer is layer and finding.rule == rule:
            return True
        known = any(f.layer is layer and f.rule == rule for f in scene.findings)
        return not known and rule != INTERNAL_ERROR
    shapes, types = _contradictions(scene, position, result.outputs)
    shapes_before, types_before = _contradictions(scene, position, scene.outputs(position))
    if shapes > shapes_before or types > types_before:
        return True
    if finding.layer is not layer:
        return any(_stays_inside(scene, finding, inner) for inner in result.inner.values())
    return (
        (finding.rule == OUTPUT_SHAPE_MISMATCH and shapes == shapes_before > 0)
        or (finding.rule == OUTPUT_TYPE_MISMATCH and types == types_before > 0)
        or (finding.rule == UNPROVEN_DIMENSION and result.outputs == scene.outputs(position))
    )


def _stays_inside(scene: Scene, finding: Finding, after: BodyResult) -> bool:
    """Whether the layer of a finding takes and gives in a body what it did before."""
    for result in after.walk():
        before = scene.context.results.get(result.body)
        if finding.layer is None or before is None or finding.layer.path != result.body.path:
            continue
        at = next((i for i, each in enumerate(result.body.layers) if each is finding.layer), None)
        return (
            at is not None
            and finding.rule.code.startswith(("IR20", "IR4"))
            and result.inputs.get(at) == before.inputs.get(at)
            and result.outputs[at] == before.outputs[at]
        )
    return False


def _of_other_size(scene: Scene, position: int, changes: tuple[Change, ...]) -> bool:
    """Whether the size of a constant does not fit its shape and type after some changes."""
    layer = _changed(scene.layers[position], *changes)
    try:
        constant = Constant.of(layer.items, scene.context.model.weights)
    except ValueError:
        return False
    if constant.element_type.kind in ("string", "dynamic") or min(constant.shape, default=0) < 0:
        return False
    return constant.size != constant.element_type.byte_size(constant.elements) and not (
        constant.size == 1 and not constant.elements
    )


def _still_wrong(
    scene: Scene, finding: Finding, changes: tuple[Change, ...], position: int
) -> bool:
    """Whether a layer with a wrong type or attribute has other faults after some changes of it."""
    layer = scene.layers[position]
    if layer.bodies:
        return False
    if scene.context.read_under.get(layer, set()) - _HARMLESS:
        return False
    tensors = _fed(scene, position)
    before = scene.engine.declarations.of(layer)
    changed = _changed(layer, *changes)
    declaration = scene.engine.declarations.of(changed)
    if tensors is None or isinstance(declaration, UnknownOperation) or declaration[0].has_bodies:
        return False
    operation, faults = declaration
    if faults:
        known = () if isinstance(before, UnknownOperation) else before[1]
        same = [fault for fault in faults if fault.fault.rule == finding.rule]
        return not known or len(same) >= sum(f.fault.rule == finding.rule for f in known) > 0
    result = scene.engine.layers.infer(changed, operation, tensors, False)
    if isinstance(result.outputs, Fault):
        known_fault = any(f.layer is layer and f.rule.code[:3] == "IR4" for f in scene.findings)
        return result.outputs.rule != INTERNAL_ERROR and not known_fault
    if len(result.outputs) < len(layer.outputs):
        return len(scene.outputs(position)) == len(layer.outputs)
    shapes, types = _contradictions(scene, position, result.outputs)
    shapes_before, types_before = _contradictions(scene, position, scene.outputs(position))
    return shapes > shapes_before or types > types_before


def _fed(scene: Scene, position: int) -> tuple[Tensor, ...] | None:
    """What feeds a layer, with the values of constants; None where that is in doubt."""
    tensors: list[Tensor] = []
    row = scene.sources[position]
    known = scene.result.inputs.get(position, ())
    for index, source in enumerate(row):
        outputs = () if source is None else scene.outputs(source[0])
        if source is None or source[1] >= len(outputs):
            return None
        tensor, producer = outputs[source[1]], scene.layers[source[0]]
        if producer.is_constant and tensor.value is None:
            tensor = scene.engine.layers.constant(producer, tensor)
        elif source[0] in scene.result.unsure:
            given = known[index] if len(known) == len(row) else None
            if given is None:
                return None
            tensor = given
        tensors.append(tensor)
    return tuple(tensors)


def _declare_alike(scene: Scene, position: int, feed: tuple[int, int, int]) -> bool:
    """Whether an input declares what the output does that is to feed it."""
    index, producer, output = feed
    return alike(scene.layers[position].inputs[index], scene.layers[producer].outputs[output])


def _inferred_alone(scene: Scene, finding: Finding, position: int) -> bool:
    """Whether a finding is about what follows from the inputs and attributes of its layer."""
    layer = scene.layers[position]
    inputs = scene.result.inputs.get(position, ())
    return (
        finding.rule.code.startswith(("IR116", "IR201", "IR202", "IR203", "IR4"))
        and len(inputs) == len(layer.inputs) > 0
        and None not in inputs
        and not layer.bodies
        and scene.context.read_under.get(layer, set()) <= _HARMLESS
    )


def _as_wrong(scene: Scene, finding: Finding, position: int, after: tuple[Tensor, ...]) -> bool:
    """Whether the output ports contradict what is inferred after a change no less than before."""
    shapes, types = _contradictions(scene, position, after)
    if finding.rule.code.startswith("IR4"):
        return shapes + types > 0  # before, the outputs were what the ports declare
    shapes_before, types_before = _contradictions(scene, position, scene.outputs(position))
    if finding.rule == UNPROVEN_DIMENSION:
        return shapes > shapes_before or types > types_before
    if finding.rule == OUTPUT_SHAPE_MISMATCH:
        return shapes >= shapes_before > 0 or types > types_before
    return types >= types_before > 0 or shapes > shapes_before


def _changed(layer: Layer, *changes: Change) -> Layer:
    """The layer with another type, version or attribute."""
    names = {"type": layer.type, "version": layer.version}
    items = layer.items
    for change in changes:
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


def _inputs(
    scene: Scene,
    position: int,
    weights: Weights | None,
    feeds: tuple[tuple[int, int, int], ...],
    changed: tuple[int, tuple[Change, ...]] | None,
) -> tuple[Tensor, ...] | None:
    """The inputs of a layer after a change; None where they are not known.

    They have the values of constants that may come to matter: those in another .bin, if there is
    one. changed: the constant that gets other attributes.
    """
    if weights is None and changed is None and not feeds:
        return scene.valued_inputs(position)
    tensors = [tensor for tensor in scene.result.inputs[position] if tensor is not None]
    sources = [*scene.sources[position]]
    if any(index >= len(tensors) or len(tensors) < len(sources) for index, _, _ in feeds):
        return None  # something else is not fed
    for index, at, port in feeds:
        outputs = scene.outputs(at)
        if port >= len(outputs):
            return None
        tensors[index], sources[index] = outputs[port], (at, port)
    if changed is not None and all(source is None or source[0] != changed[0] for source in sources):
        return None
    for index, source in enumerate(sources):
        given = changed is not None and source is not None and changed[0] == source[0]
        if source is None or not (given or scene.layers[source[0]].is_constant):
            continue
        tensor = tensors[index]
        producer, outputs = scene.layers[source[0]], scene.outputs(source[0])
        if source[1] >= len(outputs) or tensor != outputs[source[1]]:
            continue
        if changed is not None and changed[0] == source[0]:
            output = _constant(scene, _changed(producer, *changed[1]))
            if output is None:
                return None
            tensors[index] = output
        elif weights is None:
            tensors[index] = scene.engine.layers.constant(producer, tensor)
        elif tensor.value is not None:
            constant = Constant.of(producer.items, weights)
            values = small_values(constant) if constant.shape == tensor.shape.static else None
            tensors[index] = tensor if values is None else tensor.with_value(Value(values))
    return tuple(tensors)


def _constant(scene: Scene, layer: Layer) -> Tensor | None:
    """What a Const or Parameter says that it gives; None where that is not sound."""
    declaration = scene.engine.declarations.of(layer)
    if isinstance(declaration, UnknownOperation) or declaration[1]:
        return None
    result = scene.engine.layers.infer(layer, declaration[0], (), True)
    return None if isinstance(result.outputs, Fault) else result.outputs[0]


def _contradictions(scene: Scene, position: int, outputs: tuple[Tensor, ...]) -> tuple[int, int]:
    """How many output ports declare a shape, and how many a type, that the layer cannot have."""
    shapes = types = 0
    for (shape, given), tensor in zip(scene.declared_outputs(position), outputs, strict=False):
        if shape is not None and not shape.compatible(tensor.shape):
            shapes += 1
        if given is not None and not given.is_dynamic and not tensor.element_type.is_dynamic:
            types += given is not tensor.element_type
    return shapes, types
