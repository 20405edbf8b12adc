"""Causes in a Const: its type, shape, offset and size, of which each follows from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import prod

from ...element_types import ElementType
from ...formats.ir.edits import Edit
from ...model.graph import Finding, Layer
from ...model.weights import Constant
from ...rule_ids import CONTRADICTED_CONSTANT, OUTPUT_TYPE_MISMATCH
from ..candidate import Candidate
from ..rule_groups import BETWEEN_PORTS
from ..trials.scene import Scene
from .attribute_texts import spelt_otherwise
from .constant_places import (
    Const,
    constant_spans,
    end_before,
    free_spans,
    gaps,
    overlaps,
    reaching_into_others,
    starts,
    type_named,
)
from .given import given_causes
from .writing import comma_of, with_attribute, with_exchanged

MAX_TWINS = 10
"""How many places of like constants are tried."""
NEARLY = 0.5
"""How much likelier an offset is that differs from the written one by a slip of typing."""
USUAL = 0.2
"""So is one at which the constants lie that the like of its consumers take at the same input."""
FAR = 1 << 32
"""How far away a layer of another body is."""


def constant_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """What is wrong with a constant, or with one that feeds the layer."""
    if scene.layers[position].is_constant:
        yield from _attributes(scene, position)
    elif finding.rule.code.startswith(("IR4", "IR20")):
        yield from given_causes(scene, finding, position)
        if finding.rule in BETWEEN_PORTS and finding.layer is scene.layers[position]:
            return  # no value decides what the ports at both ends of an edge declare
        if finding.rule == OUTPUT_TYPE_MISMATCH:
            return  # nor does one decide a type
        for source in scene.sources[position]:
            if source is not None and scene.layers[source[0]].is_constant:
                yield from _offsets(Const(scene, source[0]), finding)
                yield from _exchanged_offsets(Const(scene, source[0]), position)
                if finding.rule.code.startswith("IR4"):
                    yield from _whole_numbers(scene, finding, source[0])


def _attributes(scene: Scene, position: int) -> Iterator[Candidate]:
    const = Const(scene, position)
    if const.layer.data_offset < 0:
        return
    port = const.port
    port_shape = port.dims if port is not None and port.dims is not None else None
    port_type = port.element_type if port is not None else None
    written = const.layer.attribute("shape") or ""
    if port_shape is not None and port_shape != const.shape and min(port_shape, default=0) >= 0:
        text = comma_of(scene, const.layer, written).join(map(str, port_shape))
        shown = text.replace(" ", "")
        says = f"its port says [{shown}]"
        if (
            const.bytes_of(const.type, port_shape) == const.size
            and const.bytes_of(const.type, const.shape) != const.size
        ):
            says = f"its size of {const.size} bytes and its port say [{shown}]"
        yield const.candidate("shape", text, f"shape says [{written.replace(' ', '')}], but {says}")
    given = const.layer.attribute("element_type")
    if port_type is not None and given != port_type.name:  # OpenVINO does not read `F32`
        yield const.candidate(
            "element_type",
            port_type.name,
            f"element_type is {given}, but the constant's port declares {port_type.precision}",
        )
    if port_type is const.type and port_shape == const.shape:
        yield from _other_width(const)
    for element_type, shape, cost in (
        (const.type, const.shape, 1.0),
        (port_type, port_shape, 1.0),
    ):
        needed = const.bytes_of(element_type, shape)
        if needed >= 0 and needed != const.size:
            yield const.candidate(
                "size",
                str(needed),
                f"{element_type} {list(shape or ())} takes {needed} bytes, but size is "
                f"{const.layer.attribute('size')}",
                cost,
            )
    spelt = spelt_otherwise(const.layer.attribute("size") or "")
    size = "".join(filter(str.isdigit, const.layer.attribute("size") or ""))
    size = size if spelt is None else str(spelt)
    if const.size is None and size and size == str(const.bytes_of(const.type, const.shape)):
        yield const.candidate("size", size, f"size is {const.layer.attribute('size')}", 0.6)
    yield from _offsets(const)


def _other_width(const: Const) -> Iterator[Candidate]:
    """The type of a constant and of its port is another one, with which its size fits."""
    scene, port = const.scene, const.port
    needed = const.bytes_of(const.type, const.shape)
    if port is None or const.type is None or needed < 0 or needed == const.size:
        return
    used = Counter(
        layer.attribute("element_type") for layer in scene.context.every_layer if layer.is_constant
    )
    names = [name for name, _ in used.most_common() if name is not None]
    for index, other in enumerate(filter(None, map(type_named, names))):
        if other is const.type or const.bytes_of(other, const.shape) != const.size:
            continue
        if other.is_real is not const.type.is_real:
            continue
        candidate = const.candidate(
            "element_type",
            other.name,
            f"element_type is {const.type.name}, but {const.size} bytes hold {other.name}",
            0.9 + 0.05 * index,
        )
        precision = with_attribute(scene.source, port.offset, "precision", other.precision)
        yield candidate._replace(
            edits=(*candidate.edits, *precision),
            change=f"{candidate.change}, and so in its port",
            touched=(const.position, *(at for _, at, _ in scene.consumers[const.position])),
            becomes=None,
        )


def _offsets(const: Const, consumer: Finding | None = None) -> Iterator[Candidate]:
    """Where else the bytes may lie: in a gap between constants, or where those of a twin do.

    consumer: what is wrong with a layer that takes the constant; it may have another's bytes.
    """
    weights = const.scene.context.model.weights
    size = const.size
    if weights is None or size is None or size < 0:
        return
    offset, context = const.offset, const.scene.context
    if offset is not None and weights.holds(offset, size) and not overlaps(const):
        shared = len(const.scene.by_offset.get(offset, ())) > 1
        decides = any(tensor.value is not None for tensor in const.scene.outputs(const.position))
        if not shared or consumer is None or not decides:
            return
    written = const.layer.attribute("offset") or ""
    spelt = spelt_otherwise(written)
    written = written if spelt is None else str(spelt)
    for cost, start in gaps(free_spans(const), size, end_before(const)):
        yield const.candidate(
            "offset",
            str(start),
            f"the constant does not lie at byte {const.layer.attribute('offset')}: "
            f"{size} bytes at {start} belong to no other constant",
            cost - NEARLY * one_slip(written, str(start)) - NEARLY * (str(spelt) == str(start)),
        )
    place, shape = const.scene.position, const.layer.attribute("shape")
    usual = _usual(const) if consumer is not None else ()
    alike = context.shared(starts).get((size, const.layer.attribute("element_type")), ())
    same = [
        (
            not one_slip(written, str(start)),
            start not in usual,
            other.attribute("shape") != shape,
            abs(place.get(other, FAR) - const.position),
            start,
        )
        for start, other in alike
        if other is not const.layer
    ]
    for index, start in enumerate(dict.fromkeys(start for *_, start in sorted(same))):
        if index < MAX_TWINS:
            yield const.candidate(
                "offset",
                str(start),
                f"the constant does not lie at byte {const.layer.attribute('offset')}; one of the "
                f"same type and shape lies at {start}",
                1.2
                + 0.05 * index
                - USUAL * (start in usual)
                - NEARLY * one_slip(written, str(start))
                - NEARLY * (str(spelt) == str(start)),
            )


def _usual(const: Const) -> set[int | None]:
    """Where the constants lie that the like of a constant's consumers take at the same input."""
    scene = const.scene
    roles = {(scene.layers[at].type, index) for _, at, index in scene.consumers[const.position]}
    return {
        Const(scene, source[0]).offset
        for at, layer in enumerate(scene.layers)
        for name, index in roles
        if layer.type == name and index < len(scene.sources[at])
        if (source := scene.sources[at][index]) is not None and source[0] != const.position
    }


