"""Finds the sizes of inputs that a constant allows, if a layer refuses the given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..faults import Fault
from ..model.graph import Layer, Model
from ..shapes import Dimension, PartialShape
from .engine import infer
from .named_sizes import tensor_name
from .result import BodyResult, Inference

MAX_TRIES = 24
"""How often the model is inferred again with another size."""

Sizes = Mapping[Layer, PartialShape]
"""The shapes of the inputs, by their Parameter."""


class Fit(NamedTuple):
    """A constant that does not fit a size of the inputs.

    axes: the dimensions that have this size, as input and axis.
    given: the sizes that the constant gives: its shape, or its elements.
    fitting: sizes with which the layer can be inferred, ascending; the largest is that of the
    constant.
    """

    size: int
    axes: tuple[tuple[Layer, int], ...]
    constant: Layer
    given: tuple[int, ...]
    fitting: tuple[int, ...]

    def __str__(self) -> str:
        places = " and ".join(
            f"dimension {axis} of '{tensor_name(layer)}'" for layer, axis in self.axes
        )
        verb = "is" if len(self.axes) == 1 else "are"
        largest = self.fitting[-1]
        fits = f"up to {largest}" if len(self.fitting) > 1 else f"{largest}"
        return (
            f"{places} {verb} {self.size}; the constant '{self.constant.name}' (id "
            f"{self.constant.id}) [{','.join(map(str, self.given))}] allows {fits}"
        )


def fitting_size(inference: Inference, refused: Layer) -> Fit | None:
    """Returns the nearest constant that explains why a layer refuses its inputs.

    A constant explains it if the layer can be inferred once every dimension of one size has the
    constant's size, and not with that size plus one, and no other layer refuses that.
    """
    model = inference.model
    body = inference.result
    if model.kind != "net" or refused not in body.body.layers:
        return None
    sizes = {
        layer: tensors[0].shape
        for layer in model.parameters
        if (tensors := inference.outputs(layer)) and tensors[0].shape.dims is not None
    }
    others = _refusing(inference) - {refused}
    tries = 0
    for size in sorted(_static_sizes(sizes), reverse=True):
        for constant, given in body.constants_before(refused):
            for other in _candidates(body, refused, size, given):
                tries += 1
                if tries > MAX_TRIES:
                    return None
                if _is_limit(model, sizes, size, other, others):
                    smaller = [each for each in (2, other // 2, other - 1) if 1 < each < other]
                    below = other < size and all(
                        _fits(model, sizes, size, each, others) for each in smaller
                    )
                    return Fit(
                        size,
                        tuple(_axes(sizes, size)),
                        constant,
                        given,
                        (*sorted(set(smaller)), other) if below else (other,),
                    )
    return None


def _candidates(body: BodyResult, refused: Layer, size: int, given: tuple[int, ...]) -> list[int]:
    """Returns sizes of an input with which a constant may fit a layer.

    They are the sizes that the constant gives, and sizes that become these on the way from the
    input to the layer, for example because strides shorten an axis.
    """
    at = body.body.layers.index(refused)
    reached = {
        dim.low
        for source in body.wiring.sources[at]
        if source is not None and source[1] < len(body.outputs[source[0]])
        for dim in body.outputs[source[0]][source[1]].shape.dims or ()
        if dim.is_static and 1 < dim.low < size
    }
    own = {each for each in given if each > 1}
    scaled = {size * each // other for each in own for other in reached if size % other == 0}
    return [*sorted(own - {size}), *sorted(scaled - own - {size})]


def _static_sizes(sizes: Sizes) -> set[int]:
    return {dim.low for shape in sizes.values() for dim in shape.dims or () if dim.is_static}


def _axes(sizes: Sizes, size: int) -> Iterator[tuple[Layer, int]]:
    """Returns the dimensions of the inputs that have a size."""
    for layer, shape in sizes.items():
        for axis, dim in enumerate(shape.dims or ()):
            if dim.is_static and dim.low == size:
                yield layer, axis


def _fits(model: Model, sizes: Sizes, size: int, other: int, refusing: set[Layer]) -> bool:
    """Whether only layers of `refusing` refuse the inputs after one size in them is replaced by
    another."""
    changed = {
        layer: PartialShape(
            tuple(
                Dimension.of(other) if dim.is_static and dim.low == size else dim
                for dim in shape.dims or ()
            )
        )
        for layer, shape in sizes.items()
    }
    return _refusing(infer(model, changed)) <= refusing


def _refusing(inference: Inference) -> set[Layer]:
    return {each.layer for each in inference.observations if isinstance(each.subject, Fault)}


def _is_limit(model: Model, sizes: Sizes, size: int, other: int, refusing: set[Layer]) -> bool:
    """Whether only layers of `refusing` refuse a size in place of another, but not that size plus
    one."""
    return _fits(model, sizes, size, other, refusing) and (
        other + 1 == size or not _fits(model, sizes, size, other + 1, refusing)
    )
