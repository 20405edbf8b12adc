"""The part of a body that a change may concern: all that is looked at again to judge it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...model.graph import Finding
from ..candidate import Candidate
from .scene import Scene

MAX_CORE = 32
"""How many layers of a part are checked in full."""
MAX_BEFORE = 12
"""How many layers before a change are looked at for values."""
MAX_VALUES_BEFORE = 48
"""How many, where a size is not proven without them."""
MAX_BETWEEN = 400
"""Among how many layers behind a change those are looked for that lie before other findings."""
MAX_BEHIND = 100
"""Among how many layers behind a change consequences are looked for."""


def touched_layers(scene: Scene, candidate: Candidate, finding: Finding) -> set[int]:
    """The layers that a change concerns, and that with the finding."""
    touched = set(candidate.touched)
    if finding.layer in scene.position:
        touched.add(scene.position[finding.layer])
    return touched


def concerned(
    scene: Scene, touched: set[int], findings: Sequence[Finding], *, wired: bool
) -> set[int]:
    """Some layers, those that they feed, and those behind that depend on their values.

    findings: those that wait for a cause. wired: what fed them was not known, so that the values
    that they need may not be either.
    """
    core = set(touched)
    if wired:
        core |= behind_values(scene, touched)
    waiting = sorted(touched)
    for at in waiting:
        for _, consumer, _ in scene.consumers[at]:
            if consumer in core or len(core) >= MAX_CORE:
                continue
            core.add(consumer)
            if _carries_sizes(scene, consumer):
                waiting.append(consumer)
    return core | _flagged_behind(scene, touched, findings)


def _flagged_behind(scene: Scene, touched: set[int], findings: Sequence[Finding]) -> set[int]:
    """The layers on the way from some to others that have findings of their own."""
    flagged = flagged_layers(scene, findings) - touched
    if not flagged:
        return set()
    came: dict[int, int] = dict.fromkeys(touched, -1)
    waiting = sorted(touched)
    for at in waiting:
        if flagged <= came.keys():
            break
        for _, consumer, _ in scene.consumers[at]:
            if consumer not in came and len(came) < MAX_BEHIND:
                came[consumer] = at
                waiting.append(consumer)
    way: set[int] = set()
    for end in sorted(flagged & came.keys()):
        at = end
        while at >= 0 and at not in way and len(way) < MAX_CORE:
            way.add(at)
            at = came[at]
    return way


def behind(scene: Scene, positions: Sequence[int], most: int) -> set[int]:
    """Some layers, and all that depend on them as long as they are fewer than `most`."""
    waiting = list(positions)
    reached = set(waiting)
    for at in waiting:
        for _, consumer, _ in scene.consumers[at]:
            if consumer not in reached and len(reached) < most:
                reached.add(consumer)
                waiting.append(consumer)
    return reached


def between(scene: Scene, touched: set[int], flagged: set[int]) -> set[int]:
    """Some layers and all that lie between them and others; only the former if those are many."""
    reached = behind(scene, sorted(touched), MAX_BETWEEN)
    before = flagged & reached
    waiting = sorted(before)
    for at in waiting:
        for source in scene.sources[at]:
            if source is not None and source[0] in reached and source[0] not in before:
                before.add(source[0])
                waiting.append(source[0])
    return touched | before


def flagged_layers(scene: Scene, findings: Iterable[Finding]) -> set[int]:
    """The layers of a body with some findings, in bodies of theirs too."""
    depth = len(scene.body.path)
    positions: set[int] = set()
    for finding in findings:
        layer = finding.layer
        if layer is None:
            continue
        if layer in scene.position:
            positions.add(scene.position[layer])
        elif layer.path[:depth] == scene.body.path and len(layer.path) > depth:
            positions.update(scene.by_id.get(layer.path[depth], ()))
    return positions


def named_by_edges(scene: Scene, position: int) -> Iterator[int]:
    """The layers from which edges to a layer come, to ports that it does not have, too."""
    layer = scene.layers[position]
    ports = {port.id for port in layer.inputs}
    for edge in scene.edges_to.get(layer.id, ()):
        if edge.to_port not in ports:
            yield from scene.by_id.get(edge.from_layer, ())


def behind_values(scene: Scene, positions: set[int], most: int = MAX_BEFORE) -> set[int]:
    """The layers that compute few whole numbers for some layers, where those are not known."""
    layers: set[int] = set()
    waiting = sorted(positions)
    for at in waiting:
        for source in scene.sources[at]:
            if source is None or source[0] in layers or len(layers) >= most:
                continue
            outputs = scene.outputs(source[0])
            if source[1] >= len(outputs):
                continue
            tensor = outputs[source[1]]
            static = tensor.shape.static is not None and tensor.shape.size.low <= 64
            if static and tensor.value is None and not tensor.element_type.is_real:
                layers.add(source[0])
                waiting.append(source[0])
    return layers


def _carries_sizes(scene: Scene, position: int) -> bool:
    """Whether a layer produces few whole numbers, on which shapes may depend."""
    return any(
        not tensor.element_type.is_real
        and (tensor.shape.static is not None and tensor.shape.size.low <= 64)
        for tensor in scene.outputs(position)
    )
