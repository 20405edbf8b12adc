"""Ids of layers or ports that were moved in one half of a file, and not where edges name them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...formats.ir.edits import Edit
from ...model.edges import Edge
from ...model.graph import Body, Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import (
    CYCLE,
    DANGLING_EDGE,
    DUPLICATE_EDGE,
    DUPLICATE_ID,
    MISSING_EDGE,
    PORT_MAP,
    UNREACHABLE_LAYER,
    RuleId,
)
from ...rules.links import alike
from ..candidate import Candidate, Diagnosis
from ..elements.writing import with_attribute, with_edge
from ..telling import of_whole_file
from ..trials.scene import Scene
from ..trials.stage import Stage
from .wrong_ends import wrong_ends

SEVERAL = 3
"""How many findings it takes to look for ids that were renumbered."""
_EDGE = 80
"""An edge is no longer than this."""
_OF_LAYERS = (DANGLING_EDGE, DUPLICATE_ID, MISSING_EDGE, PORT_MAP, UNREACHABLE_LAYER)
_OF_PORTS = (DANGLING_EDGE, DUPLICATE_EDGE, MISSING_EDGE, UNREACHABLE_LAYER)
"""What is found where edges name other ids than those of the layers, and of the ports."""


def renumbered(stage: Stage, findings: Sequence[Finding]) -> Diagnosis | None:
    """From some layer on the ids of layers or ports of a body are not those that edges name."""
    if len(findings) < SEVERAL:
        return None
    astray = {finding.layer.path for finding in findings if _is_astray(finding) and finding.layer}
    for body in stage.context.results:
        scene = stage.scene(body) if body.path in astray or not body.path else None
        if scene is not None:
            diagnosis = _layers(scene, findings) or _ports(scene, findings)
            if diagnosis is not None:
                return diagnosis
    return None


def renumbered_at_one_end(stage: Stage, findings: Sequence[Finding]) -> Diagnosis | None:
    """Ids of layers were moved or exchanged at one end of the edges of a body.

    Where a single change in an element explains all, that is likelier.
    """
    astray = {finding.layer.path for finding in findings if _is_astray(finding) and finding.layer}
    for body in stage.context.results:
        scene = stage.scene(body) if body.path in astray else None
        diagnosis = None if scene is None else _ends(scene, findings)
        if diagnosis is not None:
            return diagnosis
    return None


def _is_astray(finding: Finding) -> bool:
    return finding.rule in (DANGLING_EDGE, MISSING_EDGE)


def _that_follow(
    body: Body, findings: Sequence[Finding], rules: Collection[RuleId]
) -> list[Finding]:
    """The findings in a body that wrong ids may cause: of some rules, or of shapes and types."""
    return [
        finding
        for finding in findings
        if (not body.path or _concerns(finding, body))
        and (finding.rule in rules or finding.rule.code.startswith(("IR2", "IR4")))
    ]


def _layers(scene: Scene, findings: Sequence[Finding]) -> Diagnosis | None:
    """Ids of layers were moved in one body."""
    path = scene.body.path
    of_ids = _that_follow(scene.body, findings, _OF_LAYERS)
    lead = next((f for f in of_ids if f.rule in (DANGLING_EDGE, DUPLICATE_ID)), None)
    if len(of_ids) < SEVERAL or lead is None:
        return None
    ids = [layer.id for layer in scene.layers]
    edges = scene.body.edges
    usual = [str(number) for number in range(len(ids))]  # as writers number layers
    if len({*ids}) < len(ids) and _fits(scene):
        return _told_layers(scene, usual, lead, of_ids)
    texts = set(ids)
    for edge in edges:
        texts.update((edge.from_layer, edge.to_layer, edge.from_port, edge.to_port))
    if not edges or not all(map(is_number, texts)):
        return None
    move = _move(scene)
    if move is None:
        return None
    start, by = move
    if abs(by) > len(ids) and sum(f.rule == DANGLING_EDGE for f in of_ids) == 1:
        return None  # it is one edge that leads astray
    first = next(layer for layer in scene.layers if int(layer.id) >= start + min(by, 0))
    candidates = (_moved_edges(scene, first, start, by), _moved_layers(scene, first, start, by))
    # a port map names the ids of a body, too
    moved = [str(int(text) - by * (int(text) >= start + by)) for text in ids]
    if ids != usual:
        candidates = candidates[::-1]
    return of_whole_file(
        lead,
        f"edges name the layers from {first.label} on by ids {_shifted(-by)} than theirs: only a "
        "part of the file was renumbered",
        f"likely meant: {candidates[0].change}",
        first.offset,
        first,
        of_ids,
        candidates,
        certain=bool(path) and (ids == usual) != (moved == usual),
    )


def _fits(scene: Scene) -> bool:
    """Whether each input is fed what it declares if layers have the ids that writers give them."""
    layers = list(enumerate(scene.layers))
    outputs = {(str(at), port.id): port for at, layer in layers for port in layer.outputs}
    inputs = {(str(at), port.id): port for at, layer in layers for port in layer.inputs}
    edges = {
        (edge.to_layer, edge.to_port): (edge.from_layer, edge.from_port)
        for edge in scene.body.edges
    }
    return edges.keys() == inputs.keys() and all(
        source in outputs and alike(inputs[target], outputs[source])
        for target, source in edges.items()
    )


def _told_layers(
    scene: Scene, usual: Sequence[str], lead: Finding, explained: Sequence[Finding]
) -> Diagnosis | None:
    """Some layers do not have the ids that all others have and edges name: their place."""
    wrong = [row for row in zip(scene.layers, usual, strict=True) if row[0].id != row[1]]
    if len(wrong) < 2:
        return None
    edits: list[Edit] = []
    for layer, number in wrong:
        edits += with_attribute(scene.source, layer.offset, "id", number)
    first, last = wrong[0], wrong[-1]
    change = f"the ids of {len(wrong)} layers become those from {first[1]} to {last[1]}"
    candidate = Candidate(tuple(edits), change, change, first[0].offset, first[0], ())
    message = f"{len(wrong)} layers do not have the ids that edges name: their places in the file"
    help = f"likely meant: {change}"
    return of_whole_file(
        *(lead, message, help, first[0].offset, first[0], explained, (candidate,)), certain=True
    )


def _ports(scene: Scene, findings: Sequence[Finding]) -> Diagnosis | None:
    """Ids of output or input ports were moved in one body."""
    of_ids = _that_follow(scene.body, findings, _OF_PORTS)
    lead = next((f for f in of_ids if f.rule == DANGLING_EDGE), None)
    if lead is None or len(of_ids) < SEVERAL:
        return None
    for end in ("from", "to"):
        ends = [_End(edge, end) for edge in scene.body.edges]
        layers = {layer.id: layer for layer in scene.layers}
        existing = {
            layer.id: {int(port.id) for port in _ports_at(layer, end) if is_number(port.id)}
            for layer in scene.layers
        }
        if not all(each.layer in layers and is_number(each.port) for each in ends):
            continue
        astray = [each for each in ends if int(each.port) not in existing[each.layer]]
        if len({each.layer for each in astray}) < SEVERAL:
            continue  # a layer may have a port with a wrong id
        for by in sorted({int(astray[0].port) - number for number in existing[astray[0].layer]}):
            moved = _all_meant(ends, astray, existing, by)
            if moved:
                return _told_ports(lead, scene, end, moved, by, of_ids)
    return None


def _ends(scene: Scene, findings: Sequence[Finding]) -> Diagnosis | None:
    """Ids of layers were moved or exchanged at one end of the edges of one body."""
    of_ids = _that_follow(scene.body, findings, _OF_LAYERS + _OF_PORTS + (CYCLE,))
    moved = wrong_ends(scene, of_ids) if len(of_ids) > 1 else None
    if moved is None:
        return None
    lead = next((f for f in of_ids if f.rule in (DANGLING_EDGE, MISSING_EDGE)), of_ids[0])
    help = f"likely meant: {moved.change}"
    return of_whole_file(
        *(lead, moved.cause, help, moved.offset, moved.layer, of_ids, (moved,)),
        certain=True,
        rule=DANGLING_EDGE,
    )


class _End:
    """One end of an edge: the layer and the port that it names."""

    def __init__(self, edge: Edge, end: str) -> None:
        self.edge = edge
        self.layer = edge.from_layer if end == "from" else edge.to_layer
        self.port = edge.from_port if end == "from" else edge.to_port


def _ports_at(layer: Layer, end: str) -> Sequence[Port]:
    return layer.outputs if end == "from" else layer.inputs


def _all_meant(
    ends: Sequence[_End], astray: Sequence[_End], existing: dict[str, set[int]], by: int
) -> list[_End]:
    """The ends that name ports by ids moved by so much; empty if some would still be astray."""
    layers = {each.layer for each in astray}
    behind = ends[ends.index(astray[0]) :]
    for moved in (behind, [each for each in ends if each.layer in layers]):
        if all(each in moved for each in astray) and all(
            int(each.port) - by in existing[each.layer] for each in moved
        ):
            return list(moved)
    return []


def _told_ports(
    lead: Finding,
    scene: Scene,
    end: str,
    moved: Sequence[_End],
    by: int,
    explained: Sequence[Finding],
) -> Diagnosis:
    """Either the edges follow the ports of the layers, or these follow the edges."""
    name = "output" if end == "from" else "input"
    edits: list[Edit] = []
    for each in moved:
        edits += with_edge(scene, each.edge, {f"{end}-port": str(int(each.port) - by)})
    change = f"{len(moved)} edges name {name} ports by ids {_shifted(-by)}"
    edges = Candidate(tuple(edits), change, change, lead.offset, lead.layer, ())
    concerned = {each.layer for each in moved}
    edits = []
    for layer in scene.layers:
        if layer.id in concerned:
            for port in _ports_at(layer, end):
                number = str(int(port.id) + by)
                edits += with_attribute(scene.source, port.offset, "id", number)
    change = f"the ids of the {name} ports of {len(concerned)} layers become {_shifted(by)}"
    layers = Candidate(tuple(edits), change, change, lead.offset, lead.layer, ())
    usual = all(_is_usual(layer) for layer in scene.layers if layer.id in concerned)
    candidates = (edges, layers) if usual else (layers, edges)
    return of_whole_file(
        lead,
        f"{len(moved)} edges name {name} ports by ids {_shifted(by)} than those of the layers: "
        "only a part of the file was renumbered",
        f"likely meant: {candidates[0].change}",
        lead.offset,
        lead.layer,
        explained,
        candidates,
    )


def _is_usual(layer: Layer) -> bool:
    """Whether the ports of a layer have ids as writers number them: inputs first, from 0."""
    ids = [port.id for port in (*layer.inputs, *layer.outputs)]
    return ids == [str(number) for number in range(len(ids))]


def _concerns(finding: Finding, body: Body) -> bool:
    """Whether a finding is in a body, at one of its edges, or at the layer that has it."""
    layer, path = finding.layer, body.path
    if layer is None:
        edges = body.edges
        return bool(edges) and edges[0].offset < finding.offset < edges[-1].offset + _EDGE
    return layer.path[: len(path)] == path or (*layer.path, layer.id) == path[:-1]


def _moved_edges(scene: Scene, first: Layer, start: int, by: int) -> Candidate:
    """The edges follow the layers."""
    edits: list[Edit] = []
    for edge in scene.body.edges:
        ends = {"from-layer": edge.from_layer, "to-layer": edge.to_layer}
        moved = {name: str(int(text) + by) for name, text in ends.items() if int(text) >= start}
        edits += with_edge(scene, edge, moved)
    change = f"edges name the layers from id {start} on by ids {_shifted(by)}"
    return Candidate(tuple(edits), change, change, first.offset, first, ())


def _moved_layers(scene: Scene, first: Layer, start: int, by: int) -> Candidate:
    """The layers follow the edges."""
    edits: list[Edit] = []
    for layer in scene.layers:
        if int(layer.id) >= start + by:
            number = str(int(layer.id) - by)
            edits += with_attribute(scene.source, layer.offset, "id", number)
    change = f"the ids of the layers from {start + by} on become {_shifted(-by)}"
    return Candidate(tuple(edits), change, change, first.offset, first, ())


def _move(scene: Scene) -> tuple[int, int] | None:
    """From which id on, and by how much, ids moved: then every edge leads from port to port."""
    outputs = {(int(layer.id), port.id) for layer in scene.layers for port in layer.outputs}
    inputs = {(int(layer.id), port.id) for layer in scene.layers for port in layer.inputs}
    numbers = {int(layer.id) for layer in scene.layers}
    ends = [(int(e.from_layer), e.from_port, int(e.to_layer), e.to_port) for e in scene.body.edges]
    named = {row[0] for row in ends} | {row[2] for row in ends}
    lost, idle = sorted(named - numbers), sorted(numbers - named)
    if not lost or not idle:
        return None
    by = max(numbers) - max(named)
    starts = (lost[0], idle[-1] + 1, idle[0], idle[0] - by)
    for start in dict.fromkeys(starts) if by else ():
        moved = [(a + by * (a >= start), p, b + by * (b >= start), q) for a, p, b, q in ends]
        if all((a, p) in outputs and (b, q) in inputs for a, p, b, q in moved) and len(
            {(b, q) for _, _, b, q in moved}
        ) == len(inputs):
            return start, by
    return None


def _shifted(by: int) -> str:
    return f"{abs(by)} {'higher' if by > 0 else 'lower'}"
