"""Vocabularies, and the longest entry of one at a place of a text."""

from __future__ import annotations

from collections.abc import Iterable


class Trie:
    """Texts with a number each. A text that is added again takes the later number."""

    def __init__(self, entries: Iterable[tuple[bytes, int]]) -> None:
        self.values: dict[bytes, int] = dict(entries)
        self.prefixes = {text[:end] for text in self.values for end in range(1, len(text) + 1)}

    def longest(self, text: bytes, start: int) -> tuple[int, int]:
        """The number of the longest entry at a place and where it ends; -1 and the place if there
        is none.
        """
        number, reached = -1, start
        end = start + 1
        while end <= len(text) and (prefix := text[start:end]) in self.prefixes:
            value = self.values.get(prefix, -1)
            if value != -1:
                number, reached = value, end
            end += 1
        return number, reached
