"""The body of a control-flow layer that departs: which of its layers, and in which iteration."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..execution.session import ExecutionError, Session
from ..inference.engine import infer
from ..model.graph import Layer
from .reproducer import cut_body, file_stem
from .result import Comparison, Inside

Array = np.ndarray[Any, np.dtype[Any]]

MAX_ITERATIONS = 8
"""So many runs of a body are held against the device, each in a process of its own."""


def look_inside(
    session: Session,
    layer: Layer,
    inputs: Sequence[Array],
    options: Mapping[str, Any],
    crosscheck: Callable[..., Comparison],
) -> Inside | None:
    """Runs a control-flow layer on `inputs`, and holds its body against the device, iteration by iteration, until one has a layer to blame.

    crosscheck: compares a model with the device (`crosschecking.crosscheck`). options: those that it is called with; what `save` keeps of the body goes into a folder of its own there. None where no body runs, or none could be compared.
    """
    from ..formats.ir.writer import write
    from ..formats.loading import load

    assert layer.bodies is not None
    runs: list[tuple[str, dict[str, Array]]] = []
    begun: set[str] = set()
    """The layers that have been seen in the run at hand."""

    def observe(found: Layer, _: tuple[Array, ...], made: tuple[Array, ...]) -> None:
        if found.path[:-1] != (*layer.path, layer.id):
            return  # of a body inside the body
        if not begun or found.id in begun:
            runs.append((found.path[-1], {}))
            begun.clear()
        begun.add(found.id)
        if found.type.lower() == "parameter" and len(runs) <= MAX_ITERATIONS:
            runs[-1][1][found.id] = made[0]

    with suppress(
        ExecutionError
    ):  # said by who has run it before; the iterations up to there can be looked at
        session.evaluate(layer, tuple(inputs), observe)
    save = options.get("save")
    last: Inside | None = None
    for iteration, (tag, given) in enumerate(runs[:MAX_ITERATIONS]):
        alone, arrays = cut_body(session.model, layer.bodies[tag], given)
        with tempfile.TemporaryDirectory(prefix="irshape-") as name:
            path = Path(name) / "body.xml"
            try:
                write(alone, path, infer(alone))
                kept = None if save is None else Path(save) / file_stem(f"{layer.id}_{tag}")
                comparison = crosscheck(load(path), arrays, **{**options, "save": kept})
            except (ValueError, OSError, ExecutionError):
                continue
        last = Inside(layer, tag, iteration, iteration + 1, comparison)
        if comparison.blamed is not None:
            return last
    return last
