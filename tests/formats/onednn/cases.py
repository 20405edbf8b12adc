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


def operation(
    kind: str,
    inputs: list[dict[str, Any]],
    outputs: list[dict[str, Any]],
    attributes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {"kind": kind, "attrs": attributes or {}, "inputs": inputs, "outputs": outputs}


def graph(*operations: dict[str, Any]) -> str:
    head = {"version": "3.2.0", "engine_kind": "cpu", "fpmath_mode": "strict"}
    ports = {"input_ports": [0], "output_ports": [1]}
    named = [
        {"id": number, "name": f"op{number}", **each} for number, each in enumerate(operations)
    ]
    return json.dumps({**head, **ports, "graph": named}, indent=1)


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
    inputs = [tensor(0, [2, 3, 4] if x is None else x, dtype)]
    if second:
        inputs.append(tensor(2, [1], "s32"))
    return graph(operation(kind, inputs, [tensor(1, y, y_dtype or dtype)], attributes))


class Tried(NamedTuple):
    """A graph, the codes that irshape reports for it, and what the library does with it."""

    text: str
    codes: list[str]
    library: str


CASES: dict[str, Tried] = {
    "one axis kept": Tried(reduce_mean([1], 1, [2, 1, 4]), [], "computes it"),
    "one axis dropped": Tried(reduce_mean([1], 0, [2, 4]), [], "computes it"),
    "keep_dims left out": Tried(reduce_mean([1], None, [2, 4]), [], "computes it"),
    "a negative axis": Tried(reduce_mean([-1], 1, [2, 3, 1]), [], "computes it"),
    "bf16": Tried(reduce_mean([1], 1, [2, 1, 4], dtype="bf16"), [], "computes it"),
    "f16": Tried(reduce_mean([1], 1, [2, 1, 4], dtype="f16"), [], "computes it"),
    "empty axes": Tried(reduce_mean([], 1, [2, 3, 4]), ["IR304"], "partition unsupported"),
    "no axes": Tried(reduce_mean(None, 1, [2, 3, 4]), ["IR303"], "partition unsupported"),
    "an axis out of range": Tried(
        reduce_mean([3], 1, [2, 3, 4]), ["IR405"], "compile: invalid_shape"
    ),
    "a negative axis out of range": Tried(
        reduce_mean([-4], 1, [2, 3, 4]), ["IR405"], "compile: invalid_shape"
    ),
    "an axis twice": Tried(reduce_mean([1, 1], 1, [2, 1, 4]), ["IR407"], "compile: invalid_shape"),
    "an axis twice by sign": Tried(
        reduce_mean([1, -2], 1, [2, 1, 4]), ["IR407"], "compile: invalid_shape"
    ),
    "axes as an input": Tried(
        reduce_mean(None, 1, [2, 1, 4], second=True),
        [],
        "add_op: invalid_graph_op, against its specification",
    ),
    "axes as an input and an attribute": Tried(
        reduce_mean([1], 1, [2, 1, 4], second=True), ["IR304"], "add_op: invalid_graph_op"
    ),
    "s32": Tried(
        reduce_mean([1], 1, [2, 1, 4], dtype="s32"), ["IR403"], "add_op: invalid_graph_op"
    ),
    "f32 to bf16": Tried(
        reduce_mean([1], 1, [2, 1, 4], y_dtype="bf16"), ["IR202"], "add_op: invalid_graph_op"
    ),
    "declared with a wrong dimension": Tried(
        reduce_mean([1], 1, [2, 2, 4]), ["IR201"], "3.2 aborts; 3.13: invalid_shape"
    ),
    "declared of a wrong rank": Tried(
        reduce_mean([1], 1, [2, 4]), ["IR201"], "3.2 aborts; 3.13: invalid_shape"
    ),
    "declared as kept": Tried(
        reduce_mean([1], 0, [2, 1, 4]), ["IR201"], "3.2 takes it; 3.13: invalid_shape"
    ),
    "all axes dropped": Tried(reduce_mean([0, 1, 2], 0, []), [], "3.2 gives (1,); 3.13 ()"),
    "no elements": Tried(reduce_mean([2], 0, [2, 0], x=[2, 0, 4]), [], "aborts the process"),
}
