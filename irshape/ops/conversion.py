"""Converts arrays to other element types as OpenVINO's Convert does (2026.4, x86).

`plain` converts arrays to types in which NumPy can compute. `widened` converts them to types for
sums of products: f16, bf16 and f8 are summed in f32 and rounded once. Integers wrap around.
Integers of up to 16 bits are summed in f64, where the sums are exact.

In a conversion to a floating-point type, numbers are rounded to nearest, ties to even. Numbers that
are too large become infinity. In f8e4m3 they become NaN; in f4e2m1, nf4 and f8e8m0, the largest
value. Conversions to f8e4m3 and f8e5m2 go through f16. In a conversion to an integer type, numbers
are truncated towards zero to i32 or i64; NaN, and numbers that do not fit, become the lowest
integer. Types with fewer bits keep the low bits of the result, as in C++ on x86. In a conversion to
boolean, numbers other than zero become true.
"""

from __future__ import annotations

from ..element_types import ElementType
from .lazy import Array, dtype_of, element_type_of, np

NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
"""The numbers that the sixteen codes of nf4 represent."""


def converted(array: Array, element_type: ElementType) -> Array:
    """Returns an array in another element type. Raises `NotImplementedError` for strings."""
    source = element_type_of(array)
    if source is element_type:
        return array
    if "string" in (source.name, element_type.name):
        raise NotImplementedError(f"{source} cannot be converted to {element_type}")
    return encoded(plain(array), element_type)


def is_plain(array: Array) -> bool:
    """Returns whether NumPy's results in the array's own type are those of the specification.

    This is true for f32, f64, integers of 8 to 64 bits, booleans and strings.
    """
    dtype = array.dtype
    return (
        dtype.kind in "ibO"
        or (dtype.kind == "f" and dtype.itemsize >= 4)
        or (dtype.kind == "u" and dtype.metadata is None)
    )


def plain(array: Array) -> Array:
    """Returns the numbers of an array, in a type in which NumPy can compute.

    Floating-point types below 32 bits become f32; integers below 8 bits become i8 or u8.
    """
    if is_plain(array):
        return array
    dtype = array.dtype
    if dtype.kind == "f":
        return array.astype(np.float32)
    if dtype.metadata is not None:
        codes = array.view(np.dtype(np.uint8))
        return (
            np.asarray(NF4, np.float32)[codes & 15]
            if dtype.metadata["element_type"] == "nf4"
            else codes
        )
    if dtype.name.startswith("int"):
        return array.astype(np.int8)
    return array.astype(np.uint8 if dtype.name.startswith("uint") else np.float32)


def real(array: Array, *, wide: bool = False) -> Array:
    """Returns the numbers of an array as f32 or f64. Integers become f64 if `wide`, else f32."""
    numbers = plain(array)
    if numbers.dtype.kind == "f":
        return numbers
    return numbers.astype(np.float64 if wide else np.float32)


def encoded(numbers: Array, element_type: ElementType) -> Array:
    """Returns an array of a type that NumPy itself has, e.g. f32, converted to `element_type`."""
    name, dtype = element_type.name, dtype_of(element_type)
    if name == "boolean":
        return np.not_equal(numbers, 0)
    if element_type.is_integer:
        return _as_integers(numbers, element_type)
    if name in ("f64", "f32", "f16", "bf16"):
        return numbers.astype(dtype, copy=False)
    if name in ("f8e4m3", "f8e5m2"):
        return numbers.astype(np.float16).astype(dtype)
    single = numbers.astype(np.float32)
    if name == "f4e2m1":
        return np.where(np.isnan(single), np.float32(6), single).astype(dtype)
    if name == "f8e8m0":
        return _as_exponents(single).view(dtype)
    steps = np.asarray(NF4)
    codes = np.searchsorted((steps[1:] + steps[:-1]) / 2, single, side="right")
    return np.where(np.isnan(single), 0, codes).astype(np.uint8).view(dtype)


def nearest(numbers: Array, element_type: ElementType) -> Array:
    """Returns numbers converted to an element type. For an integer type, numbers are rounded (ties
    to even) and clipped to the limits of the type. The CPU plugin computes e.g. sin(2) in i32 in
    this way.
    """
    if not element_type.is_integer:
        return encoded(numbers, element_type)
    low, high = element_type.limits
    rounded = np.rint(numbers)
    rounded = np.where(rounded >= low, rounded, float(low))  # NaN as well
    if element_type.bits < 64:
        return encoded(np.minimum(rounded, float(high)), element_type)
    result = encoded(rounded, element_type)
    result[rounded >= float(high)] = high
    return result


def _as_integers(numbers: Array, element_type: ElementType) -> Array:
    bits, name = element_type.bits, element_type.name
    if numbers.dtype.kind == "f":
        numbers = _cut(numbers, 64 if bits == 64 or name == "u32" else 32, unsigned=name == "u64")
    dtype = dtype_of(element_type)
    if bits >= 8:
        return numbers.astype(dtype, copy=False)
    codes = numbers.astype(np.uint8) & np.uint8((1 << bits) - 1)
    if name == "i4":
        return ((codes ^ 8).astype(np.int8) - np.int8(8)).astype(dtype)
    return codes.astype(dtype) if name in ("u4", "u2") else codes.view(dtype)


def _cut(numbers: Array, bits: int, *, unsigned: bool) -> Array:
    """Returns floating-point numbers truncated to integers of 32 or 64 bits. NaN, and numbers that
    do not fit, become the lowest integer."""
    target = np.int32 if bits == 32 else np.int64
    limit = float(1 << (bits - 1))
    if not numbers.size or (numbers.min() >= -limit and numbers.max() < limit):
        return numbers.astype(target)
    result = np.where((numbers >= -limit) & (numbers < limit), numbers, -limit).astype(target)
    if not unsigned:
        return result
    above = (numbers >= limit) & (numbers < 2 * limit)
    return np.where(above, np.where(above, numbers, 0).astype(np.uint64), result.astype(np.uint64))


def _as_exponents(single: Array) -> Array:
    """Returns the codes of the nearest powers of two in f8e8m0. Ties go to the even exponent. Zero
    and negative numbers get the smallest code."""
    bits = np.ascontiguousarray(single).view(np.uint32).reshape(single.shape)
    codes = np.minimum(
        (bits + np.uint32(0x3FFFFF) + (bits >> np.uint32(23) & np.uint32(1))) >> np.uint32(23),
        np.uint32(254),
    )
    return np.where(np.isnan(single), 255, np.where(single <= 0, 0, codes)).astype(np.uint8)


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
