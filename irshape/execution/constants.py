"""Reads the constants of a model as arrays, each once."""

from __future__ import annotations

from collections.abc import Callable

from ..model.graph import Layer, Model
from ..model.weights import Constant, Weights, array
from ..numpy_types import Array
from .errors import ExecutionError

Rounding = Callable[[Array], Array]
"""A function that is applied to every tensor of a run, e.g. to round it as a device of lower
precision would."""


class Constants:
    """The constants of a model, each read on first use. rounding: a function that is applied to
    each array."""

    def __init__(self, model: Model, rounding: Rounding | None = None) -> None:
        self.model = model
        self.rounding = rounding
        self._arrays: dict[Layer, Array] = {}

    def __getitem__(self, layer: Layer) -> Array:
        """Returns the array of a Const layer. Raises `ExecutionError` if it cannot be read."""
        known = self._arrays.get(layer)
        if known is None:
            known = _read(self.model, layer)
            if self.rounding is not None:
                known = self.rounding(known)
            known.flags.writeable = False  # an output of the model may be a view of it
            self._arrays[layer] = known
        return known


def _read(model: Model, layer: Layer) -> Array:
    try:
        constant = Constant.of(layer.items, model.weights)
    except ValueError as problem:
        raise ExecutionError(
            f"its attributes do not describe a constant: {problem}", layer
        ) from None
    if constant.element_type.is_dynamic:
        raise ExecutionError(
            "its element type is dynamic, so its bytes have no meaning as numbers", layer
        )
    data = array(constant)
    if data is None:
        weights = model.weights or Weights.open(None)
        raise ExecutionError(weights.fault or "its bytes do not lie inside the .bin", layer)
    if not data.flags.aligned:
        # BLAS takes no such arrays, and NumPy's own loops are an order of magnitude slower
        return data.copy()
    return data
