"""Element types for sums of products.

Sums of f16, bf16 and f8 are computed in f32 and rounded once. Sums of integers wrap around; BLAS
computes them in f64 if this is exact.
"""

from __future__ import annotations

from .conversion import encoded, is_plain, plain
from .lazy import Array, element_type_of, np


def widened(array: Array) -> Array:
    """Returns an array in the type in which sums of products are computed.

    Floating-point types become f32 or f64. Integers of up to 16 bits become f64, which is exact and
    fast. Integers of more bits keep their type.
    """
    numbers = plain(array)
    return (
        numbers.astype(np.float64)
        if numbers.dtype.kind in "iub" and numbers.dtype.itemsize <= 2
        else numbers
    )


def narrowed(result: Array, like: Array) -> Array:
    """Returns sums of products of `widened` arrays, converted to the element type of `like`."""
    if result.dtype == like.dtype and is_plain(like):
        return result
    element_type = element_type_of(like)
    return encoded(
        result if element_type.is_real or result.dtype.kind != "f" else result.astype(np.int64),
        element_type,
    )
