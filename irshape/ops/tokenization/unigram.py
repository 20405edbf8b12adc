"""The Unigram language model, which splits a text into entries with the highest total score."""

from __future__ import annotations

from collections.abc import Sequence

from ..lazy import Array, np
from .charsmaps import character_size
from .tries import Trie

UNKNOWN_PENALTY = 10.0
"""The score of the unknown token is this much below the lowest score in the vocabulary."""


class UnigramModel:
    """A vocabulary with a score in f32 for each entry."""

    def __init__(self, vocabulary: Sequence[bytes], scores: Array, unknown: int) -> None:
        entries = [text.split(b"\0")[0] for text in vocabulary]
        self.trie = Trie({text: number for number, text in enumerate(entries)})
        self.scores = list(scores)
        self.unknown = unknown
        self.unknown_score = np.float32(float(min(self.scores)) - UNKNOWN_PENALTY)

    def tokens(self, text: bytes) -> list[int]:
        """Returns the tokens of one text. Adjacent unknown tokens become a single one."""
        size = len(text)
        best = [np.float32(0)] * (size + 1)
        came_from = [-1] * (size + 1)
        token_at = [self.unknown] * (size + 1)

        def offer(begin: int, end: int, token: int, score: Array) -> None:
            total = score + best[begin]
            if came_from[end] == -1 or total > best[end]:
                best[end], came_from[end], token_at[end] = total, begin, token

        begin = 0
        while begin < size:
            step = character_size(text, begin)
            covered = False
            end = begin + 1
            while end <= size and (prefix := text[begin:end]) in self.trie.prefixes:
                token = self.trie.values.get(prefix)
                if token is not None:
                    offer(begin, end, token, self.scores[token])
                    covered |= end - begin == step
                end += 1
            if not covered:
                offer(begin, begin + step, self.unknown, self.unknown_score)
            begin += step
        return self._path(came_from, token_at)

    def _path(self, came_from: list[int], token_at: list[int]) -> list[int]:
        result: list[int] = []
        previous, end = -1, len(came_from) - 1
        while end > 0:
            token = token_at[end]
            end = came_from[end]
            if token != self.unknown or previous != self.unknown:
                result.append(token)
                previous = token
        return result[::-1]
