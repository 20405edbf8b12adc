"""Texts as values of XML attributes."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import pytest

from irshape.formats.ir.quoting import in_quotes

TEXTS = ["", "a", "a&b<c>d", "&amp;", "\t\n\r", '"', "'", "'\"", "<\"&'>\n", "Straße \ud83d"]


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_texts_are_quoted_as_by_the_standard_library(text: str) -> None:
    assert in_quotes(text) == quoteattr(text)
