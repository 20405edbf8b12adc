"""Groups the layers of a body for the page: by prefixes of names, repeated blocks, and parts.

A page lays out one group at a time, so the number of members of a group is limited. The edges
between the members of a group form no cycle, so the page can draw each member below its producers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Literal, NamedTuple

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring

Kind = Literal["root", "body", "scope", "repeat", "part"]

MOST_MEMBERS = 90
"""The largest number of members of a group. A larger group is divided into parts."""
PART = 60
"""A group with too many members is divided into parts of this many members."""
LEAST_MEMBERS = 3
"""The smallest number of layers with a common name prefix that become a group."""
MANY = 40
"""In a group with more direct layers than this, repeated sequences of types become groups."""
LONGEST_PERIOD = 240
LEAST_RUN = 12
"""A repeated block becomes a group if its repetitions together have at least this many layers."""
MOST_CANDIDATES = 2_000
DEEPEST = 24
"""The maximum number of prefixes that are read from a name, which may contain any number of
separators."""

_SEPARATOR = re.compile(r"([./])")
_NUMBER = re.compile(r"[0-9]+")
_EXPORTERS = "::"
"""A part of a name that contains this text, e.g. `aten::linear`, is an operation, not a prefix."""


class Group(NamedTuple):
    """A group of layers.
    parent: the position of the group that contains it; -1 for the outermost group.

    layer: the position of the layer that has this body; -1 for groups that are not bodies.
    """

    kind: Kind
    name: str
    parent: int
    layer: int = -1


Edge = tuple[int, int]
"""An edge: the positions of a layer and of one of its consumers."""


@dataclass
class _Scope:
    """A group that is being built."""

    name: str
    kind: Kind = "scope"
    first: int = -1
    """The position of the first layer of the group in topological order."""
    scopes: dict[str, _Scope] = field(default_factory=dict)
    layers: list[int] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.layers) + sum(scope.size for scope in self.scopes.values())

    def inside(self) -> list[int]:
        """Returns all layers of the group, including the layers of inner groups."""
        layers = list(self.layers)
        for scope in self.scopes.values():
            layers += scope.inside()
        return layers

    def dissolve(self, name: str) -> None:
        """Replaces an inner group by its members."""
        inner = self.scopes.pop(name)
        self.layers += inner.layers
        for below, scope in inner.scopes.items():
            self.scopes[below if below not in self.scopes else f"{name}/{below}"] = scope


def grouped(
    layers: Sequence[Layer], wiring: Wiring, shown: Sequence[bool], root: Group, first_group: int
) -> tuple[list[Group], list[int]]:
    """Returns the groups of a body, the root first, and for each layer the position of its group.

    shown: for each layer, whether the page shows it separately. The page shows all other layers
    inside their consumers.
    first_group: the position of the first group, the root, among the groups of all bodies.
    """
    paths = _paths(layers, wiring, shown)
    top = _Scope(root.name)
    for time, position in enumerate(wiring.order):
        if not shown[position]:
            continue
        scope = top
        for name in paths[position]:
            scope = scope.scopes.setdefault(name, _Scope(name))
            scope.first = time if scope.first < 0 else scope.first
        scope.layers.append(position)
    rank = {position: time for time, position in enumerate(wiring.order)}
    edges = [
        (source[0], position)
        for position, row in enumerate(wiring.sources)
        for source in row
        if source is not None and shown[position] and shown[source[0]]
    ]
    untangle = _Untangling(edges, rank)
    untangle(top)
    _simplify(top)
    _repeats(top, layers, {})
    _unwrap(top)
    _tandems(top, rank, layers)
    untangle(top)
    _divide(top, edges, rank, layers)
    groups = [root]
    group_of = [first_group] * len(layers)
    _listed(top, first_group, first_group, groups, group_of)
    return groups, group_of


def _listed(
    scope: _Scope, at: int, first_group: int, groups: list[Group], group_of: list[int]
) -> None:
    for position in scope.layers:
        group_of[position] = at
    for inner in scope.scopes.values():
        groups.append(Group(inner.kind, inner.name, at))
        _listed(inner, first_group + len(groups) - 1, first_group, groups, group_of)


# scopes


def scope_of(name: str) -> tuple[str, ...]:
    """Returns the prefixes of a layer's name: encoder, layer and 0 in `encoder/layer.0/MatMul`.

    A number after the last dot is no prefix: `Add.12` is just another `Add`.
    """
    parts = _SEPARATOR.split(name)[:-1]
    if name.rpartition(".")[2].isdigit() and parts[-1:] == ["."]:
        parts = parts[:-2]
    scopes = []
    for text in parts[::2]:
        if _EXPORTERS in text:
            break
        if text:
            scopes.append(text)
    return tuple(scopes[:DEEPEST])


def _paths(layers: Sequence[Layer], wiring: Wiring, shown: Sequence[bool]) -> list[tuple[str, ...]]:
    """Returns the name prefixes of each layer. A layer without prefixes gets the prefixes that all
    its consumers share, or those that all its producers share, whichever are more."""
    ends = [layer.is_parameter or layer.is_result for layer in layers]
    paths = [
        () if end or not apart else scope_of(layer.name)
        for layer, end, apart in zip(layers, ends, shown, strict=True)
    ]
    bare = {
        position
        for position, path in enumerate(paths)
        if not path and not ends[position] and shown[position]
    }
    for position in reversed(wiring.order):
        if position in bare:
            users = [paths[user.position] for user in wiring.users[position]]
            paths[position] = _common([path for path in users if path])
    for position in wiring.order:
        if position in bare:
            sources = _known(wiring.sources[position], shown)
            before = _common([paths[source] for source in sources if paths[source]])
            if before[: len(paths[position])] == paths[position]:
                paths[position] = before
    return paths


def _known(row: Sequence[OutputRef | None], shown: Sequence[bool]) -> Iterator[int]:
    return (source[0] for source in row if source is not None and shown[source[0]])


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the common first elements of several paths."""
    if not paths:
        return ()
    low, high = min(paths), max(paths)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]


