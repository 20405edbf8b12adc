"""The values of every layer: what range they have, and what lower precision would make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..byte_sizes import written_size
from ..model.graph import Layer, Model
from ..numbers.origins import has_nonfinite, source_of_nan
from ..numbers.statistics import (
    F16_MAX,
    Errors,
    Values,
    errors,
    is_real,
    merged,
    plain_number,
    values,
)
from ..numbers.tolerance import difference
from ..numpy_types import dtype_of, element_type_of
from ..types import ElementType
from .session import Array, ExecutionError, Observer, Session

Precision = Literal["f16", "bf16"]


class Range(NamedTuple):
    """What one output holds; `values` is None for texts. note: what makes the first NaN of a chain, where this is it.

    runs: how often its layer has run; one in a body may run many times. Then `values` is of all of them, `shape` that of the last.
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
        """Whether finite values become infinite in f16. Only of types that hold more than f16 does."""
        return self.values is not None and self.values.beyond_f16 > 0


class Step(NamedTuple):
    """One output in lower precision, beside the same output at full precision. breaks: what becomes infinite or NaN that was finite."""

    layer: Layer
    port: int
    errors: Errors
    breaks: str | None
    departs: bool
    """Whether the error is beyond the tolerance of the precision."""


def ranges(
    session: Session,
    inputs: Mapping[str, Array] | Sequence[Array] | None,
    progress: Observer | None = None,
) -> tuple[dict[str, Array], list[Range]]:
    """Runs a model; its outputs, and what every output port holds, in the order in which they are computed: the layers of a body before the one that has it.

    Raises `ExecutionError`.
    """
    rows: dict[tuple[int, int], Range] = {}

    def observe(layer: Layer, given: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        if progress is not None and not layer.path:
            progress(layer, given, made)
        if layer.type.lower() == "result":
            return
        found = [values(array) for array in made]
        note = (
            source_of_nan(layer, given, made)
            if any(row is not None and row.nan for row in found)
            else None
        )
        for port, (array, held) in enumerate(zip(made, found, strict=True)):
            key = (id(layer), port)
            row, before = (
                Range(layer, port, element_type_of(array).name, array.shape, held, note),
                rows.get(key),
            )
            if before is not None:
                both = (
                    None if held is None or before.values is None else merged(before.values, held)
                )
                row = row._replace(values=both, note=before.note or note, runs=before.runs + 1)
            rows[key] = row

    return session.run(inputs, observe=observe, inside=True), list(rows.values())


def stats_dict(model: Model, rows: Sequence[Range]) -> dict[str, Any]:
    """What `irshape run --stats --format json` prints."""
    outputs = []
    for row in rows:
        found = {} if row.values is None else row.values.to_dict()
        outputs.append(
            {
                "layer": _reference(row.layer),
                "port": row.port,
                "element_type": row.element_type,
                "shape": list(row.shape),
                **found,
                "runs": row.runs,
                "leaves_f16": row.leaves_f16,
                "note": row.note,
            }
        )
    return {"version": 1, "model": model.path, "outputs": outputs}


def _reference(layer: Layer) -> dict[str, Any]:
    return {
        "id": layer.id,
        "name": layer.name,
        "type": layer.type,
        "opset": layer.version,
        "path": list(layer.path),
    }


class Simulation(NamedTuple):
    """A run in which every f32 and f64 tensor is rounded after its layer, constants included. outputs: of that run. steps: in topological order."""

    precision: Precision
    outputs: dict[str, Array]
    steps: list[Step]

    @property
    def first(self) -> Step | None:
        """The first output that becomes infinite or NaN though it was finite; where none does, the first that departs by more than the precision explains."""
        return next((step for step in self.steps if step.breaks), None) or next(
            (step for step in self.steps if step.departs), None
        )

    def to_dict(self, model: Model) -> dict[str, Any]:
        """What `irshape run --simulate --format json` prints."""
        first = self.first
        steps = [
            {
                "layer": _reference(step.layer),
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
            else {"layer": _reference(first.layer), "port": first.port, "breaks": first.breaks},
            "outputs": [
                {name: plain_number(value) for name, value in step.items()} for step in steps
            ],
        }


def rounding(precision: Precision) -> Callable[[Array], Array]:
    """f32 and f64 through a narrower type and back, as a device would keep them; other types as they are."""
    narrow = dtype_of(ElementType.of(precision))

    def round_(array: Array) -> Array:
        if array.dtype not in (np.float32, np.float64):
            return array
        with np.errstate(all="ignore"):
            return array.astype(narrow).astype(array.dtype)

    return round_


def simulate(
    model: Model,
    inputs: Mapping[str, Array] | Sequence[Array] | None,
    precision: Precision,
    *,
    max_memory: int | None = None,
    progress: Observer | None = None,
) -> Simulation:
    """Runs a model at full precision and in a lower one. All tensors of the first run are kept for the second. Raises `ExecutionError`."""
    exact = Session(model, max_memory=max_memory)
    kept: dict[int, tuple[Array, ...]] = {}
    taken = 0

    def keep(layer: Layer, given: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        nonlocal taken
        if progress is not None:
            progress(layer, given, made)
        if layer.type.lower() in ("const", "constant", "result", "parameter"):
            return
        kept[id(layer)] = made
        taken += sum(array.nbytes for array in made)
        if taken > exact.max_memory:
            raise ExecutionError(
                f"the tensors of the whole run take more than the {written_size(exact.max_memory)} allowed (--max-memory)",
                layer,
            )

    exact.run(inputs, observe=keep)
    steps: list[Step] = []

    def observe(layer: Layer, given: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        if progress is not None:
            progress(layer, given, made)
        for port, (reference, array) in enumerate(zip(kept.pop(id(layer), ()), made, strict=False)):
            if not is_real(reference) or reference.shape != array.shape:
                continue
            breaks = None
            if has_nonfinite(array) and not has_nonfinite(reference):
                largest = float(np.max(np.abs(reference), initial=0.0))
                beyond = (
                    f"values up to {largest:.6g}, beyond the {F16_MAX:g} of f16"
                    if largest > F16_MAX and precision == "f16"
                    else "not finite any more"
                )
                breaks = source_of_nan(layer, given, made) or beyond
            steps.append(
                Step(
                    layer,
                    port,
                    errors(reference, array),
                    breaks,
                    not difference(reference, array, kind=precision)[2],
                )
            )

    lower = Session(model, max_memory=max_memory, rounding=rounding(precision))
    return Simulation(precision, lower.run(inputs, observe=observe), steps)
