"""Writes texts as values of XML attributes."""

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
    """Returns a text in quotes, escaped. Characters that XML cannot express are replaced."""
    return in_quotes(expressible(text))


def in_quotes(text: str) -> str:
    """Returns a text in quotes, escaped, as `xml.sax.saxutils.quoteattr` does.

    That module is not used, because it imports `urllib.request`, which takes as long as reading a
    small model.
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
    """Returns a text in which everything but quotes is escaped."""
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def expressible(text: str) -> str:
    """Replaces each character that XML cannot express by U+FFFD.

    Names in ONNX models and oneDNN graphs may contain any character.
    """
    return text if text.isprintable() else _NOT_XML.sub("\ufffd", text)
