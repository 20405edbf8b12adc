"""Finds layers that need contradicting sizes of one dynamic dimension, so that no size fits all.

Each of them fits the dynamic shape that reaches it. Inference with named sizes finds the
contradiction, but takes several times as long. It only runs for models whose layers may demand
contradicting sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..demands import excludes
from ..faults import Fault
from ..model.graph import Layer, Model
from .result import BodyResult

MAX_LAYERS = 500


def contrary_sizes(model: Model, result: BodyResult) -> Iterator[tuple[Layer, Fault]]:
    """Yields the layers of a net that contradict others whatever the sizes of the inputs, each with
    its fault.

    result: the inference of the model without named sizes.
    """
    if model.kind != "net" or len(model.net.layers) > MAX_LAYERS or not _may_contradict(result):
        return
    from .symbolic import infer_symbolic

    with_sizes, sizes = infer_symbolic(model, {}, {})
    for part in with_sizes.walk():
        for layer, subject in part.observations:
            conflict = sizes.facts.conflicts.get(layer)
            if isinstance(subject, Fault) and conflict is not None and conflict.is_certain:
                yield layer, subject


def _may_contradict(result: BodyResult) -> bool:
    """Whether demands of layers could contradict each other, ignoring which dimensions they
    concern.

    They could if layers demand two different numbers, or if two kinds of layers demand the same
    number of sizes that differ by a constant.
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
