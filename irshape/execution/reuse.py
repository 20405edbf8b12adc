"""Finds inputs whose memory a layer can reuse for its result."""

from __future__ import annotations

import sys

import numpy as np

from ..numpy_types import Array
from ..ops.blockwise import is_dense

_REUSED_FROM = 1 << 16
"""Smallest size in bytes: for smaller arrays, the search costs more than a new array."""


def _holders(arrays: tuple[Array, ...]) -> list[int]:
    """Returns the number of references to each array, plus those to its base if it is a view."""
    if not hasattr(sys, "getrefcount"):
        return [0] * len(arrays)
    return [
        sys.getrefcount(array) + (0 if array.base is None else sys.getrefcount(array.base))
        for array in arrays
    ]


_ALONE, _ALONE_RESHAPED = _holders((np.empty(1), np.empty(1).reshape(1, 1)))
"""The count of `_holders` for arrays to which only their tuple refers."""


def spare(inputs: tuple[Array, ...]) -> Array | None:
    """Returns an input that an elementwise result may overwrite; None if none fits.

    It has the shape of the result, and nothing else refers to it: no view, state or caller.
    """
    if not any(array.nbytes >= _REUSED_FROM for array in inputs):
        return None
    for array, holders in zip(inputs, _holders(inputs), strict=True):
        owner = array if array.base is None else array.base
        if (
            holders != (_ALONE if owner is array else _ALONE_RESHAPED)
            or array.nbytes < _REUSED_FROM
            or not array.flags.writeable
            or array.dtype.char not in "fd"
        ):
            continue
        if (
            not isinstance(owner, np.ndarray)
            or not owner.flags.owndata
            or owner.size != array.size
            or not is_dense(array)
        ):
            continue
        if all(
            other.dtype == array.dtype
            and other.ndim <= array.ndim
            and all(
                size in (1, whole)
                for size, whole in zip(reversed(other.shape), reversed(array.shape), strict=False)
            )
            for other in inputs
        ):
            return array
    return None
