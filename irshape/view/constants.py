"""What the page shows of a constant: its type and shape, and how its elements are spread."""

from __future__ import annotations

from typing import Any

from ..model.graph import Layer, Model
from ..model.weights import Constant, small_values

MOST_VALUES = 16
"""Constants with at most as many elements are written out."""
BEGINNING = 64
"""How many elements of larger constants are written out, where the .bin is read."""
SAMPLE = 1 << 16
"""How many elements of a constant a histogram counts at most, taken at even distances."""
BINS = 24
_WITHOUT_NUMPY = frozenset(
    (
        "i64",
        "u64",
        "i32",
        "u32",
        "i16",
        "u16",
        "i8",
        "u8",
        "boolean",
        "f32",
        "f64",
        "f16",
        "bf16",
        "u4",
        "i4",
    )
)


class Constants:
    """Describes the constants of a model. NumPy is imported if histograms are asked for."""

    def __init__(self, model: Model, histograms: bool) -> None:
        self.model = model
        self.histograms = histograms

    def of(self, layer: Layer) -> dict[str, Any] | None:
        """The constant of a layer; None where its attributes describe none."""
        try:
            constant = self.model.constant(layer)
            elements = constant.elements
        except ValueError:
            return None
        document: dict[str, Any] = {
            "tensor": f"{constant.element_type} {constant.partial_shape}",
            "elements": elements,
            "bytes": constant.size,
        }
        if 0 <= elements <= MOST_VALUES and constant.element_type.name in _WITHOUT_NUMPY:
            numbers = _small(constant)
            if numbers is not None:
                document["values"] = numbers
        if self.histograms:
            document |= _spread(constant)
            if "values" in document:
                document.pop("begin", None)
        return document


def _small(constant: Constant) -> list[str] | None:
    try:
        numbers = small_values(constant)
    except ValueError:
        return None
    return None if numbers is None else [f"{number:.6g}" for number in numbers]


def _spread(constant: Constant) -> dict[str, Any]:
    """The range of the elements, and how many lie in each of the equal intervals of it."""
    import numpy as np

    from ..numbers.statistics import values

    try:
        array = constant.array().reshape(-1)
    except (ValueError, MemoryError):
        return {}
    step = -(-array.size // SAMPLE) if array.size else 1
    sample = array[::step]
    numbers = values(sample)
    if numbers is None or numbers.lowest is None or numbers.highest is None:
        return {}
    with np.errstate(all="ignore"):
        wide = sample.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        scale = max(abs(numbers.lowest), abs(numbers.highest)) or 1.0
        counts, _ = np.histogram(finite / scale, bins=BINS)
    return {
        "begin": [f"{number:.6g}" for number in array[:BEGINNING].astype(np.float64).tolist()],
        "histogram": counts.tolist(),
        "sampled": int(sample.size) if step > 1 else 0,
        "range": {
            name: float(f"{value:.6g}") if isinstance(value, float) else value
            for name, value in numbers.to_dict().items()
            if value is not None
        },
    }
