"""Why a device's result may differ from the specification's: it narrows or wraps inside. Each explanation is tried by computing the layer that way.

Source: measured of the CPU plugin 2026.4: i64, u64 and u32 run as i32, f64 as f32, sums of 8-bit integers wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..execution.session import ExecutionError, Session
from ..model.graph import Layer
from ..model.wiring import wire
from ..numbers.origins import has_nan

Array = np.ndarray[Any, np.dtype[Any]]


class Narrowing(NamedTuple):
    """A device's habit: arrays of type `wide` are computed as `narrow`."""

    wide: str
    narrow: str
    reason: str


HABITS = (
    Narrowing("int64", "int32", "the device computes i64 as i32"),
    Narrowing("uint64", "int32", "the device computes u64 as i32"),
    Narrowing("uint32", "int32", "the device computes u32 as i32"),
    Narrowing("float64", "float32", "the device computes f64 as f32"),
)


NAN_LEFT_OPEN = (
    "relu",
    "maximum",
    "minimum",
    "clamp",
    "reducemax",
    "reducemin",
    "maxpool",
    "adaptivemaxpool",
    "topk",
    "sign",
    "less",
    "lessequal",
    "greater",
    "greaterequal",
)
"""Operations whose specification does not say what they make of NaN."""


def explanation(
    session: Session,
    layer: Layer,
    port: int,
    inputs: tuple[Array, ...],
    mine: Array,
    theirs: Array,
    alike: Callable[[Array, Array], bool],
) -> str | None:
    """The habit under which a layer gives the device's result, or None."""
    for habit in HABITS:
        if not any(array.dtype.name == habit.wide for array in inputs):
            continue
        narrowed = tuple(
            _clipped(array, habit.narrow) if array.dtype.name == habit.wide else array
            for array in inputs
        )
        made = _computed(session, layer, narrowed, port)
        if (
            made is not None
            and made.shape == theirs.shape
            and alike(_clipped(made, theirs.dtype.name), theirs)
        ):
            return habit.reason
    for habit in HABITS:
        if (
            mine.dtype.name == habit.wide
            and mine.dtype.kind in "iu"
            and alike(_clipped(mine, habit.narrow).astype(mine.dtype), theirs)
        ):
            return f"{habit.reason}: what lies beyond becomes the nearest that it holds"
    if layer.type.lower() in NAN_LEFT_OPEN and any(has_nan(array) for array in inputs):
        known = ~np.isnan(mine) if has_nan(mine) else np.ones(mine.shape, bool)
        touched = any(has_nan(array) for array in inputs if array.shape == mine.shape)
        if touched and mine.shape == theirs.shape:
            known = known & ~np.logical_or.reduce(
                [
                    np.isnan(array)
                    for array in inputs
                    if array.shape == mine.shape and has_nan(array)
                ]
            )
        if alike(mine[known], theirs[known]):
            return f"NaN comes in, and the specification of {layer.type} leaves open what becomes of it; all other elements agree"
    if (
        layer.type in ("ReduceMean", "ReduceSum")
        and inputs
        and inputs[0].dtype.itemsize == 1
        and inputs[0].dtype.kind in "iu"
    ):
        data, axes = inputs[0], tuple(int(axis) % inputs[0].ndim for axis in inputs[1].ravel())
        total = np.sum(data, axis=axes, dtype=data.dtype, keepdims=theirs.ndim == data.ndim)
        count = (
            int(np.prod([data.shape[axis] for axis in axes])) if layer.type == "ReduceMean" else 1
        )
        if (
            count
            and total.shape == theirs.shape
            and alike((total.astype(np.int64) // count).astype(theirs.dtype), theirs)
        ):
            return f"the device's sum of {inputs[0].dtype.name} wraps around"
    return None


def decompressed_in_f32(session: Session) -> dict[int, tuple[Array, ...]]:
    """What the f32 weights of a model are where their decompression is computed in f32 all along, though the IR has f16 or bf16 on the way; by layer identity.

    The CPU plugin computes them so (2026.4).
    """
    layers, sources = session.model.net.layers, wire(session.model.net).sources
    order = wire(session.model.net).order
    made: dict[int, Array] = {}
    rounded: set[int] = set()
    found: dict[int, tuple[Array, ...]] = {}
    for position in order:
        layer = layers[position]
        row = [source for source in sources[position] if source is not None]
        folded = layer.type.lower()
        if folded in ("const", "constant"):
            continue
        whole = (
            folded
            in (
                "convert",
                "multiply",
                "subtract",
                "add",
                "reshape",
                "transpose",
                "unsqueeze",
                "squeeze",
            )
            and len(layer.outputs) == 1
        )
        if (
            not whole
            or not row
            or any(
                source[0] not in made
                and layers[source[0]].type.lower() not in ("const", "constant")
                for source in row
            )
        ):
            continue
        try:
            inputs = tuple(
                made[source[0]] if source[0] in made else session.constant(layers[source[0]])
                for source in row
            )
            narrow = (layer.outputs[0].precision or "") in ("FP16", "BF16")
            if folded == "convert":
                real = narrow or (layer.outputs[0].precision or "") == "FP32"
                made[position] = (
                    inputs[0].astype(np.float32)
                    if real and inputs[0].dtype.metadata is None
                    else session.evaluate(layer, inputs)[0].astype(np.float32)
                )
            else:
                wide = tuple(
                    array.astype(np.float32)
                    if array.dtype.name in ("float16", "bfloat16")
                    else array
                    for array in inputs
                )
                made[position] = session.evaluate(layer, wide)[0]
        except (ExecutionError, IndexError):
            continue
        if any(source[0] in rounded for source in row) or (
            narrow and folded not in ("convert", "reshape", "transpose", "unsqueeze", "squeeze")
        ):
            rounded.add(position)
            if not narrow and made[position].dtype == np.float32:
                found[id(layer)] = (made[position],)
    return found


def _clipped(array: Array, name: str) -> Array:
    kind = np.dtype(name)
    if kind.kind in "iu" and array.dtype.kind in "iu":
        return np.asarray(
            np.clip(array.astype(object), np.iinfo(kind).min, np.iinfo(kind).max)
        ).astype(kind)
    with np.errstate(all="ignore"):
        return array.astype(kind)


def _computed(session: Session, layer: Layer, inputs: tuple[Array, ...], port: int) -> Array | None:
    try:
        return session.evaluate(layer, inputs)[port]
    except (ExecutionError, IndexError):
        return None
