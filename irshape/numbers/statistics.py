"""Statistics of tensors: the errors of a tensor relative to another, and its range."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..numpy_types import Array

F16_MAX = 65504.0
F16_TINY = 2.0**-24
"""The smallest f16 above zero, subnormals included."""

_PIECE = 1 << 20
"""How many elements are processed at once. An f64 array with this number of elements has 8 MiB."""


class Errors(NamedTuple):
    """The errors of an array relative to a reference.

    Absolute, relative and ULP errors count only elements that are finite in both arrays. They are
    None if there are no such elements, and for texts. Relative errors leave out references of 0.

    ulp: the largest error in units in the last place of the reference's element type; only for
    reals.
    cosine: the cosine of the angle between the two arrays as vectors; None if one has only zeros,
    or numbers whose squares overflow.
    nan, inf: the number of NaNs or infinities, as a pair: in the reference, in the other array.
    place: the index of the largest absolute error;
    reference, other: the two values at `place`.
    scale: the largest magnitude in the reference.
    """

    max_abs: float | None = None
    mean_abs: float | None = None
    max_rel: float | None = None
    mean_rel: float | None = None
    ulp: int | None = None
    cosine: float | None = None
    nan: tuple[int, int] = (0, 0)
    inf: tuple[int, int] = (0, 0)
    place: tuple[int, ...] | None = None
    reference: float | None = None
    other: float | None = None
    scale: float | None = None

    def extent(self, unit: str = "") -> str:
        """Returns a text such as `, by up to 0.5 at [0, 3]`: the largest absolute error, and where
        it is. Returns "" if no error could be computed."""
        much = "" if self.max_abs is None else f", by up to {self.max_abs:.4g}{unit}"
        return much + (f" at {list(self.place)}" if self.place else "")

    def to_dict(self) -> dict[str, Any]:
        """Returns the errors for JSON. NaN and infinity, which JSON does not have, become texts."""
        return {name: plain_number(value) for name, value in self._asdict().items()}


def plain_number(value: Any) -> Any:
    """Returns a value in a form that JSON has: NaN and infinity as texts, a tuple as a list."""
    return (
        str(value)
        if isinstance(value, float) and not math.isfinite(value)
        else list(value)
        if isinstance(value, tuple)
        else value
    )


def is_real(array: Array) -> bool:
    """Whether the elements are real numbers, rather than e.g. integers or strings. nf4 is not real
    here, as irshape stores it as integer codes."""
    return array.dtype.kind not in "iubOUS" and not array.dtype.name.startswith(("int", "uint"))


def errors(reference: Array, other: Array) -> Errors:
    """Returns the errors of `other` relative to `reference`, an array of the same shape."""
    if reference.dtype.kind in "OUS" or other.dtype.kind in "OUS" or not reference.size:
        return Errors()
    one, two = reference.ravel(), other.ravel()
    nan, inf = np.zeros(2, np.int64), np.zeros(2, np.int64)
    elements = nonzero = ulp = flat = 0
    sum_abs = max_rel = sum_rel = scale = 0.0
    max_abs = -math.inf
    products = np.zeros(3)
    for start in range(0, one.size, _PIECE):
        piece = one[start : start + _PIECE], two[start : start + _PIECE]
        a, b = (part.astype(np.float64) for part in piece)
        nan += np.isnan(a).sum(), np.isnan(b).sum()
        inf += np.isinf(a).sum(), np.isinf(b).sum()
        finite = np.flatnonzero(np.isfinite(a) & np.isfinite(b))
        if not finite.size:
            continue
        mine, theirs = (part[finite] for part in piece)
        a, b = a[finite], b[finite]
        apart = distance(mine, theirs)
        worst = int(np.argmax(apart))
        if apart[worst] > max_abs:
            max_abs, flat = float(apart[worst]), start + int(finite[worst])
        relative = apart[a != 0] / np.abs(a[a != 0])
        elements, nonzero = elements + finite.size, nonzero + relative.size
        sum_abs, sum_rel = sum_abs + float(apart.sum()), sum_rel + float(relative.sum())
        max_rel = max(max_rel, float(relative.max(initial=0.0)))
        scale = max(scale, float(np.max(np.abs(a))))
        if is_real(reference):
            gap = np.abs(ordinals(mine) - ordinals(theirs.astype(mine.dtype)))
            ulp = max(ulp, int(np.max(gap)))
        products += np.dot(a, b), np.dot(a, a), np.dot(b, b)
    counted = Errors(nan=(int(nan[0]), int(nan[1])), inf=(int(inf[0]), int(inf[1])))
    if not elements:
        return counted
    lengths = math.sqrt(products[1]) * math.sqrt(products[2])
    return counted._replace(
        max_abs=max_abs,
        mean_abs=sum_abs / elements,
        max_rel=max_rel if nonzero else None,
        mean_rel=sum_rel / nonzero if nonzero else None,
        ulp=ulp if is_real(reference) else None,
        cosine=min(1.0, max(-1.0, products[0] / lengths)) if 0 < lengths < math.inf else None,
        place=tuple(int(index) for index in np.unravel_index(flat, reference.shape)),
        reference=float(one[flat]),
        other=float(two[flat]),
        scale=scale,
    )


def distance(one: Array, other: Array) -> Array:
    """Returns the absolute difference of each pair of elements; exact also for 64-bit integers."""
    if one.dtype == other.dtype and one.dtype.kind in "iu" and one.dtype.itemsize == 8:
        highest, lowest = np.maximum(one, other), np.minimum(one, other)
        return (highest.astype(np.uint64) - lowest.astype(np.uint64)).astype(np.float64)
    return np.abs(one.astype(np.float64) - other.astype(np.float64))


def ordinals(array: Array) -> Array:
    """Numbers the values of a floating-point type in ascending order. Returns each element's
    number."""
    size = array.dtype.itemsize
    if size > 8 or array.dtype.kind == "c":
        return array.astype(np.int64)
    bits = np.ascontiguousarray(array).view(f"i{size}").astype(np.int64)
    lowest = -(1 << (8 * size - 1))
    return np.where(bits < 0, lowest - bits, bits)


class Values(NamedTuple):
    """The range of a tensor.

    lowest, highest, mean: of the finite elements; None if there are none. subnormals: how many are
    subnormal in their own type. beyond_f16: how many finite ones are beyond the range of f16.
    lost_in_f16: how many other than 0 become 0 in f16. These three are 0 for integers.
    """

    elements: int
    lowest: float | None
    highest: float | None
    mean: float | None
    nan: int
    inf: int
    zeros: int
    subnormals: int
    beyond_f16: int
    lost_in_f16: int

    def to_dict(self) -> dict[str, Any]:
        return {name: plain_number(value) for name, value in self._asdict().items()}


def values(array: Array) -> Values | None:
    """Returns the range of an array; None for strings."""
    if array.dtype.kind in "OUS":
        return None
    if array.size <= _PIECE:
        return _values(array)
    flags: Any = ["external_loop", "buffered"]
    pieces: Any = np.nditer(array, flags, order="K", buffersize=_PIECE)
    return reduce(merged, map(_values, pieces))


def _values(array: Array) -> Values:
    real = is_real(array)
    wide = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    nan = inf = subnormals = beyond = lost = 0
    finite = wide
    if real:
        bounded = np.isfinite(wide)
        if not bounded.all():
            nan = int(np.isnan(wide).sum())
            inf = wide.size - nan - int(bounded.sum())
            finite = wide[bounded]
        size = np.abs(finite)
        tiny = smallest_normal(array)
        subnormals = int(((size > 0) & (size < tiny)).sum()) if tiny else 0
        beyond = int((size >= F16_MAX + 16).sum())
        lost = int(((size > 0) & (size <= F16_TINY / 2)).sum())
    zeros = int((finite == 0).sum())
    if not finite.size:
        return Values(array.size, None, None, None, nan, inf, zeros, subnormals, beyond, lost)
    return Values(
        array.size,
        float(finite.min()),
        float(finite.max()),
        float(finite.mean(dtype=np.float64)),
        nan,
        inf,
        zeros,
        subnormals,
        beyond,
        lost,
    )


def merged(first: Values, second: Values) -> Values:
    """Returns the range of two arrays together, from the range of each."""
    counts = [part.elements - part.nan - part.inf for part in (first, second)]
    total = (first.mean or 0.0) * counts[0] + (second.mean or 0.0) * counts[1]
    parts = (first, second)
    return Values(
        first.elements + second.elements,
        min((part.lowest for part in parts if part.lowest is not None), default=None),
        max((part.highest for part in parts if part.highest is not None), default=None),
        total / sum(counts) if any(counts) else None,
        *(a + b for a, b in zip(first[4:], second[4:], strict=True)),
    )


def smallest_normal(array: Array) -> float:
    """Returns the smallest normal number of an array's real type; 0 if the type has none."""
    import ml_dtypes

    limits: Any = ml_dtypes.finfo
    try:
        return float(limits(array.dtype).smallest_normal)
    except (ValueError, TypeError, KeyError):
        return 0.0


def range_of(array: Array) -> str:
    """Returns the shape and the range of an array as one line of text."""
    if array.dtype.kind in "OUS" or not array.size:
        return f"{list(array.shape)}"
    held = values(array)
    assert held is not None
    odd = "".join(
        f", {count} {word}" for word, count in (("NaN", held.nan), ("inf", held.inf)) if count
    )
    return (
        f"{list(array.shape)}{odd}"
        if held.lowest is None
        else f"{list(array.shape)} {held.lowest:.6g} to {held.highest:.6g}{odd}"
    )
