"""Ids that were moved at one end of the edges: where they come from, or where they lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from ...formats.ir.edits import Edit
from ...model.graph import Edge, Finding, Port
from ...model.ids import is_number
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
MAX_STARTS = 4
"""How many ids are tried as the first that was moved."""


def shifted_ends(scene: Scene, findings: Sequence[Finding]) -> Candidate | None:
    """The edges name the layers that they come from, or lead to, by ids that were moved from one
    id on; with other ids there, every edge feeds an input of its own what that declares."""
    ports = _Ports(scene)
    looked_at = list(islice(_named_by(scene, findings), LOOKED_AT))
    if any(not is_number(text) for edge in looked_at for text in (edge.from_layer, edge.to_layer)):
        return None
    looked_at = [edge for edge in looked_at if not ports.fit(edge, 0, 0)]
    moves = [
        (end, by)
        for end in ("from", "to")
        for by in MOVES
        if sum(ports.fit(edge, *_both(end, by)) for edge in looked_at) * 2 > len(looked_at)
    ]
    edges = scene.body.edges
    ids = {text for edge in edges for text in (edge.from_layer, edge.to_layer)} if moves else ()
    if len(looked_at) < SEVERAL or not moves or not all(map(is_number, ids)):
        return None
    rows: list[tuple[int, str, int, list[Edge]]] = []
    for end, by in moves:
        for moved in _moved(ports, edges, end, by):
            idle = ports.idle(edges, set(moved), end, by)
            if idle is not None:
                rows.append((idle, end, by, moved))
    if not rows:
        return None
    _, end, by, moved = min(rows, key=lambda row: row[0])
    edits: list[Edit] = []
    for edge in moved:
        number = str(int(_named(edge, end)) + by)
        edits += with_edge(scene, edge, {f"{end}-layer": number})
    first = min(moved, key=lambda edge: edge.offset)
    start = min(int(_named(edge, end)) for edge in moved)
    way = "come from" if end == "from" else "lead to"
    than = f"{abs(by)} {'higher' if by > 0 else 'lower'}"
    return Candidate(
        tuple(edits),
        f"{end}-layer is {than} in the {len(moved)} edges from {end}-layer {start} on",
        f"{len(moved)} edges name the layers that they {way} by ids {abs(by)} "
        f"{'lower' if by > 0 else 'higher'} than theirs, from id {start} on: only one end of the "
        "edges was renumbered",
        scene.source.attribute(first.offset, f"{end}-layer"),
        scene.body.by_id.get(first.to_layer) if end == "from" else None,
        (),
    )


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
        self.known: dict[tuple[int, bool], dict[str, Port]] = {}

    def of(self, number: int, *, given: bool) -> dict[str, Port]:
        """The output ports of a layer, or its input ports, by their ids."""
        ports = self.known.get((number, given))
        if ports is None:
            layer = self.layers.get(str(number))
            own = () if layer is None else layer.outputs if given else layer.inputs
            ports = self.known[number, given] = {port.id: port for port in own}
        return ports

    def fit(self, edge: Edge, by_from: int, by_to: int) -> bool:
        """Whether an edge with moved ends feeds an input what it declares."""
        output = self.of(int(edge.from_layer) + by_from, given=True).get(edge.from_port)
        port = self.of(int(edge.to_layer) + by_to, given=False).get(edge.to_port)
        return output is not None and port is not None and alike(port, output)

    def idle(self, edges: Sequence[Edge], moved: set[Edge], end: str, by: int) -> int | None:
        """How many layers feed nothing with some ends moved; None if not all inputs are fed."""
        by_from, by_to = _both(end, by)
        fed: set[tuple[int, str]] = set()
        used: set[int] = set()
        for edge in edges:
            used.add(int(edge.from_layer) + by_from * (edge in moved))
            fed.add((int(edge.to_layer) + by_to * (edge in moved), edge.to_port))
        heads = [layer.port_heads for layer in self.layers.values()]
        if not len(fed) == len(edges) == sum(each.inputs for each in heads):
            return None
        needed = {layer.id for layer in self.layers.values() if layer.port_heads.output_ids}
        return len(needed - set(map(str, used)))


def _both(end: str, by: int) -> tuple[int, int]:
    """By how much both ends of an edge move."""
    return (by, 0) if end == "from" else (0, by)


def _named(edge: Edge, end: str) -> str:
    return edge.from_layer if end == "from" else edge.to_layer


def _moved(ports: _Ports, edges: Sequence[Edge], end: str, by: int) -> Iterator[list[Edge]]:
    """The edges whose ids at one end may be those that were moved.

    Edges with lower ids are not moved, all with higher ids are. Where a move led from one id to
    the one before, edges of both have the same now.
    """
    ends = _both(end, by)
    as_is, other = Counter[int](), Counter[int]()
    by_id: dict[int, list[Edge]] = {}
    for edge in edges:
        number = int(_named(edge, end))
        by_id.setdefault(number, []).append(edge)
        as_is[number] += not ports.fit(edge, 0, 0)
        other[number] += not ports.fit(edge, *ends)
    numbers = sorted(by_id)
    first = min((number for number in numbers if as_is[number]), default=numbers[-1])
    last = max((number for number in numbers if other[number]), default=numbers[0] - 1)
    if last > first:
        return
    starts = [number for number in numbers if last < number <= first][-MAX_STARTS:]
    for start in reversed(starts):
        yield list(chain.from_iterable(by_id[number] for number in numbers if number >= start))
    between = [number for number in numbers if last <= number <= first]
    for mixed in between[-MAX_STARTS:] if by > 0 else ():
        behind = [e for number in numbers if number > mixed for e in by_id[number]]
        for some in _divided(ports, by_id.get(mixed, []), end, by):
            yield [*some, *behind]


def _divided(ports: _Ports, edges: list[Edge], end: str, by: int) -> Iterator[list[Edge]]:
    """Which of the edges that have the same id are moved, and the others not."""
    ends = _both(end, by)
    fits = [(ports.fit(edge, 0, 0), ports.fit(edge, *ends)) for edge in edges]
    if end == "from":
        for at in range(1, len(edges)):  # edges stand in the order of the layers they come from
            if all(fit[0] for fit in fits[:at]) and all(fit[1] for fit in fits[at:]):
                yield edges[at:]
    moved: list[Edge] = []
    by_port: dict[str, list[int]] = {}
    for at, edge in enumerate(edges):
        by_port.setdefault(edge.to_port, []).append(at)
    for group in by_port.values():
        group.sort(key=lambda at: int(edges[at].from_layer))
        kept = [at for at in group if fits[at][0]]
        left = group if not kept else [at for at in group if at != kept[0]]
        moved += [edges[at] for at in left]
        if not all(fits[at][1] for at in left):
            return
    yield moved
