"""Converts between element types and NumPy types, and between packed bytes and arrays.

For bf16, the f8 types, f4e2m1, i4, u4 and u2, ml_dtypes has NumPy types. For u1, u3, u6 and nf4 it
has none, so `uint8` arrays hold one byte for each element (for nf4, its code of four bits). The
dtype of such an array has metadata with the name of the element type.
"""

from __future__ import annotations

from functools import cache, reduce
from typing import Any

import numpy as np

from .element_types import ANY, ElementType, types

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any element type."""

PLAIN = types("f64 f32 f16 i64 i32 i16 i8 u64 u32 u16 u8 boolean")
"""The element types for which NumPy itself has a type, so that an .npy file can contain them."""


@cache
def dtype_of(element_type: ElementType) -> Any:
    """Returns the `np.dtype` for arrays of an element type.

    Raises `ValueError` for the dynamic type.
    """
    if element_type.is_dynamic:
        raise ValueError("the dynamic element type has no NumPy type")
    if not element_type.dtype:
        return np.dtype(np.uint8, metadata={"element_type": element_type.name})
    if element_type not in PLAIN and element_type.name != "string":
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, element_type.dtype))
    return np.dtype(element_type.dtype)


def element_type_of(array: np.ndarray[Any, Any]) -> ElementType:
    """Returns the element type of an array. Raises `ValueError` if OpenVINO has no type for it."""
    if array.dtype.metadata and "element_type" in array.dtype.metadata:
        return ElementType.of(array.dtype.metadata["element_type"])
    return _of_plain(array.dtype)


@cache
def _of_plain(dtype: Any) -> ElementType:
    """Returns the element type of an `np.dtype`, without regard to its metadata."""
    if dtype.kind in "US":
        return ElementType.of("string")
    for element_type in ANY:
        if element_type.dtype == dtype.name:
            return element_type
    raise ValueError(f"OpenVINO has no element type for {dtype}")


def unpack(
    packed: np.ndarray[Any, Any], element_type: ElementType, count: int
) -> np.ndarray[Any, Any]:
    """Returns the first `count` elements in packed bytes, as an array with one item for each."""
    name, bits = element_type.name, element_type.bits
    if bits in _HALVES:
        low, high = _HALVES[bits]
        groups = packed.reshape(-1, 3)
        codes = _split(groups[:, :2], low, True) | _split(groups[:, 2:], high, True) << low
    else:
        codes = _split(packed, bits, bits == 1)
    codes = codes[:count]
    if name == "i4":
        codes = (codes ^ 8).astype(np.int8) - 8
    if name in ("i4", "u4", "u2"):
        return codes.astype(dtype_of(element_type))
    return codes.view(dtype_of(element_type))


def pack(array: np.ndarray[Any, Any], element_type: ElementType) -> bytes:
    """Returns the bytes of an array as OpenVINO stores them. For packed types, it is the inverse of
    `unpack`."""
    bits = element_type.bits
    if bits >= 8 or not bits:
        return array.tobytes()
    flat = np.ascontiguousarray(array).ravel()
    codes: Any = (
        flat.view(np.uint8)
        if element_type.name in ("f4e2m1", "nf4", "u1", "u3", "u6")
        else flat.astype(np.int8).view(np.uint8)
    )
    codes = codes & ((1 << bits) - 1)
    per_group = 24 // bits if bits in _HALVES else 8 // bits
    padded = np.zeros(-(-codes.size // per_group) * per_group, np.uint8)
    padded[: codes.size] = codes
    if bits not in _HALVES:
        return _joined(padded, bits, bits == 1).tobytes()
    low, high = _HALVES[bits]
    halves = _joined(padded & (1 << low) - 1, low, True), _joined(padded >> low, high, True)
    return np.concatenate([halves[0].reshape(-1, 2), halves[1][:, None]], axis=1).tobytes()


_HALVES = {3: (2, 1), 6: (4, 2)}
"""For elements of 3 or 6 bits, in groups of three bytes: how many low bits of an element are in the
first two bytes, and how many high bits are in the third byte."""


def _shifts(bits: int, first_high: bool) -> list[int]:
    """Returns where each element begins in a byte, as the number of its lowest bit. first_high:
    whether the first element has the highest bits."""
    return list(range(0, 8, bits))[:: -1 if first_high else 1]


def _split(packed: Any, bits: int, first_high: bool) -> Any:
    """Splits bytes into elements of `bits` bits, with one array item for each."""
    mask = (1 << bits) - 1
    return np.stack([packed >> at & mask for at in _shifts(bits, first_high)], axis=-1).ravel()


def _joined(codes: Any, bits: int, first_high: bool) -> Any:
    """Joins elements into bytes; the inverse of `_split`."""
    groups = codes.reshape(-1, 8 // bits)
    places = enumerate(_shifts(bits, first_high))
    return reduce(np.bitwise_or, [groups[:, index] << at for index, at in places])
