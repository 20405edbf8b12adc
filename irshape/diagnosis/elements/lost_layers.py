"""Layers that were deleted with all their edges: an id is free, some inputs are fed by nothing, and
what fed the layer may lead nowhere."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ...formats.ir.edits import Edit, element_end
from ...model.graph import Finding, Layer
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import (
    DANGLING_EDGE,
    MISSING_EDGE,
    OUTPUT_SHAPE_MISMATCH,
    UNPROVEN_DIMENSION,
    UNREACHABLE_LAYER,
)
from ..candidate import Candidate, Diagnosis
from ..trials.parts import behind
from ..trials.scene import Scene
from .likely_sources import likely_sources
from .writing import new_edge

MAX_GAPS = 3
"""With more free ids than this between those of layers, none tells of a layer that was deleted."""
MAX_BYPASSES = 3
"""How many outputs are tried that may feed what the layer did."""
MAX_REACHED = 4000
"""Among how many layers behind the lost one consequences are looked for."""
NAMED = 3
"""How many layers a message names."""

Explains = Callable[[Scene, Candidate, Finding], tuple[Finding, ...]]
"""What a change explains, if it takes a finding back."""
_ID = re.compile(rb'\bid="[^"]*"')
_NAME = re.compile(rb'\bname="[^"]*"')


class _Lost(NamedTuple):
    """A layer that is gone."""

    scene: Scene
    number: int
    missing: list[Finding]
    """The inputs that it fed."""
    dead: list[Finding]
    """Layers that feed nothing, as they are reported."""
    producers: list[int]
    """The positions of the layers that fed nothing but it."""

    @property
    def inputs(self) -> list[tuple[int, Port]]:
        """The inputs that it fed, each with the position of its layer."""
        inputs: list[tuple[int, Port]] = []
        for finding in self.missing:
            layer = finding.layer
            if layer is not None and finding.port is not None:
                at, number = self.scene.position[layer], finding.port[1]
                inputs += [(at, port) for port in layer.inputs if port.id == number][:1]
        return inputs


def of_lost_layers(
    scenes: Sequence[Scene], findings: Sequence[Finding], explains: Explains
) -> Iterator[Diagnosis]:
    """Each layer that is gone, with what follows from that."""
    for scene in scenes:
        for lost in _lost_layers(scene, findings):
            explained = [*lost.missing, *lost.dead, *_behind(lost, findings)]
            candidates = [
                candidate
                for candidate in (*_copies(lost), *_bypasses(lost))
                if explains(scene, candidate, lost.missing[0])
            ]
            yield Diagnosis(_told(lost, explained), tuple(explained), tuple(candidates), False)


def _lost_layers(scene: Scene, findings: Sequence[Finding]) -> Iterator[_Lost]:
    here = [finding for finding in findings if finding.layer in scene.position]
    missing = [f for f in here if f.rule == MISSING_EDGE and f.port is not None]
    if not missing or scene.missing_ids or any(f.rule == DANGLING_EDGE for f in here):
        return
    gaps = free_ids(scene.layers)
    dead = [finding for finding in here if finding.rule == UNREACHABLE_LAYER]
    for index, number in enumerate(gaps):
        behind = [f for f in missing if bisect_right(gaps, _number(f.layer)) == index + 1]
        before = [f for f in dead if bisect_right(gaps, _number(f.layer)) == index]
        producers = [
            at for at in scene.unused if bisect_right(gaps, _number(scene.layers[at])) == index
        ]
        if behind:
            yield _Lost(scene, number, behind, before, producers)


def _number(layer: Layer | None) -> int:
    return int(layer.id) if layer is not None else -1


def free_ids(layers: Sequence[Layer]) -> list[int]:
    """The ids that no layer has, where writers number layers one after the other."""
    texts = [layer.id for layer in layers]
    if not all(map(is_number, texts)):
        return []
    numbers = sorted(map(int, texts))
    free = numbers[-1] + 1 - numbers[0] - len(numbers)
    if numbers[0] > 1 or not 0 < free <= MAX_GAPS or len(set(numbers)) < len(numbers):
        return []
    return sorted(set(range(numbers[0], numbers[-1])).difference(numbers))


def _behind(lost: _Lost, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Other sizes of the layers that it fed, and the sizes that are not proven without it."""
    scene = lost.scene
    fed = {scene.layers[at] for at, _ in lost.inputs}
    yield from (f for f in findings if f.rule == OUTPUT_SHAPE_MISMATCH and f.layer in fed)
    unproven = [f for f in findings if f.rule == UNPROVEN_DIMENSION]
    if not unproven:
        return
    reached = behind(scene, [at for at, _ in lost.inputs], MAX_REACHED)
    holders = {(*scene.body.path, scene.layers[at].id) for at in reached}
    depth = len(scene.body.path) + 1
    for finding in unproven:
        layer = finding.layer
        if layer is None:
            continue
        inside = (*layer.path, layer.id)[:depth] in holders
        around = scene.body.path and layer.path[:1] == scene.body.path[:1]
        if inside or around:
            yield finding


