"""Indexing of outputs as in NumPy: `x[..., 0]`, `x[1:, None]`, `x[:, -1]`."""

from __future__ import annotations

from typing import Any

from .errors import GraphError
from .nodes import GraphLayer, Output

_END = (1 << 63) - 1


def indexed(output: Output, index: Any) -> Output:
    """What `output[index]` stands for. Raises `GraphError`, `TypeError`."""
    items = list(index) if isinstance(index, tuple) else [index]
    axes = _axes(output, items)
    graph = _home(output, items)
    value = _sliced(graph, output, items, axes)
    counted = [at for at, axis in enumerate(axes) if axis is not None and axis >= 0]
    # an axis that goes must not renumber those that follow it: axes counted from the front are
    # done last to first, those counted from the end first to last
    for at in (*reversed(counted), *(at for at, axis in enumerate(axes) if (axis or 0) < 0)):
        value = _gathered(graph, value, items[at], axes[at])
    new = _new_axes(items)
    return graph.add("Unsqueeze", value, new) if new else value


def _home(output: Output, items: list[Any]) -> Any:
    """The innermost graph of the outputs involved."""
    graphs = [output.layer.graph]
    for item in items:
        bounds = (item.start, item.stop) if isinstance(item, slice) else (item,)
        graphs += [each.layer.graph for each in bounds if isinstance(each, Output)]
    return max(graphs, key=lambda graph: graph.depth)


def _axes(output: Output, items: list[Any]) -> list[int | None]:
    """The axis that each item is about; those behind an ellipsis are counted from the end."""
    if sum(item is Ellipsis for item in items) > 1:
        raise GraphError(f"{output!r}: an index has one ellipsis at most")
    count = sum(item is not None and item is not Ellipsis for item in items)
    rank = output.shape.rank
    if rank is not None and count > rank:
        raise GraphError(
            f"{output!r} has {rank} axes, and the index is for {count}",
            expected=str(rank),
            actual=str(count),
        )
    axes: list[int | None] = []
    axis = 0
    for at, item in enumerate(items):
        if item is Ellipsis:
            axis = -sum(each is not None for each in items[at + 1 :])
            axes.append(None)
        elif item is None:
            axes.append(None)
        else:
            if isinstance(item, bool):
                raise TypeError("an output is not indexed by a truth value")
            axes.append(axis)
            axis += 1
    return axes


def _sliced(graph: Any, value: Output, items: list[Any], axes: list[int | None]) -> Output:
    """Applies the slices among the items, in one layer."""
    chosen = [
        (item, axis)
        for item, axis in zip(items, axes, strict=True)
        if isinstance(item, slice) and item != slice(None)
    ]
    if not chosen:
        return value
    starts, stops, steps = [], [], []
    for item, _ in chosen:
        step = 1 if item.step is None else item.step
        if not isinstance(step, int) or not step:
            raise TypeError("the step of a slice is a whole number other than 0")
        backwards = step < 0
        starts.append((_END if backwards else 0) if item.start is None else item.start)
        stops.append((-_END if backwards else _END) if item.stop is None else item.stop)
        steps.append(step)
    result: Output = graph.add("Slice", value, starts, stops, steps, [axis for _, axis in chosen])
    return result


def _gathered(graph: Any, value: Output, item: Any, axis: int | None) -> Output:
    """Takes one element along an axis, which then is gone, or several by a list of indices."""
    if isinstance(item, slice):
        return value
    if not isinstance(item, (int, Output, GraphLayer)):
        import numpy as np

        item = np.asarray(item)
        if item.dtype.kind not in "iu":
            raise TypeError(f"an output is not indexed by {item.dtype}")
    result: Output = graph.add("Gather", value, item, axis, batch_dims=0)
    return result


def _new_axes(items: list[Any]) -> list[int]:
    """Where an index puts axes of length 1 in what is left."""
    new: list[int] = []
    place = 0
    left = [_axes_left(item) for item in items]
    for at, item in enumerate(items):
        if item is Ellipsis:
            place = -sum(left[at + 1 :])
            continue
        if item is None:
            new.append(place)
        place += left[at]
    return new


def _axes_left(item: Any) -> int:
    """How many axes of the result an item of an index stands for."""
    if item is None or isinstance(item, slice):
        return 1
    if isinstance(item, (Output, GraphLayer)):
        output = item.output if isinstance(item, GraphLayer) else item
        return output.shape.rank or 0
    import numpy as np

    return 0 if item is Ellipsis else np.ndim(item)
