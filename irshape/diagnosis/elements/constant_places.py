"""Constants as a diagnosis looks at them: where their bytes lie in the .bin, and which are free."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from math import prod

from ...element_types import ElementType
from ...model.graph import Layer
from ...model.ids import is_number
from ...rule_ids import CONTRADICTED_CONSTANT
from ...rules import Context
from ..candidate import Candidate, Change
from ..trials.scene import Scene
from .writing import with_attribute

MAX_REACHING = 8
"""How many constants are looked at that reach into others."""
ORDER = ("element_type", "shape", "offset", "size")


def lies_in_place(const: Const) -> bool:
    """Whether a constant fills the bytes from its offset to the next one, and none are free where
    it would lie if offset and size were exchanged."""
    needed, other = const.bytes_of(const.type, const.shape), const.size
    if other is None or not fills(const, needed):
        return False
    return all(other < start or other + needed > stop for start, stop in free_spans(const))


def fills(const: Const, size: int) -> bool:
    """Whether so many bytes reach from where a constant begins to the next one, or are another's.

    The next constant begins where this one ends if no byte is left between them.
    """
    weights, offset = const.scene.context.model.weights, const.offset
    if weights is None or offset is None or size < 0 or not weights.holds(offset, size):
        return False
    spans = const.scene.context.shared(constant_spans)
    at = bisect_right(spans, (offset,), key=lambda span: span[:1])
    end = offset + size
    if end == (spans[at][0] if at < len(spans) else weights.size):
        return True
    first = bisect_left(spans, (offset,), key=lambda span: span[:1])
    return any(stop == end and other is not const.layer for _, stop, other in spans[first:at])


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and is_number(text.strip().removeprefix("-")) else None


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    return tuple(map(int, parts)) if all(is_number(part) for part in parts) else None


def type_named(text: str | None) -> ElementType | None:
    try:
        return ElementType.of(text) if text is not None else None
    except ValueError:
        return None


class Const:
    """A Const layer as far as its attributes can be read."""

    def __init__(self, scene: Scene, position: int) -> None:
        self.scene = scene
        self.position = position
        self.layer: Layer = scene.layers[position]
        self.type = type_named(self.layer.attribute("element_type"))
        self.shape = _shape(self.layer.attribute("shape"))
        self.size = _number(self.layer.attribute("size"))
        self.offset = _number(self.layer.attribute("offset"))
        self.port = self.layer.outputs[0] if self.layer.outputs else None

    def candidate(self, name: str, text: str, cause: str, cost: float = 1.0) -> Candidate:
        """One attribute gets another value."""
        source, element = self.scene.source, self.layer.data_offset
        edits = with_attribute(source, element, name, text, ORDER[: ORDER.index(name)])
        return Candidate(
            edits,
            f'{name}="{text}"',
            cause,
            source.attribute(element, name),
            self.layer,
            (self.position,),
            cost=cost,
            rule=CONTRADICTED_CONSTANT,
            becomes=Change("data", name, text),
        )

    def bytes_of(self, element_type: ElementType | None, shape: tuple[int, ...] | None) -> int:
        """How many bytes elements take; -1 where that is not known."""
        if element_type is None or shape is None or element_type.name == "string":
            return -1
        return element_type.byte_size(prod(shape))


def reaching_into_others(context: Context) -> tuple[Layer, ...]:
    """The constants that share a part of their bytes with another one."""
    spans = context.shared(constant_spans)
    layers: dict[Layer, None] = {}
    longest: tuple[int, int, Layer] | None = None
    for span in spans:
        if longest is not None and span[0] < longest[1] and span[:2] != longest[:2]:
            layers |= {longest[2]: None, span[2]: None}
        if longest is None or span[1] > longest[1]:
            longest = span
    return tuple(layers)[:MAX_REACHING]


def overlaps(const: Const) -> bool:
    """Whether a constant begins or ends inside another one."""
    offset, size = const.offset, const.size
    if offset is None or size is None or size <= 0:
        return False
    spans = const.scene.context.shared(constant_spans)
    at = bisect_right(spans, (offset,), key=lambda span: span[:1])
    end = offset + size
    return any(
        start < end and offset < stop and (start, stop) != (offset, end)
        for start, stop, layer in spans[max(0, at - 3) : at + 3]
        if layer is not const.layer
    )


def starts(context: Context) -> dict[tuple[int, str | None], list[tuple[int, Layer]]]:
    """Where the constants of each size and type begin in the .bin."""
    by_form: dict[tuple[int, str | None], list[tuple[int, Layer]]] = {}
    for start, end, layer in context.shared(constant_spans):
        key = end - start, layer.attribute("element_type")
        by_form.setdefault(key, []).append((start, layer))
    return by_form


def end_before(const: Const) -> int:
    """Where the constant before this one in the file ends."""
    for at in range(const.position - 1, -1, -1):
        layer = const.scene.layers[at]
        if layer.is_constant:
            start, size = _number(layer.attribute("offset")), _number(layer.attribute("size"))
            if start is not None and size is not None:
                return start + size
    return 0


def free_spans(const: Const) -> list[tuple[int, int]]:
    """The bytes of the .bin that belong to no constant but this one."""
    context = const.scene.context
    same = const.scene.by_offset.get(const.offset if const.offset is not None else -1, ())
    if any(Const(const.scene, at).size == const.size for at in same if at != const.position):
        return context.shared(_gaps_between)  # the bytes of this one are those of another, too
    spans = [span[:2] for span in context.shared(constant_spans) if span[2] is not const.layer]
    return _between(context, spans)


def _gaps_between(context: Context) -> list[tuple[int, int]]:
    return _between(context, [span[:2] for span in context.shared(constant_spans)])


def _between(context: Context, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The bytes of the .bin between some spans, which are in order."""
    weights, end = context.model.weights, 0
    gaps: list[tuple[int, int]] = []
    for start, stop in spans:
        if start > end:
            gaps.append((end, start))
        end = max(end, stop)
    if weights is not None and weights.size > end:
        gaps.append((end, weights.size))
    return gaps


def gaps(free: list[tuple[int, int]], size: int, expected: int) -> Iterator[tuple[float, int]]:
    """Unused places for so many bytes: those of exactly this size first."""
    fitting = [gap for gap in free if gap[1] - gap[0] >= size]
    fitting.sort(key=lambda gap: (gap[1] - gap[0] - size >= 64, gap[0] != expected, gap[0]))
    for index, (start, stop) in enumerate(fitting[:3]):
        spare = stop - start - size
        yield (0.8 if spare < 64 else 1.0) + 0.1 * index, start


def constant_spans(context: Context) -> list[tuple[int, int, Layer]]:
    """The bytes of every constant, in the order of the .bin."""
    return sorted(
        (
            (constant.offset, constant.offset + constant.size, layer)
            for layer, constant in context.constants
            if constant.size
        ),
        key=lambda span: span[:2],
    )
