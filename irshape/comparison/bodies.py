"""Finds the layer and the iteration that differ in the body of an If, Loop or TensorIterator."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..execution.session import ExecutionError, Session
from ..model.graph import Layer, Model
from ..numpy_types import Array
from .devices import written
from .reproducer import cut_body, file_stem
from .result import Comparison, Inside

MAX_ITERATIONS = 8
"""At most this many runs of a body are compared with the device."""


def look_inside(
    session: Session,
    layer: Layer,
    inputs: Sequence[Array],
    compare: Callable[[Model, Mapping[str, Array], str], Comparison],
) -> Inside | None:
    """Compares the body of a control-flow layer with the device, iteration by iteration.

    Stops at the first iteration in which a layer differs although irshape uses the device's input
    values. Returns None if no body runs, or no run can be compared.
    compare: a function that compares a model with the device, given its inputs and a name for it.
    """
    assert layer.bodies is not None
    last: Inside | None = None
    for iteration, (tag, inputs_of_run) in enumerate(_runs(session, layer, inputs)):
        alone, arrays = cut_body(session.model, layer.bodies[tag], inputs_of_run)
        with tempfile.TemporaryDirectory(prefix="irshape-") as folder:
            try:
                model = written(alone, Path(folder))
                comparison = compare(model, arrays, file_stem(f"{layer.id}_{tag}"))
            except (ValueError, OSError, ExecutionError):
                continue
        last = Inside(layer, tag, iteration, iteration + 1, comparison)
        if comparison.blamed is not None:
            return last
    return last


def _runs(
    session: Session, layer: Layer, inputs: Sequence[Array]
) -> list[tuple[str, dict[str, Array]]]:
    """Runs a layer. Returns an entry for each of the first runs of its bodies: the tag of the body,
    and the inputs of the run by the ids of the Parameters."""
    runs: list[tuple[str, dict[str, Array]]] = []
    begun: set[str] = set()
    """The layers that have been computed so far in this run of the body."""

    def observe(inner: Layer, _: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
        if inner.path[:-1] != (*layer.path, layer.id):
            return  # of a body inside the body
        if not begun or inner.id in begun:
            runs.append((inner.path[-1], {}))
            begun.clear()
        begun.add(inner.id)
        if inner.is_parameter and len(runs) <= MAX_ITERATIONS:
            runs[-1][1][inner.id] = outputs[0]

    # the whole run has reported the error; the iterations before it can still be compared
    with suppress(ExecutionError):
        session.evaluate(layer, inputs, observe)
    return runs[:MAX_ITERATIONS]
