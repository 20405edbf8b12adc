"""Tolerances for the comparison of two tensors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Literal, NamedTuple

import numpy as np

from ..numpy_types import Array, element_type_of
from ..spelling import counted, first_of
from .statistics import Errors, distance, is_real

Hint = Literal["f32", "f16", "bf16"]
"""A precision that is requested from a device, or that a device reports."""

TOLERANCE: dict[str, tuple[float, float]] = {
    "f64": (1e-4, 1e-5),
    "f32": (1e-4, 1e-5),
    "f16": (1e-2, 2e-3),
    "bf16": (4e-2, 1e-2),
}
"""For each element type: the relative tolerance, and the absolute tolerance as a fraction of the
tensor's largest magnitude. f64 is compared as f32, since devices compute it in f32."""

COMPUTED: dict[str, tuple[float, float]] = {"f16": (1e-2, 1e-2), "bf16": (4e-2, 4e-2)}
"""`TOLERANCE` for tensors that were computed in a lower precision than their element type, so that
the terms of sums were rounded, too."""

FLOOR = 1e-6
"""An addition to the absolute tolerance of every element, for rounding errors around zero."""

NO_SCALE = 1e30
"""Finite numbers of at least this magnitude (f16: 60,000) are treated like infinity, e.g. those in
attention masks: they do not count as the largest magnitude of a tensor."""


def checked(**tolerances: float | None) -> None:
    """Raises `ValueError` for a tolerance that is not a finite number of 0 or more."""
    for name, given in tolerances.items():
        if given is not None and not (isinstance(given, Real) and 0 <= given < math.inf):
            raise ValueError(f"{name}: expected a finite number of 0 or more, got {given!r}")


def coarsest(types: Iterable[Hint]) -> Hint:
    """Returns the least precise of some element types; f32 if there are none."""
    return max(types, key=TOLERANCE.__getitem__, default="f32")


class Tolerance(NamedTuple):
    """The tolerance for a device's tensors.

    rtol, atol: the user's tolerances, which replace the tolerances of the element type. precision:
    the precision in which the device computes. rounded: the least precise element type among the
    tensors from which the device computes the compared tensors.
    """

    rtol: float | None
    atol: float | None
    precision: Hint
    rounded: Hint = "f32"

    def difference(self, mine: Array, theirs: Array) -> tuple[float | None, float | None, bool]:
        return difference(mine, theirs, self.rtol, self.atol, self.precision, rounded=self.rounded)

    def alike(self, mine: Array, theirs: Array) -> bool:
        return self.difference(mine, theirs)[2]


def difference(
    mine: Array,
    theirs: Array,
    rtol: float | None = None,
    atol: float | None = None,
    kind: str | None = None,
    coarse: tuple[float, float] | None = None,
    rounded: Hint = "f32",
    exact: bool = False,
) -> tuple[float | None, float | None, bool]:
    """Compares two tensors of equal shape. NaN equals NaN. Only real numbers have a tolerance.

    kind: the element type in which the tensors were computed, if less precise than their own.
    coarse: replaces the entry of `TOLERANCE` for their element type. rounded: the least precise
    element type among the tensors from which they are computed. exact: whether the same program
    computed both; then `FLOOR` is limited to a tenth of the largest magnitude.
    Returns three values: the error of the element that exceeds its tolerance most, or the largest
    error if none does; the tolerance of this element; whether all are within their tolerance.
    """
    if mine.dtype.kind == "O" or theirs.dtype.kind == "O":
        return None, None, bool(np.array_equal(mine, theirs))
    if not is_real(mine):
        same = (
            np.asarray(mine).astype(object) == np.asarray(theirs).astype(object)
            if mine.dtype.itemsize == 8
            else mine == theirs
        )
        if bool(np.all(same)):
            return 0.0, 0.0, True
        return float(np.max(distance(mine, theirs))), 0.0, False
    name = element_type_of(mine).name
    a, b = mine.astype(np.float64), theirs.astype(np.float64)
    relative, part = coarse or TOLERANCE.get(name, (0.3, 0.1))
    if rounded != "f32" and TOLERANCE[rounded][0] > relative:
        relative, part = TOLERANCE[rounded]
    if kind in COMPUTED and COMPUTED[kind][0] >= relative:
        relative, part = COMPUTED[kind]
    finite = np.isfinite(a) & np.isfinite(b)
    size = np.abs(a)
    no_scale = 60_000 if "f16" in (name, rounded) else NO_SCALE
    scale = float(np.max(size, where=finite & (size < no_scale), initial=0.0))
    floor = _floor(scale, exact=exact)
    bound = (relative if rtol is None else rtol) * size + (
        part * scale + floor if atol is None else atol
    )
    with np.errstate(all="ignore"):
        error = np.where(finite, np.abs(a - b), 0.0)
        alike = (a == b) | (np.isnan(a) & np.isnan(b)) | (finite & (error <= bound))
    if not error.size:
        return 0.0, 0.0, True
    same = bool(np.all(alike))
    with np.errstate(all="ignore"):
        worst = int(
            np.argmax(
                error if same or not finite.any() else np.where(finite & ~alike, error / bound, 0.0)
            )
        )
    return float(error.flat[worst]), float(np.where(finite, bound, 0.0).flat[worst]), same


def _floor(scale: float, *, exact: bool) -> float:
    return min(FLOOR, scale / 10) if exact else FLOOR


def doubtful(
    compared: Iterable[tuple[str, Errors, float]], atol: float | None, *, exact: bool = False
) -> list[str]:
    """Returns notes on equal tensors whose comparison proves little: they have no elements, or
    their numbers are so small that `FLOOR`, the least tolerance, makes them equal. compared: the
    names and errors of equal numeric tensors, and the tolerances at the largest errors. exact:
    whether the same program computed both tensors."""
    empty, small, share = [], [], 0.0
    for name, errors, allowed in compared:
        scale, error = errors.scale or 0.0, errors.max_abs or 0.0
        floor = _floor(scale, exact=exact)
        if errors == Errors():
            empty.append(f"'{name}'")
        elif atol is None and error > max(allowed - floor, 0) and floor > allowed / 2:
            small.append(f"'{name}'")
            share = max(share, error / scale if scale else 1.0)
    size = f"up to {share:.2g} × the largest value" if share < 0.99 else "as large as the values"
    texts = (
        f" so close to 0 that the absolute tolerance {FLOOR:g} makes them equal, with errors "
        f"{size}; --atol 0 compares relative errors only",
        " without elements in this run",
    )
    return [
        f"{counted(len(names), 'tensor')}{text}: {first_of(names, 5)}"
        for text, names in zip(texts, (small, empty), strict=True)
        if names
    ]
