"""Groups the layers of a body for the page: by the scopes in their names, repeated blocks, parts.

A page lays out one group at a time, so no group has more members than can be laid out at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ..model.graph import Layer
from ..model.wiring import OutputRef, Wiring

Kind = Literal["root", "body", "scope", "repeat", "part"]

MOST_MEMBERS = 90
"""A group with more members is divided into parts."""
PART = 60
"""How many layers a part has, where the names give no scopes."""
LEAST_MEMBERS = 3
"""A scope with fewer layers is no group of its own."""
MANY = 40
"""Where names give no scopes to more layers, types that repeat in the same order are groups."""
LONGEST_PERIOD = 240
LEAST_RUN = 12
"""How many layers repeated blocks have at least, all together."""
MOST_CANDIDATES = 2_000
DEEPEST = 24
"""How many scopes of a name count. Names may hold any number of separators."""

_SEPARATOR = re.compile(r"([./])")
_NUMBER = re.compile(r"[0-9]+")
_EXPORTERS = re.compile(r"::")
"""`aten::linear` is the operation that a layer was made from, not a scope."""


class Group(NamedTuple):
    """A group of layers. parent: the position of the group that holds it, -1 for the outermost.

    layer: the position of the layer that has this body; -1 for groups that are no bodies.
    """

    kind: Kind
    name: str
    parent: int
    layer: int = -1


class Run(NamedTuple):
    """A part of a text that consists of the same characters again and again."""

    start: int
    period: int
    times: int


class _Scope:
    """A group that is being built."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kind: Kind = "scope"
        self.scopes: dict[str, _Scope] = {}
        self.layers: list[int] = []
        self.first = -1
        """When its first layer comes, in topological order."""

    @property
    def size(self) -> int:
        return len(self.layers) + sum(scope.size for scope in self.scopes.values())


def grouped(
    layers: Sequence[Layer], wiring: Wiring, shown: Sequence[bool], root: Group, first_group: int
) -> tuple[list[Group], list[int]]:
    """The groups of a body, the root first, and for each layer the position of its group.

    shown: for each layer whether it has a place of its own; the others are part of what takes them.
    first_group: the position that the root will have among the groups of all bodies.
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
    _simplify(top)
    _repeats(top, layers, {})
    _tandems(top, rank, layers)
    _divide(top, rank, layers)
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
    """The scopes in the name of a layer: `encoder/layer.0/MatMul` is in encoder, layer and 0.

    A number behind the last point tells layers of one name apart: `Add.12` is in none.
    """
    parts = _SEPARATOR.split(name)[:-1]
    if name.rpartition(".")[2].isdigit() and parts[-1:] == ["."]:
        parts = parts[:-2]
    scopes = []
    for text in parts[::2]:
        if _EXPORTERS.search(text):
            break
        if text:
            scopes.append(text)
    return tuple(scopes[:DEEPEST])


def _paths(layers: Sequence[Layer], wiring: Wiring, shown: Sequence[bool]) -> list[tuple[str, ...]]:
    """The scopes of each layer. One without any goes where its neighbours are."""
    paths = [
        () if layer.is_parameter or layer.is_result else scope_of(layer.name) for layer in layers
    ]
    fixed = [layer.is_parameter or layer.is_result for layer in layers]
    users: list[list[int]] = [[] for _ in layers]
    for position, row in enumerate(wiring.sources):
        for source in row:
            if source is not None and shown[source[0]]:
                users[source[0]].append(position)
    for positions in (wiring.order, wiring.order[::-1]):
        for position in positions:
            if paths[position] or fixed[position] or not shown[position]:
                continue
            around = [*_known(wiring.sources[position], shown), *users[position]]
            paths[position] = _common([paths[other] for other in around if paths[other]])
    return paths


def _known(row: Sequence[OutputRef | None], shown: Sequence[bool]) -> Iterator[int]:
    return (source[0] for source in row if source is not None and shown[source[0]])


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What paths begin with in common."""
    if not paths:
        return ()
    low, high = min(paths), max(paths)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]


def _simplify(scope: _Scope) -> None:
    """Dissolves scopes of few layers, and joins a scope with the only one that it has inside."""
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
            del scope.scopes[name]
            scope.layers += inner.layers
            for nested in inner.scopes.values():
                scope.layers += nested.layers


# repeated blocks


