"""Causes in the id of a layer."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.edges import Edge
from ...model.graph import Finding
from ...model.ids import is_number
from ...rule_ids import (
    DANGLING_EDGE,
    DUPLICATE_ID,
    MALFORMED_ID,
    MISSING_EDGE,
    MISSING_LAYER_ATTRIBUTE,
    UNREACHABLE_LAYER,
)
from ..candidate import Candidate
from ..trials.scene import Scene
from .shared_ids import edges_renamed
from .writing import with_attribute, with_edge


def id_causes(scene: Scene, finding: Finding, position: int | None) -> Iterator[Candidate]:
    """A layer has an id that is taken or that no edge names, and edges name one that is free."""
    if finding.rule not in (
        DUPLICATE_ID,
        DANGLING_EDGE,
        MALFORMED_ID,
        MISSING_EDGE,
        MISSING_LAYER_ATTRIBUTE,
        UNREACHABLE_LAYER,
    ):
        return
    missing = scene.missing_ids
    doubled = finding.rule == DUPLICATE_ID and position is not None
    if missing:
        suspects = scene.suspect_ids
        if doubled and position is not None:
            near = scene.layers[position].id
            suspects = [at for at in suspects if scene.layers[at].id == near]
        for number in missing[:4]:
            for at in suspects[:8]:
                yield from _meant_by(scene, at, number)
            yield from _half_renumbered(scene, number)
    elif doubled and position is not None:
        free = _free_number(scene, position)
        candidate = _renumbered(scene, position, free)
        if candidate is not None:
            yield candidate._replace(cost=1.5)


def _meant_by(scene: Scene, at: int, number: str) -> Iterator[Candidate]:
    """The layer has the id that edges name, or these edges name the layer."""
    candidate = _renumbered(scene, at, number)
    if candidate is None:
        return
    own = scene.layers[at].id
    named = scene.edges_from.keys() | scene.edges_to.keys()
    if own not in named and _continues(scene, at, own):
        renamed = edges_renamed(scene, at, number)
        if renamed is not None and not _in_order(scene, at, number):
            yield renamed
    yield candidate


def _half_renumbered(scene: Scene, number: str) -> Iterator[Candidate]:
    """The layer that stands where an id belongs has another one, which some of its edges name."""
    before = scene.by_id.get(str(int(number) - 1), ()) if is_number(number) else ()
    at = before[0] + 1 if len(before) == 1 else 0 if number == "0" else len(scene.layers)
    if at == len(scene.layers):
        return
    layer = scene.layers[at]
    named = [*scene.edges_from.get(layer.id, ()), *scene.edges_to.get(layer.id, ())]
    candidate = _renumbered(scene, at, number)
    alone = len(scene.by_id[layer.id]) == 1 and not _in_order(scene, at, layer.id)
    if not named or candidate is None or not alone or not _in_order(scene, at, number):
        return
    edits = list(candidate.edits)
    for edge in named:
        ends = {"from-layer": edge.from_layer, "to-layer": edge.to_layer}
        edits += with_edge(scene, edge, {n: number for n, text in ends.items() if text == layer.id})
    yield candidate._replace(
        edits=tuple(edits),
        change=f'id="{number}", in its edges, too',
        cause=f"the layer stands where the id {number} belongs, which other edges name; it and "
        f"{len(named)} of its edges have {layer.id}",
        touched=tuple(sorted({*candidate.touched, *(a for e in named for a in _ends(scene, e))})),
        cost=0.1,
        rule=DANGLING_EDGE,
    )


def _ends(scene: Scene, edge: Edge) -> Iterator[int]:
    for number in (edge.from_layer, edge.to_layer):
        yield from scene.by_id.get(number, ())


def _free_number(scene: Scene, position: int) -> str:
    """An id that no layer has: the one after the layer before, if it is free."""
    numbers = {int(number) for number in scene.by_id if is_number(number)}
    before = scene.layers[position - 1].id if position else "-1"
    after = int(before) + 1 if is_number(before.removeprefix("-")) else 0
    return str(after if after not in numbers else max(numbers, default=-1) + 1)


def _renumbered(scene: Scene, position: int, number: str) -> Candidate | None:
    """A layer with the id that some edges name, if it has the ports that they name."""
    layer = scene.layers[position]
    outgoing, incoming = scene.edges_from.get(number, []), scene.edges_to.get(number, [])
    outputs = {port.id for port in layer.outputs}
    inputs = {port.id for port in layer.inputs}
    if (
        not {e.from_port for e in outgoing} <= outputs
        or not {e.to_port for e in incoming} <= inputs
    ):
        return None
    continues, stays = (_continues(scene, position, text) for text in (number, layer.id))
    likely = _in_order(scene, position, number) and (continues or not stays)
    sure = 0.3 * (likely and continues and not stays)
    touched = {position, *scene.by_id.get(layer.id, ())}
    for edge in (*outgoing, *scene.edges_from.get(layer.id, ())):
        touched.update(scene.by_id.get(edge.to_layer, ()))
    for edge in incoming:
        touched.update(scene.by_id.get(edge.from_layer, ()))
    edges = len(outgoing) + len(incoming)
    name = "1 edge of it names" if edges == 1 else f"{edges} edges of it name"
    whole = {e.to_port for e in incoming} == inputs
    source = scene.source
    return Candidate(
        with_attribute(source, layer.offset, "id", number),
        f'id="{number}"',
        f"the layer has id {layer.id}, but {name} {number}, which no layer has",
        layer.offset,
        layer,
        tuple(sorted(touched)),
        cost=0.7 - sure + (0.0 if likely else 0.5 + 0.3 * (edges == 1)) + (0.0 if whole else 0.3),
        rule=DUPLICATE_ID if len(scene.by_id.get(layer.id, ())) > 1 else DANGLING_EDGE,
    )


def _in_order(scene: Scene, position: int, number: str) -> bool:
    """Whether an id lies between those of the layers before and behind."""
    ordered = [layer.id for layer in scene.layers[max(0, position - 1) : position + 2]]
    ordered[min(1, position)] = number
    return all(is_number(text) for text in ordered) and ordered == sorted(ordered, key=int)


def _continues(scene: Scene, position: int, number: str) -> bool:
    """Whether an id is the one after that of the layer before; the last layer has none behind."""
    before = scene.layers[position - 1].id if position else "-1"
    return (
        is_number(number) and is_number(before.removeprefix("-")) and int(number) == int(before) + 1
    )
