"""Dimensions and partial shapes: immutable, hashable, and written as OpenVINO writes them.

A `Dimension` is an interval of sizes, `[low, high]`. `UNBOUNDED`, the largest int64, stands for a
missing upper bound; arithmetic saturates there. A `PartialShape` is a tuple of dimensions, or has a
dynamic rank. The rules are those of OpenVINO's `Dimension`, `Interval` and `PartialShape`, 2026.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from operator import index
from typing import Any, ClassVar, Final, Union, overload

from .demands import note

BLANKS: Final = " \t\n\r\v\f"
"""The characters that OpenVINO skips around a number. `str.strip` alone would skip all Unicode
spaces."""
UNBOUNDED: Final = 2**63 - 1
"""The `high` of a dimension without upper bound. Arithmetic on bounds never exceeds it."""

INT64_MIN: Final = -(2**63)


def _up(number: int) -> int:
    return number if number < UNBOUNDED else UNBOUNDED


class Dimension:
    """The size of one axis as an interval `[low, high]`. It is static if both are equal.

    Operators follow OpenVINO's interval arithmetic: bounds saturate at `UNBOUNDED`, and a
    difference is never negative. A subclass also has an expression such as `past + seq`.
    """

    __slots__ = ("high", "low")

    low: int
    high: int
    symbolic: ClassVar[bool] = False
    """Whether the dimension has an expression. In an operation on two dimensions, the method of one
    with an expression computes the result."""
    expression: Any
    """The expression of a dimension that has one, e.g. `past + seq`."""

    def __init__(self, low: int, high: int | None = None) -> None:
        if high is None:
            high = low
        self.low = low if low < UNBOUNDED else UNBOUNDED
        self.high = high if high < UNBOUNDED else UNBOUNDED
        if low < 0 or self.high < self.low:
            raise ValueError(f"no dimension has the bounds {low}..{high}")

    @staticmethod
    def of(size: DimensionLike) -> Dimension:
        """Converts a size (-1 and None mean `?`), a pair `(low, high)` or a text to a dimension."""
        if isinstance(size, Dimension):
            return size
        if size.__class__ is int:
            return _SIZES[size]
        if isinstance(size, str):
            return parse_dimension(size)
        if size is None:
            return _SIZES[-1]
        if isinstance(size, (tuple, list)) and len(size) == 2:
            low, high = size
            return Dimension(int(low), int(high) if high is not None and high >= 0 else UNBOUNDED)
        if hasattr(size, "__index__") and not isinstance(size, bool):
            return _SIZES[int(index(size))]  # an integer of NumPy
        raise TypeError(
            f"{size!r} is not a dimension: expected a size such as 3, a pair such as (1, 10), "
            "or '?'"
        )

    @property
    def is_static(self) -> bool:
        """Whether the dimension allows exactly one size."""
        return self.low == self.high

    @property
    def is_dynamic(self) -> bool:
        """Whether the dimension allows more than one size."""
        return self.low != self.high

    @property
    def is_unbounded(self) -> bool:
        """Whether the dimension allows every size: `?`."""
        return self.low == 0 and self.high == UNBOUNDED

    def contains(self, size: int) -> bool:
        """Whether the dimension allows a size."""
        return self.low <= size <= self.high

    def encloses(self, other: Dimension) -> bool:
        """Whether this dimension allows every size that `other` allows."""
        return self.low <= other.low and other.high <= self.high

    def merge(self, other: Dimension) -> Dimension | None:
        """Returns the dimension of all sizes that both dimensions allow; None if there are none."""
        if self is other:
            return self
        if other.symbolic and not self.symbolic:
            return other.merge(self)
        low = self.low if self.low > other.low else other.low
        high = self.high if self.high < other.high else other.high
        if self.low == self.high and other.low != other.high:
            note("equal", self.low)
        elif self.low != self.high and other.low == other.high:
            note("equal", other.low)
        return Dimension(low, high) if low <= high else None

    def compatible(self, other: Dimension) -> bool:
        """Whether a size exists that both dimensions allow."""
        return self.low <= other.high and other.low <= self.high

    def agrees(self, other: Dimension) -> bool:
        """Does what `compatible` does, and records that the layer needs both sizes to be equal."""
        return self.merge(other) is not None

    def broadcast(self, other: Dimension) -> Dimension | None:
        """Returns the result of broadcasting both dimensions as NumPy does; None if it fails."""
        if other.symbolic and not self.symbolic:
            return other.broadcast(self)
        if self.low == self.high and other.low == other.high:
            if self.low == 1:
                return other
            return self if other.low in (1, self.low) else None
        here, there = self.contains(1), other.contains(1)
        if here and there:
            return Dimension.union(self, other)
        if not here and not there:
            return self.merge(other)
        flexible, result = (self, other) if here else (other, self)
        if flexible.low != flexible.high and result.low == result.high:
            note("one or", result.low)
        return result

    def at_least(self, other: Dimension | int) -> Dimension:
        """Returns this dimension, and records that the layer needs it to be at least `other`."""
        if self.low != self.high:
            note("at least", other if isinstance(other, int) else other.low)
        return self

    def one_or(self, size: int) -> None:
        """Records that the layer needs this dimension to be 1 or `size`."""
        if self.low != self.high:
            note("one or" if self.contains(1) else "equal", size)

    def multiple_of(self, divisor: int) -> Dimension:
        """Returns this dimension, and records that the layer needs it to be a multiple of
        `divisor`."""
        if self.low != self.high:
            note("multiple", divisor)
        return self

    def followed(self, interval: Dimension, rule: Callable[[Any], Any]) -> Dimension:
        """Returns `interval`, the result of an operation on this dimension.

        `rule` computes the expression of the result from the expression of this dimension, if any.
        """
        return interval

    def union(self, other: Dimension) -> Dimension:
        """Returns the smallest interval that contains all sizes of both dimensions."""
        return Dimension(min(self.low, other.low), max(self.high, other.high))

    def __add__(self, other: Dimension | int) -> Dimension:
        low, high = (other, other) if isinstance(other, int) else (other.low, other.high)
        if low == high and self.low == self.high < UNBOUNDED:
            return _SIZES[max(self.low + low, 0)]
        if self.high == UNBOUNDED or high == UNBOUNDED:
            return Dimension(max(_up(self.low + low), 0), UNBOUNDED)
        return Dimension(_up(max(self.low + low, 0)), max(self.high + high, 0))

    __radd__ = __add__

    def __sub__(self, other: Dimension | int) -> Dimension:
        low, high = (other, other) if isinstance(other, int) else (other.low, other.high)
        least = max(self.low - high, 0) if high != UNBOUNDED else 0
        return Dimension(least, UNBOUNDED if self.high == UNBOUNDED else max(self.high - low, 0))

    def __mul__(self, other: Dimension | int) -> Dimension:
        low, high = (other, other) if isinstance(other, int) else (other.low, other.high)
        most = 0 if self.high == 0 or high == 0 else _up(self.high * high)
        return Dimension(_up(self.low * low), most)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Dimension:
        """Returns the dimension of `n // divisor` for all `n` in this dimension."""
        high = UNBOUNDED if self.high == UNBOUNDED else self.high // divisor
        return Dimension(self.low // divisor, high)

    def ceil_div(self, divisor: int) -> Dimension:
        """Returns the dimension of `n / divisor`, rounded up, for all `n` in this dimension."""
        high = UNBOUNDED if self.high == UNBOUNDED else -(-self.high // divisor)
        return Dimension(-(-self.low // divisor), high)

    def divided(self, divisor: int) -> Dimension | None:
        """Returns the dimension of all `n` for which this dimension allows `n * divisor`; None if
        it allows none. This is OpenVINO's `Dimension / int`."""
        if self.low != self.high:
            note("multiple", divisor)
        if self.is_unbounded:
            return self
        low = -(-self.low // divisor)
        high = (
            int(UNBOUNDED / divisor) if self.high == UNBOUNDED else self.high // divisor
        )  # OpenVINO also divides a missing bound, as a double
        return Dimension(low, high) if low <= high else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dimension):
            return self.low == other.low and self.high == other.high
        if isinstance(other, int):
            return self.low == other == self.high
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.low, self.high)) if self.low != self.high else hash(self.low)

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        if self.low == 0 and self.high == UNBOUNDED:
            return "?"
        return f"{self.low or ''}..{'' if self.high == UNBOUNDED else self.high}"

    def __repr__(self) -> str:
        return f"Dimension({self})"


