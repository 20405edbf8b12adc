"""Matches the layers of two bodies, whatever their ids and names.

First come the certain matches: layers with the same content, if all layers on which they depend, or
all layers that depend on them, also have the same content. Among several such layers, ids and names
decide. From these matches, the matching spreads along edges and by names. The time of every step is
proportional to the number of edges.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from .content import EXACT, SHAPED, TYPE, WEIGHED, Side, same_bytes

_DEPTH = 5
"""The maximum number of layers without a partner that the matching examines in a row."""
GENERATED_NAME = re.compile(r"[A-Za-z]*_?[0-9]+")
"""Layer names that converters generate. Layers with the same generated name may be unrelated."""
_NEIGHBOURS = 32
"""How many consumers of an output are compared to decide whether two layers have the same
neighbours."""


def matched(first: Side, second: Side) -> dict[int, int]:
    """Matches the layers of two bodies. Returns for each matched layer of the first body its
    partner's position in the second body."""
    matching = _Matching(first, second)
    matching.by_all_around(EXACT)
    matching.spread(EXACT)
    matching.by_name()
    matching.spread(EXACT)
    for level in (WEIGHED, SHAPED, TYPE):
        if matching.is_complete:
            break
        matching.by_all_around(level)
        matching.spread(level)
        matching.spread_over(level)
        matching.replaced()
    matching.ends_in_order()
    matching.spread(TYPE)
    return matching.partner


def twins(side: Side, other: Side, partner: dict[int, int]) -> dict[int, int]:
    """Finds, for layers without a partner, layers of the other body that have the same operation
    and the same inputs. Returns their positions."""
    twin_of: dict[int, int] = {}
    if len(partner) == len(side.layers):
        return twin_of
    alike: dict[Hashable, list[int]] = {}
    for b, sources in enumerate(other.sources):
        alike.setdefault((other.content[EXACT][b], *sources), []).append(b)
    for a in side.order:
        if a in partner or side.layers[a].is_parameter or side.layers[a].is_result:
            continue
        given = [
            source and (partner.get(source[0], twin_of.get(source[0], -1)), source[1])
            for source in side.sources[a]
        ]
        for b in alike.get((side.content[EXACT][a], *given), ()):
            one, two = side.constants[a], other.constants[b]
            if not side.layers[a].is_constant or (one and two and same_bytes(one, two)):
                twin_of[a] = b
                break
    return twin_of


