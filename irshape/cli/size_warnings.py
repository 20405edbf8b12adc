"""Finds outputs that keep a fixed batch size, and bounds of inputs that a layer does not accept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..shapes import UNBOUNDED

if TYPE_CHECKING:
    from ..graph.graph import Graph
    from ..graph.nodes import GraphLayer, Output
    from ..shapes import Dimension


def first_axes(graph: Graph) -> list[Dimension | None]:
    """Returns the size of axis 0 of each input; None for scalars and dynamic ranks."""
    return [_batch(each) for each in graph.inputs]


def kept_batches(graph: Graph, before: list[Dimension | None]) -> Iterator[str]:
    """Yields a line for each output whose batch size did not change with that of the inputs.

    before: `first_axes` of the graph before the change.
    """
    after = first_axes(graph)
    given = {new for old, new in zip(before, after, strict=False) if old != new and new is not None}
    if len(given) != 1:
        return
    (batch,) = given
    fed = _fed(graph)
    for output in graph.outputs:
        held = _holder(output, batch, fed)
        if held is not None:
            layer, constant = held
            name = ", ".join(output.names) or output.layer.name
            yield (
                f"output '{name}' is {output.shape} for every batch of the inputs: "
                f"{constant.label} fixes axis 0 of {layer.label} to {_batch(layer.outputs[0])}"
            )


def too_large(graph: Graph) -> Iterator[str]:
    """Yields a line for each upper bound of an input that is larger than a layer accepts."""
    from ..inference.engine import infer
    from ..inference.named_sizes import tensor_name
    from ..inference.overview import limits

    dims = [dim for each in graph.inputs for dim in each.shape.dims or ()]
    if all(dim.is_static or dim.high == UNBOUNDED for dim in dims):
        return
    inference = infer(graph.model(), symbols=True)
    for symbol, which, high, why in limits(inference):
        if which == "least":
            continue
        for layer, given in zip(inference.model.parameters, graph.inputs, strict=True):
            for axis, size in enumerate(inference.expressions(layer)[0] or ()):
                bound = given.shape[axis]
                if size is not None and size.atom is symbol and high < bound.high < UNBOUNDED:
                    yield (
                        f"axis {axis} of '{tensor_name(layer)}' is {bound}, but the model accepts "
                        f"at most {high}, which {why}"
                    )


def _fed(graph: Graph) -> set[GraphLayer]:
    """Returns the layers that depend on the values of inputs, not only on input sizes (ShapeOf)."""
    waiting = [each.layer for each in graph.inputs]
    fed = set(waiting)
    while waiting:
        users = {user.layer for output in waiting.pop().outputs for user in output.users} - fed
        new = [layer for layer in users if layer.type != "ShapeOf"]
        fed.update(new)
        waiting += new
    return fed


def _holder(
    output: Output, batch: Dimension, fed: set[GraphLayer]
) -> tuple[GraphLayer, GraphLayer] | None:
    """Returns a pair: the layer that replaces the batch size by a constant, and the constant. The
    nearest such layer to the output counts. fed: the layers that can have a batch axis."""
    if output.layer not in fed or not _differs(output, batch):
        return None
    waiting, seen = deque([output.layer]), {output.layer}
    while waiting:
        layer = waiting.popleft()
        sources = [each.source for each in layer.inputs]
        if layer.outputs and _differs(layer.outputs[0], batch):
            kept = _batch(layer.outputs[0])
            constants = [
                each.layer
                for each in sources
                if each.layer.raw.is_constant and _begins_with(each, kept)
            ]
            if constants and any(_batch(each) == batch for each in sources):
                return layer, constants[0]
        for each in sources:
            if each.layer in fed - seen:
                seen.add(each.layer)
                waiting.append(each.layer)
    return None


def _batch(output: Output) -> Dimension | None:
    dims = output.shape.dims
    return dims[0] if dims else None


def _differs(output: Output, batch: Dimension) -> bool:
    """Returns whether axis 0 has a known size that is not `batch`."""
    own = _batch(output)
    return own is not None and own.is_static and own != batch


def _begins_with(output: Output, size: Dimension | None) -> bool:
    """Returns whether a tensor is a list of integers that begins with `size`, e.g. a shape."""
    value = output.value
    return (
        size is not None
        and value is not None
        and value.dtype.kind in "iu"
        and value.ndim == 1
        and value.size > 0
        and int(value[0]) == size.low
    )
