"""Measures the range of every layer's values, and how a lower precision changes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..element_types import ElementType
from ..model.graph import Layer, Model
from ..numbers.origins import has_nonfinite, source_of_nan
from ..numbers.statistics import (
    F16_MAX,
    Errors,
    Values,
    errors,
    is_real,
    merged,
    values,
)
from ..numbers.tolerance import difference
from ..numpy_types import Array, dtype_of, element_type_of
from .feeds import Given
from .memory import too_much
from .session import MAX_ITERATIONS, ExecutionError, Observer, Session

Precision = Literal["f16", "bf16"]


class Range(NamedTuple):
    """The range of one output.

    values: the range over all runs of the layer; None for strings. note: why the output has NaN, if
    NaN first appears here. runs: how often the layer has run: once, unless it is in a body. shape:
    the shape in the last run.
    """

    layer: Layer
    port: int
    element_type: str
    shape: tuple[int, ...]
    values: Values | None
    note: str | None
    runs: int = 1

    @property
    def leaves_f16(self) -> bool:
        """Whether finite values become infinite in f16."""
        return self.values is not None and self.values.beyond_f16 > 0


class SimulatedOutput(NamedTuple):
    """One output in lower precision, compared with the same output in full precision.

    breaks: why the output is infinite or NaN, although it is finite in full precision; None
    otherwise.
    """

    layer: Layer
    port: int
    errors: Errors
    breaks: str | None
    departs: bool
    """Whether the error exceeds the tolerance of the lower precision."""


def ranges(
    session: Session,
    inputs: Given,
    progress: Observer | None = None,
) -> tuple[dict[str, Array], list[Range]]:
    """Runs a model. Returns its outputs, and the range of every output port.

    Ports are in the order of execution: the layers of a body before the layer that contains it.
    Raises `ExecutionError`.
    """
    rows: dict[tuple[Layer, int], Range] = {}

    def observe(layer: Layer, given: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
        if progress is not None and not layer.path:
            progress(layer, given, outputs)
        if layer.is_result:
            return
        contents = [values(array) for array in outputs]
        note = (
            source_of_nan(layer, given, outputs)
            if any(row is not None and row.nan for row in contents)
            else None
        )
        for port, (array, held) in enumerate(zip(outputs, contents, strict=True)):
            key = (layer, port)
            row = Range(layer, port, element_type_of(array).name, array.shape, held, note)
            before = rows.get(key)
            if before is not None:
                both = (
                    None if held is None or before.values is None else merged(before.values, held)
                )
                row = row._replace(values=both, note=before.note or note, runs=before.runs + 1)
            rows[key] = row

    return session.run(inputs, observe=observe, inside=True), list(rows.values())


def stats_dict(model: Model, rows: Sequence[Range]) -> dict[str, Any]:
    """Returns the document that `irshape run --stats --format json` prints."""
    outputs = []
    for row in rows:
        held = {} if row.values is None else row.values.to_dict()
        outputs.append(
            {
                "layer": row.layer.reference,
                "port": row.port,
                "element_type": row.element_type,
                "shape": list(row.shape),
                **held,
                "runs": row.runs,
                "leaves_f16": row.leaves_f16,
                "note": row.note,
            }
        )
    return {"version": 1, "model": model.path, "outputs": outputs}


class Simulation(NamedTuple):
    """A run that rounds every f32 and f64 tensor as soon as it is computed, and every constant.

    outputs: the outputs of the rounded run. steps: all compared outputs, in topological order.
    """

    precision: Precision
    outputs: dict[str, Array]
    steps: list[SimulatedOutput]

    @property
    def first(self) -> SimulatedOutput | None:
        """The first output that becomes infinite or NaN although it is finite in full precision. If
        there is none, the first output with an error beyond the tolerance of the lower
        precision."""
        return next((step for step in self.steps if step.breaks), None) or next(
            (step for step in self.steps if step.departs), None
        )

    def to_dict(self, model: Model) -> dict[str, Any]:
        """Returns the document that `irshape run --simulate --format json` prints."""
        first = self.first
        steps = [
            {
                "layer": step.layer.reference,
                "port": step.port,
                "breaks": step.breaks,
                "departs": step.departs,
                **step.errors.to_dict(),
            }
            for step in self.steps
        ]
        return {
            "version": 1,
            "model": model.path,
            "precision": self.precision,
            "first": None
            if first is None
            else {"layer": first.layer.reference, "port": first.port, "breaks": first.breaks},
            "outputs": steps,
        }


def rounding(precision: Precision) -> Callable[[Array], Array]:
    """Returns a function that rounds f32 and f64 arrays to a narrower type, as a device stores
    them, and returns other arrays unchanged."""
    narrow = dtype_of(ElementType.of(precision))

    def round_(array: Array) -> Array:
        if array.dtype not in (np.float32, np.float64):
            return array
        with np.errstate(all="ignore"):
            return array.astype(narrow).astype(array.dtype)

    return round_


def unrounded(array: Array) -> Array:
    """Converts f16 and bf16 arrays to f32, so that results computed from them are not rounded to
    the narrow type."""
    return array.astype(np.float32) if array.dtype.name in ("float16", "bfloat16") else array


def all_tensors(
    session: Session, inputs: Given, progress: Observer | None
) -> dict[Layer, tuple[Array, ...]]:
    """Runs a model. Returns the outputs of every layer of the net, except Results.

    Raises `ExecutionError`, also if all outputs together take more memory than is allowed.
    """
    kept: dict[Layer, tuple[Array, ...]] = {}
    taken = 0

    def keep(layer: Layer, given: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
        nonlocal taken
        if progress is not None:
            progress(layer, given, outputs)
        if not layer.is_result:
            kept[layer] = outputs
            taken += 0 if layer.is_constant else sum(array.nbytes for array in outputs)
        if taken > session.max_memory:
            reason = f"the tensors of the whole run take {too_much(taken, session.max_memory)}"
            raise ExecutionError(reason, layer)

    session.run(inputs, observe=keep)
    return kept


def simulate(
    model: Model,
    inputs: Given,
    precision: Precision,
    *,
    max_memory: int | None = None,
    max_iterations: int = MAX_ITERATIONS,
    progress: Observer | None = None,
) -> Simulation:
    """Runs a model in full precision and again in a lower one, and compares the outputs.

    The tensors of the first run stay in memory during the second run. `Session` describes
    max_memory and max_iterations. Raises `ExecutionError`.
    """
    limits: Any = {"max_memory": max_memory, "max_iterations": max_iterations}
    kept = all_tensors(Session(model, **limits), inputs, progress)
    steps: list[SimulatedOutput] = []

    def observe(layer: Layer, given: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
        if progress is not None:
            progress(layer, given, outputs)
        if layer.is_constant or layer.is_parameter:
            return
        for port, (reference, array) in enumerate(zip(kept.pop(layer, ()), outputs, strict=False)):
            if not is_real(reference) or reference.shape != array.shape:
                continue
            breaks = None
            if has_nonfinite(array) and not has_nonfinite(reference):
                largest = float(np.max(np.abs(reference), initial=0.0))
                beyond = (
                    f"values up to {largest:.6g}, beyond {F16_MAX:g}, the largest number of f16"
                    if largest > F16_MAX and precision == "f16"
                    else "no longer finite"
                )
                breaks = source_of_nan(layer, given, outputs) or beyond
            steps.append(
                SimulatedOutput(
                    layer,
                    port,
                    errors(reference, array),
                    breaks,
                    not difference(reference, array, kind=precision)[2],
                )
            )

    lower = Session(model, **limits, rounding=rounding(precision))
    return Simulation(precision, lower.run(inputs, observe=observe), steps)
