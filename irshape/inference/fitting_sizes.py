"""Finds the sizes of inputs that a constant allows, if a layer refuses the given sizes."""

from __future__ import annotations

from math import isqrt

from ..model.graph import Layer
from ..shapes import PartialShape
from .engine import infer
from .named_sizes import tensor_name
from .result import BodyResult, Inference

MAX_TRIES = 24
"""How often the model is inferred again with another size."""


def fitting_size(inference: Inference, refused: Layer) -> str | None:
    """Returns a text about the nearest constant that explains why a layer refuses its inputs.

    A constant explains it if the layer can be inferred once every dimension of one size has the
    constant's size, and not with that size plus one, and no other layer refuses that.
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
        """Whether no more layers refuse the inputs with another size in place of one."""
        changed = {
            layer: PartialShape(
                other if known == size else dim
                for known, dim in zip(shape.declared, shape, strict=True)
            )
            for layer, shape in shapes.items()
        }
        return infer(model, changed).result.refusing() <= others

    tries = 0
    sizes = {size for shape in shapes.values() for size in shape.declared if size >= 0}
    for size in sorted(sizes, reverse=True):
        for constant, given in body.constants_before(refused):
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
    """Returns sizes of an input with which a constant may fit a layer, each with the step to the
    next size that the layer tells apart.

    They are the sizes that the constant gives, and sizes that become these on the way from the
    input to the layer, for example because strides shorten an axis. A size may also be the number
    of patches of a square image, with or without a class token.
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
        size * side // other: size // other
        for other in _with_sides(reached)
        if 1 < other < size and size % other == 0
        for side in _with_sides(own)
    }
    return [*((each, 1) for each in sorted(own)), *sorted(scaled.items())]


def _with_sides(sizes: set[int]) -> set[int]:
    """Returns sizes, and the sides of the squares that have so many patches."""
    squares = {count for each in sizes for count in (each, each - 1) if count > 1}
    return sizes | {isqrt(count) for count in squares if isqrt(count) ** 2 == count}
