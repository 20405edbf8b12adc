"""The types in which sums of products are computed: narrow reals as f32 and rounded once, integers
with wrap-around, through BLAS where that is exact.
"""

from __future__ import annotations

from .conversion import encoded, is_plain, plain
from .lazy import Array, np


def widened(array: Array) -> Array:
    """The same numbers in a type for sums of products: f32 or f64 for reals; for integers of up to
    16 bits f64, which is exact and fast; else their own.
    """
    numbers = plain(array)
    return (
        numbers.astype(np.float64)
        if numbers.dtype.kind in "iub" and numbers.dtype.itemsize <= 2
        else numbers
    )


def narrowed(result: Array, like: Array) -> Array:
    """Sums of products of `widened` arrays, in the type of another array; integers wrap around."""
    if result.dtype == like.dtype and is_plain(like):
        return result
    from ..numpy_types import element_type_of

    element_type = element_type_of(like)
    return encoded(
        result if element_type.is_real or result.dtype.kind != "f" else result.astype(np.int64),
        element_type,
    )
