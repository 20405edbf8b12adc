"""Finds attribute values that would make a layer fit the shapes that its ports declare.

Each value is tried with the operation's own `infer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from ..faults import Fault
from ..model.graph import Layer
from ..model.wiring import OutputRef
from ..ops.declaration import Attribute, Operation
from ..ops.kinds import Declared
from ..ops.tensors import Tensor
from ..rule_ids import UNKNOWN_ATTRIBUTE
from ..shapes import PartialShape
from .layer import LayerEngine
from .mismatches import compatible, mismatches
from .ports import declared
from .result import BodyResult


class Fit(IntEnum):
    """How well the declared ports of a layer match the result of inference."""

    REFUSED = 0
    """The operation refuses the layer, or a declared port contradicts the inferred tensor."""
    OPEN = 1
    """No port contradicts inference, but a port is less specific, or inference is unsure."""
    EXACT = 2
    """All ports declare exactly the inferred tensors."""


class Alternative(NamedTuple):
    """A value of one attribute that makes a layer fit the shapes that its ports declare."""

    attribute: Attribute
    before: str | None
    """The value in the file; None if the default applies."""
    after: str
    fit: Fit


def arriving(result: BodyResult, source: OutputRef) -> Tensor:
    """Returns the inferred tensor of an output port; the declared one if the two differ."""
    producer, port = source
    outputs = result.outputs[producer]
    if source in result.doubtful or port >= len(outputs):
        return declared(result.body.layers[producer].outputs[port])
    return outputs[port]


def inputs_of(result: BodyResult, position: int) -> tuple[Tensor | None, ...]:
    """Returns the tensor that feeds each input port of a layer; None for an unconnected port.

    For a layer from a file of single layers, returns the tensors that its input ports declare.
    """
    sources = result.wiring.sources[position]
    alone = result.inputs.get(position)
    if alone is not None and len(alone) == len(sources) and not any(sources):
        return alone
    return tuple(None if source is None else arriving(result, source) for source in sources)


def fit_of(
    engine: LayerEngine,
    layer: Layer,
    operation: type[Operation],
    items: tuple[str, ...],
    inputs: tuple[Tensor | None, ...],
) -> Fit:
    """Returns how well a layer's ports match what `operation` infers from attributes `items`."""
    instance, faults = operation.read(items)
    if any(each.fault.rule != UNKNOWN_ATTRIBUTE for each in faults):
        return Fit.REFUSED
    known = tuple(tensor for tensor in inputs if tensor is not None)
    if operation.bodies or len(known) < len(inputs):
        return Fit.OPEN
    answer = engine.infer(layer, instance, known, with_values=False)
    if isinstance(answer.outputs, Fault) or answer.faults:
        return Fit.REFUSED
    if layer.is_result:
        return Fit.EXACT if len(layer.inputs) == 1 else Fit.REFUSED
    if len(answer.outputs) != len(layer.outputs):
        return Fit.REFUSED
    differing = mismatches(layer, answer.outputs)
    if not all(compatible(each.declared, each.inferred) for each in differing):
        return Fit.REFUSED
    return Fit.OPEN if differing or answer.unsure else Fit.EXACT


def alternatives(
    engine: LayerEngine,
    layer: Layer,
    operation: type[Operation],
    inputs: tuple[Tensor | None, ...],
    names: frozenset[str] = frozenset(),
) -> Iterator[Alternative]:
    """Yields new values of single attributes that make a layer fit what its ports declare.

    names: the attributes to try; if empty, all attributes of the operation.
    """
    surroundings = declared_by(layer)
    for attribute in operation.attributes.values():
        if names and attribute.name not in names:
            continue
        text = layer.attribute(attribute.name)
        if text is None and attribute.refused_when_absent and attribute.name not in names:
            continue
        for value in attribute.domain(text, surroundings):
            items = with_attribute(layer.items, attribute.name, value)
            fit = fit_of(engine, layer, operation, items, inputs)
            if fit:
                yield Alternative(attribute, text, value, fit)


def declared_by(layer: Layer) -> Declared:
    """Returns the sizes in a layer's ports, and the types and shapes of its output ports."""
    ports = (*layer.inputs, *layer.outputs)
    types = dict.fromkeys(port.element_type for port in layer.outputs if port.element_type)
    return Declared(
        tuple(dict.fromkeys(size for port in ports for size in port.dims or () if size >= 0)),
        tuple(types),
        tuple(PartialShape(port.dims) for port in layer.outputs if port.dims),
    )


def with_attribute(items: tuple[str, ...], name: str, text: str | None) -> tuple[str, ...]:
    """Returns a layer's attributes with another value for an attribute; None removes it."""
    given = dict(zip(items[::2], items[1::2], strict=True))
    if text is None:
        given.pop(name, None)
    else:
        given[name] = text
    return tuple(part for item in given.items() for part in item)
