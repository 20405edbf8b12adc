"""Causes in the .bin: axes, an order or lengths that are not those that the ports demand.

No edit takes such a cause back, since nothing writes a .bin; it is told at the Const.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import chain, combinations, islice, permutations

from ...model.graph import Finding
from ...model.weights import Weights
from ...rule_ids import (
    CONTRADICTED_CONSTANT,
    INPUT_ELEMENT_TYPE,
    INPUT_MISMATCH,
    INPUT_TYPE_MISMATCH,
    OUTPUT_TYPE_MISMATCH,
)
from ..candidate import Candidate, Patch
from ..trials.scene import Scene
from .constant_places import Const, overlaps

MAX_ELEMENTS = 16
"""How many elements a constant may have whose values are looked at."""
MAX_CONSUMERS = 64
"""How many layers may take it."""
MAX_MAPPED = 6
"""Up to which rank orders and axes are derived from what is fed and what is declared."""
MAX_ALIKE = 3
"""How many orders are tried that exchange axes of the same size."""
MAX_VALUES = 40
"""How many other values are tried for one constant."""
_OF_OTHERS = (INPUT_ELEMENT_TYPE, INPUT_MISMATCH, INPUT_TYPE_MISMATCH, OUTPUT_TYPE_MISMATCH)
"""Rules whose findings no value decides."""
_FORMATS = {"i64": "q", "i32": "i"}


def value_causes(scene: Scene, finding: Finding, position: int) -> Iterator[Candidate]:
    """A constant that feeds a layer has other values than the ports of the layer demand."""
    if not finding.rule.code.startswith(("IR20", "IR4")) or finding.rule in _OF_OTHERS:
        return
    layer = scene.layers[position]
    declared = layer.outputs[0].dims if layer.outputs else None
    fed = layer.inputs[0].dims if layer.inputs else None
    for source in dict.fromkeys(scene.sources[position]):
        if source is not None and scene.layers[source[0]].is_constant:
            yield from _other_values(scene, Const(scene, source[0]), fed, declared)


def _other_values(
    scene: Scene, const: Const, fed: tuple[int, ...] | None, declared: tuple[int, ...] | None
) -> Iterator[Candidate]:
    weights = scene.context.model.weights
    letter = _FORMATS.get(const.type.name if const.type is not None else "")
    if letter is None or weights is None or const.offset is None or not const.size:
        return
    width = struct.calcsize(letter)
    count = const.size // width
    if count > MAX_ELEMENTS or not weights.holds(const.offset, const.size):
        return
    sharing = scene.by_offset.get(const.offset, [const.position])
    if overlaps(const):
        return  # it has parts of two others: its offset is wrong
    consumers = list(dict.fromkeys(at for other in sharing for _, at, _ in scene.consumers[other]))
    if len(consumers) > MAX_CONSUMERS:
        return
    form = f"<{count}{letter}"
    values = struct.unpack(form, bytes(weights.view(const.offset, count * width)))
    shown = _shown(values)
    names = ", ".join(scene.layers[at].label for at in consumers[:3])
    names += f" and {len(consumers) - 3} more" if len(consumers) > 3 else ""
    tried = {values}
    likely = chain(_mapping(count, fed, declared), _likely(values, declared))
    for index, other in enumerate(islice(likely, MAX_VALUES)):
        if other in tried:
            continue
        tried.add(other)
        try:
            content = struct.pack(form, *other)
        except struct.error:
            continue
        yield Candidate(
            (),
            f"{_shown(other)} in place of {shown}",
            f"its value {shown} does not fit the ports of {names}; {_shown(other)} does",
            const.layer.offset,
            const.layer,
            (*sharing, *consumers),
            cost=1.35 + 0.01 * index,
            certain=False,
            rule=CONTRADICTED_CONSTANT,
            patch=Patch(const.offset, content),
        )


def _shown(values: tuple[int, ...]) -> str:
    return str(list(values)).replace(" ", "")


def _mapping(
    count: int, fed: tuple[int, ...] | None, declared: tuple[int, ...] | None
) -> Iterator[tuple[int, ...]]:
    """Orders of axes, and axes to reduce, with which what is fed becomes what is declared."""
    if not fed or declared is None or len(fed) > MAX_MAPPED:
        return
    if len(fed) == len(declared) == count:
        fitting = (
            order
            for order in permutations(range(count))
            if all(fed[axis] == size for axis, size in zip(order, declared, strict=True))
        )
        yield from islice(fitting, MAX_ALIKE)
    for axes in combinations(range(len(fed)), count):
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(fed))
        gone = tuple(size for axis, size in enumerate(fed) if axis not in axes)
        if declared in (kept, gone) and declared != fed:
            yield axes


def _likely(values: tuple[int, ...], declared: tuple[int, ...] | None) -> Iterator[tuple[int, ...]]:
    """Other values, the likeliest first: exchanged, near by, or what the output declares.

    Of an order the axis that is missing, of a shape the dimension that is left open.
    """
    for one, other in combinations(range(len(values)), 2):
        exchanged = [*values]
        exchanged[one], exchanged[other] = values[other], values[one]
        yield tuple(exchanged)
    if declared is not None and len(declared) == len(values):
        for at, size in enumerate(declared):
            yield (*values[:at], size, *values[at + 1 :])
        yield declared
    for number in sorted(set(range(len(values))) - set(values)):  # as an order of axes has them
        for at in range(len(values)):
            if values.count(values[at]) > 1 or not 0 <= values[at] < len(values):
                yield (*values[:at], number, *values[at + 1 :])
    for number in (-1, 0):
        for at in range(len(values) if len(values) > 1 else 0):
            if number not in values or (number == 0 and values[at] < 0):
                yield (*values[:at], number, *values[at + 1 :])
    for step in (-1, 1):
        for at in range(len(values) - 1, -1, -1):
            yield (*values[:at], values[at] + step, *values[at + 1 :])
    if len(values) == 1:
        yield from ((number,) for number in (0, 1, 2, 3, -1, -2, 4))


class Patched(Weights):
    """A .bin with other bytes at one place."""

    def __init__(self, weights: Weights, patch: Patch) -> None:
        data = _Overlay(weights, patch)
        super().__init__(weights.path, data, weights.state)  # type: ignore[arg-type]
        self.overlay = data

    def view(self, offset: int, size: int) -> memoryview:
        return memoryview(self.overlay[offset : offset + size])

    def holds(self, offset: int, size: int) -> bool:
        return self.overlay.weights.holds(offset, size)


class _Overlay:
    """Bytes, of which some are others."""

    def __init__(self, weights: Weights, patch: Patch) -> None:
        self.weights = weights
        self.patch = patch

    def __len__(self) -> int:
        return self.weights.size

    def __getitem__(self, span: slice) -> bytes:
        start, stop, _ = span.indices(len(self))
        content = bytearray(self.weights.view(start, stop - start))
        at, text = self.patch
        low, high = max(start, at), min(stop, at + len(text))
        if low < high:
            content[low - start : high - start] = text[low - at : high - at]
        return bytes(content)
