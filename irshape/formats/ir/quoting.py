"""Texts as values of XML attributes."""

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
    """A text in quotes, escaped; what XML cannot express is replaced."""
    return in_quotes(expressible(text))


def in_quotes(text: str) -> str:
    """A text in quotes, escaped.

    Does what `xml.sax.saxutils.quoteattr` does, a module which imports `urllib.request`: that takes
    as long as a small model does.
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
    """A text with all escaped but quotes."""
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def expressible(text: str) -> str:
    """A text with U+FFFD in the place of each character that XML cannot express.

    Names in ONNX models and oneDNN graphs may have any.
    """
    return text if text.isprintable() else _NOT_XML.sub("\ufffd", text)
