"""Escapes and quotes texts for XML attributes."""

from __future__ import annotations

import re

_ESCAPES = {
    "&": "&amp;",
    ">": "&gt;",
    "<": "&lt;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}
_SPECIAL = re.compile('[&<>\n\r\t"]')
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def quoted(text: str) -> str:
    """Returns a text in quotes, escaped. Replaces characters that XML cannot represent."""
    return in_quotes(expressible(text))


def in_quotes(text: str) -> str:
    """Returns a text in quotes, escaped, as `xml.sax.saxutils.quoteattr` does.

    This avoids the import of `xml.sax.saxutils`, which takes as long as reading a small model.
    """
    if _SPECIAL.search(text) is None:
        return f'"{text}"'
    text = escaped(text)
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return '"' + text.replace('"', "&quot;") + '"'


def escaped(text: str) -> str:
    """Escapes a text for an attribute, except for quotes."""
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def expressible(text: str) -> str:
    """Returns a text with U+FFFD in place of characters that XML cannot represent.

    Names in ONNX models and oneDNN graphs may contain any character.
    """
    return text if text.isprintable() else _NOT_XML.sub("\ufffd", text)
