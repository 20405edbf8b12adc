"""Compresses the XML and rt_info of layers for a page."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any
from xml.parsers.expat import ExpatError

from ..model.graph import Layer, Model
from ..model.rt_info import parse
from ..model.source import Source

LONGEST_XML = 4_000
"""The maximum number of bytes of a layer's XML on the page."""
CHUNK = 1 << 18
"""The number of bytes of XML that are compressed together. The page decompresses only the parts
that it shows."""
DEEPEST_INFO = 12


def xml_lines(
    model: Model, layers: Sequence[Layer], rows: Sequence[list[Any]], field: int
) -> list[str]:
    """Returns the XML of all layers in parts, each compressed with deflate and encoded in Base64.
    Stores in each layer's row where its XML begins in the whole text."""
    source, length = model.source, 0
    pieces: list[bytes] = []
    placed = [(layer.offset, at) for at, layer in enumerate(layers) if layer.offset >= 0]
    placed = sorted(placed) if model.format.is_ir else []
    ends = [offset for offset, _ in placed[1:]] + [len(source.data)]
    for (start, at), end in zip(placed, ends, strict=False):  # none for other formats
        piece = source.data[start : min(end, start + LONGEST_XML)]
        if source.encoding != "utf-8":
            piece = piece.decode(source.encoding, "replace").encode("utf-8", "replace")
        rows[at][field] = length
        length += len(piece)
        pieces.append(piece)
    text = b"".join(pieces)
    parts = [text[start : start + CHUNK] for start in range(0, length, CHUNK)]
    return [base64.b64encode(zlib.compress(part)).decode() for part in parts]


def rt_info(source: Source, span: tuple[int, int] | None) -> dict[str, object]:
    """Returns the readable part of the `rt_info` of a net or a layer."""
    try:
        info = _shallow(parse(source, span), DEEPEST_INFO)
        assert isinstance(info, dict)
        return info
    except (ExpatError, ValueError):
        return {}


def _shallow(info: object, depth: int) -> object:
    if not isinstance(info, dict):
        return info
    return {key: _shallow(value, depth - 1) for key, value in info.items()} if depth else "…"
