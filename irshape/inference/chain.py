"""Explains why a shape does not fit: the layers between a layer that refuses its inputs and the
inputs and constants of the model that decide its shapes."""

from __future__ import annotations

from collections.abc import Sequence

from ..faults import Fault
from ..model.graph import Layer
from ..ops.declaration import AttributeFault
from ..ops.registry import UnknownOperation
from ..rule_ids import DUPLICATE_VALUES
from .result import BodyResult, Inference

MAX_STEPS = 40
MAX_LINES = 5


def refusals(inference: Inference) -> list[str]:
    """Returns a message for each layer that could not be inferred, with the chain of shapes that
    leads to it."""
    return [
        "\n".join([head, *(f"  {step}" for step in chain(inference, layer))])
        for layer, head in refusing(inference)
    ]


def refusal_in_brief(inference: Inference, conflicts: Sequence[str] = ()) -> list[str]:
    """Explains in at most five lines why the first such layer refuses its inputs.

    conflicts: sizes of the inputs that contradict each other. Empty if no layer refuses.
    """
    from .fitting_sizes import fitting_size

    refused = refusing(inference)
    if not refused:
        return []
    layer, head = refused[0]
    fit = fitting_size(inference, layer)
    reasons = [fit] if fit is not None else list(conflicts[:2])
    if not reasons:
        reasons = [step for step in chain(inference, layer) if ": constant '" not in step]
    lines = [head, *(f"  {reason}" for reason in reasons[: MAX_LINES - 2])]
    more = len(refused) - 1
    if more:
        lines.append(f"  {more} more layer{'s' if more > 1 else ''} cannot be inferred")
    return lines


def refusing(inference: Inference) -> list[tuple[Layer, str]]:
    """Returns the layers that could not be inferred, each with a line that says where and why."""
    heads = []
    reported = {
        finding.layer: finding.message
        for finding in inference.model.findings
        if finding.layer is not None
    }
    for layer, subject in inference.observations:
        reason = _reason(subject, reported.get(layer))
        if reason is not None:
            line, column = inference.model.source.place(layer.offset)
            place = f"{inference.model.path}:{line}:{column}"
            heads.append((layer, f"{place}: {layer.label}: {reason}"))
    return heads


def _reason(subject: object, reported: str | None) -> str | None:
    """Returns why a layer could not be inferred; None for another observation.

    reported: the message of the reader, if it could not read a node of another format.
    """
    if isinstance(subject, UnknownOperation):
        return reported or str(subject)
    if isinstance(subject, AttributeFault):
        return None if subject.silent else subject.fault.message
    if isinstance(subject, Fault) and subject.rule != DUPLICATE_VALUES:
        return subject.message
    return None


def chain(inference: Inference, layer: Layer) -> list[str]:
    """Returns the layers between the model's inputs and a layer, nearest first.

    Each comes with its output shape and the constants beside it.
    """
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
            steps.append(_step(result, at, index))
            producer = source[0]
            if result.body.layers[producer].is_constant:
                continue
            # follow the first input, or the first that depends on an input of the model
            if onward is None or (
                _depends_on_input(result, producer) and not _depends_on_input(result, onward)
            ):
                onward = producer
        at = onward
    return steps


def _step(result: BodyResult, position: int, index: int) -> str:
    """Returns the layer that feeds an input, as a step of the chain."""
    source = result.wiring.sources[position][index]
    assert source is not None
    producer, consumer = result.body.layers[source[0]], result.body.layers[position]
    tensors = result.outputs[source[0]]
    tensor = tensors[source[1]] if source[1] < len(tensors) else None
    shape = tensor.shape if tensor is not None else "?"
    value = ""
    if tensor is not None and tensor.known is not None:
        value = f" = {_short(str(list(tensor.known)))}"
    place = f"input {index} of {consumer.type} '{consumer.name}'"
    if producer.is_constant:
        label = f"constant '{producer.name}' (id {producer.id})"
        return f"{place}: {label} of shape {shape}{value}"
    return f"{place}: {producer.label} has shape {shape}{value}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _depends_on_input(result: BodyResult, position: int) -> bool:
    """Whether a layer depends on a Parameter of its body."""
    layers = result.body.layers
    return any(layers[at].is_parameter for at in (position, *result.wiring.upstream(position)))
