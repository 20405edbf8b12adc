"""Tries, which find the longest entry of a vocabulary at a position in a text."""

from __future__ import annotations


class Trie:
    """A vocabulary that maps texts to numbers."""

    def __init__(self, values: dict[bytes, int]) -> None:
        self.values = values
        self.prefixes = {text[:end] for text in self.values for end in range(1, len(text) + 1)}

    def longest(self, text: bytes, start: int) -> tuple[int, int]:
        """Returns the number of the longest entry at a position, and the position after the entry.

        If no entry matches, it returns -1 and `start`.
        """
        number, reached = -1, start
        end = start + 1
        while end <= len(text) and (prefix := text[start:end]) in self.prefixes:
            value = self.values.get(prefix, -1)
            if value != -1:
                number, reached = value, end
            end += 1
        return number, reached
