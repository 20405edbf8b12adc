"""Describes a constant for the page: its type, shape and values, and a histogram of the values."""

from __future__ import annotations

import base64
from typing import Any

from ..model.graph import Layer, Model
from ..model.weights import Constant, raw_bytes

MOST_VALUES = 16
"""The page always contains the bytes of constants with at most this many elements."""
LONGEST = 1 << 14
"""With histograms, the page also contains the bytes of constants of at most this many bytes."""
MOST_BYTES = 1 << 20
"""The maximum total size of the constants on the page with more than `MOST_VALUES` elements."""
BEGINNING = 64
"""The number of elements that the page shows if it does not contain the constant's bytes."""
SAMPLE = 1 << 16
"""The maximum number of elements that a histogram counts. They are taken at equal distances."""
BINS = 24


class Constants:
    """Describes the constants of a model. Imports NumPy only for histograms."""

    def __init__(self, model: Model, histograms: bool) -> None:
        self.model = model
        self.histograms = histograms
        self._left = MOST_BYTES if histograms else 0
        self._in_bin = model.format.is_ir and model.kind == "net"

    def of(self, layer: Layer) -> dict[str, Any] | None:
        """Returns the description of a constant; None if the attributes of the layer are faulty.

        `data` contains the bytes in Base64. Without `data`, `offset` is their place in the .bin.
        """
        try:
            constant = self.model.constant(layer)
        except ValueError:
            return None
        elements = constant.elements
        document: dict[str, Any] = {
            "tensor": f"{constant.element_type} [{','.join(map(str, constant.shape))}]",
            "elements": elements,
            "bytes": constant.size,
        }
        if constant.element_type.name != "string":
            if 0 <= elements <= MOST_VALUES:
                document |= _data(constant)
            elif 0 <= constant.size <= min(LONGEST, self._left):
                document |= _data(constant)
                self._left -= constant.size
            if "data" not in document and self._in_bin:
                document["offset"] = constant.offset
        if self.histograms:
            document |= _spread(constant)
            if "data" in document:
                document.pop("begin", None)
        return document


def _data(constant: Constant) -> dict[str, str]:
    """Returns `data` for the description of a constant; nothing if the .bin lacks the bytes."""
    try:
        data = raw_bytes(constant)
    except ValueError:
        return {}
    return {} if data is None else {"data": base64.b64encode(data).decode()}


def _spread(constant: Constant) -> dict[str, Any]:
    """Returns the first elements, the range of all elements, and a histogram: how many elements
    are in each of `BINS` equal intervals."""
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
