"""Computes the layers after a tensor from another value of that tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..model.wiring import OutputRef
from ..numpy_types import Array
from .crosscheck_run import CrosscheckRun


def users_of(run: CrosscheckRun, values: Mapping[OutputRef, Array]) -> Iterator[int]:
    """Yields, in order, the compared layers that use one of `values`. `values` may grow
    meanwhile."""
    for position in run.wiring.order:
        if not values.keys().isdisjoint(run.wiring.sources[position]) and run.rows_of.get(
            run.layers[position]
        ):
            yield position


def recompute(
    run: CrosscheckRun,
    position: int,
    values: Mapping[OutputRef, Array],
    value_of: Callable[[OutputRef], Array],
) -> tuple[Array, ...]:
    """Returns irshape's outputs of a layer from `values`, and `value_of` for its other inputs.

    Raises `ExecutionError` if irshape cannot compute the layer, and what `value_of` raises.
    """
    inputs = [
        values[source] if source in values else value_of(source)
        for source in run.wiring.sources[position]
        if source is not None
    ]
    return tuple(run.session.evaluate(run.layers[position], inputs))
