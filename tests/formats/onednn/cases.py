"""oneDNN graphs as text, and the cases of ReduceMean that were tried on the library.

Each case has the codes that irshape reports and what the library does.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def tensor(number: int, shape: list[int], dtype: str = "f32", **more: Any) -> dict[str, Any]:
    stride = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    return {
        "id": number,
        "dtype": dtype,
        "shape": shape,
        "stride": stride,
        "layout_type": "strided",
        "property_type": "undef",
        **more,
    }


def graph(*operations: dict[str, Any]) -> str:
    head = {
        "version": "3.2.0",
        "engine_kind": "cpu",
        "fpmath_mode": "strict",
        "input_ports": [0],
        "output_ports": [1],
    }
    return json.dumps(
        {
            **head,
            "graph": [
                {"id": number, "name": f"op{number}", **operation}
                for number, operation in enumerate(operations)
            ],
        },
        indent=1,
    )


def reduce_mean(
    axes: list[int] | None,
    keep: int | None,
    y: list[int],
    *,
    x: list[int] | None = None,
    dtype: str = "f32",
    y_dtype: str = "",
    second: bool = False,
    kind: str = "ReduceMean",
) -> str:
    attributes: dict[str, Any] = {}
    if axes is not None:
        attributes["axes"] = {"type": "s64[]", "value": axes}
    if keep is not None:
        attributes["keep_dims"] = {"type": "bool", "value": keep}
    inputs = [
        tensor(0, [2, 3, 4] if x is None else x, dtype),
        *([tensor(2, [1], "s32")] if second else []),
    ]
    return graph(
        {
            "kind": kind,
            "attrs": attributes,
            "inputs": inputs,
            "outputs": [tensor(1, y, y_dtype or dtype)],
        }
    )


CASES: dict[str, tuple[str, list[str], str]] = {
    "one axis kept": (reduce_mean([1], 1, [2, 1, 4]), [], "computes it"),
    "one axis dropped": (reduce_mean([1], 0, [2, 4]), [], "computes it"),
    "keep_dims left out": (reduce_mean([1], None, [2, 4]), [], "computes it"),
    "a negative axis": (reduce_mean([-1], 1, [2, 3, 1]), [], "computes it"),
    "bf16": (reduce_mean([1], 1, [2, 1, 4], dtype="bf16"), [], "computes it"),
    "f16": (reduce_mean([1], 1, [2, 1, 4], dtype="f16"), [], "computes it"),
    "empty axes": (reduce_mean([], 1, [2, 3, 4]), ["IR304"], "partition unsupported"),
    "no axes": (reduce_mean(None, 1, [2, 3, 4]), ["IR303"], "partition unsupported"),
    "an axis out of range": (reduce_mean([3], 1, [2, 3, 4]), ["IR405"], "compile: invalid_shape"),
    "a negative axis out of range": (
        reduce_mean([-4], 1, [2, 3, 4]),
        ["IR405"],
        "compile: invalid_shape",
    ),
    "an axis twice": (reduce_mean([1, 1], 1, [2, 1, 4]), ["IR407"], "compile: invalid_shape"),
    "an axis twice by sign": (
        reduce_mean([1, -2], 1, [2, 1, 4]),
        ["IR407"],
        "compile: invalid_shape",
    ),
    "axes as an input": (
        reduce_mean(None, 1, [2, 1, 4], second=True),
        [],
        "add_op: invalid_graph_op, against its specification",
    ),
    "axes as an input and an attribute": (
        reduce_mean([1], 1, [2, 1, 4], second=True),
        ["IR304"],
        "add_op: invalid_graph_op",
    ),
    "s32": (reduce_mean([1], 1, [2, 1, 4], dtype="s32"), ["IR403"], "add_op: invalid_graph_op"),
    "f32 to bf16": (
        reduce_mean([1], 1, [2, 1, 4], y_dtype="bf16"),
        ["IR202"],
        "add_op: invalid_graph_op",
    ),
    "declared with a wrong dimension": (
        reduce_mean([1], 1, [2, 2, 4]),
        ["IR201"],
        "3.2 aborts; 3.13: invalid_shape",
    ),
    "declared of a wrong rank": (
        reduce_mean([1], 1, [2, 4]),
        ["IR201"],
        "3.2 aborts; 3.13: invalid_shape",
    ),
    "declared as kept": (
        reduce_mean([1], 0, [2, 1, 4]),
        ["IR201"],
        "3.2 takes it; 3.13: invalid_shape",
    ),
    "all axes dropped": (reduce_mean([0, 1, 2], 0, []), [], "3.2 gives (1,); 3.13 ()"),
    "no elements": (reduce_mean([2], 0, [2, 0], x=[2, 0, 4]), [], "aborts the process"),
}
