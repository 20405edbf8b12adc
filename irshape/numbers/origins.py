"""Where NaN and infinity come from: what in the inputs of a layer makes it give the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.graph import Layer
from .statistics import is_real

Array = np.ndarray[Any, np.dtype[Any]]


def has_nan(array: Array) -> bool:
    return is_real(array) and bool(np.isnan(array).any())


def has_nonfinite(array: Array) -> bool:
    return is_real(array) and not bool(np.isfinite(array).all())


def source_of_nan(layer: Layer, inputs: Sequence[Array], outputs: Sequence[Array]) -> str | None:
    """Why a layer gives NaN where none came in; None where it gives none, or passes some on."""
    if not any(has_nan(array) for array in outputs) or any(has_nan(array) for array in inputs):
        return None
    reals = [array for array in inputs if is_real(array) and array.size]
    folded = layer.type.lower()
    infinite = [
        index
        for index, array in enumerate(inputs)
        if is_real(array) and bool(np.isinf(array).any())
    ]
    if folded in ("softmax", "logsoftmax") and reals:
        whole = np.isneginf(reals[0])
        axis = int(layer.attribute("axis") or 1)
        if axis < whole.ndim and bool(whole.all(axis=axis).any()):
            return f"a row of its input holds nothing but -inf along axis {axis} (all of it is masked out)"
    if (
        folded == "scaleddotproductattention"
        and len(inputs) > 3
        and inputs[3].ndim
        and bool(_masked(inputs[3]).all(axis=-1).any())
    ):
        return "a row of its mask lets nothing through (false, or -inf, all along)"
    if folded in ("divide", "mod", "floormod") and len(reals) > 1 and bool((reals[1] == 0).any()):
        return "it divides 0 by 0"
    if folded in ("sqrt", "log", "power") and reals and bool((reals[0] < 0).any()):
        return f"its input goes down to {float(np.min(reals[0])):.6g}"
    if infinite:
        return f"its input {infinite[0]} holds infinity"
    return "no input of it holds NaN or infinity"


def _masked(mask: Array) -> Array:
    return ~mask if mask.dtype.kind == "b" else np.isneginf(mask)
