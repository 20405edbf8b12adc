"""Formats other than the IR, recognised by their bytes: ONNX (protobuf) and oneDNN Graph (JSON)."""

from __future__ import annotations

import re
from typing import Literal

from ..model.graph import Model
from ..model.source import Source

Format = Literal["onnx", "onednn"]

_WIRE_TYPES = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
"""The fields of an ONNX ModelProto, and how each is encoded: 0 a number, 2 a length and bytes."""
_GRAPH = 7
_JSON = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\{")


def recognised(data: bytes) -> Format | None:
    """What a file holds, if it is no IR."""
    if _JSON.match(data):
        return "onednn"
    return "onnx" if _is_onnx(data) else None


def _is_onnx(data: bytes) -> bool:
    """Whether the bytes are the fields of a ModelProto with a graph among them; one that is cut short inside its graph counts."""
    position, graph = 0, False
    while position < len(data):
        tag, position = _number(data, position)
        if _WIRE_TYPES.get(tag >> 3) != tag & 7:
            return False
        number, position = _number(data, position)
        if number < 0:
            return False
        graph = graph or tag >> 3 == _GRAPH
        if tag & 7 == 2:
            position += number
    return graph


def _number(data: bytes, position: int) -> tuple[int, int]:
    """The number encoded there, and where it ends; -1 where none is."""
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            return -1, position
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
    return -1, position


def read_foreign(source: Source, found: Format) -> Model:
    """Reads one into a model of OpenVINO's operations. Raises `NotReadable`."""
    if found == "onnx":
        from .onnx.reader import read as read_onnx

        return read_onnx(source)
    from .onednn.reader import read as read_onednn

    return read_onednn(source)
