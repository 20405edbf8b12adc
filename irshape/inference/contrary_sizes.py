"""Finds layers that need different sizes of one dynamic dimension, so that no size fits all.

Each layer alone accepts the dynamic dimension. Only inference with named sizes finds the
contradiction. It takes several times as long as inference without names, so it only runs if the
recorded conditions could contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault
from ..model.graph import Layer
from .result import BodyResult, Inference

MAX_LAYERS = 500


def contrary_sizes(plain: Inference) -> Iterator[tuple[Layer, Fault]]:
    """Yields the layers of a net that contradict other layers for all input sizes, and why.

    plain: the inference of the model without named sizes.
    """
    model, result = plain.model, plain.result
    if model.kind != "net" or len(model.net.layers) > MAX_LAYERS or not _may_contradict(result):
        return
    from .symbolic import contradicts_itself, infer_symbolic

    if not contradicts_itself(plain):
        return
    with_sizes, sizes = infer_symbolic(model, {}, {}, known=plain)
    for part in with_sizes.walk():
        for layer, subject in part.observations:
            conflict = sizes.facts.conflicts.get(layer)
            if isinstance(subject, Fault) and conflict is not None and conflict.is_certain:
                yield layer, subject


def _may_contradict(result: BodyResult) -> bool:
    """Whether the conditions of layers could contradict if all were about the same dimension: at
    least two of them require a certain size, or a required size breaks another condition. Layers
    with equal conditions, inputs and outputs count once."""
    alike = {
        (demands, part.inputs.get(position), part.outputs[position])
        for part in result.walk()
        for position, demands in part.demands.items()
    }
    kinds = [demands for demands, *_ in alike]
    sizes = [each.number for demands in kinds for each in demands if each.relation == "equal"]
    return len(sizes) > 1 or any(
        demand.excludes(size) for size in sizes for demands in kinds for demand in demands
    )
