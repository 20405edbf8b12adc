"""Causes in the names of variables: an Assign and the ReadValue that it belongs to differ."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from ...model.graph import Finding, Layer
from ...rule_ids import UNKNOWN_VARIABLE
from ..candidate import Candidate, Change
from ..trials.scene import Scene
from .writing import encoded, with_attribute

MAX_TRIED = 4
"""How many ReadValues, or Assigns, of a kind are looked at."""
MAX_BETWEEN = 2000
"""Among how many layers before an Assign a ReadValue is looked for."""


def variable_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A ReadValue has the name of a variable that no Assign has: one of the two names is wrong.

    That is the one that is less like those of other variables. Where one of the two has a name
    that another of its type has as well, that name is wrong.
    """
    assign = scene.layers[position]
    name = assign.attribute("variable_id")
    if finding.rule != UNKNOWN_VARIABLE or finding.layer is not assign or name is None:
        return
    every = scene.context.every_layer
    assigned = Counter(each.attribute("variable_id") for each in every if _is(each, "assign"))
    reads = Counter(each.attribute("variable_id") for each in every if _is(each, "readvalue"))
    known = [text for text in reads.keys() & assigned.keys() if text]
    lonely = [at for at, text in _variables(scene, "readvalue") if text not in assigned]
    if name in reads:  # two Assigns have it
        twice = [at for at, text in _variables(scene, "assign") if text == name]
        for read in lonely[:MAX_TRIED]:
            meant = scene.layers[read].attribute("variable_id") or ""
            nearest = sorted(twice[:MAX_TRIED], key=lambda at: _between(scene, read, at))
            for rank, at in enumerate(nearest):
                yield from _named(scene, at, meant, 0.5 + 0.3 * rank)
        return
    for read in lonely[:MAX_TRIED]:
        text = scene.layers[read].attribute("variable_id") or ""
        wrong_there = not text or _likeness(text, known) < _likeness(name, known)
        wrong_here = not name or _likeness(name, known) < _likeness(text, known)
        nearness = 0.4 * (1 - SequenceMatcher(None, text, name).ratio())
        for at, meant, wrong in ((position, text, wrong_here), (read, name, wrong_there)):
            yield from _named(scene, at, meant, (0.5 if wrong else 0.75) + nearness)
    if not lonely:
        twice = [at for at, text in _variables(scene, "readvalue") if reads[text] > 1]
        twice.sort(key=lambda at: _between(scene, at, position))
        for rank, at in enumerate(twice[:MAX_TRIED]):
            yield from _named(scene, at, name, 0.5 + 0.3 * rank)


def _is(layer: Layer, kind: str) -> bool:
    return layer.folded_type == kind


def _variables(scene: Scene, kind: str) -> list[tuple[int, str | None]]:
    """The ReadValues, or the Assigns, each with the variable that it names."""
    layers = enumerate(scene.layers)
    return [(at, each.attribute("variable_id")) for at, each in layers if _is(each, kind)]


def _between(scene: Scene, read: int, assign: int) -> int:
    """How many layers are nearer to an Assign, up the edges, than a ReadValue."""
    seen, waiting = {assign}, deque([assign])
    while waiting and len(seen) < MAX_BETWEEN:
        at = waiting.popleft()
        if at == read:
            return len(seen) - len(waiting)
        before = {source[0] for source in scene.sources[at] if source is not None} - seen
        seen |= before
        waiting.extend(sorted(before))
    return MAX_BETWEEN


def _named(scene: Scene, at: int, meant: str, cost: float) -> Iterator[Candidate]:
    """A ReadValue or an Assign of another variable."""
    layer = scene.layers[at]
    if not meant or layer.data_offset < 0:
        return
    written = layer.attribute("variable_id") or ""
    yield Candidate(
        with_attribute(scene.source, layer.data_offset, "variable_id", meant),
        f'variable_id="{meant}"',
        f"the variable '{written}' has a {layer.type}, and '{meant}' lacks one",
        scene.source.attribute(layer.data_offset, "variable_id"),
        layer,
        (at,),
        cost=cost,
        rule=UNKNOWN_VARIABLE,
        becomes=Change("data", "variable_id", meant),
    )


def _likeness(text: str, others: Iterable[str]) -> float:
    """How alike a name is to the one of others that is most like it."""
    return max((SequenceMatcher(None, text, other).ratio() for other in others), default=0.0)


def gives_variable(scene: Scene, candidate: Candidate, finding: Finding) -> bool:
    """Whether after a change something reads the variable of an Assign, or it has another."""
    assign, layer = finding.layer, candidate.layer
    name = None if assign is None else assign.attribute("variable_id")
    if name is None or layer is None or layer not in scene.position:
        return False
    if layer is assign:
        return candidate.becomes is not None and candidate.becomes.name == "variable_id"
    start, end = scene.span(scene.position[layer])
    text = encoded(scene.source, name or "?")
    return text in scene.source.data[start:end] or any(text in e.text for e in candidate.edits)
