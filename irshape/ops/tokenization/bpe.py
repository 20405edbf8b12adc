"""Byte-pair encoding: merges pairs of vocabulary entries in a text, in the order of their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from .tries import Trie


class BytePairs:
    """A vocabulary and its merges, e.g. of `b"t"` and `b"h"` to `b"th"`.

    Raises `ValueError` for a merge of texts that the vocabulary does not contain.

    unknown: the entry of the vocabulary that stands for bytes that no entry matches.
    end_suffix: the text that is appended to every text before it is split.
    """

    def __init__(
        self,
        vocabulary: Mapping[bytes, int],
        merges: Sequence[tuple[bytes, bytes]],
        *,
        unknown: bytes,
        end_suffix: bytes,
        byte_fallback: bool,
    ) -> None:
        self.merges: dict[tuple[int, int], tuple[int, int]] = {}
        self.unknown = vocabulary.get(unknown, -1)
        self.end_suffix = end_suffix
        self.byte_fallback = byte_fallback
        remaining = dict(vocabulary)
        try:
            for rank, (left, right) in enumerate(merges):
                pair = vocabulary[left], vocabulary[right]
                self.merges[pair] = rank, vocabulary[left + right]
        except KeyError as problem:
            raise ValueError(f"a merge uses {problem}, which is no vocabulary entry") from None
        for left, right in merges:
            remaining.pop(left + right, None)
        self.remaining = remaining
        self.trie = Trie(remaining)

    def tokens(self, text: bytes) -> list[int]:
        """Returns the tokens of one text."""
        text += self.end_suffix
        symbols = self._symbols(text)
        after = [*range(1, len(symbols)), -1]
        before = list(range(-1, len(symbols) - 1))
        alive = [True] * len(symbols)
        heap: list[tuple[int, int, int, int, int]] = []
        """Pairs that can be merged, each as: rank, order of discovery, two positions, result."""
        order = 0

        def notice(left: int, right: int) -> None:
            merge = self.merges.get((symbols[left], symbols[right]))
            if merge is not None:
                heappush(heap, (merge[0], order, left, right, merge[1]))

        for position in range(len(symbols) - 1):
            notice(position, position + 1)
            order += 1
        first = 0
        while heap:
            _, _, left, right, result = heappop(heap)
            if not alive[left] or not alive[right] or after[left] != right:
                continue
            previous, following, merged = before[left], after[right], len(symbols)
            symbols.append(result)
            before.append(previous)
            after.append(following)
            alive.append(True)
            alive[left] = alive[right] = False
            order += 1
            if previous == -1:
                first = merged
            else:
                after[previous] = merged
            if following != -1:
                before[following] = merged
            if previous != -1:
                notice(previous, merged)
            if following != -1:
                notice(merged, following)
        tokens, position = [], first if symbols else -1
        while position != -1:
            tokens.append(symbols[position])
            position = after[position]
        return tokens

    def _symbols(self, text: bytes) -> list[int]:
        """Returns the tokens of a text before any merge.

        At each position, takes the longest entry of the vocabulary that is not made by a merge.
        """
        symbols: list[int] = []
        place = 0
        while place < len(text):
            token, reached = self.trie.longest(text, place)
            if token == -1:
                reached = place + 1
                if self.byte_fallback:
                    token = self.remaining.get(b"<0x%02X>" % text[place], -1)
                if token == -1:
                    token = self.unknown
            if token != -1:
                symbols.append(token)
            place = reached
        return symbols
