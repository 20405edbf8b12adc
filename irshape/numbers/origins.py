"""Explains why a layer is the first that produces NaN."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.graph import Layer
from ..numpy_types import Array
from ..ops.registry import declaration_of
from .statistics import is_real


def has_nan(array: Array) -> bool:
    return is_real(array) and bool(np.isnan(array).any())


def has_nonfinite(array: Array) -> bool:
    return is_real(array) and not bool(np.isfinite(array).all())


def source_of_nan(layer: Layer, inputs: Sequence[Array], outputs: Sequence[Array]) -> str | None:
    """Returns why a layer produces NaN from inputs without NaN; None if its outputs have no NaN, or
    if an input has one."""
    if not any(map(has_nan, outputs)) or any(map(has_nan, inputs)):
        return None
    declared = declaration_of(layer)
    if declared is not None:
        reason = declared.read(layer.items)[0].source_of_nan(*inputs)
        if reason is not None:
            return reason
    for index, array in enumerate(inputs):
        if is_real(array) and bool(np.isinf(array).any()):
            return f"its input {index} contains infinity"
    return "none of its inputs contains NaN or infinity"
