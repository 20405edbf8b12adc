"""Implements `irshape.reduce`: the smallest model that still has a property."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from ..model.graph import Layer, Model
from .candidates import Workshop, save
from .edits import computing, mapped
from .layers import hoist_bodies, remove_layers
from .search import Predicate, Progress, Search, Stopped
from .sizes import shrink_sizes
from .values import simplify_values

Limit = Literal["tries", "time"]


def _drop_info(search: Search) -> None:
    """Removes the rt_info of the net and of all layers."""

    def plain(layer: Layer) -> Layer:
        changed = copy(layer)
        changed.rt_info_span = None
        return changed

    search.first([mapped(search.best.net, plain)], bare=True)


@dataclass(eq=False, repr=False)
class Reduction:
    """The result of a reduction."""

    original: Model
    model: Model
    """The smallest model found."""
    tries: int = 0
    """How often the predicate was called."""
    seconds: float = 0.0
    stopped: Limit | None = None
    """The limit that ended the search; None if the search ended without one."""

    @property
    def layers(self) -> list[Layer]:
        """The layers that compute something (no Parameters, Constants or Results), bodies
        included."""
        return computing(self.model.walk())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model: the .xml, and the .bin beside it. Raises `OSError`."""
        save(self.model, path)

    def __repr__(self) -> str:
        before = len(computing(self.original.walk()))
        return f"<Reduction to {len(self.layers)} of {before} layers>"


def reduce(
    model: Model,
    predicate: Predicate,
    *,
    jobs: int = 1,
    max_tries: int | None = None,
    max_time: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Reduction:
    """Implements `irshape.reduce`."""
    if model.kind == "layers":
        raise ValueError("single layers cannot be reduced; give a whole model")
    start = monotonic()
    search = Search(
        Workshop(model),
        predicate,
        jobs=jobs,
        max_tries=max_tries,
        max_time=max_time,
        progress=progress,
    )
    reduction = Reduction(model, model)
    try:
        if not any(search.begin(whole) for whole in search.workshop.rewritten()):
            raise ValueError("the model no longer has the property after irshape writes it again")
        before = b""
        while before != search.best.digest:
            before = search.best.digest
            for step in (remove_layers, hoist_bodies, simplify_values, shrink_sizes, _drop_info):
                step(search)
    except Stopped as stopped:
        reduction.stopped = stopped.args[0]
    finally:
        search.close()
    reduction.tries = search.tries
    if hasattr(search, "best"):
        if added := search.workshop.added_rules(search.best):
            raise ValueError(
                f"as rewritten by irshape, the unreduced model breaks rules ({', '.join(added)}) "
                "that the original does not break; correct the original first"
            )
        reduction.model = search.best.model
    reduction.seconds = monotonic() - start
    return reduction
