"""Recognizes an ONNX model, and finds its external data files, without the onnx package.

A protobuf file does not begin with a fixed signature, so all its fields are checked.
"""

from __future__ import annotations

import mmap
import os
import re

_WIRE_TYPES = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
"""Maps the fields of a ModelProto to wire types: 0 for a number, 2 for a length and bytes."""
_GRAPH = 7
_LOCATION = re.compile(rb"\n\x08location\x12")
"""The bytes of the key `location` in a tensor's external data. The name of the file follows, with
its length."""


def is_onnx(data: bytes) -> bool:
    """Whether the bytes are the fields of a ModelProto with a graph.

    Also returns True if the file ends within the graph.
    """
    position, has_graph = 0, False
    while position < len(data):
        tag, position = _varint(data, position)
        if _WIRE_TYPES.get(tag >> 3) != tag & 7:
            return False
        number, position = _varint(data, position)
        if number < 0:
            return False
        has_graph = has_graph or tag >> 3 == _GRAPH
        if tag & 7 == 2:
            position += number
    return has_graph


def external_files(path: str) -> frozenset[str]:
    """Returns the resolved paths of the files that an ONNX model names as external data.

    Searches the bytes of the model for the names. Returns no paths if the file cannot be read.
    """
    names = set()
    try:
        if os.path.isfile(path):  # a pipe would be waited for
            with (
                open(path, "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                for match in _LOCATION.finditer(data):
                    size, start = _varint(data[match.end() : match.end() + 10], 0)
                    start += match.end()
                    names.add(os.fsdecode(data[start : start + max(size, 0)]))
        folder = os.path.dirname(path)
        return frozenset(os.path.realpath(os.path.join(folder, name)) for name in names)
    except (OSError, ValueError):
        return frozenset()


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Returns the number encoded at `position`, or -1 if it is cut off, and the offset after it."""
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