def _exchanged_offsets(const: Const, consumer: int) -> Iterator[Candidate]:
    """A constant, and a longer or shorter one that now reaches into others, have each other's
    offset."""
    scene, weights = const.scene, const.scene.context.model.weights
    own, size = const.offset, const.size
    reaching = scene.context.shared(reaching_into_others)
    partners = [*reaching, *(_before_gaps(const) if const.layer in reaching else ())]
    for layer in partners:
        at = scene.position.get(layer)
        if at is None or at == const.position or weights is None or own is None or not size:
            continue
        other = Const(scene, at)
        if other.offset is None or other.size is None or other.size == size:
            continue
        ours, theirs = (other.offset, other.offset + size), (own, own + other.size)
        spans = scene.context.shared(constant_spans)
        if theirs[1] > weights.size or any(
            start < span[1] and span[0] < stop and (start, stop) != span
            for start, stop, owner in spans
            if owner not in (const.layer, layer)
            for span in (ours, theirs)
        ):
            continue
        texts = const.layer.attribute("offset") or "", layer.attribute("offset") or ""
        yield Candidate(
            with_exchanged(
                scene.source,
                "offset",
                (const.layer.data_offset, texts[0]),
                (layer.data_offset, texts[1]),
            ),
            f'offset="{texts[1]}", and offset="{texts[0]}" at {layer.label}',
            f"{const.layer.label} and {layer.label} have each other's offset: the longer one "
            "reaches into other constants",
            scene.source.attribute(const.layer.data_offset, "offset"),
            const.layer,
            (const.position, at, consumer),
            cost=0.6,
            rule=CONTRADICTED_CONSTANT,
        )


