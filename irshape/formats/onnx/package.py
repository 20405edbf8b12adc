"""Imports the onnx package, which parses files and has the schemas of the operators."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def onnx() -> Any:
    """Returns the onnx package. Raises `ImportError` if it is not installed."""
    try:
        import onnx as package
        import onnx.defs
    except ImportError as problem:
        raise ImportError("reading ONNX needs the onnx package") from problem
    return package


@cache
def schema(operator: str, version: int, domain: str) -> Any | None:
    """Returns the schema of an operator in an opset; None if the onnx package has none."""
    try:
        return onnx().defs.get_schema(operator, version, domain)
    except (onnx().defs.SchemaError, TypeError):  # also for a version that is no 32-bit number
        return None


_TYPES = (
    (1, "float", "f32"),
    (2, "uint8", "u8"),
    (3, "int8", "i8"),
    (4, "uint16", "u16"),
    (5, "int16", "i16"),
    (6, "int32", "i32"),
    (7, "int64", "i64"),
    (8, "string", "string"),
    (9, "bool", "boolean"),
    (10, "float16", "f16"),
    (11, "double", "f64"),
    (12, "uint32", "u32"),
    (13, "uint64", "u64"),
    (16, "bfloat16", "bf16"),
    (17, "float8e4m3fn", "f8e4m3"),
    (19, "float8e5m2", "f8e5m2"),
    (21, "uint4", "u4"),
    (22, "int4", "i4"),
    (23, "float4e2m1", "f4e2m1"),
    (24, "float8e8m0", "f8e8m0"),
    (25, "uint2", "u2"),
)
"""The element types: the number and the name in ONNX, and the name in OpenVINO."""

TYPES = {number: name for number, _, name in _TYPES}
NAMES = {theirs: name for _, theirs, name in _TYPES}
"""Maps the names in ONNX's schemas, e.g. `float` in `tensor(float)`, to those in OpenVINO."""
