"""ONNX models, read into OpenVINO's operations.

One module a family of operators; `declaration` says how one is declared, `reader` puts a model
together.
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
    runtimes=("onnxruntime", "reference"),
    comparing_runtime="onnxruntime",
)

INPUT = InputFormat(FORMAT, is_onnx, _read)
