"""The NumPy types of element types, and the conversion between packed bytes and arrays.

bf16, the f8 types, f4e2m1, i4, u4 and u2 are types of ml_dtypes. ml_dtypes has no types for u1, u3,
u6 and nf4. Their elements take a byte each (for nf4, its code of four bits) in a `uint8` array. The
dtype of the array carries the name of the type as metadata, from which `element_type_of` reads it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .element_types import ElementType

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any element type."""

_PLAIN = {
    "f64": "f8",
    "f32": "f4",
    "f16": "f2",
    "i64": "i8",
    "i32": "i4",
    "i16": "i2",
    "i8": "i1",
    "u64": "u8",
    "u32": "u4",
    "u16": "u2",
    "u8": "u1",
    "boolean": "?",
    "string": "O",
}
PLAIN = _PLAIN.keys() - {"string"}
"""The element types for which NumPy has a type of its own, which an .npy can hold."""
_ML = {
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0fnu",
    "f4e2m1": "float4_e2m1fn",
    "i4": "int4",
    "u4": "uint4",
    "u2": "uint2",
}


@cache
def dtype_of(element_type: ElementType) -> Any:
    """Returns the NumPy type (an `np.dtype`) for arrays of an element type.

    Raises `ValueError` for the dynamic type.
    """
    name = element_type.name
    if name in _PLAIN:
        return np.dtype(_PLAIN[name])
    if name in _ML:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, _ML[name]))
    if name == "dynamic":
        raise ValueError("a dynamic element type has no arrays")
    return np.dtype(np.uint8, metadata={"element_type": name})


@cache
def _by_dtype() -> dict[str, str]:
    import ml_dtypes

    names = {np.dtype(code).name: name for name, code in _PLAIN.items()}
    return names | {
        np.dtype(getattr(ml_dtypes, attribute)).name: name for name, attribute in _ML.items()
    }


def element_type_of(array: np.ndarray[Any, Any]) -> ElementType:
    """Returns the element type of an array. Raises `ValueError` if OpenVINO has no type for it."""
    if array.dtype.metadata and "element_type" in array.dtype.metadata:
        return ElementType.of(array.dtype.metadata["element_type"])
    return _of_plain(array.dtype)


@cache
def _of_plain(dtype: Any) -> ElementType:
    """Returns the element type of an `np.dtype` without metadata. Metadata is not part of its
    hash."""
    if dtype.kind in "US":
        return ElementType.of("string")
    name = {np.dtype(code).name: name for name, code in _PLAIN.items()}.get(
        dtype.name
    ) or _by_dtype().get(dtype.name)
    if name is None:
        raise ValueError(f"OpenVINO has no element type for {dtype}")
    return ElementType.of(name)


def unpack(
    packed: np.ndarray[Any, Any], element_type: ElementType, count: int
) -> np.ndarray[Any, Any]:
    """Returns the first `count` elements of packed bytes as an array with one item for each."""
    name, bits = element_type.name, element_type.bits
    if bits == 4:
        codes = np.stack([packed & 15, packed >> 4], axis=-1).ravel()[:count]
        if name == "i4":
            return (((codes ^ 8).astype(np.int8)) - 8).astype(dtype_of(element_type))
        if name == "u4":
            return codes.astype(dtype_of(element_type))
        return codes.view(dtype_of(element_type))
    if bits == 2:
        codes = np.stack([packed >> shift & 3 for shift in (0, 2, 4, 6)], axis=-1).ravel()[:count]
        return codes.astype(dtype_of(element_type))
    if bits == 1:
        return np.unpackbits(packed)[:count].view(dtype_of(element_type))
    groups = packed.reshape(-1, 3)
    if bits == 3:
        # eight elements in three bytes: two bytes of low bit pairs, then a byte of the high bits
        low = np.concatenate(
            [groups[:, byte, None] >> np.array([6, 4, 2, 0]) & 3 for byte in (0, 1)], axis=1
        )
        high = groups[:, 2, None] >> np.arange(7, -1, -1) & 1
        return np.ascontiguousarray((high << 2 | low).astype(np.uint8).ravel()[:count]).view(
            dtype_of(element_type)
        )
    # u6, four elements in three bytes: two bytes of low halves, then a byte of the high bit pairs
    low = np.stack(
        [groups[:, 0] >> 4, groups[:, 0] & 15, groups[:, 1] >> 4, groups[:, 1] & 15], axis=1
    )
    high = groups[:, 2, None] >> np.array([6, 4, 2, 0]) & 3
    return np.ascontiguousarray((high << 4 | low).astype(np.uint8).ravel()[:count]).view(
        dtype_of(element_type)
    )


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
    if bits == 1:
        return np.packbits(codes).tobytes()
    per_group = 24 // bits if bits in (3, 6) else 8 // bits
    padded = np.zeros(-(-codes.size // per_group) * per_group, np.uint8)
    padded[: codes.size] = codes
    groups = padded.reshape(-1, per_group)
    if bits in (2, 4):
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        return np.bitwise_or.reduce(groups << shifts, axis=1).astype(np.uint8).tobytes()
    if bits == 3:
        low, high = groups & 3, groups >> 2
        packed = [
            low[:, 4 * i] << 6 | low[:, 4 * i + 1] << 4 | low[:, 4 * i + 2] << 2 | low[:, 4 * i + 3]
            for i in (0, 1)
        ]
        return (
            np.stack([*packed, np.packbits(high, axis=1).ravel()], axis=1)
            .astype(np.uint8)
            .tobytes()
        )
    low, high = groups & 15, groups >> 4
    packed = [
        low[:, 0] << 4 | low[:, 1],
        low[:, 2] << 4 | low[:, 3],
        high[:, 0] << 6 | high[:, 1] << 4 | high[:, 2] << 2 | high[:, 3],
    ]
    return np.stack(packed, axis=1).astype(np.uint8).tobytes()
