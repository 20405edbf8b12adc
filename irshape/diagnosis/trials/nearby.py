"""What is wrong around a change, in a model that has not been inferred."""

from __future__ import annotations

import re

from ...formats.ir.edits import Edit
from ...inference.ports import declared_outputs
from ...inference.result import BodyResult, Inference
from ...model.graph import Model
from ...model.wiring import wire
from ...rule_ids import LOOSER_DECLARATION
from ...rules import Context
from .scene import Scene
from .trial import Trial

_IDS = re.compile(
    rb"""<layer\s[^<>]*?\bid\s*=\s*["']([^"'<>]*)|(?:from|to)-layer\s*=\s*["']([^"'<>]*)"""
)
MOST = 40
"""With more layers around a change than this, they are not looked at alone."""


def problems_around(model: Model, change: Edit) -> tuple[int, int] | None:
    """How many errors and warnings there are around a change without it, and with it.

    What feeds the layers there has the types and shapes that it declares. None where they cannot
    be looked at by themselves.
    """
    net = model.net
    result = BodyResult(net, wire(net))
    scene = Scene(Context(model, Inference(model, result), reasons=False), result)
    core = _core(scene, change)
    if not 0 < len(core) <= MOST:
        return None
    trial = Trial(scene, core)
    for at in trial.positions:
        result.outputs[at] = declared_outputs(scene.layers[at])
    before, after = trial.check((), ()), trial.check((change,), ())
    if before is None or after is None:
        return None
    for counts in (before, after):
        for key in [key for key in counts if key[0] == LOOSER_DECLARATION.code]:
            del counts[key]
    return before.total(), after.total()


def _core(scene: Scene, change: Edit) -> set[int]:
    """The layers that a change concerns: those that it names, and what they feed."""
    at = scene.layer_at(change.start)
    if at is not None:
        start, end = scene.span(at)
    else:
        edge = scene.edge_at(change.start)
        if edge is None:
            return set()
        start, end = scene.edge_span(edge)
    if not start < change.start <= change.end <= end:
        return set()
    data = scene.source.data
    texts = data[start:end], data[start : change.start] + change.text + data[change.end : end]
    ids = {
        (match[1] or match[2] or b"").decode("utf-8", "replace")
        for text in texts
        for match in _IDS.finditer(text)
    }
    if at is not None and scene.layers[at].bodies:
        return {at}
    ids |= {edge.to_layer for edge in scene.body.edges if edge.from_layer in ids}
    return {position for number in ids for position in scene.by_id.get(number, ())}