class _Matching:
    def __init__(self, first: Side, second: Side) -> None:
        self.first, self.second = first, second
        self.partner: dict[int, int] = {}
        self.origin: dict[int, int] = {}
        """The inverse of `partner`."""

    def pair(self, a: int, b: int) -> None:
        self.partner[a] = b
        self.origin[b] = a

    def pair_free(self, a: int, b: int) -> bool:
        """Matches two layers if neither has a partner. Returns whether they are now matched."""
        free = a not in self.partner and b not in self.origin
        if free:
            self.pair(a, b)
        return free

    @property
    def is_complete(self) -> bool:
        """Whether all layers of one of the bodies have a partner."""
        return len(self.partner) == min(len(self.first.layers), len(self.second.layers))

    def free(self, side: Side) -> list[int]:
        """The layers without a partner."""
        taken = self.partner if side is self.first else self.origin
        return [position for position in range(len(side.layers)) if position not in taken]

    # by what layers are, and what is around them

    def by_all_around(self, level: int) -> None:
        """Matches layers of equal content if all layers before and after them are equal, too; then
        if all layers before them are equal; then if all layers after them are equal."""
        sides = self.first, self.second
        up, down = [side.upward(level) for side in sides], [side.downward(level) for side in sides]
        both = [list(zip(*labelled, strict=True)) for labelled in zip(up, down, strict=True)]
        if level == EXACT:
            self.by_key(list(map(_identities, sides, up)), level)
            self.by_key(both, level, in_order=True)
        for keys in (both, up, down):
            self.by_key(keys, level)

    def by_key(
        self, keys: Sequence[Sequence[Hashable]], level: int, *, in_order: bool = False
    ) -> None:
        """Matches layers whose key is unique in both bodies. Matches several layers with the same
        key by name. keys: the keys of the layers of both bodies, by position. in_order: whether to
        match layers with the same key in file order if both bodies have the same number of them."""
        groups: dict[Hashable, tuple[list[int], list[int]]] = {}
        for number, side in enumerate((self.first, self.second)):
            for position in self.free(side):
                if side.identifies(position, level):
                    groups.setdefault(keys[number][position], ([], []))[number].append(position)
        for ours, theirs in groups.values():
            if ours and theirs:
                self._match_group(ours, theirs, in_order)

    def _match_group(self, ours: list[int], theirs: list[int], in_order: bool) -> None:
        """Matches layers with the same key by name, then, if allowed, in file order."""
        if len(ours) == 1 == len(theirs):
            self.pair(ours[0], theirs[0])
            return
        for a, b in _of_one_name(self.first, ours, self.second, theirs):
            self.pair(a, b)
        ours = [position for position in ours if position not in self.partner]
        theirs = [position for position in theirs if position not in self.origin]
        if len(ours) == len(theirs) and (in_order or len(ours) == 1):
            for a, b in zip(ours, theirs, strict=True):
                self.pair(a, b)

    def by_name(self) -> None:
        """Matches layers with the same type and name, if their neighbours do not contradict the
        match. For a generated name, such as `Constant_17`, the neighbours or the content must also
        agree.
        """
        first, second = self.first, self.second
        kinds, others = first.content, second.content
        for a, b in _of_one_name(first, self.free(first), second, self.free(second)):
            if kinds[TYPE][a] != others[TYPE][b]:
                continue
            agree, differ = self.neighbours(a, b)
            trusted = agree > differ or not GENERATED_NAME.fullmatch(first.layers[a].name)
            if (trusted and agree >= differ) or kinds[EXACT][a] == others[EXACT][b]:
                self.pair(a, b)

    def neighbours(self, a: int, b: int) -> tuple[int, int]:
        """Counts the neighbours of two layers: how many are matched with each other, and how many
        with other layers. Ignores neighbours without a partner, which may have been inserted."""
        agree = differ = 0
        first, second = self.first, self.second
        for one, other in zip(first.flow[a], second.flow[b], strict=False):
            if one is not None and other is not None and other[0] in self.origin:
                same = self.origin[other[0]] == one[0]
                agree, differ = agree + same, differ + (not same and one[0] in self.partner)
        for user, index, _ in first.users[a][:_NEIGHBOURS]:
            row = second.flow[self.partner[user]] if user in self.partner else []
            there = row[index] if index < len(row) else None
            if there is not None and (there[0] == b or there[0] in self.origin):
                agree, differ = agree + (there[0] == b), differ + (there[0] != b)
        return agree, differ

    # along the edges

    def spread(
        self, level: int, start: Iterable[tuple[int, int]] | None = None
    ) -> list[tuple[int, int]]:
        """Matches producers of matched layers that feed the same input, and consumers that use the
        same output, if their content is equal at this level.

        start: the pairs to begin with; by default all.
        Returns the new pairs.
        """
        waiting = list(self.partner.items() if start is None else start)
        pairs: list[tuple[int, int]] = []
        while waiting:
            a, b = waiting.pop()
            for pair in self._beside(a, b, level):
                if self.pair_free(*pair):
                    waiting.append(pair)
                    pairs.append(pair)
        return pairs

    def _beside(self, a: int, b: int, level: int) -> Iterable[tuple[int, int]]:
        """Yields the pairs of neighbours of two matched layers that should be matched as well."""
        first, second = self.first, self.second
        ours, theirs = first.content[level], second.content[level]
        for one, other in zip(first.flow[a], second.flow[b], strict=False):
            if (
                one is not None
                and other is not None
                and one[0] not in self.partner
                and other[0] not in self.origin
                and ours[one[0]] == theirs[other[0]]
                and one[1] == other[1]
            ):
                yield one[0], other[0]
        groups: dict[tuple[int, int, int], tuple[list[int], list[int]]] = {}
        for user, index, port in first.users[a]:
            if user not in self.partner:
                groups.setdefault((port, index, ours[user]), ([], []))[0].append(user)
        if not groups:
            return
        for user, index, port in second.users[b]:
            if user not in self.origin:
                key = (port, index, theirs[user])
                if key in groups:
                    groups[key][1].append(user)
        for left, right in groups.values():
            if len(left) == 1 == len(right):
                yield left[0], right[0]
            elif left and right:
                yield from _of_one_name(first, left, second, right)

    # across layers that only one of the bodies has

    def spread_over(self, level: int) -> None:
        """Goes back from matched layers across layers that only one body has, and matches layers of
        equal content before them. Pairs with the fewest layers in between come first."""
        near = [(0, pair) for pair in self.partner.items()]
        heapify(near)
        while near:
            reach, known = heappop(near)
            distance, pair = min(self._over(*known, level), default=(-1, known))
            if distance > reach:
                heappush(near, (distance, known))
            elif distance >= 0:
                self.pair(*pair)
                for near_pair in (known, pair, *self.spread(level, [pair])):
                    heappush(near, (0, near_pair))

    def _over(self, a: int, b: int, level: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yields pairs of layers with equal content before the matched layers `a` and `b`: the
        number of layers in between, and the positions of the pair."""
        for one, other in zip(self.first.flow[a], self.second.flow[b], strict=False):
            if one is None or other is None:
                continue
            ours = self._upstream(self.first, one[0], self.partner, level)
            theirs = self._upstream(self.second, other[0], self.origin, level) if ours else {}
            for key in ours.keys() & theirs.keys():
                (near, x), (far, y) = ours[key], theirs[key]
                yield near + far, (x, y)

    def _upstream(
        self, side: Side, start: int, taken: dict[int, int], level: int
    ) -> dict[int, tuple[int, int]]:
        """Follows the first input of each layer back to a layer with a partner. Returns for each
        content on this path the distance and the position of the first layer that has it."""
        reached: dict[int, tuple[int, int]] = {}
        at: int | None = start
        for distance in range(_DEPTH):
            if at is None or at in taken:
                break
            if side.weighted[at] if level == WEIGHED else level != TYPE or at not in side.fixed:
                reached.setdefault(side.content[level][at], (distance, at))
            row = side.flow[at]
            at = row[0][0] if row and row[0] is not None else None
        return reached

    # what is left

    def ends_in_order(self) -> None:
        """Matches the remaining inputs in file order if both bodies have the same number of them.
        Does the same with the remaining outputs."""
        for kind in ("is_parameter", "is_result"):
            ours, theirs = (
                [position for position in self.free(side) if getattr(side.layers[position], kind)]
                for side in (self.first, self.second)
            )
            if len(ours) == len(theirs):
                for a, b in zip(ours, theirs, strict=True):
                    self.pair(a, b)

    def replaced(self) -> None:
        """Matches layers between the same neighbours, also of other types: one has replaced the
        other."""
        for a in self.free(self.first):
            candidates = [
                user
                for source in self.first.flow[a][:1]
                if source is not None and source[0] in self.partner
                for user, index, _ in self.second.users[self.partner[source[0]]][:_NEIGHBOURS]
                if index == 0 and user not in self.origin
            ]
            if len(candidates) != 1 or not self.first.users[a]:
                continue
            agree, differ = self.neighbours(a, candidates[0])
            if agree > 1 and not differ:
                self.pair(a, candidates[0])


def _identities(side: Side, up: Sequence[int]) -> list[Hashable]:
    """Returns a key for each layer: its id, its name, and its label in `up` (see `Side.upward`).
    Many constants may be equal, so the key of a constant also describes its consumers."""
    return [
        (up[at], layer.id, layer.name, side.taken(at, up) if layer.is_constant else ())
        for at, layer in enumerate(side.layers)
    ]


def _of_one_name(
    first: Side, ours: Sequence[int], second: Side, theirs: Sequence[int]
) -> list[tuple[int, int]]:
    """Returns the pairs of layers with the same name, if the name is unique in both bodies."""
    named: dict[str, tuple[list[int], list[int]]] = {}
    for number, (side, positions) in enumerate(((first, ours), (second, theirs))):
        for position in positions:
            named.setdefault(side.layers[position].name, ([], []))[number].append(position)
    return [(one[0], two[0]) for one, two in named.values() if len(one) == 1 == len(two)]
