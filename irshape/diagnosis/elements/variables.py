"""Causes in the names of variables: an Assign and the ReadValue that it belongs to differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from ...model.graph import Finding
from ...rule_ids import UNKNOWN_VARIABLE
from ..candidate import Candidate, Change
from ..trials.scene import Scene
from .writing import encoded, with_attribute

MAX_READS = 4
"""Of how many ReadValues without an Assign one is looked for."""


def variable_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A ReadValue has the name of a variable that no Assign has: one of the two names is wrong.

    That is the one that is less like those of other variables.
    """
    assign = scene.layers[position]
    name = assign.attribute("variable_id")
    if finding.rule != UNKNOWN_VARIABLE or finding.layer is not assign or name is None:
        return
    every = scene.context.every_layer
    assigned = {layer.attribute("variable_id") for layer in every if layer.folded_type == "assign"}
    reads = {layer.attribute("variable_id") for layer in every if layer.folded_type == "readvalue"}
    known = [text for text in reads & assigned if text]
    lonely = [
        at
        for at, layer in enumerate(scene.layers)
        if layer.folded_type == "readvalue" and layer.attribute("variable_id") not in assigned
    ]
    for at in lonely[:MAX_READS]:
        text = scene.layers[at].attribute("variable_id") or ""
        wrong_there = not text or _likeness(text, known) < _likeness(name, known)
        wrong_here = not name or _likeness(name, known) < _likeness(text, known)
        nearness = 0.4 * (1 - SequenceMatcher(None, text, name).ratio())
        for place, meant, wrong in ((position, text, wrong_here), (at, name, wrong_there)):
            layer = scene.layers[place]
            if not meant or layer.data_offset < 0:
                continue
            written = layer.attribute("variable_id") or ""
            yield Candidate(
                with_attribute(scene.source, layer.data_offset, "variable_id", meant),
                f'variable_id="{meant}"',
                f"the variable '{written}' has a {layer.type}, and '{meant}' lacks one",
                scene.source.attribute(layer.data_offset, "variable_id"),
                layer,
                (place,),
                cost=(0.5 if wrong else 0.75) + nearness,
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
