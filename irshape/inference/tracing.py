"""Dimensions that write down what a layer demands of them.

An operation says what it demands where it infers: `merge`, `broadcast`, `agrees`, `at_least`,
`one_or`, `multiple_of`. So there is no list of demands beside the declarations.
"""

from __future__ import annotations

from typing import ClassVar

from ..demands import solved
from ..shapes import Dimension


class TracedDemands:
    """What is demanded of some sizes, each given by its index."""

    def __init__(self) -> None:
        self.numbers: list[tuple[int, str, int]] = []
        """The size, and what is demanded of it: see `Demand`."""
        self.equal: list[tuple[int, int, int]] = []
        """The first size has to be the second and a number."""


class TracedDimension(Dimension):
    """A dynamic dimension that writes down what is demanded of it."""

    __slots__ = ("demands", "index", "offset", "scale")

    leads: ClassVar[bool] = True

    def __init__(
        self, demands: TracedDemands, index: int, scale: int, offset: int, interval: Dimension
    ) -> None:
        self.low, self.high = interval.low, interval.high
        self.demands = demands
        self.index = index
        self.scale = scale
        self.offset = offset

    @property
    def form(self) -> tuple[int, int, int]:
        """What it is: `scale * size + offset`."""
        return self.index, self.scale, self.offset

    def _demand(self, relation: str, number: int) -> None:
        demand = solved(relation, number, self.scale, self.offset)
        if demand is not None:
            self.demands.numbers.append((self.index, *demand))

    def _within(self, interval: Dimension) -> Dimension:
        if interval.low == interval.high:
            return interval
        return TracedDimension(self.demands, self.index, self.scale, self.offset, interval)

    def agrees(self, other: Dimension) -> bool:
        if isinstance(other, TracedDimension):
            if self.scale == other.scale and self.form != other.form:
                more = other.offset - self.offset
                if more % self.scale == 0:
                    self.demands.equal.append((self.index, other.index, more // self.scale))
        elif other.is_static:
            self._demand("==", other.low)
        return self.compatible(other)

    def merge(self, other: Dimension) -> Dimension | None:
        if self is other:
            return self
        interval = Dimension.merge(self, other)
        if interval is None:
            return None
        self.agrees(other)
        return self._within(interval)

    def broadcast(self, other: Dimension) -> Dimension | None:
        if other.is_static and other.low != 1 and self.contains(1):
            self.one_or(other.low)
        elif isinstance(other, TracedDimension) and self.form == other.form:
            return self
        return Dimension.broadcast(self, other)

    def at_least(self, other: Dimension | int) -> Dimension:
        least = other if isinstance(other, int) else other.low
        if least > self.low:
            self._demand(">=", least)
        return self

    def one_or(self, size: int) -> None:
        self._demand("1|", size)

    def multiple_of(self, divisor: int) -> Dimension:
        if divisor > 1:
            self._demand("%", divisor)
        return self

    def divided(self, divisor: int) -> Dimension | None:
        self.multiple_of(divisor)
        return Dimension(self.low, self.high).divided(divisor)

    def __add__(self, other: Dimension | int) -> Dimension:
        return self._moved(1, _number(other), Dimension.__add__(self, other))

    __radd__ = __add__

    def __sub__(self, other: Dimension | int) -> Dimension:
        number = _number(other)
        moved = None if number is None or self.low < number else -number
        return self._moved(1, moved, Dimension.__sub__(self, other))

    def __mul__(self, other: Dimension | int) -> Dimension:
        factor = _number(other)
        return self._moved(factor, 0, Dimension.__mul__(self, other))

    __rmul__ = __mul__

    def _moved(self, factor: int | None, offset: int | None, interval: Dimension) -> Dimension:
        if not factor or offset is None or interval.is_static:
            return interval
        if factor == 1 and not offset:
            return self
        return TracedDimension(
            self.demands, self.index, self.scale * factor, self.offset * factor + offset, interval
        )

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, TracedDimension)
            and self.form == other.form
            and self.low == other.low
            and self.high == other.high
        )

    def __hash__(self) -> int:
        return hash((self.low, self.high))


def _number(size: Dimension | int) -> int | None:
    if isinstance(size, int):
        return size
    return size.low if size.is_static else None
