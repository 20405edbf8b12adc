"""Causes of what feeds nothing, or is fed by nothing: an edge from another layer, or misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...formats.ir.edits import Edit, element_end
from ...model.graph import Finding
from ...model.ids import is_number
from ...model.ports import Port
from ...rule_ids import MISDIRECTED_EDGE, MISSING_EDGE, MISSPELT_ELEMENT, UNREACHABLE_LAYER
from ...rules.links import alike
from ..candidate import Candidate
from ..trials.scene import Scene
from .likely_sources import ids_around
from .writing import with_edge

_NAME = re.compile(rb"<[^\s<>/]+")


def unused_layer_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """An edge stands where those from the layer do, but comes from another, or from what feeds it.

    What that one produces has the same form, so that no port contradicts it.
    """
    layer = scene.layers[position]
    if finding.rule != UNREACHABLE_LAYER or finding.layer is not layer or not is_number(layer.id):
        return
    before = {source[0] for source in scene.sources[position] if source is not None}
    for output in layer.outputs:
        for at, consumer, port in _fed_alike(scene, output, position):
            target = scene.layers[consumer]
            edge = scene.edge_into(target, port)
            if edge is None or not alike(port, output):
                continue
            low, high = ids_around(scene, edge)
            own = is_number(edge.from_layer) and low <= int(edge.from_layer) <= high
            if not low <= int(layer.id) <= high or (own and at not in before):
                continue
            ends = {"from-layer": layer.id, "from-port": output.id}
            if edge.from_port == output.id:
                del ends["from-port"]
            yield Candidate(
                with_edge(scene, edge, ends),
                ", ".join(f'{name}="{text}"' for name, text in ends.items()),
                f"the edge comes from {scene.layers[at].label}, but stands among those from "
                f"{layer.label}, which feeds nothing"
                if not own
                else f"the edge comes from {scene.layers[at].label} and leaves {layer.label} out, "
                "which feeds nothing",
                scene.source.attribute(edge.offset, "from-layer"),
                target,
                (consumer, at),
                (position,),
                cost=0.9 if own else 0.4,
                certain=not own,
                rule=MISDIRECTED_EDGE,
            )


def _fed_alike(scene: Scene, output: Port, position: int) -> Iterator[tuple[int, int, Port]]:
    """The inputs that an output with the same dimensions feeds, of another layer than that at
    `position`: where that layer is, where the one with the input is, and the input."""
    for at, index in scene.outputs_like(output.dims):
        if at != position:
            for out, consumer, number in scene.consumers[at]:
                if out == index:
                    yield at, consumer, scene.layers[consumer].inputs[number]


def misspelt_edge_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """The edge into an input is there, but its element has another name."""
    layer, source = scene.layers[position], scene.source
    if finding.rule != MISSING_EDGE or finding.port is None:
        return
    for other in scene.context.model.findings:
        if other.rule != MISSPELT_ELEMENT or other.expected != "edge":
            continue
        ends = {
            name: source.data[start:end].decode("ascii", "replace")
            for name, _, start, end in source.attributes(other.offset)
        }
        if (ends.get("to-layer"), ends.get("to-port")) != (layer.id, finding.port[1]):
            continue
        end = element_end(source.data, other.offset)
        text = _NAME.sub(b"<edge", source.data[other.offset : end], count=1)
        yield Candidate(
            (Edit(other.offset, end, text),),
            f"<{other.actual}> becomes <edge>",
            other.message,
            other.offset,
            layer,
            (position,),
            tuple(scene.by_id.get(ends.get("from-layer", ""), ())),
            cost=0.1,
        )