def _unwrap(top: _Scope) -> None:
    """Removes a group such as `__module` that contains nearly all layers and has inner groups, but
    keeps its contents."""
    most = 0.9 * top.size
    while scopes := [name for name, inner in top.scopes.items() if inner.size > most]:
        inner = top.scopes[scopes[0]]
        if inner.kind != "scope" or not inner.scopes:
            return
        top.dissolve(scopes[0])


class _Untangling:
    """Changes the groups until the members of each group form no cycle."""

    def __init__(self, edges: Sequence[Edge], rank: dict[int, int]) -> None:
        self.edges = edges
        self.rank = rank
        self.takers: dict[int, list[int]] = {}
        for source, taker in edges:
            self.takers.setdefault(source, []).append(taker)

    def __call__(self, scope: _Scope, edges: Sequence[Edge] | None = None) -> None:
        """Removes cycles between the members of a group. Moves a layer into an inner group if the
        layer lies on a path between two layers of that group. If several inner groups form a cycle,
        replaces some of these groups by their members.
        edges: the edges between layers of the group; by default all edges.
        """
        edges = self.edges if edges is None else edges
        while scope.scopes:
            count = len(scope.scopes)
            names, direct = list(scope.scopes), scope.layers
            sources, inside = _members(scope, edges)
            circles = [
                circle for circle in _circles(sources) if len(circle) > 1 and min(circle) < count
            ]
            if not circles:
                for inner, within in zip(scope.scopes.values(), inside, strict=True):
                    self(inner, within)
                break
            moved: set[int] = set()
            for circle in circles:
                inner_names = [names[number] for number in circle if number < count]
                if len(inner_names) == 1:
                    between = [direct[number - count] for number in circle if number >= count]
                    scope.scopes[inner_names[0]].layers += between
                    moved.update(between)
                    continue
                for name in self._to_dissolve(scope, inner_names):
                    scope.dissolve(name)
            scope.layers = [position for position in scope.layers if position not in moved]

    def _to_dissolve(self, scope: _Scope, names: list[str]) -> list[str]:
        """Returns which groups of a cycle to replace by their members. The first choice is groups
        with few layers. The second is groups that a path leaves and enters again, except a group
        with nearly all layers. The last choice is the smaller half."""
        names.sort(key=lambda name: scope.scopes[name].size)
        sizes = [scope.scopes[name].size for name in names]
        small = [name for name, size in zip(names, sizes, strict=True) if size < LEAST_MEMBERS]
        if small:
            return small
        others = names[:-1] if sizes[-1] > 0.8 * sum(sizes) else names
        returning = [name for name in others if self._returns(scope.scopes[name])]
        return returning or names[: len(names) // 2]

    def _returns(self, scope: _Scope) -> bool:
        """Whether a path along the edges leaves a group and enters it again."""
        layers = set(scope.inside())
        last = max(map(self.rank.__getitem__, layers))
        waiting = [
            taker for each in layers for taker in self.takers.get(each, ()) if taker not in layers
        ]
        seen: set[int] = set()
        while waiting:
            at = waiting.pop()
            if at in layers:
                return True
            if at not in seen and self.rank[at] < last:
                seen.add(at)
                waiting += self.takers.get(at, ())
        return False


def _members(scope: _Scope, edges: Sequence[Edge]) -> tuple[list[set[int]], list[list[Edge]]]:
    """Numbers the members of a group: first its inner groups, then its layers. Returns the
    producers of each member, and the edges inside each inner group. edges: the edges between layers
    of the group."""
    member_of: dict[int, int] = {}
    for number, inner in enumerate(scope.scopes.values()):
        member_of.update(dict.fromkeys(inner.inside(), number))
    count = len(scope.scopes) + len(scope.layers)
    member_of.update(zip(scope.layers, range(len(scope.scopes), count), strict=True))
    sources: list[set[int]] = [set() for _ in range(count)]
    inside: list[list[Edge]] = [[] for _ in range(len(scope.scopes))]
    for edge in edges:
        source, taker = member_of[edge[0]], member_of[edge[1]]
        if source != taker:
            sources[taker].add(source)
        elif taker < len(inside):
            inside[taker].append(edge)
    return sources, inside


def _circles(sources: Sequence[Iterable[int]]) -> Iterator[list[int]]:
    """Yields the strongly connected components of a graph, including single nodes (Tarjan's
    algorithm). sources: the producers of each node."""
    seen: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    for start in range(len(sources)):
        way = [] if start in seen else [(start, iter(sources[start]))]
        while way:
            at, rest = way[-1]
            if at not in seen:
                seen[at] = low[at] = len(seen)
                stack.append(at)
            for other in rest:
                if other not in seen:
                    way.append((other, iter(sources[other])))
                    break
                low[at] = min(low[at], low[other])
            else:
                way.pop()
                if way:
                    low[way[-1][0]] = min(low[way[-1][0]], low[at])
                if low[at] == seen[at]:
                    circle = _popped(stack, at)
                    low.update(dict.fromkeys(circle, len(sources)))  # no longer on the stack
                    yield circle


def _popped(stack: list[int], last: int) -> list[int]:
    """Removes the numbers from `last` to the end of a stack, and returns them."""
    popped = [stack.pop()]
    while popped[-1] != last:
        popped.append(stack.pop())
    return popped


def _simplify(scope: _Scope) -> None:
    """Replaces inner groups of few layers by the layers. If the only member of an inner group is
    another group, joins the two."""
    for name, inner in list(scope.scopes.items()):
        _simplify(inner)
        while len(inner.scopes) == 1 and not inner.layers:
            (only,) = inner.scopes.values()
            inner.name, inner.scopes, inner.layers = (
                f"{inner.name}/{only.name}",
                only.scopes,
                only.layers,
            )
        if inner.size < LEAST_MEMBERS:
            scope.layers += inner.inside()
            del scope.scopes[name]


# repeated blocks


def _repeats(scope: _Scope, layers: Sequence[Layer], numbers: dict[object, int]) -> int:
    """Joins consecutive inner groups if their names differ only in numbers and their layers have
    the same types. Returns a number that is the same for groups with the same types."""
    looks = {name: _repeats(inner, layers, numbers) for name, inner in scope.scopes.items()}
    runs: list[list[str]] = []
    for name, inner in sorted(scope.scopes.items(), key=lambda item: item[1].first):
        mask = _NUMBER.sub("#", inner.name)
        last = runs[-1][-1] if runs else None
        if (
            last is not None
            and mask != inner.name
            and mask == _NUMBER.sub("#", scope.scopes[last].name)
            and looks[last] == looks[name]
        ):
            runs[-1].append(name)
        else:
            runs.append([name])
    if len(runs) == 1 and len(runs[0]) > 1 and not scope.layers and scope.kind == "scope":
        scope.kind = "repeat"
    elif any(len(run) > 1 for run in runs):
        scope.scopes = {
            (run[0] if len(run) == 1 else f"{run[0]} … {run[-1]}"): _block(scope, run)
            for run in runs
        }
    types = tuple(sorted(layers[position].type for position in scope.layers))
    return numbers.setdefault((types, tuple(sorted(looks.values()))), len(numbers))


def _block(scope: _Scope, run: list[str]) -> _Scope:
    if len(run) == 1:
        return scope.scopes[run[0]]
    first, last = scope.scopes[run[0]], scope.scopes[run[-1]]
    blocks = {name: scope.scopes[name] for name in run}
    return _Scope(f"{first.name} … {last.name}", "repeat", first.first, blocks)


def _tandems(scope: _Scope, rank: dict[int, int], layers: Sequence[Layer]) -> None:
    """Makes a group of each repeated sequence of types, among the layers of a group that are in
    no inner group."""
    for inner in scope.scopes.values():
        _tandems(inner, rank, layers)
    if len(scope.layers) <= MANY:
        return
    members = sorted(scope.layers, key=rank.__getitem__)
    codes: dict[str, int] = {}
    numbers = [codes.setdefault(layers[position].type, len(codes)) for position in members]
    if len(codes) > 256:  # no network has so many types
        return
    text = bytes(numbers)
    scope.layers = []
    begin = 0
    for start, end, period in sorted(_runs(text)):
        scope.layers += members[begin:start]
        _add_run(scope, members[start:end], period, rank, layers)
        begin = end
    scope.layers += members[begin:]


def _add_run(
    scope: _Scope,
    members: Sequence[int],
    period: int,
    rank: dict[int, int],
    layers: Sequence[Layer],
) -> None:
    ends = [layers[members[at]].type for at in (0, period - 1)]
    repeat = _Scope(" … ".join(dict.fromkeys(ends)), "repeat", rank[members[0]])
    for number, start in enumerate(range(0, len(members), period), 1):
        own = list(members[start : start + period])
        repeat.scopes[str(number)] = _Scope(str(number), first=rank[own[0]], layers=own)
    scope.scopes[f"{repeat.first} {repeat.name}"] = repeat


def _runs(text: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields the start, end and period of each repetition in a text, the longest first. The
    repetitions do not overlap."""
    candidates = []
    for period in range(LEAST_MEMBERS, min(LONGEST_PERIOD, len(text) // 2) + 1):
        # zero if a character equals the one a period later
        length = len(text) - period
        pair = (int.from_bytes(part) for part in (text[:length], text[period:]))
        same = (next(pair) ^ next(pair)).to_bytes(length)
        for match in re.finditer(b"\0{%d,}" % period, same):
            start = match.start()
            count = (match.end() - start) // period + 1
            if count * period >= LEAST_RUN and len(set(text[start : start + period])) > 1:
                candidates.append((count * period, -period, start))
    candidates.sort(reverse=True)
    taken = bytearray(len(text))
    for length, negative, start in candidates[:MOST_CANDIDATES]:
        if not any(taken[start : start + length]):
            taken[start : start + length] = b"\1" * length
            yield start, start + length, -negative


# parts


def _divide(
    scope: _Scope, edges: Sequence[Edge], rank: dict[int, int], layers: Sequence[Layer]
) -> None:
    """Divides a group that has too many members into parts, in topological order."""
    if len(scope.layers) + len(scope.scopes) > MOST_MEMBERS or scope.scopes:
        sources, inside = _members(scope, edges)
        for inner, within in zip(scope.scopes.values(), inside, strict=True):
            _divide(inner, within, rank, layers)
        members = _in_order(scope, sources, rank)
        while len(members) > MOST_MEMBERS:
            starts = range(0, len(members), PART)
            parts = [_part(scope, members[start : start + PART], rank, layers) for start in starts]
            scope.layers = []
            scope.scopes = {f"{number} {part.name}": part for number, part in enumerate(parts)}
            members = list(scope.scopes)


def _in_order(scope: _Scope, sources: Sequence[set[int]], rank: dict[int, int]) -> list[int | str]:
    """Returns the members of a group (layers, and names of inner groups), producers first."""
    members: list[int | str] = [*scope.scopes, *scope.layers]
    times = [inner.first for inner in scope.scopes.values()]
    times += [rank[position] for position in scope.layers]
    users: list[list[int]] = [[] for _ in members]
    for number, row in enumerate(sources):
        for source in row:
            users[source].append(number)
    waiting = [len(row) for row in sources]
    ready = [(times[number], number) for number, count in enumerate(waiting) if not count]
    heapify(ready)
    order = []
    while ready:
        _, number = heappop(ready)
        order.append(number)
        for user in users[number]:
            waiting[user] -= 1
            if not waiting[user]:
                heappush(ready, (times[user], user))
    # layers on a cycle of the model come last
    order += sorted(set(range(len(members))).difference(order), key=times.__getitem__)
    return [members[number] for number in order]


def _part(
    scope: _Scope, members: Sequence[int | str], rank: dict[int, int], layers: Sequence[Layer]
) -> _Scope:
    ends = [
        scope.scopes[member].name
        if isinstance(member, str)
        else layers[member].name.rpartition("/")[2]
        for member in (members[0], members[-1])
    ]
    first = members[0]
    return _Scope(
        " … ".join(ends),
        "part",
        scope.scopes[first].first if isinstance(first, str) else rank[first],
        {member: scope.scopes[member] for member in members if isinstance(member, str)},
        [member for member in members if isinstance(member, int)],
    )