def _repeats(scope: _Scope, layers: Sequence[Layer], numbers: dict[object, int]) -> int:
    """Puts blocks that follow one another with the same layers into a group. Returns a number that
    stands for what a scope consists of: scopes of equal layers have the same."""
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
    block = _Scope(f"{first.name} … {last.name}")
    block.kind = "repeat"
    block.first = first.first
    block.scopes = {name: scope.scopes[name] for name in run}
    return block


def _tandems(scope: _Scope, rank: dict[int, int], layers: Sequence[Layer]) -> None:
    """Where names give no scopes: puts types that come again and again in the same order into
    groups, each time into one of its own."""
    for inner in scope.scopes.values():
        _tandems(inner, rank, layers)
    if len(scope.layers) <= MANY:
        return
    members = sorted(scope.layers, key=rank.__getitem__)
    codes: dict[str, str] = {}
    text = "".join(
        codes.setdefault(layers[position].type, chr(len(codes) + 1)) for position in members
    )
    scope.layers = []
    begin = 0
    for run in sorted(_runs(text)):
        scope.layers += members[begin : run.start]
        begin = run.start + run.period * run.times
        _add_run(scope, members[run.start : begin], run, rank, layers)
    scope.layers += members[begin:]


def _add_run(
    scope: _Scope,
    members: Sequence[int],
    run: Run,
    rank: dict[int, int],
    layers: Sequence[Layer],
) -> None:
    ends = [layers[members[at]].type for at in (0, run.period - 1)]
    repeat = _Scope(" … ".join(dict.fromkeys(ends)))
    repeat.kind = "repeat"
    repeat.first = rank[members[0]]
    for number in range(run.times):
        block = _Scope(str(number + 1))
        block.layers = list(members[number * run.period : (number + 1) * run.period])
        block.first = rank[block.layers[0]]
        repeat.scopes[block.name] = block
    scope.scopes[f"{repeat.first} {repeat.name}"] = repeat


def _runs(text: str) -> list[Run]:
    """Runs that do not overlap, the longest first."""
    candidates = []
    for period in range(LEAST_MEMBERS, min(LONGEST_PERIOD, len(text) // 2) + 1):
        start = None
        for at, (one, other) in enumerate(zip(text, text[period:] + "\0", strict=False)):
            if one == other:
                start = at if start is None else start
            elif start is not None:
                count = (at - start) // period + 1
                varied = len(set(text[start : start + period])) > 1
                if count > 1 and count * period >= LEAST_RUN and varied:
                    candidates.append((count * period, -period, start))
                start = None
    candidates.sort(reverse=True)
    runs: list[Run] = []
    taken = bytearray(len(text))
    for length, negative, start in candidates[:MOST_CANDIDATES]:
        if not any(taken[start : start + length]):
            taken[start : start + length] = b"\1" * length
            runs.append(Run(start, -negative, length // -negative))
    return runs


# parts


def _divide(scope: _Scope, rank: dict[int, int], layers: Sequence[Layer]) -> None:
    """Divides a scope with too many members into parts, in topological order."""
    for inner in scope.scopes.values():
        _divide(inner, rank, layers)
    while len(scope.layers) + len(scope.scopes) > MOST_MEMBERS:
        members: list[tuple[int, int | str]] = [
            *((rank[position], position) for position in scope.layers),
            *((inner.first, name) for name, inner in scope.scopes.items()),
        ]
        members.sort(key=lambda member: member[0])
        parts: dict[str, _Scope] = {}
        for start in range(0, len(members), PART):
            part = _part(scope, members[start : start + PART], layers)
            parts[f"{start} {part.name}"] = part
        scope.layers, scope.scopes = [], parts


def _part(
    scope: _Scope, members: Sequence[tuple[int, int | str]], layers: Sequence[Layer]
) -> _Scope:
    ends = [
        scope.scopes[member].name if isinstance(member, str) else _last_name(layers[member].name)
        for _, member in (members[0], members[-1])
    ]
    part = _Scope(f"{ends[0]} … {ends[1]}")
    part.kind = "part"
    part.first = members[0][0]
    part.layers = [member for _, member in members if isinstance(member, int)]
    part.scopes = {member: scope.scopes[member] for _, member in members if isinstance(member, str)}
    return part


def _last_name(name: str) -> str:
    return name.rpartition("/")[2]
