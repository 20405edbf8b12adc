"""If a layer refuses the given sizes of inputs, finds sizes that fit a constant of the model."""

from __future__ import annotations

from math import isqrt

from ..model.graph import Layer
from ..shapes import PartialShape
from .engine import infer
from .named_sizes import tensor_name
from .result import BodyResult, Inference

MAX_TRIES = 24
"""How often the model may be inferred again with other sizes."""


def fitting_size(inference: Inference, refused: Layer) -> str | None:
    """Returns a sentence about the nearest constant that contradicts the given sizes of inputs.

    With the constant's size in place of an input's size, the layer must accept its inputs, and no
    further layer may refuse; with a slightly larger size, some layer must refuse.
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

    def fits(size: int, other: int) -> bool:
        """Whether the layer accepts `other` in place of `size`, and no further layer refuses."""
        changed = {
            layer: PartialShape(
                other if known == size else dim
                for known, dim in zip(shape.declared, shape, strict=True)
            )
            for layer, shape in shapes.items()
        }
        return infer(model, changed).result.refusing() <= others

    at = body.body.layers.index(refused)
    own = {body.body.layers[source[0]] for source in body.wiring.sources[at] if source is not None}
    constants = sorted(body.constants_before(refused), key=lambda each: each[0] not in own)
    tries = 0
    sizes = {size for shape in shapes.values() for size in shape.declared if size >= 0}
    for size in sorted(sizes, reverse=True):
        for constant, given in constants:
            for other, step in _candidates(body, refused, size, given):
                tries += 1
                if tries > MAX_TRIES:
                    return None
                if not fits(size, other) or (other + step != size and fits(size, other + step)):
                    continue
                smaller = [each for each in (2, other // 2, other - 1) if 1 < each < other]
                below = smaller and other < size and all(fits(size, each) for each in smaller)
                places = [
                    f"dimension {axis} of '{tensor_name(layer)}'"
                    for layer, shape in shapes.items()
                    for axis, known in enumerate(shape.declared)
                    if known == size
                ]
                return (
                    f"{' and '.join(places)} {'is' if len(places) == 1 else 'are'} {size}; the "
                    f"constant '{constant.name}' (id {constant.id}) "
                    f"[{','.join(map(str, given))}] allows {'up to ' if below else ''}{other}"
                )
    return None


def _candidates(
    body: BodyResult, refused: Layer, size: int, given: tuple[int, ...]
) -> list[tuple[int, int]]:
    """Returns input sizes with which a layer may accept the constant `given`, and a step for each.

    Candidates are the sizes in the constant, and the input sizes that become these sizes on the way
    to the layer, e.g. by strides. A size may also be the number of patches of a square image, with
    or without a class token. The layer notices a larger input only if it grows by the step.
    """
    at = body.body.layers.index(refused)
    reached = {
        each
        for source in body.wiring.sources[at]
        if source is not None and source[1] < len(body.outputs[source[0]])
        for each in body.outputs[source[0]][source[1]].shape.declared
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
    """Returns sizes, and the square root of each size that is a square number or one more."""
    squares = {count for each in sizes for count in (each, each - 1) if count > 1}
    return sizes | {isqrt(count) for count in squares if isqrt(count) ** 2 == count}
