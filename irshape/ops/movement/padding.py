"""Pad, which adds elements at the borders of a tensor or removes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...element_types import DYNAMIC_TYPE
from ...faults import Between, Fault, Violation, fault
from ...rule_ids import INPUT_VALUE
from ...shapes import DYNAMIC_SHAPE, UNBOUNDED, Dimension, PartialShape
from ...spelling import with_noun
from .. import conditions
from ..declaration import ANY, INTEGER, Operation, attribute, operand
from ..differences import Site, facts, refused
from ..elementwise import common_type
from ..kinds import Choice
from ..lazy import Array, np
from ..tensors import Bounds, Tensor
from ..windows import padded
from .index_ranges import bounds_of


def blank(sizes: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Returns an array of zeros, or of empty strings."""
    return np.full(sizes, "", dtype) if dtype.kind == "O" else np.zeros(sizes, dtype)


def padded_below_nothing(site: Site) -> bool:
    """Returns whether pads remove more elements than an axis has. OpenVINO then infers no size."""
    shape = site.shape(0)
    if site.layer.type != "Pad" or shape is None or shape.rank is None:
        return False
    pads = zip(shape, site.value(1) or (), site.value(2) or (), strict=False)
    return any(size.is_static and size.low + begin + end < 0 for size, begin, end in pads)


def _pad_lengths(site: Site) -> bool:
    data, begin, end = map(site.shape, (0, 1, 2))
    if data is None or data.rank is None or begin is None or end is None:
        return False
    return not end.is_static or (begin.rank is not None and not begin.is_static)


def _strings_without_value(site: Site) -> bool:
    return len(site.layer.inputs) < 4 and site.type_name() == "string"


class Pad(Operation):
    """The base class of all versions: `data` with elements added at both ends of each axis.

    A negative number removes elements.
    """

    differs = facts(
        refused("2025.4", "a Pad whose pads are inputs of unknown length", _pad_lengths),
        refused("2026.2", "a Pad of strings without a value", _strings_without_value),
    )

    moves = ("data", "pad_value")
    data = operand(ANY)
    pads_begin = operand(INTEGER, rank=1, value=True)
    pads_end = operand(INTEGER, rank=1, value=True)
    pad_value = operand(ANY, optional=True)
    pad_mode: str = attribute(
        Choice("constant", "edge", "reflect", "symmetric"), default="constant", required=True
    )

    def infer(
        self, data: Tensor, pads_begin: Tensor, pads_end: Tensor, pad_value: Tensor | None
    ) -> Tensor:
        element_type = data.element_type
        if pad_value is not None and self.pad_mode == "constant":
            # not declared: OpenVINO does not check `pad_value` in the other modes
            conditions.rank(pad_value.rank, 0, at="pad_value")
            if DYNAMIC_TYPE not in (element_type, pad_value.element_type):
                conditions.of_type(pad_value.element_type, element_type, at="pad_value", of="data")
            element_type = common_type(data, pad_value)
        if not (element_type.kind != "string" or self.pad_mode == "constant"):
            raise Violation(
                at="data",
                relation="type",
                expected="a number or boolean; strings need mode constant",
                actual="string",
            )
        rank = data.rank
        if rank is None:
            return Tensor(element_type, DYNAMIC_SHAPE)
        begin, end = bounds_of(pads_begin), bounds_of(pads_end)
        for name, tensor in (("pads_begin", pads_begin), ("pads_end", pads_end)):
            if tensor.rank is not None:
                wanted = rank if begin is not None and end is not None else Between(None, rank)
                conditions.count(tensor.shape[0], wanted, at=name, of="data", given=data.shape)
        if begin is None or end is None:
            return Tensor(element_type, PartialShape.of_rank(rank))
        return Tensor(
            element_type,
            [self.padded(data.shape, axis, begin[axis], end[axis]) for axis in range(rank)],
        )

    def padded(self, shape: PartialShape, axis: int, before: Bounds, after: Bounds) -> Dimension:
        """Returns the padded dimension, given bounds of the padding before and after it."""
        dim = shape[axis]
        (begin, most_begin, _), (end, most_end, _) = before, after
        padded = begin > 0 or end > 0
        if self.pad_mode == "reflect" or (self.pad_mode != "constant" and padded):
            least = {
                "edge": 1,
                "reflect": max(0, begin, end) + 1,
                "symmetric": max(begin, end),
            }[self.pad_mode]
            dim = dim.at_least(least)
            if not (dim.is_dynamic or dim.low >= least):
                raise Violation(
                    f"dimension {axis} of `data` {shape} is {dim}, but mode {self.pad_mode} needs "
                    f"at least {with_noun(least, 'element')} for padding of {begin} and {end}",
                    at="pads_begin" if begin >= end else "pads_end",
                    expected=f"a dimension of {least} or more",
                    actual=dim,
                )
        if begin == most_begin == -end and end == most_end:
            return dim
        high = UNBOUNDED if dim.high == UNBOUNDED else max(dim.high + most_begin + most_end, 0)
        size = Dimension(max(dim.low + begin + end, 0), high)
        if before.expression or after.expression or dim.symbolic:
            from ..symbolic import padded_size

            return padded_size(dim, before, after, size)
        return size

    def check(
        self, data: Tensor, pads_begin: Tensor, pads_end: Tensor, pad_value: Tensor | None
    ) -> Iterator[Fault]:
        begin, end = pads_begin.known, pads_end.known
        if data.rank is None or begin is None or end is None:
            return
        for axis, (dim, first, last) in enumerate(zip(data.shape, begin, end, strict=True)):
            if dim.high + first + last < 0:
                yield fault(
                    f"padding of {first} and {last} removes more elements than axis {axis} of "
                    f"`data` {data.shape} has; OpenVINO accepts this",
                    at="pads_begin",
                    expected=f"at least {-dim.high} together",
                    actual=first + last,
                    rule=INPUT_VALUE,
                )

    def evaluate(
        self, data: Array, pads_begin: Array, pads_end: Array, pad_value: Array | None
    ) -> Array:
        begin, end = pads_begin.tolist(), pads_end.tolist()
        if self.pad_mode == "constant":
            filler = blank((), data.dtype) if pad_value is None else pad_value
            return padded(data, begin, end, filler)
        for axis, (size, first, last) in enumerate(zip(data.shape, begin, end, strict=True)):
            index = np.arange(max(size + first + last, 0)) - first
            data = np.take(data, self.mirrored(index, size), axis)
        return data

    def mirrored(self, index: Array, size: int) -> Array:
        """Mirrors or clips indices outside an axis, as `pad_mode` requires. Returns all indices."""
        if self.pad_mode == "reflect":
            index = np.where(index < 0, -index, index)
            index = np.where(index >= size, 2 * (size - 1) - index, index)
        elif self.pad_mode == "symmetric":
            index = np.where(index < 0, -1 - index, index)
            index = np.where(index >= size, 2 * size - 1 - index, index)
        return np.clip(index, 0, max(size - 1, 0))


class Pad_1(Pad):
    """`data` with elements added at the beginning and end of each axis."""

    since = 1


class Pad_12(Pad):
    """Like Pad-1, but a negative number removes elements."""

    since = 12
