"""The onnx package, imported only here: it parses files and has the operators' schemas."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def onnx() -> Any:
    """The package. Raises `ImportError` if it is not installed."""
    try:
        import onnx as package
        import onnx.defs
    except ImportError as problem:
        raise ImportError("reading ONNX needs the onnx package") from problem
    return package


@cache
def schema(operator: str, version: int, domain: str) -> Any | None:
    """The schema of an operator in an opset; None for one that the package does not know."""
    try:
        return onnx().defs.get_schema(operator, version, domain)
    except (onnx().defs.SchemaError, TypeError):  # also for a version that is no 32-bit number
        return None


TYPES = {
    1: "f32",
    2: "u8",
    3: "i8",
    4: "u16",
    5: "i16",
    6: "i32",
    7: "i64",
    8: "string",
    9: "boolean",
    10: "f16",
    11: "f64",
    12: "u32",
    13: "u64",
    16: "bf16",
    17: "f8e4m3",
    19: "f8e5m2",
    21: "u4",
    22: "i4",
    23: "f4e2m1",
    24: "f8e8m0",
    25: "u2",
}
"""OpenVINO's element types by the numbers of ONNX's."""

NAMES = {
    "float": "f32",
    "double": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool": "boolean",
    "string": "string",
    "float8e4m3fn": "f8e4m3",
    "float8e5m2": "f8e5m2",
    "float8e8m0": "f8e8m0",
    "float4e2m1": "f4e2m1",
    "int4": "i4",
    "uint4": "u4",
    "uint2": "u2",
}
"""OpenVINO's element types by the names in ONNX's schemas, as in `tensor(float)`."""
