"""The texts of the document, each stored once, the compressed XML of each layer, and rt_info."""

from __future__ import annotations

import base64
import zlib
from xml.parsers.expat import ExpatError

from ..model.graph import Layer, Model
from ..model.rt_info import parse
from ..model.source import Source

LONGEST_XML = 4_000
"""The maximum number of bytes of the XML of a layer."""
CHUNK = 1 << 18
"""The number of bytes of XML that are compressed together. The page decompresses only the parts
that it shows."""
DEEPEST_INFO = 12


class Texts:
    """Numbers texts. `all` contains them in order."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str | None) -> int:
        """Returns the number of a text; -1 for None."""
        if text is None:
            return -1
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(text)
        return number


class XmlLines:
    """The lines of each layer in the file."""

    def __init__(self, model: Model) -> None:
        self.source = model.source
        self._is_xml = model.format.xml
        self._pieces: list[bytes] = []
        self._length = 0
        self._chunks: list[str] = []

    def span(self, layer: Layer) -> list[int]:
        """Returns the chunk with the lines of a layer, and where they start and end in it."""
        if not self._is_xml or layer.offset < 0:
            return []
        text = self._text(layer)
        if self._length + len(text) > CHUNK:
            self._flush()
        start = self._length
        self._pieces.append(text)
        self._length += len(text)
        return [len(self._chunks), start, self._length]

    def chunks(self) -> list[str]:
        """Returns the chunks, compressed with deflate, in Base64."""
        self._flush()
        return self._chunks

    def _flush(self) -> None:
        if self._pieces:
            compressed = zlib.compress(b"".join(self._pieces), 6)
            self._chunks.append(base64.b64encode(compressed).decode())
            self._pieces, self._length = [], 0

    def _text(self, layer: Layer) -> bytes:
        data, start = self.source.data, layer.offset
        limit = min(len(data), start + LONGEST_XML)
        end = data.find(b">", start, limit) + 1
        if end and data[end - 2 : end] != b"/>":
            close = data.find(b"</layer>", end, limit)
            end = close + len(b"</layer>") if close >= 0 else 0
        bodies = (data.find(tag, start, end or limit) for tag in _BODIES if layer.bodies)
        body = min((at for at in bodies if at >= 0), default=-1)
        cut = body >= 0 or not end
        end = body if body >= 0 else end or limit
        indent = data[data.rfind(b"\n", 0, start) + 1 : start]
        text = (indent if not indent.strip() else b"") + data[start:end]
        decoded = text.decode(self.source.encoding, "replace") + ("…" if cut else "")
        return decoded.encode("utf-8", "replace")


_BODIES = (b"<body", b"<then_body", b"<else_body")


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
