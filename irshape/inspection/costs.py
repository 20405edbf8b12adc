"""The costs of each layer: multiply-adds, computed elements, and weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..faults import Fault, Violation
from ..inference.bodies import bind
from ..inference.body_engine import declarations_of
from ..inference.declarations import Declarations
from ..inference.result import BodyResult, Inference
from ..model.graph import Layer
from ..model.weights import Constant
from ..ops.bodies import BodyView
from ..ops.declaration import Operation
from ..ops.tensors import Tensor
from ..shapes import DYNAMIC, ONE, Dimension

NONE = Dimension(0)


class LayerCost(NamedTuple):
    """A layer that computes something from the inputs of the model, or holds state.

    All numbers are for one inference request, in which a body may run several times. If shapes are
    dynamic, the numbers are intervals.
    """

    layer: Layer
    outputs: tuple[Tensor, ...]
    runs: Dimension
    """How often the layer runs in one inference request: 1 outside bodies."""
    multiply_adds: Dimension
    elements: Dimension
    """The number of elements of the layer's outputs."""
    bytes: Dimension
    """The number of bytes of the layer's outputs."""
    parameters: int
    """The elements of the constants that the layer uses, directly or through layers that depend
    only on constants, such as the decompression of weights. Each constant counts once, for the
    first layer that uses it."""
    parameter_bytes: int


def costs_of(inference: Inference) -> list[LayerCost]:
    """Returns the costs of the layers that a device computes, in file order. The layers of a body
    come after the layer that contains it.

    Leaves out Parameters and Results, and what depends only on constants: a device computes it only
    once, if at all.
    """
    return list(_costs(inference.result, declarations_of(inference), ONE))


def _costs(result: BodyResult, declarations: Declarations, runs: Dimension) -> Iterator[LayerCost]:
    fixed = fixed_positions(result)
    weights = _weights_by_user(result, fixed)
    broken = {layer for layer, subject in result.observations if isinstance(subject, Fault)}
    known: dict[object, tuple[Dimension, Dimension, Dimension]] = {}
    for position, layer in enumerate(result.body.layers):
        if position in fixed:
            continue
        declaration = declarations.of(layer)
        operation = None
        if isinstance(declaration, tuple) and all(fault.silent for fault in declaration[1]):
            operation = declaration[0]
        inner = result.inner.get(position, {})
        if not (layer.is_parameter or layer.is_result):
            outputs = result.outputs[position]
            inputs = known_inputs(result, position)
            counted = None if layer in broken else operation
            key = counted, inputs, outputs
            if key not in known:
                own = NONE if counted is None else _counted(counted, inputs, outputs)
                elements = sum((tensor.shape.size for tensor in outputs), NONE)
                size = sum(map(tensor_bytes, outputs), NONE)
                known[key] = own * runs, elements * runs, size * runs
            yield LayerCost(layer, outputs, runs, *known[key], *weights.get(position, (0, 0)))
        if inner and operation is not None:
            times = repetitions(layer, operation, result, position)
            for tag, body in inner.items():
                yield from _costs(body, declarations, runs * times.get(tag, DYNAMIC))


def known_inputs(result: BodyResult, position: int) -> tuple[Tensor, ...]:
    """Returns the tensors that feed a layer. Leaves out unconnected inputs."""
    return tuple(each for each in result.inputs.get(position, ()) if each is not None)


def _counted(
    operation: Operation, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]
) -> Dimension:
    try:
        return operation.multiply_adds(inputs, outputs)
    except (Violation, ValueError, IndexError, KeyError):  # inputs that do not fit the operation
        return DYNAMIC


def repetitions(
    layer: Layer, operation: Operation, result: BodyResult, position: int
) -> dict[str, Dimension]:
    """Returns how often a layer runs each of its bodies. Leaves out bodies that run an unknown
    number of times."""

    def view(tag: str, body: BodyResult) -> BodyView[Tensor]:
        results = {
            inner.id: tensors[0]
            for inner, tensors in zip(body.body.layers, body.outputs, strict=True)
            if inner.is_result and tensors
        }
        return bind(layer, tag, lambda _: results)

    try:
        views = {tag: view(tag, body) for tag, body in result.inner[position].items()}
        return operation.repetitions(known_inputs(result, position), views)
    except (Violation, ValueError, IndexError, KeyError):  # a port map that does not fit
        return {}


def fixed_positions(result: BodyResult) -> set[int]:
    """Returns the positions of the layers of a body that depend only on constants."""
    fixed: set[int] = set()
    layers, sources = result.body.layers, result.wiring.sources
    for position in result.wiring.order:
        layer = layers[position]
        row = [source for source in sources[position] if source is not None]
        if layer.is_constant or (
            row
            and not layer.is_result
            and layer.bodies is None
            and layer.folded_type not in _RANDOM_OR_STATE
            and all(source[0] in fixed for source in row)
        ):
            fixed.add(position)
    return fixed


_RANDOM_OR_STATE = ("readvalue", "assign", "randomuniform", "multinomial")


def _weights_by_user(result: BodyResult, fixed: set[int]) -> dict[int, tuple[int, int]]:
    """Returns the elements and bytes of the constants of each layer. A constant counts for the
    first layer that uses it."""
    layers, sources = result.body.layers, result.wiring.sources
    taken: set[int] = set()
    weights: dict[int, tuple[int, int]] = {}
    for position in result.wiring.order:
        if position in fixed:
            continue
        waiting = [source[0] for source in sources[position] if source is not None]
        elements = size = 0
        while waiting:
            at = waiting.pop()
            if at not in fixed or at in taken:
                continue
            taken.add(at)
            waiting += [source[0] for source in sources[at] if source is not None]
            if layers[at].is_constant:
                constant = constant_of(layers[at])
                elements += constant.elements if constant is not None else 0
                size += max(0, constant.size) if constant is not None else 0
        if elements:
            weights[position] = elements, size
    return weights


def constant_of(layer: Layer) -> Constant | None:
    """Returns the constant of a Const layer; None if its attributes do not describe one."""
    try:
        return Constant.of(layer.items, None)
    except ValueError:
        return None


def tensor_bytes(tensor: Tensor) -> Dimension:
    """Returns how many bytes a tensor takes. Packed elements, such as u4, share bytes; strings
    count as 0."""
    return (tensor.shape.size * tensor.element_type.bits).ceil_div(8)


def total(costs: list[LayerCost], what: str) -> Dimension:
    """Returns the sum of `multiply_adds`, `elements` or `bytes` over all layers."""
    return sum((getattr(cost, what) for cost in costs), NONE)


def by_largest(costs: list[LayerCost], what: str) -> list[LayerCost]:
    """Returns the layers whose `multiply_adds`, `elements` or `bytes` are not 0: by the largest
    upper bound, then in file order."""

    def size(cost: LayerCost) -> tuple[int, int]:
        value = Dimension.of(getattr(cost, what))
        return value.high, value.low

    return sorted((cost for cost in costs if size(cost)[0]), key=size, reverse=True)
