"""Byte-pair encoding, which applies the merges of a vocabulary to a text, by rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .tries import Trie


class _Merge(NamedTuple):
    """A pair of adjacent symbols that can be merged. order: the order in which pairs were found."""

    rank: int
    order: int
    result: int
    left: int
    right: int

    def later(self, other: _Merge) -> bool:
        return (self.rank, self.order) > (other.rank, other.order)


class BytePairs:
    """A vocabulary with its merges.

    Raises `ValueError` for a merge of texts that the vocabulary does not contain.

    unknown: the token for bytes that no entry covers.
    end_suffix: the text that is appended to every text.
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
            raise ValueError(f"a merge needs {problem}, which the vocabulary lacks") from None
        for left, right in merges:
            remaining.pop(left + right, None)
        self.remaining = remaining
        self.trie = Trie(remaining.items())

    def tokens(self, text: bytes) -> list[int]:
        """Returns the tokens of one text."""
        text += self.end_suffix
        symbols = self._symbols(text)
        after = [*range(1, len(symbols)), -1]
        before = list(range(-1, len(symbols) - 1))
        alive = [True] * len(symbols)
        heap: list[_Merge] = []
        order = 0

        def notice(left: int, right: int) -> None:
            merge = self.merges.get((symbols[left], symbols[right]))
            if merge is not None:
                _push(heap, _Merge(merge[0], order, merge[1], left, right))

        for position in range(len(symbols) - 1):
            notice(position, position + 1)
            order += 1
        first = 0
        while heap:
            merge = _pop(heap)
            left, right = merge.left, merge.right
            if not alive[left] or not alive[right] or after[left] != right:
                continue
            previous, following, merged = before[left], after[right], len(symbols)
            symbols.append(merge.result)
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
        result, position = [], first if symbols else -1
        while position != -1:
            result.append(symbols[position])
            position = after[position]
        return result

    def _symbols(self, text: bytes) -> list[int]:
        """Returns the symbols before any merge.

        At each position, it is the longest entry that is not the result of a merge.
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


# The heap of C++'s standard library in GCC. Two merges of the same rank that were found at the same
# time have no defined order, so the result depends on the heap.


def _push(heap: list[_Merge], merge: _Merge) -> None:
    heap.append(merge)
    _rise(heap, len(heap) - 1, 0, merge)


def _rise(heap: list[_Merge], hole: int, top: int, merge: _Merge) -> None:
    parent = (hole - 1) // 2
    while hole > top and heap[parent].later(merge):
        heap[hole] = heap[parent]
        hole = parent
        parent = (hole - 1) // 2
    heap[hole] = merge


def _pop(heap: list[_Merge]) -> _Merge:
    top, last = heap[0], heap.pop()
    if not heap:
        return top
    hole, child, size = 0, 0, len(heap)
    while child < (size - 1) // 2:
        child = 2 * (child + 1)
        if heap[child].later(heap[child - 1]):
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * (child + 1)
        heap[hole] = heap[child - 1]
        hole = child - 1
    _rise(heap, hole, 0, last)
    return top
