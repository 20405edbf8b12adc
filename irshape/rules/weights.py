"""IR5xx: the .bin, and the constants in it."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats.weights import Weights
from ..model import Problem
from .base import Context, Rule


class MissingWeights(Rule):
    """The .bin is not there, empty, or not what it should be."""

    code, name, severity = "IR501", "missing-weights", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        model = context.model
        weights = model.weights
        if weights is None or weights.state in ("ready", "absent"):
            return
        needing = [(layer, constant) for layer, constant in context.constants if constant.size > 0]
        if not needing:
            return
        total = max(constant.offset + constant.size for _, constant in needing)
        count = f"{len(needing)} constant{'' if len(needing) == 1 else 's'} need{'s' if len(needing) == 1 else ''} {total} bytes of it"
        what = {
            "missing": f"there is no {_name(weights)} beside the .xml; {count}",
            "empty": f"{_name(weights)} is empty; {count}",
            "lfs": f"{_name(weights)} is a Git-LFS pointer, not the weights themselves; {count}",
            "unreadable": f"{_name(weights)} cannot be read: {weights.detail}",
        }[weights.state]
        hint = "run `git lfs pull`" if weights.state == "lfs" else "give it with --weights FILE, or check without values by --weights none"
        yield Problem(cls.name, what, needing[0][0].offset, needing[0][0], f"{total} bytes", weights.state, hint)


def _name(weights: Weights) -> str:
    return (weights.path or "the .bin").replace("\\", "/").rpartition("/")[2]


class ConstantOutOfRange(Rule):
    """A constant lies outside the .bin."""

    code, name, severity = "IR502", "constant-out-of-range", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        weights = context.model.weights
        if weights is None or weights.state != "ready":
            return
        for layer, constant in context.constants:
            if not weights.holds(constant.offset, constant.size):
                end = constant.offset + constant.size
                short = end - weights.size
                message = f"the constant ends at byte {end}, but {_name(weights)} has {weights.size} bytes: {short} too few"
                yield Problem(
                    cls.name,
                    message,
                    layer.data_offset,
                    layer,
                    f"at most {weights.size}",
                    str(end),
                    "the .bin is truncated or belongs to another model, or offset and size are wrong",
                )


class ConstantSize(Rule):
    """The size of a constant is not what its shape and element type need."""

    code, name, severity = "IR503", "constant-size", "error"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        for layer, constant in context.constants:
            if constant.element_type.kind in ("string", "dynamic"):
                continue
            needed = constant.element_type.byte_size(constant.elements)
            if constant.size == needed or (not constant.elements and constant.size == 1):
                continue  # OpenVINO's writer gives a constant without elements one byte
            more = constant.size > needed
            message = f"{constant.element_type} {constant.partial_shape} takes {needed} bytes, but size is {constant.size}" + (
                "; OpenVINO takes the first of them in silence" if more else ""
            )
            place = context.model.source.attribute(layer.data_offset, "size")
            yield Problem(cls.name, message, place, layer, str(needed), str(constant.size), f'write size="{needed}", or correct shape or element_type')


class UnusedTail(Rule):
    """The .bin is longer than its constants need."""

    code, name, severity = "IR504", "unused-weights", "info"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        weights = context.model.weights
        if weights is None or weights.state != "ready":
            return
        end = max((constant.offset + constant.size for _, constant in context.constants), default=0)
        if end < weights.size:
            message = f"{_name(weights)} has {weights.size} bytes, its constants end at {end}: {weights.size - end} bytes are not used"
            yield Problem(cls.name, message, 0, None, str(end), str(weights.size))


class Misaligned(Rule):
    """Constants do not begin at a multiple of their element's size; reported once a file, since OpenVINO's own writer does it."""

    code, name, severity = "IR505", "misaligned-constant", "info"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        found = [(layer, constant) for layer, constant in context.constants if constant.elements and constant.offset % max(constant.element_type.bits // 8, 1)]
        if found:
            layer, constant = found[0]
            width = constant.element_type.bits // 8
            message = f"the constant begins at byte {constant.offset}, which is no multiple of {width}, the size of {constant.element_type}"
            message += f"; so do {len(found) - 1} others" if len(found) > 1 else ""
            yield Problem(cls.name, message, context.model.source.attribute(layer.data_offset, "offset"), layer, f"a multiple of {width}", str(constant.offset))


class Overlap(Rule):
    """Two constants share some of their bytes, but not all."""

    code, name, severity = "IR506", "overlapping-constants", "info"

    @classmethod
    def check(cls, context: Context) -> Iterator[Problem]:
        placed = sorted(((constant.offset, constant.size, layer) for layer, constant in context.constants if constant.size), key=lambda entry: entry[:2])
        end, holder = 0, None
        previous: tuple[int, int] | None = None
        for offset, size, layer in placed:
            if offset < end and (offset, size) != previous and holder is not None:
                message = f"the constant's bytes {offset} to {offset + size} overlap those of '{holder.name}' (id {holder.id}), which end at {end}"
                yield Problem(cls.name, message, context.model.source.attribute(layer.data_offset, "offset"), layer, None, str(offset))
            if offset + size > end:
                end, holder = offset + size, layer
            previous = (offset, size)
