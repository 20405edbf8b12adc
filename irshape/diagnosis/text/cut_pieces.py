"""Pieces of a text, cut at any place, that stand there once too often or in each other's place.

Where the text goes on rightly, some bytes on both sides of a cut stand elsewhere in it, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, product

from ...formats.ir.edits import Edit
from .excerpts import LONGEST, Excerpt
from .line_grammar import Place, lines_of, step, tag_of
from .slip import Slip, cited
from .structure import Structure

SIDE = 4
"""So many bytes on each side of a cut are looked for elsewhere."""
LONGEST_PIECE, LONGEST_PASTED = 200, 600
"""So long are pieces that are exchanged, or that stand there once too often."""
AROUND = 1 << 12
"""So many bytes before and behind are looked at for what goes on in which way."""
LONGEST_LINE = 250
"""In so many bytes of a line the first cut is looked for."""
REACH = LONGEST_LINE + LONGEST_PASTED
"""So far behind the beginning of the broken line pieces end."""
MOST_TRIED = 150
"""So many ways to put pieces back are tried."""
_SAME = bytes.maketrans(b"123456789", b"000000000")


class _Cuts:
    """Where what a text has at one place may go on with what it has at another."""

    def __init__(self, text: bytes, around: int, last: int) -> None:
        """around: where the broken line begins. last: up to where pieces may reach."""
        self.begin = max(0, around - AROUND)
        self.text = text[self.begin : around + AROUND].translate(_SAME)
        self.behind: defaultdict[bytes, set[bytes]] = defaultdict(set)
        self.before: defaultdict[bytes, set[bytes]] = defaultdict(set)
        self.left = MOST_TRIED
        plain, size = self.text, 2 * SIDE
        for both in {plain[at : at + size] for at in range(len(plain) - size)}:
            one, other = both[:SIDE], both[SIDE:]
            self.behind[one].add(other)
            self.before[other].add(one)
        self._heads: defaultdict[bytes, list[int]] = defaultdict(list)
        self._tails: defaultdict[bytes, list[int]] = defaultdict(list)
        for at in self.places(around, min(around + REACH, last)):
            self._heads[self.head(at)].append(at)
            self._tails[self.tail(at)].append(at)

    def places(self, first: int, last: int) -> list[int]:
        """The places where a cut may be: of blanks that follow each other, the first one."""
        text, begin = self.text, self.begin
        return [
            at for at in range(first, last) if not text[at - begin - 1 : at - begin + 1].isspace()
        ]

    def behind_tail(self, at: int, length: int) -> list[int]:
        """The places behind one, up to so far, at which what is before it may go on."""
        return self._among(self._heads, self.behind.get(self.tail(at), ()), at, length)

    def before_head(self, at: int, length: int) -> list[int]:
        """The places behind one, up to so far, behind which what is at it may stand."""
        return self._among(self._tails, self.before.get(self.head(at), ()), at, length)

    def _among(
        self, known: Mapping[bytes, list[int]], wanted: Iterable[bytes], at: int, length: int
    ) -> list[int]:
        places = chain.from_iterable(known.get(piece, ()) for piece in wanted)
        return sorted(place for place in places if at < place < at + length)

    def head(self, at: int) -> bytes:
        return self.text[at - self.begin : at - self.begin + SIDE]

    def tail(self, at: int) -> bytes:
        return self.text[at - self.begin - SIDE : at - self.begin]

    def take(self) -> bool:
        """Whether one more way may be tried."""
        self.left -= 1
        return self.left >= 0

    def goes_on(self, end: int, start: int) -> bool:
        return self.head(start) in self.behind.get(self.tail(end), ())


def in_cut_pieces(structure: Structure, places: Iterable[int]) -> Iterator[Iterable[Slip]]:
    """What may be meant where the order of lines breaks, kind by kind."""
    places = list(places)
    excerpt = Excerpt.around(structure, min(places), max(places))
    if excerpt.broken >= len(excerpt.lines) or any(len(line) > LONGEST for line in excerpt.lines):
        return
    cuts = _Cuts(structure.text, excerpt.starts[excerpt.broken], excerpt.starts[-1])
    yield _superfluous(excerpt, cuts)
    yield _exchanged(excerpt, cuts)


def _superfluous(excerpt: Excerpt, cuts: _Cuts) -> Iterator[Slip]:
    """A piece that stands elsewhere, too, is removed."""
    text = excerpt.text
    for start, first in _firsts(excerpt, cuts):
        ends = cuts.behind_tail(first, LONGEST_PASTED)
        bracket = text.find(b">", first)
        for end in ends:
            if not 0 <= bracket < end:  # without the end of a tag, it is what is left of one
                continue
            if not _is_elsewhere(text, first, end):
                break  # nor does a longer one
            if not cuts.take():
                return
            if _fits(excerpt, text[start:first], end):
                cause = f"{cited(text[first:end])} stands there once too often"
                gone = (Edit(first, end, b""),)
                yield Slip(gone, "it is removed", cause, start, doubtful=True)


def _exchanged(excerpt: Excerpt, cuts: _Cuts) -> Iterator[Slip]:
    """Two pieces, one behind the other, are exchanged."""
    text = excerpt.text
    for start, first in _firsts(excerpt, cuts):
        middles = cuts.behind_tail(first, 2 * LONGEST_PIECE)
        ends = cuts.before_head(first, 2 * LONGEST_PIECE) if middles else ()
        for middle, end in product(middles, ends):
            if end <= middle or not cuts.goes_on(middle, end):
                continue
            if not cuts.take():
                return
            put = text[middle:end] + text[first:middle]
            if _fits(excerpt, text[start:first] + put, end):
                cause = f"{cited(text[first:middle])} stands before what it follows"
                edit = Edit(first, end, put)
                yield Slip((edit,), "they are exchanged", cause, start, doubtful=True)


def _firsts(excerpt: Excerpt, cuts: _Cuts) -> Iterator[tuple[int, int]]:
    """Where the broken line begins, with each place in it where a piece may begin."""
    start, stop = excerpt.starts[excerpt.broken : excerpt.broken + 2]
    places = cuts.places(start, min(stop, start + LONGEST_LINE) + 1)
    yield from ((start, first) for first in places)


def _is_elsewhere(text: bytes, start: int, end: int) -> bool:
    piece = text[start:end]
    return text.find(piece) < start or text.find(piece, start + 1) >= 0


def _fits(excerpt: Excerpt, begin: bytes, end: int) -> bool:
    """Whether lines are in order that begin so where one is broken, and go on behind a place."""
    behind = bisect_right(excerpt.starts, end)
    place: Place | None = excerpt.states[excerpt.broken]
    for line in lines_of(begin + excerpt.text[end : excerpt.starts[behind]]):
        tag = tag_of(line)
        place = step(place, tag) if place is not None and tag is not None else None
        if place is None:
            return False
    return excerpt.behind(place, behind, len(excerpt.tags)) is not None
