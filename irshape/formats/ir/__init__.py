"""Recognizes, reads, edits and writes OpenVINO IR files, and reads files of single layers."""

from __future__ import annotations

from ...model.format import Format
from ...model.graph import Model
from ...model.source import Source
from ...urls import is_url
from ..inputs import InputFormat, WeightsPath
from .recognition import holds_single_layers, opened_text


def _read(source: Source, weights: WeightsPath) -> Model:
    from ...model.weights import Weights

    if holds_single_layers(source.data):
        from .fragments import read_layers

        model = read_layers(source)
        model.weights = Weights.open(None)
        return model
    from .reader import read

    model = read(source)
    if weights is not None and is_url(weights):
        from ..remote import expect_small_constants, open_remote_weights

        model.weights = open_remote_weights(str(weights))
        expect_small_constants(model)
    else:
        model.weights = Weights.open(weights)
    return model


FORMAT = Format("IR", is_ir=True)

# the last format that is tried accepts every file; the reader reports files that are no IR
INPUT = InputFormat(FORMAT, lambda data: True, _read, opened_text)
