"""oneDNN graphs as text, and the cases of ReduceMean that were tried on the library.

Each case has the codes that irshape reports and what the library does.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

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


class Tried(NamedTuple):
    """A graph, the codes that irshape reports for it, and what the library does with it."""

    text: str
    codes: list[str]
    library: str


CASES: dict[str, Tried] = {
    "one axis kept": Tried(text=reduce_mean([1], 1, [2, 1, 4]), codes=[], library="computes it"),
    "one axis dropped": Tried(text=reduce_mean([1], 0, [2, 4]), codes=[], library="computes it"),
    "keep_dims left out": Tried(
        text=reduce_mean([1], None, [2, 4]), codes=[], library="computes it"
    ),
    "a negative axis": Tried(text=reduce_mean([-1], 1, [2, 3, 1]), codes=[], library="computes it"),
    "bf16": Tried(
        text=reduce_mean([1], 1, [2, 1, 4], dtype="bf16"), codes=[], library="computes it"
    ),
    "f16": Tried(text=reduce_mean([1], 1, [2, 1, 4], dtype="f16"), codes=[], library="computes it"),
    "empty axes": Tried(
        text=reduce_mean([], 1, [2, 3, 4]), codes=["IR304"], library="partition unsupported"
    ),
    "no axes": Tried(
        text=reduce_mean(None, 1, [2, 3, 4]), codes=["IR303"], library="partition unsupported"
    ),
    "an axis out of range": Tried(
        text=reduce_mean([3], 1, [2, 3, 4]), codes=["IR405"], library="compile: invalid_shape"
    ),
    "a negative axis out of range": Tried(
        text=reduce_mean([-4], 1, [2, 3, 4]), codes=["IR405"], library="compile: invalid_shape"
    ),
    "an axis twice": Tried(
        text=reduce_mean([1, 1], 1, [2, 1, 4]), codes=["IR407"], library="compile: invalid_shape"
    ),
    "an axis twice by sign": Tried(
        text=reduce_mean([1, -2], 1, [2, 1, 4]), codes=["IR407"], library="compile: invalid_shape"
    ),
    "axes as an input": Tried(
        text=reduce_mean(None, 1, [2, 1, 4], second=True),
        codes=[],
        library="add_op: invalid_graph_op, against its specification",
    ),
    "axes as an input and an attribute": Tried(
        text=reduce_mean([1], 1, [2, 1, 4], second=True),
        codes=["IR304"],
        library="add_op: invalid_graph_op",
    ),
    "s32": Tried(
        text=reduce_mean([1], 1, [2, 1, 4], dtype="s32"),
        codes=["IR403"],
        library="add_op: invalid_graph_op",
    ),
    "f32 to bf16": Tried(
        text=reduce_mean([1], 1, [2, 1, 4], y_dtype="bf16"),
        codes=["IR202"],
        library="add_op: invalid_graph_op",
    ),
    "declared with a wrong dimension": Tried(
        text=reduce_mean([1], 1, [2, 2, 4]),
        codes=["IR201"],
        library="3.2 aborts; 3.13: invalid_shape",
    ),
    "declared of a wrong rank": Tried(
        text=reduce_mean([1], 1, [2, 4]), codes=["IR201"], library="3.2 aborts; 3.13: invalid_shape"
    ),
    "declared as kept": Tried(
        text=reduce_mean([1], 0, [2, 1, 4]),
        codes=["IR201"],
        library="3.2 takes it; 3.13: invalid_shape",
    ),
    "all axes dropped": Tried(
        text=reduce_mean([0, 1, 2], 0, []), codes=[], library="3.2 gives (1,); 3.13 ()"
    ),
    "no elements": Tried(
        text=reduce_mean([2], 0, [2, 0], x=[2, 0, 4]), codes=[], library="aborts the process"
    ),
}
