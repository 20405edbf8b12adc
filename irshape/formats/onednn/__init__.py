"""Reads a oneDNN Graph in JSON, and converts it to OpenVINO's operations.

Each family of operation kinds has a module. `declaration` has the decorator that declares a kind,
and `reader` builds the model.
"""

from __future__ import annotations

import re

from ...model.format import Format
from ...model.graph import Model
from ...model.source import Source
from ..inputs import InputFormat, WeightsPath

_JSON = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\{")
_OPERATIONS = re.compile(rb'"graph"\s*:\s*\[\s*\{')


def _recognises(data: bytes) -> bool:
    """Whether the bytes begin like a JSON object."""
    return _JSON.match(data) is not None


def begins_as_graph(data: bytes) -> bool:
    """Whether the first bytes of a JSON file look like a `graph` of operations."""
    return _recognises(data) and _OPERATIONS.search(data) is not None


def _read(source: Source, weights: WeightsPath) -> Model:
    from .reader import read

    return read(source)


FORMAT = Format("oneDNN Graph", runtimes=("onednn",))

INPUT = InputFormat(FORMAT, _recognises, _read)
