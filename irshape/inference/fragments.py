"""Infers single layers, each from the tensors that its own input ports declare."""

from __future__ import annotations

from ..faults import Fault
from ..model.wiring import Wiring
from ..ops.declaration import AttributeFault
from ..ops.registry import UnknownOperation
from ..ops.tensors import Tensor
from ..rule_ids import INPUT_ELEMENT_TYPE, LEFT_OUT
from .body_engine import BodyEngine, Walk
from .ports import input_tensors, with_assumed_types
from .result import BodyResult


def infer_fragments(engine: BodyEngine, *, compare: bool) -> BodyResult:
    """Infers every layer of a file of single layers (`Model.kind` is `layers`)."""
    model = engine.model
    body = model.net
    left_out = {finding.layer for finding in model.findings if finding.rule == LEFT_OUT}
    unconnected = Wiring(
        [[None] * len(layer.inputs) for layer in body.layers],
        list(range(len(body.layers))),
        frozenset(),
    )
    walk = Walk(engine, body, unconnected, compare=compare)
    result = walk.result
    for position, layer in enumerate(body.layers):
        result.outputs[position] = tensors = _infer(walk, position)
        if layer in left_out:
            # nothing is known about ports that do not exist
            result.believed.add(position)
            result.observations = [
                observation
                for observation in result.observations
                if observation.layer is not layer or isinstance(observation.subject, AttributeFault)
            ]
        if compare:
            walk.compare_ports(position, tensors)
    return result


def _infer(walk: Walk, position: int) -> tuple[Tensor, ...]:
    """Infers one layer. If its operation needs an element type that is missing, assumes one."""
    layer, declaration = walk.result.body.layers[position], walk.declarations[position]
    if isinstance(declaration, UnknownOperation):
        return walk.infer(position, (), False)
    operation = declaration[0]
    observations = walk.result.observations
    before = len(observations)
    inputs = input_tensors(layer, operation.operands)
    tensors = walk.infer(position, inputs, False)
    if any(
        isinstance(observation.subject, Fault) and observation.subject.rule == INPUT_ELEMENT_TYPE
        for observation in observations[before:]
    ):
        # the document may omit the type of an input, although the operation depends on it
        assumed = with_assumed_types(layer, operation.operands, inputs)
        if assumed is not None:
            del observations[before:]
            tensors = walk.infer(position, assumed, False)
    if any(
        index < len(inputs) and inputs[index].value is None
        for index, _ in operation.signature.valued
    ):
        # without the value, the result is wider than intended
        walk.result.believed.add(position)
    return tensors