DimensionLike = Union[int, str, tuple[int, int | None], Dimension]
_FEW_SIZES: Final = 1 << 16
DYNAMIC: Final = Dimension(0, UNBOUNDED)


class _Sizes(dict[int, Dimension]):
    """A cache that maps a written size (-1 for `?`) to its dimension. It keeps only small sizes,
    which occur often."""

    def __missing__(self, size: int) -> Dimension:
        known = Dimension(size)
        if size < _FEW_SIZES:
            self[int(size)] = known
        return known


_SIZES: Final = _Sizes({-1: DYNAMIC})
ONE: Final = Dimension(1)

_SIZES_IN_TEXT = re.compile(r"(?P<size>[0-9]+)|(?P<low>[0-9]*)\.\.(?P<high>[0-9]*)")


def bare(text: str) -> str:
    """Returns the text of a shape without brackets around it: `1,3` for `[1,3]`."""
    inner = text.strip(BLANKS)
    bracketed = inner.startswith("[") and inner.endswith("]")
    return inner[1:-1].strip(BLANKS) if bracketed else inner


def parse_dimension(text: str) -> Dimension:
    """Returns a dimension from its text in the `shape` of a Parameter: `3`, `?`, `-1`, `1..10`,
    `2..`, `..5`.

    Raises `ValueError` also for an empty interval (`4..2`), which OpenVINO 2026.4 reads as `?`, and
    for a bound that exceeds int64, which OpenVINO reads as 0.
    """
    text = text.strip(BLANKS)
    if text in ("?", "-1"):
        return DYNAMIC
    match = _SIZES_IN_TEXT.fullmatch(text)
    if match is None:
        raise ValueError(
            f"'{text}' is not a dimension: expected a size such as 3, a range such as 1..10, 2.. "
            "or ..5, or ?"
        )
    most = UNBOUNDED - 1 if match["size"] else UNBOUNDED  # OpenVINO reads the last one as `?`
    if any(len(number) > 20 or int(number) > most for number in match.groups() if number):
        raise ValueError(f"'{text}' is not a dimension: it does not fit in 64 bits")
    if match["size"]:
        return Dimension(int(match["size"]))
    low, high = int(match["low"] or 0), int(match["high"] or UNBOUNDED)
    if low > high:
        raise ValueError(f"'{text}' is not a dimension: its lower bound is above its upper bound")
    return Dimension(low, high)


