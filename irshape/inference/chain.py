"""Why a shape does not fit: the way back from the layer that refuses to the inputs and constants that decide its shapes."""

from __future__ import annotations

from ..faults import Fault
from ..model.graph import Layer
from ..ops.declaration import AttributeFault
from ..ops.registry import UnknownOperation
from ..rule_ids import DUPLICATE_VALUES
from .result import BodyResult, Inference, Observation

MAX_STEPS = 40


def refusals(inference: Inference) -> list[str]:
    """For each layer that could not be inferred: what it says, and the chain of shapes that leads there."""
    messages = []
    noted = {
        id(finding.layer): finding.message
        for finding in inference.model.findings
        if finding.layer is not None
    }
    for observation in inference.observations:
        if not _refuses(observation):
            continue
        layer = observation.layer
        line, column = inference.model.source.place(layer.offset)
        head = f"{inference.model.path}:{line}:{column}: {layer.type} '{layer.name}' (id {layer.id}): {_text(observation, noted)}"
        messages.append("\n".join([head, *(f"  {step}" for step in chain(inference, layer))]))
    return messages


def _refuses(observation: Observation) -> bool:
    subject = observation.subject
    if isinstance(subject, Fault):
        return subject.rule != DUPLICATE_VALUES
    return isinstance(subject, UnknownOperation) or (
        isinstance(subject, AttributeFault) and not subject.silent
    )


def _text(observation: Observation, noted: dict[int, str]) -> str:
    """What an observation says; of a node in another format that could not be read, what its reader noted."""
    subject = observation.subject
    if isinstance(subject, UnknownOperation) and id(observation.layer) in noted:
        return noted[id(observation.layer)]
    if isinstance(subject, AttributeFault):
        return subject.fault.message
    return subject.message if isinstance(subject, Fault) else str(subject)


def chain(inference: Inference, layer: Layer) -> list[str]:
    """The layers between the model's inputs and a layer of the net, nearest first: each with the shape it hands on, and the constants beside it."""
    found = _locate(inference.result, layer)
    if found is None:
        return []
    result, position = found
    layers, sources = result.body.layers, result.wiring.sources
    steps: list[str] = []
    seen: set[int] = set()
    at: int | None = position
    while at is not None and len(steps) < MAX_STEPS:
        seen.add(at)
        onward: int | None = None
        for index, source in enumerate(sources[at]):
            if source is None or source[0] in seen:
                continue
            producer = layers[source[0]]
            tensors = result.outputs[source[0]]
            tensor = tensors[source[1]] if source[1] < len(tensors) else None
            value = (
                f" = {_short(str(list(tensor.known)))}"
                if tensor is not None and tensor.known is not None
                else ""
            )
            kind = producer.type.lower()
            if kind in ("const", "constant"):
                steps.append(
                    f"input {index} of {layers[at].type} '{layers[at].name}': constant '{producer.name}' (id {producer.id}) of shape {tensor.shape if tensor else '?'}{value}"
                )
            else:
                steps.append(
                    f"input {index} of {layers[at].type} '{layers[at].name}': {producer.type} '{producer.name}' (id {producer.id}) hands on {tensor.shape if tensor else '?'}{value}"
                )
                if onward is None or _depends_on_input(result, source[0]):
                    onward = (
                        source[0]
                        if onward is None or not _depends_on_input(result, onward)
                        else onward
                    )
        at = onward
    return steps


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _depends_on_input(result: BodyResult, position: int) -> bool:
    """Whether a Parameter lies behind a layer."""
    waiting, seen = [position], {position}
    while waiting:
        at = waiting.pop()
        if result.body.layers[at].type.lower() == "parameter":
            return True
        for source in result.wiring.sources[at]:
            if source is not None and source[0] not in seen:
                seen.add(source[0])
                waiting.append(source[0])
    return False


def _locate(result: BodyResult, layer: Layer) -> tuple[BodyResult, int] | None:
    for position, candidate in enumerate(result.body.layers):
        if candidate is layer:
            return result, position
    for inner in result.inner.values():
        for body in inner.values():
            found = _locate(body, layer)
            if found is not None:
                return found
    return None
