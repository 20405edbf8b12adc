"""Slices: the parts of a tensor from a start to a stop index, in steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...faults import Between, Fault, Violation, fault
from ...rule_ids import ATTRIBUTE_VALUE, DUPLICATE_VALUES
from ...shapes import DYNAMIC_SHAPE, ONE, Dimension, PartialShape
from .. import conditions
from ..axes import normalized_axis, picked
from ..conditions import between, distinct, equal, not_zero, same_size
from ..declaration import ANY, INTEGER, NUMERIC, Operation, at_least, attribute, operand
from ..differences import Site, facts, refused
from ..kinds import INTS
from ..lazy import Array
from ..tensors import Bounds, Tensor, Value
from .index_ranges import Run, bounds_of, sliced, up_to


def sliced_dims(
    data: PartialShape, start: Tensor, stop: Tensor, step: Tensor, axes: Tensor | None
) -> list[Dimension]:
    """Returns the dimensions of the slice of `data` that Slice and SliceScatter select.

    Raises `Violation` for axes that `data` does not have, and for a step of 0.
    """
    places: dict[int, int] | None = None  # the position of each axis in the lists, if known
    if axes is None:
        if start.rank == 1 and start.shape[0].is_static:
            places = {axis: axis for axis in range(start.shape[0].low)}
    elif axes.known is not None:
        normalized = [normalized_axis(axis, len(data), at="axes") for axis in axes.known]
        places = {axis: position for position, axis in enumerate(normalized)}
        distinct(axes.known, rank=data.rank, rule=DUPLICATE_VALUES)
    begins, ends, steps = bounds_of(start), bounds_of(stop), step.known
    dims: list[Dimension] = []
    for axis, dim in enumerate(data):
        if places is not None and axis not in places:
            dims.append(dim)
        elif places is None or begins is None or ends is None or steps is None:
            dims.append(up_to(dim))
        else:
            at = places[axis]
            not_zero(steps[at : at + 1], at="step", first=at)
            dims.append(sliced(dim, begins[at], ends[at], steps[at]))
    return dims


def require_lists(data_rank: int | None, **lists: Tensor | None) -> None:
    """Raises `Violation` unless all inputs can have the same length, at most the rank of `data`."""
    first: tuple[str, Tensor] | None = None
    for name, tensor in lists.items():
        if tensor is None:
            continue
        if tensor.rank and data_rank is not None:
            conditions.count(tensor.shape[0], Between(None, data_rank), at=name, of="data")
        first = first or (name, tensor)
        equal(tensor.shape, first[1].shape, at=name)


def runs_of(
    sizes: Sequence[int],
    start: Sequence[int],
    stop: Sequence[int],
    step: Sequence[int],
    axes: Sequence[int] | None,
) -> list[Run]:
    """Returns the indices that Slice selects along each axis."""
    runs = [Run(0, size, 1) for size in sizes]
    for position, axis in enumerate(axes if axes is not None else range(len(start))):
        runs[axis] = Run.of(sizes[axis], start[position], stop[position], step[position])
    return runs


def selected(sizes: Sequence[int], lists: Sequence[Array | None]) -> tuple[slice, ...]:
    """Returns the part that Slice selects by the lists `start`, `stop`, `step` and `axes`."""
    *bounds, axes = lists
    start, stop, step = (bound.tolist() for bound in bounds if bound is not None)
    runs = runs_of(sizes, start, stop, step, None if axes is None else axes.tolist())
    return tuple(run.slice for run in runs)


class Slice(Operation):
    """The part of `data` from `start` to `stop`, in steps of `step`, along `axes`."""

    since = 8
    data = operand(ANY, rank=at_least(1))
    start = operand(INTEGER, rank=1, value=True)
    stop = operand(INTEGER, rank=1, value=True)
    step = operand(INTEGER, rank=1, value=True)
    axes = operand(INTEGER, rank=1, value=True, optional=True)

    def infer(
        self, data: Tensor, start: Tensor, stop: Tensor, step: Tensor, axes: Tensor | None
    ) -> Tensor:
        require_lists(data.rank, start=start, stop=stop, step=step, axes=axes)
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        return Tensor(data.element_type, sliced_dims(data.shape, start, stop, step, axes))

    def infer_value(
        self, data: Tensor, *lists: Tensor | None, outputs: tuple[Tensor, ...]
    ) -> Value | None:
        sizes = data.shape.static
        *bounds, axes = [None if tensor is None else tensor.known for tensor in lists]
        unknown = None in bounds or (lists[-1] is not None and axes is None)
        if data.value is None or sizes is None or unknown:
            return None
        start, stop, step = (bound or () for bound in bounds)
        runs = runs_of(sizes, start, stop, step, axes)
        return data.value.take(picked(sizes, [run.indices for run in runs]))

    def evaluate(self, data: Array, *lists: Array | None) -> Array:
        return data[selected(data.shape, lists)]


_MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def _added_axes(site: Site) -> bool:
    """Returns whether a StridedSlice has more indices than axes, counting inserted axes.

    In that case, one of the indices is an ellipsis that stands for no axis.
    """
    data, begin = site.shape(0), site.shape(1)
    if data is None or data.rank is None or begin is None or not begin.rank:
        return False
    inserted = (site.layer.attribute("new_axis_mask") or "").count("1")
    return begin[0].low > data.rank + inserted


class StridedSlice(Operation):
    """The part of `data` from `begin` to `end`, in steps of `strides`.

    The masks select axes to insert, to remove or to keep whole.
    """

    since = 1
    differs = facts(
        refused("2024.0", "a StridedSlice with more indices than the input has axes", _added_axes),
    )
    data = operand(ANY)
    begin = operand(INTEGER, rank=1, value=True)
    end = operand(INTEGER, rank=1, value=True)
    strides = operand(NUMERIC, specified=INTEGER, rank=1, value=True, optional=True)
    begin_mask: tuple[int, ...] = attribute(INTS, default=(), required=True)
    end_mask: tuple[int, ...] = attribute(INTS, default=(), required=True)
    new_axis_mask: tuple[int, ...] = attribute(INTS, default=())
    shrink_axis_mask: tuple[int, ...] = attribute(INTS, default=())
    ellipsis_mask: tuple[int, ...] = attribute(INTS, default=())

    def infer(self, data: Tensor, begin: Tensor, end: Tensor, strides: Tensor | None) -> Tensor:
        self.require_masks()
        if data.rank is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        count = self.length(begin, end, strides)
        if count is None:
            return Tensor(data.element_type, DYNAMIC_SHAPE)
        begins, ends = bounds_of(begin), bounds_of(end)
        steps = (1,) * count if strides is None else strides.known
        dims: list[Dimension] = []
        dropped = self.positions("shrink_axis_mask", count)
        for axis, at in self.plan(data.rank, count):
            if at in dropped:
                continue
            if axis is None:
                dims.append(ONE)
            elif at is None:
                dims.append(data.shape[axis])
            else:
                dims.append(
                    self.part(
                        data.shape[axis],
                        None if begins is None else begins[at],
                        None if ends is None else ends[at],
                        None if steps is None else steps[at],
                        at,
                    )
                )
        return Tensor(data.element_type, dims)

    def part(
        self, dim: Dimension, begin: Bounds | None, end: Bounds | None, step: int | None, at: int
    ) -> Dimension:
        """Returns the size of the slice of an axis, given bounds of `begin` and `end`."""
        if step is None:
            return up_to(dim)
        not_zero((step,), at="strides", first=at)
        whole = self.ends(dim.high, step, at)
        first, last = (
            given if place is None else Bounds(place, place)
            for given, place in zip((begin, end), whole, strict=True)
        )
        if first is None or last is None:
            return Dimension(0, up_to(dim).ceil_div(abs(step)).high)
        return sliced(dim, first, last, step)

    def require_masks(self) -> None:
        """Raises `Violation` unless the masks contain only 0 and 1 and have the same length."""
        expected = len(self.begin_mask)
        for name in _MASKS:
            mask = getattr(self, name)
            if not mask:
                continue
            between(mask, 0, 1, at=name, rule=ATTRIBUTE_VALUE)
            same_size(len(mask), expected, at=name, of="begin_mask", rule=ATTRIBUTE_VALUE)
        if sum(self.ellipsis_mask) > 1:
            raise Violation(
                at="ellipsis_mask",
                expected="one 1 at most",
                actual=self.ellipsis_mask,
                rule=ATTRIBUTE_VALUE,
            )

    def marked(self, mask: str, at: int) -> bool:
        """Returns whether the attribute `mask` is 1 at this position."""
        bits = getattr(self, mask)
        return at < len(bits) and bits[at] == 1

    def positions(self, mask: str, count: int) -> set[int]:
        """Returns the positions below `count` at which the attribute `mask` is 1."""
        bits = getattr(self, mask)[:count]
        return {at for at, bit in enumerate(bits) if bit == 1} if 1 in bits else set()

    def length(self, begin: Tensor, end: Tensor, strides: Tensor | None) -> int | None:
        """Returns the length of `begin`, `end` and `strides`, or None if it is unknown."""
        length: int | None = None
        for name, tensor in (("begin", begin), ("end", end), ("strides", strides)):
            if (
                tensor is None
                or tensor.rank is None
                or tensor.shape[0].is_dynamic
                or (name == "strides" and tensor.known is None)
            ):
                continue
            size = tensor.shape[0].low
            length = size if length is None else length
            conditions.count(size, length, at=name)
        return length

    def plan(self, rank: int, count: int) -> Iterator[tuple[int | None, int | None]]:
        """Yields pairs in the order of the result: an axis of `data`, and a position in `begin`.

        Both are None for an inserted axis. The position is None for an axis that is selected whole.
        """
        elided = self.positions("ellipsis_mask", count)
        new = self.positions("new_axis_mask", count) - elided
        added = len(new)
        hidden = rank + added - count
        conditions.count(count, Between(None, rank + added + bool(elided)), at="begin", of="data")
        axis = 0
        for at in range(count):
            if at in elided:
                for _ in range(hidden + 1):
                    yield axis, None
                    axis += 1
            elif at in new:
                yield None, None
            else:
                yield axis, at
                axis += 1
        for rest in range(axis, rank):
            yield rest, None

    def ends(self, size: int, step: int, at: int) -> tuple[int | None, int | None]:
        """Returns a pair: the `begin` and the `end` of the whole axis. An item is None if
        `begin_mask` or `end_mask` is 0, so that the index in the input applies."""
        front, behind = (0, size) if step > 0 else (size, -1 - size)
        return (
            front if self.marked("begin_mask", at) else None,
            behind if self.marked("end_mask", at) else None,
        )

    def runs(
        self,
        sizes: Sequence[int],
        begin: Sequence[int],
        end: Sequence[int],
        strides: Sequence[int],
    ) -> list[Run | None]:
        """Returns the indices that are selected along each axis of the result.

        An item is None for an inserted axis, and has one index for a removed axis.
        """
        runs: list[Run | None] = []
        for axis, at in self.plan(len(sizes), len(begin)):
            if axis is None or at is None:
                runs.append(None if axis is None else Run(0, sizes[axis], 1))
                continue
            size = sizes[axis]
            if self.marked("shrink_axis_mask", at):
                runs.append(Run(begin[at] + size if begin[at] < 0 else begin[at], 1, 1, True))
            else:
                first, last = self.ends(size, strides[at], at)
                first = begin[at] if first is None else first
                last = end[at] if last is None else last
                runs.append(Run.of(size, first, last, strides[at]))
        return runs

    def check(
        self, data: Tensor, begin: Tensor, end: Tensor, strides: Tensor | None
    ) -> Iterator[Fault]:
        begins = begin.known
        if data.rank is None or begins is None or 1 not in self.shrink_axis_mask:
            return
        for axis, at in self.plan(data.rank, len(begins)):
            if axis is None or at is None or not self.marked("shrink_axis_mask", at):
                continue
            size = data.shape[axis].high
            if not -size <= begins[at] < size:
                yield fault(
                    at="begin",
                    relation="within",
                    expected=Between(-size, size - 1),
                    actual=begins[at],
                    position=at,
                )

    def infer_value(
        self,
        data: Tensor,
        begin: Tensor,
        end: Tensor,
        strides: Tensor | None,
        outputs: tuple[Tensor, ...],
    ) -> Value | None:
        sizes, begins, ends = data.shape.static, begin.known, end.known
        steps = strides.known if strides is not None else (1,) * len(begins or ())
        if data.value is None or sizes is None or begins is None or ends is None or steps is None:
            return None
        chosen = [run.indices for run in self.runs(sizes, begins, ends, steps) if run is not None]
        for indices, size in zip(chosen, sizes, strict=True):
            if any(not 0 <= index < size for index in (*indices[:1], *indices[-1:])):
                return None
        return data.value.take(picked(sizes, chosen))

    def evaluate(self, data: Array, begin: Array, end: Array, strides: Array | None) -> Array:
        steps = [1] * len(begin) if strides is None else [int(step) for step in strides]
        runs = self.runs(data.shape, begin.tolist(), end.tolist(), steps)
        keys = [None if run is None else run.first if run.removed else run.slice for run in runs]
        return data[tuple(keys)]
