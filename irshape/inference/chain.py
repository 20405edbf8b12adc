"""Explains a refusal: lists the layers between the refused layer and the model's inputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.graph import Layer
from ..model.wiring import OutputRef
from ..spelling import counted
from .result import BodyResult, Inference, Refusal

MAX_STEPS = 40
MAX_LINES = 5


def refusals(inference: Inference) -> list[str]:
    """Returns a message for each layer that could not be inferred. It lists the layers that compute
    the inputs of the refused layer, with their output shapes."""
    return [
        "\n".join([_head(inference, each), *(f"  {step}" for step in chain(inference, each.layer))])
        for each in inference.refused
    ]


def _head(inference: Inference, refusal: Refusal) -> str:
    """Returns the first line of a message: the place of a layer, and why it was refused."""
    place = f"{inference.model.path}:{refusal.line}:{refusal.column}"
    return f"{place}: {refusal.layer.label}: {refusal.message}"


def refusal_in_brief(inference: Inference, conflicts: Sequence[str] = ()) -> list[str]:
    """Explains in at most five lines why the first layer that cannot be inferred is refused.

    conflicts: sentences about contradicting sizes of inputs. Returns [] if no layer is refused.
    """
    from .fitting_sizes import fitting_size

    refused = inference.refused
    if not refused:
        return []
    layer = refused[0].layer
    fit = fitting_size(inference, layer)
    reasons = [fit] if fit is not None else list(conflicts[:2])
    if not reasons:
        reasons = chain(inference, layer, constants=False)
    lines = [_head(inference, refused[0]), *(f"  {reason}" for reason in reasons[: MAX_LINES - 2])]
    more = len(refused) - 1
    if more:
        lines.append(f"  {counted(more, 'more layer')} cannot be inferred")
    return lines


def chain(inference: Inference, layer: Layer, *, constants: bool = True) -> list[str]:
    """Returns a line, with the output shape, for each layer between a layer and the model's inputs,
    nearest first; with `constants`, also for each constant that feeds one of these layers."""
    result = next((part for part in inference.result.walk() if layer in part.body.layers), None)
    if result is None:
        return []
    steps: list[str] = []
    visited: set[int] = set()
    at: int | None = result.body.layers.index(layer)
    while at is not None and len(steps) < MAX_STEPS:
        visited.add(at)
        onward: int | None = None
        for index, source in enumerate(result.wiring.sources[at]):
            if source is None or source[0] in visited:
                continue
            producer = source[0]
            is_constant = result.body.layers[producer].is_constant
            if constants or not is_constant:
                steps.append(_step(result, source, at, index))
            if is_constant:
                continue
            # follow the first input, or the first that depends on an input of the model
            if onward is None or (
                _depends_on_input(result, producer) and not _depends_on_input(result, onward)
            ):
                onward = producer
        at = onward
    return steps


def _step(result: BodyResult, source: OutputRef, position: int, index: int) -> str:
    """Returns a line about the output `source`, which feeds the input `index` of a layer."""
    producer, consumer = result.body.layers[source[0]], result.body.layers[position]
    tensors = result.outputs[source[0]]
    tensor = tensors[source[1]] if source[1] < len(tensors) else None
    shape, value = "?" if tensor is None else str(tensor.shape), ""
    if tensor is not None and tensor.known is not None:
        text = str(list(tensor.known))
        value = f" = {text if len(text) <= 60 else text[:57] + '…'}"
    says = f"{producer.label} has shape"
    if producer.is_constant:
        says = f"constant '{producer.name}' (id {producer.id}) of shape"
    return f"input {index} of {consumer.type} '{consumer.name}': {says} {shape}{value}"


def _depends_on_input(result: BodyResult, position: int) -> bool:
    """Whether the outputs of a layer depend on a Parameter of the body that contains the layer."""
    layers = result.body.layers
    return any(layers[at].is_parameter for at in (position, *result.wiring.upstream(position)))
