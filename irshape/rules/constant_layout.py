"""Where writers put constants: one behind the other, in the order of the file, and equal ones
once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import prod
from typing import NamedTuple

from ..model.graph import Layer
from .context import Context

ENOUGH = 5
"""With fewer constants than this, nothing says how they are laid out."""
FEW = 2
"""So many constants at most have offsets that are wrong each in its own way."""
MAX_TRIED = 64
"""Of so many constants that share their bytes it is tried whether one should not."""


class Displaced(NamedTuple):
    """A constant that lies elsewhere than a writer puts it."""

    layer: Layer
    offset: int
    place: int
    """Where its bytes begin by the order of the file."""


def displaced_constants(context: Context) -> tuple[Displaced, ...]:
    """The constants that lie elsewhere than a writer puts them: a few, or all from one on.

    They are told only where bytes of the .bin are now taken twice, by none, or lie behind its end,
    while each is taken once where those constants lie as the order of the file says.
    """
    weights = context.model.weights
    if weights is None or weights.state != "ready":
        return ()
    sound = context.sound_constants
    if sound is not None and not sound.may_fill(weights.size):
        return ()
    if len(context.constants) < len(context.by_type.get("const", ())):
        return ()  # of some it is not known how they are meant
    rows = [(layer, each.offset, each.size) for layer, each in context.constants if each.size]
    rows.sort(key=lambda row: row[0].offset)
    spans = [(offset, size) for _, offset, size in rows]
    if len(set(spans)) < ENOUGH or _fill(spans, weights.size):
        return ()
    places = _likely_places(spans, weights.size)
    of_layers = dict(context.constants)
    for index in places:
        constant = of_layers[rows[index][0]]
        known = constant.element_type.name != "string"
        if known and constant.size != constant.element_type.byte_size(prod(constant.shape)):
            return ()  # more than its offset is wrong
    return tuple(
        Displaced(layer, offset, places[index])
        for index, (layer, offset, _) in enumerate(rows)
        if index in places
    )


def _fill(spans: Sequence[tuple[int, int]], size: int) -> bool:
    """Whether each byte belongs to one constant, or to several that are equal."""
    end = 0
    for start, length in sorted(set(spans)):
        if start != end:
            return False
        end += length
    return end == size


def _likely_places(spans: Sequence[tuple[int, int]], size: int) -> dict[int, int]:
    """The constants that are displaced, each with its place."""
    moved, end = _moved(spans, spans)
    behind = max(start + length for start, length in spans) - size
    if end == size:
        wrong = {(spans[index], place) for index, place in moved.items()}
        steps = {place - spans[index][0] for index, place in moved.items()}
        if len(wrong) <= FEW or (len(steps) == 1 and steps == {-behind}):
            return moved
    if behind and moved:  # those that share bytes with earlier ones have moved, too
        first = min(moved)
        back = [(at - behind * (index >= first), n) for index, (at, n) in enumerate(spans)]
        if min(back)[0] >= 0 and not _moved(back, back)[0] and _fill(back, size):
            return {index: back[index][0] for index in range(first, len(spans))}
    shared = Counter(spans)
    first_of = {span: index for index, span in reversed([*enumerate(spans)])}
    choices: list[dict[int, int]] = []
    # what shares bytes rightly has those of an earlier one
    leading = [i for span, i in first_of.items() if span[1] == size - end and shared[span] > 1]
    for index in leading[:MAX_TRIED]:
        keys: list[Hashable] = [*spans]
        keys[index] = index
        alone, all_taken = _moved(spans, keys)
        if all_taken == size and list(alone) == [index]:
            choices.append(alone)
    return choices[0] if len(choices) == 1 else {}


def _moved(
    spans: Sequence[tuple[int, int]], keys: Sequence[Hashable]
) -> tuple[dict[int, int], int]:
    """Where a writer puts those that lie elsewhere, and the end of all.

    keys: equal for those that share their bytes.
    """
    known: dict[Hashable, int] = {}
    moved: dict[int, int] = {}
    end = 0
    for index, ((start, length), key) in enumerate(zip(spans, keys, strict=True)):
        place = known.get(key)
        if place is None:
            place = known[key] = end
            end += length
        if place != start:
            moved[index] = place
    return moved, end
