"""Element types for the harness: names, NumPy dtypes and packing, independent of irshape's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PLAIN = {
    "f64": "<f8",
    "f32": "<f4",
    "f16": "<f2",
    "i64": "<i8",
    "i32": "<i4",
    "i16": "<i2",
    "i8": "i1",
    "u64": "<u8",
    "u32": "<u4",
    "u16": "<u2",
    "u8": "u1",
    "boolean": "?",
}
"""Types that NumPy has itself."""
FLOATS = {
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0fnu",
    "f4e2m1": "float4_e2m1fn",
}
"""Types that ml_dtypes has."""
BITS = {"f4e2m1": 4, "nf4": 4, "i4": 4, "u4": 4, "u6": 6, "u3": 3, "u2": 2, "u1": 1}
"""Packed types. Elements of nf4 are its codes, 0 to 15."""
EPSILON = {
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "f8e4m3": 2.0**-3,
    "f8e5m2": 2.0**-2,
    "f8e8m0": 1.0,
    "f4e2m1": 0.5,
}
REAL = {"f64", "f32", "f16", *FLOATS}
NAMES = [*PLAIN, *FLOATS, *(name for name in BITS if name not in FLOATS), "string"]


def precision(element_type: str) -> str:
    """What a port's `precision` writes."""
    special = {
        "f64": "FP64",
        "f32": "FP32",
        "f16": "FP16",
        "boolean": "BOOL",
        "u1": "BIN",
        "dynamic": "UNSPECIFIED",
    }
    return special.get(element_type, element_type.upper())


def dtype(element_type: str) -> np.dtype[Any]:
    """The NumPy or ml_dtypes type of elements: packed ones in int8 or uint8, strings as objects."""
    if element_type in PLAIN:
        return np.dtype(PLAIN[element_type])
    if element_type in FLOATS:
        import ml_dtypes

        made: np.dtype[Any] = np.dtype(getattr(ml_dtypes, FLOATS[element_type]))
        return made
    if element_type == "string":
        return np.dtype(object)
    return np.dtype(np.int8 if element_type == "i4" else np.uint8)


def limits(element_type: str) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if element_type in BITS:
        bits = BITS[element_type]
        return (
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
            if element_type == "i4"
            else (0, (1 << bits) - 1)
        )
    if element_type == "boolean":
        return 0, 1
    info = np.iinfo(dtype(element_type))
    return int(info.min), int(info.max)


def cast(values: Any, element_type: str) -> Array:
    """Values as an array of the type's `dtype`; strings as str, also where they come as bytes."""
    if element_type == "string":
        texts = np.array(values, dtype=object)
        decoded = np.empty(texts.shape, dtype=object)
        decoded.flat = [
            text.decode() if isinstance(text, bytes) else text for text in texts.ravel().tolist()
        ]
        return decoded
    array = np.asarray(values)
    if element_type in FLOATS and array.dtype.kind in "iub":
        array = array.astype(np.float32)
    return array.astype(dtype(element_type))


def pack(array: Array, element_type: str) -> bytes:
    """The bytes of an array in OpenVINO, in memory as in a .bin (of strings: as in a .bin)."""
    if element_type == "string":
        texts = [
            text.encode() if isinstance(text, str) else bytes(text)
            for text in array.ravel().tolist()
        ]
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return b"".join([np.int32(len(texts)).tobytes(), offsets.tobytes(), *texts])
    bits = BITS.get(element_type)
    if bits is None:
        return np.ascontiguousarray(array, dtype(element_type)).tobytes()
    if element_type in FLOATS:
        codes = np.ascontiguousarray(array, dtype(element_type)).ravel().view(np.uint8)
    else:
        codes = (array.ravel().astype(np.int64) & ((1 << bits) - 1)).astype(np.uint8)
    if bits == 1:
        return np.packbits(codes).tobytes()
    if bits in (2, 4):
        per_byte = 8 // bits
        groups = np.pad(codes, (0, -len(codes) % per_byte)).reshape(-1, per_byte).astype(np.uint32)
        return bytes(
            (groups << (np.arange(per_byte, dtype=np.uint32) * bits)).sum(axis=1).astype(np.uint8)
        )
    # three bytes store 8 elements of u3 or 4 of u6: two bytes of low parts (bit pairs, or halves),
    # one of high parts; the first on top
    low_bits, high_bits, count = (2, 1, 8) if bits == 3 else (4, 2, 4)
    groups = np.pad(codes, (0, -len(codes) % count)).reshape(-1, count).astype(np.uint32)
    low, high = groups & ((1 << low_bits) - 1), groups >> low_bits
    half = count // 2
    low_shifts = np.arange(half - 1, -1, -1, dtype=np.uint32) * low_bits
    high_shifts = np.arange(count - 1, -1, -1, dtype=np.uint32) * high_bits
    rows = [
        (low[:, :half] << low_shifts).sum(axis=1),
        (low[:, half:] << low_shifts).sum(axis=1),
        (high << high_shifts).sum(axis=1),
    ]
    return np.stack(rows, axis=1).astype(np.uint8).tobytes()


def unpack(data: bytes, element_type: str, shape: tuple[int, ...]) -> Array:
    """The inverse of `pack`, in the type's `dtype` (not for strings)."""
    bits = BITS.get(element_type)
    if bits is None:
        return np.frombuffer(data, dtype(element_type)).reshape(shape)
    count = int(np.prod(shape, dtype=np.int64))
    packed = np.frombuffer(data, np.uint8).astype(np.int64)
    codes: Array
    if bits == 1:
        codes = np.unpackbits(packed.astype(np.uint8))
    elif bits in (2, 4):
        codes = (packed[:, None] >> (np.arange(8 // bits) * bits) & ((1 << bits) - 1)).ravel()
    else:
        low_bits, high_bits, group = (2, 1, 8) if bits == 3 else (4, 2, 4)
        rows = packed.reshape(-1, 3)
        low_shifts, high_shifts = (
            np.arange(group // 2 - 1, -1, -1) * low_bits,
            np.arange(group - 1, -1, -1) * high_bits,
        )
        low = (rows[:, :2, None] >> low_shifts & ((1 << low_bits) - 1)).reshape(-1, group)
        codes = (
            (rows[:, 2, None] >> high_shifts & ((1 << high_bits) - 1)) << low_bits | low
        ).ravel()
    codes = codes.ravel()[:count].astype(np.uint8).reshape(shape)
    if element_type == "i4":
        return ((codes ^ 8).astype(np.int8) - 8).astype(np.int8)
    return codes.view(dtype(element_type)) if element_type in FLOATS else codes


@dataclass(frozen=True)
class Tensor:
    """A tensor for the oracle: element type, shape, and bytes as in OpenVINO (strings: a list)."""

    element_type: str
    shape: tuple[int, ...]
    data: bytes | list[str]

    @staticmethod
    def of(array: Array, element_type: str) -> Tensor:
        if element_type == "string":
            return Tensor(element_type, array.shape, [str(text) for text in array.ravel().tolist()])
        return Tensor(element_type, array.shape, pack(array, element_type))

    @property
    def array(self) -> Array:
        """The elements in the type's `dtype`."""
        if isinstance(self.data, list):
            texts = np.empty(len(self.data), dtype=object)
            texts[:] = self.data
            return texts.reshape(self.shape)
        return unpack(self.data, self.element_type, self.shape)
