"""Layers that need contrary sizes of one dynamic dimension, so that no size of it fits them all.

Inference without named sizes does not see that: each layer fits the dynamic shape that reaches it.
Inference with them does, and takes several times as long. It is left to a model in which two layers
need different numbers of a dimension of the same tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..faults import Fault
from ..inference.result import BodyResult
from ..model.graph import Finding, Layer
from ..ops.tensors import Tensor
from .context import Context

MAX_LAYERS = 5000
_Dimension = tuple[int, int, int]
"""A layer by its position, one of its outputs, and an axis."""


def contrary_sizes(context: Context) -> Iterator[Finding]:
    """What a layer of the net needs that others exclude, whatever the sizes of the inputs."""
    model = context.model
    if context.settings.contracts or model.kind != "net" or len(model.net.layers) > MAX_LAYERS:
        return  # contracts tell it with the names that they give
    if not _are_contrary(context):
        return
    from ..inference.engine import infer

    inference = infer(model, symbols=True)
    before = {layer for layer, _ in context.observed(Fault)}
    for layer, subject in inference.observations:
        conflict = inference.sizes.facts.conflicts.get(layer)
        if (
            isinstance(subject, Fault)
            and conflict is not None
            and conflict.earlier
            and layer not in before
        ):
            yield context.placed(layer, subject)


def _are_contrary(context: Context) -> bool:
    """Whether two layers need different numbers of one dynamic dimension."""
    result = context.inference.result
    needs: dict[_Dimension, int] = {}
    for position, index, axis, size in _needs(context, result):
        dimension = _origin(result, position, index, axis)
        if needs.setdefault(dimension, size) != size:
            return True
    return False


def _needs(context: Context, result: BodyResult) -> Iterator[tuple[int, int, int, int]]:
    """The numbers that dynamic dimensions of inputs have to be: layer, input, axis, number."""
    inputs, net = result.inputs, result.body
    for body, position in context.by_type.get("concat", ()):
        tensors = inputs.get(position, ()) if body is net else ()
        shapes = {tensor.shape for tensor in tensors if tensor is not None}
        if len(shapes) > 1 and not all(shape.is_static for shape in shapes):
            yield from _of_concat(position, tensors, body.layers[position].attribute("axis"))
    for body, position in context.by_type.get("matmul", ()):
        tensors = inputs.get(position, ()) if body is net else ()
        if len(tensors) == 2:
            yield from _of_matmul(position, tensors, body.layers[position])


def _of_matmul(
    position: int, tensors: tuple[Tensor | None, ...], layer: Layer
) -> Iterator[tuple[int, int, int, int]]:
    data, other = [None if each is None else each.shape.dims for each in tensors]
    if not data or not other or data[-1].is_static:
        return
    transposed, swapped = (
        layer.attribute(name) in ("true", "1") for name in ("transpose_a", "transpose_b")
    )
    if transposed:
        return
    size = other[-1] if swapped or len(other) == 1 else other[-2]
    if size.is_static:
        yield position, 0, len(data) - 1, size.low


def _of_concat(
    position: int, tensors: tuple[Tensor | None, ...], axis: str | None
) -> Iterator[tuple[int, int, int, int]]:
    shapes = [tensor.shape.dims for tensor in tensors if tensor is not None]
    ranks = {None if dims is None else len(dims) for dims in shapes}
    rank = ranks.pop() if len(ranks) == 1 else None
    try:
        along = int(axis or "")
    except ValueError:
        return
    if rank is None or not -rank <= along < rank or len(shapes) != len(tensors):
        return
    for at in range(rank):
        sizes = [dims[at] for dims in shapes if dims is not None]
        number = next((size.low for size in sizes if size.is_static), None)
        if number is None or at == along % rank:
            continue
        for index, size in enumerate(sizes):
            if size.is_dynamic:
                yield position, index, at, number


def _origin(result: BodyResult, position: int, index: int, axis: int) -> _Dimension:
    """Where a dimension comes from: behind layers of one input that keep the shape."""
    sources = result.wiring.sources
    while True:
        source = sources[position][index]
        assert source is not None
        position, port = source
        behind = sources[position]
        if len(behind) != 1 or behind[0] is None or port or len(result.outputs[position]) != 1:
            return position, port, axis
        before = result.inputs.get(position, ())
        if len(before) != 1 or before[0] is None:
            return position, port, axis
        if before[0].shape != result.outputs[position][0].shape:
            return position, port, axis
        index = 0
