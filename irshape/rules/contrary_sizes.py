"""Layers that need contrary sizes of one dynamic dimension, so that no size of it fits them all.

Inference without named sizes does not see that: each layer fits the dynamic shape that reaches it.
Inference with them does, and takes several times as long. It is left to a model whose layers may
demand the contrary of a dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..demands import excludes
from ..faults import Fault
from ..inference.result import BodyResult
from ..model.graph import Finding
from .context import Context

MAX_LAYERS = 5000


def contrary_sizes(context: Context) -> Iterator[Finding]:
    """What a layer of the net needs that others exclude, whatever the sizes of the inputs."""
    model = context.model
    if context.settings.contracts or model.kind != "net" or len(model.net.layers) > MAX_LAYERS:
        return  # contracts tell it with the names that they give
    result = context.inference.result
    if not _may_contradict(result):
        return
    from ..inference.contrary_demands import may_contradict

    if not may_contradict(model, result):
        return
    from ..inference.symbolic import contrary_layers

    before = {layer for layer, _ in context.observed(Fault)}
    for layer, fault in contrary_layers(model):
        if layer not in before:
            context.contrary.add(layer)
            yield context.placed(layer, fault)


def _may_contradict(result: BodyResult) -> bool:
    """Whether demands of layers could contradict each other, of whatever dimensions they are.

    Two numbers could, or one that two kinds of layers demand of sizes that are apart by another.
    """
    alike = {
        (demands, part.inputs.get(position), part.outputs[position])
        for part in result.walk()
        for position, demands in part.demands.items()
    }
    kinds = [demands for demands, *_ in alike]
    sizes = [number for demands in kinds for relation, number in demands if relation == "=="]
    return len(sizes) > 1 or any(
        excludes(size, *demand) for size in sizes for demands in kinds for demand in demands
    )
