"""Ids that are wrong at one end of the edges, where they come from or where they lead: moved, or
exchanged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import NamedTuple

from ...formats.ir.edits import Edit
from ...model.edges import Edge
from ...model.graph import Body, Finding
from ...model.ids import is_number
from ...model.ports import Port
from ...rules.links import alike
from ..candidate import Candidate
from ..elements.writing import with_edge
from ..trials.scene import Scene

SEVERAL = 2
"""How many edges lead astray where ids were moved."""
LOOKED_AT = 16
"""At how many of them it is seen whether a move may be behind them."""
MOVES = (1, -1, 2, -2)
"""By how much ids are moved where layers were added or removed."""
MAX_BOUNDS = 3
"""How many ids are tried as the first that was moved, and as the last."""
MAX_IDS = 6
"""Of how many ids it is tried whether two of them were exchanged."""
_Meant = dict[Edge, int]
"""The layers that edges name at one end in place of those that they should."""


class _Way(NamedTuple):
    """The other ids that some edges are meant to have at one end."""

    idle: int
    """How many layers feed nothing then."""
    end: str
    meant: _Meant


def wrong_ends(scene: Scene, findings: Sequence[Finding]) -> Candidate | None:
    """The edges name the layers that they come from, or lead to, by ids that were moved or
    exchanged; with other ids there, every edge feeds an input of its own what that declares."""
    ports = _Ports(scene)
    looked_at = list(islice(_named_by(scene, findings), LOOKED_AT))
    if any(not is_number(text) for edge in looked_at for text in (edge.from_layer, edge.to_layer)):
        return None
    looked_at = [edge for edge in looked_at if not ports.fit(edge)]
    if len(looked_at) < SEVERAL:
        return None
    ways: list[_Way] = []
    for end in ("from", "to"):
        for meant in (
            *_of_moves(ports, scene.body, looked_at, end),
            *_of_exchanges(ports, scene, looked_at, end),
        ):
            idle = ports.idle(scene.body.edges, end, meant)
            if idle is not None:
                ways.append(_Way(idle, end, meant))
    return _as_candidate(scene, min(ways, key=lambda way: way.idle)) if ways else None


def _as_candidate(scene: Scene, way: _Way) -> Candidate:
    edits: list[Edit] = []
    for edge, number in way.meant.items():
        edits += with_edge(scene, edge, {f"{way.end}-layer": str(number)})
    named = {int(_named(edge, way.end)) for edge in way.meant}
    lead = "come from" if way.end == "from" else "lead to"
    steps = {number - int(_named(edge, way.end)) for edge, number in way.meant.items()}
    count = f"{len(way.meant)} edges"
    cause = f"{count} name the layers that they {lead} by "
    if len(steps) == 1:
        (by,) = steps
        change = f"{way.end}-layer is {abs(by)} {_than(by)} in {count}, from {min(named)} on"
        cause += f"ids {abs(by)} {_than(-by)} than theirs, from id {min(named)} on"
    else:
        change = f"{way.end}-layer {' and '.join(map(str, sorted(named)))} are exchanged in {count}"
        cause += "each other's ids"
    first = min(way.meant, key=lambda edge: edge.offset)
    return Candidate(
        tuple(edits),
        change,
        f"{cause}: only one end of the edges was renumbered",
        scene.source.attribute(first.offset, f"{way.end}-layer"),
        scene.body.by_id.get(first.to_layer) if way.end == "from" else None,
        (),
    )


def _than(by: int) -> str:
    return "higher" if by > 0 else "lower"


def _named_by(scene: Scene, findings: Sequence[Finding]) -> Iterator[Edge]:
    """The edges at which something is found, or that lead to layers at which it is."""
    told: dict[int, None] = {}
    for finding in findings:
        edge = scene.edge_at(finding.offset)
        layer = finding.layer
        into = scene.edges_to.get(layer.id, ()) if layer is not None else ()
        for each in (edge,) if edge is not None else into:
            if each.offset not in told:
                told[each.offset] = None
                yield each


class _Ports:
    """The ports of a body by the ids that edges name."""

    def __init__(self, scene: Scene) -> None:
        self.layers = {layer.id: layer for layer in scene.layers}
        self.known: dict[tuple[str, bool], dict[str, Port]] = {}

    def of(self, number: str, *, given: bool) -> dict[str, Port]:
        """The output ports of a layer, or its input ports, by their ids."""
        ports = self.known.get((number, given))
        if ports is None:
            layer = self.layers.get(number)
            own = () if layer is None else layer.outputs if given else layer.inputs
            ports = self.known[number, given] = {port.id: port for port in own}
        return ports

    def fit(self, edge: Edge, end: str = "", number: int = 0) -> bool:
        """Whether an edge, with another id at one end, feeds an input what that declares."""
        source = str(number) if end == "from" else edge.from_layer
        target = str(number) if end == "to" else edge.to_layer
        output = self.of(source, given=True).get(edge.from_port)
        port = self.of(target, given=False).get(edge.to_port)
        return output is not None and port is not None and alike(port, output)

    def idle(self, edges: Sequence[Edge], end: str, meant: Mapping[Edge, int]) -> int | None:
        """How many layers feed nothing with other ids at one end; None if not every input is fed
        what it declares."""
        fed: set[tuple[str, str]] = set()
        used: set[str] = set()
        for edge in edges:
            number = meant.get(edge)
            if not (self.fit(edge) if number is None else self.fit(edge, end, number)):
                return None
            used.add(str(number) if number is not None and end == "from" else edge.from_layer)
            target = str(number) if number is not None and end == "to" else edge.to_layer
            fed.add((target, edge.to_port))
        heads = [layer.port_heads for layer in self.layers.values()]
        if not len(fed) == len(edges) == sum(each.inputs for each in heads):
            return None
        return len({i for i, layer in self.layers.items() if layer.port_heads.output_ids} - used)


def _named(edge: Edge, end: str) -> str:
    return edge.from_layer if end == "from" else edge.to_layer


def _of_exchanges(
    ports: _Ports, scene: Scene, looked_at: Sequence[Edge], end: str
) -> Iterator[_Meant]:
    """Two layers named for each other: all edges that do not fit name one of them."""
    wrong = dict.fromkeys(_named(edge, end) for edge in looked_at)
    by_id = scene.edges_from if end == "from" else scene.edges_to
    for one, other in combinations(islice(wrong, MAX_IDS), 2):
        swap = {one: other, other: one}
        if any(_named(edge, end) not in swap for edge in looked_at):
            continue
        meant = {edge: int(to) for name, to in swap.items() for edge in by_id.get(name, ())}
        if all(ports.fit(edge, end, number) for edge, number in meant.items()):
            yield meant


def _of_moves(ports: _Ports, body: Body, looked_at: Sequence[Edge], end: str) -> Iterator[_Meant]:
    """Ids that were moved, from one on or in a range of them."""
    highest = max((int(number) for number in ports.layers if is_number(number)), default=0)
    named = body.ends.from_layers if end == "from" else body.ends.to_layers
    far = highest - max((int(text) for text in named if is_number(text)), default=highest)
    moves = [
        by
        for by in dict.fromkeys((*MOVES, far))
        if by
        and 2 * sum(ports.fit(edge, end, int(_named(edge, end)) + by) for edge in looked_at)
        > len(looked_at)
    ]
    edges = body.edges
    if not moves or any(not (is_number(e.from_layer) and is_number(e.to_layer)) for e in edges):
        return
    for by in moves:
        for moved in _moved(ports, edges, end, by):
            yield {edge: int(_named(edge, end)) + by for edge in moved}


def _moved(ports: _Ports, edges: Sequence[Edge], end: str, by: int) -> Iterator[list[Edge]]:
    """The edges whose ids at one end may be those that were moved: those of a range of ids.

    At one of its bounds, edges that were moved and others may have the same id now.
    """
    as_is, other = Counter[int](), Counter[int]()
    by_id: dict[int, list[Edge]] = {}
    for edge in edges:
        number = int(_named(edge, end))
        by_id.setdefault(number, []).append(edge)
        as_is[number] += not ports.fit(edge)
        other[number] += not ports.fit(edge, end, number + by)
    numbers = sorted(by_id)
    wrong = [number for number in numbers if as_is[number]]
    low, high = numbers.index(wrong[0]), numbers.index(wrong[-1])
    bounds = _bounds(numbers, other, low, -1), _bounds(numbers, other, high, 1)
    for start, stop in product(*bounds):
        inside = [edge for number in numbers[start : stop + 1] for edge in by_id[number]]
        mixed = numbers[start] if by > 0 else numbers[stop]
        if not any(other[number] for number in numbers[start : stop + 1]):
            yield inside
        elif all(not other[n] for n in numbers[start : stop + 1] if n != mixed):
            rest = [edge for edge in inside if int(_named(edge, end)) != mixed]
            for some in _divided(ports, by_id[mixed], end, by):
                yield [*some, *rest]


def _bounds(numbers: Sequence[int], other: Counter[int], at: int, step: int) -> list[int]:
    """Where a range may begin or end: at the first id that must be in it, at the next ones, or as
    far away as all may be in it."""
    bounds = [at]
    while 0 <= at + step < len(numbers) and not (other[numbers[at]] and len(bounds) > 1):
        at += step
        bounds.append(at)
    near, far = bounds[:MAX_BOUNDS], bounds[-2:][::-1]
    return list(dict.fromkeys((*far, *near) if step > 0 else (*near, *far)))


def _divided(ports: _Ports, edges: list[Edge], end: str, by: int) -> Iterator[list[Edge]]:
    """Which of the edges that have the same id are moved, and the others not."""
    number = int(_named(edges[0], end)) + by
    fits = [(ports.fit(edge), ports.fit(edge, end, number)) for edge in edges]
    if end == "from":
        for at in range(1, len(edges)):  # edges stand in the order of the layers they come from
            behind, before = (0, 1) if by > 0 else (1, 0)
            if all(f[behind] for f in fits[:at]) and all(f[before] for f in fits[at:]):
                yield edges[at:] if by > 0 else edges[:at]
    moved: list[Edge] = []
    by_port: dict[str, list[int]] = {}
    for at, edge in enumerate(edges):
        by_port.setdefault(edge.to_port, []).append(at)
    for group in by_port.values():
        group.sort(key=lambda at: int(edges[at].from_layer), reverse=by < 0)
        kept = [at for at in group if fits[at][0]]
        left = group if not kept else [at for at in group if at != kept[0]]
        moved += [edges[at] for at in left]
        if not all(fits[at][1] for at in left):
            return
    yield moved
