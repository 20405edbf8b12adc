"""Turns arrays into constants of a graph, with an element type and bytes for the .bin."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..element_types import ElementType
from ..model.weights import string_bytes
from ..ops.conversion import encoded, plain
from ..ops.lazy import Array, np, numpy_types
from .errors import GraphError


def as_array(value: Any, element_type: ElementType | None = None) -> tuple[Array, ElementType]:
    """Converts a value to an array of the given element type. Returns the array and its type.

    Without a given type, arrays keep their type; Python floats become f32, integers i64, truth
    values boolean, and texts string. Raises `GraphError` for a value that does not fit.
    """
    array, own = _own_array(value)
    if element_type is None and not isinstance(value, (np.ndarray, np.generic)):
        usual = {"f": "f32", "i": "i64"}.get(array.dtype.kind)
        element_type = None if usual is None else ElementType.of(usual)
    if element_type is None:
        return array, own
    if element_type.name == "string" or array.dtype.kind in "OUS":
        if element_type.name != "string":
            raise GraphError(f"strings cannot be a constant of element type {element_type}")
        return array.astype(object), element_type
    if own is element_type:
        return array, element_type
    numbers = plain(array)
    if not element_type.is_real and numbers.size:
        low, high = element_type.limits
        whole = numbers.dtype.kind in "iub" or bool((np.floor(numbers) == numbers).all())
        if not whole or numbers.min() < low or numbers.max() > high:
            raise GraphError(
                f"{value!r} cannot be a constant of element type {element_type}",
                expected=f"whole numbers from {low} to {high}",
            )
    with np.errstate(over="ignore", invalid="ignore"):
        codes = encoded(numbers, element_type)
    if element_type.is_real and numbers.dtype.kind in "iuf":
        stored = plain(codes)
        lost = ~np.isfinite(stored)
        if element_type.name in _RANGES:
            least, most = _RANGES[element_type.name]
            lost |= ~((numbers >= least) & (numbers <= most))
        if np.count_nonzero(lost):
            lost &= (stored != numbers) & ~(np.isnan(stored) & np.isnan(numbers))
        if np.count_nonzero(lost):
            first = numbers[lost].flat[0]
            raise GraphError(
                f"a constant of element type {element_type} cannot hold {first}",
                actual=str(first),
                help="clip the values, or choose an element type with a larger range",
            )
    return codes, element_type


def _own_array(value: Any) -> tuple[Array, ElementType]:
    """Converts a value to an array. Returns the array and its element type. Raises `GraphError`."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise GraphError(f"a constant cannot hold rows of different lengths: {value!r}") from None
    if isinstance(value, np.ma.MaskedArray):
        raise GraphError("a constant cannot hold a masked array", help="fill it: array.filled(0)")
    if array.dtype.kind in "OUS":
        for item in np.asarray(value, object).ravel():
            if not isinstance(item, (str, bytes)):
                raise GraphError(
                    f"a constant cannot hold {item!r}: it takes numbers of up to 64 bits, truth "
                    "values or strings"
                )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    try:
        return array, numpy_types.element_type_of(array)
    except ValueError as problem:
        raise GraphError(f"a constant cannot hold this: {problem}") from None


_RANGES = {"f4e2m1": (-6.0, 6.0), "nf4": (-1.0, 1.0), "f8e8m0": (0.0, 2.0**127)}
"""The smallest and largest numbers of element types without infinity. For these types, a conversion
silently clips larger numbers."""


def fitting_type(value: Any, allowed: Collection[ElementType]) -> ElementType | None:
    """Returns the element type of the constant for a Python value: the first in `_WANTED` that the
    input allows. Returns None if there is none, or for an array, which has a type already."""
    if isinstance(value, (np.ndarray, np.generic)) or not allowed:
        return None
    wanted = _WANTED.get(kind_of(value), ())
    return next((each for name in wanted if (each := ElementType.of(name)) in allowed), None)


_WANTED = {"f": ("f32", "f16"), "i": ("i64", "i32", "f32"), "b": ("boolean",)}


def kind_of(value: Any) -> str:
    """Returns the `dtype.kind` of a value, such as `f` for reals; `i` for an empty list."""
    try:
        array = np.asarray(value)
    except ValueError:
        return ""  # rows of different lengths, which `as_array` refuses
    return array.dtype.kind if array.size else "i"


def array_bytes(array: Array, element_type: ElementType) -> bytes:
    """Returns the bytes of a constant as a .bin stores them."""
    if element_type.name != "string":
        return numpy_types.pack(array, element_type)
    return string_bytes(
        [item if isinstance(item, bytes) else str(item).encode() for item in array.ravel()]
    )
