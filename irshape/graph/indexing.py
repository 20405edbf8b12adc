"""Indexing of outputs as in NumPy: `x[..., 0]`, `x[1:, None]`, `x[:, -1]`, `x[:, [0, 2]]`."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from ..ops.lazy import np
from .errors import ArgumentError, GraphError
from .nodes import GraphLayer, Output, innermost

_END = (1 << 63) - 1


def indexed(output: Output, index: Any) -> Output:
    """Returns the tensor for `output[index]`.

    Raises `GraphError` for an index out of range, and for an index that NumPy applies to several
    axes together, such as `x[[0, 1], [0, 2]]`. Raises `TypeError` for an invalid index.
    """
    items = [_item(each) for each in (index if isinstance(index, tuple) else (index,))]
    _check_arrays(output, items)
    items = _without_ellipsis(output, items)
    bounds = [each for item in items if isinstance(item, slice) for each in (item.start, item.stop)]
    graph = innermost([output, *items, *bounds])
    taken = [item for item in items if item is not None]
    value = _sliced(graph, output, taken)
    for axis, item in reversed(list(enumerate(taken))):  # which removes no axis before the next one
        if not isinstance(item, slice):
            _check_range(output, item, axis)
            value = graph.add("Gather", value, item, axis, batch_dims=0)
    places = accumulate(map(_rank, items), initial=0)
    new = [place for item, place in zip(items, places, strict=False) if item is None]
    return graph.add("Unsqueeze", value, new) if new else value


def _item(item: Any) -> Any:
    """Converts one item of an index: lists become arrays, and NumPy's integers become ints. Raises
    `TypeError` for an item that cannot be an index, such as a float or a truth value."""
    if isinstance(item, GraphLayer):
        return item.output
    if item is None or item is Ellipsis or isinstance(item, (slice, Output)):
        return item
    array = np.asarray(item)
    if not array.size and not isinstance(item, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        kind = "a truth value" if array.dtype.kind == "b" else f"{array.dtype}"
        raise ArgumentError(f"an output cannot be indexed by {kind}: use op.select or op.gather_nd")
    return int(array) if not array.ndim else array


def _rank(item: Any) -> int:
    """Returns how many axes of the result come from an item: 0 for a number, 1 for a slice."""
    if item is None or isinstance(item, slice):
        return 1
    if isinstance(item, int):
        return 0
    if isinstance(item, Output):
        if item.shape.rank is None:
            raise GraphError(f"{item!r} is an index of dynamic rank", help="reshape it first")
        return item.shape.rank
    rank: int = item.ndim
    return rank


def _check_arrays(output: Output, items: list[Any]) -> None:
    """Raises `GraphError` for an index that NumPy does not apply axis by axis: with lists for
    several axes, or with a slice between a list and a number."""
    numbers = [at for at, item in enumerate(items) if isinstance(item, (int, Output))]
    arrays = [at for at, item in enumerate(items) if hasattr(item, "shape") and _rank(item)]
    if len(arrays) > 1:
        raise GraphError(
            f"{output!r}: NumPy would pair the elements of lists for several axes",
            help="index one axis after the other, as in x[[0, 1]][:, [0, 2]], or use op.gather_nd",
        )
    if arrays:
        both = sorted({*numbers, *arrays})
        if len(both) > 1 and both != list(range(both[0], both[-1] + 1)):
            raise GraphError(
                f"{output!r}: NumPy would move the axis of a list to the front, since a slice "
                "separates the list from a number",
                help="index one axis after the other, as in x[0][:, [0, 2]]",
            )


def _without_ellipsis(output: Output, items: list[Any]) -> list[Any]:
    """Replaces an ellipsis in an index by as many slices `:` as there are axes left."""
    count = sum(item is not None and item is not Ellipsis for item in items)
    rank = output.shape.rank
    if rank is not None and count > rank:
        raise GraphError(
            f"{output!r} has {rank} axes, but the index has entries for {count}",
            expected=str(rank),
            actual=str(count),
        )
    places = [at for at, item in enumerate(items) if item is Ellipsis]
    if not places:
        return items
    if len(places) > 1:
        raise GraphError(f"{output!r}: an index has at most one ellipsis")
    if rank is None:
        raise GraphError(f"{output!r} is of dynamic rank", help="index it without an ellipsis")
    whole = [slice(None)] * (rank - count)
    return [*items[: places[0]], *whole, *items[places[0] + 1 :]]


def _check_range(output: Output, item: Any, axis: int) -> None:
    """Raises `GraphError` for an index that is out of range for every possible size of the axis."""
    dims = output.shape.dims
    if dims is None or isinstance(item, Output):
        return
    size = dims[axis].high
    for number in [item] if isinstance(item, int) else item.ravel().tolist():
        if not -size <= number < size:
            raise GraphError(
                f"{output!r}: index {number} is out of range for axis {axis}",
                expected=f"[{-size}, {size - 1}]",
                actual=str(number),
            )


def _sliced(graph: Any, value: Output, items: list[Any]) -> Output:
    """Applies the slices of an index to a tensor, each to its own axis, and returns the result."""
    forwards: list[tuple[Any, Any, int, int]] = []
    backwards: list[tuple[Any, Any, int, int]] = []
    for axis, item in enumerate(items):
        if not isinstance(item, slice) or item == slice(None):
            continue
        step = 1 if item.step is None else item.step
        if isinstance(step, bool) or not hasattr(step, "__index__") or not int(step):
            raise ArgumentError("the step of a slice must be a whole number other than 0")
        step = int(step)
        start, stop = _bound(item.start), _bound(item.stop)
        if step > 0:
            start, stop = 0 if start is None else start, _END if stop is None else stop
            forwards.append((start, stop, step, axis))
            continue
        if isinstance(start, Output) or isinstance(stop, Output):
            raise GraphError(
                f"{value!r}: the bounds of a backward slice must be numbers",
                help="slice forwards, then reverse the result, as in x[a:b][::-1]",
            )
        if start is not None or stop is not None:
            # a Slice would clamp a start before the first element to that element
            low = 0 if stop is None else _behind(stop)
            forwards.append((low, _END if start is None else _behind(start), 1, axis))
        backwards.append((_END, -_END, step, axis))
    for slices in (forwards, backwards):
        if slices:
            starts, stops, steps, at = map(list, zip(*slices, strict=True))
            value = graph.add("Slice", value, starts, stops, steps, at)
    return value


def _bound(bound: Any) -> Any:
    """Returns the bound of a slice as a number, an output of one element, or None. Raises
    `TypeError`."""
    if bound is None or isinstance(bound, Output):
        return bound
    if isinstance(bound, GraphLayer):
        return bound.output
    if isinstance(bound, bool) or not hasattr(bound, "__index__"):
        raise ArgumentError("the bounds of a slice must be whole numbers or outputs")
    return max(-_END, min(int(bound), _END))


def _behind(bound: int) -> int:
    """Returns the index after `bound`, as the end of a slice; `_END` after the last element."""
    return _END if bound in (-1, _END) else bound + 1
