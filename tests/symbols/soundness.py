"""Holds the expressions of an inference against what inference gives for sizes drawn at random."""

from __future__ import annotations

import random
from typing import NamedTuple

import irshape
from irshape.inference.input_sizes import sizes_for
from irshape.inference.result import BodyResult

WIDER = {
    "LSTMCell": "a hidden_size of 0 is taken for the size of the states",
    "RandomUniform": "a list of sizes of unknown length is taken to be as long as it may be",
    "Squeeze": "one unknown axis is taken to be dropped, though no size may turn out to be 1",
}
"""Operations of which OpenVINO infers more than it can know, so that named sizes give less."""


class Tally(NamedTuple):
    """How many bindings were tried and taken by the model, and what was compared."""

    bindings: int
    dimensions: int
    lost: int
    """Dimensions without an expression that are known once the sizes are."""
    wrong: list[str]


def tally(
    model: irshape.Model,
    shapes: dict[str, irshape.ShapeLike] | None = None,
    *,
    bindings: int = 5,
    seed: int = 0,
) -> Tally:
    """shapes: of the inputs, by layer id, as for `infer`."""
    chance = random.Random(seed)
    named = irshape.infer(model, shapes=shapes, symbols=True)
    plain = irshape.infer(model, shapes=shapes)
    refused = _refusals(plain)
    exempt = any(layer.type in WIDER for layer in model.layers) or _refusals(named) - refused
    wrong = [
        f"{layer.label}: {one.shape} is wider than {other.shape}"
        for layer in (() if exempt else model.layers)
        for one, other in zip(named.outputs(layer), plain.outputs(layer), strict=False)
        if not other.shape.encloses(one.shape)
    ]
    taken = dimensions = lost = 0
    for _ in range(bindings * 4):
        sizes = sizes_for(named.sizes, chance)
        if sizes is None or taken == bindings:
            break
        fed = {
            f"id:{layer.id}": [size.evaluate(sizes) for size in known]
            for layer in model.parameters
            if (known := named.expressions(layer)[0]) is not None and None not in known
        }
        if any(size < 0 for shape in fed.values() for size in shape):
            continue
        static = irshape.infer(model, shapes=fed)
        if _refusals(static) - refused:
            continue  # what follows a layer that refuses its inputs is what the file declares
        taken += 1
        for part, row in zip(named.result.walk(), static.result.walk(), strict=False):
            counted = _compare(part, row, sizes, wrong)
            dimensions += counted[0]
            lost += counted[1]
    return Tally(taken, dimensions, lost, wrong)


def _refusals(inference: irshape.Inference) -> set[irshape.Layer]:
    """The layers that refuse their inputs; a fault that OpenVINO tolerates is no refusal."""
    return {
        part.body.layers[position] for part in inference.result.walk() for position in part.faulty
    }


def _compare(
    named: BodyResult, static: BodyResult, sizes: dict[str, int], wrong: list[str]
) -> tuple[int, int]:
    """The dimensions that have an expression, and those that should have one."""
    dimensions = lost = 0
    assert named.expressions is not None
    for position, tensors in enumerate(static.outputs):
        label = named.body.layers[position].label
        pairs = zip(named.expressions[position], named.outputs[position], tensors, strict=False)
        for known, wide, tensor in pairs:
            if known is None or tensor.shape.dims is None:
                continue
            if len(known) != len(tensor.shape.dims):
                wrong.append(f"{label}: {len(known)} dimensions, but {tensor.shape} for {sizes}")
                continue
            for size, interval, seen in zip(known, wide.shape, tensor.shape, strict=True):
                if size is None:
                    lost += seen.is_static
                    continue
                dimensions += 1
                value = size.evaluate(sizes)
                if not seen.contains(value) or not interval.contains(value):
                    wrong.append(
                        f"{label}: {size} in {interval} is {value}, but {seen} for {sizes}"
                    )
    return dimensions, lost
