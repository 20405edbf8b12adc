"""Causes in the whole `<data>` of a Const: it is lost, or that of another one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...formats.ir.edits import Edit
from ...model.graph import Finding
from ...rule_ids import CONTRADICTED_CONSTANT, MISSING_ATTRIBUTE
from ..candidate import Candidate
from ..trials.scene import Scene
from .constant_places import (
    ORDER,
    Const,
    constant_spans,
    end_before,
    fills,
    free_spans,
    gaps,
    overlaps,
    starts,
)
from .constants import MAX_TWINS
from .given import shape_text
from .writing import with_attribute, with_data

SHARED = 1.4
"""What an offset costs at least at which another constant lies."""


def constant_data_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """What a Const says of itself is missing, or contradicts its port in more than one way.

    Type and shape follow from the port, the size from these, and the offset from the bytes that
    belong to no constant.
    """
    const = Const(scene, position)
    layer, port = const.layer, const.port
    if not layer.is_constant or finding.layer is not layer or port is None:
        return
    size = const.bytes_of(port.element_type, port.dims)
    if port.element_type is None or port.dims is None or size < 0 or min(port.dims, default=0) < 0:
        return
    items = {
        "element_type": port.element_type.name,
        "shape": shape_text(scene, layer, port.dims),
        "size": str(size),
    }
    lost = layer.data_offset < 0
    if lost and finding.rule != MISSING_ATTRIBUTE:
        return
    wrong = [
        name
        for name, known, own in (
            ("element_type", const.type, port.element_type),
            ("shape", const.shape, port.dims),
            ("size", const.size, size),
        )
        if known != own
    ]
    if not lost and not wrong:
        return
    several = len(wrong) + (const.offset is None) > 1
    for cost, offset in _offsets(const, size):
        copied = wrong == ["shape"] and const.shape is not None and _is_shared(const)
        if not lost and not several and (offset == const.offset or not copied):
            continue  # other causes
        row = {**items, "offset": str(offset)}
        if lost:
            edits, change = with_data(scene.source, layer.offset, [(n, row[n]) for n in ORDER])
            change = f"{change} is added"
            cause = "the constant has no <data>; its port says what it holds"
        else:
            edits, change = _rewritten(const, [*wrong, "offset"], row)
            verb = "contradicts" if len(wrong) == 1 else "contradict"
            cause = f"{' and '.join(wrong)} of the constant {verb} its port"
        yield Candidate(
            edits,
            change,
            cause,
            layer.offset if lost else scene.source.attribute(layer.data_offset, wrong[0]),
            layer,
            (position,),
            cost=cost - (0.4 if not lost and not several else 0.0),  # it is a copy
            certain=cost < SHARED,
            rule=MISSING_ATTRIBUTE if lost else CONTRADICTED_CONSTANT,
        )


def _offsets(const: Const, size: int) -> Iterator[tuple[float, int]]:
    """Where so many bytes may lie: at its own place if that is free, else in a gap."""
    weights = const.scene.context.model.weights
    if weights is None:
        return
    own, element_type = const.offset, const.port.element_type if const.port else None
    if own is not None and const.size == size and weights.holds(own, size) and not overlaps(const):
        yield 0.7, own
    elif own is not None and fills(const, size):
        yield 0.4, own
    for index, (cost, start) in enumerate(gaps(free_spans(const), size, end_before(const))):
        if start != own:
            yield cost + 0.3 * index, start
    # its bytes may be those of another constant, too
    key = size, element_type.name if element_type is not None else None
    twins = dict.fromkeys(start for start, _ in const.scene.context.shared(starts).get(key, ()))
    for index, start in enumerate(islice(twins, MAX_TWINS)):
        yield SHARED + 0.05 * index, start


def _is_shared(const: Const) -> bool:
    """Whether another constant of the file lies at the same offset and has the same shape."""
    return any(
        start == const.offset
        and layer is not const.layer
        and layer.attribute("shape") == const.layer.attribute("shape")
        for start, _, layer in const.scene.context.shared(constant_spans)
    )


def _rewritten(const: Const, names: list[str], row: dict[str, str]) -> tuple[tuple[Edit, ...], str]:
    """Some attributes get other values; and what these are."""
    source, element = const.scene.source, const.layer.data_offset
    changed = [name for name in ORDER if name in names and const.layer.attribute(name) != row[name]]
    edits: list[Edit] = []
    for name in changed:
        edits += with_attribute(source, element, name, row[name], ORDER[: ORDER.index(name)])
    return tuple(edits), " and ".join(f'{name}="{row[name]}"' for name in changed)
