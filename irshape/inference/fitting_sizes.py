"""If a layer refuses the given input sizes, finds sizes that fit a constant of the model."""

from __future__ import annotations

from math import isqrt

from ..model.graph import Layer
from ..shapes import Dimension, PartialShape
from .engine import infer
from .named_sizes import tensor_name
from .result import BodyResult, Inference

MAX_TRIES = 24
"""The maximum number of candidate sizes to try."""


def fitting_size(inference: Inference, refused: Layer) -> str | None:
    """Returns a sentence about an input size that a constant excludes, with a size that fits.

    Tries the sizes of `_candidates` in place of the given size. A size fits if the layer accepts it
    and no further layer refuses it, but some layer refuses the size that is one step larger.
    """
    model = inference.model
    body = inference.result
    if model.kind != "net" or refused not in body.body.layers:
        return None
    shapes = {
        layer: tensors[0].shape
        for layer in model.parameters
        if (tensors := inference.outputs(layer)) and tensors[0].shape.dims is not None
    }
    others = body.refusing() - {refused}

    def fits(given: Dimension, other: int) -> bool:
        """Whether the layer accepts size `other` in place of `given`, without further refusals."""
        changed = {
            layer: PartialShape(other if dim == given else dim for dim in shape)
            for layer, shape in shapes.items()
        }
        return infer(model, changed).result.refusing() <= others

    at = body.body.layers.index(refused)
    own = {body.body.layers[source[0]] for source in body.wiring.sources[at] if source is not None}
    constants = sorted(body.constants_before(refused), key=lambda each: each[0] not in own)
    tries = 0
    dims = {dim for shape in shapes.values() for dim in shape if dim.is_static or dim.low}
    for dim in sorted(dims, key=lambda dim: (dim.low, dim.high), reverse=True):
        size = dim.low
        for constant, given in constants:
            for other, step in _candidates(body, refused, size, given):
                tries += 1
                if tries > MAX_TRIES:
                    return None
                if not fits(dim, other) or (other + step != size and fits(dim, other + step)):
                    continue
                smaller = [each for each in (2, other // 2, other - 1) if 1 < each < other]
                below = smaller and other < size and all(fits(dim, each) for each in smaller)
                places = [
                    f"dimension {axis} of '{tensor_name(layer)}'"
                    for layer, shape in shapes.items()
                    for axis, known in enumerate(shape)
                    if known == dim
                ]
                return (
                    f"{' and '.join(places)} {'is' if len(places) == 1 else 'are'} {dim}; the "
                    f"constant '{constant.name}' (id {constant.id}) "
                    f"[{','.join(map(str, given))}] allows {'up to ' if below else ''}{other}"
                )
    return None


def _candidates(
    body: BodyResult, refused: Layer, size: int, given: tuple[int, ...]
) -> list[tuple[int, int]]:
    """Returns input sizes that may fit a constant with the sizes `given`, each with a step.

    A candidate is a size in the constant, with step 1. If layers divide the input size by a step,
    e.g. by strides, the size times the step is a candidate, too. In that case, n * n and n * n + 1
    also count as n: the patches of a square image, perhaps with a class token.
    """
    at = body.body.layers.index(refused)
    reached = {
        each.low
        for source in body.wiring.sources[at]
        if source is not None and source[1] < len(body.outputs[source[0]])
        for each in body.outputs[source[0]][source[1]].shape.dims or ()
    }
    own = {each for each in given if each > 1} - {size}
    scaled = {
        side * step: step
        for other in _with_sides(reached)
        if other > 1 and (step := size // other) > 1
        for side in _with_sides(own)
    }
    return [*((each, 1) for each in sorted(own)), *sorted(scaled.items())]


def _with_sides(sizes: set[int]) -> set[int]:
    """Returns these sizes, and n for each size that is n * n or n * n + 1."""
    squares = {count for each in sizes for count in (each, each - 1) if count > 1}
    return sizes | {isqrt(count) for count in squares if isqrt(count) ** 2 == count}
