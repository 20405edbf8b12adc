"""Converts the element types and shapes of callers: OpenVINO's, NumPy's, or names."""

from __future__ import annotations

import sys
from typing import Any

from ..element_types import ElementType
from ..shapes import PartialShape
from .errors import GraphError

_NUMPY_NAMES = {
    **{
        f"{sign}int{bits}": f"{sign[:1] or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32)
    },
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "int64": "i64",
    "uint64": "u64",
    "int4": "i4",
    "uint4": "u4",
    "uint2": "u2",
    "bfloat16": "bf16",
    "bool": "boolean",
    "half": "f16",
    "float": "f32",
    "int": "i64",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0fnu": "f8e8m0",
    "float4_e2m1fn": "f4e2m1",
    "str": "string",
    "object": "string",
}
"""The element types by their names in NumPy, ml_dtypes and Python."""


def element_type_of(given: Any) -> ElementType:
    """Returns the element type for `f32`, `float32`, `FP32`, `np.float32`, an `np.dtype` or an
    `ov.Type`.

    Raises `GraphError` for anything else.
    """
    if isinstance(given, ElementType):
        return given
    name = given
    if hasattr(given, "get_type_name"):
        name = given.get_type_name()  # an ov.Type
    elif not isinstance(given, str):
        name = _dtype_name(given)
    known = None
    if isinstance(name, str):
        named = _NUMPY_NAMES.get(name.lower(), name)
        known = ElementType.of_precision(named.upper()) or ElementType.of_precision(named.lower())
    if known is None:
        raise GraphError(
            f"{given!r} is not an element type",
            help="give a name such as f32 or float32, an np.dtype or an ov.Type",
        )
    return known


def shape_of(given: Any) -> PartialShape:
    """Returns the partial shape for `[1,3,?]`, an `ov.PartialShape`, or a list with None, -1, "?"
    or `ov.Dimension`.

    Raises `GraphError` for anything else.
    """
    plain = [_plain(each) for each in given] if isinstance(given, (list, tuple)) else _plain(given)
    try:
        return PartialShape.of(plain)
    except (TypeError, ValueError) as problem:
        raise GraphError(str(problem)) from None


def _plain(given: Any) -> Any:
    """Returns the text of a shape or dimension of OpenVINO; anything else as it is."""
    return str(given) if type(given).__module__.startswith("openvino") else given


def _dtype_name(given: Any) -> Any:
    """Returns the name of a type of NumPy or Python; None for anything else."""
    numpy = sys.modules.get("numpy")
    if isinstance(given, type) and given.__module__ == "builtins":
        return given.__name__
    if numpy is None or given is None:
        return None
    try:
        dtype = numpy.dtype(given)
    except TypeError:
        return None
    return (dtype.metadata or {}).get("element_type", dtype.name)