_FEW_AXES: Final = 16


def merged_dims(dims: Sequence[Dimension], others: Sequence[Dimension]) -> list[Dimension] | None:
    """Returns the intersection of two lists of dimensions, axis by axis; None if no size of an axis
    fits both, or if the ranks differ."""
    if len(dims) != len(others):
        return None
    merged: list[Dimension] = []
    for one, other in zip(dims, others, strict=True):
        dim = one.merge(other)
        if dim is None:
            return None
        merged.append(dim)
    return merged


class PartialShape:
    """The shape of a tensor: a dimension for each axis. `dims` is None for a dynamic rank."""

    __slots__ = ("_size", "declared", "dims", "rank")

    dims: tuple[Dimension, ...] | None
    declared: tuple[int, ...]
    """The shape as a port writes it: -1 for a dynamic dimension; empty for a dynamic rank."""
    rank: int | None
    """The number of dimensions; None for a dynamic rank."""
    _size: Dimension

    def __init__(self, dims: Iterable[DimensionLike] | None) -> None:
        if isinstance(dims, str):
            dims = PartialShape.parse(dims).dims
        if dims is None:
            self.dims, self.declared, self.rank = None, (), None
            return
        self.dims = own = tuple(map(Dimension.of, dims))
        self.declared = tuple([dim.low if dim.low == dim.high else -1 for dim in own])
        self.rank = len(own)

    @staticmethod
    def parse(text: str) -> PartialShape:
        """Returns a shape from the text in the `shape` of a Parameter: `1..10,3,?` or `[2,3]`.

        `...` means a dynamic rank, an empty text a scalar. Raises `ValueError`.
        """
        inner = bare(text)
        if inner == "...":
            return DYNAMIC_SHAPE
        if not inner:
            return SCALAR
        return PartialShape([parse_dimension(part) for part in inner.split(",")])

    @staticmethod
    def of(shape: ShapeLike) -> PartialShape:
        """Converts a text or a sequence of dimensions to a shape. None means a dynamic rank."""
        if isinstance(shape, PartialShape):
            return shape
        if shape is not None and (
            isinstance(shape, (bytes, dict, set)) or not hasattr(shape, "__iter__")
        ):
            raise TypeError(f"{shape!r} is not a shape: expected a list of sizes, or '[1,3,?]'")
        return PartialShape.parse(shape) if isinstance(shape, str) else PartialShape(shape)

    @staticmethod
    def of_rank(rank: int | None) -> PartialShape:
        """Returns a shape with this number of dimensions, all dynamic. None is a dynamic rank."""
        return DYNAMIC_SHAPE if rank is None else PartialShape((DYNAMIC,) * rank)

    @property
    def is_static(self) -> bool:
        """Whether the rank and every size are known."""
        return self.rank is not None and -1 not in self.declared

    @property
    def static(self) -> tuple[int, ...] | None:
        """The sizes of a static shape; None for a dynamic one."""
        return None if self.rank is None or -1 in self.declared else self.declared

    @property
    def size(self) -> Dimension:
        """The number of elements, as a dimension."""
        try:
            return self._size
        except AttributeError:
            if self.rank is not None and self.rank <= _FEW_AXES and -1 not in self.declared:
                total = _SIZES[min(prod(self.declared), UNBOUNDED)]
            else:
                dims = self.dims
                total = ONE if dims is not None else DYNAMIC
                for dim in dims or ():
                    total = total * dim
            if not total.symbolic:
                self._size = total
            return total

    @property
    def text(self) -> str:
        """The shape as the text of the attribute `shape` of a Parameter; see `parse`."""
        return str(self)[1:-1]

    @overload
    def __getitem__(self, index: int) -> Dimension: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Dimension, ...]: ...
    def __getitem__(self, index: int | slice) -> Dimension | tuple[Dimension, ...]:
        if self.dims is None:
            raise IndexError("a shape of dynamic rank has no known dimensions")
        return self.dims[index]

    def __len__(self) -> int:
        """Returns the rank. Raises `TypeError` if it is dynamic."""
        if self.rank is None:
            raise TypeError("a shape of dynamic rank has no length")
        return self.rank

    def __iter__(self) -> Iterator[Dimension]:
        if self.dims is None:
            raise TypeError("a shape of dynamic rank has no dimensions")
        return iter(self.dims)

    def merge(self, other: PartialShape) -> PartialShape | None:
        """Returns a shape with the sizes that both shapes allow; None if there are none."""
        if self.rank is None or self is other:
            return other
        if other.rank is None or (self.declared == other.declared and -1 not in self.declared):
            return self
        assert self.dims is not None
        assert other.dims is not None
        dims = merged_dims(self.dims, other.dims)
        return None if dims is None else PartialShape(dims)

    def compatible(self, other: PartialShape) -> bool:
        """Whether a static shape exists that both shapes allow."""
        if self.dims is None or other.dims is None:
            return True
        return len(self.dims) == len(other.dims) and all(
            a.compatible(b) for a, b in zip(self.dims, other.dims, strict=True)
        )

    def agrees(self, other: PartialShape) -> bool:
        """Does what `compatible` does, and records that the layer needs both shapes to be equal."""
        return self.merge(other) is not None

    def encloses(self, other: PartialShape) -> bool:
        """Whether this shape allows every shape that `other` allows."""
        if self.dims is None:
            return True
        if other.dims is None or len(self.dims) != len(other.dims):
            return False
        return all(a.encloses(b) for a, b in zip(self.dims, other.dims, strict=True))

    def broadcast(self, other: PartialShape) -> PartialShape | None:
        """Returns the result of broadcasting both shapes as NumPy does; None if it fails."""
        if self.rank is None or other.rank is None:
            return DYNAMIC_SHAPE
        if self.declared == other.declared and -1 not in self.declared:
            return self
        assert self.dims is not None
        assert other.dims is not None
        more = len(self.dims) - len(other.dims)
        ours, theirs = (ONE,) * -more + self.dims, (ONE,) * more + other.dims
        dims: list[Dimension] = []
        for here, there in zip(ours, theirs, strict=True):
            dim = here.broadcast(there)
            if dim is None:
                return None
            dims.append(dim)
        return PartialShape(dims)

    def union(self, other: PartialShape) -> PartialShape:
        """Returns the smallest shape that encloses both shapes; of dynamic rank if ranks differ."""
        if self.dims is None or other.dims is None or len(self.dims) != len(other.dims):
            return DYNAMIC_SHAPE
        return PartialShape([a.union(b) for a, b in zip(self.dims, other.dims, strict=True)])

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, PartialShape)
            and self.declared == other.declared
            and self.rank == other.rank
            and (-1 not in self.declared or self.dims == other.dims)
        )

    def __hash__(self) -> int:
        return hash(self.dims if -1 in self.declared else self.declared)

    def __str__(self) -> str:
        return "[...]" if self.dims is None else "[" + ",".join(map(str, self.dims)) + "]"

    def __repr__(self) -> str:
        return f"PartialShape({self})"

    def __reduce__(self) -> tuple[object, ...]:
        return (PartialShape.parse, (str(self),))


ShapeLike = Union[PartialShape, str, Iterable[DimensionLike], None]
"""What can be given as a shape: a text such as `[1,?,3..]`, dimensions, or None for any rank."""

DYNAMIC_SHAPE: Final = PartialShape(None)
SCALAR: Final = PartialShape(())
