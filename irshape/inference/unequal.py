"""Which two dimensions of the inputs do not fit each other, where a layer refuses its inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..faults import Fault
from ..model.graph import Layer
from ..shapes import PartialShape, ShapeLike
from .chain import chain, refusing
from .engine import infer
from .fitting_sizes import fitting_size
from .result import Inference

MAX_TRIES = 64
"""How often the model is inferred again with one dimension changed."""
MAX_LINES = 5


class _Axis(NamedTuple):
    """A dimension of an input of the model."""

    name: str
    axis: int
    size: int


def told_briefly(inference: Inference, shapes: Mapping[str, ShapeLike]) -> list[str]:
    """Why the first layer that refuses its inputs does, in at most five lines."""
    refused = refusing(inference)
    if not refused:
        return []
    layer, head = refused[0]
    lines = [head]
    fit = fitting_size(inference, layer)
    conflict = None if fit is not None else _conflict(inference, shapes, layer)
    if fit is not None:
        lines.append(f"  {fit}")
    elif conflict is not None:
        one, other = conflict
        lines.append(
            f"  dimension {one.axis} of '{one.name}' is {one.size}, but dimension {other.axis} of "
            f"'{other.name}' is {other.size}"
        )
    else:
        steps = [step for step in chain(inference, layer) if ": constant '" not in step]
        lines += [f"  {step}" for step in steps[: MAX_LINES - 2]]
    more = len(refused) - 1
    if more:
        lines.append(f"  {more} more layer{'s' if more > 1 else ''} cannot be inferred")
    return lines


def _conflict(
    inference: Inference, shapes: Mapping[str, ShapeLike], layer: Layer
) -> tuple[_Axis, _Axis] | None:
    """Two dimensions of inputs that are unequal; were they equal, the layer would fit."""
    model = inference.model
    if model.kind != "net":
        return None
    sizes: dict[str, tuple[int, ...]] = {}
    for parameter in model.parameters:
        tensors = inference.outputs(parameter)
        static = tensors[0].shape.static if tensors else None
        if static is not None:
            names = parameter.outputs[0].tensor_names if parameter.outputs else []
            sizes[_given(shapes, [*names, parameter.name, f"id:{parameter.id}"])] = static
    for tries, (one, other) in enumerate(_unequal(sizes, shapes)):
        if tries >= MAX_TRIES:
            return None
        changed = list(sizes[one.name])
        changed[one.axis] = other.size
        again = infer(model, {**shapes, one.name: PartialShape(changed)})
        if not any(
            observation.layer is layer and isinstance(observation.subject, Fault)
            for observation in again.observations
        ):
            return one, other
    return None


def _given(shapes: Mapping[str, ShapeLike], names: list[str]) -> str:
    """The name by which an input was given a shape, or its first."""
    return next((name for name in names if name in shapes), names[0])


def _unequal(
    sizes: Mapping[str, tuple[int, ...]], shapes: Mapping[str, ShapeLike]
) -> Iterator[tuple[_Axis, _Axis]]:
    """Pairs of dimensions of two inputs, those on one axis first, and those that were given."""
    axes = [
        _Axis(name, axis, size)
        for name, static in sizes.items()
        for axis, size in enumerate(static)
    ]
    pairs = [
        (one, other)
        for one in axes
        for other in axes
        if one.name != other.name and one.size != other.size
    ]
    pairs.sort(
        key=lambda pair: (
            pair[0].axis != pair[1].axis,
            (pair[0].name not in shapes) + (pair[1].name not in shapes),
        )
    )
    yield from pairs