def _before_gaps(const: Const) -> Iterator[Layer]:
    """The shorter constants behind which there is room for another one."""
    spans, size = const.scene.context.shared(constant_spans), const.size or 0
    own = [span for span in spans if span[2] is not const.layer]
    for (start, stop, layer), (following, *_) in pairwise(own):
        if stop - start < size <= following - start:
            yield layer


def one_slip(written: str, meant: str) -> bool:
    """Whether a number was written with one digit more, less or another, or with separators."""
    if abs(len(written) - len(meant)) > 1:
        return "".join(filter(str.isdigit, written)) == meant
    half = len(meant) // 2
    if not (written.startswith(meant[:half]) or written.endswith(meant[half:])):
        return False  # one slip leaves one half as it is
    head = next((i for i, (a, b) in enumerate(zip(written, meant, strict=False)) if a != b), None)
    if head is None:
        return True
    tails = {(1, 1), (1, 0), (0, 1)}
    return any(written[head + a :] == meant[head + b :] for a, b in tails)


def _whole_numbers(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """Axes, indices or lengths that were turned into real numbers, with all their ports."""
    const = Const(scene, position)
    if const.type is None or not const.type.is_real or const.shape is None or const.port is None:
        return
    elements = prod(const.shape)
    room = _room(const)
    for index, name in enumerate(("i64", "i32")):
        element_type = ElementType.of(name)
        size = element_type.byte_size(elements)
        if room is not None and size > room:
            continue
        source, element = scene.source, const.layer.data_offset
        edits: list[Edit] = [
            *with_attribute(source, element, "element_type", name),
            *with_attribute(source, element, "size", str(size)),
            *with_attribute(source, const.port.offset, "precision", element_type.precision),
        ]
        touched = {position}
        for _, at, port in scene.consumers[position]:
            given = scene.layers[at].inputs[port]
            touched.add(at)
            if given.precision is not None:
                edits += with_attribute(source, given.offset, "precision", element_type.precision)
        yield Candidate(
            tuple(edits),
            f'element_type="{name}" and size="{size}" at {const.layer.label}, and in its ports',
            finding.message,
            finding.offset,
            finding.layer,
            tuple(touched),
            port=finding.port,
            cost=1.2 + 0.2 * index + (0.0 if room is None or room - size < 8 else 0.3),
        )


def _room(const: Const) -> int | None:
    """How many bytes there are from its offset to the next constant."""
    weights = const.scene.context.model.weights
    if const.offset is None or weights is None or not weights.size:
        return None
    later = [
        start for start, _, _ in const.scene.context.shared(constant_spans) if start > const.offset
    ]
    return min(later, default=weights.size) - const.offset


__all__ = ["Constant", "constant_causes", "constant_spans"]
