"""Reads ONNX models, and converts their nodes to OpenVINO's operations.

Each family of operators has a module. `declaration` has the decorator for conversion functions, and
`reader` builds the model.
"""

from __future__ import annotations

from ...model.format import Format
from ...model.graph import Model
from ...model.source import Source
from ..inputs import InputFormat, WeightsPath
from .recognition import is_onnx


def _read(source: Source, weights: WeightsPath) -> Model:
    from .reader import read

    return read(source)


FORMAT = Format(
    "ONNX",
    listed=True,
    runtimes=("onnxruntime", "reference"),
    comparing_runtime="onnxruntime",
)

INPUT = InputFormat(FORMAT, is_onnx, _read)