def _told(lost: _Lost, explained: Sequence[Finding]) -> Finding:
    """A layer that is gone as a finding, at the first input that it fed."""
    scene, lead = lost.scene, lost.missing[0]
    layers = [scene.layers[at] for at in lost.producers]
    fed = [f"input port {port.id} of {scene.layers[at].label}" for at, port in lost.inputs]
    where = f" between {layers[0].label} and {lead.layer.label}" if layers and lead.layer else ""
    taken = f", and nothing takes what {_listed([each.label for each in layers])} produces"
    message = (
        f"a layer is missing{where}: no layer has id {lost.number}, nothing feeds {_listed(fed)}"
        + (taken if layers else "")
    )
    like = _like(lost)
    help = "put the layer back"
    if like:
        help += f"; its ports are those of {_listed([each.label for each in like])}"
    fault = lead.fault._replace(message=message, help=help)
    return lead._replace(fault=fault, related=tuple(explained[1:]))


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


# what takes it back


def _declared(port: Port) -> tuple[object, ...]:
    return port.dims, port.precision


def _like(lost: _Lost) -> list[Layer]:
    """The layers of which the inputs declare what nothing takes, and the output what is lacking."""
    scene, wanted = lost.scene, {_declared(port) for _, port in lost.inputs}
    given = [port for at in lost.producers for port in scene.layers[at].outputs]
    if len(wanted) != 1 or not given or any(not port.dims for _, port in lost.inputs):
        return []
    taken = sorted(map(repr, map(_declared, given)))
    return [
        layer
        for layer in scene.layers
        if len(layer.outputs) == 1
        and len(layer.inputs) == len(given)
        and _declared(layer.outputs[0]) in wanted
        and sorted(repr(_declared(port)) for port in layer.inputs) == taken
    ]


def _copies(lost: _Lost) -> Iterator[Candidate]:
    """A layer like the others with such ports, where all of these are alike."""
    scene, like = lost.scene, _like(lost)
    if len({(layer.type, layer.version, layer.items) for layer in like}) != 1 or like[0].bodies:
        return
    model, number = like[0], str(lost.number)
    before = [at for at, layer in enumerate(scene.layers) if int(layer.id) < lost.number]
    if not before:
        return
    data = scene.source.data
    place = element_end(data, scene.layers[before[-1]].offset)
    start = scene.span(scene.position[model])[0]
    text = data[start : element_end(data, start)]
    opening, close, rest = text.partition(b">")
    opening = _ID.sub(f'id="{number}"'.encode(), opening, count=1)
    opening = _NAME.sub(f'name="{model.type}_{number}"'.encode(), opening, count=1)
    line = data.rfind(b"\n", 0, start)
    indent = data[line:start] if line >= 0 and not data[line:start].strip() else b""
    edits = [Edit(place, place, indent + opening + close + _without_names(rest))]
    free = [(at, port) for at in lost.producers for port in scene.layers[at].outputs]
    for port in model.inputs:
        at, output = next(pair for pair in free if _declared(pair[1]) == _declared(port))
        free.remove((at, output))
        edits += new_edge(scene, scene.layers[at].id, output.id, number, port.id)
    for at, port in lost.inputs:
        edits += new_edge(scene, number, model.outputs[0].id, scene.layers[at].id, port.id)
    yield _candidate(
        lost, edits, f"a layer like {model.label} is added with id {number}", lost.producers
    )


def _without_names(text: bytes) -> bytes:
    """The ports of a layer without the names of tensors, which are no others'."""
    return re.sub(rb'(<port\b[^<>]*?) names="[^"]*"', rb"\1", text)


def _bypasses(lost: _Lost) -> Iterator[Candidate]:
    """What the layer fed is fed by an output that declares the same."""
    scene = lost.scene
    inputs = lost.inputs
    if not inputs or len({_declared(port) for _, port in inputs}) != 1:
        return
    first, port = inputs[0]
    sources = [(at, output) for _, at, output in likely_sources(scene, first, port)]
    producers = set(lost.producers)
    sources.sort(key=lambda source: source[0] not in producers)
    for at, output in sources[:MAX_BYPASSES]:
        layer = scene.layers[at]
        edits: list[Edit] = []
        for target, port in inputs:
            edits += new_edge(scene, layer.id, output.id, scene.layers[target].id, port.id)
        count = f"{len(inputs)} edges" if len(inputs) > 1 else "an edge"
        yield _candidate(lost, edits, f"{count} from {layer.label}, port {output.id}", [at])


def _candidate(
    lost: _Lost, edits: Sequence[Edit], change: str, producers: Sequence[int]
) -> Candidate:
    joined: dict[tuple[int, int], bytes] = {}
    for start, end, text in edits:  # edges may be added at one place
        joined[start, end] = joined.get((start, end), b"") + text
    lead = lost.missing[0]
    return Candidate(
        tuple(Edit(*span, text) for span, text in joined.items()),
        change,
        lead.message,
        lead.offset,
        lead.layer,
        tuple(at for at, _ in lost.inputs),
        tuple(producers),
        lead.port,
        certain=False,
    )
