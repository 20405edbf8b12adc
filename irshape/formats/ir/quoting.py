"""Texts as values of XML attributes."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def quoted(text: str) -> str:
    """A text in quotes, escaped."""
    return quoteattr(expressible(text))


def expressible(text: str) -> str:
    """A text with U+FFFD in the place of each character that XML cannot express.

    Names in ONNX models and oneDNN graphs may have any.
    """
    return text if text.isprintable() else _NOT_XML.sub("\ufffd", text)
